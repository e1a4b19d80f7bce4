/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * remount: changes the options of a mount.
 */
#include "cli/remount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "cli/helper.h"
#include "cli/mount_args.h"
#include "cli/mountinfo.h"
#include "transport/log.h"

/* The options that the kernel can change. */
static const struct {
	const char *name;
	unsigned long set, clear;
} flags[] = {
	{"ro", MS_RDONLY, 0},
	{"rw", 0, MS_RDONLY},
	{"nosuid", MS_NOSUID, 0},
	{"suid", 0, MS_NOSUID},
	{"nodev", MS_NODEV, 0},
	{"dev", 0, MS_NODEV},
	{"noexec", MS_NOEXEC, 0},
	{"exec", 0, MS_NOEXEC},
	{"sync", MS_SYNCHRONOUS, 0},
	{"async", 0, MS_SYNCHRONOUS},
	{"dirsync", MS_DIRSYNC, 0},
	{"noatime", MS_NOATIME, MS_RELATIME | MS_STRICTATIME},
	{"atime", 0, MS_NOATIME},
	{"nodiratime", MS_NODIRATIME, 0},
	{"diratime", 0, MS_NODIRATIME},
	{"relatime", MS_RELATIME, MS_NOATIME | MS_STRICTATIME},
	{"norelatime", 0, MS_RELATIME},
	{"strictatime", MS_STRICTATIME, MS_NOATIME | MS_RELATIME},
	{"nostrictatime", 0, MS_STRICTATIME},
	{"lazytime", MS_LAZYTIME, 0},
	{"nolazytime", 0, MS_LAZYTIME},
};

/* Options that do not reach a daemon: of mount(8) and systemd, and additions of the kernel's list.
 */
static const char *const passed_over[] = {"remount", "defaults", "auto", "noauto", "user", "nouser",
	"users", "owner", "group", "_netdev", "nofail", "comment", "user_id", "group_id",
	"rootmode", "max_read", "blksize", "fd"};

static bool is_named(const char *item, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(item, name, len) && (!item[len] || item[len] == '=');
}

static bool is_passed_over(const char *item)
{
	for (size_t i = 0; i < sizeof(passed_over) / sizeof(passed_over[0]); i++)
		if (is_named(item, passed_over[i]))
			return true;
	return !strncmp(item, "x-", 2) || !strncmp(item, "X-", 2);
}

/* Changes *f if item is a flag of the kernel. */
static bool apply(const char *item, unsigned long *f)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(flags[i].name, item))
			continue;
		*f = (*f & ~flags[i].clear) | flags[i].set;
		return true;
	}
	return false;
}

/* The flags of a new mount with the options of want: options that want does not name are off. */
static unsigned long flags_of(const struct mount_args *want, bool helper)
{
	unsigned long f = helper ? 0 : MS_NOSUID | MS_NODEV; /* as libfuse does */

	for (unsigned i = 0; i < want->n; i++)
		apply(want->items[i], &f);
	return f;
}

bool remount_wanted(int argc, char **argv)
{
	struct mount_args a;
	bool yes = mount_args_init(&a, argc, argv, false) && mount_args_last(&a, "remount", 7);

	mount_args_finish(&a);
	return yes;
}

/* Finds the mount of rnfs at dir. */
static int find_mount(const char *dir, struct mountinfo *m, struct err *e)
{
	int fd = open(dir, O_PATH | O_CLOEXEC);
	char real[PATH_MAX];
	bool known;

	if (fd < 0)
		return err_set(e, ERR_INTERNAL, "%.200s: %s", dir, strerror(errno));
	known = mountinfo_of(fd, m);
	close(fd);
	if (known && !strcmp(m->type, "fuse.rnfs") && realpath(dir, real) && !strcmp(real, m->dir))
		return 0;
	return err_set(e, ERR_INTERNAL,
		"option remount: nothing of rnfs is mounted on %.200s; mount without that option",
		dir);
}

/* Checks that all of want but the kernel's flags is as before; the last item of a name counts. */
static int check_same(const struct mount_args *want, const struct mount_args *daemon, struct err *e)
{
	unsigned long f = 0;

	for (unsigned i = 0; i < want->n; i++) {
		const char *item = want->items[i];
		unsigned len = (unsigned)strcspn(item, "=");
		const char *was = mount_args_last(daemon, item, len);

		if (apply(item, &f) || is_passed_over(item) ||
			item != mount_args_last(want, item, len) || (was && !strcmp(was, item)))
			continue;
		if (want->sloppy) {
			log_warn("option %.60s cannot be changed while mounted, and is ignored",
				item);
			continue;
		}
		return err_set(e, ERR_USAGE,
			"option %.60s cannot be changed while mounted%s%.60s%s: unmount and mount "
			"again",
			item, was ? " (" : "", was ? was : "", was ? " is in effect)" : "");
	}
	return 0;
}

static int change(const struct mountinfo *m, unsigned long f, struct err *e)
{
	if (!mount(NULL, m->dir, NULL, MS_REMOUNT | f, NULL))
		return 0;
	return err_set(e, ERR_INTERNAL, "%.200s cannot be remounted: %s", m->dir,
		errno == EBUSY	 ? "files are open for writing there; have them closed first"
		: errno == EPERM ? "that needs root, of the machine or of the container that has "
				   "made the mount"
				 : strerror(errno));
}

static int remount(const struct mount_args *want, bool helper, struct err *e)
{
	struct mount_args daemon;
	struct mountinfo m;
	int rc = 0;

	if (find_mount(want->dir, &m, e))
		return -1;
	if (mount_args_of_daemon(&daemon, &m))
		rc = check_same(want, &daemon, e);
	else
		log_warn("no daemon of %s is found: options but those of the kernel stay as they "
			 "are",
			m.dir);
	mount_args_finish(&daemon);
	return rc || want->fake ? rc : change(&m, flags_of(want, helper), e);
}

int remount_run(int argc, char **argv, struct err *e)
{
	struct mount_args want;
	int rc;

	if (geteuid())
		return err_set(e, ERR_INTERNAL,
			"option remount: only root can change a mount; unmount and mount again");
	if (mount_args_init(&want, argc, argv, false))
		rc = remount(&want, helper_named(argv[0]), e);
	else
		rc = err_set(e, ERR_USAGE, "option remount: the command line cannot be read");
	mount_args_finish(&want);
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fuse_mount: a FUSE mount with the daemon in another process.
 */
#include "contrib/mountfd/fuse_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned long set, clear;
} flags[] = {
	{"ro", MS_RDONLY, 0},
	{"rw", 0, MS_RDONLY},
	{"noexec", MS_NOEXEC, 0},
	{"exec", 0, MS_NOEXEC},
	{"noatime", MS_NOATIME, 0},
	{"atime", 0, MS_NOATIME},
	{"nodiratime", MS_NODIRATIME, 0},
	{"diratime", 0, MS_NODIRATIME},
	{"sync", MS_SYNCHRONOUS, 0},
	{"async", 0, MS_SYNCHRONOUS},
	{"dirsync", MS_DIRSYNC, 0},
};

/* Options for mount(2)'s data: words, and words with a value. */
static const char *const words[] = {
	"default_permissions", "context=", "fscontext=", "defcontext=", "rootcontext="};

static bool take_flag(struct fuse_mount *m, const char *item)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(flags[i].name, item))
			continue;
		m->flags = (m->flags & ~flags[i].clear) | flags[i].set;
		return true;
	}
	return false;
}

static bool is_for_data(const char *item)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if (words[i][n - 1] == '=' ? !strncmp(item, words[i], n) : !strcmp(item, words[i]))
			return true;
	}
	return false;
}

static int take(struct fuse_mount *m, const char *item, struct err *e)
{
	size_t have = strlen(m->data);

	if (!strcmp(item, "suid") || !strcmp(item, "dev"))
		return err_set(e, ERR_USAGE,
			"option %s cannot be used: the daemon is not trusted with it, leave it out",
			item);
	if (take_flag(m, item) || !is_for_data(item))
		return 0;
	if (have + strlen(item) + 2 > sizeof(m->data))
		return err_set(e, ERR_USAGE, "the options are too long for mount(2)");
	snprintf(m->data + have, sizeof(m->data) - have, ",%s", item);
	return 0;
}

int fuse_mount_options(struct fuse_mount *m, const char *list, struct err *e)
{
	char *copy = strdup(list), *rest = copy, *item;
	int r = 0;

	if (!copy)
		return err_set(e, ERR_INTERNAL, "out of memory");
	while (!r && (item = strsep(&rest, ",")))
		r = take(m, item, e);
	free(copy);
	return r;
}

static bool look(const struct fuse_mount *m, uint64_t *id)
{
	struct statx st;

	if (statx(AT_FDCWD, m->directory, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		    STATX_TYPE | STATX_MNT_ID, &st) ||
		!(st.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return false;
	*id = st.stx_mnt_id;
	return true;
}

int fuse_mount_make(struct fuse_mount *m, struct err *e)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char data[FUSE_MOUNT_DATA + 100];

	if (fd < 0)
		return err_set(e, ERR_INTERNAL,
			"/dev/fuse cannot be opened (%s): load the kernel module \"fuse\", and "
			"give "
			"the mounter's container the device",
			strerror(errno));
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other%s",
		fd, (unsigned)m->uid, (unsigned)m->gid, m->data);
	if (mount(m->source, m->directory, "fuse.rnfs", m->flags | MS_NOSUID | MS_NODEV, data)) {
		err_set(e, ERR_INTERNAL, "mounting on %.200s failed: %s", m->directory,
			errno == EPERM ? "it needs the capability SYS_ADMIN" : strerror(errno));
		close(fd);
		return -1;
	}
	m->made = look(m, &m->id);
	if (m->made)
		return fd;
	err_set(e, ERR_INTERNAL,
		"%.200s: this kernel does not tell mounts apart: Linux 5.8 is needed",
		m->directory);
	umount2(m->directory, MNT_DETACH | UMOUNT_NOFOLLOW);
	close(fd);
	return -1;
}

bool fuse_mount_is_there(const struct fuse_mount *m)
{
	uint64_t id;

	return m->made && look(m, &id) && id == m->id;
}

void fuse_mount_end(struct fuse_mount *m)
{
	if (fuse_mount_is_there(m))
		umount2(m->directory, MNT_DETACH | UMOUNT_NOFOLLOW);
	m->made = false;
}

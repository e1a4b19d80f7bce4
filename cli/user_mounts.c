/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * user_mounts: the command "mount", and the generator of units.
 */
#include "cli/user_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fstab.h"
#include "cli/mountpoint.h"
#include "transport/log.h"

#define UNIT_NAME_MAX 255

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "rnfs: %s%s%s\n", what, why ? ": " : "", why ? why : "");
	return 1;
}

/* --- the command ------------------------------------------------------------------------------ */

/* Becomes the program that mounts l; returns the exit status after a failure. */
static int become_rnfs(const struct fstab_line *l, bool foreground)
{
	const char *argv[] = {"rnfs", "-o", l->options, "--", l->source, l->dir, NULL, NULL};

	if (foreground) {
		memmove(argv + 2, argv + 1, 6 * sizeof(argv[0]));
		argv[1] = "-f";
	}
	execv("/proc/self/exe", (char *const *)argv);
	return fail("/proc/self/exe", strerror(errno));
}

/* Is the line's export mounted on its mount point, by a live daemon? */
static bool is_mounted(const struct fstab_line *l)
{
	int fd = open(l->dir, O_PATH | O_CLOEXEC);
	struct mountinfo m;
	bool yes;

	if (fd < 0)
		return false;
	yes = mountinfo_of(fd, &m) && !strcmp(m.dir, l->dir) && !strcmp(m.type, "fuse.rnfs") &&
	      !strcmp(m.source, l->source) && !mountpoint_dead(fd, &m);
	close(fd);
	return yes;
}

static int mount_all(const struct fstab *t)
{
	int status = 0;

	for (unsigned i = 0; i < t->n; i++) {
		int ended = 0;
		pid_t pid;

		if (!t->lines[i].automatic || is_mounted(&t->lines[i]))
			continue;
		pid = fork();
		if (!pid)
			_exit(become_rnfs(&t->lines[i], false));
		while (pid > 0 && waitpid(pid, &ended, 0) < 0 && errno == EINTR)
			;
		if (pid < 0)
			return fail("cannot start another process", strerror(errno));
		if (ended)
			status = 1;
	}
	return status;
}

static int mount_one(const struct fstab *t, const char *path, const char *dir, bool foreground)
{
	const struct fstab_line *l = fstab_find(t, dir);

	if (l)
		return become_rnfs(l, foreground);
	fprintf(stderr, "rnfs: no line of %s has the mount point %s, as an absolute path\n", path,
		dir);
	return 1;
}

static int read_file(struct fstab *t, char *path, size_t size)
{
	struct err e = {0};

	if (!fstab_path(path, size))
		return fail("there is no home directory: set HOME", NULL);
	return fstab_read(t, path, &e) ? fail(e.msg, NULL) : 0;
}

int user_mounts_run(int argc, char **argv)
{
	bool all = false, foreground = false;
	struct fstab t = {0};
	char path[PATH_MAX];
	int c, status;

	optind = 0;
	opterr = 0;
	while ((c = getopt(argc, argv, "af")) != -1) {
		all |= c == 'a';
		foreground |= c == 'f';
		if (c == '?')
			break;
	}
	if (c != -1 || argc - optind != !all || (all && foreground)) {
		fprintf(stderr, "rnfs: write rnfs mount -a, or rnfs mount [-f] MOUNTPOINT\n");
		return 2;
	}
	status = read_file(&t, path, sizeof(path));
	if (!status)
		status = all ? mount_all(&t) : mount_one(&t, path, argv[optind], foreground);
	fstab_finish(&t);
	return status;
}

/* --- the generator ---------------------------------------------------------------------------- */

bool user_mounts_unit(const char *dir, char *name, size_t size)
{
	static const char plain[] =
		":_."
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char at[UNIT_NAME_MAX + 1], *to = at;
	const char *s = dir + (dir[0] == '/');
	int n;

	if (!*s)
		*to++ = '-';
	for (bool first = true; *s; s++, first = false) {
		if (sizeof(at) - (size_t)(to - at) < sizeof("\\xff"))
			return false;
		if (*s == '/')
			*to++ = '-';
		else if (strchr(plain, *s) && !(first && *s == '.'))
			*to++ = *s;
		else
			to += sprintf(to, "\\x%02x", (unsigned char)*s);
	}
	*to = 0;
	n = snprintf(name, size, "rnfs@%s.service", at);
	return n > 0 && (size_t)n < size && n <= UNIT_NAME_MAX;
}

bool user_mounts_is_generator(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "rnfs-user-generator");
}

/* Makes the user's manager start the service of the line at its own start. */
static int want(const char *wants, const struct fstab_line *l)
{
	char name[UNIT_NAME_MAX + 1], path[PATH_MAX];

	if (!user_mounts_unit(l->dir, name, sizeof(name)))
		return fail(l->dir, "the path is too long for the name of a service");
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", wants, name) >= sizeof(path))
		return fail(wants, strerror(ENAMETOOLONG));
	if (symlink(RNFS_USER_UNIT, path) && errno != EEXIST)
		return fail(path, strerror(errno));
	return 0;
}

int user_mounts_generate(int argc, char **argv)
{
	char path[PATH_MAX], wants[PATH_MAX];
	struct fstab t = {0};
	int status;

	if (argc < 2) {
		fprintf(stderr, "rnfs-user-generator: systemd calls this with a directory\n");
		return 2;
	}
	if (!fstab_path(path, sizeof(path)) || access(path, F_OK))
		return 0;
	if ((size_t)snprintf(wants, sizeof(wants), "%s/default.target.wants", argv[1]) >=
		sizeof(wants))
		return fail(argv[1], strerror(ENAMETOOLONG));
	status = read_file(&t, path, sizeof(path));
	if (!status && mkdir(wants, 0755) && errno != EEXIST)
		status = fail(wants, strerror(errno));
	for (unsigned i = 0; !status && i < t.n; i++)
		if (t.lines[i].automatic)
			status = want(wants, &t.lines[i]);
	fstab_finish(&t);
	return status;
}

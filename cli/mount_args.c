/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mount_args: command lines of this process and of daemons.
 */
#include "cli/mount_args.h"

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/helper.h"

#define WORDS_MAX   256
#define CMDLINE_MAX (64u << 10)

static bool add(struct mount_args *a, const char *item, size_t len)
{
	char **items = realloc(a->items, (a->n + 1) * sizeof(*items));

	if (!items)
		return false;
	a->items = items;
	a->items[a->n] = strndup(item, len);
	return a->items[a->n] && ++a->n;
}

static bool add_list(struct mount_args *a, const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ",");

		if (len && !add(a, list, len))
			return false;
		list += len + (list[len] == ',');
	}
	return true;
}

static bool add_words(struct mount_args *a, int argc, char **argv, bool helper)
{
	static const struct option longs[] = {
		{"foreground", no_argument, NULL, 'f'}, {"debug", no_argument, NULL, 'd'}, {0}};
	bool good = true;
	int c;

	optind = 0;
	opterr = 0;
	while (good && (c = getopt_long(argc, argv, ":fdo:nrswvN:t:", longs, NULL)) != -1) {
		if (c == 'o')
			good = add_list(a, optarg);
		else if (c == 'r' || c == 'w')
			good = add(a, c == 'r' ? "ro" : "rw", 2);
		else if (c == ':' || c == '?')
			good = false;
		a->sloppy |= c == 's';
		a->fake |= helper && c == 'f';
	}
	if (!good || argc - optind != 2)
		return false;
	a->source = strdup(argv[optind]);
	a->dir = strdup(argv[optind + 1]);
	return a->source && a->dir;
}

bool mount_args_init(struct mount_args *a, int argc, char **argv, bool root)
{
	bool helper = argc > 0 && helper_named(argv[0]);

	*a = (struct mount_args){0};
	if (helper && root && !add_list(a, HELPER_ROOT_OPTIONS))
		return false;
	return argc > 0 && add_words(a, argc, argv, helper);
}

void mount_args_finish(struct mount_args *a)
{
	for (unsigned i = 0; i < a->n; i++)
		free(a->items[i]);
	free(a->items);
	free(a->source);
	free(a->dir);
	*a = (struct mount_args){0};
}

const char *mount_args_last(const struct mount_args *a, const char *name, unsigned len)
{
	for (unsigned i = a->n; i-- > 0;)
		if (!strncmp(a->items[i], name, len) &&
			(!a->items[i][len] || a->items[i][len] == '='))
			return a->items[i];
	return NULL;
}

/* --- the command line of a daemon ------------------------------------------------------------- */

/* Reads the file of /proc/PID into buf. Returns the length, 0: no such file. */
static size_t read_of(int proc, const char *pid, const char *name, char *buf, size_t size)
{
	char path[64];
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "%.20s/%s", pid, name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (len < size - 1 && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	buf[len] = 0;
	return len;
}

static bool in_this_namespace(int proc, const char *pid)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "%.20s/ns/mnt", pid);
	return !fstatat(proc, "self/ns/mnt", &own, 0) && !fstatat(proc, path, &other, 0) &&
	       own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

/* Has the process /dev/fuse open? Other processes of the name are about to mount, or wait for a
 * process that mounts. */
static bool has_device(int proc, const char *pid)
{
	char path[64], link[32];
	bool found = false;
	const struct dirent *e;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "%.20s/fd", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	while (dir && !found && (e = readdir(dir))) {
		ssize_t n = readlinkat(fd, e->d_name, link, sizeof(link));

		found = n == 9 && !memcmp(link, "/dev/fuse", 9);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return found;
}

/* The given mount point may contain links, or be relative to a directory that is unknown now. */
static bool is_dir_of(const char *given, const char *dir)
{
	size_t len = strlen(given), all = strlen(dir);
	char real[PATH_MAX];

	if (given[0] == '/')
		return !strcmp(given, dir) || (realpath(given, real) && !strcmp(real, dir));
	while (len && given[len - 1] == '/')
		len--;
	while (len > 1 && given[0] == '.' && given[1] == '/') {
		given += 2;
		len -= 2;
	}
	return len && len < all && dir[all - len - 1] == '/' &&
	       !strncmp(given, dir + all - len, len);
}

static bool serves(const struct mount_args *a, const struct mountinfo *m)
{
	const char *name = mount_args_last(a, "fsname", 6);
	const char *source = name && name[6] ? name + 7 : a->source;

	return !strcmp(source, m->source) && is_dir_of(a->dir, m->dir);
}

/* Fills *a from the command line of process pid, if the process is a daemon that serves m. */
static bool args_of(struct mount_args *a, int proc, const char *pid, const struct mountinfo *m)
{
	static char text[CMDLINE_MAX];
	char *argv[WORDS_MAX + 1];
	struct stat st;
	size_t len;
	int argc = 0;

	*a = (struct mount_args){0};
	if (read_of(proc, pid, "comm", text, sizeof(text)) < 5 || strncmp(text, "rnfs\n", 5) ||
		fstatat(proc, pid, &st, 0) || !in_this_namespace(proc, pid) ||
		!has_device(proc, pid))
		return false;
	len = read_of(proc, pid, "cmdline", text, sizeof(text));
	for (char *s = text; s < text + len && argc < WORDS_MAX; s += strlen(s) + 1)
		argv[argc++] = s;
	argv[argc] = NULL;
	return mount_args_init(a, argc, argv, st.st_uid == 0) && serves(a, m);
}

bool mount_args_of_daemon(struct mount_args *a, const struct mountinfo *m)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	long best = 0;

	*a = (struct mount_args){0};
	while (proc && (e = readdir(proc))) {
		long pid = strtol(e->d_name, NULL, 10);
		struct mount_args other;

		if (pid > best && args_of(&other, dirfd(proc), e->d_name, m)) {
			struct mount_args former = *a;

			*a = other;
			other = former;
			best = pid;
		} else if (pid <= best) {
			continue;
		}
		mount_args_finish(&other);
	}
	if (proc)
		closedir(proc);
	return best > 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountpoint: looks at a directory without asking the file system mounted there.
 */
#include "cli/mountpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/log.h"

#define STACKED_MAX 16	 /* dead mounts, one upon the other */
#define ANSWER_MS   1000 /* a dead mount answers at once */

extern char **environ;

static bool is_dead(int error)
{
	return error == ENOTCONN || error == ECONNABORTED;
}

/* --- the daemon ------------------------------------------------------------------------------- */

/* Has the kernel ask the daemon. */
static int ask(int fd)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_TYPE, &st) ? errno : 0;
}

bool mountpoint_alive(int fd)
{
	return !is_dead(ask(fd));
}

/* A child process asks as the daemon's user, since the answer may never come. */
bool mountpoint_dead(int fd, const struct mountinfo *m)
{
	unsigned char error = 0;
	int end[2];
	pid_t pid;

	if (!m->owned || pipe2(end, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid) {
		if (geteuid() != m->uid &&
			(setresgid(m->gid, m->gid, m->gid) || setresuid(m->uid, m->uid, m->uid)))
			_exit(1);
		error = (unsigned char)ask(fd);
		_exit(write(end[1], &error, 1) != 1);
	}
	close(end[1]);
	if (pid > 0) {
		struct pollfd p = {.fd = end[0], .events = POLLIN};

		if (poll(&p, 1, ANSWER_MS) != 1 || read(end[0], &error, 1) != 1)
			error = 0;
		kill(pid, SIGKILL);
		/* without an answer so far, the child ends with the answer, after this process */
		waitpid(pid, NULL, p.revents ? 0 : WNOHANG);
	}
	close(end[0]);
	return is_dead(error);
}

/* --- unmounting ------------------------------------------------------------------------------- */

bool mountpoint_detach(const char *path)
{
	const char *argv[] = {"fusermount3", "-u", "-q", "-z", "--", path, NULL};
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;
	int status;

	if (!umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW))
		return true;
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	status = posix_spawnp(&pid, argv[0], NULL, &attr, (char *const *)argv, environ);
	posix_spawnattr_destroy(&attr);
	if (status)
		return false;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* --- the check -------------------------------------------------------------------------------- */

/* The path of the opened fd, without links; or `given`. */
static void real_path(int fd, const char *given, char *out, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, size - 1);
	if (n > 0)
		out[n] = 0;
	else
		snprintf(out, size, "%s", given);
}

/* Removes the dead mount m at fd. Closes fd. */
static int remove_dead(int fd, const char *path, const struct mountinfo *m, struct err *e)
{
	char real[PATH_MAX];

	real_path(fd, path, real, sizeof(real));
	close(fd);
	if (strcmp(m->type, "fuse.rnfs"))
		return err_set(e, ERR_INTERNAL,
			"%.150s is the mount point of a %.40s daemon that has died: run "
			"fusermount3 -u -z %.150s first",
			path, m->type, real);
	if (geteuid() && geteuid() != m->uid)
		return err_set(e, ERR_INTERNAL,
			"%.150s is the mount point of a daemon of user %u that has died: that user "
			"or root has to run umount -l %.150s first",
			path, (unsigned)m->uid, real);
	if (!mountpoint_detach(real))
		return err_set(e, ERR_INTERNAL,
			"%.150s is the mount point of a daemon that has died, and cannot be "
			"unmounted: run umount -l %.150s as root first",
			path, real);
	log_warn("%s was the mount point of a daemon that has died (%s): unmounted it", real,
		m->source);
	return 0;
}

/* A daemon has died on the way to path. Parts of the path can be opened: at least the mount point.
 */
static int dead_above(const char *path, struct err *e)
{
	struct mountinfo m;
	char part[PATH_MAX];
	int fd = -1;

	snprintf(part, sizeof(part), "%s", path);
	while (fd < 0 && strrchr(part + 1, '/')) {
		*strrchr(part + 1, '/') = 0;
		fd = open(part, O_PATH | O_CLOEXEC);
	}
	if (fd < 0 || !mountinfo_of(fd, &m))
		snprintf(m.dir, sizeof(m.dir), "another directory");
	if (fd >= 0)
		close(fd);
	return err_set(e, ERR_INTERNAL,
		"mount point %.150s lies below %.150s, the mount point of a daemon that has died: "
		"unmount that first, with umount -l",
		path, m.dir);
}

static int not_opened(const char *path, struct err *e)
{
	if (is_dead(errno))
		return dead_above(path, e);
	return err_set(e, ERR_INTERNAL, "mount point %.200s: %s", path,
		errno == ENOENT ? "it does not exist; make the directory first" : strerror(errno));
}

static int in_use(const char *path, const struct mountinfo *m, struct err *e)
{
	if (!m->id)
		return err_set(e, ERR_INTERNAL,
			"mount point %.200s is in use: unmount what is mounted there first, or "
			"give another directory",
			path);
	/* only the daemon's user and root can find out whether the daemon is alive */
	if (m->owned && geteuid() && geteuid() != m->uid)
		return err_set(e, ERR_INTERNAL,
			"user %u has mounted %.100s (%s) on %.200s: that user or root has to run "
			"umount -l %.200s first, or give another directory",
			(unsigned)m->uid, m->source, m->type, path, path);
	return err_set(e, ERR_INTERNAL,
		"mount point %.200s is in use: %.100s (%s) is mounted there; unmount that first, "
		"or give another directory",
		path, m->source, m->type);
}

/* Looks at the mount at fd, and closes fd. 0: the mount was dead and is unmounted, or, with *done,
 * may be covered by another mount. */
static int look_at_mount(int fd, const char *path, bool *done, struct err *e)
{
	struct mountinfo m;

	if (!mountinfo_of(fd, &m))
		m = (struct mountinfo){0};
	*done = !strcmp(m.type, "autofs"); /* the automounter waits for our mount */
	if (!*done && mountpoint_dead(fd, &m))
		return remove_dead(fd, path, &m, e);
	close(fd);
	return *done ? 0 : in_use(path, &m, e);
}

/* fusermount3 acts as root, which has to be let in. */
static int check_outer_mount(int fd, const char *path, struct err *e)
{
	struct mountinfo m;

	if (!geteuid() || !mountinfo_of(fd, &m) || !m.owned || m.shared)
		return 0;
	return err_set(e, ERR_INTERNAL,
		"mount point %.150s lies in the mount on %.150s, which root may not enter, and "
		"fusermount3 mounts as root: mount that one with allow_root or allow_other, or "
		"give a directory outside",
		path, m.dir);
}

/* Asks no daemon. Sets *done unless a dead mount has been removed. */
static int look(const char *path, bool *done, struct err *e)
{
	int fd = open(path, O_PATH | O_CLOEXEC); /* triggers no automount */
	struct statx st = {0};
	int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, rc;

	if (fd < 0)
		return not_opened(path, e);
	/* the kernel tells nothing else of another user's mount */
	if (!statx(fd, "", flags, 0, &st) &&
		st.stx_attributes & st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return look_at_mount(fd, path, done, e);
	*done = true;
	if (statx(fd, "", flags, STATX_TYPE, &st))
		rc = not_opened(path, e);
	else if (!S_ISDIR(st.stx_mode))
		rc = err_set(e, ERR_INTERNAL,
			"mount point %.200s is not a directory: give an empty directory", path);
	else
		rc = check_outer_mount(fd, path, e);
	close(fd);
	return rc;
}

int mountpoint_check(const char *path, char **real, struct err *e)
{
	bool done = false;

	for (unsigned n = 0; !done && n < STACKED_MAX; n++)
		if (look(path, &done, e))
			return -1;
	if (geteuid() && access(path, W_OK))
		return err_set(e, ERR_INTERNAL,
			"mount point %.200s: you may mount only on a directory that you can write "
			"to (%s)",
			path, strerror(errno));
	*real = realpath(path, NULL);
	if (!*real)
		return err_set(e, ERR_INTERNAL, "mount point %.200s: %s", path, strerror(errno));
	return 0;
}

bool mountpoint_dead_at(const struct mountinfo *m)
{
	int fd = open(m->dir, O_PATH | O_CLOEXEC | O_DIRECTORY);
	bool dead = fd >= 0 && mountpoint_dead(fd, m);

	if (fd >= 0)
		close(fd);
	return dead;
}

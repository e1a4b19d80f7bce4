/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fuse_fd: an open FUSE device that a mounter has mounted, given as /dev/fd/N.
 */
#include "cli/fuse_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PREFIX	     "/dev/fd/"
#define INIT_WAIT_MS 1000
#define FIRST_PIDNS  0xeffffffcul /* the kernel's PROC_PID_INIT_INO */

bool fuse_fd_meant(const char *path)
{
	return !strncmp(path, PREFIX, strlen(PREFIX));
}

static int number(const char *text)
{
	char *end;
	long n;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	n = strtol(text, &end, 10);
	return errno || *end || n > INT_MAX ? -1 : (int)n;
}

/* Checks fd, an open FUSE device, by poll(): an error tells that the mount is missing or gone;
 * readable tells that INIT or a request waits. */
static int check_mounted(int fd, const char *path, struct err *e)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	do {
		n = poll(&p, 1, INIT_WAIT_MS);
	} while (n < 0 && errno == EINTR);
	if (n > 0 && p.revents & (POLLERR | POLLNVAL))
		return err_set(e, ERR_INTERNAL,
			"mount point %.60s is a FUSE device that is not mounted, or not any more: "
			"call mount(2) with its number, fd=N, before starting rnfs",
			path);
	if (n <= 0)
		return err_set(e, ERR_INTERNAL,
			"mount point %.60s is a FUSE device that has served another daemon: open "
			"/dev/fuse and mount anew for each daemon",
			path);
	return 0;
}

int fuse_fd_check(const char *path, struct err *e)
{
	int fd = number(path + strlen(PREFIX)), flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	struct stat st;

	if (fd < 0)
		return err_set(e, ERR_USAGE,
			"mount point %.60s has no number behind " PREFIX
			": give that of an open FUSE device, such as " PREFIX "3",
			path);
	if (flags < 0)
		return err_set(e, ERR_INTERNAL,
			"mount point %.60s is not open: the program that starts rnfs has to open "
			"/dev/fuse, mount it, and let rnfs inherit the descriptor",
			path);
	if (fd <= STDERR_FILENO)
		return err_set(e, ERR_INTERNAL,
			"mount point %.60s is a standard file: let rnfs inherit the FUSE device "
			"under a number from 3 on",
			path);
	if (fstat(fd, &st) || !S_ISCHR(st.st_mode) || st.st_rdev != makedev(FUSE_MAJOR, FUSE_MINOR))
		return err_set(e, ERR_INTERNAL,
			"mount point %.60s is open, but is not a FUSE device: open /dev/fuse",
			path);
	if ((flags & O_ACCMODE) != O_RDWR)
		return err_set(e, ERR_INTERNAL,
			"mount point %.60s is not open for both reading and writing: open "
			"/dev/fuse with O_RDWR",
			path);
	if (check_mounted(fd, path, e))
		return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

bool fuse_fd_is_foreign(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino != FIRST_PIDNS;
}

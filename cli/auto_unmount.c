/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * auto_unmount: the process that waits for the end of the daemon.
 */
#include "cli/auto_unmount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/mountinfo.h"
#include "cli/mountpoint.h"
#include "transport/log.h"
#include "transport/log_target.h"

#define NAME "auto_unmount"

/* The one message of the pipe. The kernel reuses the numbers of mounts and of devices, but hardly
 * both between the end of a mount and the end of the daemon. */
struct which {
	unsigned id, major, minor;
};

static bool which_is(const char *mountpoint, int *fd, struct which *out)
{
	struct mountinfo m;

	*fd = open(mountpoint, O_PATH | O_CLOEXEC);
	if (*fd < 0)
		return false;
	if (!mountinfo_of(*fd, &m)) {
		close(*fd);
		return false;
	}
	*out = (struct which){.id = m.id, .major = m.major, .minor = m.minor};
	return true;
}

/* In the new process: standard input is the pipe, and no other file is left open. */
static void become(int pipe, const char *mountpoint)
{
	const char *argv[] = {NAME, mountpoint, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	if (chdir("/") || null < 0 || dup2(pipe, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		return;
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	execv("/proc/self/exe", (char *const *)argv);
}

int auto_unmount_start(const char *mountpoint)
{
	int end[2], status;
	pid_t pid;

	if (pipe2(end, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		/* forks twice, so that the daemon has no child to wait for */
		if (!fork())
			become(end[0], mountpoint);
		_exit(0);
	}
	close(end[0]);
	if (pid < 0) {
		close(end[1]);
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return end[1];
}

bool auto_unmount_mounted(int fd, const char *mountpoint)
{
	struct which which = {0};
	int at;

	if (!which_is(mountpoint, &at, &which))
		return false;
	close(at);
	return write(fd, &which, sizeof(which)) == sizeof(which);
}

bool auto_unmount_named(const char *program)
{
	return !strcmp(program, NAME);
}

/* Reads size bytes, or up to the end of the pipe. */
static size_t read_all(void *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(0, (char *)buf + len, size - len);

		if (!n || (n < 0 && errno != EINTR))
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	return len;
}

int auto_unmount_main(int argc, char **argv)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
	char said[LOG_TARGET_SAID];
	struct which was, is;
	bool alive;
	char end;
	int fd;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	log_target_use(LOG_TO_AUTO, "rnfs", said);
	if (argc != 2 || read_all(&was, sizeof(was)) < sizeof(was))
		return 0; /* nothing has been mounted */
	read_all(&end, 1);
	if (!which_is(argv[1], &fd, &is))
		return 0;
	/* The kernel ends the connection when the last of the daemon's files is closed, which may
	 * be after the pipe: the question is answered then. */
	alive = memcmp(&was, &is, sizeof(was)) || mountpoint_alive(fd);
	close(fd);
	if (alive)
		return 0;
	if (!mountpoint_detach(argv[1])) {
		log_always_error(
			"the daemon of %s has died, and the mount cannot be unmounted", argv[1]);
		return 1;
	}
	log_always_error("the daemon of %s has died: unmounted it", argv[1]);
	return 0;
}

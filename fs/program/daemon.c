/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * daemon: going into the background, and the message to the process that was started.
 *
 * The verdict is one message on a pipe: a NUL byte for success, else the sentence. The end of the
 * pipe without a message means that the daemon died.
 */
#include "fs/program/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/sidecar.h"

static ssize_t read_again(int fd, void *buf, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, buf, size);
	} while (n < 0 && errno == EINTR);
	return n;
}

__attribute__((noreturn)) static void wait_for_verdict(int fd, pid_t child, int failed)
{
	char text[2048];
	size_t len = 0;
	ssize_t n;
	int status;

	while (len < sizeof(text) - 1 &&
		(n = read_again(fd, text + len, sizeof(text) - 1 - len)) > 0) {
		len += n;
		if (!text[0])
			_exit(0);
	}
	text[len] = 0;
	waitpid(child, &status, 0); /* reaped: no zombie is left once this process has gone */
	if (len)
		fprintf(stderr, "rnfs: %s\n", text);
	else if (WIFSIGNALED(status))
		fprintf(stderr, "rnfs: the daemon was killed by signal %d before it had mounted\n",
			WTERMSIG(status));
	else
		fprintf(stderr, "rnfs: the daemon ended before it had mounted\n");
	exit(failed);
}

void daemon_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

/* Ignores signals from the keyboard. The daemon cannot have a session of its own yet. An
 * automounter that waits for this mount lets only its own process group go to the mount point. */
static void leave_keys_to_parent(void)
{
	signal(SIGINT, SIG_IGN); /* until the daemon catches SIGINT */
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
}

int daemon_start(struct daemon *d, bool foreground, const struct log_choice *log)
{
	char said[LOG_TARGET_SAID];
	int fd[2];
	pid_t pid;

	d->verdict_fd = -1;
	d->log = log;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of state files and of the log then
				     fails with an error */
	if (foreground) {
		log_begin(log, false, said);
		return 0;
	}
	if (pipe2(fd, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return -1;
	}
	if (pid > 0) {
		close(fd[1]);
		wait_for_verdict(fd[0], pid, d->failed_status);
	}
	close(fd[0]);
	d->verdict_fd = fd[1];
	signal(SIGHUP, SIG_IGN);
	leave_keys_to_parent();
	return chdir("/");
}

void daemon_go_on(struct daemon *d, bool foreground, const struct log_choice *log)
{
	char said[LOG_TARGET_SAID];

	d->verdict_fd = -1;
	d->log = log;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	log_begin(log, !foreground, said);
}

/* Closes the standard files that the log does not need. */
static void let_go(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	dup2(null, 0);
	dup2(null, 1);
	if (log_target_used() != LOG_TO_STDERR)
		dup2(null, 2);
	if (null > 2)
		close(null);
}

bool daemon_ready(struct daemon *d)
{
	char said[LOG_TARGET_SAID];
	bool wanted;

	sidecar_tell(NULL);
	if (d->verdict_fd < 0)
		return true;
	setsid();
	signal(SIGQUIT, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	/* The log first: after the verdict no process may write to the caller's terminal. */
	log_begin(d->log, true, said);
	if (said[0] && isatty(2))
		fprintf(stderr, "rnfs: %s\n", said);
	wanted = write(d->verdict_fd, "", 1) == 1;
	close(d->verdict_fd);
	d->verdict_fd = -1;
	let_go();
	return wanted;
}

void daemon_stay(struct daemon *d)
{
	char said[LOG_TARGET_SAID];

	setsid();
	log_begin(d->log, true, said);
	let_go();
}

bool daemon_unwanted(const struct daemon *d)
{
	struct pollfd p = {.fd = d->verdict_fd};

	return d->verdict_fd >= 0 && poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

void daemon_failed(struct daemon *d, const char *sentence)
{
	sidecar_tell(sentence);
	if (d->verdict_fd < 0) {
		log_always_error("%s", sentence);
		if (log_target_used() != LOG_TO_STDERR)
			fprintf(stderr, "rnfs: %s\n", sentence);
		return;
	}
	if (write(d->verdict_fd, sentence, strlen(sentence)) < 0)
		log_always_error("%s", sentence);
	/* the end of the process closes the pipe; the parent waits for the end */
}

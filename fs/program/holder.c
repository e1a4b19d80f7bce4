/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * holder: the process that outlives a daemon.
 */
#include "fs/program/holder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/program/installed.h"
#include "fs/program/mount.h"
#include "transport/clock.h"
#include "transport/log.h"

#define LOOK_MS	    500
#define CRASHES_NS  (60 * NSEC_PER_SEC)
#define SOON_NS	    NSEC_PER_SEC /* deaths of daemons within that time get a pause */
#define PAUSE_AFTER 20u		 /* such deaths without a pause */

enum news { NEWS_HOLD, NEWS_LEAVE };

struct holder {
	struct daemon *d;
	bool foreground;
	const char *mountpoint;
	struct installed program;
	int self;    /* the program, open */
	int signals; /* signalfd */
	pid_t pid;   /* the daemon */
	int news;    /* the holder's end of the connection to the daemon */
	int file[HOLDER_FILES];
	bool holds, leaving;
	bool taken; /* this daemon has sent HOLD */
	unsigned failures, soon;
	unsigned crashes; /* since crashes_at */
	uint64_t crashes_at, died_at;
};

/* --- the daemon's side ------------------------------------------------------------------------ */

static bool tell(int fd, enum news news, const int file[], unsigned n)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(HOLDER_FILES * sizeof(int))] = {0};
	uint32_t word = news;
	struct iovec iov = {&word, sizeof(word)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (n) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(n * sizeof(int))};
		memcpy(CMSG_DATA(c), file, n * sizeof(int));
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(word);
}

bool holder_hold(int fd, const int file[HOLDER_FILES])
{
	return tell(fd, NEWS_HOLD, file, file[HOLDER_ROW] < 0 ? HOLDER_ROW : HOLDER_FILES);
}

void holder_leave(int fd)
{
	if (fd >= 0)
		tell(fd, NEWS_LEAVE, NULL, 0);
}

/* --- files ------------------------------------------------------------------------------------ */

static void drop_files(int file[HOLDER_FILES])
{
	for (unsigned i = 0; i < HOLDER_FILES; i++) {
		if (file[i] >= 0)
			close(file[i]);
		file[i] = -1;
	}
}

/* The files in m; as many as there are. */
static unsigned take_files(struct msghdr *m, int file[HOLDER_FILES])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	unsigned n;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(file, CMSG_DATA(c), n * sizeof(int));
	return n;
}

/* Takes one message, if there is one. */
static bool take_news(struct holder *h)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(HOLDER_FILES * sizeof(int))];
	int file[HOLDER_FILES] = {-1, -1, -1, -1};
	uint32_t word;
	struct iovec iov = {&word, sizeof(word)};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	unsigned n;

	if (recvmsg(h->news, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(word))
		return false;
	n = take_files(&m, file);
	if (word == NEWS_LEAVE) {
		h->leaving = true;
	} else if (n >= HOLDER_ROW) {
		drop_files(h->file);
		memcpy(h->file, file, sizeof(file));
		if (!h->holds && !h->foreground)
			daemon_stay(h->d);
		h->holds = h->taken = true;
		h->failures = 0;
		return true;
	}
	drop_files(file);
	return true;
}

/* The daemon is about to end, and has no more news. */
static void end_news(struct holder *h)
{
	close(h->news);
	h->news = -1;
}

/* --- a successor ------------------------------------------------------------------------------ */

static void stay_open(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

/* In the child. */
__attribute__((noreturn)) static void become_successor(struct holder *h, int news)
{
	char variable[160];
	sigset_t all;

	snprintf(variable, sizeof(variable), HOLDER_VARIABLE "=%d,%d,%d,%d,%d,%llu", news,
		h->file[HOLDER_DEVICE], h->file[HOLDER_LEDGER], h->file[HOLDER_POOL],
		h->file[HOLDER_ROW], (unsigned long long)h->died_at);
	stay_open(news);
	for (unsigned i = 0; i < HOLDER_FILES; i++)
		stay_open(h->file[i]);
	stay_open(h->d->auto_unmount_fd);
	h->program.env[h->program.nenv] = variable;
	sigfillset(&all); /* the successor lets signals in (signals.h) */
	sigprocmask(SIG_SETMASK, &all, NULL);
	fexecve(h->self, h->program.argv, h->program.env);
	raise(SIGKILL); /* another attempt follows */
	_exit(1);
}

/* -1 with errno. */
static int start_successor(struct holder *h)
{
	int end[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end))
		return -1;
	h->pid = fork();
	if (!h->pid)
		become_successor(h, end[1]);
	close(end[1]);
	if (h->news >= 0)
		end_news(h);
	h->news = end[0];
	h->taken = false;
	return h->pid < 0 ? -1 : 0;
}

/* --- the end of a daemon ---------------------------------------------------------------------- */

/* Ends as the daemon has ended. */
__attribute__((noreturn)) static void end_like(int status)
{
	sigset_t none;

	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	prctl(PR_SET_DUMPABLE, 0); /* one core is enough */
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(WTERMSIG(status));
	_exit(128 + WTERMSIG(status));
}

__attribute__((noreturn)) static void give_up(struct holder *h, const char *why)
{
	log_always_error("the mount ends: %s", why);
	mount_detach(h->mountpoint);
	_exit(1);
}

static void count_death(struct holder *h, int sig)
{
	uint64_t now = clock_ns();

	h->soon = clock_age(now, h->died_at) < SOON_NS ? h->soon + 1 : 0;
	h->died_at = now;
	if (!h->taken && ++h->failures >= HOLDER_FAILURES)
		give_up(h, "the daemon was killed, and no successor could take over");
	if (sig == SIGKILL)
		return;
	if (clock_age(now, h->crashes_at) > CRASHES_NS) {
		h->crashes_at = now;
		h->crashes = 0;
	}
	if (++h->crashes >= HOLDER_CRASHES)
		give_up(h, "the daemon has crashed again and again");
}

/* The daemon has ended; by a signal, if sig is not 0. */
static void after(struct holder *h, int status, int sig)
{
	while (take_news(h))
		;
	if (!sig || !h->holds || h->leaving)
		end_like(status);
	count_death(h, sig);
	log_always_warn("the daemon was killed by signal %d: another one takes over", sig);
	if (h->soon > PAUSE_AFTER)
		usleep(500 * 1000);
	while (start_successor(h)) {
		log_always_warn("no process for another daemon: %s", strerror(errno));
		usleep(500 * 1000);
	}
}

/* Is the daemon dying, with a thread that cannot end? Then *status is as of waitpid(). */
static bool is_dying(pid_t pid, int *status)
{
	char path[48], text[1024] = "", *state, *last;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = 0;
	state = strrchr(text, ')');
	if (!state || state[1] != ' ' || state[2] != 'Z')
		return false;
	last = strrchr(text, ' ');
	*status = atoi(last + 1); /* exit_code, the last field */
	if (!WIFSIGNALED(*status))
		*status = SIGKILL;
	return true;
}

static void look_at_daemon(struct holder *h)
{
	int status, last = 0;
	bool dying = h->holds && !h->leaving && is_dying(h->pid, &last);
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != h->pid)
			continue; /* a daemon that was dying for long */
		after(h, status, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
		dying = false;
	}
	if (dying)
		after(h, last, WTERMSIG(last));
}

static void take_signal(struct holder *h)
{
	struct signalfd_siginfo info;

	if (read(h->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	if (info.ssi_signo != SIGCHLD)
		kill(h->pid, (int)info.ssi_signo);
}

__attribute__((noreturn)) static void run(struct holder *h)
{
	for (;;) {
		struct pollfd p[] = {
			{.fd = h->signals, .events = POLLIN}, {.fd = h->news, .events = POLLIN}};

		if (poll(p, 2, LOOK_MS) > 0) {
			if (!(p[1].revents & POLLIN && take_news(h)) && p[1].revents)
				end_news(h);
			if (p[0].revents)
				take_signal(h);
		}
		look_at_daemon(h);
	}
}

int holder_start(struct daemon *d, bool foreground, const char *mountpoint, struct err *e)
{
	struct holder h = {.d = d,
		.foreground = foreground,
		.mountpoint = mountpoint,
		.file = {-1, -1, -1, -1}};
	sigset_t caught, before;
	int end[2];

	sigemptyset(&caught);
	sigaddset(&caught, SIGCHLD);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGHUP);
	sigaddset(&caught, SIGUSR1);
	h.self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (h.self < 0 || installed_init(&h.program, e) ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end))
		return err_set(e, ERR_INTERNAL, "option survive: no holder: %s", strerror(errno));
	sigprocmask(SIG_BLOCK, &caught, &before);
	h.signals = signalfd(-1, &caught, SFD_CLOEXEC);
	h.pid = h.signals < 0 ? -1 : fork();
	if (h.pid <= 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		close(h.self);
		close(h.signals);
		close(end[0]);
		installed_finish(&h.program);
		return h.pid ? err_set(e, ERR_INTERNAL, "option survive: no process for the holder")
			     : end[1];
	}
	close(end[1]);
	h.news = end[0];
	prctl(PR_SET_NAME, "rnfs-holder");
	if (d->verdict_fd >= 0)
		close(d->verdict_fd); /* the daemon gives the verdict */
	d->verdict_fd = -1;
	run(&h);
}

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
#include "transport/sd_notify.h"

#define LOOK_MS	    500
#define CRASHES_NS  (60 * NSEC_PER_SEC)
#define SOON_NS	    NSEC_PER_SEC       /* deaths of daemons within that time get a pause */
#define PAUSE_AFTER 20u		       /* such deaths without a pause */
#define AGAIN_MS    500		       /* between two attempts to start a process */
#define FAILED_MS   100u	       /* after the first failure to take over; then doubling */
#define END_NS	    (8 * NSEC_PER_SEC) /* for these attempts, once a signal ends the mount */

enum news_kind { NEWS_HOLD, NEWS_LEAVE, NEWS_REPLACE };

struct news {
	uint32_t kind;
	uint64_t paused_at; /* of NEWS_REPLACE */
};

/* The files with NEWS_REPLACE. */
enum replace_file { REPLACE_PROGRAM, REPLACE_ASKER, REPLACE_FILES };

struct holder {
	struct daemon *d;
	bool foreground;
	const char *mountpoint;
	struct installed program;
	int self;	     /* the program, open */
	int next;	     /* the program that the daemon gives its place to, or -1 */
	int former;	     /* during a trial: the program before, or -1 */
	int asker;	     /* the command that waits for the end of a trial, or -1 */
	enum holder_way way; /* of the next successor */
	unsigned trial_ms;
	uint64_t trial_at; /* when a trial began */
	int signal;	   /* that has come and ends the mount, or 0 */
	int signals;	   /* signalfd */
	pid_t pid;	   /* the daemon */
	int news;	   /* the holder's end of the connection to the daemon */
	int file[HOLDER_FILES];
	bool holds, leaving;
	bool taken; /* this daemon has sent HOLD */
	unsigned failures, soon;
	unsigned crashes; /* since crashes_at */
	uint64_t crashes_at, died_at;
};

/* --- the daemon's side ------------------------------------------------------------------------ */

static bool tell(int fd, const struct news *news, const int file[], unsigned n)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(HOLDER_FILES * sizeof(int))] = {0};
	struct iovec iov = {(void *)(uintptr_t)news, sizeof(*news)};
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
	return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(*news);
}

bool holder_hold(int fd, const int file[HOLDER_FILES])
{
	const struct news news = {.kind = NEWS_HOLD};

	return tell(fd, &news, file, file[HOLDER_ROW] < 0 ? HOLDER_ROW : HOLDER_FILES);
}

void holder_leave(int fd)
{
	const struct news news = {.kind = NEWS_LEAVE};

	if (fd >= 0)
		tell(fd, &news, NULL, 0);
}

bool holder_replace(int fd, int program, int asker, uint64_t paused_at)
{
	const struct news news = {.kind = NEWS_REPLACE, .paused_at = paused_at};
	const int file[] = {[REPLACE_PROGRAM] = program, [REPLACE_ASKER] = asker};

	return tell(fd, &news, file, REPLACE_FILES);
}

/* --- files ------------------------------------------------------------------------------------ */

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void drop_files(int file[HOLDER_FILES])
{
	for (unsigned i = 0; i < HOLDER_FILES; i++)
		drop(&file[i]);
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

/* The daemon holds the mount, and its program is the one to start from now on. */
static void hold(struct holder *h, const int file[HOLDER_FILES])
{
	drop_files(h->file);
	memcpy(h->file, file, sizeof(h->file));
	if (!h->holds && !h->foreground)
		daemon_stay(h->d);
	h->holds = h->taken = true;
	h->failures = 0;
	drop(&h->former);
	drop(&h->asker);
	h->way = HOLDER_KILLED;
}

/* No successor is to follow this daemon. A first daemon goes on without the holder's help. */
static void leave(struct holder *h)
{
	if (!h->holds && !h->leaving && !h->foreground)
		daemon_stay(h->d);
	h->leaving = true;
}

/* Files of a HOLD are missing. The ledger that the holder has is out of date. */
static void cannot_hold(struct holder *h)
{
	log_always_error("the holder could not take the files of the mount (is ulimit -n too "
			 "small?): this mount ends with its daemon");
	leave(h);
	drop_files(h->file);
	h->holds = false;
	drop(&h->former);
	drop(&h->asker);
}

/* Takes one message, if there is one. */
static bool take_news(struct holder *h)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(HOLDER_FILES * sizeof(int))];
	int file[HOLDER_FILES] = {-1, -1, -1, -1};
	struct news news;
	struct iovec iov = {&news, sizeof(news)};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	unsigned n;

	if (recvmsg(h->news, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(news))
		return false;
	n = take_files(&m, file);
	if (news.kind == NEWS_HOLD && n >= HOLDER_ROW && !(m.msg_flags & MSG_CTRUNC)) {
		hold(h, file);
		return true;
	}
	if (news.kind == NEWS_HOLD)
		cannot_hold(h);
	if (news.kind == NEWS_LEAVE)
		leave(h);
	if (news.kind == NEWS_REPLACE && n == REPLACE_FILES) {
		drop(&h->next);
		drop(&h->asker);
		h->next = file[REPLACE_PROGRAM];
		h->asker = file[REPLACE_ASKER];
		h->died_at = news.paused_at;
		return true;
	}
	drop_files(file);
	return true;
}

/* The daemon is about to end, and has no more news. */
static void end_news(struct holder *h)
{
	drop(&h->news);
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

	snprintf(variable, sizeof(variable), HOLDER_VARIABLE "=%d,%d,%d,%d,%d,%llu,%d,%d", news,
		h->file[HOLDER_DEVICE], h->file[HOLDER_LEDGER], h->file[HOLDER_POOL],
		h->file[HOLDER_ROW], (unsigned long long)h->died_at, h->asker, (int)h->way);
	stay_open(news);
	stay_open(h->asker);
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
	if (!sig || sig == SIGKILL)
		return;
	if (clock_age(now, h->crashes_at) > CRASHES_NS) {
		h->crashes_at = now;
		h->crashes = 0;
	}
	if (++h->crashes >= HOLDER_CRASHES)
		give_up(h, "the daemon has crashed again and again");
}

/* The daemon has given its place to another program. */
static void begin_trial(struct holder *h)
{
	h->former = h->self;
	h->self = h->next;
	h->next = -1;
	h->way = HOLDER_TRIAL;
}

/* Kills a successor on trial that takes too long. look_at_daemon() then sees the death. */
static void watch_trial(struct holder *h)
{
	if (h->former < 0 || clock_age(clock_ns(), h->trial_at) < h->trial_ms * NSEC_PER_MSEC)
		return;
	log_always_warn("the installed program has not taken over in %u s, and is killed",
		h->trial_ms / 1000);
	kill(h->pid, SIGKILL);
	h->trial_at = clock_ns();
}

/* The other program has ended, and has not taken over. */
static void go_back(struct holder *h)
{
	log_always_warn("the installed program could not take over: the former one goes on");
	drop(&h->self);
	h->self = h->former;
	h->former = -1;
	h->way = HOLDER_BACK;
}

/* sig 0: a successor has ended by itself, and has not said why. */
static void after_death(struct holder *h, int status, int sig)
{
	if (sig)
		log_always_warn("the daemon was killed by signal %d: another one takes over", sig);
	else
		log_always_warn("a daemon ended with status %d before it had taken over: another "
				"one tries",
			WEXITSTATUS(status));
	count_death(h, sig);
	if (!h->taken)
		usleep(FAILED_MS * 1000 << (h->failures - 1));
	else if (h->soon > PAUSE_AFTER)
		usleep(500 * 1000);
}

/* Waits for a moment. True: a signal has come that ends the mount. There is no daemon to pass it on
 * to. */
static bool hears_end(struct holder *h)
{
	struct pollfd p = {.fd = h->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	if (poll(&p, 1, AGAIN_MS) <= 0 ||
		read(h->signals, &info, sizeof(info)) != (ssize_t)sizeof(info) ||
		(info.ssi_signo != SIGTERM && info.ssi_signo != SIGINT))
		return false;
	h->signal = (int)info.ssi_signo;
	return true;
}

/* Starts a successor, as soon as there is a process for it. After a signal that ends the mount the
 * holder tries on for END_NS, because the successor has written data to make safe, or until a
 * second signal comes. */
static void start_at_last(struct holder *h)
{
	uint64_t until = h->signal ? clock_ns() + END_NS : UINT64_MAX;
	bool told = false;

	while (start_successor(h)) {
		if (!told)
			log_always_warn("no process for another daemon: %s: waiting for one (is "
					"pids.max of the control group or ulimit -u too small?)",
				strerror(errno));
		told = true;
		if (h->foreground && sd_notify_watchdog_ms()) /* the daemon would say so */
			sd_notify("WATCHDOG=1");
		if (hears_end(h))
			until = until == UINT64_MAX ? clock_ns() + END_NS : 0;
		if (clock_ns() >= until)
			give_up(h, "there is no process for another daemon");
	}
}

/* The daemon has ended; by a signal, if sig is not 0. */
static void after(struct holder *h, int status, int sig)
{
	while (take_news(h))
		;
	if (h->next >= 0 && h->holds)
		begin_trial(h);
	else if (h->former >= 0)
		go_back(h);
	else if (h->holds && !h->leaving && (sig || !h->taken))
		after_death(h, status, sig);
	else if (h->next >= 0)
		give_up(h, "the holder has no files for another program");
	else
		end_like(status);
	start_at_last(h);
	h->trial_at = clock_ns();
	if (h->signal) /* waits until the successor takes signals */
		kill(h->pid, h->signal);
}

/* Has a signal killed the daemon, with a thread that cannot end? Then *status is as of waitpid().
 * The threads of a daemon that ends by itself end soon. */
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
	return WIFSIGNALED(*status);
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
	if (info.ssi_signo == SIGCHLD)
		return;
	kill(h->pid, (int)info.ssi_signo);
	/* the daemon may be dying, or may die before it has ended the mount */
	if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
		h->signal = (int)info.ssi_signo;
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
		watch_trial(h);
	}
}

int holder_start(
	struct daemon *d, bool foreground, const char *mountpoint, unsigned trial_ms, struct err *e)
{
	struct holder h = {.d = d,
		.foreground = foreground,
		.mountpoint = mountpoint,
		.trial_ms = trial_ms,
		.next = -1,
		.former = -1,
		.asker = -1,
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

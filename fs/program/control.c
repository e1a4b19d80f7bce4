/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * control: the socket at which the daemon answers commands.
 *
 *     FREE --accept--> ASKING --a line--> ANSWERING --all is sent--> FREE
 *                             \--`top`, `trace`--> LISTENING --the peer hangs up--> FREE
 *
 * While a connection is LISTENING, the thread gets an event for each request that ends (trace.h),
 * and looks for events each LISTEN_MS.
 *
 * All of struct control but `stop` belongs to the thread, once the thread runs.
 */
#include "fs/program/control.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/contact.h"
#include "cli/runtime_dir.h"
#include "fs/kernel/busy.h"
#include "fs/kernel/event.h"
#include "fs/coherence/tell.h"
#include "fs/program/upgrade.h"
#include "transport/clock.h"
#include "transport/log.h"

#define BACKLOG	    32
#define NAMES	    8u	/* names to try: another PID namespace may have taken the first */
#define ACCEPTS_MAX 16u /* in a row */
#define LISTEN_MS   20
#define FULL_MS	    100 /* pause after an accept without a descriptor for the connection */

enum conn_state {
	CONN_FREE,
	CONN_ASKING,
	CONN_ANSWERING,
	CONN_LISTENING,
};

struct answer {
	bool used;
	size_t len, at; /* bytes in buf; bytes that are sent */
	char buf[ANSWER_MAX];
};

struct conn {
	enum conn_state state;
	int fd;
	uint64_t moved; /* when the peer last read or wrote, on clock_ns() */
	struct ask ask;
	size_t len;
	char in[ASK_MAX];
	struct answer *answer; /* ANSWERING and LISTENING */
	/* LISTENING */
	struct busy *busy; /* of `top`; NULL: `trace` */
	uint64_t reported; /* when the last report was made, on clock_ns() */
	uint64_t lost;	   /* events since the last report that were dropped */
};

struct control {
	struct fs *fs;
	pthread_t thread;
	int listen_fd, wake_fd;
	bool is_full; /* the process has no descriptor for another connection */
	atomic_bool stop;
	char path[RUNTIME_SOCKET_MAX];
	struct report report;
	struct report_ops requests, operations; /* report's members for `stat` */
	struct conn conn[CONTROL_CONNS];
	struct answer answer[CONTROL_ANSWERS];
	struct busy busy[CONTROL_TOPS];
};

/* --- connections ------------------------------------------------------------------------------ */

static void hang_up(struct conn *c)
{
	close(c->fd);
	c->state = CONN_FREE;
	c->fd = -1;
	if (c->answer)
		c->answer->used = false;
	c->answer = NULL;
	c->busy = NULL;
}

static void move(struct conn *c)
{
	c->moved = clock_ns();
}

/* Sends the bytes of the answer so far. When the whole answer has been sent, the connection
 * ends. */
static void send_answer(struct conn *c)
{
	struct answer *a = c->answer;

	while (a->at < a->len) {
		ssize_t n = send(c->fd, a->buf + a->at, a->len - a->at, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			hang_up(c);
			return;
		}
		a->at += (size_t)n;
		move(c);
	}
	if (c->state == CONN_ANSWERING)
		hang_up(c);
}

/* Of the connections in `state`, the one that has been idle for longest; NULL: there is none. */
static struct conn *find_idle(struct control *ctl, enum conn_state state)
{
	struct conn *idle = NULL;

	for (unsigned i = 0; i < CONTROL_CONNS; i++) {
		struct conn *c = &ctl->conn[i];

		if (c->state == state && (!idle || c->moved < idle->moved))
			idle = c;
	}
	return idle;
}

static struct answer *find_answer(struct control *ctl)
{
	struct conn *idle;
	struct answer *a;

	for (unsigned i = 0; i < CONTROL_ANSWERS; i++)
		if (!ctl->answer[i].used)
			return &ctl->answer[i];
	idle = find_idle(ctl, CONN_ANSWERING);
	if (!idle)
		idle = find_idle(ctl, CONN_LISTENING);
	a = idle->answer;
	hang_up(idle);
	return a;
}

static void refuse(struct conn *c, const char *sentence)
{
	char line[200];
	int n = snprintf(line, sizeof(line), ANSWER_ERROR " %s\n", sentence);

	/* a failure is not logged: writing to the log may take long */
	if (send(c->fd, line, (size_t)n, MSG_NOSIGNAL) < 0)
		c->len = 0;
	hang_up(c);
}

static struct busy *find_busy(struct control *ctl)
{
	for (unsigned i = 0; i < CONTROL_TOPS; i++) {
		bool used = false;

		for (unsigned n = 0; n < CONTROL_CONNS; n++)
			used |= ctl->conn[n].busy == &ctl->busy[i];
		if (!used)
			return &ctl->busy[i];
	}
	return NULL;
}

/* False: the command was refused. */
static bool listen_begin(struct control *ctl, struct conn *c)
{
	struct busy *busy = c->ask.what == ASK_TOP ? find_busy(ctl) : NULL;

	if (!busy && c->ask.what == ASK_TOP) {
		refuse(c, "others ask for that already: try again later");
		return false;
	}
	if (!trace_is_on(&ctl->fs->trace) && !trace_start(&ctl->fs->trace)) {
		refuse(c, "the daemon is out of memory");
		return false;
	}
	c->busy = busy;
	if (busy)
		busy_clear(busy);
	c->reported = clock_ns();
	c->lost = 0;
	return true;
}

/* The main thread answers, or the successor. */
static void pass_on(struct control *ctl, struct conn *c)
{
	if (!upgrade_ask(ctl->fs, c->fd)) {
		refuse(c, "another command has asked for that just now");
		return;
	}
	c->fd = -1;
	c->state = CONN_FREE;
}

static void answer(struct control *ctl, struct conn *c)
{
	struct answer *a = find_answer(ctl);
	struct words w = {.buf = a->buf, .size = sizeof(a->buf)};
	bool listens = c->ask.what == ASK_TOP || c->ask.what == ASK_TRACE;

	words_print(&w, ANSWER_OK "\n");
	switch (c->ask.what) {
	case ASK_HELLO:
		ctl->report.requests = ctl->report.operations = NULL;
		tell_hello(ctl->fs, &ctl->report);
		report_write(&ctl->report, &w);
		break;
	case ASK_STAT:
		ctl->report.requests = &ctl->requests;
		ctl->report.operations = &ctl->operations;
		tell_stat(ctl->fs, &ctl->report);
		report_write(&ctl->report, &w);
		break;
	case ASK_TOP:
	case ASK_TRACE:
		if (!listen_begin(ctl, c))
			return;
		break;
	case ASK_LOG_LEVEL:
		if (c->ask.level)
			log_set_level(c->ask.level - 1);
		words_print(&w, "level %s\n", log_level_name(atomic_load(&log_max_level)));
		break;
	case ASK_UPGRADE:
	case ASK_WHATS:
		break;
	}
	if (!listens)
		words_print(&w, ANSWER_END "\n");
	if (w.full) {
		refuse(c, "the answer is too long");
		return;
	}
	a->used = true;
	a->len = w.len;
	a->at = 0;
	c->answer = a;
	c->state = listens ? CONN_LISTENING : CONN_ANSWERING;
	send_answer(c);
}

/* --- connections that listen ------------------------------------------------------------------ */

/* Room behind the bytes that have not been sent yet. */
static struct words room_of(struct answer *a)
{
	if (a->at)
		memmove(a->buf, a->buf + a->at, a->len - a->at);
	a->len -= a->at;
	a->at = 0;
	return (struct words){.buf = a->buf, .size = sizeof(a->buf), .len = a->len};
}

/* Sends a report, if one is due. A peer that does not read gets the report later, over a longer
 * time. */
static void report_busy(struct conn *c)
{
	uint64_t now = clock_ns(), ms = clock_age(now, c->reported) / NSEC_PER_MSEC;
	struct words w;

	if (ms < c->ask.interval_ms || c->answer->at < c->answer->len)
		return;
	w = room_of(c->answer);
	busy_write(c->busy, c->ask.rows, &w);
	words_print(&w, "end %llu %llu\n", (unsigned long long)ms, (unsigned long long)c->lost);
	busy_clear(c->busy);
	c->reported = now;
	c->lost = 0;
	if (w.full) { /* ASK_ROWS_MAX rows fit */
		hang_up(c);
		return;
	}
	c->answer->len = w.len;
	send_answer(c);
}

static bool is_wanted(const struct ask *a, const struct trace_event *e)
{
	return (!a->errors || e->error) && e->took_ns / 1000 >= a->slow_us;
}

/* The line waits to be sent; without room for the line the event is lost. */
static void tell_traced(struct conn *c, const struct trace_event *e)
{
	struct words w = room_of(c->answer);

	event_write(e, &w);
	if (w.full)
		c->lost++;
	else
		c->answer->len = w.len;
}

static void tell_event(struct control *ctl, const struct trace_event *e)
{
	for (unsigned i = 0; i < CONTROL_CONNS; i++) {
		struct conn *c = &ctl->conn[i];

		if (c->state != CONN_LISTENING)
			continue;
		if (c->busy)
			busy_add(c->busy, e);
		else if (is_wanted(&c->ask, e))
			tell_traced(c, e);
	}
}

static void send_traced(struct conn *c)
{
	struct words w = room_of(c->answer);

	if (c->lost)
		words_print(&w, "lost %llu\n", (unsigned long long)c->lost);
	if (c->lost && !w.full) {
		c->lost = 0;
		c->answer->len = w.len;
	}
	send_answer(c);
}

/* Passes on the events of requests that have ended. Returns whether any connection listens. */
static bool attend_listeners(struct control *ctl)
{
	struct trace *t = &ctl->fs->trace;
	struct trace_event e;
	uint64_t lost;
	bool any = false;

	if (!trace_is_on(t))
		return false;
	for (unsigned i = 0; i < TRACE_EVENTS && trace_take(t, &e); i++)
		tell_event(ctl, &e);
	lost = trace_dropped(t);
	for (unsigned i = 0; i < CONTROL_CONNS; i++) {
		struct conn *c = &ctl->conn[i];

		if (c->state != CONN_LISTENING)
			continue;
		any = true;
		c->lost += lost;
		if (c->busy)
			report_busy(c);
		else
			send_traced(c);
	}
	if (!any)
		trace_stop(t);
	return any;
}

/* --- requests --------------------------------------------------------------------------------- */

static void read_request(struct control *ctl, struct conn *c)
{
	ssize_t n = read(c->fd, c->in + c->len, sizeof(c->in) - c->len);
	const char *end, *why;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hang_up(c);
		return;
	}
	c->len += (size_t)n;
	end = memchr(c->in, '\n', c->len);
	if (!end && c->len == sizeof(c->in))
		refuse(c, "the request is too long");
	else if (end && !ask_parse(c->in, (size_t)(end - c->in), &c->ask, &why))
		refuse(c, why);
	else if (end && c->ask.what == ASK_UPGRADE)
		pass_on(ctl, c);
	else if (end)
		answer(ctl, c);
}

/* --- newcomers -------------------------------------------------------------------------------- */

static bool may_ask(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static struct conn *find_place(struct control *ctl)
{
	struct conn *c = find_idle(ctl, CONN_FREE);

	if (!c) {
		c = find_idle(ctl, CONN_ASKING);
		hang_up(c); /* there is a connection without an answer */
	}
	return c;
}

static void welcome(struct control *ctl)
{
	for (unsigned i = 0; i < ACCEPTS_MAX; i++) {
		int fd = accept4(ctl->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct conn *c;

		ctl->is_full = fd < 0 && errno != EAGAIN && errno != ECONNABORTED;
		if (fd < 0)
			return;
		c = find_place(ctl);
		c->fd = fd;
		c->state = CONN_ASKING;
		c->len = 0;
		move(c);
		if (may_ask(fd))
			read_request(ctl, c);
		else
			refuse(c, "only the user who mounted and root may ask this daemon");
	}
}

/* --- the thread ------------------------------------------------------------------------------- */

static uint64_t patience_of(const struct conn *c)
{
	return (c->state == CONN_ASKING ? CONTROL_ASK_MS : CONTROL_READ_MS) * NSEC_PER_MSEC;
}

/* Hangs up on peers with no time left. Returns the number of ms until the next look, or -1. */
static int check_times(struct control *ctl)
{
	uint64_t now = clock_ns(), next = UINT64_MAX;

	for (unsigned i = 0; i < CONTROL_CONNS; i++) {
		struct conn *c = &ctl->conn[i];
		uint64_t left, patience = patience_of(c);

		if (c->state == CONN_FREE || c->state == CONN_LISTENING)
			continue;
		if (clock_age(now, c->moved) >= patience) {
			hang_up(c);
			continue;
		}
		left = patience - clock_age(now, c->moved);
		next = left < next ? left : next;
	}
	return next == UINT64_MAX ? -1 : (int)(next / NSEC_PER_MSEC) + 1;
}

/* The events to wait for, by state. A peer that hangs up while listening is noticed in any case. */
static short events_of(const struct conn *c)
{
	switch (c->state) {
	case CONN_ASKING:
		return POLLIN;
	case CONN_ANSWERING:
		return POLLOUT;
	case CONN_LISTENING:
		return c->answer->at < c->answer->len ? POLLOUT | POLLRDHUP : POLLRDHUP;
	case CONN_FREE:
		break;
	}
	return 0;
}

static void serve(struct control *ctl, struct conn *c, short revents)
{
	if (c->state == CONN_ASKING)
		read_request(ctl, c);
	else if (c->state == CONN_LISTENING && revents & (POLLRDHUP | POLLHUP | POLLERR))
		hang_up(c);
	else
		send_answer(c);
}

static void *control_main(void *arg)
{
	struct control *ctl = arg;
	struct pollfd p[CONTROL_CONNS + 2];

	pthread_setname_np(pthread_self(), "rnfs-control");
	while (!atomic_load(&ctl->stop)) {
		int ms = check_times(ctl);

		if (attend_listeners(ctl))
			ms = LISTEN_MS;
		if (ctl->is_full)
			ms = FULL_MS;
		p[0] = (struct pollfd){.fd = ctl->wake_fd, .events = POLLIN};
		p[1] = (struct pollfd){.fd = ctl->is_full ? -1 : ctl->listen_fd, .events = POLLIN};
		for (unsigned i = 0; i < CONTROL_CONNS; i++)
			p[i + 2] = (struct pollfd){
				.fd = ctl->conn[i].fd, .events = events_of(&ctl->conn[i])};
		if (poll(p, CONTROL_CONNS + 2, ms) < 0)
			continue;
		for (unsigned i = 0; i < CONTROL_CONNS; i++)
			if (p[i + 2].revents && ctl->conn[i].fd == p[i + 2].fd)
				serve(ctl, &ctl->conn[i], p[i + 2].revents);
		if (p[1].revents || ctl->is_full)
			welcome(ctl);
	}
	return NULL;
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* Binds to PID.sock, or to PID-N.sock if a daemon of another PID namespace has that name. */
static int bind_socket(struct control *ctl, const char *dir, struct err *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	for (unsigned n = 0; n < NAMES; n++) {
		char number[16] = "";
		struct contact other;

		if (n)
			snprintf(number, sizeof(number), "-%u", n);
		snprintf(at.sun_path, sizeof(at.sun_path), "%s/%d%s" RUNTIME_SOCKET_END, dir,
			(int)getpid(), number);
		if (contact_open(&other, at.sun_path) == -ECONNREFUSED)
			unlink(at.sun_path); /* no process has this number any more */
		contact_close(&other);
		if (!bind(ctl->listen_fd, (const struct sockaddr *)&at, sizeof(at))) {
			strcpy(ctl->path, at.sun_path);
			return 0;
		}
		if (errno != EADDRINUSE)
			break;
	}
	return err_set(e, ERR_INTERNAL, "%s: %s", at.sun_path, strerror(errno));
}

static int listen_at(struct control *ctl, struct err *e)
{
	char dir[RUNTIME_DIR_MAX];

	if (runtime_dir_make(dir, e))
		return -1;
	contact_sweep(dir);
	ctl->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ctl->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ctl->wake_fd < 0 || ctl->listen_fd < 0)
		return err_set(e, ERR_INTERNAL, "%s", strerror(errno));
	if (bind_socket(ctl, dir, e))
		return -1;
	if (chmod(ctl->path, 0600) || listen(ctl->listen_fd, BACKLOG))
		return err_set(e, ERR_INTERNAL, "%s: %s", ctl->path, strerror(errno));
	return 0;
}

static void release(struct control *ctl)
{
	if (ctl->path[0])
		unlink(ctl->path);
	if (ctl->listen_fd >= 0)
		close(ctl->listen_fd);
	if (ctl->wake_fd >= 0)
		close(ctl->wake_fd);
	free(ctl);
}

int control_start(struct fs *fs, struct err *e)
{
	struct control *ctl = calloc(1, sizeof(*ctl));
	sigset_t all, before;
	int rc;

	if (!ctl)
		return err_set(e, ERR_INTERNAL, "out of memory");
	ctl->fs = fs;
	ctl->wake_fd = ctl->listen_fd = -1;
	for (unsigned i = 0; i < CONTROL_CONNS; i++)
		ctl->conn[i].fd = -1;
	if (listen_at(ctl, e)) {
		release(ctl);
		return -1;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&ctl->thread, NULL, control_main, ctl);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		release(ctl);
		return err_set(
			e, ERR_INTERNAL, "no thread for the control socket: %s", strerror(rc));
	}
	fs->control = ctl;
	return 0;
}

struct control *control_free(struct control *ctl)
{
	if (!ctl)
		return NULL;
	atomic_store(&ctl->stop, true);
	eventfd_write(ctl->wake_fd, 1);
	pthread_join(ctl->thread, NULL);
	trace_stop(&ctl->fs->trace);
	for (unsigned i = 0; i < CONTROL_CONNS; i++)
		if (ctl->conn[i].state != CONN_FREE)
			hang_up(&ctl->conn[i]);
	release(ctl);
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * connection: two ends and the bytes between them.
 *
 * Nothing happens by itself: each call first lets all events that are due happen
 * (connection_settle), and connection_events() says when the next event is due.
 */
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/simulation/choices.h"
#include "tests/simulation/descriptors.h"
#include "tests/simulation/network_impl.h"
#include "tests/simulation/sched.h"

#define RETRANSMIT_NS (924 * SEC_NS) /* tcp_retries2 */

static TAILQ_HEAD(, connection) all = TAILQ_HEAD_INITIALIZER(all);
static unsigned last_number;

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void lower(uint64_t *at, uint64_t t)
{
	if (t < *at)
		*at = t;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void forget(struct runs *runs)
{
	struct run *r;

	while ((r = STAILQ_FIRST(runs))) {
		STAILQ_REMOVE_HEAD(runs, link);
		free(r);
	}
}

static void forget_way(struct flow *f)
{
	forget(&f->way);
	f->under_way = 0;
	f->stuck_since = f->unsure_since = f->ack_at = 0;
}

uint64_t connection_delay(const struct host *a, const struct host *b)
{
	return network.delay_ns + a->delay_ns + b->delay_ns +
	       (network.jitter_ns ? choices_below(CHOICES_NETWORK, network.jitter_ns) : 0);
}

/* A new run, sent at the time `when`, which may be past. */
static struct run *put(struct end *e, enum run_kind kind, size_t n, uint64_t when)
{
	struct run *r = calloc(1, sizeof(*r) + n);
	struct flow *f = end_flow(e);

	if (!r)
		abort();
	r->kind = kind;
	r->n = n;
	r->at = f->last_at =
		later(f->last_at, when + connection_delay(e->host, end_other(e)->host));
	f->under_way += n;
	STAILQ_INSERT_TAIL(&f->way, r, link);
	return r;
}

/* --- the life of a connection ----------------------------------------------------------------- */

static void begin_end(struct connection *c, unsigned i, struct host *h, const struct address *a)
{
	struct end *e = &c->end[i];

	e->c = c;
	e->host = h;
	e->at = *a;
	e->heard = sched_now();
	e->open = true;
	STAILQ_INIT(&e->read);
	STAILQ_INIT(&c->flow[i].way);
}

struct connection *connection_new(struct host *caller, const struct address *from,
	struct host *called, const struct address *to)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->number = ++last_number;
	begin_end(c, NETWORK_CALLER, caller, from);
	begin_end(c, NETWORK_CALLED, called, to);
	TAILQ_INSERT_TAIL(&all, c, link);
	return c;
}

static void end_life(struct connection *c)
{
	TAILQ_REMOVE(&all, c, link);
	for (int i = 0; i < 2; i++) {
		forget(&c->end[i].read);
		forget(&c->flow[i].way);
	}
	free(c);
}

struct connection *connection_of(unsigned number)
{
	struct connection *c;

	TAILQ_FOREACH (c, &all, link)
		if (c->number == number)
			return c;
	return NULL;
}

struct connection *connection_next(struct connection *c)
{
	return c ? TAILQ_NEXT(c, link) : TAILQ_FIRST(&all);
}

void connection_fail(struct end *e, int error)
{
	if (e->closed)
		return;
	e->closed = e->no_recv = e->no_send = true;
	e->error = error;
	forget_way(end_flow(e));
	sched_event("connection %u end %u: %s", e->c->number, end_index(e), strerror(error));
	descriptors_changed();
}

static void be_reset(struct end *e)
{
	connection_fail(e, e->heard_fin && !e->sent_fin ? EPIPE : ECONNRESET);
}

void connection_cut(struct connection *c)
{
	sched_event("connection %u is cut", c->number);
	for (int i = 0; i < 2; i++)
		if (!c->end[i].gone)
			be_reset(&c->end[i]);
	for (int i = 0; i < 2; i++)
		forget_way(&c->flow[i]);
}

void connection_lose(struct end *e, bool silent)
{
	struct flow *f = end_flow(e);
	struct runs kept = STAILQ_HEAD_INITIALIZER(kept);
	size_t n = f->under_way;

	if (e->closed)
		return;
	sched_event("connection %u end %u is lost", e->c->number, end_index(e));
	STAILQ_CONCAT(&kept, &f->way);
	connection_fail(e, ECONNRESET);
	STAILQ_CONCAT(&f->way, &kept);
	f->under_way = n;
	e->gone = true;
	e->silent = silent;
}

/* --- events that are due ---------------------------------------------------------------------- */

bool connection_is_silent(const struct end *e)
{
	return e->host->down || (e->gone && e->silent);
}

uint64_t connection_quiet_until(struct end *from)
{
	uint64_t hosts = later(from->host->quiet_until, end_other(from)->host->quiet_until);

	return later(end_flow(from)->quiet_until, hosts);
}

/* When run r of e arrives, if the window has room. */
static uint64_t arrival(struct end *e, const struct run *r)
{
	uint64_t t = later(r->at, connection_quiet_until(e));

	return r->kind == RUN_BYTES ? later(t, end_flow(e)->stalled_until) : t;
}

/* Run r of e comes to an end that has gone or is closed: a reset goes back. */
static void answer_reset(struct end *e, struct end *to, const struct run *r)
{
	uint64_t when = later(arrival(e, r), to->host->up_since);

	forget_way(end_flow(e));
	forget_way(end_flow(to));
	put(to, RUN_RESET, 0, when);
}

/* One run has arrived. Returns false: it cannot yet. */
static bool arrive(struct end *e, struct run *r)
{
	struct flow *f = end_flow(e);
	struct end *to = end_other(e);

	if (connection_is_silent(to))
		return false;
	if (r->kind != RUN_RESET && (to->gone || to->closed || (!to->open && r->n))) {
		if (r->kind == RUN_FIN && !to->gone) {
			forget_way(f);
			return true;
		}
		to->closed = true;
		answer_reset(e, to, r);
		return true;
	}
	if (r->kind == RUN_BYTES && to->unread >= network.window)
		return false;
	STAILQ_REMOVE_HEAD(&f->way, link);
	f->under_way -= r->n;
	f->stuck_since = 0;
	acks_begin(e, arrival(e, r));
	to->heard = sched_now();
	if (r->kind == RUN_BYTES) {
		STAILQ_INSERT_TAIL(&to->read, r, link);
		to->unread += r->n;
		return true;
	}
	if (r->kind == RUN_FIN)
		to->heard_fin = to->no_recv = true;
	else
		be_reset(to);
	free(r);
	return true;
}

/* The time at which e gives up bytes that do not get through; 0: e does not. */
static uint64_t give_up_at(struct end *e)
{
	const struct flow *f = end_flow(e);
	uint64_t since = f->stuck_since, limit = RETRANSMIT_NS;

	if (!since || (f->unsure_since && f->unsure_since < since))
		since = f->unsure_since;
	if (e->tuning && e->tuning->user_timeout_ms)
		limit = e->tuning->user_timeout_ms * MSEC_NS;
	return since ? since + limit : 0;
}

/* When e's kernel learns by keep-alive probes that the peer is away; 0: it does not. *mute: no
 * answer comes, not even a reset. */
static uint64_t probe_at(struct end *e, bool *mute)
{
	struct end *to = end_other(e);
	const struct tuning *t = e->tuning;
	uint64_t now = sched_now(), since = e->heard, n, wait;
	bool quiet = connection_quiet_until(e) > now || connection_quiet_until(to) > now;

	*mute = quiet || connection_is_silent(to);
	if (!t || !t->keepalive || e->closed || !STAILQ_EMPTY(&end_flow(e)->way))
		return 0;
	if (!*mute && !to->gone && !to->closed)
		return 0;
	since = later(since, later(end_flow(e)->quiet_since, end_flow(to)->quiet_since));
	wait = t->keep_idle_s;
	if (*mute) {
		n = t->keep_count;
		if (t->user_timeout_ms)
			for (n = 1; (wait + n * t->keep_interval_s) * 1000 < t->user_timeout_ms;
				n++)
				;
		wait += n * t->keep_interval_s;
	}
	return since + wait * SEC_NS;
}

static void settle(struct end *e)
{
	struct flow *f = end_flow(e);
	struct end *to = end_other(e);
	uint64_t now = sched_now(), at;
	struct run *r;
	bool any = false, mute;

	while ((r = STAILQ_FIRST(&f->way)) && arrival(e, r) <= now && arrive(e, r))
		any = true;
	if (!r)
		f->stuck_since = 0;
	else if (r->at <= now && !f->stuck_since)
		f->stuck_since = later(r->at, 1);
	if (f->unsure_since && connection_quiet_until(to) <= now)
		f->unsure_since = 0;
	if (any)
		descriptors_changed();
	acks_settle(e);
	if (e->closed)
		return;
	at = give_up_at(e);
	if (at && at <= now) {
		connection_fail(e, ETIMEDOUT);
		return;
	}
	at = probe_at(e, &mute);
	if (at && at <= now)
		connection_fail(e, mute ? ETIMEDOUT : ECONNRESET);
}

void connection_settle(struct connection *c)
{
	settle(&c->end[0]);
	settle(&c->end[1]);
	settle(&c->end[0]); /* a reset that has gone back */
}

/* --- the calls -------------------------------------------------------------------------------- */

static int take_error(struct end *e)
{
	int error = e->error;

	e->error = 0;
	return error;
}

static size_t maybe_less(size_t n)
{
	if (n > 1 && network.short_one_in && choices_once_in(CHOICES_NETWORK, network.short_one_in))
		return 1 + choices_below(CHOICES_NETWORK, (uint32_t)n - 1);
	return n;
}

static size_t length(const struct iovec *iov, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += iov[i].iov_len;
	return len;
}

/* A place in an iovec. */
struct spot {
	const struct iovec *iov;
	size_t i, off;
};

/* Copies n bytes between p and the spot, which goes on. */
static void copy(struct spot *s, uint8_t *p, size_t n, bool into_iov)
{
	while (n) {
		const struct iovec *v = &s->iov[s->i];
		size_t k = v->iov_len - s->off < n ? v->iov_len - s->off : n;
		uint8_t *q = (uint8_t *)v->iov_base + s->off;

		if (k)
			memcpy(into_iov ? q : p, into_iov ? p : q, k);
		p += k;
		n -= k;
		s->off += k;
		if (s->off == v->iov_len) {
			s->i++;
			s->off = 0;
		}
	}
}

static size_t take(struct end *e, const struct iovec *iov, size_t most, bool peek)
{
	struct spot to = {.iov = iov};
	struct run *r, *next;
	size_t left = most;

	for (r = STAILQ_FIRST(&e->read); r && left; r = next) {
		size_t k = r->n - r->off < left ? r->n - r->off : left;

		next = STAILQ_NEXT(r, link);
		copy(&to, r->bytes + r->off, k, true);
		left -= k;
		if (peek)
			continue;
		r->off += k;
		e->unread -= k;
		if (r->off < r->n)
			break;
		STAILQ_REMOVE_HEAD(&e->read, link);
		free(r);
	}
	return most - left;
}

ssize_t connection_recv(struct end *e, const struct iovec *iov, size_t n, bool peek)
{
	size_t want = length(iov, n), got;

	connection_settle(e->c);
	if (!want && e->unread)
		return 0;
	if (!e->unread) {
		if (e->heard_fin)
			return 0;
		if (e->error)
			return -take_error(e);
		return e->no_recv ? 0 : -EAGAIN;
	}
	want = want < e->unread ? want : e->unread;
	got = take(e, iov, peek ? want : maybe_less(want), peek);
	sched_detail("connection %u end %u reads %zu", e->c->number, end_index(e), got);
	connection_settle(e->c);
	descriptors_changed();
	return (ssize_t)got;
}

static size_t room(struct end *e, size_t *all_room)
{
	size_t most =
		e->tuning && e->tuning->send_buffer ? e->tuning->send_buffer : network.send_buffer;
	size_t used = end_flow(e)->under_way;

	*all_room = most;
	return used < most ? most - used : 0;
}

/* True: the connection has had a fault, by the seed, which the write may feel. */
static void have_fault(struct end *e)
{
	if (network.cut_one_in && choices_once_in(CHOICES_NETWORK, network.cut_one_in))
		connection_cut(e->c);
	else if (network.lose_one_in && choices_once_in(CHOICES_NETWORK, network.lose_one_in))
		connection_lose(end_other(e), choices_once_in(CHOICES_NETWORK, 2));
	else if (network.quiet_one_in && network.quiet_ns &&
		 choices_once_in(CHOICES_NETWORK, network.quiet_one_in))
		network_quiet(e->c->number, end_index(e),
			network.quiet_ns / 1000 * (1 + choices_below(CHOICES_NETWORK, 1000)));
}

ssize_t connection_send(struct end *e, const struct iovec *iov, size_t n)
{
	struct spot from = {.iov = iov};
	struct flow *f = end_flow(e);
	size_t most, free_room, len = length(iov, n), left;

	connection_settle(e->c);
	if (e->error)
		return -take_error(e);
	if (e->no_send)
		return -EPIPE;
	free_room = room(e, &most);
	if (!len)
		return 0;
	if (!free_room)
		return -EAGAIN;
	len = maybe_less(len < free_room ? len : free_room);
	sched_detail("connection %u end %u sends %zu", e->c->number, end_index(e), len);
	for (left = len; left;) {
		size_t k = network.split_one_in &&
					   choices_once_in(CHOICES_NETWORK, network.split_one_in)
				   ? 1 + choices_below(CHOICES_NETWORK, (uint32_t)left)
				   : left;

		copy(&from, put(e, RUN_BYTES, k, sched_now())->bytes, k, false);
		left -= k;
	}
	if (!f->unsure_since && connection_quiet_until(end_other(e)) > sched_now())
		f->unsure_since = later(sched_now(), 1);
	have_fault(e);
	descriptors_changed();
	return (ssize_t)len;
}

/* Lowers *at to the next change that the way from e brings. */
static void next_change(struct end *e, uint64_t *at)
{
	const struct run *r = STAILQ_FIRST(&end_flow(e)->way);
	uint64_t now = sched_now(), t;
	bool mute;

	if (r && (t = arrival(e, r)) > now)
		lower(at, t);
	if (r && r->at > now)
		lower(at, r->at);
	if (e->closed)
		return;
	if ((t = give_up_at(e)) > now)
		lower(at, t);
	if ((t = probe_at(e, &mute)) > now)
		lower(at, t);
}

short connection_events(struct end *e, uint64_t *at)
{
	size_t most, free_room;
	short got = 0;

	connection_settle(e->c);
	next_change(e, at);
	next_change(end_other(e), at);
	free_room = room(e, &most);
	if (e->closed || (e->no_recv && e->no_send))
		got |= POLLHUP;
	if (e->no_recv)
		got |= POLLIN | POLLRDNORM | POLLRDHUP;
	if (e->unread)
		got |= POLLIN | POLLRDNORM;
	if (e->no_send || free_room >= most / 3)
		got |= POLLOUT | POLLWRNORM;
	if (e->error)
		got |= POLLERR;
	return got;
}

int connection_shutdown(struct end *e, int how)
{
	connection_settle(e->c);
	if (e->closed)
		return -ENOTCONN;
	if (how != SHUT_WR)
		e->no_recv = true;
	if (how != SHUT_RD && !e->sent_fin) {
		e->no_send = e->sent_fin = true;
		put(e, RUN_FIN, 0, sched_now());
	}
	sched_detail("connection %u end %u: shutdown %d", e->c->number, end_index(e), how);
	descriptors_changed();
	return 0;
}

void connection_close(struct end *e)
{
	struct end *to = end_other(e);
	bool abrupt;

	connection_settle(e->c);
	abrupt = e->unread || (e->tuning && e->tuning->linger && !e->tuning->linger_s);
	e->open = false;
	sched_event("connection %u end %u: close", e->c->number, end_index(e));
	if (!e->closed && abrupt) {
		/* bytes that had not left, or have vanished in silence, are lost */
		if (choices_once_in(CHOICES_NETWORK, 2) || connection_quiet_until(e) > sched_now())
			forget_way(end_flow(e));
		put(e, RUN_RESET, 0, sched_now());
		e->closed = true;
	} else if (!e->closed) {
		if (!e->sent_fin)
			put(e, RUN_FIN, 0, sched_now());
		if (!e->heard_fin)
			network_time_wait(e->host, &e->at);
		e->sent_fin = true;
	}
	e->no_send = e->no_recv = true;
	e->tuning = NULL;
	forget(&e->read);
	e->unread = 0;
	if (!to->open)
		end_life(e->c);
	descriptors_changed();
}

int connection_state(const struct end *e)
{
	if (e->closed)
		return TCP_CLOSE;
	if (e->sent_fin)
		return e->heard_fin ? TCP_CLOSING : TCP_FIN_WAIT1;
	return e->heard_fin ? TCP_CLOSE_WAIT : TCP_ESTABLISHED;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * network: hosts, the ports of their sockets, calls from one to another, and faults.
 */
#include "tests/simulation/choices.h"
#include "tests/simulation/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/network_impl.h"
#include "tests/simulation/sched.h"

#define HOSTS_MOST     32
#define PROCESSES_MOST 256
#define PORT_FIRST     32768 /* of those that bind(2) chooses */
#define SYN_TRIES      7     /* after 1, 2, 4 ... seconds; 127 s in all */
#define TIME_WAIT_NS   (60 * SEC_NS)
#define TIME_WAIT_MOST 512

struct network_params network = {
	.delay_ns = 50000,
	.jitter_ns = 200000,
	.send_buffer = 128 << 10,
	.window = 128 << 10,
	.short_one_in = 8,
	.split_one_in = 4,
};

static struct host hosts[HOSTS_MOST], loopback;
static unsigned nhosts;
static struct host *placed[PROCESSES_MOST];
static TAILQ_HEAD(, socket) sockets = TAILQ_HEAD_INITIALIZER(sockets);

/* --- hosts ------------------------------------------------------------------------------------ */

bool network_is_loopback(const struct in6_addr *ip)
{
	return IN6_IS_ADDR_LOOPBACK(ip) || (IN6_IS_ADDR_V4MAPPED(ip) && ip->s6_addr[12] == 127);
}

bool network_is_any(const struct in6_addr *ip)
{
	return IN6_IS_ADDR_UNSPECIFIED(ip) ||
	       (IN6_IS_ADDR_V4MAPPED(ip) && !memcmp(ip->s6_addr + 12, "\0\0\0\0", 4));
}

static struct in6_addr mapped(const char *four)
{
	struct in6_addr ip = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	if (inet_pton(AF_INET, four, ip.s6_addr + 12) != 1)
		sched_fail("%s is no address of IPv4", four);
	return ip;
}

/* The host at the address; NULL: none. */
static struct host *host_at(const struct in6_addr *ip)
{
	if (network_is_loopback(ip))
		return &loopback;
	for (unsigned i = 0; i < nhosts; i++)
		if (IN6_ARE_ADDR_EQUAL(ip, &hosts[i].four) ||
			(!network_is_any(&hosts[i].six) && IN6_ARE_ADDR_EQUAL(ip, &hosts[i].six)))
			return &hosts[i];
	return NULL;
}

static struct host *host_of(const char *four)
{
	struct in6_addr ip = mapped(four);
	struct host *h = host_at(&ip);

	if (h)
		return h;
	if (nhosts == HOSTS_MOST)
		sched_fail("the network has more than %d hosts", HOSTS_MOST);
	h = &hosts[nhosts++];
	h->four = ip;
	return h;
}

void network_place(unsigned process, const char *four, const char *six)
{
	struct host *h = host_of(four);

	if (process >= PROCESSES_MOST)
		sched_fail("process %u has no place in the network", process);
	if (six && inet_pton(AF_INET6, six, &h->six) != 1)
		sched_fail("%s is no address of IPv6", six);
	placed[process] = h;
}

struct host *network_host(void)
{
	unsigned process = sched_process();
	char four[16], six[32];

	if (process < PROCESSES_MOST && placed[process])
		return placed[process];
	snprintf(four, sizeof(four), "192.0.2.%u", (process + 1) % 255);
	snprintf(six, sizeof(six), "2001:db8::%x", process + 1);
	network_place(process, four, six);
	return placed[process];
}

/* --- ports ------------------------------------------------------------------------------------ */

static struct {
	const struct host *host;
	struct address at;
	uint64_t until;
} time_waits[TIME_WAIT_MOST];

void network_time_wait(const struct host *h, const struct address *a)
{
	unsigned i = 0;

	while (i < TIME_WAIT_MOST - 1 && time_waits[i].until > sched_now())
		i++;
	time_waits[i].host = h;
	time_waits[i].at = *a;
	time_waits[i].until = sched_now() + TIME_WAIT_NS;
}

static bool overlap(const struct in6_addr *a, const struct in6_addr *b)
{
	if (IN6_IS_ADDR_UNSPECIFIED(a) || IN6_IS_ADDR_UNSPECIFIED(b))
		return true;
	if (IN6_IS_ADDR_V4MAPPED(a) != IN6_IS_ADDR_V4MAPPED(b))
		return false;
	return network_is_any(a) || network_is_any(b) || IN6_ARE_ADDR_EQUAL(a, b);
}

/* Does another socket keep s from the address? */
static bool is_taken(const struct socket *s, const struct address *a)
{
	const struct socket *o;

	TAILQ_FOREACH (o, &sockets, link) {
		if (o == s || !o->bound || o->type != s->type || o->at.port != a->port)
			continue;
		if (!overlap(&o->at.ip, &a->ip))
			continue;
		if (o->host != s->host &&
			(!network_is_loopback(&o->at.ip) || !network_is_loopback(&a->ip)))
			continue;
		if ((o->six_only && IN6_IS_ADDR_V4MAPPED(&a->ip)) ||
			(s->six_only && IN6_IS_ADDR_V4MAPPED(&o->at.ip)))
			continue;
		if (!s->reuse || !o->reuse || o->state == SOCKET_LISTENS)
			return true;
	}
	for (unsigned i = 0; i < TIME_WAIT_MOST && !s->reuse && s->type == SOCK_STREAM; i++)
		if (time_waits[i].until > sched_now() && time_waits[i].at.port == a->port &&
			(time_waits[i].host == s->host || time_waits[i].host == &loopback) &&
			overlap(&time_waits[i].at.ip, &a->ip))
			return true;
	return false;
}

int network_bind(struct socket *s, const struct address *a, uint16_t first)
{
	struct address at = *a;
	struct host *h = host_at(&a->ip);

	if (!network_is_any(&a->ip) && h != &loopback && h != s->host)
		return -EADDRNOTAVAIL;
	if (a->port && is_taken(s, a))
		return -EADDRINUSE;
	for (unsigned port = first; !at.port && port <= UINT16_MAX; port++) {
		struct address one = {.ip = a->ip, .port = (uint16_t)port};

		if (!is_taken(s, &one))
			at = one;
	}
	if (!at.port)
		return -EADDRINUSE;
	s->at = at;
	s->bound = true;
	return 0;
}

bool network_may_listen(const struct socket *s)
{
	const struct socket *o;

	TAILQ_FOREACH (o, &sockets, link)
		if (o != s && o->state == SOCKET_LISTENS && o->host == s->host &&
			o->at.port == s->at.port && overlap(&o->at.ip, &s->at.ip))
			return false;
	return true;
}

bool network_hears(const struct in6_addr *ip)
{
	const struct host *h = host_at(ip);

	return h && !h->down && h->answer != NETWORK_IGNORES && h->quiet_until <= sched_now();
}

uint64_t network_delay_to(const struct host *from, const struct in6_addr *to)
{
	static const struct host nowhere;
	const struct host *h = host_at(to);

	return connection_delay(h == &loopback ? h : from, h ? h : &nowhere);
}

void network_add(struct socket *s)
{
	TAILQ_INSERT_TAIL(&sockets, s, link);
}

void network_remove(struct socket *s)
{
	TAILQ_REMOVE(&sockets, s, link);
}

/* --- calls ------------------------------------------------------------------------------------ */

static bool is_same(const struct address *a, const struct address *b)
{
	return a->port == b->port && IN6_ARE_ADDR_EQUAL(&a->ip, &b->ip);
}

/* A connection of these two ends, of which `open` still has it. */
static struct end *find_end(
	const struct address *caller, const struct address *called, enum network_end open)
{
	struct connection *c = NULL;

	while ((c = connection_next(c)))
		if (is_same(&c->end[0].at, caller) && is_same(&c->end[1].at, called) &&
			c->end[open].open && !c->end[open].closed)
			return &c->end[open];
	return NULL;
}

int network_call(struct socket *s)
{
	struct host *to = host_at(&s->to.ip);
	struct in6_addr own = to == &loopback			? s->to.ip
			      : IN6_IS_ADDR_V4MAPPED(&s->to.ip) ? s->host->four
								: s->host->six;
	struct address from = {.ip = own};

	if (network_is_any(&own))
		return -ENETUNREACH;
	if (!s->bound) {
		int rc = network_bind(s, &from, PORT_FIRST);

		if (rc)
			return rc == -EADDRINUSE ? -EADDRNOTAVAIL : rc;
	}
	if (network_is_any(&s->at.ip))
		s->at.ip = own;
	if (find_end(&s->at, &s->to, NETWORK_CALLER))
		return -EADDRNOTAVAIL;
	s->state = SOCKET_CALLS;
	s->tries = 1;
	s->answer_at = 0;
	s->syn_at = sched_now() + network_delay_to(s->host, &s->to.ip);
	s->until = sched_now() + 127 * SEC_NS;
	if (s->tuning.user_timeout_ms && s->tuning.user_timeout_ms < 127000)
		s->until = sched_now() + s->tuning.user_timeout_ms * MSEC_NS;
	sched_event("call to port %u from port %u", s->to.port, s->at.port);
	return 0;
}

static struct socket *listener_at(const struct address *a, const struct host *h)
{
	struct socket *s;

	TAILQ_FOREACH (s, &sockets, link) {
		if (s->state != SOCKET_LISTENS || s->at.port != a->port)
			continue;
		if (h != &loopback && s->host != h)
			continue;
		if (s->six_only && IN6_IS_ADDR_V4MAPPED(&a->ip))
			continue;
		if (overlap(&s->at.ip, &a->ip))
			return s;
	}
	return NULL;
}

static void answer(struct socket *s, int error)
{
	s->answer = error;
	s->answer_at = s->syn_at + network_delay_to(s->host, &s->to.ip);
}

static void try_again(struct socket *s)
{
	s->syn_at += SEC_NS << (s->tries - 1);
	if (s->tries++ >= SYN_TRIES)
		s->syn_at = s->until;
}

static void meet(struct socket *s, struct socket *listener, struct host *h)
{
	struct host *own = h == &loopback ? &loopback : s->host;
	struct connection *c = connection_new(own, &s->at, h, &s->to);
	struct waiting *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	s->end = &c->end[NETWORK_CALLER];
	s->end->tuning = &s->tuning;
	w->end = &c->end[NETWORK_CALLED];
	STAILQ_INSERT_TAIL(&listener->waiting, w, link);
	listener->nwaiting++;
	answer(s, 0);
	c->flow[NETWORK_CALLED].last_at = s->answer_at;
	sched_event("connection %u begins", c->number);
	descriptors_changed();
}

/* The SYN of s arrives. */
static void ring(struct socket *s)
{
	struct host *h = host_at(&s->to.ip);
	struct socket *listener;
	struct end *old;

	if (!h || h->down || s->host->down || h->answer == NETWORK_IGNORES ||
		(h != &loopback && s->host->quiet_until > s->syn_at) ||
		h->quiet_until > s->syn_at) {
		try_again(s);
		return;
	}
	listener = listener_at(&s->to, h);
	if (!listener || h->answer == NETWORK_REFUSES) {
		answer(s, ECONNREFUSED);
		return;
	}
	old = find_end(&s->at, &s->to, NETWORK_CALLED);
	if (old) { /* of a caller that has gone: its port has called again */
		connection_fail(old, ECONNRESET);
		try_again(s);
	} else if (listener->nwaiting > listener->backlog) {
		try_again(s);
	} else {
		meet(s, listener, h);
	}
}

static void go_on(struct socket *s)
{
	uint64_t now = sched_now();

	while (!s->answer_at && s->syn_at <= now && s->syn_at < s->until)
		ring(s);
	if (!s->answer_at && now >= s->until) {
		s->answer = ETIMEDOUT;
		s->answer_at = now;
	}
	if (!s->answer_at || s->answer_at > now)
		return;
	s->state = s->answer ? SOCKET_FAILED : SOCKET_CONNECTED;
	s->error = s->answer;
	if (s->answer)
		sched_event("call to port %u: %s", s->to.port, strerror(s->answer));
	descriptors_changed();
}

void network_settle(void)
{
	struct socket *s;

	TAILQ_FOREACH (s, &sockets, link)
		if (s->state == SOCKET_CALLS)
			go_on(s);
}

uint64_t network_next(const struct socket *s)
{
	const struct socket *o;
	uint64_t at = SCHED_NEVER;

	if (s->state == SOCKET_CALLS) {
		if (s->answer_at)
			return s->answer_at;
		return s->syn_at < s->until ? s->syn_at : s->until;
	}
	if (s->state != SOCKET_LISTENS)
		return at;
	TAILQ_FOREACH (o, &sockets, link)
		if (o->state == SOCKET_CALLS && !o->answer_at && o->to.port == s->at.port &&
			o->syn_at > sched_now() && o->syn_at < at)
			at = o->syn_at;
	return at;
}

/* --- faults ----------------------------------------------------------------------------------- */

static bool is_of(const struct connection *c, const struct host *h)
{
	return c->end[0].host == h || c->end[1].host == h;
}

static void settle_all(void)
{
	struct connection *c = NULL;

	network_settle();
	while ((c = connection_next(c)))
		connection_settle(c);
}

void network_delay(const char *host, uint64_t ns)
{
	host_of(host)->delay_ns = ns;
}

void network_answer(const char *host, enum network_answer a)
{
	settle_all();
	host_of(host)->answer = a;
}

unsigned network_cut_all(const char *host)
{
	struct connection *c = NULL;
	unsigned n = 0;

	settle_all();
	while ((c = connection_next(c)))
		if (is_of(c, host_of(host))) {
			connection_cut(c);
			n++;
		}
	return n;
}

void network_down(const char *host)
{
	struct host *h = host_of(host);
	struct connection *c = NULL;

	settle_all();
	sched_event("host %s is down", host);
	while ((c = connection_next(c)))
		for (int i = 0; i < 2; i++)
			if (c->end[i].host == h)
				connection_lose(&c->end[i], false);
	h->down = true;
	descriptors_changed();
}

void network_up(const char *host)
{
	settle_all();
	sched_event("host %s is up", host);
	host_of(host)->down = false;
	host_of(host)->up_since = sched_now();
	descriptors_changed();
}

void network_quiet_all(const char *host, uint64_t ns)
{
	struct host *h = host_of(host);
	struct connection *c = NULL;

	settle_all();
	sched_event("host %s is quiet", host);
	h->quiet_until = sched_now() + ns;
	while ((c = connection_next(c)))
		if (is_of(c, h))
			c->flow[0].quiet_since = c->flow[1].quiet_since = sched_now();
	descriptors_changed();
}

unsigned network_connections(void)
{
	struct connection *c = NULL;
	unsigned n = 0;

	while ((c = connection_next(c)))
		n++;
	return n;
}

unsigned network_any(void)
{
	struct connection *c = NULL;
	unsigned n = network_connections();

	if (!n)
		return 0;
	for (n = 1 + choices_below(CHOICES_NETWORK, n); n; n--)
		c = connection_next(c);
	return c->number;
}

void network_cut(unsigned number)
{
	struct connection *c = connection_of(number);

	if (!c)
		return;
	connection_settle(c);
	connection_cut(c);
}

void network_lose(unsigned number, enum network_end gone, bool silent)
{
	struct connection *c = connection_of(number);

	if (!c)
		return;
	connection_settle(c);
	connection_lose(&c->end[gone], silent);
}

void network_quiet(unsigned number, enum network_end from, uint64_t ns)
{
	struct connection *c = connection_of(number);

	if (!c)
		return;
	connection_settle(c);
	sched_event("connection %u end %d is quiet", number, (int)from);
	c->flow[from].quiet_since = sched_now();
	c->flow[from].quiet_until = sched_now() + ns;
	descriptors_changed();
}

void network_stall(unsigned number, enum network_end of, uint64_t ns)
{
	struct connection *c = connection_of(number);

	if (!c)
		return;
	connection_settle(c);
	sched_event("connection %u end %d is stalled", number, (int)of);
	c->flow[!of].stalled_until = sched_now() + ns;
	descriptors_changed();
}

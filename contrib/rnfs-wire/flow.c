/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * flow: see flow.h.
 */
#include "contrib/rnfs-wire/flow.h"

#include <stdlib.h>
#include <string.h>

#include "contrib/rnfs-wire/conn.h"

struct waiting {
	uint32_t seq;
	const uint8_t *data;
	size_t len;
};

struct stream {
	struct packet_end from;
	bool known; /* next is set */
	uint32_t next, isn;
	struct waiting *waiting; /* by seq */
	size_t nwaiting, cap;
};

struct flow_conn {
	struct flow_conn *chain, *after;
	bool old; /* a new connection uses the ports */
	struct stream stream[2];
	struct conn conn;
};

static bool before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

void flow_init(struct flow *f, struct sink *sink)
{
	*f = (struct flow){.sink = sink};
}

static void conn_free(struct flow_conn *c)
{
	conn_finish(&c->conn);
	free(c->stream[0].waiting);
	free(c->stream[1].waiting);
	free(c);
}

void flow_free(struct flow *f)
{
	while (f->first) {
		struct flow_conn *c = f->first;

		f->first = c->after;
		conn_free(c);
	}
	flow_init(f, f->sink);
}

/* --- finding one ------------------------------------------------------------------------------ */

static unsigned hash_end(const struct packet_end *e)
{
	unsigned v = e->port;

	for (unsigned i = 0; i < sizeof(e->addr); i++)
		v = v * 31 + e->addr[i];
	return v;
}

/* The same for both directions. */
static unsigned bucket_of(const struct packet_tcp *t)
{
	return (hash_end(&t->from) ^ hash_end(&t->to)) * 2654435761u % FLOW_BUCKETS;
}

/* *side: which one has sent t. */
static struct flow_conn *find(struct flow *f, const struct packet_tcp *t, unsigned *side)
{
	for (struct flow_conn *c = f->bucket[bucket_of(t)]; c; c = c->chain) {
		if (c->old)
			continue;
		for (*side = 0; *side < 2; (*side)++)
			if (packet_end_equal(&c->stream[*side].from, &t->from) &&
				packet_end_equal(&c->stream[!*side].from, &t->to))
				return c;
	}
	return NULL;
}

static struct flow_conn *add(struct flow *f, const struct packet_tcp *t, unsigned side)
{
	char from[PACKET_END_STR], to[PACKET_END_STR];
	struct flow_conn *c;

	if (f->count == FLOW_MAX)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->stream[side].from = t->from;
	c->stream[!side].from = t->to;
	conn_init(&c->conn, f->sink, f->start);
	packet_end_str(&t->from, from);
	packet_end_str(&t->to, to);
	snprintf(c->conn.side[side].name, CONN_NAME, "%s > %s", from, to);
	snprintf(c->conn.side[!side].name, CONN_NAME, "%s > %s", to, from);
	c->chain = f->bucket[bucket_of(t)];
	f->bucket[bucket_of(t)] = c;
	if (f->last)
		f->last->after = c;
	else
		f->first = c;
	f->last = c;
	f->count++;
	return c;
}

/* The sender of the first MPA Request is side 0. A connection without an MPA Request is not iWARP.
 */
static bool is_request(const struct packet_tcp *t)
{
	return t->len >= 9 && !memcmp(t->data, "MPA ID Re", 9);
}

/* Finds the connection of t, or makes one if t begins a connection. */
static struct flow_conn *conn_of(struct flow *f, const struct packet_tcp *t, unsigned *side)
{
	struct flow_conn *c = find(f, t, side);

	if (c && t->syn && c->stream[*side].known && t->seq != c->stream[*side].isn) {
		c->old = true;
		c = NULL;
	}
	if (c)
		return c;
	if (t->syn) {
		*side = t->ack;
		c = add(f, t, *side);
	} else if (is_request(t)) { /* the SYN is not in the capture */
		*side = t->len > 9 && t->data[9] == 'p';
		c = add(f, t, *side);
	}
	return c;
}

/* --- the order of the bytes ------------------------------------------------------------------- */

static void keep(struct stream *s, const struct packet_tcp *t, uint32_t seq)
{
	struct waiting *grown;
	size_t at = s->nwaiting;

	if (s->nwaiting == FLOW_WAITING)
		return; /* flow_end() will report the bytes as missing */
	if (s->nwaiting == s->cap) {
		grown = realloc(s->waiting, (s->cap ? s->cap * 2 : 16) * sizeof(*grown));
		if (!grown)
			return;
		s->waiting = grown;
		s->cap = s->cap ? s->cap * 2 : 16;
	}
	while (at && before(seq, s->waiting[at - 1].seq))
		at--;
	memmove(&s->waiting[at + 1], &s->waiting[at], (s->nwaiting - at) * sizeof(*s->waiting));
	s->waiting[at] = (struct waiting){seq, t->data, t->len};
	s->nwaiting++;
}

/* Hands over the new ones of len bytes at seq. seq is s->next or before. */
static void hand_over(struct stream *s, struct conn *c, unsigned side, uint32_t seq,
	const uint8_t *data, size_t len, uint64_t ns)
{
	uint32_t known = s->next - seq;

	if (known >= len)
		return;
	s->next += (uint32_t)(len - known);
	conn_bytes(c, side, data + known, len - known, ns);
}

static void deliver(struct stream *s, struct conn *c, unsigned side, uint64_t ns)
{
	size_t n = 0;

	for (; n < s->nwaiting && !before(s->next, s->waiting[n].seq); n++)
		hand_over(s, c, side, s->waiting[n].seq, s->waiting[n].data, s->waiting[n].len, ns);
	if (n) {
		memmove(s->waiting, s->waiting + n, (s->nwaiting - n) * sizeof(*s->waiting));
		s->nwaiting -= n;
	}
}

void flow_packet(struct flow *f, const struct packet_tcp *t, uint64_t ns)
{
	struct flow_conn *c;
	struct stream *s;
	unsigned side;
	uint32_t seq;

	if (!f->begun) {
		f->begun = true;
		f->start = ns;
	}
	f->end = ns;
	c = conn_of(f, t, &side);
	if (!c || c->conn.silent)
		return;
	s = &c->stream[side];
	seq = t->seq + t->syn; /* a SYN takes one sequence number */
	if (t->syn || (!s->known && t->len)) {
		if (!s->known) {
			s->next = seq;
			s->isn = t->seq;
		}
		s->known = true;
	}
	if (!s->known || !t->len)
		return;
	if (before(s->next, seq)) {
		keep(s, t, seq);
		return;
	}
	hand_over(s, &c->conn, side, seq, t->data, t->len, ns);
	deliver(s, &c->conn, side, ns);
}

/* --- the end ---------------------------------------------------------------------------------- */

void flow_end(struct flow *f)
{
	for (struct flow_conn *c = f->first; c; c = c->after) {
		for (unsigned i = 0; i < 2; i++) {
			struct stream *s = &c->stream[i];

			if (s->nwaiting)
				conn_missing(&c->conn, i, s->waiting[0].seq - s->next, f->end);
		}
		conn_summary(&c->conn);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_continue: a message in several Sends.
 *
 * In a dialect that lets it (limits.sends) an RPC message that is too long for one Send goes on in
 * the next. All Sends of it have its XID and its direction, nobody else's come between, and its
 * chunks are in the header of the last. Those before the last are its lead. Each costs a receive,
 * and each of a call's a credit.
 *
 * Out, the whole lead is made before any of it is posted: no message stops in the middle for want
 * of memory. In a dialect that talks, a reply may take more Sends than the peer has granted. It
 * stalls then: what is left of it waits in the connection's `stalled`, and every other message
 * behind it, until the peer grants more. How a grant counts the text leaves open: "newly granted"
 * adds up, the "granted credit limit" holds from now on. We keep to the narrower of both, `room`,
 * what the last message of the peer's lets us send; and after RPCRDMA_STALL_MS in which no more
 * came, to what its messages together did (`banked`).
 *
 * In, the Sends of one message are put together in one buffer, and their receives are given back at
 * once; before the peer can have run out of credits, it is told of more, in a message of its own. A
 * connection puts one message together at a time, of either direction, of RPCRDMA_JOIN_MAX bytes at
 * most. A call that is broken off is answered with an error where the dialect has one, and what
 * is left of it dropped; a reply that did so is heard; else the peer loses the connection.
 */
#include "transport/rpcrdma/requester.h"
#include "transport/rpcrdma/responder.h"
#include "transport/rpcrdma/rpcrdma_continue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/log.h"

/* --- out -------------------------------------------------------------------------------------- */

uint64_t rpcrdma_continue_room(
	const struct rpcrdma_dialect *d, uint32_t size, size_t hlen, unsigned n)
{
	uint64_t room = hlen < size ? size - hlen : 0;
	size_t first;

	if (n == 1)
		return room;
	first = d->bound(0, 0, false, 0);
	return first + 4 <= size ? room + (n - 1) * (uint64_t)(size - first) : room;
}

unsigned rpcrdma_continue_sends(
	const struct rpcrdma_dialect *d, unsigned most, uint32_t size, size_t hlen, uint64_t len)
{
	unsigned n = 1;

	while (n <= most && rpcrdma_continue_room(d, size, hlen, n) < len)
		n++;
	return hlen <= size && n <= most ? n : 0;
}

int rpcrdma_lead_make(struct rpcrdma_conn *c, struct rpcrdma_lead *lead,
	const struct rpcrdma_hdr *h, struct rpcrdma_stream *s, unsigned n)
{
	struct rpcrdma_stream part;
	struct rpcrdma_hdr first;
	uint64_t off = 0, room;
	struct mem_buf *held;

	rpcrdma_hdr_init(&first, h->xid, h->dir, RDMA_MSG);
	first.grant = h->grant;
	first.want = h->want;
	first.more = true;
	room = c->x.inline_send - rpcrdma_dialect_size(c->dialect, &first);
	lead->wr = malloc((n - 1) * sizeof(*lead->wr));
	if (!lead->wr)
		return -ENOMEM;
	for (lead->n = 0; lead->n < n - 1; lead->n++) {
		/* those that follow have a word at least: there is no message without */
		uint64_t rest = s->len - off - (n - 1 - lead->n) * 4;
		int rc;

		rpcrdma_stream_cut(&part, s, off, room < rest ? room : rest);
		off += part.len;
		rc = rpcrdma_make_send(c, &lead->wr[lead->n], &first, &part, NULL, &held);
		if (rc) {
			rpcrdma_lead_drop(lead);
			return rc;
		}
		lead->wr[lead->n].flags = PROV_MORE;
	}
	rpcrdma_stream_cut(&part, s, off, s->len - off);
	*s = part;
	return 0;
}

void rpcrdma_lead_drop(struct rpcrdma_lead *lead)
{
	while (lead->n)
		mem_buf_unref(lead->wr[--lead->n].hold[0]);
	free(lead->wr);
	lead->wr = NULL;
}

/* --- waiting for credits ---------------------------------------------------------------------- */

static void lower(_Atomic uint32_t *n)
{
	uint32_t now = atomic_load_explicit(n, memory_order_relaxed);

	while (now && !atomic_compare_exchange_weak(n, &now, now - 1))
		;
}

/* A Send is about to leave. */
static void use_room(struct rpcrdma_conn *c)
{
	lower(&c->room);
	lower(&c->banked);
}

/* Posts of wr[0..n) what there is room for, `first` of them in any case. Returns how many, or
 * prov->post()'s error. */
static int post_some(struct rpcrdma_conn *c, struct prov_wr *wr, unsigned n, unsigned first)
{
	unsigned i;

	for (i = 0; i < n && (i < first || c->room); i++) {
		bool stops;
		int rc;

		use_room(c);
		stops = i + 1 < n && i + 1 >= first && !c->room;
		wr[i].flags = stops ? 0 : i + 1 < n ? PROV_MORE : wr[i].flags;
		rc = c->prov->post(c->pc, &wr[i]);
		if (rc)
			return rc;
	}
	return (int)i;
}

static void let_go(const struct prov_wr *wr)
{
	for (unsigned i = 0; i < wr->nhold; i++)
		mem_buf_unref(wr->hold[i]);
}

static void stalled_free(struct rpcrdma_stalled *s)
{
	for (unsigned i = s->next; i < s->n; i++)
		let_go(&s->wr[i]);
	free(s);
}

void rpcrdma_stalled_drop(struct rpcrdma_conn *c)
{
	struct rpcrdma_stalled *s;

	while ((s = STAILQ_FIRST(&c->stalled))) {
		STAILQ_REMOVE_HEAD(&c->stalled, link);
		stalled_free(s);
	}
	c->stalls = false;
}

/* Keeps wr[from..n) for later; `chain` is held. */
static int stall(struct rpcrdma_conn *c, const struct prov_wr *wr, unsigned n, unsigned from)
{
	struct rpcrdma_stalled *s = malloc(sizeof(*s) + (n - from) * sizeof(*wr));

	if (!s)
		return -ENOMEM;
	s->n = n - from;
	s->next = 0;
	memcpy(s->wr, wr + from, s->n * sizeof(*wr));
	s->wr[s->n - 1].flags = 0; /* nobody will flush it */
	for (unsigned i = 0; i < s->n; i++)
		for (unsigned k = 0; k < s->wr[i].nhold; k++)
			mem_buf_ref(s->wr[i].hold[k]);
	STAILQ_INSERT_TAIL(&c->stalled, s, link);
	if (!c->stalls) {
		c->stalls = true;
		rpc_xprt_kick(&c->x); /* the progress thread is to look after it */
	}
	return 0;
}

/* As rpcrdma_post_message(), `first` Sends in any case, in a dialect that talks. */
static int post_long(struct rpcrdma_conn *c, struct prov_wr *wr, unsigned n, unsigned first)
{
	int done = c->stalls ? 0 : post_some(c, wr, n, first);

	if (done < 0 || (unsigned)done == n)
		return done < 0 ? done : 0;
	if (done && c->prov->flush) /* the room may have shrunk meanwhile */
		c->prov->flush(c->pc);
	return stall(c, wr, n, (unsigned)done);
}

int rpcrdma_post_message(
	struct rpcrdma_conn *c, struct rpcrdma_lead *lead, const struct prov_wr *last, bool paid)
{
	unsigned n = lead->n + 1;
	struct prov_wr *wr;
	int rc = 0;

	if (!lead->n && !c->stalls) {
		use_room(c);
		return c->prov->post(c->pc, last);
	}
	wr = malloc(n * sizeof(*wr));
	if (!wr) {
		rpcrdma_lead_drop(lead);
		return -ENOMEM;
	}
	if (lead->n)
		memcpy(wr, lead->wr, lead->n * sizeof(*wr));
	wr[lead->n] = *last;
	if (c->dialect->talks)
		rc = post_long(c, wr, n, paid ? n : 0);
	else
		rc = post_some(c, wr, n, n);
	free(wr);
	rpcrdma_lead_drop(lead);
	return rc < 0 ? rc : 0;
}

/* Posts what may leave now. */
static void pump(struct rpcrdma_conn *c)
{
	struct rpcrdma_stalled *s;
	int rc = 0;

	pthread_mutex_lock(&c->chain);
	while ((s = STAILQ_FIRST(&c->stalled))) {
		/* a message that is no continuation waits for those before it only */
		rc = post_some(c, s->wr + s->next, s->n - s->next, s->n == 1);
		if (rc < 0)
			break;
		for (int i = 0; i < rc; i++)
			let_go(&s->wr[s->next++]);
		if (s->next < s->n)
			break;
		STAILQ_REMOVE_HEAD(&c->stalled, link);
		stalled_free(s);
	}
	c->stalls = !STAILQ_EMPTY(&c->stalled);
	pthread_mutex_unlock(&c->chain);
	if (rc)
		c->stalled_ns = 0; /* the clock starts again */
	if (rc < 0 && rc != -ENOTCONN)
		rpcrdma_break(c, "a message could not be posted: %s", strerror(-rc));
}

void rpcrdma_granted(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h)
{
	uint32_t most = h->want > h->grant ? h->want : h->grant, banked;

	if (h->proc == RDMA_ERROR) /* section 6.4.3: not looked at */
		return;
	if (h->grant != c->last_grant) {
		c->last_grant = h->grant;
		pthread_mutex_lock(&c->lock);
		rpcrdma_credit_grant(&c->credit_out, h->grant);
		pthread_mutex_unlock(&c->lock);
		atomic_store_explicit(&c->x.credits, c->credit_out.granted, memory_order_relaxed);
	}
	c->room = h->grant < RPCRDMA_ROOM_MAX ? h->grant : RPCRDMA_ROOM_MAX;
	banked = c->banked + h->grant;
	c->banked = banked < most ? banked : most;
	if (c->stalls)
		pump(c);
}

void rpcrdma_stalled_look(struct rpcrdma_conn *c)
{
	uint64_t now, ms;

	if (!c->stalls) {
		c->stalled_ns = 0;
		return;
	}
	if (c->room) { /* granted while a thread was about to wait for it */
		pump(c);
		return;
	}
	now = clock_ns();
	if (!c->stalled_ns)
		c->stalled_ns = now;
	ms = clock_age(now, c->stalled_ns) / NSEC_PER_MSEC;
	if (ms < RPCRDMA_STALL_MS)
		return;
	if (ms >= RPCRDMA_STALLED_MS)
		rpcrdma_break(c,
			"the peer has granted no credits for the rest of a message for "
			"%u ms",
			RPCRDMA_STALLED_MS);
	if (!c->banked)
		return;
	c->room = c->banked < RPCRDMA_ROOM_MAX ? c->banked : RPCRDMA_ROOM_MAX;
	pump(c);
}

/* --- in --------------------------------------------------------------------------------------- */

/* Tells the peer of the credits that it has again. */
static void grant(struct rpcrdma_conn *c)
{
	struct rpcrdma_hdr h;
	int rc;

	rpcrdma_recv_replenish(c);
	rpcrdma_begin_hdr(c, &h, 0, RPCRDMA_DIR_CALL, RDMA_NOMSG);
	rc = rpcrdma_post_hdr(c, &h);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "credits could not be granted: %s", strerror(-rc));
}

/* So many Sends of a message are half of what its sender may send before it is told of more. */
static uint32_t grant_after(const struct rpcrdma_conn *c)
{
	uint32_t n =
		c->credit_in.granted < RPCRDMA_ROOM_MAX ? c->credit_in.granted : RPCRDMA_ROOM_MAX;

	return (n + 1) / 2;
}

void rpcrdma_heard_part(struct rpcrdma_conn *c)
{
	if (c->dialect->talks && ++c->unsaid >= grant_after(c))
		grant(c);
}

static void join_end(struct rpcrdma_conn *c)
{
	mem_buf_unref(c->join.buf);
	c->join = (struct rpcrdma_join){0};
}

/* Why the Send with header h, which is continued or continues what came before, may not come now;
 * NULL: it may. */
static const char *why_not(
	const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc, const struct prov_wc *wc)
{
	const struct rpcrdma_join *j = &c->join;

	if (rc || (h->proc != RDMA_MSG && h->proc != RDMA_CONNPROP) ||
		(j->sends && (h->xid != j->xid || h->dir != j->dir || h->proc != j->proc)))
		return "is broken off by another";
	if (h->more && (!rpcrdma_hdr_chunkless(h) || wc->invalidated))
		return "has chunks before its end";
	if (!c->dialect->talks && j->sends + 1 + h->more > c->dialect->limits.sends)
		return "takes too many Sends";
	return NULL;
}

/* Room for n bytes more. 0 or -ENOMEM. */
static int reserve(struct rpcrdma_conn *c, uint32_t n)
{
	struct rpcrdma_join *j = &c->join;
	size_t size = j->size ? j->size : (size_t)RPCRDMA_MAX_SENDS * c->recv_size;
	struct mem_buf *b;

	while (size < j->len + (size_t)n)
		size = size < MEM_MAX_SIZE / 2 ? size * 2 : MEM_MAX_SIZE;
	if (size == j->size)
		return 0;
	b = mem_buf_get(c->pool, size);
	if (!b)
		return -ENOMEM;
	if (j->len)
		memcpy(b->data, j->buf->data, j->len);
	mem_buf_unref(j->buf);
	j->buf = b;
	j->size = size;
	return 0;
}

/* Copies n bytes behind what has come. */
static int append(struct rpcrdma_conn *c, const void *data, uint32_t n)
{
	struct rpcrdma_join *j = &c->join;
	int rc = reserve(c, n);

	if (rc)
		return rc;
	memcpy(j->buf->data + j->len, data, n);
	j->len += n;
	return 0;
}

/* The message that h belongs to is wrong: answers it if that is possible, and then the rest of it
 * is dropped; else the connection ends. */
static void refuse(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, enum rpcrdma_errcode err,
	const char *why)
{
	struct rpcrdma_join *j = &c->join;
	enum rpcrdma_dir dir = j->sends ? j->dir : h->dir;
	/* what is not the answer's own: its XID is one of ours */
	uint32_t xid = h->dir == RPCRDMA_DIR_REPLY ? j->xid : h->xid;
	bool more = h->more;

	if (!c->dialect->talks || dir == RPCRDMA_DIR_REPLY || h->proc == RDMA_ERROR) {
		rpcrdma_break(c, "the peer's message %08x %s", j->sends ? j->xid : h->xid, why);
		return;
	}
	log_data("%s: message %08x %s", c->x.peer, xid, why);
	rpcrdma_send_error(c, xid, h->vers, &(struct rpcrdma_fault){.err = err});
	join_end(c);
	if (more) {
		j->sends = 1;
		j->refused = true;
		j->xid = h->xid;
		j->dir = h->dir;
		j->proc = h->proc;
	}
}

/* The last Send of a message is here. */
static void join_done(struct rpcrdma_conn *c, struct rpcrdma_msg *m)
{
	struct rpcrdma_join *j = &c->join;

	m->joined = j->buf;
	m->off = 0;
	m->len = j->len;
	m->sends = c->dialect->talks ? 1 : j->sends;
	*j = (struct rpcrdma_join){0};
}

/* Is h, which breaks off a call or properties, not lost by that, even if it is malformed? A reply
 * is not, whose call would wait for it in vain, nor what comes behind a message that has been
 * refused.
 */
static bool stands_alone(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h)
{
	const struct rpcrdma_join *j = &c->join;

	return c->dialect->talks && j->sends && h->proc != RDMA_ERROR &&
	       (j->refused || (j->dir != RPCRDMA_DIR_REPLY && h->dir == RPCRDMA_DIR_REPLY));
}

/* As rpcrdma_join(), of a message of several Sends. */
static bool join(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_recv *r, const struct prov_wc *wc, struct rpcrdma_msg *m)
{
	const char *why = why_not(c, h, rc, wc);
	struct rpcrdma_join *j = &c->join;

	if (why && stands_alone(c, h)) {
		if (!j->refused)
			refuse(c, h, RDMA_ERR_INVAL_FLAG, why);
		join_end(c);
		if (rc || !h->more)
			return true;
		why = why_not(c, h, rc, wc);
	}
	if (why) {
		refuse(c, h,
			!rc		 ? RDMA_ERR_INVAL_FLAG
			: rc == -EBADMSG ? h->err
					 : RDMA_ERR_VERS,
			why);
	} else if (j->refused) {
		if (!h->more)
			join_end(c);
	} else if (j->len + (uint64_t)m->len > RPCRDMA_JOIN_MAX) {
		refuse(c, h, RDMA_ERR_SYSTEM, "is too long");
	} else if (append(c, r->buf->data + m->off, m->len)) {
		rpcrdma_break(c, "out of memory");
	} else {
		j->sends++;
		j->xid = h->xid;
		j->dir = h->dir;
		j->proc = h->proc;
		if (!h->more) {
			join_done(c, m);
			return true;
		}
	}
	rpcrdma_recv_done(c, r);
	rpcrdma_heard_part(c);
	return false;
}

/* A message that may come between the Sends of another, in a dialect that talks. */
static bool comes_between(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	return c->dialect->talks && !rc && !h->more &&
	       (h->proc == RDMA_ERROR || h->proc == RPCRDMA_REPT_ERR ||
		       (h->proc == RDMA_CONNPROP && c->join.proc != RDMA_CONNPROP));
}

bool rpcrdma_join(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_recv *r, const struct prov_wc *wc, struct rpcrdma_msg *m)
{
	uint32_t off = rc ? 0 : (uint32_t)h->len;

	*m = (struct rpcrdma_msg){.recv = r,
		.recv_len = wc->len,
		.off = c->recv_off + off,
		.len = wc->len - off,
		.sends = 1};
	if ((c->join.sends || (!rc && h->more)) && !comes_between(c, h, rc))
		return join(c, h, rc, r, wc, m);
	return true;
}

void rpcrdma_msg_done(struct rpcrdma_conn *c, struct rpcrdma_msg *m)
{
	if (m->recv)
		rpcrdma_recv_done(c, m->recv);
	while (m->nmore)
		rpcrdma_recv_done(c, m->more[--m->nmore].recv);
	m->joined = mem_buf_unref(m->joined);
	m->recv = NULL;
}

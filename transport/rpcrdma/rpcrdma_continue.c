/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_continue: a message in several Sends.
 *
 * In some dialects (limits.sends) an RPC message that is too long for one Send continues in the
 * next Send. All Sends of the message have the same XID and direction, and no Sends of other
 * messages come between. The chunks are in the header of the last Send. The Sends before the last
 * are the lead. Each Send costs a receive, and each Send of a call a credit.
 *
 * Out, the whole lead is made before the first Send is posted, so that no message stops in the
 * middle for want of memory. In a dialect that talks, a message may stop for want of credits
 * (rpcrdma_flow.c), and a reply may take more Sends than the peer has granted.
 *
 * In, the Sends of one message are put together in one buffer, and the receives are posted again at
 * once. Before the peer can have run out of credits, a message of ours grants more. A connection
 * puts one message together at a time, of either direction, of RPCRDMA_JOIN_MAX bytes at most. A
 * broken-off call gets an error where the dialect has one, and the rest of the call is dropped. A
 * reply that breaks off a call is handled. In all other cases the peer loses the connection.
 */
#include "transport/rpcrdma/rpcrdma_continue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/log.h"
#include "transport/rpcrdma/rpcrdma_error.h"
#include "transport/rpcrdma/rpcrdma_recv.h"
#include "transport/rpcrdma/rpcrdma_send.h"

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
		/* each later Send has at least a word: a Send without payload is not allowed */
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

/* --- in --------------------------------------------------------------------------------------- */

static void join_end(struct rpcrdma_conn *c)
{
	mem_buf_unref(c->join.buf);
	c->join = (struct rpcrdma_join){0};
}

/* Why the Send with header h, which goes on or continues the message before, may not come now;
 * NULL: the Send may come. */
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

/* Appends n bytes to the message so far. */
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

/* The message of h is wrong. Answers with an error if possible, and then drops the rest of the
 * message; else the connection ends. */
static void refuse(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, enum rpcrdma_errcode err,
	const char *why)
{
	struct rpcrdma_join *j = &c->join;
	enum rpcrdma_dir dir = j->sends ? j->dir : h->dir;
	/* not the XID of a reply, which is one of our XIDs */
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

/* h breaks off a call or properties. Must h be handled all the same, even if malformed? Yes for a
 * reply, because the call would wait in vain, and for any message behind a refused message.
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

/* May the message come between the Sends of another, in a dialect that talks? */
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

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_group: messages of several transmissions (rpcrdma_rtr.h; sections 4.2 and 9.4 of the
 * draft).
 *
 * A Transmit Request or Response is the first transmission of a message, and has the number of
 * transmissions. Transmit Continues with the same XID follow and bring more of the message, or more
 * targets with data. No data is copied: the receives stay with the message, RPCRDMA_RTR_SENDS at
 * most. A connection has one group under way, of either direction.
 *
 * No message may come between, except messages about the connection and reports of errors. Any
 * other message is reported, with the group's first transmission as the lead, and is then handled
 * as if there had been no group. The sender of a reported call repeats the call without placement.
 * A reported reply fails the call. The rest of a reported group is dropped.
 */
#include "transport/rpcrdma/place/rpcrdma_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rpcrdma/place/rpcrdma_place.h"
#include "transport/rpcrdma/rpcrdma_recv.h"

unsigned rpcrdma_group_max(const struct rpcrdma_conn *c)
{
	unsigned most = c->place.targets ? RPCRDMA_RTR_SENDS : 1;

	return !c->requester && rpcrdma_granted(c) < most ? rpcrdma_granted(c) : most;
}

/* Is h one transmission of a group, perhaps the only one? */
static bool transmits(const struct rpcrdma_hdr *h, int rc)
{
	return !rc && (h->proc == RPCRDMA_XMT_REQ || h->proc == RPCRDMA_XMT_RESP ||
			      h->proc == RPCRDMA_XMT_CONT);
}

/* Table 4 of the draft and the draft's XDR number the operations differently. */
static bool is_begun_by(uint32_t said, uint32_t proc)
{
	return said == proc || said == proc - RPCRDMA_RTR_PRIVATE ||
	       said == proc - RPCRDMA_XMT_REQ + 1;
}

/* Notes a fault in f. Always true. */
static bool found(struct rpcrdma_rtr_fault *f, uint32_t err, uint32_t want, uint32_t has)
{
	f->err = err;
	f->v[0] = want;
	f->v[1] = has;
	return true;
}

/* Does h not continue the group under way? Then f has the fault. */
static bool breaks(const struct rpcrdma_group *g, const struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_rtr_fault *f)
{
	uint32_t next = g->m.nmore + 1;

	if (rc || !rpcrdma_rtr_is_proc(h->proc))
		return found(f, RPCRDMA_RTR_BADHMT, RPCRDMA_XMT_CONT, h->proc);
	if (h->proc != RPCRDMA_XMT_CONT)
		return found(f, RPCRDMA_RTR_BADOMT, RPCRDMA_XMT_CONT, h->proc);
	if (h->xid != g->h->xid)
		return found(f, RPCRDMA_RTR_BADXID, g->h->xid, h->xid);
	if (h->dir != g->h->dir)
		return found(f, RPCRDMA_RTR_BADCONT, 0, 0);
	if (!is_begun_by(h->rtr.begun, g->h->proc))
		return found(f, RPCRDMA_RTR_BADOMT, g->h->proc - RPCRDMA_RTR_PRIVATE, h->rtr.begun);
	return h->rtr.number != next && found(f, RPCRDMA_RTR_BADSEQ, next, h->rtr.number);
}

/* Is h, of m, wrong by itself? Then f has the fault. */
static bool is_wrong(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
	const struct rpcrdma_msg *m, struct rpcrdma_rtr_fault *f)
{
	bool reply = h->dir == RPCRDMA_DIR_REPLY, first = h->proc != RPCRDMA_XMT_CONT;
	uint32_t most = reply ? c->place.resp_sends : rpcrdma_group_max(c);

	if (first && (!h->rtr.count || h->rtr.count > most))
		return found(f, RPCRDMA_RTR_BADSEQ, most, h->rtr.count);
	f->v[2] = m->len;
	return h->rtr.len > m->len && found(f, RPCRDMA_RTR_BADPL, h->rtr.len, 0);
}

/* Drops m, under header h. If m is a reply to a call of ours, the call fails. */
static void give_up(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, struct rpcrdma_msg *m,
	rpcrdma_fail_reply *fail)
{
	if (h->dir == RPCRDMA_DIR_REPLY && h->proc != RPCRDMA_XMT_CONT)
		fail(c, h, m);
	else
		rpcrdma_msg_done(c, m);
}

/* Drops all later transmissions with the XID. */
static void refuse(struct rpcrdma_group *g, uint32_t xid)
{
	g->count = 0;
	g->refused = true;
	g->xid = xid;
}

/* The group is over. */
static void break_off(struct rpcrdma_conn *c, rpcrdma_fail_reply *fail)
{
	struct rpcrdma_group *g = &c->place.group;

	refuse(g, g->h->xid);
	give_up(c, g->h, &g->m, fail);
}

/* Begins a group with m, the first of several transmissions. 0 or -ENOMEM. */
static int begin(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, const struct rpcrdma_msg *m)
{
	struct rpcrdma_group *g = &c->place.group;

	if (!g->h)
		g->h = malloc(sizeof(*g->h));
	if (!g->h)
		return -ENOMEM;
	*g->h = *h;
	g->m = *m;
	g->count = h->rtr.count;
	g->refused = false;
	return 0;
}

/* Puts the parts of the message together, if later transmissions have any. 0 or -ENOMEM. */
static int gather(struct rpcrdma_conn *c, struct rpcrdma_msg *m)
{
	uint32_t len = m->len;
	struct mem_buf *b;

	for (unsigned i = 0; i < m->nmore; i++)
		len += m->more[i].end - m->more[i].off;
	if (len == m->len)
		return 0;
	b = mem_buf_get(c->pool, len);
	if (!b)
		return -ENOMEM;
	memcpy(b->data, m->recv->buf->data + m->off, m->len);
	for (unsigned i = 0; i < m->nmore; i++) {
		const struct rpcrdma_part *part = &m->more[i];

		memcpy(b->data + m->len, part->recv->buf->data + c->recv_off + part->off,
			part->end - part->off);
		m->len += part->end - part->off;
	}
	m->joined = b;
	m->off = 0;
	return 0;
}

/* h, of m, continues the group. True: h also ends the group, and *m is the whole group. */
static bool add(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, struct rpcrdma_msg *m)
{
	struct rpcrdma_group *g = &c->place.group;

	g->m.more[g->m.nmore++] = (struct rpcrdma_part){
		m->recv, m->recv_len, (uint32_t)h->len, (uint32_t)h->len + h->rtr.len};
	if (g->m.nmore + 1 < g->count) {
		rpcrdma_heard_part(c);
		return false;
	}
	g->m.sends = g->count;
	g->count = 0;
	*m = g->m;
	if (!gather(c, m))
		return true;
	rpcrdma_msg_done(c, m);
	rpcrdma_break(c, "out of memory");
	return false;
}

/* h, of m, is a transmission that fits the earlier transmissions. As rpcrdma_group_join(). */
static bool take(struct rpcrdma_conn *c, struct rpcrdma_hdr **hp, struct rpcrdma_msg *m)
{
	struct rpcrdma_hdr *h = *hp;

	m->len = h->rtr.len;
	m->end = (uint32_t)h->len + m->len;
	if (h->proc == RPCRDMA_XMT_CONT) {
		*hp = c->place.group.h;
		return add(c, h, m);
	}
	if (h->rtr.count == 1)
		return true;
	if (!begin(c, h, m)) {
		rpcrdma_heard_part(c);
		return false;
	}
	rpcrdma_msg_done(c, m);
	rpcrdma_break(c, "out of memory");
	return false;
}

/* h, of m, is not the next transmission of the group. True: the caller handles h by itself. */
static bool interrupt(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc,
	const struct rpcrdma_rtr_fault *f, struct rpcrdma_msg *m, rpcrdma_fail_reply *fail)
{
	struct rpcrdma_group *g = &c->place.group;

	/* the sender of an unreadable message gets an RDMA_ERROR */
	if (!rc || h->xid != g->h->xid)
		rpcrdma_report(c, h, g->h, f);
	break_off(c, fail);
	if (rc || h->proc != RPCRDMA_XMT_CONT)
		return true;
	rpcrdma_msg_done(c, m);
	return false;
}

bool rpcrdma_group_join(struct rpcrdma_conn *c, struct rpcrdma_hdr **hp, int rc,
	struct rpcrdma_msg *m, rpcrdma_fail_reply *fail)
{
	struct rpcrdma_group *g = &c->place.group;
	struct rpcrdma_rtr_fault f;
	struct rpcrdma_hdr *h = *hp;
	bool goes_on = !rc && h->proc == RPCRDMA_XMT_CONT;

	if (!rc && (h->proc == RDMA_ERROR || h->proc == RPCRDMA_REPT_ERR))
		return true;
	if (g->count && breaks(g, h, rc, &f) && !interrupt(c, h, rc, &f, m, fail))
		return false;
	if (!transmits(h, rc))
		return true;
	if (goes_on && !g->count) {
		if (!g->refused || h->xid != g->xid) {
			found(&f, RPCRDMA_RTR_BADCONT, 0, 0);
			rpcrdma_report(c, h, NULL, &f);
		}
		rpcrdma_msg_done(c, m);
		return false;
	}
	if (!is_wrong(c, h, m, &f))
		return take(c, hp, m);
	rpcrdma_report(c, h, goes_on ? g->h : NULL, &f);
	if (goes_on)
		break_off(c, fail);
	else
		refuse(g, h->xid);
	give_up(c, h, m, fail);
	return false;
}

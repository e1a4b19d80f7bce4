/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_close: closes the doors of a call of ours, and tells the owner. Progress thread.
 */
#include "transport/rpcrdma/requester_close.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpcrdma/requester_posted.h"
#include "transport/rpcrdma/rpcrdma_recv.h"
#include "transport/rpcrdma/rpcrdma_taken.h"
#include "transport/rpcrdma/rpcrdma_wc.h"

#define SAY_NO_MEMORY_NS UINT64_C(2000000000)

int rpcrdma_bad_reply(struct rpcrdma_conn *c, uint32_t xid, const char *what)
{
	log_warn("%s: reply %08x %s: protocol error by the peer", c->x.peer, xid, what);
	return -EIO;
}

/* The RPC message must begin with the XID of the transport header (RFC 8166 section 4.5.2). */
static void check_xid(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	uint32_t xid;

	if (p->in.len < sizeof(xid)) {
		p->error = rpcrdma_bad_reply(c, p->call->xid, "has no RPC message");
		return;
	}
	memcpy(&xid, p->in.base, sizeof(xid));
	if (be32toh(xid) != p->call->xid)
		p->error = rpcrdma_bad_reply(c, p->call->xid, "has another XID in its RPC message");
}

/* p is in the backlog again, or does not go back there: other calls may go on. */
static void fed_locked(struct rpcrdma_conn *c, struct rpcrdma_posted *p) REQUIRES(c->lock)
{
	c->hungry -= p->hungry;
	p->hungry = false;
}

/* Puts p back at its place in the backlog, in the state before MARSHAL. */
static void requeue_locked(struct rpcrdma_conn *c, struct rpcrdma_posted *p) REQUIRES(c->lock)
{
	struct rpcrdma_posted *next = TAILQ_FIRST(&c->backlog);

	rpcrdma_posted_let_go(p);
	fed_locked(c, p);
	p->error = 0;
	p->closed = p->repeat = false;
	p->state = RPCRDMA_BACKLOG;
	while (next && next->turn < p->turn)
		next = TAILQ_NEXT(next, link);
	if (next)
		TAILQ_INSERT_BEFORE(next, p, link);
	else
		TAILQ_INSERT_TAIL(&c->backlog, p, link);
}

/* Memory may have come back. */
static void try_memory(struct rpcrdma_conn *c)
{
	c->no_memory = false;
	c->alone_ns = 0;
}

/* Queues p to be sent again. If the connection is down, the owner takes p back from the backlog. */
static void repeat(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	try_memory(c); /* p frees its own memory, too */
	rpcrdma_msg_done(c, &p->reply);
	mutex_lock(&c->lock);
	requeue_locked(c, p);
	mutex_unlock(&c->lock);
}

/* Memory, or the right to register more memory, ran out in MARSHAL. p goes back to its place in the
 * backlog, and no later call overtakes p. The next call to end gives memory back. If other
 * processes of the machine have all memory, we try from time to time. */
static void wait_for_memory(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	uint64_t now = clock_ns();
	bool alone;

	mutex_lock(&c->lock);
	alone = TAILQ_EMPTY(&c->posted);
	requeue_locked(c, p);
	mutex_unlock(&c->lock);
	c->no_memory = true;
	c->no_memory_ns = now;
	if (!alone || !c->alone_ns)
		c->alone_ns = alone ? now : 0;
	else if (!c->said_no_memory && clock_age(now, c->alone_ns) > SAY_NO_MEMORY_NS) {
		c->said_no_memory = true;
		log_warn("%s: calls wait for memory that can be registered, and none is: raise "
			 "RLIMIT_MEMLOCK (ulimit -l)",
			c->x.peer);
	}
}

/* All doors of p are closed (p is in `closing`): tells the owner. */
void rpcrdma_reply_closed(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	struct rpc_call *call = p->call;
	struct mem_buf *reply_buf = p->reply_buf;
	struct rpcrdma_taken *pull = p->pull;
	struct rpcrdma_msg m = p->reply;
	struct xdr_in in;
	int error;

	TAILQ_REMOVE(&c->closing, p, link);
	if (p->repeat) {
		repeat(c, p);
		return;
	}
	if (p->error == -ENOMEM) {
		wait_for_memory(c, p);
		return;
	}
	try_memory(c);
	if (!p->error)
		check_xid(c, p);
	error = p->error;
	in = p->in;
	p->reply_buf = NULL; /* `in` may point into reply_buf and pull */
	p->pull = NULL;
	rpcrdma_posted_let_go(p);
	atomic_store_explicit(&call->xprt_priv, NULL, memory_order_relaxed);
	TAILQ_INSERT_TAIL(&c->ended, p, link); /* the next reply has the lock anyway */
	c->x.up.reply(c->x.up.ctx, call, error, error ? NULL : &in);
	mem_buf_unref(reply_buf);
	rpcrdma_taken_free(c, pull);
	rpcrdma_msg_done(c, &m);
}

void rpcrdma_close_doors(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	int rc = 0;

	TAILQ_INSERT_TAIL(&c->closing, p, link);
	if (p->ndoors)
		rc = c->prov->withdraw(c->pc, p->door, p->ndoors, (uintptr_t)p);
	if (rc == -EINPROGRESS)
		return;
	p->closed = true;
	rpcrdma_reply_closed(c, p);
}

void rpcrdma_reply_failed(struct rpcrdma_conn *c)
{
	struct rpcrdma_posted *p;

	for (;;) {
		mutex_lock(&c->lock);
		p = TAILQ_FIRST(&c->failed);
		if (p) {
			TAILQ_REMOVE(&c->failed, p, link);
			p->state = RPCRDMA_CLOSING;
		}
		mutex_unlock(&c->lock);
		if (!p)
			return;
		rpcrdma_close_doors(c, p);
	}
}

/* Takes p off the list. True: the doors of p may be open. */
static bool unlist_locked(struct rpcrdma_conn *c, struct rpcrdma_posted *p) REQUIRES(c->lock)
{
	switch (p->state) {
	case RPCRDMA_BACKLOG:
		TAILQ_REMOVE(&c->backlog, p, link);
		return false;
	case RPCRDMA_SENT:
		TAILQ_REMOVE(&c->posted, p, link);
		c->patient -= p->patient ? p->sends : 0;
		rpcrdma_credit_orphan(&c->credit_out, p->sends);
		return true;
	case RPCRDMA_FAILED:
		TAILQ_REMOVE(&c->failed, p, link);
		return true;
	case RPCRDMA_PULLED: /* the RDMA Reads go on without p */
		if (p->pull)
			p->pull->posted = NULL;
		p->pull = NULL;
		return true;
	case RPCRDMA_CLOSING:
	case RPCRDMA_MARSHAL:
		break;
	}
	return true;
}

/* Closes the doors of p. The peer may rightly be about to write to a door, or to invalidate a door.
 */
static int abandon(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	for (unsigned i = 0; i < p->ndoors; i++)
		p->door[i].abandoned = true;
	return c->prov->withdraw(c->pc, p->door, p->ndoors, (uintptr_t)p);
}

bool rpcrdma_forget(struct rpc_xprt *x, struct rpc_call *call)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);
	struct rpcrdma_posted *p;
	bool closing, open, orphan, left;

	mutex_lock(&c->lock);
	p = call->xprt_priv;
	if (!p) {
		mutex_unlock(&c->lock);
		return false;
	}
	while (p->state == RPCRDMA_MARSHAL)
		cond_wait(&c->marshalled, &c->lock);
	left = p->state != RPCRDMA_BACKLOG || p->dialect;
	closing = p->state == RPCRDMA_CLOSING;
	orphan = p->state == RPCRDMA_SENT && p->sends > 1;
	fed_locked(c, p);
	open = unlist_locked(c, p);
	mutex_unlock(&c->lock);
	if (closing)
		TAILQ_REMOVE(&c->closing, p, link); /* withdraw() is under way already */
	else if (open && p->ndoors)
		p->closed = abandon(c, p) == 0;
	else
		p->closed = true;
	rpcrdma_await_closed(c, p);
	try_memory(c);
	rpcrdma_msg_done(c, &p->reply);
	p->pull = rpcrdma_taken_free(c, p->pull);
	rpcrdma_posted_let_go(p);
	mutex_lock(&c->lock);
	atomic_store_explicit(&call->xprt_priv, NULL, memory_order_relaxed);
	p->xid = call->xid;
	if (orphan) /* so that we recognise the answer */
		TAILQ_INSERT_TAIL(&c->orphans, p, link);
	else
		rpcrdma_posted_free_locked(c, p);
	mutex_unlock(&c->lock);
	return left;
}

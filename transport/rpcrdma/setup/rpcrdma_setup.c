/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_setup: makes RPC-over-RDMA connections, and ends them.
 *
 * Sizes. Each side sends its inline sizes, for Sends and receives, in private data (RFC 8797). For
 * a peer without private data, the dialect has a size. Our Sends are no longer than our size and
 * the peer's receives. The peer's Sends are no longer than the smaller of both sizes. But our
 * receive buffers never have less than 4096 bytes: a server may send up to its own limit in spite
 * of our size.
 */
#include "transport/rpcrdma/setup/rpcrdma_setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "transport/log.h"
#include "transport/rpcrdma/old/old_ops.h"
#include "transport/rpcrdma/old/rpcrdma_ccp.h"
#include "transport/rpcrdma/old/rpcrdma_lent.h"
#include "transport/rpcrdma/place/place_ops.h"
#include "transport/rpcrdma/place/rpcrdma_place.h"
#include "transport/rpcrdma/requester_call.h"
#include "transport/rpcrdma/requester_close.h"
#include "transport/rpcrdma/requester_posted.h"
#include "transport/rpcrdma/responder_reply.h"
#include "transport/rpcrdma/rpcrdma_flow.h"
#include "transport/rpcrdma/rpcrdma_negotiate.h"
#include "transport/rpcrdma/rpcrdma_progress.h"
#include "transport/rpcrdma/rpcrdma_read.h"
#include "transport/rpcrdma/rpcrdma_recv.h"
#include "transport/rpcrdma/setup/rpcrdma_fit.h"
#include "transport/rpcrdma/setup/rpcrdma_versions.h"
#include "transport/rpcrdma/v2/v2_ops.h"

#define IRD_ORD	 16
#define PRIV_LEN RPCRDMA_PRIV_LEN

#define ESTABLISH_MS 10000

static uint32_t clamp(uint32_t v, uint32_t dflt, uint32_t lo, uint32_t hi)
{
	if (!v)
		v = dflt;
	return v < lo ? lo : v > hi ? hi : v;
}

/* The parameters of a new connection, on either side. */
struct setup {
	const struct prov_ops *prov;
	struct mem_pool *pool;
	uint32_t inline_size, credits, reverse;
	unsigned batch;
	const struct rpcrdma_dialect *const *dialects;
	bool crc, requester, shy;
	uint8_t priv[PRIV_LEN];
	struct prov_params params;
};

static void setup_init(struct setup *s, const struct prov_ops *prov, struct mem_pool *pool,
	uint32_t inline_size, uint32_t credits, unsigned versions, bool crc, bool requester)
{
	struct rpcrdma_priv priv = {.remote_inval = prov->remote_inval};
	unsigned nrecvs, sends;

	*s = (struct setup){.prov = prov, .pool = pool, .crc = crc, .requester = requester};
	s->dialects = rpcrdma_table(versions);
	s->shy = versions & RPC_RDMA_V1;
	sends = rpcrdma_dialect_sends(s->dialects);
	s->inline_size =
		clamp(inline_size, RPCRDMA_INLINE_DEFAULT, RPCRDMA_INLINE_MIN, RPCRDMA_INLINE_MAX) &
		~1023u;
	s->credits = clamp(credits, RPCRDMA_CREDITS_DEFAULT, 1, RPCRDMA_CREDITS_MAX);
	priv.send_size = priv.recv_size = s->inline_size;
	rpcrdma_priv_encode(&priv, s->priv);
	/* One receive for each Send of each call that we grant, and one for each Send of the
	 * answers to the calls that the peer grants. */
	s->reverse = RPCRDMA_REVERSE_CREDITS;
	s->batch = RPCRDMA_BATCH;
	nrecvs = (s->credits + s->reverse) * sends + 2 * RPCRDMA_ROOM_MAX + s->batch;
	s->params = (struct prov_params){
		.recv_depth = nrecvs,
		/* A call takes only Sends. A reply takes Sends, and perhaps an RDMA Write for each
		 * segment that the call has offered. */
		.send_depth = requester ? nrecvs
					: s->credits * (sends + RPCRDMA_SEGS_FREE) + nrecvs +
						  RPCRDMA_READS_MAX + RPCRDMA_SEGS_MAX,
		.ird = IRD_ORD,
		.ord = IRD_ORD,
		.crc = crc,
		.priv = s->priv,
		.priv_len = PRIV_LEN,
		.pool = pool,
	};
}

/* --- life ------------------------------------------------------------------------------------- */

static void free_posted_list(struct rpcrdma_posted_list *list)
{
	struct rpcrdma_posted *p;

	while ((p = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, p, link);
		rpcrdma_posted_let_go(p);
		free(p);
	}
}

/* The last reference is gone: the connection has no call, and no service has a request of the
 * connection. */
static void destroy(struct rpc_xprt *x)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);

	rpcrdma_lent_drop_all(c);
	c->prov->free(c->pc); /* first: afterwards the provider writes no more into our memory */
	rpcrdma_read_drop_all(c);
	for (unsigned i = 0; c->recvs && i < c->nrecvs; i++)
		mem_buf_unref(c->recvs[i].buf);
	free(c->recvs);
	free(c->wcs.later);
	mem_buf_unref(c->zero);
	mem_buf_unref(c->join.buf);
	free(c->place.group.h);
	rpcrdma_flow_drop(c);
	free_posted_list(&c->backlog);
	free_posted_list(&c->posted);
	free_posted_list(&c->failed);
	free_posted_list(&c->closing);
	free_posted_list(&c->ended);
	free_posted_list(&c->spare);
	free_posted_list(&c->orphans);
	pthread_cond_destroy(&c->marshalled);
	mutex_destroy(&c->chain);
	mutex_destroy(&c->lock);
	rpc_xprt_fini(x);
	free(c);
}

/* May receive buffers have targets? Yes, if such buffers take at most an eighth of the free memory,
 * if at least half of all memory is free, and if the provider does not reach payload through doors
 * alone (prov_conn.bulk_by_doors).
 */
static bool may_have_targets(const struct setup *s, const struct prov_conn *pc)
{
	size_t room = mem_pool_room(s->pool);

	return s->dialects[0]->places && s->dialects[0]->talks && !pc->bulk_by_doors &&
	       (uint64_t)s->params.recv_depth * RPCRDMA_RTR_BLOCK <= room / 8 &&
	       room >= mem_pool_limit(s->pool) / 2;
}

static uint32_t receive_size(const struct setup *s)
{
	uint32_t size =
		s->inline_size < RPCRDMA_INLINE_DEFAULT ? RPCRDMA_INLINE_DEFAULT : s->inline_size;

	/* sizes of the dialect of 2005 may be meant without the header */
	return rpcrdma_dialect_has_legacy(s->dialects) ? size + 1024 : size;
}

/* May the connection speak version 1, and nothing else? */
static bool may_speak_v1(const struct setup *s)
{
	const struct rpcrdma_dialect *d = rpcrdma_dialect_find(s->dialects, 1, 1);

	return d && !d->legacy;
}

/* Fits the connection into the memory that can be registered. Called twice: before open(), so that
 * the device's queues become no larger than needed; and after open(), when the provider has set
 * memory aside. */
static void setup_shrink(struct setup *s)
{
	struct rpcrdma_fit f = {
		.recvs = s->params.recv_depth,
		.credits = s->credits,
		.reverse = s->reverse,
		.batch = s->batch,
		.v1 = may_speak_v1(s) && !s->dialects[1],
	};
	size_t most = mem_pool_set_aside(s->pool, s->params.conns) / receive_size(s);

	if (!rpcrdma_fit(&f, most, rpcrdma_dialect_sends(s->dialects), may_speak_v1(s)))
		return;
	s->params.recv_depth = f.recvs;
	if (s->requester)
		s->params.send_depth = f.recvs;
	s->credits = f.credits;
	s->reverse = f.reverse;
	s->batch = f.batch;
	if (f.v1)
		s->dialects = rpcrdma_table(RPC_RDMA_V1);
	log_ctrl("%u receives and %u credits, for more memory cannot be registered", f.recvs,
		f.credits);
}

/* Makes a connection on pc, before the hand-shake. The connection owns pc, also after a failure. */
static struct rpcrdma_conn *conn_new(
	const struct setup *wanted, struct prov_conn *pc, const struct rpc_xprt_up *up)
{
	struct rpcrdma_conn *c = calloc(1, sizeof(*c));
	struct setup own = *wanted, *s = &own;
	uint32_t out, in;

	if (!c || rpc_xprt_init(&c->x, &rpcrdma_ops, up)) {
		s->prov->free(pc);
		free(c);
		return NULL;
	}
	setup_shrink(s);
	out = s->requester ? s->credits : s->reverse;
	/* where every message takes a credit, the answer to each call takes one, too */
	in = s->credits + (s->requester ? s->reverse : 0);
	c->requester = s->requester;
	c->prov = s->prov;
	c->pc = pc;
	c->place_ops = &rpcrdma_place_ops;
	c->v2_ops = &rpcrdma_v2_ops;
	c->old_ops = &rpcrdma_old_ops;
	c->pool = s->pool;
	c->dialects = s->dialects;
	c->old.shy = s->shy;
	c->inline_own = s->inline_size;
	c->recv_size = receive_size(s);
	c->nrecvs = s->params.recv_depth;
	c->reverse = s->reverse;
	c->batch = s->batch;
	c->place.targets = may_have_targets(s, pc);
	if (c->place.targets) { /* the pages of a buffer begin at a page of memory */
		c->recv_size = rpcrdma_rtr_own.len;
		c->recv_off = RPCRDMA_RTR_BLOCK - rpcrdma_rtr_own.len;
	}
	c->spin_ns = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? rpcrdma_spin_us * UINT64_C(1000) : 0;
	mutex_init(&c->lock);
	mutex_init(&c->chain);
	STAILQ_INIT(&c->to_post);
	TAILQ_INIT(&c->pulls);
	TAILQ_INIT(&c->waiting);
	TAILQ_INIT(&c->come);
	TAILQ_INIT(&c->old.lent);
	TAILQ_INIT(&c->old.returned);
	TAILQ_INIT(&c->closing);
	TAILQ_INIT(&c->ended);
	TAILQ_INIT(&c->backlog);
	TAILQ_INIT(&c->posted);
	TAILQ_INIT(&c->failed);
	TAILQ_INIT(&c->spare);
	TAILQ_INIT(&c->orphans);
	STAILQ_INIT(&c->v2.stalled);
	rpcrdma_credit_init(&c->credit_out, out, 1);
	c->v2.last_grant = 1;
	c->v2.room = 1;
	c->v2.banked = 1;
	rpcrdma_credit_init(&c->credit_in, in, in);
	pthread_cond_init(&c->marshalled, NULL);
	c->x.provider = s->prov->name;
	rpcrdma_try(c, up->rdma_version);
	c->x.credits = 1;
	rpc_xprt_set_peer(&c->x, (const struct sockaddr *)&pc->peer);
	return c;
}

/* Posts the receives, shakes hands, and learns the peer's sizes. */
static int conn_establish(struct rpcrdma_conn *c, int timeout_ms, struct err *e)
{
	struct rpcrdma_priv priv;
	int rc = rpcrdma_recvs_init(c, e);
	bool said;

	if (rc)
		return rc;
	rpcrdma_recv_replenish(c);
	rc = c->prov->establish(c->pc, timeout_ms, e);
	mutex_alone(&c->lock); /* no other thread uses the connection yet */
	if (rc && c->why[0])   /* the reason why we closed the connection */
		err_set(e, ERR_INTERNAL, "%s", c->why);
	if (rc)
		return rc;
	said = rpcrdma_priv_decode(&priv, c->pc->peer_priv, c->pc->peer_priv_len);
	c->remote_inv = priv.remote_inval && c->prov->remote_inval;
	rpcrdma_set_peer(c, said ? &priv : NULL);
	log_ctrl("%s: connected over %s, inline %u out and %u in%s", c->x.peer, c->prov->name,
		c->x.inline_send, c->x.inline_recv, c->remote_inv ? ", remote invalidation" : "");
	return 0;
}

/* The owners still get complete replies. */
static void shutdown_conn(struct rpc_xprt *x)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);

	mutex_lock(&c->lock);
	if (!c->why[0])
		snprintf(c->why, sizeof(c->why), "closed by this side");
	mutex_unlock(&c->lock);
	c->prov->disconnect(c->pc);
}

/* Without flush() a provider keeps no messages back. */
static void flush(struct rpc_xprt *x)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);

	c->prov->flush(c->pc);
}

static bool keeps(struct rpc_xprt *x, uint64_t *moved)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);

	return c->prov->unsent && c->prov->unsent(c->pc, moved) > 0;
}

static int establish(struct rpc_xprt *x, const struct rpc_xprt_up *up, struct err *e)
{
	x->up = *up;
	return conn_establish(rpcrdma_conn_of(x), ESTABLISH_MS, e);
}

static void lease(struct rpc_xprt *x, unsigned s)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);

	if (c->prov->lease)
		c->prov->lease(c->pc, s);
}

static int tcp_fd(struct rpc_xprt *x)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);

	return c->prov->tcp_fd ? c->prov->tcp_fd(c->pc) : -1;
}

const struct rpc_xprt_ops rpcrdma_ops = {
	.establish = establish,
	.send_call = rpcrdma_send_call,
	.flush = flush,
	.send_reply = rpcrdma_send_reply,
	.drop = rpcrdma_drop,
	.progress = rpcrdma_progress,
	.forget = rpcrdma_forget,
	.shutdown = shutdown_conn,
	.keeps = keeps,
	.lease = lease,
	.tcp_fd = tcp_fd,
	.destroy = destroy,
};

/* --- the two ways to a connection ------------------------------------------------------------- */

static const struct prov_ops *provider_of(enum rpc_proto proto, struct err *e)
{
	if (proto == RPC_IWARP)
		return &prov_iwarp;
#ifdef HAVE_VERBS
	if (proto == RPC_RDMA)
		return &prov_verbs;
#endif
	if (proto == RPC_RDMA)
		err_set(e, ERR_NO_DEVICE, "proto=rdma is not available: built without rdma-core");
	else
		err_set(e, ERR_USAGE, "proto=%s does not carry RPC-over-RDMA",
			rpc_proto_name(proto));
	return NULL;
}

struct rpc_xprt *rpcrdma_connect_on(const struct prov_ops *prov, const struct rpc_client_params *p,
	const struct rpc_xprt_up *up, struct err *e)
{
	const struct dial_addr *a;
	struct rpcrdma_conn *c;
	struct prov_conn *pc;
	struct setup s;

	setup_init(&s, prov, p->pool, p->inline_size, p->credits, p->rdma_versions, p->crc, true);
	s.params.conns = p->conns ? p->conns : 1;
	s.params.abort_fd = up->abort_fd > 0 ? up->abort_fd : 0;
	s.params.choice = p->choice;
	s.params.nchoice = p->nchoice;
	setup_shrink(&s);
	if (prov->open((const struct sockaddr *)&p->peer, p->peer_len, &s.params,
		    (int)p->connect_ms, &pc, e))
		return NULL;
	c = conn_new(&s, pc, up);
	if (!c) {
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	a = dial_chosen(p->choice, p->nchoice);
	rpc_xprt_set_peer(&c->x, (const struct sockaddr *)(a ? &a->ss : &p->peer));
	if (conn_establish(c, (int)p->connect_ms, e)) {
		rpc_xprt_unref(&c->x);
		return NULL;
	}
	if (c->dialect->legacy && rpcrdma_ccp_ask(c, (int)p->connect_ms, s.params.abort_fd, e)) {
		rpc_xprt_unref(&c->x);
		return NULL;
	}
	return &c->x;
}

struct rpc_xprt *rpcrdma_connect(
	const struct rpc_client_params *p, const struct rpc_xprt_up *up, struct err *e)
{
	const struct prov_ops *prov = provider_of(p->proto, e);

	return prov ? rpcrdma_connect_on(prov, p, up, e) : NULL;
}

struct acceptor {
	struct rpc_acceptor a; /* first */
	struct setup s;
	struct prov_listener *l;
};

static int acceptor_accept(struct rpc_acceptor *a, struct rpc_xprt **out, struct err *e)
{
	static const struct rpc_xprt_up nobody; /* until establish() */
	struct acceptor *ac = (struct acceptor *)a;
	struct rpcrdma_conn *c;
	struct prov_conn *pc;
	int rc = ac->s.prov->accept(ac->l, &pc, e);

	if (rc)
		return rc;
	c = conn_new(&ac->s, pc, &nobody);
	if (!c)
		return -ENOMEM;
	c->x.addr = pc->peer;
	c->x.user = pc->user;
	*out = &c->x;
	return 0;
}

static void acceptor_free(struct rpc_acceptor *a)
{
	struct acceptor *ac = (struct acceptor *)a;

	if (!ac)
		return;
	ac->s.prov->unlisten(ac->l);
	free(ac);
}

static const struct rpc_acceptor_ops acceptor_ops = {
	.accept = acceptor_accept,
	.free = acceptor_free,
};

struct rpc_acceptor *rpcrdma_listen_on(
	const struct prov_ops *prov, const struct rpc_server_params *p, struct err *e)
{
	struct acceptor *ac = calloc(1, sizeof(*ac));

	if (!ac) {
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	setup_init(
		&ac->s, prov, p->pool, p->inline_size, p->credits, p->rdma_versions, p->crc, false);
	ac->s.params.priv = ac->s.priv;
	if (prov->listen(
		    (const struct sockaddr *)&p->addr, p->addr_len, &ac->s.params, &ac->l, e)) {
		free(ac);
		return NULL;
	}
	ac->a.ops = &acceptor_ops;
	ac->a.fd = ac->l->fd;
	ac->a.port = ac->l->port;
	return &ac->a;
}

struct rpc_acceptor *rpcrdma_listen(const struct rpc_server_params *p, struct err *e)
{
	const struct prov_ops *prov = provider_of(p->proto, e);

	return prov ? rpcrdma_listen_on(prov, p, e) : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_call: finding a server's lock manager, and calls to it.
 */
#include "nfsproto/nfs3_nlm_call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nfsproto/nfs3_mount.h"
#include "transport/log.h"

#define RETRY_NS      (5 * UINT64_C(1000000000))
#define CALL_MS	      0x7fffffffu /* the connection's own time-outs end a call, or somebody stops it */
#define REPLY_MAX     (2 * (4 + NLM4_NETOBJ_MAX) + 4 + 8 + 16)
#define NSM_STATE     1
#define SECOND_TRY_MS 3000u

struct nlm_call {
	struct nfs3_sync s;
	struct nfs3_nlm *nlm;
	uint32_t proc;
	struct nlm4_netobj cookie;
	struct nlm4_lock lock;
	bool write, reclaim;
	/* out */
	uint32_t status;
	struct nlm4_holder holder;
};

/* --- calls ----------------------------------------------------------------------------------- */

static void put_call(struct nfs3_sync *s, struct xdr_out *x)
{
	const struct nlm_call *k = s->put;

	switch (k->proc) {
	case NLM4PROC_TEST:
		nlm4_put_test_args(x, &(struct nlm4_test_args){k->cookie, k->write, k->lock});
		break;
	case NLM4PROC_LOCK:
		nlm4_put_lock_args(x, &(struct nlm4_lock_args){.cookie = k->cookie,
					      .exclusive = k->write,
					      .lock = k->lock,
					      .reclaim = k->reclaim,
					      .state = NSM_STATE});
		break;
	case NLM4PROC_UNLOCK:
		nlm4_put_unlock_args(x, &(struct nlm4_unlock_args){k->cookie, k->lock});
		break;
	default: /* NULL */
		break;
	}
}

static int get_call(struct nfs3_sync *s, struct xdr_in *x)
{
	struct nlm_call *k = s->out;
	struct nlm4_test_res test;
	struct nlm4_res res;
	int rc;

	switch (k->proc) {
	case NLM4PROC_NULL:
		return 0;
	case NLM4PROC_TEST:
		rc = nlm4_get_test_res(x, &test);
		k->status = test.status;
		k->holder = test.holder;
		k->holder.oh = (struct nlm4_netobj){NULL, 0};
		return rc;
	default:
		rc = nlm4_get_res(x, &res);
		k->status = res.status;
		return rc;
	}
}

static void look(struct nfs3_sync *s)
{
	const struct nlm_call *k = s->put;

	nfs3_nlm_look(k->nlm);
}

/* What of k->s every call has. */
static void ready(struct nfs3_client *c, struct nlm_call *k)
{
	k->nlm = c->nlm;
	k->s.put = k->s.out = k;
	k->s.get = get_call;
	k->s.stop = &c->nlm->stop;
	k->s.look = look;
}

static int call(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, struct nlm_call *k,
	uint64_t start, uint64_t end)
{
	struct nfs3_nlm *n = c->nlm;
	unsigned ms = CALL_MS;
	char oh[24];
	int rc;

	if (n->goodbye_ns) {
		uint64_t now = nfs3_now_ns();

		ms = now < n->goodbye_ns ? (unsigned)((n->goodbye_ns - now) / NFS3_MSEC) + 1 : 1;
	}
	n->cookie++;
	k->cookie = (struct nlm4_netobj){(const uint8_t *)&n->cookie, sizeof(n->cookie)};
	k->lock = (struct nlm4_lock){
		.caller = {n->caller, (uint32_t)strlen(n->caller)},
		.fh = {ctx->fh.data, ctx->fh.len},
		.oh = {(const uint8_t *)oh, (uint32_t)snprintf(oh, sizeof(oh), "%u@%.8s", ctx->svid,
						    n->caller + strlen(n->caller) - 8)},
		.svid = ctx->svid,
		.offset = start,
		.len = end == UINT64_MAX ? 0 : end - start + 1,
	};
	ready(c, k);
	rc = nfs3_sync_call(&k->s, n->rpc, &ctx->cred, k->proc, put_call, REPLY_MAX, ms);
	log_ctrl("%s: NLM %s: %s", c->server, nlm4_proc_name(k->proc),
		rc ? strerror(-rc) : nlm4_status_name(k->status));
	/* the lock manager went away while others stayed */
	return rc == -EPROTONOSUPPORT || rc == -EOPNOTSUPP ? -ENOLCK : rc;
}

int nfs3_nlm_lock(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, uint64_t start,
	uint64_t end, bool write, bool reclaim, uint32_t *status)
{
	struct nlm_call k = {.proc = NLM4PROC_LOCK, .write = write, .reclaim = reclaim};
	int rc = call(c, ctx, &k, start, end);

	*status = k.status;
	return rc;
}

int nfs3_nlm_unlock(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, uint64_t start,
	uint64_t end, uint32_t *status)
{
	struct nlm_call k = {.proc = NLM4PROC_UNLOCK};
	int rc = call(c, ctx, &k, start, end);

	*status = k.status;
	return rc;
}

int nfs3_nlm_test(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, uint64_t start,
	uint64_t end, bool write, uint32_t *status, struct nlm4_holder *holder)
{
	struct nlm_call k = {.proc = NLM4PROC_TEST, .write = write};
	int rc = call(c, ctx, &k, start, end);

	*status = k.status;
	*holder = k.holder;
	return rc;
}

/* --- finding it ------------------------------------------------------------------------------ */

/* Is there a lock manager at the other end of rpc? 0 or -errno. */
static int ping(struct nfs3_client *c, struct rpc_client *rpc)
{
	struct nlm_call k = {.proc = NLM4PROC_NULL};
	unsigned ms = c->connect_ms < SECOND_TRY_MS ? c->connect_ms : SECOND_TRY_MS;

	ready(c, &k);
	return nfs3_sync_call(&k.s, rpc, &c->cred, NLM4PROC_NULL, put_call, 0, ms);
}

static struct rpc_client *try_at(struct nfs3_client *c, const struct nfs3_aux *a, int *rc)
{
	struct rpc_client_params rp = a->rp;
	struct err e = {.kind = ERR_NONE};
	struct rpc_client *rpc;

	rp.reconnected = nfs3_nlm_reconnected;
	rp.ctx = c;
	rpc = rpc_client_new(&rp, &e);
	*rc = rpc ? ping(c, rpc) : -ENOTCONN;
	return *rc ? rpc_client_free(rpc) : rpc;
}

int nfs3_nlm_connect(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	struct nfs3_aux a = {.rp = c->rp, .cred = c->cred};
	uint16_t port;
	int rc = -ENOTCONN;

	if (n->rpc)
		return 0;
	if (nfs3_now_ns() < n->retry_ns)
		return -ENOLCK;
	a.rp.prog = NLM4_PROGRAM;
	a.rp.vers = NLM4_VERSION;
	if (c->mount->in_place)
		n->rpc = try_at(c, &a, &rc);
	if (!n->rpc) {
		a.rp.proto = RPC_TCP;
		rc = nfs3_aux_getport(&a, &port, c->connect_ms);
		if (!rc && !port)
			rc = -EPROTONOSUPPORT;
		if (!rc) {
			nfs3_aux_set_port(&a, port);
			n->rpc = try_at(c, &a, &rc);
		}
	}
	if (n->rpc)
		return 0;
	if (atomic_load_explicit(&n->stop, memory_order_relaxed))
		return -EINTR; /* who knows whether it would have answered */
	n->retry_ns = nfs3_now_ns() + RETRY_NS;
	log_warn("%s: the server's lock manager (NLM version 4) cannot be reached: %s; programs "
		 "that "
		 "lock files fail with ENOLCK: start it, or mount with the nolock option",
		c->server,
		rc == -EPROTONOSUPPORT ? "it is not registered with the portmapper"
		: rc == -ENOTCONN      ? "neither it nor a portmapper answers"
				       : strerror(-rc));
	return -ENOLCK;
}

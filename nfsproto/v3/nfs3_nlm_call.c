/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_call: finds a server's lock manager, and calls it.
 */
#include "nfsproto/v3/nfs3_nlm_call.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "nfsproto/v3/nfs3_mount.h"
#include "nfsproto/v3/nfs3_nlm_ctx.h"
#include "nfsproto/v3/nfs3_nlm_queue.h"
#include "nfsproto/wire/nsm_xdr.h"
#include "transport/clock.h"
#include "transport/log.h"

#define RETRY_NS      (5 * UINT64_C(1000000000))
#define CALL_MS	      0x7fffffffu /* the connection's own time-outs end a call, or a stop does */
#define REPLY_MAX     (2 * (4 + NLM4_NETOBJ_MAX) + 4 + 8 + 16)
#define SECOND_TRY_MS 3000u
#define PING_MS	      10000u
#define TRY_MS	      20000u /* for a call to a port from the portmapper */
#define GRACE_S	      10u    /* a restarted server takes claims for so long, at least */

struct nlm_call {
	struct nfs3_sync s;
	struct nfs3_nlm *nlm;
	uint32_t proc;
	struct nlm4_netobj cookie;
	struct nlm4_lock lock;
	bool write, reclaim;
	/* out */
	uint32_t status;
	struct nfs3_nlm_holder holder;
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
					      .state = k->nlm->nsm.state});
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
		if (rc)
			return rc;
		k->status = test.status;
		k->holder.h = test.holder;
		if (test.holder.oh.len > sizeof(k->holder.oh))
			k->holder.h.oh.len = 0;
		if (k->holder.h.oh.len) /* without a handle there may be no data */
			memcpy(k->holder.oh, test.holder.oh.data, k->holder.h.oh.len);
		return 0;
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

/* Sets the members of k->s for every call. */
static void ready(struct nfs3_client *c, struct nlm_call *k)
{
	k->nlm = c->nlm;
	k->s.put = k->s.out = k;
	k->s.get = get_call;
	k->s.stop = &c->nlm->stop;
	k->s.look = look;
}

/* A restarted server may use another port: ask for the port again. */
static void heard(struct nfs3_nlm *n, int rc)
{
	if (rc == -ETIMEDOUT && !n->goodbye_ns)
		n->rpc = rpc_client_free(n->rpc);
	else if (rc == 0)
		n->heard_ns = clock_ns();
}

uint32_t nfs3_nlm_oh(
	const struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, char buf[NFS3_NLM_OH_SIZE])
{
	const char *caller = c->nlm->nsm.name;

	return (uint32_t)snprintf(
		buf, NFS3_NLM_OH_SIZE, "%u@%.8s", ctx->svid, caller + strlen(caller) - 8);
}

/* The outcome of a call that has ended with rc; rc not 0: without results. */
static enum nfs3_nlm_what what_of_error(int rc)
{
	switch (rc) {
	case 0:
		return NFS3_NLM_DONE;
	case -EPROTONOSUPPORT:
	case -EOPNOTSUPP:
	case -ENOLCK:
		return NFS3_NLM_ABSENT;
	case -ENOTCONN:
		return NFS3_NLM_UNREACHABLE;
	case -ETIMEDOUT:
		return NFS3_NLM_SILENT;
	case -EINTR:
		return NFS3_NLM_STOPPED;
	default:
		return NFS3_NLM_BROKEN;
	}
}

static enum nfs3_nlm_what what_of_status(uint32_t status)
{
	switch (status) {
	case NLM4_GRANTED:
		return NFS3_NLM_DONE;
	case NLM4_DENIED:
		return NFS3_NLM_DENIED;
	case NLM4_DENIED_GRACE_PERIOD:
		return NFS3_NLM_GRACE;
	default:
		return NFS3_NLM_REFUSED;
	}
}

static int status_errno(uint32_t status)
{
	switch (status) {
	case NLM4_GRANTED:
		return 0;
	case NLM4_DENIED:
	case NLM4_BLOCKED:
	case NLM4_DENIED_GRACE_PERIOD:
		return -EAGAIN;
	case NLM4_DEADLCK:
		return -EDEADLK;
	case NLM4_ROFS:
		return -EROFS;
	case NLM4_STALE_FH:
		return -ESTALE;
	case NLM4_FBIG:
		return -EOVERFLOW;
	default:
		return -ENOLCK;
	}
}

static struct nfs3_nlm_answer answer(int rc, uint32_t status)
{
	struct nfs3_nlm_answer a = {.what = what_of_error(rc), .error = rc, .status = status};

	if (a.what == NFS3_NLM_ABSENT)
		a.error = -ENOLCK;
	if (rc == 0) {
		a.what = what_of_status(status);
		a.error = status_errno(status);
	}
	return a;
}

const char *nfs3_nlm_why(const struct nfs3_nlm_answer *a)
{
	return a->what <= NFS3_NLM_REFUSED ? nlm4_status_name(a->status) : strerror(-a->error);
}

static struct nfs3_nlm_answer call(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx,
	struct nlm_call *k, uint64_t start, uint64_t end)
{
	struct nfs3_nlm *n = c->nlm;
	unsigned ms = CALL_MS;
	char oh[NFS3_NLM_OH_SIZE];
	int rc;

	if (!n->rpc && nfs3_nlm_connect(c) != NFS3_NLM_DONE)
		return answer(-ENOTCONN, 0);
	if (!c->mount->in_place)
		ms = TRY_MS;
	if (n->goodbye_ns) {
		uint64_t now = clock_ns();

		ms = now < n->goodbye_ns ? (unsigned)((n->goodbye_ns - now) / NFS3_MSEC) + 1 : 1;
	}
	n->cookie++;
	k->cookie = (struct nlm4_netobj){(const uint8_t *)&n->cookie, sizeof(n->cookie)};
	k->lock = (struct nlm4_lock){
		.caller = {n->nsm.name, (uint32_t)strlen(n->nsm.name)},
		.fh = {ctx->fh.data, ctx->fh.len},
		.oh = {(const uint8_t *)oh, nfs3_nlm_oh(c, ctx, oh)},
		.svid = ctx->svid,
		.offset = start,
		.len = end == UINT64_MAX ? 0 : end - start + 1,
	};
	ready(c, k);
	rc = nfs3_sync_call(&k->s, n->rpc, &ctx->cred, k->proc, put_call, REPLY_MAX, ms);
	log_ctrl("%s: NLM %s: %s", c->server, nlm4_proc_name(k->proc),
		rc ? strerror(-rc) : nlm4_status_name(k->status));
	heard(n, rc);
	return answer(
		rc, k->status); /* ABSENT: the lock manager went away, but other programs stayed */
}

/* Is there a lock manager at the other end of rpc? 0 or -errno. */
static int ping(struct nfs3_client *c, struct rpc_client *rpc, unsigned ms)
{
	struct nlm_call k = {.proc = NLM4PROC_NULL};

	ready(c, &k);
	return nfs3_sync_call(&k.s, rpc, &c->cred, NLM4PROC_NULL, put_call, 0, ms);
}

struct nfs3_nlm_answer nfs3_nlm_lock(struct nfs3_client *c, struct nfs3_lock_ctx *ctx,
	uint64_t start, uint64_t end, bool write, bool reclaim)
{
	struct nlm_call k = {.proc = NLM4PROC_LOCK, .write = write, .reclaim = reclaim};
	struct nfs3_nlm_answer a;

	if (!ctx->held)
		ctx->held = nfs3_held_note(
			&c->nlm->held, &(struct nfs3_held_owner){ctx->fh, ctx->svid, ctx->cred});
	if (!reclaim)
		ctx->unlocking = false; /* the owner's next lock comes behind the unlock */
	a = call(c, ctx, &k, start, end);
	if (a.what > NFS3_NLM_ABSENT)
		nfs3_nlm_ctx_doubt(ctx, start, end);
	return a;
}

struct nfs3_nlm_answer nfs3_nlm_unlock(
	struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end)
{
	struct nlm_call k = {.proc = NLM4PROC_UNLOCK};
	struct nfs3_nlm_answer a;

	ctx->unlocking = true;
	ctx->unlocking_start = start;
	ctx->unlocking_end = end;
	a = call(c, ctx, &k, start, end);
	ctx->unlocking = nfs3_nlm_unknown(&a);
	if (a.what != NFS3_NLM_DONE)
		nfs3_nlm_ctx_doubt(ctx, start, end);
	else if (start <= ctx->unsure_start && end >= ctx->unsure_end)
		ctx->unsure = false;
	return a;
}

struct nfs3_nlm_answer nfs3_nlm_test(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx,
	uint64_t start, uint64_t end, bool write, struct nfs3_nlm_holder *holder)
{
	struct nlm_call k = {.proc = NLM4PROC_TEST, .write = write};
	struct nfs3_nlm_answer a = call(c, ctx, &k, start, end);

	*holder = k.holder;
	holder->h.oh.data = holder->oh;
	return a;
}

enum nfs3_nlm_what nfs3_nlm_ping(struct nfs3_client *c)
{
	int rc = ping(c, c->nlm->rpc, PING_MS);

	log_ctrl("%s: NLM NULL: %s", c->server, rc ? strerror(-rc) : "answered");
	heard(c->nlm, rc);
	return what_of_error(rc);
}

/* --- finding it ------------------------------------------------------------------------------ */

static void reconnected(void *ctx)
{
	nfs3_nlm_doubt(ctx);
}

static struct rpc_client *try_at(struct nfs3_client *c, const struct nfs3_aux *a, int *rc)
{
	struct rpc_client_params rp = a->rp;
	unsigned ms = c->connect_ms < SECOND_TRY_MS ? c->connect_ms : SECOND_TRY_MS;
	struct err e = {.kind = ERR_NONE};
	struct rpc_client *rpc;

	rp.reconnected = reconnected;
	rp.ctx = c;
	rpc = rpc_client_new(&rp, &e);
	*rc = rpc ? ping(c, rpc, ms) : -ENOTCONN;
	return *rc ? rpc_client_free(rpc) : rpc;
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* The lock manager could not be found, because of rc. */
static enum nfs3_nlm_what not_found(struct nfs3_client *c, int rc)
{
	struct nfs3_nlm *n = c->nlm;

	if (nfs3_nlm_gave_up(n) || is_readable(n->abort_fd))
		return NFS3_NLM_STOPPED; /* the server might still have answered */
	n->retry_ns = clock_ns() + RETRY_NS;
	if (n->warned)
		return NFS3_NLM_ABSENT;
	n->warned = true;
	log_warn("%s: the server's lock manager (NLM version 4) cannot be reached: %s; programs "
		 "that "
		 "lock files fail with ENOLCK: start it, or mount with the nolock option",
		c->server,
		rc == -EPROTONOSUPPORT ? "it is not registered with the portmapper"
		: rc == -ENOTCONN      ? "neither it nor a portmapper answers"
				       : strerror(-rc));
	return NFS3_NLM_ABSENT;
}

/* Tries to connect n->rpc. Returns 0 or -errno. */
static int find(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	struct nfs3_aux a = {.rp = c->rp, .cred = c->cred, .stop = &n->stop};
	uint16_t port;
	int rc = -ENOTCONN;

	a.rp.abort_fd = n->abort_fd;
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
	return rc;
}

/* Does NFS answer, over a connection of its own? */
static bool is_server_up(struct nfs3_client *c)
{
	struct nlm_call k = {.proc = NFS3PROC_NULL};
	struct nfs3_aux a = {.rp = c->rp, .cred = c->cred};

	a.rp.abort_fd = c->nlm->abort_fd;
	ready(c, &k);
	return !nfs3_aux_call(&a, &k.s, NFS3PROC_NULL, put_call, 0, SECOND_TRY_MS, NULL);
}

/* Is the search at its end, or about to end? */
static bool is_over(struct nfs3_nlm *n)
{
	return n->rpc || nfs3_nlm_gave_up(n) || is_readable(n->abort_fd);
}

enum nfs3_nlm_what nfs3_nlm_connect(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	int rc;

	if (n->rpc)
		return NFS3_NLM_DONE;
	if (clock_ns() < n->retry_ns)
		return NFS3_NLM_ABSENT;
	rc = find(c);
	if (!is_over(n) && !n->known && !c->soft) {
		/* the server may be down, with its lock manager */
		if (!is_server_up(c) && !is_over(n))
			return NFS3_NLM_UNREACHABLE;
		if (!is_over(n))
			rc = find(c);
	}
	if (!n->rpc)
		return not_found(c, rc);
	/* a call under way to a server without power must not outlast the grace period */
	rpc_client_lease(n->rpc, GRACE_S);
	if (n->known) /* the lock manager may be a restarted one */
		nfs3_nlm_doubt(c);
	n->known = true;
	n->warned = false;
	n->heard_ns = clock_ns();
	return NFS3_NLM_DONE;
}

/* --- the status monitor's part --------------------------------------------------------------- */

static void put_notify(struct nfs3_sync *s, struct xdr_out *x)
{
	const struct nfs3_nsm *n = s->put;

	nsm_put_notify_args(
		x, &(struct nsm_notify_args){{n->name, (uint32_t)strlen(n->name)}, n->state});
}

static int get_nothing(struct nfs3_sync *s, struct xdr_in *x)
{
	return 0;
}

enum nfs3_nlm_what nfs3_nlm_notify(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	struct nfs3_sync s = {.put = &n->nsm, .get = get_nothing, .stop = &n->stop};
	struct nfs3_aux a = {.rp = c->rp, .cred = c->cred};
	int rc;

	if (!c->mount->in_place)
		return NFS3_NLM_ABSENT;
	a.rp.abort_fd = n->abort_fd;
	a.rp.prog = NSM_PROGRAM;
	a.rp.vers = NSM_VERSION;
	rc = nfs3_aux_call(&a, &s, NSMPROC_NOTIFY, put_notify, 0, c->connect_ms, NULL);
	log_ctrl("%s: SM_NOTIFY: %s", c->server, rc ? strerror(-rc) : "done");
	return what_of_error(rc);
}

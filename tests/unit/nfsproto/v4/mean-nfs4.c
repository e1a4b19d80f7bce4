/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-nfs4: an NFSv4.1 server for tests of the client. For its abilities see mean-nfs4.h.
 *
 * Every COMPOUND runs under one lock. The operations: mean-session.c, mean-file.c, mean-lock.c.
 */
#include "tests/unit/nfsproto/v4/mean-run.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "contrib/serve/fault/fault_xprt.h"
#include "nfsproto/wire/nfs4_xdr.h"

#define RES_CAP 200000u

bool mean_quirky(struct mean_srv *s, enum quirk q)
{
	if (s->quirk != q || s->quirk_times == 0)
		return false;
	s->quirk_times--;
	return true;
}

uint32_t mean_plain(struct run *r, uint32_t op, uint32_t status)
{
	nfs4_put_op_res(r->x, op, status);
	return status;
}

/* Does the COMPOUND have this operation? Looks at a copy of the cursor. */
static bool has_op(const struct rpc_req *req, uint32_t op)
{
	struct xdr_in x = req->args;
	struct nfs4_compound_args head;
	struct nfs4_args a;

	if (nfs4_get_compound_args(&x, &head))
		return false;
	for (uint32_t i = 0; i < head.nops; i++) {
		if (nfs4_get_args(&x, &a))
			return false;
		if (a.op == op)
			return true;
	}
	return false;
}

static uint32_t do_op(struct run *r, const struct nfs4_args *a)
{
	switch (a->op) {
	case OP_EXCHANGE_ID:
	case OP_CREATE_SESSION:
	case OP_SEQUENCE:
	case OP_BIND_CONN_TO_SESSION:
	case OP_DESTROY_SESSION:
	case OP_DESTROY_CLIENTID:
	case OP_RECLAIM_COMPLETE:
		return mean_session_op(r, a);
	case OP_LAYOUTGET:
	case OP_GETDEVICEINFO:
	case OP_LAYOUTCOMMIT:
	case OP_LAYOUTRETURN:
	case OP_LAYOUTERROR:
	case OP_LAYOUTSTATS:
		r->s->change += a->op == OP_LAYOUTCOMMIT;
		return r->s->layouts.gives ? mean_layout_op(&r->s->layouts, r->x, a, &r->s->size)
					   : mean_plain(r, a->op, NFS4ERR_NOTSUPP);
	default:
		return mean_file_op(r, a);
	}
}

/* The status with which the test has the operation fail, or NFS4_OK. */
static uint32_t told_to_fail(struct run *r, uint32_t op)
{
	struct mean_srv *s = r->s;

	if (s->fail_op != op || s->fail_times == 0)
		return NFS4_OK;
	s->fail_times--;
	if (op == OP_SETATTR)
		nfs4_put_setattr_res(r->x, s->fail_status, NULL);
	else
		nfs4_put_op_res(r->x, op, s->fail_status);
	return s->fail_status;
}

static uint32_t one_op(struct run *r)
{
	struct mean_srv *s = r->s;
	size_t before = r->x->len;
	struct nfs4_args a;
	uint32_t status;

	assert_int_equal(nfs4_get_args(&r->req->args, &a), 0);
	status = told_to_fail(r, a.op);
	if (status == NFS4_OK)
		status = do_op(r, &a);
	if (a.op < 80) {
		s->count[a.op]++;
		s->uid[a.op] = r->req->cred.uid;
	}
	r->n++;
	if (r->last && r->n > 1) {
		if (mean_quirky(s, Q_WRONG_OP))
			xdr_patch_u32(r->x, before, OP_LOCKU);
		if (mean_quirky(s, Q_STATUS_MISMATCH)) {
			r->x->len = before;
			nfs4_put_op_res(r->x, a.op, NFS4ERR_IO);
		}
		if (mean_quirky(s, Q_SHORT_REPLY))
			r->x->len = before;
		if (mean_quirky(s, Q_FEWER_RESULTS)) {
			r->x->len = before;
			r->n--;
		}
		if (mean_quirky(s, Q_TRAILING))
			xdr_put_u32(r->x, 0);
	}
	return status;
}

static bool get_sequence(const struct rpc_req *req, uint32_t *nops, struct nfs4_args *a)
{
	struct xdr_in x = req->args;
	struct nfs4_compound_args head;

	if (nfs4_get_compound_args(&x, &head) || !head.nops || nfs4_get_args(&x, a))
		return false;
	*nops = head.nops;
	return a->op == OP_SEQUENCE;
}

/* Keeps the answer to req under the slot and sequence ID of req. */
static void keep_answer(
	struct mean_srv *s, struct rpc_req *req, const struct nfs4_args *seq, uint32_t nops)
{
	const struct xdr_out *x = &req->res;

	assert_true(x->len <= sizeof(s->kept.reply));
	s->kept.slot = seq->u.sequence.slotid;
	s->kept.seq = seq->u.sequence.sequenceid;
	s->kept.nops = nops;
	s->kept.len = x->len;
	memcpy(s->kept.reply, x->base, x->len);
}

static void say(struct rpc_req *req, uint32_t status)
{
	struct nfs4_opaque tag = {.len = 0};
	struct xdr_out *x = &req->res;
	size_t at;

	x->len = 0;
	at = nfs4_begin_compound_res(x, &tag);
	nfs4_put_op_res(x, OP_SEQUENCE, status);
	nfs4_end_compound_res(x, at, status, 1);
}

/* A server that looks at slot and sequence ID alone: returns the kept answer, even to another
 * request. */
static bool answer_kept(struct mean_srv *s, struct rpc_req *req)
{
	struct nfs4_args a;
	uint32_t nops;

	if (!s->kept.len || !get_sequence(req, &nops, &a) || a.u.sequence.slotid != s->kept.slot ||
		a.u.sequence.sequenceid != s->kept.seq)
		return false;
	s->mixups += nops != s->kept.nops;
	if (!s->kept.delays && s->kept.refusals) {
		s->kept.refusals--;
		rpc_req_reply(req, RPC_ACCEPT_GARBAGE_ARGS);
		return true;
	}
	assert_int_equal(rpc_req_begin(req, RES_CAP), 0);
	if (s->kept.delays) {
		s->kept.delays--;
		say(req, NFS4ERR_DELAY);
	} else if (s->kept.strays) {
		s->kept.strays--;
		say(req, NFS4ERR_BADSESSION);
	} else {
		memcpy(req->res.base, s->kept.reply, s->kept.len);
		req->res.len = s->kept.len;
	}
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
	return true;
}

void mean_reboot_locked(struct mean_srv *s)
{
	s->nclients = s->nsessions = s->nopens = 0;
	s->reclaiming = s->locks.reclaiming = true;
	s->layouts.held = false;
	mean_lock_drop(&s->locks, 0);
	mean_deleg_forget(&s->delegs);
	memset(s->opens, 0, sizeof(s->opens));
}

static void compound(struct mean_srv *s, struct rpc_req *req)
{
	struct run r = {.s = s, .req = req, .x = &req->res, .failing = has_op(req, s->fail_op)};
	struct nfs4_compound_args head;
	uint32_t status = NFS4_OK, nops;
	struct nfs4_args seq;
	bool busy, cut, session;
	size_t at;

	if (answer_kept(s, req))
		return;
	cut = s->cut_times && has_op(req, s->cut_op);
	session = get_sequence(req, &nops, &seq);
	busy = has_op(req, OP_OPEN) && session && mean_quirky(s, Q_BUSY);
	assert_int_equal(nfs4_get_compound_args(&req->args, &head), 0);
	assert_int_equal(rpc_req_begin(req, RES_CAP), 0);
	at = nfs4_begin_compound_res(r.x, &head.tag);
	if (head.minor != s->minor)
		status = NFS4ERR_MINOR_VERS_MISMATCH;
	for (uint32_t i = 0; i < head.nops && status == NFS4_OK; i++) {
		r.last = i + 1 == head.nops;
		status = one_op(&r);
	}
	nfs4_end_compound_res(r.x, at, status, r.n);
	if (cut) {
		s->cut_times--;
		atomic_store(&s->cut, true);
	}
	if (cut && s->cut_status) {
		s->nsessions = 0;
		s->fail_op = s->cut_op;
		s->fail_status = s->cut_status;
		s->fail_times = 1;
	} else if (session && (busy || cut))
		keep_answer(s, req, &seq, nops);
	if (busy)
		say(req, NFS4ERR_DELAY);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static void service(void *ctx, struct rpc_req *req)
{
	struct mean_srv *s = ctx;

	if (req->proc != NFS4_PROC_COMPOUND) {
		bool null = req->proc == NFS4_PROC_NULL && rpc_req_begin(req, 0) == 0;

		rpc_req_reply(req, null ? RPC_ACCEPT_SUCCESS : RPC_ACCEPT_PROC_UNAVAIL);
		return;
	}
	pthread_mutex_lock(&s->lock);
	if (s->hold_op && s->nheld < MEAN_HELD && has_op(req, s->hold_op))
		s->held[s->nheld++] = req;
	else if (mean_quirky(s, Q_DROP))
		rpc_req_drop(req);
	else
		compound(s, req);
	pthread_cond_broadcast(&s->cond);
	pthread_mutex_unlock(&s->lock);
}

static enum fault_kind hold_back(
	void *ctx, const struct rpc_req *req, struct fault_note *note, bool reply, unsigned *delay)
{
	struct mean_srv *s = ctx;

	if (!reply)
		return FAULT_NONE;
	*delay = atomic_load(&s->reply_ms);
	return atomic_exchange(&s->cut, false) ? FAULT_CLOSE : FAULT_NONE;
}

static int wrap(void *ctx, struct rpc_xprt *x)
{
	return fault_xprt_wrap(x, hold_back, ctx);
}

/* --- for tests ----------------------------------------------------------------------------- */

struct rpc_server *mean_listen(struct mean_srv *s, uint32_t addr, uint16_t port)
{
	struct rpc_server_params p = {
		.proto = RPC_TCP, .service = service, .wrap = wrap, .ctx = s, .pool = s->pool};
	struct sockaddr_in *sin = (struct sockaddr_in *)&p.addr;
	struct err e = {.kind = ERR_NONE};
	struct rpc_server *server;

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(addr);
	sin->sin_port = htons(port);
	p.addr_len = sizeof(*sin);
	server = rpc_server_new(&p, &e);
	assert_non_null(server);
	return server;
}

void mean_start(struct mean_srv *s)
{
	memset(s, 0, sizeof(*s));
	mean_file_init();
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->cond, NULL);
	s->pool = mem_pool_new(0);
	s->slots = MEAN_SLOTS;
	s->io_max = 1 << 20;
	s->size = FILE_SIZE;
	s->change = 1;
	s->minor = 1;
	s->lease_s = 30;
	s->server = mean_listen(s, INADDR_LOOPBACK, 0);
}

void mean_stop(struct mean_srv *s)
{
	mean_release(s);
	mean_lock_drop(&s->locks, 0);
	lock_ranges_finish(&s->locks.others);
	if (s->xprt)
		rpc_xprt_unref(s->xprt);
	mean_unbind_all(s);
	rpc_server_free(s->server);
	mem_pool_free(s->pool);
	pthread_cond_destroy(&s->cond);
	pthread_mutex_destroy(&s->lock);
}

void mean_release(struct mean_srv *s)
{
	mean_release_hold(s, 0);
}

void mean_release_hold(struct mean_srv *s, uint32_t op)
{
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < s->nheld; i++)
		compound(s, s->held[i]);
	s->nheld = 0;
	s->hold_op = op;
	pthread_cond_broadcast(&s->cond);
	pthread_mutex_unlock(&s->lock);
}

bool mean_wait(struct mean_srv *s, const unsigned *counter, unsigned n)
{
	struct timespec t;
	bool ok;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 60;
	pthread_mutex_lock(&s->lock);
	while (*counter < n && pthread_cond_timedwait(&s->cond, &s->lock, &t) == 0)
		;
	ok = *counter >= n;
	pthread_mutex_unlock(&s->lock);
	return ok;
}

void mean_reboot(struct mean_srv *s)
{
	pthread_mutex_lock(&s->lock);
	mean_reboot_locked(s);
	pthread_mutex_unlock(&s->lock);
}

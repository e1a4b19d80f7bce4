/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-session: client IDs, sessions and callbacks of mean-nfs4.
 */
#include "tests/unit/nfsproto/v4/mean-run.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

static uint32_t do_exchange_id(struct run *r, const struct nfs4_exchange_id_args *a)
{
	struct mean_srv *s = r->s;
	const char *name = s->name ? s->name : "mean";
	struct nfs4_exchange_id_res res = {
		.sequenceid = 1,
		.flags = s->layouts.gives ? EXCHGID4_FLAG_USE_PNFS_MDS : EXCHGID4_FLAG_USE_NON_PNFS,
		.server_major_id = {.data = (const uint8_t *)name, .len = (uint32_t)strlen(name)},
		.server_scope = {.data = (const uint8_t *)"mean", .len = 4},
		.protect = s->protect,
	};

	s->roles_asked = a->flags;
	if (!s->no_data_server)
		res.flags |= a->flags & EXCHGID4_FLAG_USE_PNFS_DS;
	if (memcmp(s->client_verf, a->verf, sizeof(s->client_verf)) !=
		0) /* the client began anew */
		s->nclients = s->nopens = 0;
	memcpy(s->client_verf, a->verf, sizeof(s->client_verf));
	s->client_owner_len =
		a->ownerid.len < sizeof(s->client_owner) ? a->ownerid.len : sizeof(s->client_owner);
	memcpy(s->client_owner, a->ownerid.data, s->client_owner_len);
	if (s->nclients && s->create_seq) {
		res.flags |= EXCHGID4_FLAG_CONFIRMED_R;
		res.sequenceid = 0; /* says nothing */
	} else if (!s->nclients) {
		s->clientid++;
		s->create_seq = 0;
	}
	s->nclients = 1;
	res.clientid = s->clientid;
	nfs4_put_exchange_id_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

void mean_session_id(const struct mean_srv *s, struct nfs4_sessionid *id)
{
	memset(id, 's', sizeof(*id));
	memcpy(id->id, &s->session_no, sizeof(s->session_no));
}

static int bound_at(const struct mean_srv *s, const struct rpc_req *req)
{
	for (unsigned i = 0; i < s->nbound; i++)
		if (s->bound[i] == req->xprt)
			return (int)i;
	return -1;
}

static void bind_conn(struct mean_srv *s, const struct rpc_req *req)
{
	if (bound_at(s, req) >= 0 || s->nbound == MEAN_BOUND)
		return;
	s->bound[s->nbound++] = rpc_xprt_ref(req->xprt);
}

void mean_unbind_all(struct mean_srv *s)
{
	while (s->nbound > 0)
		rpc_xprt_unref(s->bound[--s->nbound]);
}

static void use_for_callbacks(struct run *r)
{
	struct rpc_xprt *before = r->s->xprt;

	r->s->xprt = rpc_xprt_ref(r->req->xprt);
	if (before)
		rpc_xprt_unref(before);
}

static uint32_t do_create_session(struct run *r, const struct nfs4_create_session_args *a)
{
	struct mean_srv *s = r->s;
	struct nfs4_create_session_res res = {
		.sequence = a->sequence,
		.flags = s->no_back ? 0 : CREATE_SESSION4_FLAG_CONN_BACK_CHAN,
		.fore = a->fore,
		.back = a->back,
	};

	if (!s->nclients || a->clientid != s->clientid) {
		nfs4_put_op_res(r->x, OP_CREATE_SESSION, NFS4ERR_STALE_CLIENTID);
		return NFS4ERR_STALE_CLIENTID;
	}
	if (a->sequence == s->create_seq && s->nsessions) { /* the answer was lost */
		res.fore.maxrequests = s->slots;
		mean_session_id(s, &res.session);
		nfs4_put_create_session_res(r->x, NFS4_OK, &res);
		return NFS4_OK;
	}
	if (a->sequence != s->create_seq + 1) {
		nfs4_put_op_res(r->x, OP_CREATE_SESSION, NFS4ERR_SEQ_MISORDERED);
		return NFS4ERR_SEQ_MISORDERED;
	}
	s->create_seq++;
	s->session_no++;
	s->nsessions = 1;
	memset(s->seq, 0, sizeof(s->seq));
	s->kept.len = 0;
	res.fore.maxrequests = s->slots;
	if (s->cached_max)
		res.fore.maxresponsesize_cached = s->cached_max;
	if (s->ops_max)
		res.fore.maxoperations = s->ops_max;
	if (s->request_max)
		res.fore.maxrequestsize = s->request_max;
	if (s->response_max)
		res.fore.maxresponsesize = s->response_max;
	mean_unbind_all(s);
	bind_conn(s, r->req);
	use_for_callbacks(r);
	mean_session_id(s, &res.session);
	nfs4_put_create_session_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t do_sequence(struct run *r, const struct nfs4_sequence_args *a)
{
	struct mean_srv *s = r->s;
	struct nfs4_sequence_res res = {
		.session = a->session,
		.sequenceid = a->sequenceid,
		.slotid = a->slotid,
		.highest_slotid = s->slots - 1,
		.target_highest_slotid = (s->target ? s->target : s->slots) - 1,
		.status_flags = s->status_flags,
	};
	struct nfs4_sessionid mine;
	uint32_t status = NFS4_OK;

	mean_session_id(s, &mine);
	if (!s->nsessions || memcmp(&mine, &a->session, sizeof(mine)) != 0)
		status = NFS4ERR_BADSESSION;
	else if (s->strict && bound_at(s, r->req) < 0)
		status = NFS4ERR_CONN_NOT_BOUND_TO_SESSION;
	else if (a->slotid >= s->slots || a->highest_slotid >= s->slots)
		status = NFS4ERR_BADSLOT;
	else if (a->sequenceid == s->seq[a->slotid]) {
		s->replays++;
		status = NFS4ERR_SEQ_FALSE_RETRY;
	} else if (a->sequenceid != s->seq[a->slotid] + 1) {
		s->misordered++;
		status = NFS4ERR_SEQ_MISORDERED;
	}
	if (status) {
		nfs4_put_op_res(r->x, OP_SEQUENCE, status);
		return status;
	}
	s->seq[a->slotid]++;
	if (bound_at(s, r->req) >= 0)
		s->sequences[bound_at(s, r->req)]++;
	if (mean_quirky(s, Q_WRONG_SLOT))
		res.slotid++;
	res.session.id[15] ^= s->wrong_session == OP_SEQUENCE;
	s->uncached += !a->cachethis && r->failing;
	nfs4_put_sequence_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t do_bind(struct run *r, const struct nfs4_bind_conn_to_session_args *a)
{
	struct nfs4_bind_conn_to_session_res res = {
		.session = a->session,
		.dir = a->dir == CDFC4_FORE ? CDFS4_FORE : CDFS4_BOTH,
	};
	struct nfs4_sessionid mine;

	mean_session_id(r->s, &mine);
	if (!r->s->nsessions || memcmp(&mine, &a->session, sizeof(mine)) != 0) {
		nfs4_put_op_res(r->x, OP_BIND_CONN_TO_SESSION, NFS4ERR_BADSESSION);
		return NFS4ERR_BADSESSION;
	}
	bind_conn(r->s, r->req);
	if (a->dir != CDFC4_FORE)
		use_for_callbacks(r);
	r->s->bind_dir = a->dir;
	res.session.id[15] ^= r->s->wrong_session == OP_BIND_CONN_TO_SESSION;
	nfs4_put_bind_conn_to_session_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t mean_session_op(struct run *r, const struct nfs4_args *a)
{
	struct mean_srv *s = r->s;

	switch (a->op) {
	case OP_EXCHANGE_ID:
		return do_exchange_id(r, &a->u.exchange_id);
	case OP_CREATE_SESSION:
		return do_create_session(r, &a->u.create_session);
	case OP_SEQUENCE:
		return do_sequence(r, &a->u.sequence);
	case OP_BIND_CONN_TO_SESSION:
		return do_bind(r, &a->u.bind_conn_to_session);
	case OP_DESTROY_SESSION:
		s->nsessions = 0;
		return mean_plain(r, a->op, NFS4_OK);
	case OP_DESTROY_CLIENTID:
		if (s->nsessions || s->nopens)
			return mean_plain(r, a->op, NFS4ERR_CLIENTID_BUSY);
		s->nclients = 0;
		return mean_plain(r, a->op, NFS4_OK);
	case OP_RECLAIM_COMPLETE:
		s->reclaiming = false;
		return mean_plain(r, a->op, NFS4_OK);
	default:
		return mean_plain(r, a->op, NFS4ERR_NOTSUPP);
	}
}

void mean_lose_session(struct mean_srv *s)
{
	pthread_mutex_lock(&s->lock);
	s->nsessions = 0;
	pthread_mutex_unlock(&s->lock);
}

struct recall {
	struct rpc_call call;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool ended;
	int error; /* of the call: 0 or a negative errno */
	uint32_t status;
	uint64_t *change, *size; /* CB_GETATTR: where to put the answer */
};

static void take_getattr(struct recall *r, struct xdr_in *res)
{
	struct nfs4_cb_sequence_res sr;
	struct nfs4_attrs a;
	uint32_t status;

	assert_int_equal(nfs4_get_op_res(res, OP_CB_SEQUENCE, &status), 0);
	assert_int_equal(nfs4_get_cb_sequence_res(res, status, &sr), 0);
	assert_int_equal(nfs4_get_op_res(res, OP_CB_GETATTR, &status), 0);
	assert_int_equal(nfs4_get_attrs(res, &a, NULL), 0);
	assert_true(nfs4_bit(&a.mask, FATTR4_CHANGE) && nfs4_bit(&a.mask, FATTR4_SIZE));
	*r->change = a.attr.change;
	*r->size = a.attr.size;
}

static void recall_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct recall *r = call->ctx;
	struct nfs4_compound_res head = {.status = 0xffffffff};

	r->error = error;
	if (!error && nfs4_get_compound_res(res, &head) == 0)
		r->status = head.status;
	if (r->status == NFS4_OK && r->change)
		take_getattr(r, res);
	rpc_call_finish(call);
	pthread_mutex_lock(&r->lock);
	r->ended = true;
	pthread_cond_signal(&r->cond);
	pthread_mutex_unlock(&r->lock);
}

typedef void put_fn(struct xdr_out *x, const void *args);

/* A reference to the backchannel, which is another connection than `gone`. The client binds its
 * next connection some time after the first call on that connection. */
static struct rpc_xprt *backchannel(struct mean_srv *s, const struct rpc_xprt *gone)
{
	struct rpc_xprt *x = NULL;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 60;
	pthread_mutex_lock(&s->lock);
	while (s->xprt == gone && pthread_cond_timedwait(&s->cond, &s->lock, &t) == 0)
		;
	if (s->xprt != gone)
		x = rpc_xprt_ref(s->xprt);
	pthread_mutex_unlock(&s->lock);
	return x;
}

/* One call on x. Returns 0 or a negative errno. */
static int call_on(struct recall *r, struct mean_srv *s, struct rpc_xprt *x, uint32_t seq,
	put_fn *put, const void *args)
{
	struct nfs4_cb_sequence_args sa = {.sequenceid = seq};
	size_t at;
	int rc;

	pthread_mutex_lock(&s->lock);
	mean_session_id(s, &sa.session);
	pthread_mutex_unlock(&s->lock);
	assert_int_equal(rpc_cb_init(&r->call, x, NFS4_CB_PROGRAM, 1, 1024), 0);
	r->call.proc = NFS4_CB_COMPOUND;
	r->call.done = recall_done;
	r->call.ctx = r;
	r->call.reply_max = 512;
	r->ended = false;
	at = nfs4_put_cb_compound_args(&r->call.args, "", 1, 0);
	nfs4_put_cb_sequence_args(&r->call.args, &sa);
	put(&r->call.args, args);
	xdr_patch_u32(&r->call.args, at, 2);
	rc = rpc_cb_submit(&r->call);
	if (rc) {
		rpc_call_finish(&r->call);
		return rc;
	}
	pthread_mutex_lock(&r->lock);
	while (!r->ended)
		pthread_cond_wait(&r->cond, &r->lock);
	pthread_mutex_unlock(&r->lock);
	return r->error;
}

/* Sends CB_SEQUENCE and the operation that put() encodes from args. If the connection has ended,
 * sends them again on the next one. */
static uint32_t call_back(struct mean_srv *s, uint32_t seq, put_fn *put, const void *args,
	uint64_t *change, uint64_t *size)
{
	struct recall r = {.lock = PTHREAD_MUTEX_INITIALIZER,
		.cond = PTHREAD_COND_INITIALIZER,
		.status = 0xfffffffe,
		.change = change,
		.size = size};
	struct rpc_xprt *x = NULL;
	int rc = -ENOTCONN;

	while (rc == -ENOTCONN) {
		struct rpc_xprt *gone = x;

		x = backchannel(s, gone);
		rpc_xprt_unref(gone);
		if (!x)
			break;
		rc = call_on(&r, s, x, seq, put, args);
	}
	rpc_xprt_unref(x);
	assert_int_equal(rc, 0);
	return r.status;
}

static void put_recall(struct xdr_out *x, const void *args)
{
	nfs4_put_cb_recall_args(x, args);
}

static void put_getattr(struct xdr_out *x, const void *args)
{
	nfs4_put_cb_getattr_args(x, args);
}

static void put_layoutrecall(struct xdr_out *x, const void *args)
{
	nfs4_put_cb_layoutrecall_args(x, args);
}

static void put_notify_deviceid(struct xdr_out *x, const void *args)
{
	nfs4_put_cb_notify_deviceid_args(x, args);
}

static void put_notify_lock(struct xdr_out *x, const void *args)
{
	nfs4_put_cb_notify_lock_args(x, args);
}

uint32_t mean_recall(
	struct mean_srv *s, uint32_t seq, const struct nfs_fh *fh, const struct nfs4_stateid *id)
{
	struct nfs4_cb_recall_args a = {.stateid = *id, .fh = *fh};

	return call_back(s, seq, put_recall, &a, NULL, NULL);
}

uint32_t mean_cb_getattr(
	struct mean_srv *s, uint32_t seq, const struct nfs_fh *fh, uint64_t *change, uint64_t *size)
{
	struct nfs4_cb_getattr_args a = {
		.fh = *fh, .want = nfs4_bits(FATTR4_CHANGE, FATTR4_SIZE, -1)};

	return call_back(s, seq, put_getattr, &a, change, size);
}

uint32_t mean_layoutrecall(
	struct mean_srv *s, uint32_t seq, const struct nfs4_cb_layoutrecall_args *a)
{
	return call_back(s, seq, put_layoutrecall, a, NULL, NULL);
}

uint32_t mean_notify_deviceid(
	struct mean_srv *s, uint32_t seq, const struct nfs4_cb_notify_deviceid_args *a)
{
	return call_back(s, seq, put_notify_deviceid, a, NULL, NULL);
}

uint32_t mean_notify_lock(
	struct mean_srv *s, uint32_t seq, const struct nfs_fh *fh, const struct nfs4_opaque *owner)
{
	struct nfs4_cb_notify_lock_args a = {.fh = *fh, .owner = {.owner = *owner}};

	return call_back(s, seq, put_notify_lock, &a, NULL, NULL);
}

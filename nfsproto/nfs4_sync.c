/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_sync: calls that a thread waits for, and the kinds of op that only such calls have: client
 * ID, session, the walk to the export. Used by the mounting thread, then the state manager, then
 * the unmounting thread: never by two at once.
 *
 * A sync op passes the gate, never queues for a slot and is never retried behind its caller's back:
 * every failure comes back, with the nfsstat4 beside the errno.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "nfsproto/nfs4_client.h"
#include "transport/log.h"

#define MSG_OVERHEAD 4096u /* request or reply around 1 MiB of data, generously */
#define IO_MAX	     (1u << 20)
#define CACHED_MAX   8192u
/* OPEN's reply is the longest of those that must be cached: 500 bytes and the RPC header. What
 * comes behind a change in the same COMPOUND (attributes) may fail, and is then asked for by
 * itself. */
#define CACHED_NEEDED 576u
#define BACK_MAX      4068u /* what a 4096-byte receive buffer leaves of an RPC-over-RDMA message */
#define OPS_WANTED    32u
#define OPS_NEEDED    8u /* the longest COMPOUND: SEQUENCE and OPEN with truncation is 6 */
#define PUMP_MS	      50u

/* --- waiting ------------------------------------------------------------------------------- */

static void sync_done(struct nfs_op *op)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);

	pthread_mutex_lock(&s->lock);
	s->ended = true;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->lock);
}

/* Waits for the end; true if it came within ms. The state manager keeps ending cancelled ops. */
static bool sync_wait(struct nfs4_client *c, struct nfs4_sync *s, unsigned ms)
{
	uint64_t until = nfs4_now_ns() + ms * NFS4_MSEC;
	bool ended = false;

	while (!ended && nfs4_now_ns() < until) {
		uint64_t step = nfs4_now_ns() + PUMP_MS * NFS4_MSEC;
		struct timespec t = {
			.tv_sec = (time_t)(step / NFS4_SEC), .tv_nsec = (long)(step % NFS4_SEC)};

		pthread_mutex_lock(&s->lock);
		while (!s->ended && pthread_cond_timedwait(&s->cond, &s->lock, &t) == 0)
			;
		ended = s->ended;
		pthread_mutex_unlock(&s->lock);
		nfs4_state_pump(c);
	}
	return ended;
}

static void sync_join(struct nfs4_sync *s)
{
	pthread_mutex_lock(&s->lock);
	while (!s->ended)
		pthread_cond_wait(&s->cond, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

/* State of an open belongs to the user who opened it, also when it is made anew: the mount's own
 * user may not even be allowed to look at the file. */
static const struct rpc_cred *sync_cred(
	const struct nfs4_client *c, const struct nfs4_sync *s, unsigned kind)
{
	if (kind == NFS_CLOSE)
		return &s->u.close->own.cred;
	if (kind == NFS4_K_RELOCK)
		return &s->u.relock.ctx->open->own.cred;
	return kind == NFS4_K_REOPEN ? &s->u.reopen.open->own.cred : &c->cred;
}

int nfs4_sync_run(struct nfs4_client *c, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms)
{
	struct nfs_open *close = kind == NFS_CLOSE ? s->u.close : NULL;
	struct nfs4_slot *slot = kind == NFS4_K_SEQUENCE ? s->op.slot : NULL;
	pthread_condattr_t attr;
	bool in_time, stop;

	memset(&s->op, 0, sizeof(s->op));
	s->op.type = NFS_OP_TYPES;
	s->op.client = &c->base;
	s->op.cred = *sync_cred(c, s, kind);
	s->op.done = sync_done;
	s->op.be.v4.kind = (uint8_t)kind;
	s->op.be.v4.flags = NFS4_F_PRIV | (slot ? NFS4_F_SLOT_SET : 0);
	s->op.be.v4.open = close;
	s->op.slot = slot;
	s->status = 0;
	s->walked = 0;
	s->ended = false;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->cond, &attr);
	pthread_condattr_destroy(&attr);

	pthread_mutex_lock(&c->slots.lock);
	c->sync = s;
	stop = c->stop_thread && c->thread_up && pthread_equal(pthread_self(), c->thread);
	if (stop)
		s->op.be.v4.cancelled = true;
	pthread_mutex_unlock(&c->slots.lock);
	nfs4_task_start(c, &s->op);
	in_time = sync_wait(c, s, timeout_ms);
	pthread_mutex_lock(&c->slots.lock);
	if (!in_time)
		nfs4_task_cancel_locked(c, &s->op);
	pthread_mutex_unlock(&c->slots.lock);
	sync_join(s);
	pthread_mutex_lock(&c->slots.lock);
	c->sync = NULL;
	pthread_mutex_unlock(&c->slots.lock);
	pthread_cond_destroy(&s->cond);
	pthread_mutex_destroy(&s->lock);
	if (!in_time && s->op.error == -EINTR)
		s->op.error = -ETIMEDOUT;
	return s->op.error;
}

/* --- EXCHANGE_ID --------------------------------------------------------------------------- */

void nfs4_put_op_exchange_id(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_exchange_id_args a = {
		.ownerid = {.data = (const uint8_t *)c->owner, .len = (uint32_t)strlen(c->owner)},
		.flags = EXCHGID4_FLAG_USE_NON_PNFS,
		.protect = SP4_NONE,
	};

	memcpy(a.verf, c->verf, sizeof(a.verf));
	nfs4_put_exchange_id_args(k->x, &a);
	nfs4_comp_count(k, OP_EXCHANGE_ID, 0);
}

static void keep_server_owner(struct nfs4_client *c, const struct nfs4_opaque *major)
{
	char *out = c->base.info.server_owner;
	size_t room = sizeof(c->base.info.server_owner) - 1;
	size_t n = major->len < room ? major->len : room;

	for (size_t i = 0; i < n; i++)
		out[i] = major->data[i] >= 0x20 && major->data[i] < 0x7f ? (char)major->data[i]
									 : '.';
	out[n] = '\0';
}

int nfs4_get_op_exchange_id(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_exchange_id_res res;
	int rc = nfs4_reply_op(r, OP_EXCHANGE_ID);

	if (rc)
		return rc;
	if (nfs4_get_exchange_id_res(r->x, NFS4_OK, &res) || res.protect != SP4_NONE)
		return -EBADMSG;
	s->u.exchange_id.clientid = res.clientid;
	s->u.exchange_id.sequence = res.sequenceid;
	s->u.exchange_id.flags = res.flags;
	if (!c->base.info.server_owner[0])
		keep_server_owner(c, &res.server_major_id);
	return 0;
}

int nfs4_sync_exchange_id(struct nfs4_client *c, struct nfs4_sync *s, unsigned timeout_ms)
{
	int rc = nfs4_sync_run(c, s, NFS4_K_EXCHANGE_ID, timeout_ms);

	if (rc)
		return rc;
	c->confirmed = (s->u.exchange_id.flags & EXCHGID4_FLAG_CONFIRMED_R) && c->have_clientid &&
		       c->clientid == s->u.exchange_id.clientid;
	c->clientid = s->u.exchange_id.clientid;
	/* RFC 8881 18.35.3: of a confirmed one it is to be ignored; but ours has proved wrong */
	if (!c->confirmed || c->create_misordered)
		c->create_seq = s->u.exchange_id.sequence;
	c->create_misordered = false;
	c->have_clientid = true;
	return 0;
}

/* --- CREATE_SESSION ------------------------------------------------------------------------ */

void nfs4_put_op_create_session(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_create_session_args a = {
		.clientid = c->clientid,
		.sequence = c->create_seq,
		.flags = CREATE_SESSION4_FLAG_CONN_BACK_CHAN,
		.fore = {.maxrequestsize = IO_MAX + MSG_OVERHEAD,
			.maxresponsesize = IO_MAX + MSG_OVERHEAD,
			.maxresponsesize_cached = CACHED_MAX,
			.maxoperations = OPS_WANTED,
			.maxrequests = c->slots_wanted},
		.back = {.maxrequestsize = BACK_MAX,
			.maxresponsesize = BACK_MAX,
			.maxresponsesize_cached = NFS4_CB_CACHED,
			.maxoperations = NFS4_CB_OPS,
			.maxrequests = NFS4_CB_SLOTS},
		.cb_program = NFS4_CB_PROGRAM,
		.nsec = 1,
		.sec = {{.flavor = NFS4_AUTH_NONE}},
	};

	nfs4_put_create_session_args(k->x, &a);
	nfs4_comp_count(k, OP_CREATE_SESSION, 0);
}

static bool session_too_small(struct nfs4_client *c)
{
	const struct nfs4_channel_attrs *a = &c->fore;

	c->refused[0] = '\0';
	if (a->maxrequests == 0 || a->maxoperations < OPS_NEEDED ||
		a->maxrequestsize < 2 * MSG_OVERHEAD || a->maxresponsesize < 2 * MSG_OVERHEAD)
		snprintf(c->refused, sizeof(c->refused),
			"%s: the session is too small: %u slots, %u operations, requests of %u "
			"bytes, replies of %u bytes",
			c->server, a->maxrequests, a->maxoperations, a->maxrequestsize,
			a->maxresponsesize);
	else if (a->maxresponsesize_cached < CACHED_NEEDED)
		snprintf(c->refused, sizeof(c->refused),
			"%s keeps replies of %u bytes only for being asked again, an OPEN needs %u:"
			" a lost connection could make it fail or happen twice",
			c->server, a->maxresponsesize_cached, CACHED_NEEDED);
	return c->refused[0] != '\0';
}

int nfs4_get_op_create_session(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_create_session_res res;
	int rc = nfs4_reply_op(r, OP_CREATE_SESSION);

	if (rc)
		return rc;
	if (nfs4_get_create_session_res(r->x, NFS4_OK, &res))
		return -EBADMSG;
	c->session = res.session; /* it is there, and must go again, even if it is of no use */
	c->fore = res.fore;
	c->create_seq++;
	c->have_session = true;
	if (session_too_small(c)) {
		log_error("%s", c->refused);
		return -EREMOTEIO;
	}
	nfs4_cb_session(&c->cb, &res.session);
	if (!(res.flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN))
		log_info("%s: the server takes no backchannel on this connection", c->server);
	log_ctrl("%s: session with %u slots, %u operations, requests of %u and replies of %u bytes",
		c->server, res.fore.maxrequests, res.fore.maxoperations, res.fore.maxrequestsize,
		res.fore.maxresponsesize);
	return 0;
}

int nfs4_sync_create_session(struct nfs4_client *c, struct nfs4_sync *s, unsigned timeout_ms)
{
	int rc = nfs4_sync_run(c, s, NFS4_K_CREATE_SESSION, timeout_ms);
	uint32_t n = c->fore.maxrequests;

	c->create_misordered = rc && s->status == NFS4ERR_SEQ_MISORDERED;
	if (rc)
		return rc;
	pthread_mutex_lock(&c->slots.lock);
	nfs4_slots_reset_locked(&c->slots, n < c->slots_wanted ? n : c->slots_wanted);
	pthread_mutex_unlock(&c->slots.lock);
	return 0;
}

/* --- the rest of the session's operations -------------------------------------------------- */

void nfs4_put_op_bind(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_bind_conn_to_session_args a = {
		.session = c->session,
		.dir = CDFC4_FORE_OR_BOTH,
	};

	nfs4_put_bind_conn_to_session_args(k->x, &a);
	nfs4_comp_count(k, OP_BIND_CONN_TO_SESSION, 0);
}

int nfs4_get_op_bind(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_bind_conn_to_session_res res;
	int rc = nfs4_reply_op(r, OP_BIND_CONN_TO_SESSION);

	if (rc)
		return rc;
	if (nfs4_get_bind_conn_to_session_res(r->x, NFS4_OK, &res) ||
		memcmp(&res.session, &c->session, sizeof(res.session)) != 0)
		return -EBADMSG;
	log_ctrl("%s: the connection is bound to the session%s", c->server,
		res.dir == CDFS4_FORE ? ", but not to its backchannel" : "");
	return 0;
}

void nfs4_put_op_destroy_session(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_destroy_session_args a = {.session = c->session};

	nfs4_put_destroy_session_args(k->x, &a);
	nfs4_comp_count(k, OP_DESTROY_SESSION, 0);
}

int nfs4_get_op_destroy_session(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	return nfs4_reply_op(r, OP_DESTROY_SESSION);
}

void nfs4_put_op_destroy_clientid(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_destroy_clientid_args a = {.clientid = c->clientid};

	nfs4_put_destroy_clientid_args(k->x, &a);
	nfs4_comp_count(k, OP_DESTROY_CLIENTID, 0);
}

int nfs4_get_op_destroy_clientid(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	return nfs4_reply_op(r, OP_DESTROY_CLIENTID);
}

void nfs4_put_op_reclaim_complete(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_reclaim_complete_args a = {.one_fs = false};

	nfs4_put_reclaim_complete_args(k->x, &a);
	nfs4_comp_count(k, OP_RECLAIM_COMPLETE, 0);
}

int nfs4_get_op_reclaim_complete(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_RECLAIM_COMPLETE);

	if (rc == NFS4ERR_COMPLETE_ALREADY) {
		r->status = NFS4_OK;
		return 0;
	}
	return rc;
}

/* --- the walk to the export ---------------------------------------------------------------- */

/* Calls fn for each name of path, which begin after separators. Returns how many. */
static unsigned each_name(
	const char *path, void (*fn)(void *ctx, const struct nfs_name *n), void *ctx)
{
	unsigned count = 0;

	while (*path) {
		struct nfs_name n = {.s = path, .len = (uint32_t)strcspn(path, "/")};

		if (n.len > 0) {
			if (fn)
				fn(ctx, &n);
			count++;
		}
		path += n.len;
		while (*path == '/')
			path++;
	}
	return count;
}

static void put_walk_name(void *ctx, const struct nfs_name *n)
{
	nfs4_comp_lookup(ctx, n);
}

void nfs4_put_walk_path(struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);

	if (s->u.walk.from_len)
		nfs4_comp_putfh(k, &s->u.walk.fh);
	else
		nfs4_comp_op(k, OP_PUTROOTFH);
	each_name(s->u.walk.path, put_walk_name, k);
}

int nfs4_get_walk_path(struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	unsigned n = each_name(s->u.walk.path, NULL, NULL);
	int rc = nfs4_reply_op(r, s->u.walk.from_len ? OP_PUTFH : OP_PUTROOTFH);

	while (!rc && n-- > 0)
		rc = nfs4_reply_op(r, OP_LOOKUP);
	return rc;
}

void nfs4_put_op_walk(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_bitmap want = nfs4_bits_stat();

	nfs4_put_walk_path(op, k);
	nfs4_comp_op(k, OP_GETFH);
	nfs4_comp_getattr(k, &want);
}

int nfs4_get_op_walk(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	int rc = nfs4_get_walk_path(op, r);

	if (!rc)
		rc = nfs4_reply_getfh(r, &s->u.walk.fh);
	return rc ? rc : nfs4_reply_stat(r, &s->u.walk.attr);
}

void nfs4_put_op_fsinfo(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_bitmap want = s->u.fsinfo.mask;

	nfs4_comp_putfh(k, &c->base.root);
	nfs4_comp_getattr(k, &want);
}

int nfs4_get_op_fsinfo(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	int rc = nfs4_reply_op(r, OP_PUTFH);

	return rc ? rc : nfs4_reply_getattr(r, &s->u.fsinfo);
}

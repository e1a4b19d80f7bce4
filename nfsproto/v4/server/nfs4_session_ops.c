/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_session_ops: the kinds of op about client ID, session and stateids.
 */
#include "nfsproto/v4/server/nfs4_session_ops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nfsproto/v4/server/nfs4_replay.h"
#include "nfsproto/v4/server/nfs4_server_record.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/log.h"
#include "transport/quote.h"

#define MSG_OVERHEAD 4096u /* request or reply around 1 MiB of data, generously */
#define IO_MAX	     (1u << 20)
#define CACHED_MAX   8192u
/* OPEN's reply is the longest of the replies that must be cached: 500 bytes and the RPC header.
 * Operations behind a change in the same COMPOUND (attributes) may fail. Such an operation is then
 * sent alone. */
#define CACHED_NEEDED 576u
#define BACK_MAX      4068u /* the rest of a 4096-byte receive buffer for RPC-over-RDMA */
#define OPS_WANTED    32u
#define OPS_NEEDED    10u /* the longest COMPOUND: RENAME over a delegated file */

/* --- EXCHANGE_ID --------------------------------------------------------------------------- */

void nfs4_put_op_exchange_id(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_exchange_id_args a = {
		.ownerid = {.data = (const uint8_t *)srv->owner,
			.len = (uint32_t)strlen(srv->owner)},
		/* RFC 8881 section 13.1: the server chooses among the roles that are asked for */
		.flags = srv->roles,
		.protect = SP4_NONE,
	};

	memcpy(a.verf, srv->verf, sizeof(a.verf));
	nfs4_put_exchange_id_args(k->x, &a);
	nfs4_comp_count(k, OP_EXCHANGE_ID, 0);
}

static void keep(struct nfs4_kept *k, const struct nfs4_opaque *o)
{
	k->len = o->len < sizeof(k->data) ? o->len : sizeof(k->data);
	memcpy(k->data, o->data, k->len);
}

static bool is_kept(const struct nfs4_kept *k, const struct nfs4_opaque *o)
{
	return k->len == o->len && !memcmp(k->data, o->data, k->len);
}

static void keep_server_owner(struct nfs4_server *srv, const struct nfs4_exchange_id_res *r)
{
	keep(&srv->owner_major, &r->server_major_id);
	keep(&srv->scope, &r->server_scope);
	srv->owner_minor = r->server_minor_id;
	if (!srv->major_id[0])
		snprintf(srv->major_id, sizeof(srv->major_id), "%.127s",
			QUOTE(r->server_major_id.data, r->server_major_id.len));
}

static bool is_server_owner(const struct nfs4_server *srv, const struct nfs4_exchange_id_res *r)
{
	return is_kept(&srv->owner_major, &r->server_major_id) &&
	       is_kept(&srv->scope, &r->server_scope) && srv->owner_minor == r->server_minor_id;
}

enum nfs_outcome nfs4_get_op_exchange_id(
	struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_exchange_id_res res;
	int rc = nfs4_reply_op(r, OP_EXCHANGE_ID);

	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_exchange_id_res(r->x, NFS4_OK, &res) || res.protect != SP4_NONE)
		return nfs_failed(op, -EBADMSG);
	s->u.exchange_id.clientid = res.clientid;
	s->u.exchange_id.sequence = res.sequenceid;
	s->u.exchange_id.flags = res.flags;
	s->u.exchange_id.same = is_server_owner(srv, &res);
	if (s->u.exchange_id.compare)
		return NFS_DONE;
	/* the call may have waited until an address that is another server's by now was there */
	if (op->be.v4.conn->other && srv->have_clientid && !s->u.exchange_id.same)
		return nfs_failed(op, -EXDEV);
	keep_server_owner(srv, &res);
	return NFS_DONE;
}

int nfs4_sync_exchange_id(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms)
{
	int rc;

	s->u.exchange_id.compare = false;
	/* The server has this client from before a move, and the number that it tells for a
	 * confirmed client ID is wrong, too: the client begins anew there. */
	if (srv->create_misordered > 1 && !srv->borrowed)
		srv->verf[0]++;
	rc = nfs4_sync_run(srv, s, NFS4_K_EXCHANGE_ID, timeout_ms);
	if (rc)
		return rc;
	srv->confirmed = (s->u.exchange_id.flags & EXCHGID4_FLAG_CONFIRMED_R) &&
			 srv->have_clientid && srv->clientid == s->u.exchange_id.clientid;
	srv->clientid = s->u.exchange_id.clientid;
	srv->roles_given = s->u.exchange_id.flags & srv->roles;
	/* RFC 8881 18.35.3: the sequence id of a confirmed client ID is to be ignored; but the one
	 * that this client has kept has proved wrong */
	if (!srv->confirmed || srv->create_misordered)
		srv->create_seq = s->u.exchange_id.sequence;
	srv->have_clientid = true;
	return 0;
}

int nfs4_sync_same_server(struct nfs4_conn *conn, struct nfs4_sync *s, unsigned timeout_ms)
{
	struct nfs4_server *srv = conn->srv;
	int rc;

	s->u.exchange_id.compare = true;
	rc = nfs4_sync_run_as(conn, NULL, &srv->cred, NULL, s, NFS4_K_EXCHANGE_ID, timeout_ms);
	if (rc)
		return rc;
	if (s->op.be.v4.conn != conn)
		return -ENOTCONN; /* conn was lost, and another carried the call */
	return s->u.exchange_id.same && s->u.exchange_id.clientid == srv->clientid &&
			       (s->u.exchange_id.flags & EXCHGID4_FLAG_CONFIRMED_R)
		       ? 0
		       : -EXDEV;
}

/* --- CREATE_SESSION ------------------------------------------------------------------------ */

void nfs4_put_op_create_session(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_create_session_args a = {
		.clientid = srv->clientid,
		.sequence = srv->create_seq,
		.flags = CREATE_SESSION4_FLAG_CONN_BACK_CHAN,
		.fore = {.maxrequestsize = IO_MAX + MSG_OVERHEAD,
			.maxresponsesize = IO_MAX + MSG_OVERHEAD,
			.maxresponsesize_cached = CACHED_MAX,
			.maxoperations = OPS_WANTED,
			.maxrequests = srv->slots_wanted},
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

static bool session_too_small(struct nfs4_server *srv)
{
	const struct nfs4_channel_attrs *a = &srv->fore;

	srv->refused[0] = '\0';
	if (a->maxrequests == 0 || a->maxoperations < OPS_NEEDED ||
		a->maxrequestsize < 2 * MSG_OVERHEAD || a->maxresponsesize < 2 * MSG_OVERHEAD)
		snprintf(srv->refused, sizeof(srv->refused),
			"%s: the session is too small: %u slots, %u operations, requests of %u "
			"bytes, replies of %u bytes",
			srv->name, a->maxrequests, a->maxoperations, a->maxrequestsize,
			a->maxresponsesize);
	else if (a->maxresponsesize_cached < CACHED_NEEDED)
		snprintf(srv->refused, sizeof(srv->refused),
			"%s keeps replies of %u bytes only for being asked again, an OPEN needs %u:"
			" a lost connection could make it fail or happen twice",
			srv->name, a->maxresponsesize_cached, CACHED_NEEDED);
	return srv->refused[0] != '\0';
}

enum nfs_outcome nfs4_get_op_create_session(
	struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_create_session_res res;
	int rc = nfs4_reply_op(r, OP_CREATE_SESSION);

	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_create_session_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	srv->session = res.session; /* must be destroyed even if it is of no use */
	srv->fore = res.fore;
	srv->create_seq++;
	srv->have_session = true;
	if (session_too_small(srv)) {
		log_error("%s", srv->refused);
		return nfs_failed(op, -EREMOTEIO);
	}
	nfs4_cb_session(&srv->cb, &res.session);
	if (!(res.flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN))
		log_info("%s: the server takes no backchannel on this connection", srv->name);
	log_ctrl("%s: session with %u slots, %u operations, requests of %u and replies of %u bytes",
		srv->name, res.fore.maxrequests, res.fore.maxoperations, res.fore.maxrequestsize,
		res.fore.maxresponsesize);
	return NFS_DONE;
}

int nfs4_sync_create_session(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms)
{
	int rc = nfs4_sync_run(srv, s, NFS4_K_CREATE_SESSION, timeout_ms);
	uint32_t n = srv->fore.maxrequests;
	struct nfs4_conn *bound;

	if (rc && s->status == NFS4ERR_SEQ_MISORDERED)
		srv->create_misordered++;
	else
		srv->create_misordered = 0;
	if (rc)
		return rc;
	mutex_lock(&srv->slots.lock);
	nfs4_slots_reset_locked(&srv->slots, n < srv->slots_wanted ? n : srv->slots_wanted);
	/* CREATE_SESSION has bound its own connection (RFC 8881 18.36.3). An answer to a second
	 * copy may be that to the first, and the connection of the first is lost. */
	bound = s->op.call.repeated ? NULL : s->op.be.v4.conn;
	for (unsigned i = 0; i < srv->nconns; i++)
		nfs4_server_unbound_locked(&srv->conn[i], &srv->conn[i] != bound);
	if (srv->nconns > 1 || !bound)
		nfs4_state_want_locked(srv, NFS4_TODO_BIND);
	nfs4_replay_slots_locked(srv);
	mutex_unlock(&srv->slots.lock);
	s->op.be.v4.conn->refused = 0;
	nfs4_server_note(srv);
	return 0;
}

/* --- the rest of the session's operations -------------------------------------------------- */

void nfs4_put_op_bind(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_bind_conn_to_session_args a = {
		.session = srv->session,
		.dir = CDFC4_FORE_OR_BOTH,
	};

	nfs4_put_bind_conn_to_session_args(k->x, &a);
	nfs4_comp_count(k, OP_BIND_CONN_TO_SESSION, 0);
}

enum nfs_outcome nfs4_get_op_bind(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_bind_conn_to_session_res res;
	int rc = nfs4_reply_op(r, OP_BIND_CONN_TO_SESSION);

	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_bind_conn_to_session_res(r->x, NFS4_OK, &res) ||
		memcmp(&res.session, &srv->session, sizeof(res.session)) != 0)
		return nfs_failed(op, -EBADMSG);
	log_ctrl("%s: connection %td is bound to the session%s", srv->name,
		op->be.v4.conn - srv->conn + 1,
		res.dir == CDFS4_FORE ? ", but not to its backchannel" : "");
	return NFS_DONE;
}

int nfs4_sync_bind(struct nfs4_conn *conn, struct nfs4_sync *s, unsigned timeout_ms)
{
	struct nfs4_server *srv = conn->srv;
	int rc = nfs4_sync_run_as(conn, NULL, &srv->cred, NULL, s, NFS4_K_BIND, timeout_ms);

	if (rc)
		return rc;
	mutex_lock(&srv->slots.lock);
	if (!atomic_load_explicit(&conn->unbound, memory_order_relaxed)) /* lost again meanwhile */
		nfs4_server_unbound_locked(conn, false);
	mutex_unlock(&srv->slots.lock);
	return 0;
}

void nfs4_put_op_destroy_session(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_destroy_session_args a = {.session = srv->session};

	nfs4_put_destroy_session_args(k->x, &a);
	nfs4_comp_count(k, OP_DESTROY_SESSION, 0);
}

enum nfs_outcome nfs4_get_op_destroy_session(
	struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
{
	return nfs4_outcome(op, nfs4_reply_op(r, OP_DESTROY_SESSION));
}

void nfs4_put_op_destroy_clientid(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_destroy_clientid_args a = {.clientid = srv->clientid};

	nfs4_put_destroy_clientid_args(k->x, &a);
	nfs4_comp_count(k, OP_DESTROY_CLIENTID, 0);
}

enum nfs_outcome nfs4_get_op_destroy_clientid(
	struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
{
	return nfs4_outcome(op, nfs4_reply_op(r, OP_DESTROY_CLIENTID));
}

void nfs4_put_op_reclaim_complete(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_reclaim_complete_args a = {.one_fs = false};

	nfs4_put_reclaim_complete_args(k->x, &a);
	nfs4_comp_count(k, OP_RECLAIM_COMPLETE, 0);
}

enum nfs_outcome nfs4_get_op_reclaim_complete(
	struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_RECLAIM_COMPLETE);

	if (rc == NFS4ERR_COMPLETE_ALREADY) {
		r->status = NFS4_OK;
		return NFS_DONE;
	}
	return nfs4_outcome(op, rc);
}

/* --- SEQUENCE alone ------------------------------------------------------------------------ */

void nfs4_put_op_sequence(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k)
{
}

enum nfs_outcome nfs4_get_op_sequence(
	struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
{
	if (op->be.v4.flags & NFS4_F_SLOT_SET) {
		/* Finding out about a slot may bring the answer to the earlier request on this
		 * slot: more results than asked for, and any status. */
		r->left = 0;
		r->status = NFS4_OK;
		r->x->pos = r->x->len;
	}
	return NFS_DONE;
}

/* --- stateids ------------------------------------------------------------------------------ */

void nfs4_put_op_test_stateid(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_test_stateid_args a = {.n = s->u.test.n, .ids = s->u.test.ids};

	nfs4_put_test_stateid_args(k->x, &a);
	nfs4_comp_count(k, OP_TEST_STATEID, a.n);
}

enum nfs_outcome nfs4_get_op_test_stateid(
	struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_test_stateid_res res;
	int rc = nfs4_reply_op(r, OP_TEST_STATEID);

	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_test_stateid_res(r->x, NFS4_OK, &res) || res.n != s->u.test.n)
		return nfs_failed(op, -EBADMSG);
	for (uint32_t i = 0; i < res.n; i++)
		s->u.test.code[i] = nfs4_test_stateid_code(&res, i);
	return NFS_DONE;
}

void nfs4_put_op_free_stateid(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_stateid_args a = {.stateid = s->u.free_id};

	nfs4_put_stateid_args(k->x, OP_FREE_STATEID, &a);
	nfs4_comp_count(k, OP_FREE_STATEID, 0);
}

enum nfs_outcome nfs4_get_op_free_stateid(
	struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
{
	return nfs4_outcome(op, nfs4_reply_op(r, OP_FREE_STATEID));
}

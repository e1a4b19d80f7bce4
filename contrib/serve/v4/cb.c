/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cb: the backchannel (RFC 8881 sections 2.10.3.1, 20.2, 20.9, 20.11).
 *
 * The server probes the backchannel after a session with one was made, or a connection was bound to
 * it: CB_NULL, then a CB_COMPOUND of only CB_SEQUENCE. Until the client has answered both, SEQUENCE
 * reports nothing about the backchannel. If a call fails, SEQUENCE reports
 * SEQ4_STATUS_CB_PATH_DOWN. Afterwards the backchannel carries CB_NOTIFY_LOCK, CB_RECALL,
 * CB_GETATTR and CB_LAYOUTRECALL. A client that has never answered CB_SEQUENCE with NFS4_OK gets no
 * delegation, and each OPEN of the client probes again.
 *
 * A session's backchannel has one slot. One call runs at a time, and a bounded number of notices
 * waits in the session. A notice that cannot be sent is dropped. A client that waits for a lock
 * asks again anyhow. A request that waits for CB_GETATTR waits only for a short time (inquiry.h). A
 * recall is repeated (deleg.h), also over a failed backchannel, which may work again.
 */
#include "contrib/serve/v4/cb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/serve.h"
#include "contrib/serve/state/client.h"
#include "contrib/serve/state/inquiry.h"
#include "contrib/serve/state/layout.h"
#include "contrib/serve/state/session.h"
#include "contrib/serve/state/waiter.h"
#include "nfsproto/wire/nfs4_attr.h"
#include "transport/log.h"

#define CB_ARGS_MAX 1536 /* CB_NOTIFY_LOCK with the longest owner and handle */
#define CB_MS	    10000
#define GETATTR_MS  2000 /* a recall may wait behind a CB_GETATTR */
#define NOTICES_MAX 64	 /* of one session */

struct callback {
	struct serve *sv;
	struct session *ses; /* referenced */
	struct rpc_call call;
	uint32_t seq;
	bool again;	       /* a second sequence number was tried */
	struct notice *notice; /* the notice in the call; NULL: only CB_SEQUENCE */
};

static int send_sequence(struct callback *cb);
static void check_notice(const struct callback *cb, struct xdr_in *res);

static bool is_recall(const struct notice *n)
{
	return n->kind == NOTICE_RECALL || n->kind == NOTICE_LAYOUT;
}

/* Takes the next notice, if there is one and the path works or, for a recall, may work. False:
 * there is none, and the slot is free. */
static bool take_notice(struct callback *cb, bool may_work)
{
	struct session *ses = cb->ses;

	free(cb->notice);
	cb->again = false;
	mutex_lock(&ses->lock);
	while ((cb->notice = STAILQ_FIRST(&ses->notices)) != NULL) {
		STAILQ_REMOVE_HEAD(&ses->notices, link);
		ses->nnotices--;
		if (!ses->cb_down || (may_work && is_recall(cb->notice)))
			break;
		free(cb->notice);
	}
	ses->cb_busy = cb->notice != NULL;
	mutex_unlock(&ses->lock);
	return cb->notice != NULL;
}

static void callback_end(struct callback *cb, const char *why)
{
	struct session *ses = cb->ses;
	bool getattr;
	int r;

	do {
		getattr = cb->notice && cb->notice->kind == NOTICE_GETATTR;
		if (why)
			check_notice(cb, NULL);
		mutex_lock(&ses->lock);
		ses->cb_down = why != NULL;
		mutex_unlock(&ses->lock);
		if (why)
			log_info("client %s: the backchannel does not work: %s", ses->client->who,
				why);
		else if (!cb->notice)
			log_ctrl("client %s: the backchannel works", ses->client->who);
		if (!take_notice(cb, getattr)) { /* a failed CB_GETATTR is followed by a recall */
			session_put(&cb->sv->state, ses);
			free(cb);
			return;
		}
		r = send_sequence(cb);
		why = r < 0 ? strerror(-r) : NULL;
	} while (r < 0);
}

static int start(struct callback *cb, uint32_t proc, rpc_done_fn *done)
{
	bool getattr = cb->notice && cb->notice->kind == NOTICE_GETATTR;
	struct session *ses = cb->ses;
	struct rpc_xprt *x;
	struct rpc_cred cred;
	uint32_t prog;
	int r = -ENOTCONN;

	mutex_lock(&ses->lock);
	x = ses->cb_xprt ? rpc_xprt_ref(ses->cb_xprt) : NULL;
	prog = ses->cb_prog;
	cred = ses->cb_cred;
	mutex_unlock(&ses->lock);
	if (!x)
		return -ENOTCONN;
	memset(&cb->call, 0, sizeof(cb->call));
	r = rpc_cb_init(&cb->call, x, prog, NFS4_CB_VERSION, CB_ARGS_MAX);
	rpc_xprt_unref(x);
	if (r < 0)
		return r;
	cb->call.proc = proc;
	cb->call.cred = cred;
	cb->call.timeout_ms = getattr ? GETATTR_MS : CB_MS;
	cb->call.reply_max = CB_ARGS_MAX;
	cb->call.done = done;
	cb->call.ctx = cb;
	return 0;
}

static int submit(struct callback *cb)
{
	int r = rpc_cb_submit(&cb->call);

	if (r < 0)
		rpc_call_finish(&cb->call);
	return r;
}

static const char *check_sequence(const struct callback *cb, struct xdr_in *res, uint32_t *status)
{
	struct nfs4_cb_sequence_res r;
	struct nfs4_compound_res head;

	*status = NFS4_OK;
	if (nfs4_get_compound_res(res, &head) < 0 || head.nops < 1 || head.nops > 2 ||
		nfs4_get_op_res(res, OP_CB_SEQUENCE, status) < 0 ||
		nfs4_get_cb_sequence_res(res, *status, &r) < 0)
		return "its answer to CB_SEQUENCE is malformed";
	if (*status != NFS4_OK)
		return NULL;
	if (memcmp(&r.session, &cb->ses->id, sizeof(r.session)) != 0 || r.sequenceid != cb->seq)
		return "its answer to CB_SEQUENCE names another session or sequence";
	return NULL;
}

/* CHANGE and SIZE, both and no others. */
static bool get_attrs(struct xdr_in *res, uint64_t *change, uint64_t *size)
{
	struct nfs4_bitmap want = nfs4_bits(FATTR4_CHANGE, FATTR4_SIZE, -1);
	struct nfs4_getattr_res r;
	struct xdr_in in;

	if (nfs4_get_cb_getattr_res(res, NFS4_OK, &r) < 0 || r.attrs.mask.more ||
		memcmp(r.attrs.mask.w, want.w, sizeof(want.w)) != 0 || r.attrs.vals.len != 16)
		return false;
	xdr_in_init(&in, r.attrs.vals.data, r.attrs.vals.len);
	*change = xdr_get_u64(&in);
	*size = xdr_get_u64(&in);
	return true;
}

/* Reads the client's answer behind CB_SEQUENCE. res NULL: there is none. A recall that the client
 * has refused is repeated. */
static void check_notice(const struct callback *cb, struct xdr_in *res)
{
	const struct notice *n = cb->notice;
	struct state *s = &cb->sv->state;
	uint64_t change, size = 0;
	uint32_t status;
	static const uint32_t ops[] = {
		[NOTICE_RECALL] = OP_CB_RECALL,
		[NOTICE_GETATTR] = OP_CB_GETATTR,
		[NOTICE_LAYOUT] = OP_CB_LAYOUTRECALL,
	};
	bool ok;

	if (!n || n->kind == NOTICE_LOCK)
		return;
	if (!res || nfs4_get_op_res(res, ops[n->kind], &status) < 0)
		status = NFS4ERR_SERVERFAULT;
	ok = status == NFS4_OK;
	if (n->kind == NOTICE_GETATTR) {
		ok = ok && get_attrs(res, &change, &size);
		inquiry_answered(s, n->clientid, &n->sid, ok ? &change : NULL, size);
	} else if (res && !ok && n->kind == NOTICE_LAYOUT) {
		layout_refused(s, n->clientid, &n->sid, status);
	} else if (res && !ok) {
		deleg_refused(s, n->clientid, &n->sid);
	}
}

static void sequence_done(struct rpc_call *call, int error, struct xdr_in *res);

static void put_notice(struct xdr_out *x, const struct notice *n)
{
	if (n->kind == NOTICE_RECALL) {
		struct nfs4_cb_recall_args a = {.stateid = n->sid, .fh = n->fh};

		nfs4_put_cb_recall_args(x, &a);
	} else if (n->kind == NOTICE_LAYOUT) {
		struct nfs4_cb_layoutrecall_args a = {.type = LAYOUT4_FLEX_FILES,
			.iomode = LAYOUTIOMODE4_ANY,
			.recall = LAYOUTRECALL4_FILE,
			.fh = n->fh,
			.length = NFS4_LENGTH_EOF,
			.stateid = n->sid};

		nfs4_put_cb_layoutrecall_args(x, &a);
	} else if (n->kind == NOTICE_GETATTR) {
		struct nfs4_cb_getattr_args a = {
			.fh = n->fh, .want = nfs4_bits(FATTR4_CHANGE, FATTR4_SIZE, -1)};

		nfs4_put_cb_getattr_args(x, &a);
	} else {
		struct nfs4_cb_notify_lock_args a = {.fh = n->fh,
			.owner = {.clientid = n->clientid, .owner = {n->owner, n->owner_len}}};

		nfs4_put_cb_notify_lock_args(x, &a);
	}
}

static int send_sequence(struct callback *cb)
{
	const struct notice *n = cb->notice;
	struct nfs4_cb_sequence_args a = {0};
	uint32_t minor;
	int r = start(cb, NFS4_CB_COMPOUND, sequence_done);
	size_t at;

	if (r < 0)
		return r;
	mutex_lock(&cb->ses->lock);
	cb->seq = cb->ses->cb_seq + 1;
	minor = cb->ses->minor;
	mutex_unlock(&cb->ses->lock);
	a.session = cb->ses->id;
	a.sequenceid = cb->seq;
	if (n && n->kind != NOTICE_LOCK && n->referring)
		a.ref[a.nrefs++] = n->given;
	at = nfs4_put_cb_compound_args(&cb->call.args, "", minor, 0);
	nfs4_put_cb_sequence_args(&cb->call.args, &a);
	if (n)
		put_notice(&cb->call.args, n);
	xdr_patch_u32(&cb->call.args, at, n ? 2 : 1);
	return submit(cb);
}

/* Has the client used this sequence ID already, for a call with a lost or late answer? */
static bool is_taken(uint32_t status)
{
	return status == NFS4ERR_SEQ_MISORDERED || status == NFS4ERR_RETRY_UNCACHED_REP ||
	       status == NFS4ERR_SEQ_FALSE_RETRY;
}

static void sequence_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct callback *cb = call->ctx;
	struct serve *sv = cb->sv;
	uint32_t status = NFS4_OK;
	const char *why = error ? strerror(-error) : check_sequence(cb, res, &status);

	/* The sequence ID is used up if the client has taken the ID now, or reports an earlier use.
	 * With any other status the ID stays unused, but the answer proves a working path. For
	 * example, a client answers NFS4ERR_DELAY while setting up the session. Only NFS4_OK shows
	 * that the client would obey a recall. */
	if (!why && (status == NFS4_OK || is_taken(status))) {
		mutex_lock(&cb->ses->lock);
		cb->ses->cb_seq = cb->seq;
		cb->ses->cb_proved |= status == NFS4_OK;
		mutex_unlock(&cb->ses->lock);
	}
	if (!why && !is_taken(status))
		check_notice(cb, res);
	rpc_call_finish(call);
	if (!why && is_taken(status) && !cb->again) {
		cb->again = true;
		error = send_sequence(cb);
		if (error == 0)
			return;
		why = strerror(-error);
	}
	callback_end(cb, why);
	cb_notify_all(sv); /* continues requests that waited for the answer */
}

static void null_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct callback *cb = call->ctx;

	rpc_call_finish(call);
	if (error == 0)
		error = send_sequence(cb);
	if (error)
		callback_end(cb, strerror(-error));
}

void cb_probe(struct serve *sv, struct session *ses)
{
	struct callback *cb = calloc(1, sizeof(*cb));
	bool busy;
	int r;

	mutex_lock(&ses->lock);
	busy = ses->cb_busy;
	if (cb)
		ses->cb_busy = true;
	mutex_unlock(&ses->lock);
	if (!cb || busy) {
		free(cb);
		session_put(&sv->state, ses);
		return;
	}
	cb->sv = sv;
	cb->ses = ses;
	r = start(cb, NFS4_CB_NULL, null_done);
	if (r == 0)
		r = submit(cb);
	if (r < 0)
		callback_end(cb, strerror(-r));
}

/* The session in which to send n, referenced, or NULL. */
static struct session *session_for(struct serve *sv, const struct notice *n)
{
	struct session *ses = session_get(&sv->state, &n->session);
	bool back = false;

	if (n->kind == NOTICE_LOCK)
		return ses;
	if (ses) {
		mutex_lock(&ses->lock);
		back = ses->cb_xprt;
		mutex_unlock(&ses->lock);
	}
	if (back)
		return ses;
	session_put(&sv->state, ses);
	return session_with_back(&sv->state, n->clientid);
}

/* Queues n in its session, and sends n if the slot is free. */
static void notify(struct serve *sv, struct notice *n)
{
	struct session *ses = session_for(sv, n);
	struct callback *cb;
	bool mine;
	int r;

	if (!ses) {
		free(n);
		return;
	}
	cb = calloc(1, sizeof(*cb));
	mutex_lock(&ses->lock);
	if (!ses->cb_xprt || ses->nnotices >= NOTICES_MAX || !cb) {
		free(n);
		mine = false;
	} else {
		STAILQ_INSERT_TAIL(&ses->notices, n, link);
		ses->nnotices++;
		mine = !ses->cb_busy;
		ses->cb_busy = true;
	}
	mutex_unlock(&ses->lock);
	if (!mine) {
		free(cb);
		session_put(&sv->state, ses);
		return;
	}
	cb->sv = sv;
	cb->ses = ses;
	if (!take_notice(cb, true)) {
		session_put(&sv->state, ses);
		free(cb);
		return;
	}
	r = send_sequence(cb);
	if (r < 0)
		callback_end(cb, strerror(-r));
}

/* Sends all calls that are due. */
static void send_notices(struct serve *sv)
{
	struct notices list, recalls, layouts;
	struct notice *n;

	waiter_take_notices(&sv->state, &list);
	deleg_take_recalls(&sv->state, &recalls);
	layout_take_recalls(&sv->state, &layouts);
	STAILQ_CONCAT(&list, &recalls);
	STAILQ_CONCAT(&list, &layouts);
	while ((n = STAILQ_FIRST(&list)) != NULL) {
		STAILQ_REMOVE_HEAD(&list, link);
		notify(sv, n);
	}
}

void cb_notify_all(struct serve *sv)
{
	send_notices(sv);
	if (inquiry_end_all(&sv->state))
		send_notices(sv); /* notices that became due by the ended inquiries */
}

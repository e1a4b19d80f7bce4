/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cb: the backchannel, probed (RFC 8881 sections 2.10.3.1, 20.9).
 *
 * After a session with a backchannel was made, or a connection was bound to one, the server tries
 * it: CB_NULL, then a CB_COMPOUND of only CB_SEQUENCE. Until both have answered, SEQUENCE tells the
 * client nothing; if one fails, SEQUENCE says SEQ4_STATUS_CB_PATH_DOWN. One probe of a session runs
 * at a time, on its backchannel's only slot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/serve.h"
#include "transport/log.h"

#define CB_ARGS_MAX 512
#define CB_MS	    10000

struct probe {
	struct serve *sv;
	struct session *ses; /* referenced */
	struct rpc_call call;
	uint32_t seq;
	bool again; /* a second sequence number has been tried */
};

static void probe_end(struct probe *p, const char *why)
{
	struct session *ses = p->ses;

	pthread_mutex_lock(&ses->lock);
	ses->cb_busy = false;
	ses->cb_down = why != NULL;
	pthread_mutex_unlock(&ses->lock);
	if (why)
		log_info("client %s: the backchannel does not work: %s", ses->client->who, why);
	else
		log_ctrl("client %s: the backchannel works", ses->client->who);
	session_put(&p->sv->state, ses);
	free(p);
}

static int start(struct probe *p, uint32_t proc, rpc_done_fn *done)
{
	struct session *ses = p->ses;
	struct rpc_xprt *x;
	struct rpc_cred cred;
	uint32_t prog;
	int r = -ENOTCONN;

	pthread_mutex_lock(&ses->lock);
	x = ses->cb_xprt ? rpc_xprt_ref(ses->cb_xprt) : NULL;
	prog = ses->cb_prog;
	cred = ses->cb_cred;
	pthread_mutex_unlock(&ses->lock);
	if (!x)
		return -ENOTCONN;
	memset(&p->call, 0, sizeof(p->call));
	r = rpc_cb_init(&p->call, x, prog, NFS4_CB_VERSION, CB_ARGS_MAX);
	rpc_xprt_unref(x);
	if (r < 0)
		return r;
	p->call.proc = proc;
	p->call.cred = cred;
	p->call.timeout_ms = CB_MS;
	p->call.reply_max = CB_ARGS_MAX;
	p->call.done = done;
	p->call.ctx = p;
	return 0;
}

static int submit(struct probe *p)
{
	int r = rpc_cb_submit(&p->call);

	if (r < 0)
		rpc_call_finish(&p->call);
	return r;
}

static const char *check_sequence(const struct probe *p, struct xdr_in *res, uint32_t *status)
{
	struct nfs4_cb_sequence_res r;
	struct nfs4_compound_res head;

	*status = NFS4_OK;
	if (nfs4_get_compound_res(res, &head) < 0 || head.nops != 1 ||
		nfs4_get_op_res(res, OP_CB_SEQUENCE, status) < 0 ||
		nfs4_get_cb_sequence_res(res, *status, &r) < 0)
		return "its answer to CB_SEQUENCE is malformed";
	if (*status != NFS4_OK)
		return NULL;
	if (memcmp(&r.session, &p->ses->id, sizeof(r.session)) != 0 || r.sequenceid != p->seq)
		return "its answer to CB_SEQUENCE names another session or sequence";
	return NULL;
}

static void sequence_done(struct rpc_call *call, int error, struct xdr_in *res);

static int send_sequence(struct probe *p)
{
	struct nfs4_cb_sequence_args a = {0};
	int r = start(p, NFS4_CB_COMPOUND, sequence_done);
	size_t at;

	if (r < 0)
		return r;
	pthread_mutex_lock(&p->ses->lock);
	p->seq = p->ses->cb_seq + 1;
	pthread_mutex_unlock(&p->ses->lock);
	a.session = p->ses->id;
	a.sequenceid = p->seq;
	at = nfs4_put_cb_compound_args(&p->call.args, "", 1, 0);
	nfs4_put_cb_sequence_args(&p->call.args, &a);
	xdr_patch_u32(&p->call.args, at, 1);
	return submit(p);
}

static void sequence_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct probe *p = call->ctx;
	uint32_t status = NFS4_OK;
	const char *why = error ? strerror(-error) : check_sequence(p, res, &status);

	/* The number is used up when the client took it, or says that it is not the next one. Any
	 * other answer (a client that is just setting its session up says NFS4ERR_DELAY) leaves it,
	 * and shows all the same that the path works. */
	if (!why && (status == NFS4_OK || status == NFS4ERR_SEQ_MISORDERED)) {
		pthread_mutex_lock(&p->ses->lock);
		p->ses->cb_seq = p->seq;
		pthread_mutex_unlock(&p->ses->lock);
	}
	rpc_call_finish(call);
	if (!why && status == NFS4ERR_SEQ_MISORDERED && !p->again) {
		p->again = true;
		error = send_sequence(p);
		if (error == 0)
			return;
		why = strerror(-error);
	}
	probe_end(p, why);
}

static void null_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct probe *p = call->ctx;

	rpc_call_finish(call);
	if (error == 0)
		error = send_sequence(p);
	if (error)
		probe_end(p, strerror(-error));
}

void cb_probe(struct serve *sv, struct session *ses)
{
	struct probe *p = calloc(1, sizeof(*p));
	bool busy;
	int r;

	pthread_mutex_lock(&ses->lock);
	busy = ses->cb_busy;
	if (p)
		ses->cb_busy = true;
	pthread_mutex_unlock(&ses->lock);
	if (!p || busy) {
		free(p);
		session_put(&sv->state, ses);
		return;
	}
	p->sv = sv;
	p->ses = ses;
	r = start(p, NFS4_CB_NULL, null_done);
	if (r == 0)
		r = submit(p);
	if (r < 0)
		probe_end(p, strerror(-r));
}

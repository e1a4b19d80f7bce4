/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_session: operations on clients, sessions and stateids.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/ops/entry.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/answers.h"
#include "contrib/serve/state/client.h"
#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/client_id.h"
#include "contrib/serve/state/lock.h"
#include "contrib/serve/state/session.h"
#include "contrib/serve/state/session_create.h"
#include "contrib/serve/v4/ops.h"
#include "transport/clock.h"
#include "transport/log.h"

#define RPC_REPLY_HEAD 32u /* bytes of an RPC reply before the results, NULL verifier */

static const char *peer_of(const struct compound *c)
{
	return c->req->xprt ? rpc_xprt_peer(c->req->xprt) : "local";
}

uint32_t op_exchange_id(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_exchange_id_res r = {0};
	struct nfs4_opaque owner = {(const uint8_t *)c->sv->owner, (uint32_t)strlen(c->sv->owner)};
	struct share_key who = serve_key(c->req);
	uint32_t status = client_exchange_id(
		&c->sv->state, &c->req->cred, peer_of(c), &who, &a->u.exchange_id, &r);

	if (status != NFS4_OK)
		return status;
	if (c->sv->devices || c->sv->data_server)
		r.flags &= ~EXCHGID4_FLAG_MASK_PNFS;
	if (c->sv->devices)
		r.flags |= EXCHGID4_FLAG_USE_PNFS_MDS;
	else if (c->sv->data_server)
		r.flags |= EXCHGID4_FLAG_USE_PNFS_DS;
	r.server_major_id = owner;
	r.server_scope = owner;
	nfs4_put_exchange_id_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

uint32_t op_create_session(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_create_session_res r = {0};
	struct session *ses;
	bool wanted;
	uint32_t status = session_create(
		&c->sv->state, c->req->xprt, &c->req->cred, &a->u.create_session, &r, &ses);

	if (status != NFS4_OK)
		return status;
	if (ses) {
		mutex_lock(&ses->lock);
		ses->minor = c->minor;
		wanted = ses->cb_wanted;
		mutex_unlock(&ses->lock);
		log_ctrl("client %s: session of %u slots, %u operations, backchannel %s",
			ses->client->who, r.fore.maxrequests, r.fore.maxoperations,
			wanted ? "wanted" : "not wanted");
		if (wanted && !c->probe)
			c->probe = ses;
		else
			session_put(&c->sv->state, ses);
	}
	nfs4_put_create_session_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

uint32_t op_destroy_session(struct compound *c, const struct nfs4_args *a)
{
	const struct nfs4_sessionid *id = &a->u.destroy_session.session;
	uint32_t status;

	/* section 18.37.3: the request's own session only as the last operation */
	if (c->session && memcmp(id, &c->session->id, sizeof(*id)) == 0 && c->index + 1 != c->nops)
		return NFS4ERR_NOT_ONLY_OP;
	status = session_destroy(&c->sv->state, &c->req->cred, id);
	if (status == NFS4_OK)
		nfs4_put_op_res(c->out, OP_DESTROY_SESSION, NFS4_OK);
	return status;
}

uint32_t op_destroy_clientid(struct compound *c, const struct nfs4_args *a)
{
	uint32_t status =
		client_destroy(&c->sv->state, &c->req->cred, a->u.destroy_clientid.clientid);

	if (status == NFS4_OK)
		nfs4_put_op_res(c->out, OP_DESTROY_CLIENTID, NFS4_OK);
	return status;
}

static uint32_t min_size(size_t have, uint32_t channel)
{
	uint32_t n = channel > RPC_REPLY_HEAD ? channel - RPC_REPLY_HEAD : 0;

	return have < n ? (uint32_t)have : n;
}

static void put_sequence(struct compound *c, const struct nfs4_sequence_args *a, uint32_t flags)
{
	const struct session *ses = c->session;
	struct nfs4_sequence_res r = {
		.session = a->session,
		.sequenceid = a->sequenceid,
		.slotid = a->slotid,
		.highest_slotid = ses->fore.maxrequests - 1,
		.target_highest_slotid = ses->fore.maxrequests - 1,
		.status_flags = flags,
	};

	if (st_any_revoked(c->client))
		r.status_flags |= SEQ4_STATUS_RECALLABLE_STATE_REVOKED;
	nfs4_put_sequence_res(c->out, NFS4_OK, &r);
}

static void begin_sum(struct compound *c, const struct nfs4_sequence_args *a)
{
	c->sum = (uint64_t)c->req->cred.flavor << 56 ^ (uint64_t)c->req->cred.uid << 24 ^
		 (uint64_t)c->nops << 1 ^ a->cachethis;
	c->summed = 0;
}

/* Does the request belong to the answer rep? Compares the executed operations. */
static bool same_request(
	struct compound *c, const struct nfs4_sequence_args *a, const struct slot_replay *rep)
{
	struct xdr_in in = c->req->args; /* behind SEQUENCE */
	struct nfs4_args next;

	begin_sum(c, a);
	while (c->summed < rep->summed && 1 + c->summed < c->nops) {
		size_t from = in.pos;

		memset(&next, 0, sizeof(next));
		nfs4_get_args(&in, &next);
		sum_op(c, &in, from, &next);
	}
	return c->sum == rep->sum && c->summed == rep->summed;
}

/* Replaces the results so far by the kept answer. */
static void put_replay(struct compound *c, const uint8_t *reply, uint32_t len)
{
	c->out->len = 0;
	c->out->npayloads = 0;
	xdr_put_fixed(c->out, reply, len);
	c->replayed = true;
}

/* An earlier run has carried out nops operations of the request. Syncs the file of a WRITE among
 * them, because the answer promises stable data. A status. */
static uint32_t sync_written(struct compound *c, uint32_t nops)
{
	struct xdr_in in = c->req->args;
	struct nfs4_args next;
	struct nfs_fh fh = {.len = 0};
	bool written = false;
	struct obj *o;
	int r;

	for (uint32_t i = 0; i < nops; i++) {
		memset(&next, 0, sizeof(next));
		nfs4_get_args(&in, &next);
		if (next.op == OP_PUTFH && !written)
			fh = next.u.putfh.fh;
		written |= next.op == OP_WRITE;
	}
	if (!written)
		return NFS4_OK;
	r = obj_by_handle(c->sv->objs, fh.data, fh.len, &o);
	if (r < 0)
		return entry_status(r);
	r = stable_sync(c->sv->stable, o);
	obj_unref(c->sv->objs, o);
	return nfs4_errno_status(r);
}

/* A request of an unknown session: gives an earlier run's answer, if there is one. A status. */
static uint32_t answered_before(struct compound *c, const struct nfs4_sequence_args *a)
{
	const struct answers_v4 key = {a->session, a->slotid, a->sequenceid};
	struct slot_replay rep;
	struct answer kept;
	uint32_t status;

	if (!answers_find(c->sv->answers, &key, sizeof(key), &kept))
		return NFS4ERR_BADSESSION;
	rep = (struct slot_replay){.sum = kept.sum, .summed = kept.summed};
	if (!same_request(c, a, &rep))
		return NFS4ERR_BADSESSION;
	status = sync_written(c, rep.summed);
	if (status != NFS4_OK)
		return status == NFS4ERR_DELAY ? status : NFS4ERR_BADSESSION;
	log_ctrl("slot %u of a session before the restart answered again", a->slotid);
	put_replay(c, kept.reply, kept.len);
	return NFS4_OK;
}

uint32_t op_sequence(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_sequence_args *a = &args->u.sequence;
	struct session *ses = session_get(&c->sv->state, &a->session);
	struct slot_replay rep;
	uint32_t status = NFS4_OK, flags = 0;
	size_t size = c->req->args.len;

	if (!ses)
		return answered_before(c, a);
	for (unsigned i = 0; i < c->req->args.npayloads; i++)
		size += c->req->args.payload[i].data.len;
	if (size > ses->fore.maxrequestsize)
		status = NFS4ERR_REQ_TOO_BIG;
	else if (c->nops > ses->fore.maxoperations)
		status = NFS4ERR_TOO_MANY_OPS;
	if (status == NFS4_OK) {
		switch (slot_begin(ses, a, &status, &flags, &rep)) {
		case SLOT_RUN:
			c->session = ses;
			c->client = ses->client;
			c->slotid = a->slotid;
			c->slot_seq = a->sequenceid;
			c->cachethis = a->cachethis;
			atomic_store_explicit(
				&c->client->seen_ns, clock_coarse_ns(), memory_order_relaxed);
			c->res_max = min_size(c->res_max, ses->fore.maxresponsesize);
			c->inline_max = min_size(c->inline_max, ses->fore.maxresponsesize);
			if (a->cachethis)
				c->res_max = min_size(c->res_max, ses->fore.maxresponsesize_cached);
			begin_sum(c, a);
			put_sequence(c, a, flags);
			return NFS4_OK;
		case SLOT_REPLAY:
			if (!same_request(c, a, &rep)) {
				log_ctrl("client %s: slot %u: another request under the number of "
					 "the last one",
					ses->client->who, a->slotid);
				status = NFS4ERR_SEQ_FALSE_RETRY;
				free(rep.reply);
				break;
			}
			log_ctrl("client %s: slot %u answered again from the cache",
				ses->client->who, a->slotid);
			put_replay(c, rep.reply, rep.len);
			free(rep.reply);
			break;
		case SLOT_ERROR:
			log_ctrl("client %s: slot %u sequence %u: %s", ses->client->who, a->slotid,
				a->sequenceid, nfs4_status_name(status));
			break;
		}
	}
	session_put(&c->sv->state, ses);
	return status;
}

uint32_t op_bind_conn_to_session(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_bind_conn_to_session_args *a = &args->u.bind_conn_to_session;
	struct session *ses = session_get(&c->sv->state, &a->session);
	struct nfs4_bind_conn_to_session_res r = {.session = a->session, .dir = CDFS4_FORE};
	bool back = a->dir != CDFC4_FORE;

	if (!ses)
		return NFS4ERR_BADSESSION;
	if (!client_same_principal(&ses->client->cred, &c->req->cred)) {
		session_put(&c->sv->state, ses);
		return NFS4ERR_BADSESSION; /* NFS4ERR_WRONG_CRED is not a legal error here */
	}
	if (back && c->req->xprt) {
		session_set_back(ses, c->req->xprt);
		mutex_lock(&ses->lock);
		ses->cb_wanted = true;
		mutex_unlock(&ses->lock);
		r.dir = a->dir == CDFC4_BACK ? CDFS4_BACK : CDFS4_BOTH;
	}
	nfs4_put_bind_conn_to_session_res(c->out, NFS4_OK, &r);
	if (r.dir != CDFS4_FORE && !c->probe)
		c->probe = ses;
	else
		session_put(&c->sv->state, ses);
	return NFS4_OK;
}

uint32_t op_backchannel_ctl(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_backchannel_ctl_args *a = &args->u.backchannel_ctl;
	struct session *ses = c->session;
	struct rpc_cred cred = {.flavor = RPC_AUTH_NONE};
	bool usable = false;

	for (uint32_t i = 0; i < a->nsec && !usable; i++) {
		usable = a->sec[i].flavor != NFS4_RPCSEC_GSS;
		if (a->sec[i].flavor == NFS4_AUTH_SYS) {
			cred = a->sec[i].sys;
			cred.flavor = RPC_AUTH_SYS;
		}
	}
	if (!usable)
		return NFS4ERR_INVAL;
	mutex_lock(&ses->lock);
	ses->cb_prog = a->cb_program;
	ses->cb_cred = cred;
	mutex_unlock(&ses->lock);
	nfs4_put_op_res(c->out, OP_BACKCHANNEL_CTL, NFS4_OK);
	return NFS4_OK;
}

uint32_t op_reclaim_complete(struct compound *c, const struct nfs4_args *args)
{
	bool again = false;

	if (args->u.reclaim_complete.one_fs) {
		if (!c->cur)
			return NFS4ERR_NOFILEHANDLE;
	} else {
		again = !client_reclaimed(&c->sv->state, c->client);
	}
	if (again)
		return NFS4ERR_COMPLETE_ALREADY;
	nfs4_put_op_res(c->out, OP_RECLAIM_COMPLETE, NFS4_OK);
	return NFS4_OK;
}

uint32_t op_test_stateid(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_test_stateid_args *a = &args->u.test_stateid;
	struct nfs4_test_stateid_res r = {.n = a->n};
	uint32_t *codes = calloc(a->n ? a->n : 1, sizeof(*codes));

	if (!codes)
		return NFS4ERR_DELAY;
	for (uint32_t i = 0; i < a->n; i++) {
		struct nfs4_stateid sid = nfs4_test_stateid_at(a, i);

		codes[i] = st_test(c->client, &sid);
	}
	r.codes = codes;
	nfs4_put_test_stateid_res(c->out, NFS4_OK, &r);
	free(codes);
	return NFS4_OK;
}

uint32_t op_free_stateid(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_stateid sid = a->u.stateid.stateid;
	uint32_t status;

	current_stateid(c, &sid);
	status = st_free(&c->sv->state, c->client, &sid);
	if (status == NFS4_OK)
		nfs4_put_op_res(c->out, OP_FREE_STATEID, NFS4_OK);
	return status;
}

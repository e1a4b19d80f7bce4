/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v4: from an RPC request to its answer (RFC 8881 sections 2.6, 2.10.6, 15.2, 16.2).
 *
 * Operations are decoded and run one after the other. Only the table below knows which operations
 * there are, and the conditions for each.
 */
#include "contrib/serve/v4/v4.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/fault/fault.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/answers.h"
#include "contrib/serve/state/client.h"
#include "contrib/serve/state/open.h"
#include "contrib/serve/state/session.h"
#include "contrib/serve/v4/cb.h"
#include "contrib/serve/v4/ops.h"
#include "nfsproto/wire/ulb.h"
#include "transport/log.h"

enum {
	F_FH = 1,	/* needs a current file handle */
	F_SOLO = 2,	/* may come without SEQUENCE, then alone */
	F_WRITE = 4,	/* refused on a read-only export */
	F_CHANGES = 8,	/* must not run if its result would not fit */
	F_IDENT = 16,	/* uses the file system as the caller */
	F_ONCE = 64,	/* would fail a second time: the answer is kept for the next run */
	F_ABSENT = 128, /* runs on an absent file system, too (referral.h) */
	F_DATA = 256,	/* also at a data server (fence.h) */
	F_IN = 512,	/* reads the current file's data */
	F_OUT = 1024,	/* changes the current file's data */
	F_LOOKS = 32,	/* does not change the current object's attributes: c->seen stays */
};

struct op {
	op_fn *fn;
	unsigned flags;
};

static const struct op ops[OP_LAST_42 + 1] = {
	[OP_ACCESS] = {op_access, F_FH | F_LOOKS | F_IDENT},
	[OP_CLOSE] = {op_close, F_FH | F_CHANGES},
	[OP_COMMIT] = {op_commit, F_FH | F_IDENT | F_DATA | F_OUT},
	[OP_CREATE] = {op_create, F_FH | F_WRITE | F_CHANGES | F_IDENT | F_ONCE},
	[OP_DELEGRETURN] = {op_delegreturn, F_FH | F_CHANGES},
	[OP_GETATTR] = {op_getattr, F_FH | F_LOOKS | F_IDENT | F_ABSENT | F_DATA},
	[OP_GETFH] = {op_getfh, F_FH | F_LOOKS | F_DATA},
	[OP_LINK] = {op_link, F_FH | F_WRITE | F_CHANGES | F_IDENT | F_ONCE},
	[OP_LOCK] = {op_lock, F_FH | F_CHANGES},
	[OP_LOCKT] = {op_lockt, F_FH},
	[OP_LOCKU] = {op_locku, F_FH | F_CHANGES},
	[OP_LOOKUP] = {op_lookup, F_FH | F_IDENT},
	[OP_LOOKUPP] = {op_lookupp, F_FH | F_IDENT},
	[OP_NVERIFY] = {op_nverify, F_FH | F_LOOKS | F_IDENT},
	[OP_OPEN] = {op_open, F_FH | F_CHANGES | F_IDENT},
	[OP_OPEN_DOWNGRADE] = {op_open_downgrade, F_FH | F_CHANGES},
	[OP_PUTFH] = {op_putfh, F_DATA},
	[OP_PUTPUBFH] = {op_putrootfh, F_DATA},
	[OP_PUTROOTFH] = {op_putrootfh, F_DATA},
	[OP_READ] = {op_read, F_FH | F_IDENT | F_DATA | F_IN},
	[OP_READDIR] = {op_readdir, F_FH | F_IDENT},
	[OP_READLINK] = {op_readlink, F_FH | F_IDENT},
	[OP_REMOVE] = {op_remove, F_FH | F_WRITE | F_CHANGES | F_IDENT | F_ONCE},
	[OP_RENAME] = {op_rename, F_FH | F_WRITE | F_CHANGES | F_IDENT | F_ONCE},
	[OP_RESTOREFH] = {op_restorefh, F_DATA},
	[OP_SAVEFH] = {op_savefh, F_FH | F_LOOKS | F_DATA},
	[OP_SECINFO] = {op_secinfo, F_FH | F_IDENT},
	[OP_SETATTR] = {op_setattr, F_FH | F_WRITE | F_CHANGES | F_IDENT},
	[OP_VERIFY] = {op_verify, F_FH | F_LOOKS | F_IDENT},
	[OP_WRITE] = {op_write, F_FH | F_WRITE | F_CHANGES | F_IDENT | F_DATA | F_OUT},
	[OP_BACKCHANNEL_CTL] = {op_backchannel_ctl, F_DATA},
	[OP_BIND_CONN_TO_SESSION] = {op_bind_conn_to_session, F_SOLO | F_DATA},
	[OP_EXCHANGE_ID] = {op_exchange_id, F_SOLO | F_DATA},
	[OP_CREATE_SESSION] = {op_create_session, F_SOLO | F_DATA},
	[OP_DESTROY_SESSION] = {op_destroy_session, F_SOLO | F_DATA},
	[OP_FREE_STATEID] = {op_free_stateid, F_CHANGES | F_DATA},
	[OP_GETDEVICEINFO] = {op_getdeviceinfo, F_LOOKS},
	[OP_LAYOUTCOMMIT] = {op_layoutcommit, F_FH | F_WRITE | F_CHANGES},
	[OP_LAYOUTGET] = {op_layoutget, F_FH | F_LOOKS | F_CHANGES},
	[OP_LAYOUTRETURN] = {op_layoutreturn, F_LOOKS | F_CHANGES},
	[OP_LAYOUTERROR] = {op_layouterror, F_FH | F_LOOKS},
	[OP_LAYOUTSTATS] = {op_layoutstats, F_FH | F_LOOKS},
	[OP_SECINFO_NO_NAME] = {op_secinfo_no_name, F_FH | F_IDENT | F_DATA},
	[OP_SEQUENCE] = {op_sequence, F_SOLO | F_DATA},
	[OP_TEST_STATEID] = {op_test_stateid, F_DATA},
	[OP_DESTROY_CLIENTID] = {op_destroy_clientid, F_SOLO | F_DATA},
	[OP_RECLAIM_COMPLETE] = {op_reclaim_complete, F_CHANGES | F_DATA},
	[OP_ALLOCATE] = {op_allocate, F_FH | F_WRITE | F_CHANGES | F_IDENT},
	[OP_COPY] = {op_copy, F_FH | F_WRITE | F_CHANGES | F_IDENT},
	[OP_DEALLOCATE] = {op_deallocate, F_FH | F_WRITE | F_CHANGES | F_IDENT},
	[OP_IO_ADVISE] = {op_io_advise, F_FH | F_LOOKS | F_IDENT},
	[OP_OFFLOAD_CANCEL] = {op_offload, F_FH},
	[OP_OFFLOAD_STATUS] = {op_offload, F_FH},
	[OP_READ_PLUS] = {op_read_plus, F_FH | F_IDENT},
	[OP_SEEK] = {op_seek, F_FH | F_IDENT},
	[OP_CLONE] = {op_clone, F_FH | F_WRITE | F_CHANGES | F_IDENT},
	[OP_GETXATTR] = {op_getxattr, F_FH | F_LOOKS | F_IDENT},
	[OP_SETXATTR] = {op_setxattr, F_FH | F_WRITE | F_CHANGES | F_IDENT | F_ONCE},
	[OP_LISTXATTRS] = {op_listxattrs, F_FH | F_LOOKS | F_IDENT},
	[OP_REMOVEXATTR] = {op_removexattr, F_FH | F_WRITE | F_CHANGES | F_IDENT | F_ONCE},
};

/* Where in a COMPOUND may op stand? (section 2.10.6.4, 16.2.3) */
static uint32_t check_place(const struct compound *c, uint32_t op, unsigned flags)
{
	if (op == OP_SEQUENCE)
		return c->index == 0 ? NFS4_OK : NFS4ERR_SEQUENCE_POS;
	if (c->session)
		return op == OP_BIND_CONN_TO_SESSION ? NFS4ERR_NOT_ONLY_OP : NFS4_OK;
	if (c->index > 0 || !(flags & F_SOLO))
		return NFS4ERR_OP_NOT_IN_SESSION;
	return c->nops == 1 ? NFS4_OK : NFS4ERR_NOT_ONLY_OP;
}

static uint32_t take_identity(struct compound *c, unsigned flags)
{
	if (c->sv->data_server && flags & (F_IN | F_OUT))
		return nfs4_errno_status(
			fence_admit(c->sv->objs, c->cur, &c->req->cred, flags & F_OUT));
	if ((flags & F_IDENT) && ident_assume(&c->req->cred) < 0)
		return NFS4ERR_ACCESS;
	return NFS4_OK;
}

static uint32_t check_op(struct compound *c, uint32_t op)
{
	unsigned flags = ops[op].flags;
	uint32_t status = check_place(c, op, flags);

	if (status != NFS4_OK)
		return status;
	if (c->sv->data_server && !(flags & F_DATA))
		return NFS4ERR_ACCESS;
	if ((flags & F_FH) && !c->cur)
		return NFS4ERR_NOFILEHANDLE;
	if ((flags & F_FH) && !(flags & F_ABSENT) && c->cur->referral)
		return NFS4ERR_MOVED;
	if ((flags & F_WRITE) && c->sv->read_only)
		return NFS4ERR_ROFS;
	if ((flags & F_CHANGES) && c->out->len + ulb_nfs4_res_max(op, 0) > c->res_max)
		return c->cachethis ? NFS4ERR_REP_TOO_BIG_TO_CACHE : NFS4ERR_REP_TOO_BIG;
	status = take_identity(c, flags);
	return status == NFS4_OK ? fault_status(c->sv->fault, op) : status;
}

/* Does the minor version have op? */
static bool known(const struct compound *c, uint32_t op)
{
	return op >= OP_ACCESS && op <= (c->minor == 2 ? OP_LAST_42 : OP_LAST_41);
}

/* Removes the output of a failed operation. */
static void rewind_to(struct compound *c, size_t len, unsigned npayloads)
{
	c->out->len = len;
	c->out->npayloads = npayloads;
	c->out->overflow = false;
}

static void put_failure(struct compound *c, uint32_t op, uint32_t status)
{
	if (op == OP_SETATTR)
		nfs4_put_setattr_res(c->out, status, NULL);
	else
		nfs4_put_op_res(c->out, op, status);
}

/* Does the result of op have an item that the requester may want placed? The server puts the path
 * of READLINK into the reply all the same. */
static bool may_be_placed(uint32_t op)
{
	return op == OP_READLINK || (ulb_nfs4_op(op) & ULB_DDP_RES);
}

/* Runs the next operation. Returns the status; the result is in the reply. */
static uint32_t run_one(struct compound *c, struct xdr_in *in)
{
	size_t mark = c->out->len;
	unsigned npayloads = c->out->npayloads;
	size_t from = in->pos, disp = xdr_in_disp(in);
	struct nfs4_args a;
	uint64_t sum = c->sum;
	uint32_t status, op, nlast = c->last.set.n, summed = c->summed;
	bool inline_only;
	int r;

	r = nfs4_get_args(in, &a);
	op = a.op;
	c->out->from = may_be_placed(op) ? (uint32_t)disp : XDR_FROM_NONE;
	inline_only = !may_be_placed(op) && rpc_req_room(c->req);
	c->put = false;
	if (c->session)
		sum_op(c, in, from, &a);
	if (r == -EBADMSG && known(c, op) && !ops[op].fn) {
		status = NFS4ERR_NOTSUPP;
	} else if (r == -EBADMSG) {
		status = NFS4ERR_BADXDR;
	} else if (!known(c, op)) {
		op = OP_ILLEGAL;
		status = NFS4ERR_OP_ILLEGAL;
	} else if (r < 0 || !ops[op].fn) {
		status = NFS4ERR_NOTSUPP;
	} else if (c->index + 1 == c->nops && xdr_in_left(in) >= 4) {
		/* less than a word can be the round-up of an item that came by a chunk */
		status = NFS4ERR_BADXDR;
	} else {
		status = check_op(c, op);
		if (!(ops[op].flags & F_LOOKS))
			c->seen = NULL;
		if (status == NFS4_OK) {
			c->once |= ops[op].flags & F_ONCE || (op == OP_WRITE && c->verified);
			status = ops[op].fn(c, &a);
			if (inline_only)
				assert(c->out->npayloads == npayloads);
		}
		use_end(c);
		c->asked = false;
	}
	if (c->asks) { /* undo: the operation runs again */
		in->pos = from;
		c->sum = sum;
		c->summed = summed;
		rewind_to(c, mark, npayloads);
		return NFS4_OK;
	}
	if (c->replayed)
		return status;
	if (c->last.set.n > nlast && !c->changed.known)
		c->changed = (struct place){true, op, c->index, mark, npayloads};
	if (status == NFS4_OK && (c->out->overflow || c->out->len > c->res_max))
		status = c->cachethis ? NFS4ERR_REP_TOO_BIG_TO_CACHE : NFS4ERR_REP_TOO_BIG;
	else if (status == NFS4_OK || c->put)
		goto done;
	rewind_to(c, mark, npayloads);
	put_failure(c, op, status);
done:
	c->verified = op == OP_VERIFY && status == NFS4_OK;
	log_data("%s: %s: %s", c->client ? c->client->who : "?", nfs4_op_name(op),
		nfs4_status_name(status));
	return status;
}

static void run_ops(struct compound *c)
{
	while (c->status == NFS4_OK && c->index < c->nops && !c->replayed) {
		c->status = run_one(c, &c->req->args);
		if (c->asks)
			return;
		c->index++;
	}
}

/* Is all of the reply in x? */
static bool is_whole(const struct xdr_out *x)
{
	return !x->overflow && xdr_out_total(x) == x->len;
}

/* The slot keeps a short reply without payload, even if the client did not ask for that. */
static void keep_reply(struct compound *c)
{
	bool keep = is_whole(c->out) && c->out->len <= STATE_MAX_CACHED;

	slot_done(c->session, c->slotid, keep ? c->out->base : NULL, (uint32_t)c->out->len, c->sum,
		c->summed);
}

/* Keeps the answer, as it is now, for the server's next run. Not an answer about opens, which that
 * run does not know. An answer about appended data is kept as if the data were stable. The next run
 * syncs before giving the answer, and a COMMIT sent to the next run could not report a loss. */
static void keep_for_next_run(struct compound *c)
{
	bool appended = c->committed_at && c->committed_at < c->out->len;
	uint8_t committed[4], *at = c->out->base + c->committed_at;
	struct answers_v4 key;

	if (!c->session || c->replayed || !c->once || c->opened || !is_whole(c->out))
		return;
	key = (struct answers_v4){c->session->id, c->slotid, c->slot_seq};
	if (appended) {
		memcpy(committed, at, sizeof(committed));
		xdr_patch_u32(c->out, c->committed_at, NFS_FILE_SYNC);
	}
	answers_keep(
		c->sv->answers, &key, sizeof(key), c->sum, c->summed, c->out->base, c->out->len);
	if (appended)
		memcpy(at, committed, sizeof(committed));
}

struct compound *compound_new(struct serve *sv, struct rpc_req *req)
{
	/* calloc() would bypass the thread's cache of blocks */
	struct compound *c = malloc(sizeof(*c));

	if (c)
		*c = (struct compound){.sv = sv, .req = req, .out = &req->res};
	return c;
}

bool compound_run(struct compound *c)
{
	struct rpc_req *req = c->req;
	struct nfs4_compound_args head;

	if (nfs4_get_compound_args(&req->args, &head) < 0) {
		free(c);
		return false;
	}
	c->nops = head.nops;
	c->res_max = req->res_max < req->res.cap ? req->res_max : req->res.cap;
	c->inline_max = req->res_max;
	c->res_at = nfs4_begin_compound_res(c->out, &head.tag);
	c->minor = head.minor;
	c->status = c->minor == 1 || c->minor == 2 ? NFS4_OK : NFS4ERR_MINOR_VERS_MISMATCH;
	run_ops(c);
	return true;
}

/* A change of c could not be made stable: the answer ends with the first operation that added to
 * the set of changed objects, and that operation fails with err. */
static void take_back(struct compound *c, int err)
{
	struct nfs4_stateid closed;

	c->status = nfs4_errno_status(err);
	c->index = c->changed.index + 1;
	rewind_to(c, c->changed.len, c->changed.npayloads);
	put_failure(c, c->changed.op, c->status);
	if (c->opened &&
		c->opened_index >= c->changed.index) { /* the client never learns of this open */
		st_close(&c->sv->state, c->client, c->opened, &c->opened_sid, &closed);
		if (c->delegated)
			deleg_return(&c->sv->state, c->client, c->opened, &c->deleg_sid);
	}
}

static void is_stable(struct stable_job *job, int err)
{
	struct compound *c = (void *)((char *)job - offsetof(struct compound, last));
	struct serve *sv = c->sv;

	if (err < 0 && c->changed.known) {
		take_back(c, err);
		nfs4_end_compound_res(c->out, c->res_at, c->status, c->index);
		keep_for_next_run(c);
	}
	if (c->session && !c->replayed)
		keep_reply(c);
	obj_unref(sv->objs, c->cur);
	obj_unref(sv->objs, c->saved);
	obj_unref(sv->objs, c->opened);
	session_put(&sv->state, c->session);
	c->done(c);
	free(c);
}

static void go_on(void *arg)
{
	struct compound *c = arg;

	c->asks = false;
	c->asked = true;
	c->seen = NULL;
	run_ops(c);
}

static void inquired(struct inquiry *q)
{
	struct compound *c = (void *)((char *)q - offsetof(struct compound, inquiry));

	ident_call(c->keep_ident, &c->req->cred, go_on, c);
	ident_drop(); /* the main thread may be here, which opens the log again */
	compound_end(c, c->done);
}

void compound_end(struct compound *c, void (*done)(struct compound *c))
{
	c->done = done;
	if (c->asks) {
		c->inquiry.done = inquired;
		inquiry_make(&c->sv->state, c->cur, c->client, &c->inquiry);
		return;
	}
	if (!c->replayed)
		nfs4_end_compound_res(c->out, c->res_at, c->status, c->index);
	keep_for_next_run(c);
	c->last.done = is_stable;
	stable_finish(c->sv->stable, &c->last);
}

/* A COMPOUND for ident_call(). */
struct job {
	struct compound *c;
	bool ok;
};

static void run_job(void *arg)
{
	struct job *job = arg;

	job->ok = compound_run(job->c);
}

static void answer(struct compound *c)
{
	struct serve *sv = c->sv;

	rpc_req_reply(c->req, RPC_ACCEPT_SUCCESS);
	if (c->probe)
		cb_probe(sv, c->probe);
}

static void serve_compound(const struct serve_port *port, struct rpc_req *req)
{
	struct job job = {.c = compound_new(port->sv, req)};

	if (!job.c || rpc_req_begin(req, SERVE_RES_CAP) < 0) {
		free(job.c);
		rpc_req_reply(req, RPC_ACCEPT_SYSTEM_ERR);
		return;
	}
	job.c->keep_ident = port->keep_ident;
	ident_call(port->keep_ident, &req->cred, run_job, &job);
	if (job.ok)
		compound_end(job.c, answer);
	else
		rpc_req_reply(req, RPC_ACCEPT_GARBAGE_ARGS);
}

void compound_request(const struct serve_port *port, struct rpc_req *req)
{
	if (req->proc == NFS4_PROC_NULL)
		rpc_req_reply(req,
			rpc_req_begin(req, 4) == 0 ? RPC_ACCEPT_SUCCESS : RPC_ACCEPT_SYSTEM_ERR);
	else if (req->proc != NFS4_PROC_COMPOUND)
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
	else
		serve_compound(port, req);
}

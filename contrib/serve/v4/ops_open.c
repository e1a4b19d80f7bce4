/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_open: OPEN, CLOSE, OPEN_DOWNGRADE (RFC 8881 sections 18.16, 18.2, 18.18).
 *
 * file.h finds and makes files; this file turns files into opens of clients.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/ops/file.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/layout.h"
#include "contrib/serve/state/client.h"
#include "contrib/serve/state/open.h"
#include "contrib/serve/state/session.h"
#include "contrib/serve/v4/ops.h"
#include "contrib/serve/v4/ops_io.h"

#define SPACE_SHARE 16 /* a write delegation may take 1/16 of the free space */

/* The state of an OPEN under way. */
struct opened {
	struct file_open f;
	bool reads_only; /* f.fd can only be read */
	struct nfs4_change_info cinfo;
};

static bool exclusive(const struct nfs4_open_args *a)
{
	return a->create && (a->mode == EXCLUSIVE4 || a->mode == EXCLUSIVE4_1);
}

static enum file_how how(const struct nfs4_open_args *a)
{
	if (!a->create)
		return FILE_EXISTING;
	if (exclusive(a))
		return FILE_EXCLUSIVE;
	return a->mode == GUARDED4 ? FILE_GUARDED : FILE_UNCHECKED;
}

/* A client that makes a file and opens the file only to read gets a read-only descriptor. A
 * writable descriptor would be in the way of a read delegation. */
static void keep_reader(struct opened *op)
{
	int fd;

	ident_suspend(); /* the mode may forbid the maker to read */
	fd = obj_open(op->f.o, O_RDONLY);
	ident_resume();
	if (fd < 0)
		return;
	close(op->f.fd);
	op->f.fd = fd;
	op->reads_only = true;
}

static uint32_t open_by_name(struct compound *c, const struct nfs4_open_args *a, struct opened *op)
{
	uint32_t status = NFS4_OK;
	bool masked;

	op->f.how = how(a);
	memcpy(op->f.verf, a->verf, sizeof(op->f.verf));
	if (a->create && a->mode != EXCLUSIVE4)
		status = attr_decode(c->sv->idmap, c->minor, c->cur, &a->attrs, &op->f.set, NULL);
	if (status == NFS4_OK && exclusive(a) &&
		op->f.set.mask &
			(NFS_SET_ATIME | NFS_SET_MTIME | NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW))
		status = NFS4ERR_INVAL; /* not in suppattr_exclcreat */
	if (status != NFS4_OK)
		return status;
	cinfo_before(c->cur, &op->cinfo);
	op->cinfo.after = op->cinfo.before;
	masked = attr_umask_begin(c->cur, &op->f.set);
	status = file_open_name(c->sv, c->cur, &a->name, &op->f);
	attr_umask_end(masked);
	if (op->f.created)
		cinfo_after(c->cur, &op->cinfo);
	if (status == NFS4_OK && op->f.created && !(a->share_access & OPEN4_SHARE_ACCESS_WRITE))
		keep_reader(op);
	return status;
}

/* Opens a file by its handle. */
static uint32_t open_by_fh(struct compound *c, const struct nfs4_open_args *a, struct opened *op)
{
	uint32_t status = need_file(c->cur);

	if (status != NFS4_OK)
		return status;
	if (a->create) {
		if (a->mode != UNCHECKED4)
			return NFS4ERR_EXIST;
		status = attr_decode(c->sv->idmap, c->minor, c->cur, &a->attrs, &op->f.set, NULL);
		op->f.set.mask &= op->f.set.size == 0 ? NFS_SET_SIZE : 0;
	}
	op->f.o = obj_ref(c->sv->objs, c->cur);
	return status;
}

/* Opens a file of which the client holds a delegation, for an open that the client has already made
 * under the delegation. */
static uint32_t open_delegated(
	struct compound *c, const struct nfs4_open_args *a, struct opened *op)
{
	struct nfs4_stateid sid = a->deleg;
	uint32_t status;
	struct st *st;

	if (a->create)
		return NFS4ERR_INVAL;
	status = a->claim == CLAIM_DELEG_CUR_FH ? open_by_fh(c, a, op) : open_by_name(c, a, op);
	if (status != NFS4_OK)
		return status;
	if (a->claim == CLAIM_DELEG_CUR_FH)
		current_stateid(c, &sid);
	status = st_get(c->client, op->f.o, &sid, ST_DELEG, &st);
	st_put(&c->sv->state, st);
	return status;
}

static uint32_t check_args(const struct compound *c, const struct nfs4_open_args *a)
{
	uint32_t access = a->share_access & OPEN4_SHARE_ACCESS_BOTH;

	if (access == 0 || a->share_deny > OPEN4_SHARE_DENY_BOTH)
		return NFS4ERR_INVAL;
	if (c->sv->read_only && (access & OPEN4_SHARE_ACCESS_WRITE || a->create))
		return NFS4ERR_ROFS;
	return NFS4_OK;
}

/* Truncates a file that existed before the OPEN. */
static uint32_t truncate_opened(
	struct compound *c, struct opened *op, const struct nfs4_stateid *sid)
{
	struct nfs4_stateid closed;
	uint32_t status;
	struct io io = {.fd = -1};

	if (op->f.created || !(op->f.set.mask & NFS_SET_SIZE) || op->f.done)
		return NFS4_OK;
	status = use_begin(
		c, op->f.o, DELEG_MODIFY); /* the file may have been opened for reading only */
	if (status == NFS4_OK)
		status = st_io(c->client, op->f.o, sid, true, &io.st, &io.fd);
	if (status == NFS4ERR_OPENMODE) { /* opened to read: the caller's rights decide */
		io.fd = deleg_dup(&c->sv->state, op->f.o, c->client, W_OK);
		io.own = io.fd >= 0;
	}
	if (status == NFS4_OK || status == NFS4ERR_OPENMODE)
		status = attr_apply(op->f.o, io.fd, &op->f.set, &op->f.done);
	io_end(c, &io);
	if (status != NFS4_OK && sid->seqid == 1)
		st_close(&c->sv->state, c->client, op->f.o, sid, &closed);
	return status;
}

/* Limits the size to which the holder of a write delegation may let o grow without asking. No space
 * is reserved, so the limit is a small part of the free space. */
static void limit_space(const struct obj *o, struct nfs4_delegation *d)
{
	struct nfs_fsstat fs;
	struct statx st;

	d->limit_by = NFS_LIMIT_SIZE;
	if (obj_stat(o, &st) == 0 && attr_fsstat(o, &fs) == 0)
		d->limit_size = st.stx_size + fs.abytes / SPACE_SHARE;
}

static void delegate(struct compound *c, const struct nfs4_open_args *a, struct obj *o,
	const struct nfs4_stateid *sid, struct nfs4_delegation *d)
{
	struct deleg_ask ask = {
		.access = a->share_access & OPEN4_SHARE_ACCESS_BOTH,
		.want = a->share_access,
		.reclaim = a->claim == CLAIM_PREVIOUS,
		.claimed = a->deleg_type,
		.cur = a->claim == CLAIM_DELEGATE_CUR || a->claim == CLAIM_DELEG_CUR_FH,
		.by = {c->session->id, c->slot_seq, c->slotid},
	};

	uint32_t want = a->share_access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;
	struct statx st;

	if (c->sv->state.delegs->mode == DELEG_WRITE &&
		a->share_access & OPEN4_SHARE_ACCESS_WRITE &&
		want != OPEN4_SHARE_ACCESS_WANT_NO_DELEG && obj_stat(o, &st) == 0)
		ask.change = attr_change(o, &st);
	use_end(c); /* ends the use: the client knows of the changes of its own OPEN */
	deleg_grant(&c->sv->state, c->session, &c->req->cred, o, sid, &ask, d);
	if (d->type == OPEN_DELEGATE_WRITE)
		limit_space(o, d);
	if (c->opened && c->opened_index == c->index) {
		c->delegated = d->type == OPEN_DELEGATE_READ || d->type == OPEN_DELEGATE_WRITE;
		c->deleg_sid = d->stateid;
	}
}

/* True: the client has a delegation from now on. */
static bool put_open(struct compound *c, const struct nfs4_open_args *a, const struct opened *op,
	const struct nfs4_stateid *sid)
{
	struct nfs4_open_res res = {.stateid = *sid, .cinfo = op->cinfo};

	res.rflags = OPEN4_RESULT_LOCKTYPE_POSIX | OPEN4_RESULT_MAY_NOTIFY_LOCK;
	res.attrset = nfs4_sattr_bits(op->f.done);
	if (exclusive(a)) { /* section 18.16.3: the attributes that hold the verifier */
		nfs4_bit_set(&res.attrset, FATTR4_TIME_ACCESS);
		nfs4_bit_set(&res.attrset, FATTR4_TIME_MODIFY);
	}
	delegate(c, a, op->f.o, sid, &res.deleg);
	nfs4_put_open_res(c->out, NFS4_OK, &res);
	return res.deleg.type == OPEN_DELEGATE_READ || res.deleg.type == OPEN_DELEGATE_WRITE;
}

uint32_t op_open(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_open_args *a = &args->u.open;
	struct opened op = {.f.fd = -1};
	struct nfs4_stateid sid;
	bool delegated;
	uint32_t status = check_args(c, a);

	if (status == NFS4_OK)
		status = client_may_claim(&c->sv->state, c->client, a->claim == CLAIM_PREVIOUS);
	if (status != NFS4_OK)
		return status;
	if (a->create) /* before a file is made that the client could not open */
		status = st_open_room(&c->sv->state, c->client, &c->req->cred);
	if (status != NFS4_OK)
		return status;
	switch (a->claim) {
	case CLAIM_NULL:
		status = open_by_name(c, a, &op);
		break;
	case CLAIM_FH:
	case CLAIM_PREVIOUS:
		status = open_by_fh(c, a, &op);
		break;
	case CLAIM_DELEGATE_CUR:
	case CLAIM_DELEG_CUR_FH:
		status = open_delegated(c, a, &op);
		break;
	default: /* delegations do not outlive a restart of the client: section 10.2.1 lets the */
		return NFS4ERR_NOTSUPP; /* server choose */
	}
	if (status == NFS4_OK) {
		status = st_open(&c->sv->state, c->client, &c->req->cred, op.f.o, &a->owner.owner,
			a->share_access & OPEN4_SHARE_ACCESS_BOTH, a->share_deny, op.f.fd,
			!op.reads_only, &sid);
		op.f.fd = -1;
	}
	if (status == NFS4_OK)
		status = truncate_opened(c, &op, &sid);
	if (op.f.fd >= 0)
		close(op.f.fd);
	if (status != NFS4_OK) {
		obj_unref(c->sv->objs, op.f.o);
		return status;
	}
	if (op.f.changed || (!op.f.created && op.f.done & NFS_SET_SIZE))
		stable_want(c->sv->stable, &c->last.set, op.f.o);
	if (op.f.dir_changed)
		stable_want(c->sv->stable, &c->last.set, c->cur);
	if (sid.seqid == 1 && !c->opened) {
		c->opened = obj_ref(c->sv->objs, op.f.o);
		c->opened_index = c->index;
		c->opened_sid = sid;
	}
	delegated = put_open(c, a, &op, &sid);
	if (!c->probe && session_try_back(c->session)) {
		session_ref(c->session);
		c->probe = c->session;
	}
	set_current(c, op.f.o);
	/* Another client may have changed the file after the stat, and closed the file before the
	 * delegation. */
	if (delegated)
		c->seen = NULL;
	else if (op.f.st_good)
		remember_stat(c, op.f.o, &op.f.st);
	c->cur_sid = sid;
	return NFS4_OK;
}

uint32_t op_close(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_stateid sid = a->u.close.stateid;
	struct nfs4_stateid_res res;
	uint32_t status;

	current_stateid(c, &sid);
	layout_settle(&c->sv->state, c->client, c->cur);
	status = st_close(&c->sv->state, c->client, c->cur, &sid, &res.stateid);
	if (status != NFS4_OK)
		return status;
	layout_closed(&c->sv->state, c->client, c->cur);
	memset(&c->cur_sid, 0, sizeof(c->cur_sid));
	nfs4_put_stateid_res(c->out, OP_CLOSE, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_open_downgrade(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_open_downgrade_args *a = &args->u.open_downgrade;
	struct nfs4_stateid sid = a->stateid;
	struct nfs4_stateid_res res;
	uint32_t status;

	current_stateid(c, &sid);
	status = st_downgrade(&c->sv->state, c->client, c->cur, &sid,
		a->share_access & OPEN4_SHARE_ACCESS_BOTH, a->share_deny, &res.stateid);
	if (status != NFS4_OK)
		return status;
	c->cur_sid = res.stateid;
	nfs4_put_stateid_res(c->out, OP_OPEN_DOWNGRADE, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_delegreturn(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_stateid sid = a->u.stateid.stateid;
	uint32_t status;

	current_stateid(c, &sid);
	layout_settle(&c->sv->state, c->client, c->cur);
	status = deleg_return(&c->sv->state, c->client, c->cur, &sid);
	if (status == NFS4_OK) {
		layout_closed(&c->sv->state, c->client, c->cur);
		nfs4_put_op_res(c->out, OP_DELEGRETURN, NFS4_OK);
	}
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_open: OPEN, CLOSE and the operations beside them. The op is always the own op of a
 * struct nfs_open (be.v4.open), from which the user's op is answered (nfs4_open.c).
 *
 *     O_CREAT          UNCHECKED4, also with O_TRUNC: without a size, which would apply to any file
 *                      that is there
 *     O_CREAT|O_EXCL   EXCLUSIVE4_1 with a verifier of this open: sent twice, it makes one file
 *     O_TRUNC alone    OPEN, then SETATTR size 0 in the same COMPOUND; with O_RDONLY the OPEN asks
 *                      for write access as well. The name may stand for another file by now, which
 *                      is not to be emptied: VERIFY stands between OPEN and SETATTR
 *
 * A cancelled user is answered when no call that truncates the file is at the server any more, and
 * none is sent after that (nfs4_open_truncates()).
 *
 * ACCESS and the first READ go with OPEN if the user wants them, GETATTR between the two: as with
 * any READ, attributes may be older than data, and not the other way round. Neither need succeed.
 *
 * When GETFH after OPEN is answered "later", all is sent again: the same open-owner gets the same
 * open. If GETFH fails for good, the open is given back without a handle, through the name again.
 */
#include "nfsproto/v4/ops/nfs4_ops_open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_openreq.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/ops/nfs4_ops_attr.h"
#include "nfsproto/v4/ops/nfs4_ops_dir.h"
#include "nfsproto/v4/ops/nfs4_ops_layout.h"
#include "nfsproto/v4/pnfs/nfs4_pnfs.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/log.h"

#define OLD_TRIES 8u /* of a LAYOUTRETURN, as stateids change */

/* Attributes not to be set by an exclusive create: the server may keep the verifier in the times
 * (RFC 8881 18.16.3), or names the permitted attributes by suppattr_exclcreat. A SETATTR afterwards
 * sets the attributes that were left out. */
#define EXCL_LATER (NFS_SET_ATIME | NFS_SET_MTIME | NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW)

/* Has `only` one file? Then the COMPOUND ends at any other file, before the truncation. */
static bool verifies(const struct nfs_op *op)
{
	return op->u.open.only.len && op->u.open.name.len;
}

/* Applies the umask to the mode here, without the help of the server. */
static void mask_mode(struct nfs_sattr *set)
{
	if (set->mask & NFS_SET_UMASK)
		set->mode &= ~set->umask;
	set->mask &= ~NFS_SET_UMASK;
}

/* The part of mask that the server takes with an exclusive create (RFC 8881 18.16.3: any other
 * attribute is an error). If the server takes no umask, the mode in the set is masked already. */
static uint32_t excl_mask(const struct nfs4_client *c, uint32_t mask)
{
	uint32_t umask = mask & NFS_SET_UMASK;

	for (uint32_t bit = 1; bit <= NFS_SET_MTIME_NOW; bit <<= 1) {
		struct nfs4_bitmap b = nfs4_sattr_bits(bit | umask);

		b = nfs4_bits_and(&b, &c->exclcreat);
		if ((bit & EXCL_LATER) || nfs4_bits_none(&b))
			mask &= ~bit;
	}
	return mask & NFS_SET_MODE ? mask : mask & ~NFS_SET_UMASK;
}

static bool excl_umask(const struct nfs4_client *c)
{
	return nfs4_bit(&c->exclcreat, FATTR4_MODE_UMASK);
}

static void open_verifier(
	const struct nfs4_client *c, const struct nfs_open *o, uint8_t verf[NFS4_VERIFIER_SIZE])
{
	uint64_t mine;

	memcpy(&mine, c->srv->verf, sizeof(mine));
	mine += o->owner;
	memcpy(verf, &mine, sizeof(mine));
}

static void put_open(struct nfs4_client *c, const struct nfs_open *o, struct nfs4_comp *k,
	struct nfs4_open_args *a)
{
	if (!(a->share_access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK))
		a->share_access |= OPEN4_SHARE_ACCESS_WANT_NO_DELEG;
	a->share_deny = OPEN4_SHARE_DENY_NONE;
	a->owner.clientid = c->srv->clientid;
	a->owner.owner.data = (const uint8_t *)&o->owner;
	a->owner.owner.len = sizeof(o->owner);
	nfs4_put_open_args(k->x, a);
	nfs4_comp_count(k, OP_OPEN, 0);
}

/* Chooses the delegation to ask for, if any. The op keeps the choice for the server's answer. A
 * former daemon's OPEN asks for the same again. */
static uint32_t wants_deleg(struct nfs4_client *c, struct nfs_op *op)
{
	const struct nfs_open *o = op->be.v4.open;

	if (!op->be.v4.former)
		op->be.v4.deleg_wanted = OPEN_DELEGATE_NONE;
	if (!op->be.v4.former &&
		(o->access != OPEN4_SHARE_ACCESS_READ || !(op->u.open.flags & (O_CREAT | O_TRUNC))))
		op->be.v4.deleg_wanted = nfs4_deleg_wanted(c, o->access);
	switch (op->be.v4.deleg_wanted) {
	case OPEN_DELEGATE_READ:
		return OPEN4_SHARE_ACCESS_WANT_READ_DELEG;
	case OPEN_DELEGATE_WRITE:
		return OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG;
	default:
		return 0;
	}
}

static bool reads(const struct nfs_op *op)
{
	return op->be.v4.kind == NFS4_K_OPEN_READ;
}

static void put_first_read(struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_read_args a = {
		.stateid = nfs4_stateid_current,
		.count = op->u.open.to.len,
	};

	nfs4_comp_read(k, &a, &op->call, &op->u.open.to);
}

static void put_access(struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_access_args a = {.access = op->u.open.want};

	nfs4_put_access_args(k->x, &a);
	nfs4_comp_count(k, OP_ACCESS, 0);
}

void nfs4_put_op_open(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs_open *o = op->be.v4.open;
	struct nfs_sattr set = op->u.open.set;
	uint8_t vals[NFS4_SATTR_MAX];
	struct nfs4_open_args a = {
		.share_access = o->access,
		.claim = op->u.open.name.len ? CLAIM_NULL : CLAIM_FH,
		.name = op->u.open.name,
	};

	if (op->u.open.flags & O_CREAT) {
		a.create = true;
		a.mode = UNCHECKED4;
		if (op->u.open.flags & O_EXCL) {
			a.mode = EXCLUSIVE4_1;
			open_verifier(c, o, a.verf);
			if (!excl_umask(c))
				mask_mode(&set);
			set.mask = excl_mask(c, set.mask);
		}
		nfs4_sattr_encode(&set, vals, &a.attrs, k->owners);
	}
	if (nfs_op_changes_data(op) && !nfs4_open_truncates(c, o))
		op->u.open.flags &= ~O_TRUNC;
	a.share_access |= wants_deleg(c, op);
	nfs4_comp_putfh(k, &op->u.open.dir);
	put_open(c, o, k, &a);
	nfs4_comp_op(k, OP_GETFH);
	if (nfs_op_changes_data(op)) {
		struct nfs_sattr zero = {.mask = NFS_SET_SIZE};

		if (verifies(op))
			nfs4_put_is_file(k, &op->u.open.only);
		nfs4_put_setattr(k, &nfs4_stateid_current, &zero);
	}
	if (op->u.open.want)
		put_access(op, k);
	nfs4_comp_getattr(k, &c->stat_want);
	if (reads(op))
		put_first_read(op, k);
}

/* A later step of a successful OPEN failed with rc for good: the open is given back, and then the
 * user gets rc. */
static enum nfs_outcome open_undo(struct nfs_op *op, int rc)
{
	op->be.v4.kind = NFS4_K_OPEN_UNDO;
	op->be.v4.gen = (uint32_t)rc;
	return NFS_AGAIN;
}

/* The permitted access, if the user asked for ACCESS; as nfs4_reply_op(). */
static int get_access(struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_access_res res;
	int rc = op->u.open.want ? nfs4_reply_op(r, OP_ACCESS) : 0;

	if (rc || !op->u.open.want)
		return rc;
	if (nfs4_get_access_res(r->x, NFS4_OK, &res))
		return -EBADMSG;
	op->u.open.have_access = true;
	op->u.open.allowed = res.access & op->u.open.want;
	return 0;
}

/* The first data, last in the COMPOUND. Without data the user can ask anew. */
static enum nfs_outcome get_first_read(struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_read_res res;
	int rc = nfs4_reply_op(r, OP_READ);
	uint32_t n;

	if (rc > 0) {
		r->status = NFS4_OK;
		return NFS_DONE;
	}
	if (rc || nfs4_get_read_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	if (rpc_call_take_sink(&op->call, r->x, 0, &n)) {
		log_warn("%s: more data came with OPEN than the %u bytes that were wanted: server "
			 "bug",
			nfs4_task_server(op)->name, op->u.open.to.len);
		return nfs_failed(op, -EBADMSG);
	}
	op->u.open.have_data = n > 0 || res.eof;
	op->u.open.count = n;
	op->u.open.eof = res.eof;
	return NFS_DONE;
}

/* Truncates by a call of its own: SETATTR with the stateid that we now have. */
static enum nfs_outcome truncate_again(struct nfs_op *op)
{
	op->u.open.set = (struct nfs_sattr){.mask = NFS_SET_SIZE};
	op->be.v4.kind = NFS4_K_OPEN_SETATTR;
	return NFS_AGAIN;
}

/* VERIFY has failed for the open file. Not every server compares handles. */
static enum nfs_outcome verified(struct nfs_op *op, struct nfs4_reply *r, int rc)
{
	if (rc < 0)
		return nfs_failed(op, -EBADMSG);
	if (nfs_fh_equal(&op->u.open.fh, &op->u.open.only))
		return truncate_again(op);
	r->status = NFS4_OK;
	return NFS_DONE;
}

/* After OPEN itself: the handle, the truncation, the rights, the attributes, the data. */
static enum nfs_outcome get_open_rest(struct nfs_op *op, struct nfs4_reply *r)
{
	int rc;

	if (nfs_op_changes_data(op)) {
		rc = verifies(op) ? nfs4_reply_op(r, OP_VERIFY) : 0;
		if (rc)
			return verified(op, r, rc);
		rc = nfs4_get_setattr(r);
		if (rc < 0)
			return nfs_failed(op, rc);
		if (rc == NFS4ERR_DELAY || rc == NFS4ERR_GRACE ||
			rc == NFS4ERR_REP_TOO_BIG_TO_CACHE)
			return truncate_again(op);
		if (rc)
			return open_undo(op, rc);
	}
	rc = get_access(op, r);
	if (!rc)
		rc = nfs4_reply_stat(r, &op->u.open.attr);
	if (!rc && reads(op))
		return get_first_read(op, r);
	if (rc <= 0)
		return nfs4_outcome(op, rc);
	op->be.v4.kind = NFS4_K_GETATTR_AFTER;
	return NFS_AGAIN;
}

/* The attributes that an exclusive create has left out, and the times that hold the verifier. The
 * server names the latter in attrset; SETATTR sets these times to the time of creation. */
static uint32_t excl_missing(const struct nfs_op *op, const struct nfs4_bitmap *attrset)
{
	uint32_t mask = op->u.open.set.mask;

	for (uint32_t bit = 1; bit <= NFS_SET_MTIME_NOW; bit <<= 1) {
		struct nfs4_bitmap b = nfs4_sattr_bits(bit | (mask & NFS_SET_UMASK)), both;

		if (!(mask & bit) || (bit & EXCL_LATER))
			continue;
		both = nfs4_bits_and(&b, attrset);
		if (!nfs4_bits_none(&both))
			mask &= ~bit;
	}
	if (nfs4_bit(attrset, FATTR4_TIME_ACCESS) || nfs4_bit(attrset, FATTR4_TIME_ACCESS_SET))
		mask |= mask & NFS_SET_ATIME ? 0 : NFS_SET_ATIME_NOW;
	if (nfs4_bit(attrset, FATTR4_TIME_MODIFY) || nfs4_bit(attrset, FATTR4_TIME_MODIFY_SET))
		mask |= mask & NFS_SET_MTIME ? 0 : NFS_SET_MTIME_NOW;
	return mask;
}

/* Is nothing missing but the times, and will the caller set the times? */
static bool leaves_times(struct nfs_op *op)
{
	const uint32_t now = NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW;

	op->u.open.times_left = op->u.open.late_times && !(op->u.open.set.mask & ~now);
	nfs4_open_times(op);
	return op->u.open.times_left;
}

/* A former daemon may have had the answer: files may have changed here since, so that the
 * attributes in the answer do not count as of now. Then the user hears nothing of the delegation.
 */
static void take_deleg(struct nfs4_client *c, struct nfs_op *op, const struct nfs4_delegation *g)
{
	const struct nfs_open *o = op->be.v4.open;
	bool former = op->be.v4.former, writes;
	uint64_t id = nfs4_deleg_came(c, &op->cred, &o->fh, g, o->asked_ns,
		(enum open_delegation_type4)op->be.v4.deleg_wanted, former, &writes);

	op->u.open.deleg = former ? 0 : id;
	op->u.open.deleg_writes = writes && !former;
}

enum nfs_outcome nfs4_get_op_open(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs_open *o = op->be.v4.open;
	struct nfs4_open_res res;
	enum nfs_outcome out;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	nfs4_open_answered(c, o);
	op->u.open.have_access = op->u.open.have_data = op->u.open.times_left = false;
	op->u.open.deleg = 0;
	op->u.open.deleg_writes = false;
	if (!rc)
		rc = nfs4_reply_op(r, OP_OPEN);
	/* without O_CREAT the open needs no space: the server cannot hold more files open */
	if (rc == NFS4ERR_NOSPC && !(op->u.open.flags & O_CREAT))
		return nfs_failed(op, -ENFILE);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_open_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	mutex_lock(&o->lock);
	o->stateid = res.stateid;
	o->gen++;
	mutex_unlock(&o->lock);
	rc = nfs4_reply_getfh(r, &op->u.open.fh);
	if (rc) {
		log_info("%s: OPEN succeeded but GETFH after it said %s", c->srv->name,
			rc > 0 ? nfs4_status_name((uint32_t)rc) : "nonsense");
		return nfs4_outcome(op, rc);
	}
	o->fh = op->u.open.fh;
	nfs4_note_open(o);
	take_deleg(c, op, &res.deleg);
	out = get_open_rest(op, r);
	/* a file truncated behind OPEN has another change attribute by now */
	if (out == NFS_DONE && op->u.open.deleg_writes && !nfs_op_changes_data(op))
		nfs4_deleg_note_change(c, &o->fh, op->u.open.deleg, op->u.open.attr.change);
	if (out == NFS_DONE && (op->u.open.flags & O_EXCL) && (op->u.open.flags & O_CREAT)) {
		if (!excl_umask(c))
			mask_mode(&op->u.open.set);
		op->u.open.set.mask = excl_missing(op, &res.attrset);
		mask_mode(&op->u.open.set); /* SETATTR takes no umask (RFC 8275) */
		if (op->u.open.set.mask == 0 || leaves_times(op))
			return NFS_DONE;
		if (nfs4_reply_end(r))
			return nfs_failed(op, -EBADMSG);
		op->u.open.have_access = false; /* ACCESS was about the file before SETATTR */
		op->be.v4.kind = NFS4_K_OPEN_SETATTR;
		return NFS_AGAIN;
	}
	return out;
}

/* --- CLOSE --------------------------------------------------------------------------------- */

/* The CLOSE after a failed OPEN brings no attributes: op still has OPEN's arguments. */
static bool brings_attr(const struct nfs_op *op)
{
	return op->be.v4.kind == NFS_CLOSE && op->be.v4.open->fh.len > 0;
}

/* LAYOUTRETURN in front of CLOSE, if the layout of the file is to go back by now. */
static void put_layout(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_layoutreturn r;

	if (!op->be.v4.layout)
		op->be.v4.layout = nfs4_pnfs_close_along(c, op->be.v4.open);
	if (op->be.v4.layout && !nfs4_layout_returning(op->be.v4.layout, &r)) {
		nfs4_layout_closed(op->be.v4.layout, true);
		op->be.v4.layout = NULL;
	}
	if (op->be.v4.layout)
		nfs4_put_layout_back(c, k, &r);
}

/* LAYOUTRETURN of the layout of op was answered: rc as nfs4_reply_op(). True: go on to CLOSE, else
 * *out. */
static bool get_layout(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r, enum nfs_outcome *out)
{
	struct nfs4_layoutreturn_res res;
	int rc = nfs4_reply_op(r, OP_LAYOUTRETURN);

	if (!rc)
		rc = nfs4_get_layoutreturn_res(r->x, NFS4_OK, &res);
	*out = nfs4_outcome(op, rc);
	if (rc < 0 || rc == NFS4ERR_DELAY || rc == NFS4ERR_GRACE)
		return false;
	/* a recall has taken a seqid meanwhile */
	if (rc == NFS4ERR_OLD_STATEID && nfs4_task_may_stray(op, OLD_TRIES)) {
		*out = NFS_AGAIN;
		return false;
	}
	if (rc)
		log_ctrl("%s: LAYOUTRETURN with CLOSE: %s", c->srv->name,
			nfs4_status_name((uint32_t)rc));
	nfs4_layout_closed(op->be.v4.layout, !rc);
	op->be.v4.layout = NULL;
	*out = NFS_AGAIN; /* CLOSE alone */
	return !rc;
}

void nfs4_put_op_close(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs_open *o = op->be.v4.open;
	uint32_t gen = op->be.v4.gen;
	struct nfs4_close_args a = {.stateid = nfs4_open_stateid(op, o)};

	if (op->be.v4.kind == NFS4_K_OPEN_UNDO)
		op->be.v4.gen = gen; /* for NFS4_K_OPEN_UNDO gen is the status to end with */
	if (o->fh.len > 0) {
		nfs4_comp_putfh(k, &o->fh);
	} else { /* op still has OPEN's arguments */
		nfs4_comp_putfh(k, &o->own.u.open.dir);
		if (o->own.u.open.name.len > 0)
			nfs4_comp_lookup(k, &o->own.u.open.name);
	}
	op->call.patient = o->patient;
	if (brings_attr(op))
		put_layout(c, op, k);
	nfs4_put_close_args(k->x, &a);
	nfs4_comp_count(k, OP_CLOSE, 0);
	if (brings_attr(op))
		nfs4_comp_getattr(k, &c->data_want);
}

enum nfs_outcome nfs4_get_op_close(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs_open *o = op->be.v4.open;
	struct nfs4_stateid_res res;
	enum nfs_outcome out;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc && brings_attr(op) && op->be.v4.layout && !get_layout(c, op, r, &out))
		return out;
	if (!rc && o->fh.len == 0 && o->own.u.open.name.len > 0)
		rc = nfs4_reply_op(r, OP_LOOKUP);
	if (!rc)
		rc = nfs4_reply_op(r, OP_CLOSE);
	switch (rc) {
	case 0:
		rc = nfs4_get_stateid_res(r->x, NFS4_OK, &res);
		if (!rc && brings_attr(op))
			rc = nfs4_reply_data_attr_behind(r, &op->u.close.attr);
		return nfs4_outcome(op, rc);
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_ADMIN_REVOKED:
	case NFS4ERR_STALE:
	case NFS4ERR_FHEXPIRED:
		/* the server has no such open any more, as CLOSE wanted */
		r->left = 0;
		r->status = NFS4_OK;
		return NFS_DONE;
	default:
		return nfs4_outcome(op, rc);
	}
}

void nfs4_put_op_open_undo(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	nfs4_put_op_close(c, op, k);
}

enum nfs_outcome nfs4_get_op_open_undo(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	uint32_t status = op->be.v4.gen;
	enum nfs_outcome out = nfs4_get_op_close(c, op, r);
	int error = nfs4_status_errno(status);

	if (out == NFS_STATUS && (r->status == NFS4ERR_DELAY || r->status == NFS4ERR_GRACE))
		return out;
	return nfs_failed(op, error ? error : -EIO);
}

/* --- opening anew after state was lost ----------------------------------------------------- */

void nfs4_put_open_again(struct nfs4_client *c, struct nfs_open *o, struct nfs4_comp *k,
	uint32_t more, enum open_claim_type4 claim, const struct nfs4_stateid *deleg)
{
	struct nfs4_open_args a = {
		.claim = claim,
		.deleg_type = OPEN_DELEGATE_NONE,
	};

	if (deleg)
		a.deleg = *deleg;
	mutex_lock(&o->lock);
	a.share_access = o->access | o->wire_access | more;
	mutex_unlock(&o->lock);
	nfs4_comp_putfh(k, &o->fh);
	put_open(c, o, k, &a);
}

int nfs4_get_open_again(struct nfs4_client *c, const struct nfs_op *op, struct nfs_open *o,
	struct nfs4_reply *r, struct nfs4_stateid *id)
{
	struct nfs4_open_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);
	bool writes;

	if (!rc)
		rc = nfs4_reply_op(r, OP_OPEN);
	if (rc)
		return rc;
	if (nfs4_get_open_res(r->x, NFS4_OK, &res))
		return -EBADMSG;
	*id = res.stateid;
	nfs4_deleg_came(c, &op->cred, &o->fh, &res.deleg, 0, OPEN_DELEGATE_NONE, false, &writes);
	return 0;
}

void nfs4_put_op_reopen(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);

	nfs4_put_open_again(
		c, s->u.reopen.open, k, 0, s->u.reopen.reclaim ? CLAIM_PREVIOUS : CLAIM_FH, NULL);
}

enum nfs_outcome nfs4_get_op_reopen(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);

	return nfs4_outcome(
		op, nfs4_get_open_again(c, op, s->u.reopen.open, r, &s->u.reopen.stateid));
}

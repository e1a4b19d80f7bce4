/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_attr: the kinds of op about the attributes of one object.
 */
#include "nfsproto/v4/ops/nfs4_ops_attr.h"

#include <errno.h>

#include "nfsproto/v4/mount/nfs4_lock_io.h"
#include "nfsproto/v4/mount/nfs4_openreq.h"

void nfs4_put_op_getattr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	nfs4_comp_putfh(k, &op->u.getattr.fh);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_getattr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	return nfs4_outcome(op, rc ? rc : nfs4_reply_stat(r, &op->u.getattr.attr));
}

void nfs4_put_setattr(
	struct nfs4_comp *k, const struct nfs4_stateid *stateid, const struct nfs_sattr *set)
{
	uint8_t vals[NFS4_SATTR_MAX];
	struct nfs4_setattr_args a = {.stateid = *stateid};

	nfs4_sattr_encode(set, vals, &a.attrs, k->owners);
	nfs4_put_setattr_args(k->x, &a);
	nfs4_comp_count(k, OP_SETATTR, 0);
}

int nfs4_get_setattr(struct nfs4_reply *r)
{
	struct nfs4_setattr_res res;
	int rc = nfs4_reply_op(r, OP_SETATTR);

	if (rc < 0 || nfs4_get_setattr_res(r->x, (uint32_t)rc, &res))
		return -EBADMSG;
	return rc;
}

/* Steps to the attributes after a change that has succeeded. A failure must not repeat the change:
 * op goes on as NFS4_K_GETATTR_AFTER. Returns as get. */
static enum nfs_outcome getattr_or_ask_again(
	struct nfs_op *op, struct nfs4_reply *r, struct nfs_attr *attr)
{
	int rc = nfs4_reply_stat(r, attr);

	if (rc <= 0)
		return nfs4_outcome(op, rc);
	op->be.v4.kind = NFS4_K_GETATTR_AFTER;
	return NFS_AGAIN;
}

void nfs4_put_op_setattr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_stateid id = nfs4_stateid_anonymous;

	if (op->u.setattr.set.mask & NFS_SET_SIZE)
		id = nfs4_io_stateid(c, op, op->u.setattr.open);
	nfs4_comp_putfh(k, &op->u.setattr.fh);
	nfs4_put_setattr(k, &id, &op->u.setattr.set);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_setattr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_get_setattr(r);
	return rc ? nfs4_outcome(op, rc) : getattr_or_ask_again(op, r, &op->u.setattr.attr);
}

void nfs4_open_times(struct nfs_op *op)
{
	if (op->u.open.times_left)
		op->u.open.attr.atime = op->u.open.attr.mtime = op->u.open.attr.ctime;
}

static bool after_target(struct nfs_op *op, const struct nfs_fh **fh, struct nfs_attr **attr)
{
	switch (op->type) {
	case NFS_SETATTR:
		*fh = &op->u.setattr.fh;
		*attr = &op->u.setattr.attr;
		return true;
	case NFS_OPEN:
		*fh = &op->u.open.fh;
		*attr = &op->u.open.attr;
		return true;
	case NFS_LINK:
		*fh = &op->u.link.fh;
		*attr = &op->u.link.attr;
		return true;
	default:
		return false;
	}
}

void nfs4_put_op_getattr_after(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs_fh *fh;
	struct nfs_attr *attr;

	if (!after_target(op, &fh, &attr))
		return;
	nfs4_comp_putfh(k, fh);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_getattr_after(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs_fh *fh;
	struct nfs_attr *attr;
	int rc;

	if (!after_target(op, &fh, &attr))
		return nfs_failed(op, -EIO);
	if (op->type == NFS_OPEN)
		op->u.open.have_data = false; /* the data would be older than the attributes */
	rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc)
		rc = nfs4_reply_stat(r, attr);
	if (!rc && op->type == NFS_OPEN)
		nfs4_open_times(op);
	return nfs4_outcome(op, rc);
}

void nfs4_put_op_open_setattr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_stateid id = nfs4_open_stateid(op, op->be.v4.open);

	if (nfs_op_changes_data(op) && !nfs4_open_truncates(c, op->be.v4.open)) {
		op->be.v4.kind = NFS4_K_GETATTR_AFTER;
		nfs4_put_op_getattr_after(c, op, k);
		return;
	}
	nfs4_comp_putfh(k, &op->u.open.fh);
	nfs4_put_setattr(k, &id, &op->u.open.set);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_open_setattr(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	nfs4_open_answered(c, op->be.v4.open);
	if (!rc)
		rc = nfs4_get_setattr(r);
	return rc ? nfs4_outcome(op, rc) : getattr_or_ask_again(op, r, &op->u.open.attr);
}

void nfs4_put_op_access(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_access_args a = {.access = op->u.access.want};

	nfs4_comp_putfh(k, &op->u.access.fh);
	nfs4_put_access_args(k->x, &a);
	nfs4_comp_count(k, OP_ACCESS, 0);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_access(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_access_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_ACCESS);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_access_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	op->u.access.allowed = res.access & op->u.access.want;
	return nfs4_outcome(op, nfs4_reply_stat(r, &op->u.access.attr));
}

void nfs4_put_op_statfs(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_bitmap want = nfs4_bits_fs();

	nfs4_comp_putfh(k, &op->u.statfs.fh);
	nfs4_comp_getattr(k, &want);
}

enum nfs_outcome nfs4_get_op_statfs(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_attrs a;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_getattr(r, &a);
	if (rc)
		return nfs4_outcome(op, rc);
	op->u.statfs.st = a.fs;
	if (!nfs4_bit(&a.mask, FATTR4_MAXNAME) || a.fs.name_max == 0 ||
		a.fs.name_max > NFS_NAME_MAX)
		op->u.statfs.st.name_max = NFS_NAME_MAX;
	return NFS_DONE;
}

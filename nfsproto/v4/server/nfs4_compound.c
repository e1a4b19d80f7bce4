/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_compound: building a COMPOUND and walking through the reply. Conventions: nfs4_compound.h.
 */
#include "nfsproto/v4/server/nfs4_compound.h"

#include <assert.h>
#include <errno.h>

#include "nfsproto/wire/ulb.h"

void nfs4_comp_begin(struct nfs4_comp *k, struct xdr_out *x, unsigned minor)
{
	k->x = x;
	k->owners = NULL;
	k->nops = k->npayloads = 0;
	k->bound = ulb_nfs4_begin(0);
	k->count_at = nfs4_put_compound_args(x, "", minor);
}

void nfs4_comp_count(struct nfs4_comp *k, uint32_t op, size_t var)
{
	/* RFC 8267 6.1: an argument that is not eligible stays in the stream */
	assert(k->x->npayloads == k->npayloads || ulb_nfs4_op(op) & ULB_DDP_ARG);
	k->npayloads = k->x->npayloads;
	k->nops++;
	k->bound += ulb_nfs4_res_max(op, var);
}

void nfs4_comp_end(struct nfs4_comp *k)
{
	xdr_patch_u32(k->x, k->count_at, k->nops);
}

void nfs4_comp_op(struct nfs4_comp *k, uint32_t op)
{
	nfs4_put_op(k->x, op);
	nfs4_comp_count(k, op, 0);
}

void nfs4_comp_putfh(struct nfs4_comp *k, const struct nfs_fh *fh)
{
	struct nfs4_putfh_args a = {.fh = *fh};

	nfs4_put_putfh_args(k->x, &a);
	nfs4_comp_count(k, OP_PUTFH, 0);
}

void nfs4_comp_lookup(struct nfs4_comp *k, const struct nfs_name *name)
{
	struct nfs4_name_args a = {.name = *name};

	nfs4_put_name_args(k->x, OP_LOOKUP, &a);
	nfs4_comp_count(k, OP_LOOKUP, 0);
}

void nfs4_comp_getattr(struct nfs4_comp *k, const struct nfs4_bitmap *want)
{
	struct nfs4_getattr_args a = {.want = *want};

	nfs4_put_getattr_args(k->x, &a);
	nfs4_comp_count(k, OP_GETATTR, ulb_nfs4_attrs_max(want));
}

void nfs4_comp_access(struct nfs4_comp *k, uint32_t want)
{
	struct nfs4_access_args a = {.access = want};

	nfs4_put_access_args(k->x, &a);
	nfs4_comp_count(k, OP_ACCESS, 0);
}

void nfs4_comp_read(struct nfs4_comp *k, const struct nfs4_read_args *a, struct rpc_call *call,
	const struct seg_list *to)
{
	call->sink_for[0].begin = (uint32_t)k->x->len;
	nfs4_put_read_args(k->x, OP_READ, a);
	call->sink_for[0].end = (uint32_t)k->x->len;
	nfs4_comp_count(k, OP_READ, 0);
	call->sink[0] = *to;
	call->nsinks = 1;
	call->peek = nfs4_peek_read;
}

int nfs4_reply_begin(struct nfs4_reply *r, struct xdr_in *x)
{
	struct nfs4_compound_res head;

	*r = (struct nfs4_reply){.x = x};
	if (nfs4_get_compound_res(x, &head))
		return -EBADMSG;
	r->status = head.status;
	r->left = head.nops;
	if (head.nops == 0)
		return head.status ? (int)head.status : xdr_in_fail(x);
	return 0;
}

int nfs4_reply_op(struct nfs4_reply *r, uint32_t op)
{
	uint32_t status;

	r->op = op;
	if (r->left == 0 || r->failed)
		return xdr_in_fail(r->x);
	if (nfs4_get_op_res(r->x, op, &status))
		return -EBADMSG;
	r->left--;
	if (status == NFS4_OK) {
		r->walked++;
		return 0;
	}
	/* RFC 8881 16.2.3: the failure is the last result, and the COMPOUND's status */
	r->failed = true;
	if (r->left != 0 || status != r->status || status > INT32_MAX)
		return xdr_in_fail(r->x);
	return (int)status;
}

int nfs4_reply_end(struct nfs4_reply *r)
{
	if (r->left != 0 || xdr_in_left(r->x) != 0 || !xdr_in_ok(r->x) || r->status != NFS4_OK)
		return xdr_in_fail(r->x);
	return 0;
}

int nfs4_reply_getfh(struct nfs4_reply *r, struct nfs_fh *fh)
{
	struct nfs4_getfh_res res;
	int rc = nfs4_reply_op(r, OP_GETFH);

	if (rc)
		return rc;
	if (nfs4_get_getfh_res(r->x, NFS4_OK, &res))
		return -EBADMSG;
	*fh = res.fh;
	return 0;
}

int nfs4_reply_getattr(struct nfs4_reply *r, struct nfs4_attrs *a)
{
	int rc = nfs4_reply_op(r, OP_GETATTR);

	return rc ? rc : nfs4_get_attrs(r->x, a, r->owners);
}

int nfs4_reply_stat(struct nfs4_reply *r, struct nfs_attr *attr)
{
	struct nfs4_attrs a;
	int rc = nfs4_reply_getattr(r, &a);

	if (rc)
		return rc;
	if (!nfs4_attrs_complete(&a))
		return xdr_in_fail(r->x);
	*attr = a.attr;
	return 0;
}

int nfs4_reply_access(struct nfs4_reply *r, uint32_t want, uint32_t *allowed)
{
	struct nfs4_access_res res;
	int rc = nfs4_reply_op(r, OP_ACCESS);

	if (!rc)
		rc = nfs4_get_access_res(r->x, NFS4_OK, &res);
	if (!rc)
		*allowed = res.access & want;
	return rc;
}

void nfs4_data_attr(const struct nfs4_attrs *a, struct nfs_data_attr *attr)
{
	*attr = (struct nfs_data_attr){
		.have = nfs4_bit(&a->mask, FATTR4_CHANGE) && nfs4_bit(&a->mask, FATTR4_SIZE),
		.counted = nfs4_bit(&a->mask, FATTR4_CHANGE_ATTR_TYPE) &&
			   nfs4_change_counts(a->change_attr_type),
		.change = a->attr.change,
		.size = a->attr.size,
		.used = a->attr.used,
		.atime = a->attr.atime,
		.mtime = a->attr.mtime,
		.ctime = a->attr.ctime,
	};
}

int nfs4_reply_data_attr(struct nfs4_reply *r, struct nfs_data_attr *attr)
{
	struct nfs4_attrs a;
	int rc;

	*attr = (struct nfs_data_attr){.have = false};
	rc = nfs4_reply_getattr(r, &a);
	if (!rc)
		nfs4_data_attr(&a, attr);
	return rc;
}

int nfs4_reply_data_attr_behind(struct nfs4_reply *r, struct nfs_data_attr *attr)
{
	int rc = nfs4_reply_data_attr(r, attr);

	if (rc <= 0)
		return rc;
	r->status = NFS4_OK;
	return 0;
}

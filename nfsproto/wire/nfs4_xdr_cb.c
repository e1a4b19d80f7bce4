/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_cb: coders of the callback operations (RFC 8881 section 20).
 */
#include "nfsproto/wire/nfs4_xdr_cb.h"

#include <string.h>

/* --- CB_GETATTR, CB_RECALL -------------------------------------------------------------------- */

void nfs4_put_cb_getattr_args(struct xdr_out *x, const struct nfs4_cb_getattr_args *a)
{
	nfs4_put_op(x, OP_CB_GETATTR);
	nfs4_put_fh(x, &a->fh);
	nfs4_put_bitmap(x, &a->want);
}

int nfs4_get_cb_getattr_args(struct xdr_in *x, struct nfs4_cb_getattr_args *a)
{
	nfs4_get_fh(x, &a->fh);
	return nfs4_get_bitmap(x, &a->want);
}

void nfs4_put_cb_getattr_res(struct xdr_out *x, uint32_t status, const struct nfs4_getattr_res *r)
{
	nfs4_put_op_res(x, OP_CB_GETATTR, status);
	if (status == NFS4_OK)
		nfs4_put_fattr(x, &r->attrs);
}

int nfs4_get_cb_getattr_res(struct xdr_in *x, uint32_t status, struct nfs4_getattr_res *r)
{
	memset(r, 0, sizeof(*r));
	return status == NFS4_OK ? nfs4_get_fattr(x, &r->attrs) : nfs4_got(x);
}

void nfs4_put_cb_recall_args(struct xdr_out *x, const struct nfs4_cb_recall_args *a)
{
	nfs4_put_op(x, OP_CB_RECALL);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_bool(x, a->truncate);
	nfs4_put_fh(x, &a->fh);
}

int nfs4_get_cb_recall_args(struct xdr_in *x, struct nfs4_cb_recall_args *a)
{
	nfs4_get_stateid(x, &a->stateid);
	a->truncate = xdr_get_bool(x);
	return nfs4_get_fh(x, &a->fh);
}

/* --- CB_LAYOUTRECALL -------------------------------------------------------------------------- */

void nfs4_put_cb_layoutrecall_args(struct xdr_out *x, const struct nfs4_cb_layoutrecall_args *a)
{
	nfs4_put_op(x, OP_CB_LAYOUTRECALL);
	xdr_put_u32(x, a->type);
	xdr_put_u32(x, a->iomode);
	xdr_put_bool(x, a->changed);
	xdr_put_u32(x, a->recall);
	if (a->recall == LAYOUTRECALL4_FILE) {
		nfs4_put_fh(x, &a->fh);
		xdr_put_u64(x, a->offset);
		xdr_put_u64(x, a->length);
		nfs4_put_stateid(x, &a->stateid);
	} else if (a->recall == LAYOUTRECALL4_FSID) {
		xdr_put_u64(x, a->fsid_major);
		xdr_put_u64(x, a->fsid_minor);
	}
}

int nfs4_get_cb_layoutrecall_args(struct xdr_in *x, struct nfs4_cb_layoutrecall_args *a)
{
	memset(a, 0, sizeof(*a));
	a->type = xdr_get_u32(x);
	a->iomode = xdr_get_u32(x);
	a->changed = xdr_get_bool(x);
	a->recall = nfs4_get_enum(x, LAYOUTRECALL4_FILE, LAYOUTRECALL4_ALL);
	if (a->recall == LAYOUTRECALL4_FILE) {
		nfs4_get_fh(x, &a->fh);
		a->offset = xdr_get_u64(x);
		a->length = xdr_get_u64(x);
		nfs4_get_stateid(x, &a->stateid);
	} else if (a->recall == LAYOUTRECALL4_FSID) {
		a->fsid_major = xdr_get_u64(x);
		a->fsid_minor = xdr_get_u64(x);
	}
	return nfs4_got(x);
}

/* --- CB_NOTIFY_LOCK, CB_RECALL_ANY, CB_RECALL_SLOT -------------------------------------------- */

void nfs4_put_cb_notify_lock_args(struct xdr_out *x, const struct nfs4_cb_notify_lock_args *a)
{
	nfs4_put_op(x, OP_CB_NOTIFY_LOCK);
	nfs4_put_fh(x, &a->fh);
	nfs4_put_owner(x, &a->owner);
}

int nfs4_get_cb_notify_lock_args(struct xdr_in *x, struct nfs4_cb_notify_lock_args *a)
{
	nfs4_get_fh(x, &a->fh);
	return nfs4_get_owner(x, &a->owner);
}

void nfs4_put_cb_recall_any_args(struct xdr_out *x, const struct nfs4_cb_recall_any_args *a)
{
	nfs4_put_op(x, OP_CB_RECALL_ANY);
	xdr_put_u32(x, a->keep);
	nfs4_put_bitmap(x, &a->types);
}

int nfs4_get_cb_recall_any_args(struct xdr_in *x, struct nfs4_cb_recall_any_args *a)
{
	a->keep = xdr_get_u32(x);
	return nfs4_get_bitmap(x, &a->types);
}

void nfs4_put_cb_recall_slot_args(struct xdr_out *x, const struct nfs4_cb_recall_slot_args *a)
{
	nfs4_put_op(x, OP_CB_RECALL_SLOT);
	xdr_put_u32(x, a->target_highest_slotid);
}

int nfs4_get_cb_recall_slot_args(struct xdr_in *x, struct nfs4_cb_recall_slot_args *a)
{
	a->target_highest_slotid = xdr_get_u32(x);
	return nfs4_got(x);
}

/* --- CB_OFFLOAD ------------------------------------------------------------------------------- */

void nfs4_put_cb_offload_args(struct xdr_out *x, const struct nfs4_cb_offload_args *a)
{
	nfs4_put_op(x, OP_CB_OFFLOAD);
	nfs4_put_fh(x, &a->fh);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u32(x, a->status);
	if (a->status == NFS4_OK)
		nfs4_put_write_response(x, &a->response);
	else
		xdr_put_u64(x, a->bytes_copied);
}

int nfs4_get_cb_offload_args(struct xdr_in *x, struct nfs4_cb_offload_args *a)
{
	memset(a, 0, sizeof(*a));
	nfs4_get_fh(x, &a->fh);
	nfs4_get_stateid(x, &a->stateid);
	a->status = xdr_get_u32(x);
	if (a->status == NFS4_OK)
		return nfs4_get_write_response(x, &a->response);
	a->bytes_copied = xdr_get_u64(x);
	return nfs4_got(x);
}

/* --- CB_SEQUENCE ------------------------------------------------------------------------------ */

void nfs4_put_cb_sequence_args(struct xdr_out *x, const struct nfs4_cb_sequence_args *a)
{
	nfs4_put_op(x, OP_CB_SEQUENCE);
	nfs4_put_sessionid(x, &a->session);
	xdr_put_u32(x, a->sequenceid);
	xdr_put_u32(x, a->slotid);
	xdr_put_u32(x, a->highest_slotid);
	xdr_put_bool(x, a->cachethis);
	xdr_put_u32(x, a->nrefs); /* a list of its own for each */
	for (uint32_t i = 0; i < a->nrefs; i++) {
		nfs4_put_sessionid(x, &a->ref[i].session);
		xdr_put_u32(x, 1);
		xdr_put_u32(x, a->ref[i].sequenceid);
		xdr_put_u32(x, a->ref[i].slotid);
	}
}

/* referring_call_list4: flattens it into a. */
static void get_referring_list(struct xdr_in *x, struct nfs4_cb_sequence_args *a)
{
	struct nfs4_referring_call c;
	uint32_t n;

	nfs4_get_sessionid(x, &c.session);
	n = xdr_get_count(x, UINT32_MAX, 8);
	while (n-- > 0) {
		c.sequenceid = xdr_get_u32(x);
		c.slotid = xdr_get_u32(x);
		if (a->nrefs < NFS4_REFERRING_KEPT)
			a->ref[a->nrefs++] = c;
	}
}

int nfs4_get_cb_sequence_args(struct xdr_in *x, struct nfs4_cb_sequence_args *a)
{
	uint32_t nlists;

	nfs4_get_sessionid(x, &a->session);
	a->sequenceid = xdr_get_u32(x);
	a->slotid = xdr_get_u32(x);
	a->highest_slotid = xdr_get_u32(x);
	a->cachethis = xdr_get_bool(x);
	a->nrefs = 0;
	nlists = xdr_get_count(x, UINT32_MAX, NFS4_SESSIONID_SIZE + 4);
	while (nlists-- > 0 && xdr_in_ok(x))
		get_referring_list(x, a);
	return nfs4_got(x);
}

void nfs4_put_cb_sequence_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_cb_sequence_res *r)
{
	nfs4_put_op_res(x, OP_CB_SEQUENCE, status);
	if (status != NFS4_OK)
		return;
	nfs4_put_sessionid(x, &r->session);
	xdr_put_u32(x, r->sequenceid);
	xdr_put_u32(x, r->slotid);
	xdr_put_u32(x, r->highest_slotid);
	xdr_put_u32(x, r->target_highest_slotid);
}

int nfs4_get_cb_sequence_res(struct xdr_in *x, uint32_t status, struct nfs4_cb_sequence_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	nfs4_get_sessionid(x, &r->session);
	r->sequenceid = xdr_get_u32(x);
	r->slotid = xdr_get_u32(x);
	r->highest_slotid = xdr_get_u32(x);
	r->target_highest_slotid = xdr_get_u32(x);
	return nfs4_got(x);
}

/* --- dispatch --------------------------------------------------------------------------------- */

int nfs4_get_cb_args(struct xdr_in *x, struct nfs4_cb_args *a)
{
	a->op = xdr_get_u32(x);
	if (!xdr_in_ok(x))
		return -EBADMSG;
	switch (a->op) {
#define GET(op, number, args)                                                                      \
	case op:                                                                                   \
		return nfs4_get_cb_##args##_args(x, &a->u.args);
		NFS4_CALLBACKS(GET, GET, NFS4_SKIP)
#undef GET
	default:
		return -EOPNOTSUPP;
	}
}

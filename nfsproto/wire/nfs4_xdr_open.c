/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_open: coders of OPEN (RFC 8881 18.16), its claims and its delegations.
 */
#include <string.h>

#include "nfsproto/wire/nfs4_xdr.h"

/* --- arguments -------------------------------------------------------------------------------- */

static void put_how(struct xdr_out *x, const struct nfs4_open_args *a)
{
	xdr_put_u32(x, a->create ? OPEN4_CREATE : OPEN4_NOCREATE);
	if (!a->create)
		return;
	xdr_put_u32(x, a->mode);
	if (a->mode == EXCLUSIVE4 || a->mode == EXCLUSIVE4_1)
		xdr_put_fixed(x, a->verf, sizeof(a->verf));
	if (a->mode != EXCLUSIVE4)
		nfs4_put_fattr(x, &a->attrs);
}

static void get_how(struct xdr_in *x, struct nfs4_open_args *a)
{
	a->create = nfs4_get_enum(x, OPEN4_NOCREATE, OPEN4_CREATE) == OPEN4_CREATE;
	if (!a->create)
		return;
	a->mode = nfs4_get_enum(x, UNCHECKED4, EXCLUSIVE4_1);
	if (a->mode == EXCLUSIVE4 || a->mode == EXCLUSIVE4_1)
		xdr_get_fixed(x, a->verf, sizeof(a->verf));
	if (a->mode != EXCLUSIVE4)
		nfs4_get_fattr(x, &a->attrs);
}

static void put_claim(struct xdr_out *x, const struct nfs4_open_args *a)
{
	xdr_put_u32(x, a->claim);
	switch (a->claim) {
	case CLAIM_NULL:
	case CLAIM_DELEGATE_PREV:
		nfs4_put_name(x, &a->name);
		break;
	case CLAIM_PREVIOUS:
		xdr_put_u32(x, a->deleg_type);
		break;
	case CLAIM_DELEGATE_CUR:
		nfs4_put_stateid(x, &a->deleg);
		nfs4_put_name(x, &a->name);
		break;
	case CLAIM_DELEG_CUR_FH:
		nfs4_put_stateid(x, &a->deleg);
		break;
	case CLAIM_FH:
	case CLAIM_DELEG_PREV_FH:
		break;
	}
}

static void get_claim(struct xdr_in *x, struct nfs4_open_args *a)
{
	a->claim = nfs4_get_enum(x, CLAIM_NULL, CLAIM_DELEG_PREV_FH);
	switch (a->claim) {
	case CLAIM_NULL:
	case CLAIM_DELEGATE_PREV:
		nfs4_get_name(x, &a->name);
		break;
	case CLAIM_PREVIOUS:
		a->deleg_type = nfs4_get_enum(x, OPEN_DELEGATE_NONE, OPEN_DELEGATE_NONE_EXT);
		break;
	case CLAIM_DELEGATE_CUR:
		nfs4_get_stateid(x, &a->deleg);
		nfs4_get_name(x, &a->name);
		break;
	case CLAIM_DELEG_CUR_FH:
		nfs4_get_stateid(x, &a->deleg);
		break;
	case CLAIM_FH:
	case CLAIM_DELEG_PREV_FH:
		break;
	}
}

void nfs4_put_open_args(struct xdr_out *x, const struct nfs4_open_args *a)
{
	nfs4_put_op(x, OP_OPEN);
	xdr_put_u32(x, a->seqid);
	xdr_put_u32(x, a->share_access);
	xdr_put_u32(x, a->share_deny);
	nfs4_put_owner(x, &a->owner);
	put_how(x, a);
	put_claim(x, a);
}

int nfs4_get_open_args(struct xdr_in *x, struct nfs4_open_args *a)
{
	memset(a, 0, sizeof(*a));
	a->seqid = xdr_get_u32(x);
	a->share_access = xdr_get_u32(x);
	a->share_deny = xdr_get_u32(x);
	nfs4_get_owner(x, &a->owner);
	get_how(x, a);
	get_claim(x, a);
	return nfs4_got(x);
}

/* --- results ---------------------------------------------------------------------------------- */

static void put_space_limit(struct xdr_out *x, const struct nfs4_delegation *d)
{
	xdr_put_u32(x, d->limit_by);
	if (d->limit_by == NFS_LIMIT_SIZE) {
		xdr_put_u64(x, d->limit_size);
	} else {
		xdr_put_u32(x, d->limit_blocks);
		xdr_put_u32(x, d->limit_block_size);
	}
}

static void get_space_limit(struct xdr_in *x, struct nfs4_delegation *d)
{
	d->limit_by = nfs4_get_enum(x, NFS_LIMIT_SIZE, NFS_LIMIT_BLOCKS);
	if (d->limit_by == NFS_LIMIT_SIZE) {
		d->limit_size = xdr_get_u64(x);
	} else {
		d->limit_blocks = xdr_get_u32(x);
		d->limit_block_size = xdr_get_u32(x);
	}
}

/* open_none_delegation4: only two reasons say more */
static bool why_has_promise(uint32_t why)
{
	return why == WND4_CONTENTION || why == WND4_RESOURCE;
}

static void put_delegation(struct xdr_out *x, const struct nfs4_delegation *d)
{
	xdr_put_u32(x, d->type);
	switch (d->type) {
	case OPEN_DELEGATE_NONE:
		break;
	case OPEN_DELEGATE_READ:
	case OPEN_DELEGATE_WRITE:
		nfs4_put_stateid(x, &d->stateid);
		xdr_put_bool(x, d->recall);
		if (d->type == OPEN_DELEGATE_WRITE)
			put_space_limit(x, d);
		nfs4_put_ace(x, &d->permissions);
		break;
	case OPEN_DELEGATE_NONE_EXT:
		xdr_put_u32(x, d->why);
		if (why_has_promise(d->why))
			xdr_put_bool(x, d->server_will);
		break;
	}
}

static void get_delegation(struct xdr_in *x, struct nfs4_delegation *d)
{
	d->type = nfs4_get_enum(x, OPEN_DELEGATE_NONE, OPEN_DELEGATE_NONE_EXT);
	switch (d->type) {
	case OPEN_DELEGATE_NONE:
		break;
	case OPEN_DELEGATE_READ:
	case OPEN_DELEGATE_WRITE:
		nfs4_get_stateid(x, &d->stateid);
		d->recall = xdr_get_bool(x);
		if (d->type == OPEN_DELEGATE_WRITE)
			get_space_limit(x, d);
		nfs4_get_ace(x, &d->permissions);
		break;
	case OPEN_DELEGATE_NONE_EXT:
		d->why = xdr_get_u32(x); /* later minor versions add reasons, all without more */
		if (why_has_promise(d->why))
			d->server_will = xdr_get_bool(x);
		break;
	}
}

void nfs4_put_open_res(struct xdr_out *x, uint32_t status, const struct nfs4_open_res *r)
{
	nfs4_put_op_res(x, OP_OPEN, status);
	if (status != NFS4_OK)
		return;
	nfs4_put_stateid(x, &r->stateid);
	nfs4_put_change_info(x, &r->cinfo);
	xdr_put_u32(x, r->rflags);
	nfs4_put_bitmap(x, &r->attrset);
	put_delegation(x, &r->deleg);
}

int nfs4_get_open_res(struct xdr_in *x, uint32_t status, struct nfs4_open_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	nfs4_get_stateid(x, &r->stateid);
	nfs4_get_change_info(x, &r->cinfo);
	r->rflags = xdr_get_u32(x);
	nfs4_get_bitmap(x, &r->attrset);
	get_delegation(x, &r->deleg);
	return nfs4_got(x);
}

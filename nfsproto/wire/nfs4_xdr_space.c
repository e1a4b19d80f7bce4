/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_space: coders of NFSv4.2's operations on the space and the data of files (RFC 7863).
 */
#include "nfsproto/wire/nfs4_xdr_space.h"

#include <string.h>

/* --- CLONE, COPY ------------------------------------------------------------------------------ */

void nfs4_put_clone_args(struct xdr_out *x, const struct nfs4_clone_args *a)
{
	nfs4_put_op(x, OP_CLONE);
	nfs4_put_stateid(x, &a->src);
	nfs4_put_stateid(x, &a->dst);
	xdr_put_u64(x, a->src_offset);
	xdr_put_u64(x, a->dst_offset);
	xdr_put_u64(x, a->count);
}

int nfs4_get_clone_args(struct xdr_in *x, struct nfs4_clone_args *a)
{
	nfs4_get_stateid(x, &a->src);
	nfs4_get_stateid(x, &a->dst);
	a->src_offset = xdr_get_u64(x);
	a->dst_offset = xdr_get_u64(x);
	a->count = xdr_get_u64(x);
	return nfs4_got(x);
}

void nfs4_put_write_response(struct xdr_out *x, const struct nfs4_write_response *r)
{
	xdr_put_u32(x, r->async);
	if (r->async)
		nfs4_put_stateid(x, &r->callback);
	xdr_put_u64(x, r->count);
	xdr_put_u32(x, r->committed);
	xdr_put_fixed(x, r->verf, sizeof(r->verf));
}

int nfs4_get_write_response(struct xdr_in *x, struct nfs4_write_response *r)
{
	memset(r, 0, sizeof(*r));
	r->async = xdr_get_count(x, 1, sizeof(r->callback));
	if (r->async)
		nfs4_get_stateid(x, &r->callback);
	r->count = xdr_get_u64(x);
	r->committed = nfs4_get_enum(x, UNSTABLE4, FILE_SYNC4);
	xdr_get_fixed(x, r->verf, sizeof(r->verf));
	return nfs4_got(x);
}

void nfs4_put_copy_args(struct xdr_out *x, const struct nfs4_copy_args *a)
{
	nfs4_put_op(x, OP_COPY);
	nfs4_put_stateid(x, &a->src);
	nfs4_put_stateid(x, &a->dst);
	xdr_put_u64(x, a->src_offset);
	xdr_put_u64(x, a->dst_offset);
	xdr_put_u64(x, a->count);
	xdr_put_bool(x, a->consecutive);
	xdr_put_bool(x, a->synchronous);
	xdr_put_u32(x, 0);
}

static void skip_netloc(struct xdr_in *x)
{
	uint32_t type = nfs4_get_enum(x, NL4_NAME, NL4_NETADDR);
	struct nfs_name s;

	nfs4_get_name(x, &s); /* name, URL, netid */
	if (type == NL4_NETADDR)
		nfs4_get_name(x, &s); /* universal address */
}

int nfs4_get_copy_args(struct xdr_in *x, struct nfs4_copy_args *a)
{
	nfs4_get_stateid(x, &a->src);
	nfs4_get_stateid(x, &a->dst);
	a->src_offset = xdr_get_u64(x);
	a->dst_offset = xdr_get_u64(x);
	a->count = xdr_get_u64(x);
	a->consecutive = xdr_get_bool(x);
	a->synchronous = xdr_get_bool(x);
	a->nsources = xdr_get_count(x, NFS4_NETLOCS_MAX, 8);
	for (uint32_t i = 0; i < a->nsources; i++)
		skip_netloc(x);
	return nfs4_got(x);
}

void nfs4_put_copy_res(struct xdr_out *x, uint32_t status, const struct nfs4_copy_res *r)
{
	nfs4_put_op_res(x, OP_COPY, status);
	if (status == NFS4_OK)
		nfs4_put_write_response(x, &r->response);
	else if (status != NFS4ERR_OFFLOAD_NO_REQS)
		return;
	xdr_put_bool(x, r->consecutive);
	xdr_put_bool(x, r->synchronous);
}

int nfs4_get_copy_res(struct xdr_in *x, uint32_t status, struct nfs4_copy_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status == NFS4_OK)
		nfs4_get_write_response(x, &r->response);
	else if (status != NFS4ERR_OFFLOAD_NO_REQS)
		return nfs4_got(x);
	r->consecutive = xdr_get_bool(x);
	r->synchronous = xdr_get_bool(x);
	return nfs4_got(x);
}

/* --- IO_ADVISE -------------------------------------------------------------------------------- */

void nfs4_put_io_advise_args(struct xdr_out *x, const struct nfs4_io_advise_args *a)
{
	nfs4_put_op(x, OP_IO_ADVISE);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->count);
	nfs4_put_bitmap(x, &a->hints);
}

int nfs4_get_io_advise_args(struct xdr_in *x, struct nfs4_io_advise_args *a)
{
	nfs4_get_stateid(x, &a->stateid);
	a->offset = xdr_get_u64(x);
	a->count = xdr_get_u64(x);
	return nfs4_get_bitmap(x, &a->hints);
}

void nfs4_put_io_advise_res(struct xdr_out *x, uint32_t status, const struct nfs4_io_advise_res *r)
{
	nfs4_put_op_res(x, OP_IO_ADVISE, status);
	if (status == NFS4_OK)
		nfs4_put_bitmap(x, &r->hints);
}

int nfs4_get_io_advise_res(struct xdr_in *x, uint32_t status, struct nfs4_io_advise_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	return nfs4_get_bitmap(x, &r->hints);
}

/* --- OFFLOAD_STATUS ----------------------------------------------------------------------------
 */

void nfs4_put_offload_status_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_offload_status_res *r)
{
	nfs4_put_op_res(x, OP_OFFLOAD_STATUS, status);
	if (status != NFS4_OK)
		return;
	xdr_put_u64(x, r->count);
	xdr_put_u32(x, r->complete);
	if (r->complete)
		xdr_put_u32(x, r->status);
}

int nfs4_get_offload_status_res(
	struct xdr_in *x, uint32_t status, struct nfs4_offload_status_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->count = xdr_get_u64(x);
	r->complete = xdr_get_count(x, 1, 4);
	if (r->complete)
		r->status = xdr_get_u32(x);
	return nfs4_got(x);
}

/* --- READ_PLUS -------------------------------------------------------------------------------- */

void nfs4_put_read_plus_res(struct xdr_out *x, uint32_t status, const struct nfs4_read_plus_res *r)
{
	nfs4_put_op_res(x, OP_READ_PLUS, status);
	if (status != NFS4_OK)
		return;
	xdr_put_bool(x, r->eof);
	xdr_put_u32(x, r->n);
}

int nfs4_get_read_plus_res(struct xdr_in *x, uint32_t status, struct nfs4_read_plus_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->eof = xdr_get_bool(x);
	r->n = xdr_get_count(x, NFS4_CONTENTS_MAX, 16);
	return nfs4_got(x);
}

void nfs4_put_content(struct xdr_out *x, const struct nfs4_content *c)
{
	xdr_put_u32(x, c->what);
	xdr_put_u64(x, c->offset);
	if (c->what == NFS4_CONTENT_DATA)
		xdr_put_payload_list(x, &c->data);
	else
		xdr_put_u64(x, c->length);
}

int nfs4_get_content(struct xdr_in *x, struct nfs4_content *c)
{
	struct mem_sge data = {0};

	memset(c, 0, sizeof(*c));
	c->what = nfs4_get_enum(x, NFS4_CONTENT_DATA, NFS4_CONTENT_HOLE);
	c->offset = xdr_get_u64(x);
	if (c->what == NFS4_CONTENT_DATA) {
		data.addr = (void *)(uintptr_t)xdr_get_opaque(x, NFS4_IO_MAX, &data.len);
		c->data = seg_list_of(data, NULL);
	} else {
		c->length = xdr_get_u64(x);
	}
	return nfs4_got(x);
}

/* --- SEEK ------------------------------------------------------------------------------------- */

void nfs4_put_seek_args(struct xdr_out *x, const struct nfs4_seek_args *a)
{
	nfs4_put_op(x, OP_SEEK);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u64(x, a->offset);
	xdr_put_u32(x, a->what);
}

int nfs4_get_seek_args(struct xdr_in *x, struct nfs4_seek_args *a)
{
	nfs4_get_stateid(x, &a->stateid);
	a->offset = xdr_get_u64(x);
	a->what = xdr_get_u32(x);
	return nfs4_got(x);
}

void nfs4_put_seek_res(struct xdr_out *x, uint32_t status, const struct nfs4_seek_res *r)
{
	nfs4_put_op_res(x, OP_SEEK, status);
	if (status != NFS4_OK)
		return;
	xdr_put_bool(x, r->eof);
	xdr_put_u64(x, r->offset);
}

int nfs4_get_seek_res(struct xdr_in *x, uint32_t status, struct nfs4_seek_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->eof = xdr_get_bool(x);
	r->offset = xdr_get_u64(x);
	return nfs4_got(x);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_space: arguments and results of NFSv4.2's operations on the space and the data of files
 * (RFC 7862 section 15, RFC 7863). Conventions: nfs4_xdr.h, which is the header to include.
 *
 * ALLOCATE, DEALLOCATE, CLONE and OFFLOAD_CANCEL answer with a status only.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_XDR_SPACE_H
#define RNFS_NFSPROTO_WIRE_NFS4_XDR_SPACE_H

#include "nfsproto/wire/nfs4_item.h"

#define NFS4_NETLOCS_MAX  16   /* source servers accepted in COPY */
#define NFS4_CONTENTS_MAX 8192 /* pieces accepted in READ_PLUS */

struct nfs4_clone_args {
	struct nfs4_stateid src, dst;
	uint64_t src_offset, dst_offset, count; /* count 0: to the end of the source */
};
void nfs4_put_clone_args(struct xdr_out *x, const struct nfs4_clone_args *a);
int nfs4_get_clone_args(struct xdr_in *x, struct nfs4_clone_args *a);

struct nfs4_write_response {
	bool async; /* the operation goes on; CB_OFFLOAD will name callback */
	struct nfs4_stateid callback;
	uint64_t count;
	uint32_t committed; /* stable_how4, checked */
	uint8_t verf[NFS4_VERIFIER_SIZE];
};
struct nfs4_copy_args {
	struct nfs4_stateid src, dst;
	uint64_t src_offset, dst_offset, count; /* count 0: to the end of the source */
	bool consecutive, synchronous;
	/* get: source servers named, checked and not kept (at most NFS4_NETLOCS_MAX): not 0 asks
	 * for a copy between servers. put: always none. */
	uint32_t nsources;
};
struct nfs4_copy_res {
	struct nfs4_write_response response; /* NFS4_OK */
	bool consecutive, synchronous;	     /* NFS4_OK, NFS4ERR_OFFLOAD_NO_REQS */
};
void nfs4_put_copy_args(struct xdr_out *x, const struct nfs4_copy_args *a);
int nfs4_get_copy_args(struct xdr_in *x, struct nfs4_copy_args *a);
void nfs4_put_copy_res(struct xdr_out *x, uint32_t status, const struct nfs4_copy_res *r);
int nfs4_get_copy_res(struct xdr_in *x, uint32_t status, struct nfs4_copy_res *r);

struct nfs4_io_advise_args {
	struct nfs4_stateid stateid;
	uint64_t offset, count;
	struct nfs4_bitmap hints; /* bits are IO_ADVISE4_* */
};
struct nfs4_io_advise_res {
	struct nfs4_bitmap hints;
};
void nfs4_put_io_advise_args(struct xdr_out *x, const struct nfs4_io_advise_args *a);
int nfs4_get_io_advise_args(struct xdr_in *x, struct nfs4_io_advise_args *a);
void nfs4_put_io_advise_res(struct xdr_out *x, uint32_t status, const struct nfs4_io_advise_res *r);
int nfs4_get_io_advise_res(struct xdr_in *x, uint32_t status, struct nfs4_io_advise_res *r);

struct nfs4_offload_status_res {
	uint64_t count; /* bytes so far */
	bool complete;
	uint32_t status; /* complete: the final status */
};
void nfs4_put_offload_status_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_offload_status_res *r);
int nfs4_get_offload_status_res(
	struct xdr_in *x, uint32_t status, struct nfs4_offload_status_res *r);

struct nfs4_read_plus_res { /* the head; n pieces follow */
	bool eof;
	uint32_t n; /* get: at most NFS4_CONTENTS_MAX */
};
struct nfs4_content {
	uint32_t what; /* data_content4, checked */
	uint64_t offset;
	uint64_t length;      /* NFS4_CONTENT_HOLE */
	struct seg_list data; /* NFS4_CONTENT_DATA. put: a payload, which no Write chunk may take:
				READ_PLUS has no DDP-eligible item. get: where it is (read only), at
				most NFS4_IO_MAX */
};
/* With NFS4_OK, nfs4_put_content() or nfs4_get_content() r->n times after this. A server that does
 * not know n beforehand patches n: the last word of the head. */
void nfs4_put_read_plus_res(struct xdr_out *x, uint32_t status, const struct nfs4_read_plus_res *r);
int nfs4_get_read_plus_res(struct xdr_in *x, uint32_t status, struct nfs4_read_plus_res *r);
void nfs4_put_content(struct xdr_out *x, const struct nfs4_content *c);
int nfs4_get_content(struct xdr_in *x, struct nfs4_content *c);

struct nfs4_seek_args {
	struct nfs4_stateid stateid;
	uint64_t offset;
	uint32_t what; /* data_content4; not checked: a server answers UNION_NOTSUPP */
};
struct nfs4_seek_res {
	bool eof;
	uint64_t offset;
};
void nfs4_put_seek_args(struct xdr_out *x, const struct nfs4_seek_args *a);
int nfs4_get_seek_args(struct xdr_in *x, struct nfs4_seek_args *a);
void nfs4_put_seek_res(struct xdr_out *x, uint32_t status, const struct nfs4_seek_res *r);
int nfs4_get_seek_res(struct xdr_in *x, uint32_t status, struct nfs4_seek_res *r);

/* Item of COPY's result and of CB_OFFLOAD's arguments. */
void nfs4_put_write_response(struct xdr_out *x, const struct nfs4_write_response *r);
int nfs4_get_write_response(struct xdr_in *x, struct nfs4_write_response *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_compound: building a COMPOUND and walking through the reply (RFC 8881 section 16.2).
 *
 * The builder counts the operations of a COMPOUND and sums the bound of the reply. A reply is
 * walked operation by operation; the walk ends at the first operation that failed. A walk returns
 * the same values everywhere in the NFSv4 client:
 *
 *     0          the operation succeeded; its results are next in the stream
 *     positive   the nfsstat4 with which the operation failed: this was the last result
 *     -EBADMSG   the reply does not parse, or is not the reply to this COMPOUND
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_COMPOUND_H
#define RNFS_NFSPROTO_V4_NFS4_COMPOUND_H

#include "nfsproto/wire/nfs4_attr.h"
#include "nfsproto/wire/nfs4_xdr.h"
#include "transport/rpc/rpc.h"

struct nfs4_comp {
	struct xdr_out *x;
	size_t count_at;
	uint32_t nops;
	unsigned npayloads;	    /* of the operations counted */
	size_t bound;		    /* of the results, for rpc_call.reply_max */
	struct nfs4_owners *owners; /* the owner names, or NULL */
};

void nfs4_comp_begin(struct nfs4_comp *k, struct xdr_out *x, unsigned minor);
/* Notes that the caller has put op; var as for ulb_nfs4_res_max(). */
void nfs4_comp_count(struct nfs4_comp *k, uint32_t op, size_t var);
void nfs4_comp_end(struct nfs4_comp *k);

/* Operations that nearly every COMPOUND has. */
void nfs4_comp_op(struct nfs4_comp *k, uint32_t op); /* one without arguments, a fixed result */
void nfs4_comp_putfh(struct nfs4_comp *k, const struct nfs_fh *fh);
void nfs4_comp_lookup(struct nfs4_comp *k, const struct nfs_name *name);
void nfs4_comp_getattr(struct nfs4_comp *k, const struct nfs4_bitmap *want);
void nfs4_comp_access(struct nfs4_comp *k, uint32_t want);
/* READ into `to`, the one sink of call, which k builds. */
void nfs4_comp_read(struct nfs4_comp *k, const struct nfs4_read_args *a, struct rpc_call *call,
	const struct seg_list *to);

struct nfs4_reply {
	struct xdr_in *x;
	uint32_t status;	    /* of the whole */
	uint32_t left;		    /* results not walked yet */
	uint32_t walked;	    /* results that succeeded */
	uint32_t op;		    /* the last one looked at */
	bool failed;		    /* the walk has come to the operation that failed */
	struct nfs4_owners *owners; /* the owner names, or NULL */
};

/* 0, -EBADMSG, or positive: the COMPOUND failed before its first operation. */
int nfs4_reply_begin(struct nfs4_reply *r, struct xdr_in *x);
/* Steps to the next result, which must be op's. */
int nfs4_reply_op(struct nfs4_reply *r, uint32_t op);
/* nothing may be left: 0 or -EBADMSG */
int nfs4_reply_end(struct nfs4_reply *r);

/* Step and decode. attrs: all that a file needs must be there. */
int nfs4_reply_getfh(struct nfs4_reply *r, struct nfs_fh *fh);
int nfs4_reply_getattr(struct nfs4_reply *r, struct nfs4_attrs *a);
int nfs4_reply_stat(struct nfs4_reply *r, struct nfs_attr *attr);
/* *allowed: the allowed part of want. */
int nfs4_reply_access(struct nfs4_reply *r, uint32_t want, uint32_t *allowed);
/* The attributes in a that are about the data; without change and size, none. */
void nfs4_data_attr(const struct nfs4_attrs *a, struct nfs_data_attr *attr);
/* GETATTR of nfs4_bits_data(). attr->have is false if not even change and size came. */
int nfs4_reply_data_attr(struct nfs4_reply *r, struct nfs_data_attr *attr);
/* The same if the GETATTR is the last operation, behind one that has succeeded. A failed GETATTR
 * does not fail the COMPOUND; there are just no attributes. 0 or -EBADMSG. */
int nfs4_reply_data_attr_behind(struct nfs4_reply *r, struct nfs_data_attr *attr);

#endif

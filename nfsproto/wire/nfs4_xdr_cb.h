/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_cb: arguments and results of the callback operations (RFC 8881 section 20, RFC 7862
 * 16.1): the server puts arguments, the client puts results. Conventions: nfs4_xdr.h, which is the
 * header to include.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_XDR_CB_H
#define RNFS_NFSPROTO_WIRE_NFS4_XDR_CB_H

#include "nfsproto/wire/nfs4_item.h"
#include "nfsproto/wire/nfs4_xdr_layout.h"
#include "nfsproto/wire/nfs4_xdr_space.h"

struct nfs4_cb_getattr_args {
	struct nfs_fh fh;
	struct nfs4_bitmap want;
};
void nfs4_put_cb_getattr_args(struct xdr_out *x, const struct nfs4_cb_getattr_args *a);
int nfs4_get_cb_getattr_args(struct xdr_in *x, struct nfs4_cb_getattr_args *a);
void nfs4_put_cb_getattr_res(struct xdr_out *x, uint32_t status, const struct nfs4_getattr_res *r);
int nfs4_get_cb_getattr_res(struct xdr_in *x, uint32_t status, struct nfs4_getattr_res *r);

struct nfs4_cb_recall_args {
	struct nfs4_stateid stateid;
	bool truncate;
	struct nfs_fh fh;
};
void nfs4_put_cb_recall_args(struct xdr_out *x, const struct nfs4_cb_recall_args *a);
int nfs4_get_cb_recall_args(struct xdr_in *x, struct nfs4_cb_recall_args *a);

struct nfs4_cb_layoutrecall_args {
	uint32_t type, iomode;
	bool changed;
	uint32_t recall; /* layoutrecall_type4, checked */
	/* LAYOUTRECALL4_FILE */
	struct nfs_fh fh;
	uint64_t offset, length;
	struct nfs4_stateid stateid;
	/* LAYOUTRECALL4_FSID */
	uint64_t fsid_major, fsid_minor;
};
void nfs4_put_cb_layoutrecall_args(struct xdr_out *x, const struct nfs4_cb_layoutrecall_args *a);
int nfs4_get_cb_layoutrecall_args(struct xdr_in *x, struct nfs4_cb_layoutrecall_args *a);

struct nfs4_cb_notify_lock_args {
	struct nfs_fh fh;
	struct nfs4_owner owner;
};
void nfs4_put_cb_notify_lock_args(struct xdr_out *x, const struct nfs4_cb_notify_lock_args *a);
int nfs4_get_cb_notify_lock_args(struct xdr_in *x, struct nfs4_cb_notify_lock_args *a);

struct nfs4_cb_recall_any_args {
	uint32_t keep;
	struct nfs4_bitmap types; /* RCA4_TYPE_MASK_* are bit numbers */
};
void nfs4_put_cb_recall_any_args(struct xdr_out *x, const struct nfs4_cb_recall_any_args *a);
int nfs4_get_cb_recall_any_args(struct xdr_in *x, struct nfs4_cb_recall_any_args *a);

struct nfs4_cb_recall_slot_args {
	uint32_t target_highest_slotid;
};
void nfs4_put_cb_recall_slot_args(struct xdr_out *x, const struct nfs4_cb_recall_slot_args *a);
int nfs4_get_cb_recall_slot_args(struct xdr_in *x, struct nfs4_cb_recall_slot_args *a);

struct nfs4_referring_call {
	struct nfs4_sessionid session;
	uint32_t sequenceid, slotid;
};
struct nfs4_cb_sequence_args {
	struct nfs4_sessionid session;
	uint32_t sequenceid, slotid, highest_slotid;
	bool cachethis;
	uint32_t nrefs; /* at most NFS4_REFERRING_KEPT; get: more are checked and not kept */
	struct nfs4_referring_call ref[NFS4_REFERRING_KEPT];
};
struct nfs4_cb_sequence_res {
	struct nfs4_sessionid session;
	uint32_t sequenceid, slotid, highest_slotid, target_highest_slotid;
};
void nfs4_put_cb_sequence_args(struct xdr_out *x, const struct nfs4_cb_sequence_args *a);
int nfs4_get_cb_sequence_args(struct xdr_in *x, struct nfs4_cb_sequence_args *a);
void nfs4_put_cb_sequence_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_cb_sequence_res *r);
int nfs4_get_cb_sequence_res(struct xdr_in *x, uint32_t status, struct nfs4_cb_sequence_res *r);

struct nfs4_cb_offload_args {
	struct nfs_fh fh; /* the file copied to */
	struct nfs4_stateid stateid;
	uint32_t status;		     /* how the copy ended */
	struct nfs4_write_response response; /* NFS4_OK */
	uint64_t bytes_copied;		     /* any other status */
};
void nfs4_put_cb_offload_args(struct xdr_out *x, const struct nfs4_cb_offload_args *a);
int nfs4_get_cb_offload_args(struct xdr_in *x, struct nfs4_cb_offload_args *a);

struct nfs4_cb_args {
	uint32_t op;
	union {
#define MEMBER(op, number, args) struct nfs4_cb_##args##_args args;
		NFS4_CALLBACKS(MEMBER, NFS4_SKIP, NFS4_SKIP)
#undef MEMBER
	} u;
};

/* A client's view of a callback operation; returns as nfs4_get_args(). */
int nfs4_get_cb_args(struct xdr_in *x, struct nfs4_cb_args *a);

#endif

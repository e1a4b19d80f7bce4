/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_files: the bodies of the file layout type, LAYOUT4_NFSV4_1_FILES (RFC 8881 section 13).
 * LAYOUTCOMMIT and LAYOUTRETURN have an empty body.
 *
 * A get function takes the whole body (nfs4_xdr_layout.h) and checks all of it. Lists stay in wire
 * form, and the functions below read them: a list lies in the body's bytes, and is valid as long.
 * To encode, the caller puts the items of a list into a buffer of its own first.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_FILES_H
#define RNFS_NFSPROTO_WIRE_NFS4_FILES_H

#include "nfsproto/wire/nfs4_xdr_layout.h"

#define NFS4_STRIPES_MAX 4096 /* stripe indices, and file handles, accepted */
#define NFS4_SERVERS_MAX 256  /* data servers accepted in a device */

/* nfsv4_1_file_layout4 */
struct nfs4_files_layout {
	struct nfs4_deviceid device;
	bool dense, commit_thru_mds;
	uint32_t unit; /* bytes of a stripe unit: a multiple of 64, get: not 0 */
	uint32_t first_stripe;
	uint64_t pattern_offset;
	/* 0 handles: that of the metadata server; 1: for all data servers; else one per data
	 * server (sparse) or per stripe index (dense): section 13.3 */
	uint32_t nfh;
	struct nfs4_opaque fh; /* nfh handles in wire form */
};
void nfs4_put_files_layout(struct xdr_out *x, const struct nfs4_files_layout *l);
/* 0 or -EBADMSG. */
int nfs4_get_files_layout(const struct nfs4_opaque *body, struct nfs4_files_layout *l);
/* The handles one after the other, *pos is 0 at first. False: no more. */
bool nfs4_files_fh_next(const struct nfs4_files_layout *l, uint32_t *pos, struct nfs_fh *fh);

/* nfsv4_1_file_layout_ds_addr4 */
struct nfs4_files_device {
	uint32_t nstripes;	   /* get: not 0 */
	struct nfs4_opaque stripe; /* nstripes words; get: each is below nservers */
	uint32_t nservers;	   /* get: not 0 */
	struct nfs4_opaque server; /* nservers of multipath_list4 */
};
void nfs4_put_files_device(struct xdr_out *x, const struct nfs4_files_device *d);
/* 0 or -EBADMSG. */
int nfs4_get_files_device(const struct nfs4_opaque *body, struct nfs4_files_device *d);
/* The data server of stripe i < nstripes. */
uint32_t nfs4_files_stripe(const struct nfs4_files_device *d, uint32_t i);
/* The data servers one after the other, *pos is 0 at first. False: no more. */
bool nfs4_files_server_next(
	const struct nfs4_files_device *d, uint32_t *pos, struct nfs4_multipath *m);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_replica: the attributes fs_locations, fs_locations_info and fs_status on the wire (RFC 8881
 * sections 11.16 to 11.18).
 *
 * The first two are lists of lists of any length. A struct nfs4_attrs has their raw bytes, which
 * the scan functions have checked; nfs4_locations.h reads them into places.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_REPLICA_H
#define RNFS_NFSPROTO_WIRE_NFS4_REPLICA_H

#include "nfsproto/wire/nfs4_item.h"

/* Most servers of a location, names of a path, and locations. */
#define NFS4_LOCATIONS_MAX 256u
/* Most bytes of fls_info that are taken from a peer. Those behind the known ones are ignored. */
#define NFS4_REPLICA_INFO_MAX 256u

/* The bytes of fls_info (section 11.17.1). */
enum {
	FSLI4BX_GFLAGS = 0,
	FSLI4BX_TFLAGS = 1,
	FSLI4BX_CLSIMUL = 2, /* classes: simultaneous use, */
	FSLI4BX_CLHANDLE = 3,
	FSLI4BX_CLFILEID = 4,
	FSLI4BX_CLWRITEVER = 5, /* write verifier, */
	FSLI4BX_CLCHANGE = 6,
	FSLI4BX_CLREADDIR = 7,
	FSLI4BX_READRANK = 8,
	FSLI4BX_WRITERANK = 9,
	FSLI4BX_READORDER = 10,
	FSLI4BX_WRITEORDER = 11,
	FSLI4BX_KNOWN = 12,
};

/* Bits of FSLI4BX_GFLAGS. */
#define FSLI4GF_WRITABLE 0x01u
#define FSLI4GF_CUR_REQ	 0x02u
#define FSLI4GF_ABSENT	 0x04u
#define FSLI4GF_GOING	 0x08u
#define FSLI4GF_SPLIT	 0x10u

/* Bits of fli_flags. */
#define FSLI4IF_VAR_SUB 0x01u

/* fs_locations_server4 */
struct nfs4_replica {
	int32_t currency; /* seconds behind the master copy; below 0: unknown */
	uint8_t info[FSLI4BX_KNOWN];
	uint32_t ninfo; /* bytes of info that are there, the others are 0 */
	struct nfs_name server;
};

enum fs4_status_type {
	STATUS4_FIXED = 1,
	STATUS4_UPDATED = 2,
	STATUS4_VERSIONED = 3,
	STATUS4_WRITABLE = 4,
	STATUS4_REFERRAL = 5,
};

struct nfs4_fs_status {
	bool absent;
	uint32_t type;			 /* enum fs4_status_type; 0: the attribute is not set */
	struct nfs_name source, current; /* empty: not told */
	int32_t age;
	struct timespec version;
};

/* Getters return 0 or -EBADMSG, as those of nfs4_item.h. Names point into the stream. */
void nfs4_put_replica(struct xdr_out *x, const struct nfs4_replica *r);
int nfs4_get_replica(struct xdr_in *x, struct nfs4_replica *r);
void nfs4_put_fs_status(struct xdr_out *x, const struct nfs4_fs_status *s);
int nfs4_get_fs_status(struct xdr_in *x, struct nfs4_fs_status *s);

/* Step over an fs_locations4 and an fs_locations_info4, and check all counts. */
int nfs4_scan_locations(struct xdr_in *x);
int nfs4_scan_locations_info(struct xdr_in *x);

#endif

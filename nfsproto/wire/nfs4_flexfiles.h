/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_flexfiles: the bodies of the flexible file layout type, LAYOUT4_FLEX_FILES (RFC 8435): a
 * layout, a device address, the reports of a LAYOUTRETURN, the update of a LAYOUTSTATS.
 * LAYOUTCOMMIT has an empty body; LAYOUTERROR has none.
 *
 * A get function takes the whole body (nfs4_xdr_layout.h) and checks all of it. The data servers of
 * a layout stay in wire form: nfs4_ff_next() reads them from the body's bytes.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_FLEXFILES_H
#define RNFS_NFSPROTO_WIRE_NFS4_FLEXFILES_H

#include "nfsproto/wire/nfs4_xdr_layout.h"

#define NFS4_FF_MIRRORS_MAX  16
#define NFS4_FF_STRIPES_MAX  256
#define NFS4_FF_VERSIONS_MAX 8	 /* of NFS, at one device; and so file handles */
#define NFS4_FF_REPORTS_MAX  256 /* reports accepted in a LAYOUTRETURN */
#define NFS4_FF_ERRORS_KEPT  32	 /* the Linux kernel sends 20 at most */
#define NFS4_FF_STATS_KEPT   4

/* ff_layout4, the head: nmirrors mirrors of nstripes data servers each */
struct nfs4_ff_layout {
	uint64_t unit; /* bytes of a stripe unit; get: not 0 where nstripes is not 1 */
	/* get: neither is 0, and every mirror has nstripes data servers */
	uint32_t nmirrors, nstripes;
	struct nfs4_opaque mirrors; /* get: the mirrors in wire form */
	uint32_t flags;		    /* FF_FLAGS_* */
	uint32_t stats_hint;	    /* seconds between two LAYOUTSTATS; 0: no wish */
};
/* ff_data_server4 */
struct nfs4_ff_server {
	struct nfs4_deviceid device;
	uint32_t efficiency;
	struct nfs4_stateid stateid; /* for data servers of NFSv4 */
	/* one handle per version that the device has, in the same order; get: not 0 */
	uint32_t nfh;
	struct nfs_fh fh[NFS4_FF_VERSIONS_MAX];
	struct nfs_name user, group; /* for loosely coupled data servers; decimal for NFSv3 */
};
/* A server that encodes a layout calls head, then nfs4_put_ff_mirror() for each mirror with
 * nfs4_put_ff_server() nstripes times behind each, then tail. */
void nfs4_put_ff_head(struct xdr_out *x, const struct nfs4_ff_layout *l);
void nfs4_put_ff_mirror(struct xdr_out *x, uint32_t nstripes);
void nfs4_put_ff_server(struct xdr_out *x, const struct nfs4_ff_server *s);
void nfs4_put_ff_tail(struct xdr_out *x, const struct nfs4_ff_layout *l);
/* 0 or -EBADMSG. */
int nfs4_get_ff_layout(const struct nfs4_opaque *body, struct nfs4_ff_layout *l);

/* The data servers of a layout: mirror by mirror, stripe by stripe. */
struct nfs4_ff_walk {
	uint32_t pos, next;
	uint32_t mirror, stripe; /* of the data server just read */
};
/* *w is all zeros at first. False: no more. */
bool nfs4_ff_next(const struct nfs4_ff_layout *l, struct nfs4_ff_walk *w, struct nfs4_ff_server *s);

/* ff_device_addr4 */
struct nfs4_ff_version {
	uint32_t version, minor; /* 3 and 0, or 4 and a minor version; get: any */
	uint32_t rsize, wsize;	 /* bytes */
	bool tight;		 /* the metadata server's stateids are valid there */
};
struct nfs4_ff_device {
	struct nfs4_multipath addrs;
	uint32_t nversions; /* at most NFS4_FF_VERSIONS_MAX; get: not 0 */
	struct nfs4_ff_version version[NFS4_FF_VERSIONS_MAX];
};
void nfs4_put_ff_device(struct xdr_out *x, const struct nfs4_ff_device *d);
/* 0 or -EBADMSG. */
int nfs4_get_ff_device(const struct nfs4_opaque *body, struct nfs4_ff_device *d);

/* ff_io_latency4 */
struct nfs4_ff_latency {
	uint64_t ops_requested, bytes_requested, ops_completed, bytes_completed;
	uint64_t bytes_not_delivered;
	struct timespec busy, completion; /* durations */
};
/* ff_layoutupdate4: the body of a LAYOUTSTATS */
struct nfs4_ff_update {
	struct nfs4_netaddr addr;
	struct nfs_fh fh;
	struct nfs4_ff_latency read, write;
	struct timespec duration;
	bool local; /* served by the client's cache */
};
void nfs4_put_ff_update(struct xdr_out *x, const struct nfs4_ff_update *u);
/* 0 or -EBADMSG. */
int nfs4_get_ff_update(const struct nfs4_opaque *body, struct nfs4_ff_update *u);

/* ff_iostats4 */
struct nfs4_ff_iostats {
	uint64_t offset, length;
	struct nfs4_stateid stateid;
	struct nfs4_io_info read, write;
	struct nfs4_deviceid device;
	struct nfs4_ff_update update;
};
/* ff_layoutreturn4: the body of a LAYOUTRETURN of a file. At most so many as are kept; get: more
 * (at most NFS4_FF_REPORTS_MAX) are checked and not kept. */
struct nfs4_ff_return {
	uint32_t nerrors;
	bool more_errors; /* get: some were not kept */
	struct nfs4_layouterror_args error[NFS4_FF_ERRORS_KEPT];
	uint32_t nstats;
	struct nfs4_ff_iostats stats[NFS4_FF_STATS_KEPT];
};
void nfs4_put_ff_return(struct xdr_out *x, const struct nfs4_ff_return *r);
/* 0 or -EBADMSG. An empty body is a report of nothing. */
int nfs4_get_ff_return(const struct nfs4_opaque *body, struct nfs4_ff_return *r);

#endif

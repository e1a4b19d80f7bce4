/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_io_stats: the READs and WRITEs of one layout at its data servers, counted and timed, for
 * LAYOUTSTATS and LAYOUTRETURN (RFC 8435 sections 9.2 and 11).
 *
 * The counts begin with the first I/O of a layout, and end with the layout. They are never reset,
 * so each report tells all. The first NFS4_IO_STATS data servers of a layout are counted.
 *
 * Pure. The owner serialises the callers.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_IO_STATS_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_IO_STATS_H

#include "nfsproto/v4/pnfs/nfs4_ds.h"
#include "nfsproto/wire/nfs4_flexfiles.h"
#include "nfsproto/wire/nfs4_netaddr.h"

#define NFS4_IO_STATS	NFS4_FF_STATS_KEPT
#define NFS4_IO_STATS_S 60u /* between two reports, if the server has no wish */

/* I/O of one direction at one data server. Times are in nanoseconds. */
struct nfs4_io_stat {
	uint64_t ops_requested, bytes_requested, ops_completed, bytes_completed;
	uint64_t bytes_lost; /* requested, but not done because of an error */
	uint64_t busy_ns;    /* with I/O under way, up to since_ns */
	uint64_t completion_ns;
	unsigned under_way;
	uint64_t since_ns; /* under_way: since when without a pause */
};

struct nfs4_io_stats {
	unsigned n;
	uint64_t begin_ns; /* of the first I/O */
	bool news;	   /* I/O has ended since the last LAYOUTSTATS */
	uint64_t due_ns;   /* no LAYOUTSTATS before */
	struct nfs4_io_stats_at {
		struct nfs4_deviceid device;
		struct nfs_fh fh;
		bool rdma;
		struct sockaddr_storage addr;
		struct nfs4_io_stat read, write;
	} at[NFS4_IO_STATS];
};

/* I/O of len bytes begins at the device, whose data server is ds, which is connected. Returns the
 * number for nfs4_io_stats_ended(); -1: the I/O is not counted. */
int nfs4_io_stats_begun(struct nfs4_io_stats *s, const struct nfs4_deviceid *device,
	const struct nfs_fh *fh, const struct nfs4_ds *ds, bool write, uint32_t len, uint64_t now);
/* I/O of len bytes that has begun with that number has ended: `done` bytes are done. ok: no error.
 */
void nfs4_io_stats_ended(struct nfs4_io_stats *s, int number, bool write, bool ok, uint32_t len,
	uint32_t done, uint64_t begun_ns, uint64_t now);
/* Tells of data server i, below s->n. u->addr points to text. */
void nfs4_io_stats_tell(const struct nfs4_io_stats *s, unsigned i, uint64_t now,
	char text[NFS4_UADDR_MAX], struct nfs4_ff_update *u);

#endif

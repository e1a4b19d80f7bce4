/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_segment: one segment of a layout, a byte range of a file, and the data servers that have the
 * bytes (flexible files: RFC 8435 section 5; files: RFC 8881 section 13).
 *
 * A segment has mirrors, each with all bytes of the range. A mirror has stripes: the file is cut
 * into units, and unit number i lies in stripe i modulo the number of stripes, at its own offset in
 * the file of that data server (sparse mapping, RFC 8435 section 6). A target is one stripe of one
 * mirror.
 *
 * A segment of the file layout type has one mirror. Its units are counted from the pattern offset,
 * its stripes from the first stripe index, and a dense one packs the units of each data server
 * (RFC 8881 section 13.4). How many stripes there are is the device's to tell: such a segment has
 * no targets before nfs4_segment_spread().
 *
 * Pure. The owner of a segment serialises the callers.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_SEGMENT_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_SEGMENT_H

#include "nfsproto/wire/nfs4_files.h"
#include "nfsproto/wire/nfs4_flexfiles.h"
#include "nfsproto/wire/nfs4_xdr.h"

#define NFS4_TARGETS_MAX 64  /* of a segment; a layout with more is not used */
#define NFS4_STRIPES	 256 /* of a segment of the file layout type; likewise */
#define NFS4_TARGET_FHS                                                                            \
	4 /* handles of a target that are kept; a device's further versions: none                  \
	   */

struct nfs4_device;
struct nfs4_ds;

struct nfs4_target {
	struct nfs4_deviceid id;
	struct nfs4_device *device; /* the owner's: NULL until the device is known */
	struct nfs4_ds *ds;	    /* the owner's: NULL: of no use */
	struct nfs4_stateid stateid;
	bool numeric; /* uid and gid are set: user and group are numbers */
	uint32_t uid, gid;
	unsigned nfh; /* handles, for the versions of the device in the same order */
	struct nfs_fh fh[NFS4_TARGET_FHS];
};

struct nfs4_segment {
	uint64_t offset, length; /* length NFS4_LENGTH_EOF: to the end of the file */
	bool writes;		 /* LAYOUTIOMODE4_RW, else LAYOUTIOMODE4_READ */
	uint32_t flags;		 /* FF_FLAGS_* */
	uint32_t stats_s;	 /* between two LAYOUTSTATS; 0: the server has no wish */
	uint64_t unit;		 /* bytes; 0: one stripe */
	unsigned nmirrors, nstripes;
	struct nfs4_target *target; /* nmirrors times nstripes, mirror by mirror */
	/* of the file layout type */
	bool files, dense;
	uint32_t first;	  /* stripe index of the first unit */
	uint64_t pattern; /* offset of the first unit */
	struct nfs4_deviceid id;
	uint32_t nfh; /* handles, until the targets have them */
	struct nfs_fh *fh;
};

/* Makes s from one layout of a LAYOUTGET's results, of this layouttype4. 0, -EBADMSG (malformed, or
 * of another type), -EOPNOTSUPP (more targets than NFS4_TARGETS_MAX or NFS4_STRIPES) or -ENOMEM.
 * nfs4_segment_finish() is needed after 0 alone. */
int nfs4_segment_init(struct nfs4_segment *s, const struct nfs4_layout *l, uint32_t type);
/* Gives s, which is of the file layout type and has no targets yet, a target for each of the
 * device's stripe indices, which are the numbers of its data servers. fh: the metadata server's
 * handle of the file. 0, -EBADMSG (the layout does not fit the device) or -ENOMEM. */
int nfs4_segment_spread(struct nfs4_segment *s, const struct nfs_fh *fh, const uint8_t *stripe,
	unsigned nstripes, unsigned nservers);
void nfs4_segment_finish(struct nfs4_segment *s);
/* Have both a byte in common? */
bool nfs4_segments_overlap(const struct nfs4_segment *a, const struct nfs4_segment *b);
/* Is offset inside s? */
bool nfs4_segment_has(const struct nfs4_segment *s, uint64_t offset);
/* The offset in the data server's file of the byte at offset, which is inside s. */
uint64_t nfs4_segment_place(const struct nfs4_segment *s, uint64_t offset);
/* The bytes from offset, which is inside s, on: shortens *len to those that lie in s and in one
 * stripe in one piece, and returns the number of the stripe. s has targets. */
unsigned nfs4_segment_piece(const struct nfs4_segment *s, uint64_t offset, uint32_t *len);
static inline struct nfs4_target *nfs4_segment_target(
	const struct nfs4_segment *s, unsigned mirror, unsigned stripe)
{
	return &s->target[mirror * s->nstripes + stripe];
}

#endif

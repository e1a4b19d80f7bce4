/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_report: LAYOUTERROR and LAYOUTSTATS (RFC 7862 sections 15.6 and 15.7, RFC 8435
 * sections 10 and 11), which tell the metadata server of a data server that has failed, and of the
 * I/O at data servers.
 *
 *     started --answer, or no answer in time--> freed
 *
 * A layout goes when I/O has failed at a data server. LAYOUTRETURN waits for the I/O under way
 * elsewhere; LAYOUTERROR does not, so the metadata server knows early. LAYOUTRETURN tells the
 * errors once more: an error there asks for a repair, an error in LAYOUTERROR alone does not (RFC
 * 8435 section 8.2.3).
 *
 * Both are for flexible files alone, as in Linux' client. Ganesha, which gives layouts of the file
 * layout type, does not answer LAYOUTERROR, nor any later request of the same connection.
 *
 * I/O that finds a data server down goes another way, and the layout stays. Then LAYOUTERROR tells
 * the metadata server once for each layout.
 *
 * LAYOUTSTATS goes at most as often as the server wishes, for layouts with I/O since the last one,
 * and while no other report is under way. A layout that is held for a shorter time costs no round
 * trip: LAYOUTRETURN brings the same counts.
 *
 * No op waits for a report, and no report is repeated. The thread that sees a failure sends the
 * LAYOUTERROR, the pNFS thread each LAYOUTSTATS. At most NFS4_LAYOUT_REPORTS of a mount are under
 * way at once, and further ones are left out. A server that lacks an operation is not asked again
 * (nfs4_server.lacks).
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_REPORT_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_REPORT_H

#include "nfsproto/v4/pnfs/nfs4_layout.h"

#define NFS4_LAYOUT_REPORTS 8u

struct nfs4_layout_report {
	TAILQ_ENTRY(nfs4_layout_report) link GUARDED_BY(NFS4_LAYOUTS_LOCK);
	/* constant */
	struct nfs4_layouts *t;
	struct nfs_op op;
	uint64_t until_ns; /* the latest time of an answer */
	struct nfs_fh fh;
	struct nfs4_stateid stateid;
	/* LAYOUTERROR */
	unsigned n;
	struct nfs4_layout_error error[NFS4_LAYOUT_ERRORS];
	/* LAYOUTSTATS: as of told_ns */
	struct nfs4_io_stats stats;
	uint64_t told_ns;
};

/* Has LAYOUTERROR tell n errors of the file fh. stateid: of the layout of fh. Any thread. */
void nfs4_layout_report_errors(struct nfs4_layouts *t, struct nfs4_client *c,
	const struct nfs_fh *fh, const struct nfs4_stateid *stateid,
	const struct nfs4_layout_error *error, unsigned n) EXCLUDES(t->lock);
/* Has LAYOUTSTATS tell the counts of one layout, if a layout is due. Lowers *next to the time of
 * the next call. The pNFS thread. */
void nfs4_layout_report_stats(struct nfs4_layouts *t, struct nfs4_client *c, uint64_t now,
	uint64_t *next) EXCLUDES(t->lock);
/* Cancels each report that has had no answer by until_ns, and ends cancelled reports. Lowers *next
 * to the time of the next call. The pNFS thread. */
void nfs4_layout_reports_tend(struct nfs4_layouts *t, struct nfs4_client *c, uint64_t now,
	uint64_t *next) EXCLUDES(t->lock);

#endif

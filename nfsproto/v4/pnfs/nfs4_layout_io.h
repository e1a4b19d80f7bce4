/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_io: a READ or WRITE that goes to data servers.
 *
 *     op --no layout, data server lost--> metadata server, as without pNFS
 *     large op --layout wanted--> waits for the answer to LAYOUTGET, then as above
 *      \--> parts, one for each stripe unit and mirror, at once --all done--> READ: ended
 *                 |                                              \--> WRITE: LAYOUTCOMMIT --> ended
 *                 \--any failed--> waits in the layout (nfs4_layout.h) --> metadata server
 *
 * A READ takes any mirror whose data server is up, a WRITE goes to all mirrors. LAYOUTCOMMIT brings
 * the attributes that a WRITE owes, so the change attribute and the size that a program sees are
 * always the metadata server's. If LAYOUTCOMMIT fails, the same op writes the data once more,
 * through the metadata server. A server that wants no LAYOUTCOMMIT (FF_FLAGS_NO_LAYOUTCOMMIT) is
 * asked for the attributes alone.
 *
 * A READ that is to bring attributes goes through the metadata server. So does a READ that finds
 * less data than asked for in one of several stripes: only the metadata server knows the size of
 * the file.
 *
 * While the parts are under way, the op is NFS4_T_AWAY. A cancelled READ ends at once, a cancelled
 * WRITE when its parts have ended: data servers may execute them late.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_IO_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_IO_H

#include "nfsproto/v4/pnfs/nfs4_layout.h"

#define NFS4_LAYOUT_PARTS 64u /* of an op; an op with more goes through the metadata server */

/* Takes op, a READ or WRITE of its kind that nfs4_task_start() would start next, if the data
 * servers can carry op out. False: op is as before. */
bool nfs4_layout_io(struct nfs4_layouts *t, struct nfs4_client *c, struct nfs_op *op);
/* Starts the ops that waited for a layout: at data servers if it is there. */
void nfs4_layout_go_on(struct nfs4_layouts *t, struct nfs4_client *c, struct nfs4_stranded *ops);
/* op was cancelled (nfs4_task_cancel_locked()). */
void nfs4_layout_io_cancel(struct nfs4_layouts *t, struct nfs4_client *c, struct nfs_op *op);
/* LAYOUTCOMMIT of op was answered with status, or with nothing readable (0): the data is written
 * through the metadata server. Returns as nfs4_upcalls.failed. */
enum nfs_outcome nfs4_layout_uncommitted(struct nfs4_client *c, struct nfs_op *op, uint32_t status);
/* LAYOUTCOMMIT of op has succeeded, but the metadata server does not know the size of the file that
 * the WRITE has made: once more, then the same. */
enum nfs_outcome nfs4_layout_unseen(struct nfs4_client *c, struct nfs_op *op);
/* op, which has LAYOUTCOMMIT behind it or before it, ends; so does a CLOSE, perhaps with a layout.
 */
void nfs4_layout_io_over(struct nfs_op *op);
/* Sends the ops that waited in a layout through the metadata server. */
void nfs4_layout_rescue(struct nfs4_stranded *ops);

#endif

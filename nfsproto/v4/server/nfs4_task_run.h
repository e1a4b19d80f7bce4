/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task_run: ops are started: an op takes a slot, makes its calls, and goes on by their
 * replies. Model: nfs4_task.h.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_TASK_RUN_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_TASK_RUN_H

#include "nfsproto/v4/server/nfs4_server.h"

/* Starts (or starts again) an op with its kind set. Any thread, no lock held. */
void nfs4_task_start(struct nfs_op *op);
/* Starts the waiting ops for which there are slots, now that the gate is open. No lock held. */
void nfs4_task_kick(struct nfs4_server *srv);

#endif

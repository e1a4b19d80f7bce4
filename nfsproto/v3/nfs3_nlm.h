/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm: byte-range locks of an NFSv3 mount, by the Network Lock Manager (nfs3_nlm_state.h).
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_H

#include "nfsproto/v3/nfs3_nlm_state.h"

/* dir, who: as for nfs3_nsm_open(); or former: the name of a former daemon, which n takes over if
 * the function succeeds. 0 or -errno. */
int nfs3_nlm_init(
	struct nfs3_nlm *n, const char *dir, const char *who, const struct nfs3_nsm *former);
/* Call once mounted. Begins to free locks that a former daemon left, and to claim its own, if any.
 * 0; -errno: there is no thread for claims, and I/O under the locks would wait for ever. */
int nfs3_nlm_start(struct nfs3_client *c);
/* Ends waiting ops with -ENOTCONN, and the thread. While there are connections. */
void nfs3_nlm_stop(struct nfs3_client *c);
/* After the connections, which tell of their return: clears held locks until `until`, on
 * clock_ns(), at most, and disconnects. */
void nfs3_nlm_finish(struct nfs3_client *c, uint64_t until);
/* An NFS_LOCK or NFS_LOCKT. */
void nfs3_nlm_submit(struct nfs3_client *c, struct nfs_op *op);
/* at_once false: nfs_interrupt(). */
void nfs3_nlm_cancel(struct nfs3_client *c, struct nfs_op *op, bool at_once);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_move: migration (RFC 8881 section 11.5.5): the file system of a mount moves to another
 * server, and the mount with it. With the option migration only.
 *
 * An operation is answered NFS4ERR_MOVED, or a SEQUENCE has the flag LEASE_MOVED. The state manager
 * asks for the root of the mount. If the root has moved, the state manager asks for the places,
 * redirects all connections to the first one that can be reached, and makes a new client ID and
 * session there. All that follows is as after a restart of the server. The client reclaims opens,
 * locks and delegations, as far as the new server lets a new client do so. The client writes
 * unstable data again. Meanwhile operations wait. Both servers must have the same handles, as
 * servers with shared storage do.
 *
 * Before any state is reclaimed, the mount looks for its root at the new server. If that server has
 * no such root, has none yet, or refuses to show the root, the mount goes back to the server that
 * named the place, and asks again. If the place does not answer, or answers NFS4ERR_DELAY, the
 * mount asks 20 times before. Each move in a row begins with the next place. From the ninth on a
 * move waits first, so that servers which name each other, or themselves, are not asked without
 * end.
 *
 * If the root is there, a file system below the root has moved. Its files fail with EREMOTE, and
 * its directory is a referral from then on.
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_MOVE_H
#define RNFS_NFSPROTO_V4_NFS4_MOVE_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* op was answered NFS4ERR_MOVED. True: op waits until the state manager knows more, and is then
 * sent again as it was at first; *ms: the pause. False: the root of the mount has not moved. */
bool nfs4_move_waits(struct nfs4_client *c, struct nfs_op *op, unsigned *ms);
/* On the state manager's thread: does what is due at now: true. Otherwise lowers *next. */
bool nfs4_move_poll(struct nfs4_client *c, uint64_t now, uint64_t *next);
/* On the state manager's thread, before the mount reclaims state from a server that has restarted.
 * True: there is nothing to be reclaimed there, because the mount moves to another server, or the
 * session is gone. Waits until one can be reached, and has told of the root. */
bool nfs4_move_instead(struct nfs4_client *c);

#endif

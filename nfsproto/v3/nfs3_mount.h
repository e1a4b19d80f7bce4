/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_mount: the root handle of an export by the MOUNT protocol, and the farewell.
 *
 * The NFS port itself is asked first: rnfs-serve answers there, and other servers say at once that
 * they do not have the program. Then the portmapper tells the port. A user's option overrides both.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_MOUNT_H
#define RNFS_NFSPROTO_V3_NFS3_MOUNT_H

#include "nfsproto/v3/nfs3_client.h"
#include "nfsproto/common/nfs3_aux.h"

struct nfs3_mount { /* how MOUNT was reached, for UMNT */
	struct nfs3_aux aux;
	bool in_place; /* on the NFS port */
	char path[];   /* of the export */
};

/* Asks for p->export. c->rp names the NFS connection. 0: *root and c->mount are set. -1 with *e
 * set. Blocks for a few times p->connect_ms at most. */
int nfs3_mount_ask(struct nfs3_client *c, const struct nfs_mount_params *p, struct nfs_fh *root,
	struct err *e);
/* Sends UMNT, waits until `until`, on clock_ns(), at most, and frees c->mount. */
void nfs3_mount_leave(struct nfs3_client *c, uint64_t until);

#endif

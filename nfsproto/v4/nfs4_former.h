/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_former: a mount is made anew by the notes of a former daemon that was killed (nfs_former.h):
 * its properties, opens and locks. The server's part: nfs4_server_record.h, nfs4_replay.h.
 *
 * A delegation is held again with its local opens and local locks. None goes back before
 * nfs4_former_end(): until then the user does not know which data is written. A local open or lock
 * whose delegation has no note is suspect: the former daemon had lost the delegation.
 *
 * The successor does not walk to the export, and reclaims nothing while the session is there.
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_FORMER_H
#define RNFS_NFSPROTO_V4_NFS4_FORMER_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* c has nothing but its server. 0, or -1 with *e set: c may have some of the opens and locks. */
int nfs4_former_read(struct nfs4_client *c, const struct former *f, struct err *e);
/* nfs_open_note_number(), nfs_client_former_open(), nfs_client_former_end(),
 * nfs_client_former_deleg(), nfs_open_discard(). */
uint64_t nfs4_former_number(const struct nfs_open *o);
struct nfs_open *nfs4_former_open(struct nfs_client *base, uint64_t number);
void nfs4_former_end(struct nfs_client *base);
uint64_t nfs4_former_deleg(struct nfs_client *base, const struct nfs_fh *fh, bool *writes);
void nfs4_former_discard(struct nfs_open *o);

#endif

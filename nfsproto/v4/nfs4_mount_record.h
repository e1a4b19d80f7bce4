/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_mount_record: a mount for a successor (nfs_record.h): the server, the properties of the
 * mount, and its state.
 *
 * Layouts and delegations go back before. The successor asks for others.
 *
 * The successor does not walk to the export again. So only the loss of the server can delay the
 * successor, and no answer of the server can refuse the mount.
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_MOUNT_RECORD_H
#define RNFS_NFSPROTO_V4_NFS4_MOUNT_RECORD_H

#include "nfsproto/common/nfs_record.h"
#include "nfsproto/v4/mount/nfs4_mount.h"

/* nfs_client_settle(), nfs_client_record(). */
const char *nfs4_mount_settle(struct nfs_client *base);
void nfs4_mount_record(
	struct nfs_client *base, struct nfs_open *const open[], uint32_t n, struct xdr_out *x);
/* The rest of the record, behind nfs4_server_get_record(): fills c, which has no state yet, and
 * rec->open. 0, or -1 with *e set. */
int nfs4_mount_get_record(
	struct nfs4_client *c, const struct nfs_record *rec, struct xdr_in *x, struct err *e);

/* Notes the properties of the mount for the successor of a killed daemon (nfs_former.h). */
void nfs4_mount_note(struct nfs4_client *c);
/* Fills c, which has no state yet. False: the note is damaged. */
bool nfs4_mount_get_note(struct nfs4_client *c, const struct former *f);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_locations: the other places of a file system (fs_locations, RFC 8881 section 11.10.1), and
 * the consequences of NFS4ERR_MOVED: the op asks the server where the file system is, and ends with
 * EREMOTE. A LOOKUP of a mount that follows referrals brings the places along
 * (nfs_submount.h). Otherwise the log gets a sentence. Migration is not followed.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_LOCATIONS_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_LOCATIONS_H

#include <stddef.h>

#include "nfsproto/common/nfs_places.h"
#include "nfsproto/v4/ops/nfs4_coder.h"

/* Reads the XDR of an fs_locations4. A server's name with spaces or control characters is left out,
 * and so is a path that is none. Returns how many places there are; then *out has them (free()). 0,
 * -EBADMSG or -ENOMEM: *out is NULL. */
int nfs4_locations_get(const struct nfs4_opaque *raw, struct nfs_places **out);

/* op, which is not under way, was answered NFS4ERR_MOVED. True: start op again; op now asks for the
 * new place, and then ends with -EREMOTE. False: the function has written to the log. */
bool nfs4_moved_ask(struct nfs4_client *c, struct nfs_op *op);

#endif

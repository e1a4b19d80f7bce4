/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_locations: the other places of a file system (fs_locations, RFC 8881 section 11.10.1), for
 * people to read. Referrals and migration are not followed.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_LOCATIONS_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_LOCATIONS_H

#include <stddef.h>

#include "nfsproto/wire/nfs4_xdr.h"

/* Writes "server:/path or server:/path ..." from the XDR of an fs_locations4 to buf, terminated and
 * cut at size with "..."; each character that is not printable ASCII becomes '?'. Returns how many
 * locations there are, or -EBADMSG (buf is then empty). */
int nfs4_locations_format(const struct nfs4_opaque *raw, char *buf, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_locations: the other places of a file system (fs_locations, RFC 8881 section 11.10.1), for
 * people to read, and the consequences of NFS4ERR_MOVED: the op asks the server where the file
 * system is, the log gets a sentence, and the program gets EREMOTE. Referrals and migration are not
 * followed.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_LOCATIONS_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_LOCATIONS_H

#include <stddef.h>

#include "nfsproto/v4/ops/nfs4_coder.h"

/* Writes "server:/path or server:/path ..." from the XDR of an fs_locations4 to buf, terminated and
 * cut at size with "..."; each character that is not printable ASCII becomes '?'. Returns how many
 * locations there are, or -EBADMSG (buf is then empty). */
int nfs4_locations_format(const struct nfs4_opaque *raw, char *buf, size_t size);

/* op, which is not under way, was answered NFS4ERR_MOVED. True: start op again; op now asks for the
 * new place, and then ends with -EREMOTE. False: the function has written to the log. */
bool nfs4_moved_ask(struct nfs4_client *c, struct nfs_op *op);

#endif

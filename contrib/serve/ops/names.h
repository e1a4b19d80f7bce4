/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names: owners that clients send as names (user@domain) instead of numbers (RFC 8881 section 5.9).
 *
 * A request does not wait for the name service: while a name is being looked up, the client is told
 * to come again. The server sends owners as numbers.
 */
#ifndef RNFS_SERVE_OPS_NAMES_H
#define RNFS_SERVE_OPS_NAMES_H

#include "nfsproto/common/idmap.h"
#include "nfsproto/wire/nfs4_attr.h"

/* nfs4_sattr_decode() with the names of m (NULL: none is
 * known), and NFS4ERR_DELAY for a name that is being looked up. */
uint32_t names_sattr_decode(
	struct idmap *m, const struct nfs4_fattr *f, struct nfs_sattr *s, struct nfs4_opaque *acl);
/* Finds the ID of the named user or group: NFS4_OK, NFS4ERR_BADOWNER, NFS4ERR_DELAY. */
uint32_t names_owner(struct idmap *m, const struct nfs_name *who, bool group, uint32_t *id);

#endif

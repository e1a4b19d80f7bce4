/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * acl: the ACLs of NFSv4 (RFC 8881 section 6) for file systems that have POSIX ACLs.
 *
 * To a client, a POSIX ACL is described by entries for OWNER@, GROUP@, EVERYONE@, users and groups.
 * A directory's default ACL is described by further entries that are only inherited. In the other
 * direction, the POSIX ACL grants as much of the client's entries as it can express: never more.
 *
 * Without libacl, no file has an ACL.
 */
#ifndef RNFS_SERVE_OPS_ACL_H
#define RNFS_SERVE_OPS_ACL_H

#include <stdbool.h>
#include <stdint.h>

#include "contrib/serve/export/object.h"
#include "nfsproto/wire/nfs4_xdr.h"

struct idmap;

#ifdef HAVE_LIBACL
/* Does o's file system have POSIX ACLs? A symbolic link has none. */
bool acl_supported(const struct obj *o);
/* o's ACL as the XDR of nfsace4<>. *out is malloc'ed. A status. */
uint32_t acl_get(const struct obj *o, struct nfs4_opaque *out);
/* Sets o's ACL and, of a directory, its default ACL from the XDR of an nfsace4<>.
 * NFS4ERR_ATTRNOTSUPP: a POSIX ACL cannot express the entries. NFS4ERR_BADOWNER: names (names.h)
 * does not know a user or group. */
uint32_t acl_set(struct idmap *names, const struct obj *o, const struct nfs4_opaque *acl);
#else
static inline bool acl_supported(const struct obj *o)
{
	return false;
}
static inline uint32_t acl_get(const struct obj *o, struct nfs4_opaque *out)
{
	return NFS4ERR_ATTRNOTSUPP;
}
static inline uint32_t acl_set(
	struct idmap *names, const struct obj *o, const struct nfs4_opaque *acl)
{
	return NFS4ERR_ATTRNOTSUPP;
}
#endif

#endif

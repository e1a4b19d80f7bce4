/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * acl: the ACLs of NFSv4 (RFC 8881 section 6) for file systems that have those of POSIX.
 *
 * What a POSIX ACL allows and forbids is said in entries for OWNER@, GROUP@, EVERYONE@, users and
 * groups; a directory's default ACL in further ones that are only inherited. The other way, as much
 * is granted as a POSIX ACL can say: never more than the entries do.
 *
 * Without libacl there are none.
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
/* Makes the XDR of an nfsace4<> o's ACL and, of a directory, its default ACL. NFS4ERR_ATTRNOTSUPP:
 * it says what a POSIX ACL cannot; NFS4ERR_BADOWNER: a user or group that is not known
 * to names (names.h). */
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

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * attr: reports and changes the attributes of objects (RFC 8881 section 5).
 *
 * Before a change the caller has assumed the client's identity (ident_assume()). Statuses are those
 * of NFSv4.
 */
#ifndef RNFS_SERVE_OPS_ATTR_H
#define RNFS_SERVE_OPS_ATTR_H

#include "contrib/serve/export/object.h"
#include "nfsproto/wire/nfs4_attr.h"

struct serve;
struct idmap;

uint64_t attr_change(const struct obj *o, const struct statx *st);
/* Gets the attributes `want` of o, as far as minor version 1 or 2 has them. *st: o's attributes on
 * disk. */
void attr_fill(struct serve *sv, uint32_t minor, struct obj *o, const struct statx *st,
	const struct nfs4_bitmap *want, struct nfs4_attrs *a);
struct nfs4_bitmap attr_supported(const struct serve *sv, uint32_t minor);
/* Frees the memory of a from attr_fill(). */
void attr_fill_done(struct nfs4_attrs *a);
/* Decodes the attributes that a client of the minor version wants to set on o, or (acl NULL) on a
 * new object in o. names: of owners (names.h). *acl: the XDR of an ACL, or NULL. */
uint32_t attr_decode(struct idmap *names, uint32_t minor, const struct obj *o,
	const struct nfs4_fattr *f, struct nfs_sattr *set, struct nfs4_opaque *acl);
/* This thread is about to make an object in dir: applies set's umask to its mode, unless dir has a
 * default ACL, which then decides instead (RFC 8275 section 5). The kernel does so until
 * attr_umask_end(), which must follow, with this function's result. If the kernel cannot, this
 * function changes set->mask. */
bool attr_umask_begin(const struct obj *dir, struct nfs_sattr *set);
void attr_umask_end(bool begun);
/* Applies set to o; fd >= 0 is a descriptor open for writing. *done receives the NFS_SET_* that
 * were applied. A status. */
uint32_t attr_apply(struct obj *o, int fd, const struct nfs_sattr *set, uint32_t *done);
/* The same for an object just made with the mode of set. *st: the attributes after the call. Sets
 * stx_mask of *st to 0 if they have changed. */
uint32_t attr_after_create(
	struct obj *o, int fd, struct statx *st, const struct nfs_sattr *set, uint32_t *done);
/* Converts *st of o to the attributes that every version has. */
void attr_stat(const struct obj *o, const struct statx *st, struct nfs_attr *n);
/* The space of o's file system (without fs->name_max). 0 or -errno. */
int attr_fsstat(const struct obj *o, struct nfs_fsstat *fs);
/* Which of the rights want (NFS_ACCESS_*, ACCESS4_XA*) has the caller? *supported: the checkable
 * rights of want. */
uint32_t attr_access(const struct obj *o, bool read_only, uint32_t want, uint32_t *supported);
#define ATTR_ACCESS (NFS_SET_MODE | NFS_SET_UID | NFS_SET_GID)
/* Does set change the rights to a file? */
bool attr_is_access(const struct nfs_sattr *set);
/* A change to o went through this server. */
void attr_touch(struct obj *o);
/* Call before and after a change of a directory. */
void cinfo_before(struct obj *dir, struct nfs4_change_info *ci);
void cinfo_after(struct obj *dir, struct nfs4_change_info *ci);

#endif

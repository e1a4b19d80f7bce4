/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * attr: what the server says about objects, and how it changes them (RFC 8881 section 5).
 *
 * The caller has assumed its identity (ident_assume()) where something is changed. Statuses are
 * those of NFSv4.
 */
#ifndef RNFS_SERVE_OPS_ATTR_H
#define RNFS_SERVE_OPS_ATTR_H

#include "contrib/serve/export/object.h"
#include "nfsproto/wire/nfs4_attr.h"

struct serve;
struct idmap;

uint64_t attr_change(const struct obj *o, const struct statx *st);
/* Facts for want about o as *st describes it, of those that minor version 1 or 2 has. */
void attr_fill(struct serve *sv, uint32_t minor, struct obj *o, const struct statx *st,
	const struct nfs4_bitmap *want, struct nfs4_attrs *a);
struct nfs4_bitmap attr_supported(uint32_t minor);
/* Lets go what attr_fill() got. */
void attr_fill_done(struct nfs4_attrs *a);
/* What the client, by that minor version, wants to be set of o, or (acl NULL) of what is being made
 * in o. names: of owners (names.h). *acl: the XDR of an ACL, or NULL. */
uint32_t attr_decode(struct idmap *names, uint32_t minor, const struct obj *o,
	const struct nfs4_fattr *f, struct nfs_sattr *set, struct nfs4_opaque *acl);
/* Something is about to be made in dir by this thread: set's umask is taken from its mode, unless
 * dir has a default ACL, which then has its say instead (RFC 8275 section 5). The kernel does that
 * until attr_umask_end(), which must follow, with the result of this; or, where it cannot,
 * set->mode is changed. */
bool attr_umask_begin(const struct obj *dir, struct nfs_sattr *set);
void attr_umask_end(bool begun);
/* Applies set to o; fd >= 0 is a descriptor open for writing. *done receives the NFS_SET_* that
 * were applied. A status. */
uint32_t attr_apply(struct obj *o, int fd, const struct nfs_sattr *set, uint32_t *done);
/* The same for an object just made with the mode of set; it then looked like *st, whose stx_mask is
 * 0 afterwards if that has changed. */
uint32_t attr_after_create(
	struct obj *o, int fd, struct statx *st, const struct nfs_sattr *set, uint32_t *done);
/* The attributes that every version has, of o as *st describes it. */
void attr_stat(const struct obj *o, const struct statx *st, struct nfs_attr *n);
/* The space of o's file system (not fs->name_max). 0 or -errno. */
int attr_fsstat(const struct obj *o, struct nfs_fsstat *fs);
/* Those of want (NFS_ACCESS_*, ACCESS4_XA*) that the caller may do; *supported: those that can be
 * told. */
uint32_t attr_access(const struct obj *o, bool read_only, uint32_t want, uint32_t *supported);
/* A change to o went through this server. */
void attr_touch(struct obj *o);
/* Around a change of a directory. */
void cinfo_before(struct obj *dir, struct nfs4_change_info *ci);
void cinfo_after(struct obj *dir, struct nfs4_change_info *ci);

#endif

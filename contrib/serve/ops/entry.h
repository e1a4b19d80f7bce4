/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: names in directories, and the changes of them that every version of NFS knows.
 *
 * Each change is one system call on a directory's descriptor and a checked name; what the table of
 * objects knows is brought up to date afterwards. The caller has assumed its identity
 * (ident_assume()) and has seen to it that the export may be changed. Statuses are those of NFSv4.
 */
#ifndef RNFS_SERVE_OPS_ENTRY_H
#define RNFS_SERVE_OPS_ENTRY_H

#include "contrib/serve/export/object.h"
#include "nfsproto/nfs_file.h"

struct client;
struct serve;

/* A checked name as a string. */
struct entry_name {
	char s[OBJ_NAME_MAX + 1];
};

/* A name for openat(), or NFS4ERR_INVAL, _NAMETOOLONG, _BADNAME, _BADCHAR. out may be NULL. */
uint32_t entry_name(const struct nfs_name *n, struct entry_name *out);
/* Is o of that kind? Else the status that says what it is instead. */
uint32_t need_dir(const struct obj *o);
uint32_t need_file(const struct obj *o);
/* A status for what obj_lookup(), obj_parent() and obj_by_handle() return. */
uint32_t entry_status(int r);

/* NFS4_OK with a reference in *out; st as in obj_lookup(). */
uint32_t entry_lookup(struct serve *sv, struct obj *dir, const struct nfs_name *name,
	struct obj **out, struct statx *st);

/* Anything but a regular file that is to be made. */
struct entry_new {
	uint32_t type;		/* an nfs_type; unknown ones are NFS4ERR_BADTYPE */
	struct nfs_name target; /* NFS_LNK */
	uint32_t rdev_major, rdev_minor;
	struct nfs_sattr set;
	/* out, with NFS4_OK */
	struct obj *o;	 /* referenced */
	struct statx st; /* what it looks like; not known if stx_mask is 0 */
	uint32_t done;	 /* NFS_SET_* applied */
	bool unstable;	 /* o is to be synced, beside the directory */
};
/* If an attribute cannot be set, what was made is removed again. */
uint32_t entry_make(
	struct serve *sv, struct obj *dir, const struct nfs_name *name, struct entry_new *n);

/* by: whose delegations are not in the way (deleg_use.h); NULL: nobody's. Those of others are
 * recalled: NFS4ERR_DELAY. */
enum entry_kind { ENTRY_ANY, ENTRY_DIR, ENTRY_OTHER };
/* only: ENTRY_DIR refuses what is no directory (NFS4ERR_NOTDIR), ENTRY_OTHER what is one
 * (NFS4ERR_ISDIR). */
uint32_t entry_remove(struct serve *sv, const struct client *by, struct obj *dir,
	const struct nfs_name *name, enum entry_kind only);
/* *changed false: both names are of one object, and nothing has been done (RFC 8881 section
 * 18.26.3). */
uint32_t entry_rename(struct serve *sv, const struct client *by, struct obj *from_dir,
	const struct nfs_name *from, struct obj *to_dir, const struct nfs_name *to, bool *changed);
uint32_t entry_link(struct serve *sv, const struct client *by, struct obj *o, struct obj *dir,
	const struct nfs_name *name);

#endif

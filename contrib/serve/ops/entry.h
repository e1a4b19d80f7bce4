/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: names in directories, and the changes of names that every NFS version has.
 *
 * Each change is one system call on a directory's descriptor and a checked name. Afterwards the
 * table of objects is brought up to date. The caller has assumed the client's identity
 * (ident_assume()) and has checked that the export is writable. Statuses are those of NFSv4.
 */
#ifndef RNFS_SERVE_OPS_ENTRY_H
#define RNFS_SERVE_OPS_ENTRY_H

#include "contrib/serve/export/object.h"
#include "nfsproto/wire/nfs_file.h"

struct client;
struct serve;

/* A checked name as a string. */
struct entry_name {
	char s[OBJ_NAME_MAX + 1];
};

/* Checks a name for openat(): NFS4_OK, or NFS4ERR_INVAL, _NAMETOOLONG, _BADNAME, _BADCHAR. out may
 * be NULL. */
uint32_t entry_name(const struct nfs_name *n, struct entry_name *out);
/* Is o of the kind? NFS4_OK, or the status that names o's kind. */
uint32_t need_dir(const struct obj *o);
uint32_t need_file(const struct obj *o);
/* The status for a result of obj_lookup(), obj_parent() or obj_by_handle(). */
uint32_t entry_status(int r);

/* NFS4_OK with a reference in *out; st as in obj_lookup(). */
uint32_t entry_lookup(struct serve *sv, struct obj *dir, const struct nfs_name *name,
	struct obj **out, struct statx *st);

/* An object to be made, other than a regular file. */
struct entry_new {
	uint32_t type;		/* an nfs_type; unknown ones are NFS4ERR_BADTYPE */
	struct nfs_name target; /* NFS_LNK */
	uint32_t rdev_major, rdev_minor;
	struct nfs_sattr set;
	/* out, with NFS4_OK */
	struct obj *o;	 /* referenced */
	struct statx st; /* attributes; unknown if stx_mask is 0 */
	uint32_t done;	 /* NFS_SET_* applied */
	bool unstable;	 /* o must be synced, beside the directory */
};
/* If an attribute cannot be set, the new object is removed again. */
uint32_t entry_make(
	struct serve *sv, struct obj *dir, const struct nfs_name *name, struct entry_new *n);

/* by: this client's delegations do not conflict (deleg_use.h); NULL: all conflict. Conflicting ones
 * are recalled: NFS4ERR_DELAY. */
enum entry_kind { ENTRY_ANY, ENTRY_DIR, ENTRY_OTHER };
/* only: ENTRY_DIR refuses an object that is no directory (NFS4ERR_NOTDIR), ENTRY_OTHER refuses a
 * directory (NFS4ERR_ISDIR). */
uint32_t entry_remove(struct serve *sv, const struct client *by, struct obj *dir,
	const struct nfs_name *name, enum entry_kind only);
/* changed false: both names are of one object, and nothing was done (RFC 8881 section 18.26.3). */
uint32_t entry_rename(struct serve *sv, const struct client *by, struct obj *from_dir,
	const struct nfs_name *from, struct obj *to_dir, const struct nfs_name *to, bool *changed);
uint32_t entry_link(struct serve *sv, const struct client *by, struct obj *o, struct obj *dir,
	const struct nfs_name *name);

#endif

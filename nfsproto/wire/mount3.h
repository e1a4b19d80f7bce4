/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mount3: the MOUNT protocol version 3 (RFC 1813 appendix I): numbers and coders, both directions.
 * Conventions are those of nfs3_xdr.h.
 */
#ifndef RNFS_NFSPROTO_WIRE_MOUNT3_H
#define RNFS_NFSPROTO_WIRE_MOUNT3_H

#include <stdbool.h>
#include <stdint.h>

#include "nfsproto/wire/nfs_file.h"
#include "transport/rpc/xdr.h"

#define MOUNT3_PROGRAM	   100005
#define MOUNT3_VERSION	   3
#define MOUNT3_PATH_MAX	   1024
#define MOUNT3_NAME_MAX	   255
#define MOUNT3_FLAVORS_MAX 64

enum mount3_proc {
	MOUNT3PROC_NULL = 0,
	MOUNT3PROC_MNT = 1,
	MOUNT3PROC_DUMP = 2,
	MOUNT3PROC_UMNT = 3,
	MOUNT3PROC_UMNTALL = 4,
	MOUNT3PROC_EXPORT = 5,
};

enum mount3_status {
	MOUNT3_OK = 0,
	MOUNT3ERR_PERM = 1,
	MOUNT3ERR_NOENT = 2,
	MOUNT3ERR_IO = 5,
	MOUNT3ERR_ACCES = 13,
	MOUNT3ERR_NOTDIR = 20,
	MOUNT3ERR_INVAL = 22,
	MOUNT3ERR_NAMETOOLONG = 63,
	MOUNT3ERR_NOTSUPP = 10004,
	MOUNT3ERR_SERVERFAULT = 10006,
};

/* "MNT3ERR_NOENT"; "MNT3ERR_?" for a number the RFC does not have. */
const char *mount3_status_name(uint32_t status);

/* The argument of MNT and UMNT: 0..MOUNT3_PATH_MAX bytes. */
void mount3_put_path(struct xdr_out *x, const struct nfs_name *path);
int mount3_get_path(struct xdr_in *x, struct nfs_name *path);

struct mount3_mnt_res {
	uint32_t status;
	struct nfs_fh fh; /* 1..64 bytes */
	uint32_t nflavors;
	uint32_t flavor[MOUNT3_FLAVORS_MAX]; /* the server's favourite first */
};
void mount3_put_mnt_res(struct xdr_out *x, const struct mount3_mnt_res *r);
int mount3_get_mnt_res(struct xdr_in *x, struct mount3_mnt_res *r);

/* DUMP's results: any number of entries, then the end. get: 1 for an entry, 0 at the end. */
struct mount3_mounted {
	struct nfs_name host; /* at most MOUNT3_NAME_MAX */
	struct nfs_name path; /* at most MOUNT3_PATH_MAX */
};
void mount3_put_mounted(struct xdr_out *x, const struct mount3_mounted *m);
int mount3_get_mounted(struct xdr_in *x, struct mount3_mounted *m);

/* EXPORT's results: any number of exports, each followed by its groups and their end, then the end.
 * get: 1 for an export (followed by its groups) or a group, 0 at the end. */
void mount3_put_export(struct xdr_out *x, const struct nfs_name *path);
int mount3_get_export(struct xdr_in *x, struct nfs_name *path);
void mount3_put_group(struct xdr_out *x, const struct nfs_name *name);
int mount3_get_group(struct xdr_in *x, struct nfs_name *name);

/* Ends a list of entries, exports or groups. */
void mount3_put_end(struct xdr_out *x);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_xdr: arguments and results of NFSv3's procedures (RFC 1813 section 3), both directions.
 *
 * Conventions. A put function writes to a cursor with a sticky error, which the caller looks at
 * once. A get function fills in a struct and returns 0 or -EBADMSG. Results begin with a status, on
 * which all that follows depends; attributes come with failures too. Names and other variable parts
 * that a get function returns point into the stream. Nothing is allocated.
 *
 * Payload. RFC 8267 section 4 lets the transport place READ's data, WRITE's data, and READLINK's
 * and SYMLINK's path; see xdr.h.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS3_XDR_H
#define RNFS_NFSPROTO_WIRE_NFS3_XDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsproto/wire/nfs3.h"
#include "nfsproto/wire/nfs_file.h"
#include "transport/rpc/xdr.h"

#define NFS3_STRING_MAX 4096	   /* names and paths accepted; longer is malformed */
#define NFS3_IO_MAX	(1u << 20) /* most bytes of READ and WRITE data */

/* --- items ------------------------------------------------------------------------------------ */

struct nfs3_post_op { /* post_op_attr */
	bool have;
	struct nfs_attr attr;
};

struct nfs3_wcc { /* wcc_data */
	bool have_before;
	struct {
		uint64_t size;
		struct timespec mtime, ctime;
	} before;
	struct nfs3_post_op after;
};

struct nfs3_dirop { /* diropargs3 */
	struct nfs_fh dir;
	struct nfs_name name;
};

/* The change attribute for a ctime: grows with time. */
uint64_t nfs3_change(const struct timespec *ctime);

/* Handle of an argument: 0..NFS3_FHSIZE bytes. */
int nfs3_get_any_fh(struct xdr_in *x, struct nfs_fh *fh);
/* Handle of a result: 1..NFS3_FHSIZE bytes. */
int nfs3_get_fh(struct xdr_in *x, struct nfs_fh *fh);
void nfs3_put_fh(struct xdr_out *x, const struct nfs_fh *fh);
/* Length 0..NFS3_STRING_MAX, any bytes. */
int nfs3_get_name(struct xdr_in *x, struct nfs_name *n);
void nfs3_put_name(struct xdr_out *x, const struct nfs_name *n);
/* Seconds are an unsigned word, for times from 1970 to 2106; any other time is put as the nearest
 * of these. Nanoseconds beyond 999999999 are taken as 999999999. */
int nfs3_get_time(struct xdr_in *x, struct timespec *t);
void nfs3_put_time(struct xdr_out *x, const struct timespec *t);
/* fattr3. A type outside enum nfs_type is malformed. fsid_minor is not put and got as 0. */
int nfs3_get_attr(struct xdr_in *x, struct nfs_attr *a);
void nfs3_put_attr(struct xdr_out *x, const struct nfs_attr *a);
/* sattr3. get: a time with nanoseconds beyond 999999999 is malformed. */
int nfs3_get_sattr(struct xdr_in *x, struct nfs_sattr *s);
void nfs3_put_sattr(struct xdr_out *x, const struct nfs_sattr *s);
int nfs3_get_post_op(struct xdr_in *x, struct nfs3_post_op *p);
void nfs3_put_post_op(struct xdr_out *x, const struct nfs3_post_op *p);
int nfs3_get_wcc(struct xdr_in *x, struct nfs3_wcc *w);
void nfs3_put_wcc(struct xdr_out *x, const struct nfs3_wcc *w);
int nfs3_get_dirop(struct xdr_in *x, struct nfs3_dirop *d);
void nfs3_put_dirop(struct xdr_out *x, const struct nfs3_dirop *d);

/* --- arguments -------------------------------------------------------------------------------- */

struct nfs3_setattr_args {
	struct nfs_fh fh;
	struct nfs_sattr set;
	bool guard; /* only if the object's ctime is this */
	struct timespec ctime;
};
struct nfs3_access_args {
	struct nfs_fh fh;
	uint32_t access;
};
struct nfs3_read_args {
	struct nfs_fh fh;
	uint64_t offset;
	uint32_t count;
};
struct nfs3_write_args {
	struct nfs_fh fh;
	uint64_t offset;
	uint32_t count;
	uint32_t stable; /* enum nfs_stable */
	struct seg_list data;
};
struct nfs3_create_args {
	struct nfs3_dirop where;
	uint32_t mode;	      /* enum nfs3_createmode */
	struct nfs_sattr set; /* not with EXCLUSIVE */
	uint8_t verf[NFS3_CREATEVERFSIZE];
};
struct nfs3_mkdir_args {
	struct nfs3_dirop where;
	struct nfs_sattr set;
};
struct nfs3_symlink_args {
	struct nfs3_dirop where;
	struct nfs_sattr set;
	struct nfs_name target;
};
struct nfs3_mknod_args {
	struct nfs3_dirop where;
	uint32_t type;			 /* as received; set and rdev only if the type has them */
	struct nfs_sattr set;		 /* NFS_CHR, NFS_BLK, NFS_SOCK, NFS_FIFO */
	uint32_t rdev_major, rdev_minor; /* NFS_CHR, NFS_BLK */
};
struct nfs3_rename_args {
	struct nfs3_dirop from, to;
};
struct nfs3_link_args {
	struct nfs_fh fh;
	struct nfs3_dirop where;
};
struct nfs3_readdir_args { /* READDIR and READDIRPLUS */
	struct nfs_fh dir;
	uint64_t cookie;
	uint8_t verf[NFS3_COOKIEVERFSIZE];
	uint32_t dircount; /* READDIRPLUS: bytes of names, ids and cookies */
	uint32_t maxcount; /* bytes of the whole result behind its status; READDIR's count */
};
struct nfs3_commit_args {
	struct nfs_fh fh;
	uint64_t offset;
	uint32_t count;
};

struct nfs3_args {
	uint32_t proc;
	union {
		struct nfs_fh fh; /* GETATTR, READLINK, FSSTAT, FSINFO, PATHCONF */
		struct nfs3_setattr_args setattr;
		struct nfs3_dirop dirop; /* LOOKUP, REMOVE, RMDIR */
		struct nfs3_access_args access;
		struct nfs3_read_args read;
		struct nfs3_write_args write;
		struct nfs3_create_args create;
		struct nfs3_mkdir_args mkdir;
		struct nfs3_symlink_args symlink;
		struct nfs3_mknod_args mknod;
		struct nfs3_rename_args rename;
		struct nfs3_link_args link;
		struct nfs3_readdir_args readdir; /* READDIR, READDIRPLUS */
		struct nfs3_commit_args commit;
	} u;
};

/* The arguments of a->proc. WRITE's data goes as payload. */
void nfs3_put_args(struct xdr_out *x, const struct nfs3_args *a);
/* Of procedure proc; no byte may be left behind the arguments. -EOPNOTSUPP: there is no such
 * procedure. A WRITE's or SYMLINK's data may be where the transport has placed it. */
int nfs3_get_args(struct xdr_in *x, uint32_t proc, struct nfs3_args *a);

/* The single coders that nfs3_put_args() and nfs3_get_args() are made of. */
void nfs3_put_setattr_args(struct xdr_out *x, const struct nfs3_setattr_args *a);
int nfs3_get_setattr_args(struct xdr_in *x, struct nfs3_setattr_args *a);
void nfs3_put_access_args(struct xdr_out *x, const struct nfs3_access_args *a);
int nfs3_get_access_args(struct xdr_in *x, struct nfs3_access_args *a);
void nfs3_put_read_args(struct xdr_out *x, const struct nfs3_read_args *a);
int nfs3_get_read_args(struct xdr_in *x, struct nfs3_read_args *a);
void nfs3_put_write_args(struct xdr_out *x, const struct nfs3_write_args *a);
/* data.len is the length of the data, which a server compares with count. */
int nfs3_get_write_args(struct xdr_in *x, struct nfs3_write_args *a);
void nfs3_put_create_args(struct xdr_out *x, const struct nfs3_create_args *a);
int nfs3_get_create_args(struct xdr_in *x, struct nfs3_create_args *a);
void nfs3_put_mkdir_args(struct xdr_out *x, const struct nfs3_mkdir_args *a);
int nfs3_get_mkdir_args(struct xdr_in *x, struct nfs3_mkdir_args *a);
void nfs3_put_symlink_args(struct xdr_out *x, const struct nfs3_symlink_args *a);
int nfs3_get_symlink_args(struct xdr_in *x, struct nfs3_symlink_args *a);
void nfs3_put_mknod_args(struct xdr_out *x, const struct nfs3_mknod_args *a);
int nfs3_get_mknod_args(struct xdr_in *x, struct nfs3_mknod_args *a);
void nfs3_put_rename_args(struct xdr_out *x, const struct nfs3_rename_args *a);
int nfs3_get_rename_args(struct xdr_in *x, struct nfs3_rename_args *a);
void nfs3_put_link_args(struct xdr_out *x, const struct nfs3_link_args *a);
int nfs3_get_link_args(struct xdr_in *x, struct nfs3_link_args *a);
void nfs3_put_readdir_args(struct xdr_out *x, bool plus, const struct nfs3_readdir_args *a);
int nfs3_get_readdir_args(struct xdr_in *x, bool plus, struct nfs3_readdir_args *a);
void nfs3_put_commit_args(struct xdr_out *x, const struct nfs3_commit_args *a);
int nfs3_get_commit_args(struct xdr_in *x, struct nfs3_commit_args *a);

/* --- results ---------------------------------------------------------------------------------- */

struct nfs3_getattr_res {
	uint32_t status;
	struct nfs_attr attr;
};
struct nfs3_wcc_res { /* SETATTR, REMOVE, RMDIR */
	uint32_t status;
	struct nfs3_wcc wcc; /* of the object; of the directory */
};
struct nfs3_lookup_res {
	uint32_t status;
	struct nfs_fh fh;
	struct nfs3_post_op obj, dir;
};
struct nfs3_access_res {
	uint32_t status;
	struct nfs3_post_op obj;
	uint32_t access;
};
struct nfs3_readlink_res {
	uint32_t status;
	struct nfs3_post_op obj;
	struct nfs_name target; /* at most NFS3_STRING_MAX */
	/* put: with data the target goes as payload, for a requester that gave a Write chunk for
	 * the target. get never sets data. */
	struct seg_list data;
};
struct nfs3_read_res {
	uint32_t status;
	struct nfs3_post_op obj;
	uint32_t count;
	bool eof;
	struct seg_list data; /* put only; get ends before the data: rpc_call_take_sink() */
};
struct nfs3_write_res {
	uint32_t status;
	struct nfs3_wcc wcc;
	uint32_t count, committed;
	uint8_t verf[NFS3_WRITEVERFSIZE];
};
struct nfs3_create_res { /* CREATE, MKDIR, SYMLINK, MKNOD */
	uint32_t status;
	bool have_fh;
	struct nfs_fh fh;
	struct nfs3_post_op obj;
	struct nfs3_wcc dir;
};
struct nfs3_rename_res {
	uint32_t status;
	struct nfs3_wcc from, to;
};
struct nfs3_link_res {
	uint32_t status;
	struct nfs3_post_op obj;
	struct nfs3_wcc dir;
};
struct nfs3_readdir_res { /* the head; entries follow if status is NFS3_OK */
	uint32_t status;
	struct nfs3_post_op dir;
	uint8_t verf[NFS3_COOKIEVERFSIZE];
};
struct nfs3_fsstat_res {
	uint32_t status;
	struct nfs3_post_op obj;
	struct nfs_fsstat st; /* but name_max */
	uint32_t invarsec;    /* seconds for which st is not expected to change */
};
struct nfs3_fsinfo_res {
	uint32_t status;
	struct nfs3_post_op obj;
	uint32_t rtmax, rtpref, rtmult, wtmax, wtpref, wtmult, dtpref; /* bytes */
	uint64_t maxfilesize;
	struct timespec time_delta; /* granularity of settable times */
	uint32_t properties;	    /* NFS3_FSF_* */
};
struct nfs3_pathconf_res {
	uint32_t status;
	struct nfs3_post_op obj;
	uint32_t linkmax, name_max;
	bool no_trunc, chown_restricted, case_insensitive, case_preserving;
};
struct nfs3_commit_res {
	uint32_t status;
	struct nfs3_wcc wcc;
	uint8_t verf[NFS3_WRITEVERFSIZE];
};

struct nfs3_res {
	uint32_t proc;
	union {
		uint32_t status; /* of any procedure but NULL: each result begins with status */
		struct nfs3_getattr_res getattr;
		struct nfs3_wcc_res wcc; /* SETATTR, REMOVE, RMDIR */
		struct nfs3_lookup_res lookup;
		struct nfs3_access_res access;
		struct nfs3_readlink_res readlink;
		struct nfs3_read_res read;
		struct nfs3_write_res write;
		struct nfs3_create_res create; /* CREATE, MKDIR, SYMLINK, MKNOD */
		struct nfs3_rename_res rename;
		struct nfs3_link_res link;
		struct nfs3_readdir_res readdir; /* READDIR, READDIRPLUS: the head */
		struct nfs3_fsstat_res fsstat;
		struct nfs3_fsinfo_res fsinfo;
		struct nfs3_pathconf_res pathconf;
		struct nfs3_commit_res commit;
	} u;
};

void nfs3_put_res(struct xdr_out *x, const struct nfs3_res *r);
/* Of procedure proc. READ's ends before the length word of the data, READDIR's and READDIRPLUS's
 * before the entries. -EOPNOTSUPP: there is no such procedure. */
int nfs3_get_res(struct xdr_in *x, uint32_t proc, struct nfs3_res *r);

/* The single coders that nfs3_put_res() and nfs3_get_res() are made of. */
void nfs3_put_getattr_res(struct xdr_out *x, const struct nfs3_getattr_res *r);
int nfs3_get_getattr_res(struct xdr_in *x, struct nfs3_getattr_res *r);
void nfs3_put_wcc_res(struct xdr_out *x, const struct nfs3_wcc_res *r);
int nfs3_get_wcc_res(struct xdr_in *x, struct nfs3_wcc_res *r);
void nfs3_put_lookup_res(struct xdr_out *x, const struct nfs3_lookup_res *r);
int nfs3_get_lookup_res(struct xdr_in *x, struct nfs3_lookup_res *r);
void nfs3_put_access_res(struct xdr_out *x, const struct nfs3_access_res *r);
int nfs3_get_access_res(struct xdr_in *x, struct nfs3_access_res *r);
void nfs3_put_readlink_res(struct xdr_out *x, const struct nfs3_readlink_res *r);
int nfs3_get_readlink_res(struct xdr_in *x, struct nfs3_readlink_res *r);
void nfs3_put_read_res(struct xdr_out *x, const struct nfs3_read_res *r);
int nfs3_get_read_res(struct xdr_in *x, struct nfs3_read_res *r);
void nfs3_put_write_res(struct xdr_out *x, const struct nfs3_write_res *r);
int nfs3_get_write_res(struct xdr_in *x, struct nfs3_write_res *r);
void nfs3_put_create_res(struct xdr_out *x, const struct nfs3_create_res *r);
int nfs3_get_create_res(struct xdr_in *x, struct nfs3_create_res *r);
void nfs3_put_rename_res(struct xdr_out *x, const struct nfs3_rename_res *r);
int nfs3_get_rename_res(struct xdr_in *x, struct nfs3_rename_res *r);
void nfs3_put_link_res(struct xdr_out *x, const struct nfs3_link_res *r);
int nfs3_get_link_res(struct xdr_in *x, struct nfs3_link_res *r);
void nfs3_put_readdir_res(struct xdr_out *x, const struct nfs3_readdir_res *r);
int nfs3_get_readdir_res(struct xdr_in *x, struct nfs3_readdir_res *r);
void nfs3_put_fsstat_res(struct xdr_out *x, const struct nfs3_fsstat_res *r);
int nfs3_get_fsstat_res(struct xdr_in *x, struct nfs3_fsstat_res *r);
void nfs3_put_fsinfo_res(struct xdr_out *x, const struct nfs3_fsinfo_res *r);
int nfs3_get_fsinfo_res(struct xdr_in *x, struct nfs3_fsinfo_res *r);
void nfs3_put_pathconf_res(struct xdr_out *x, const struct nfs3_pathconf_res *r);
int nfs3_get_pathconf_res(struct xdr_in *x, struct nfs3_pathconf_res *r);
void nfs3_put_commit_res(struct xdr_out *x, const struct nfs3_commit_res *r);
int nfs3_get_commit_res(struct xdr_in *x, struct nfs3_commit_res *r);

/* For rpc_call.peek: where the data of a READ's results begins. */
size_t nfs3_peek_read(const void *res, size_t n);

/* --- entries of READDIR and READDIRPLUS ------------------------------------------------------- */

struct nfs3_entry {
	uint64_t fileid, cookie;
	struct nfs_name name;
	/* READDIRPLUS */
	struct nfs3_post_op obj;
	bool have_fh;
	struct nfs_fh fh;
};

/* 1: *ent is the next entry. 0: there is none left, *eof tells whether the directory ends here.
 * -EBADMSG. */
int nfs3_get_entry(struct xdr_in *x, bool plus, struct nfs3_entry *ent, bool *eof);

/* Writing a list that must not exceed a size. */
struct nfs3_entries {
	struct xdr_out *x;
	size_t start; /* of the results: their status */
	size_t limit; /* x->len that must not be exceeded */
	uint32_t n;   /* entries so far */
	bool plus;
	bool dead; /* x had overflowed before the list began */
};
/* Puts the head: NFS3_OK, attributes, verifier. maxcount is that of the arguments: bytes behind the
 * status (RFC 1813 3.3.16, 3.3.17). */
void nfs3_entries_begin(struct nfs3_entries *e, struct xdr_out *x, bool plus,
	const struct nfs3_post_op *dir, const uint8_t verf[NFS3_COOKIEVERFSIZE], uint32_t maxcount);
/* True: the entry is in. False: the entry does not fit; call nfs3_entries_end(). */
bool nfs3_entries_add(struct nfs3_entries *e, const struct nfs3_entry *ent);
/* Ends the list. Returns NFS3_OK; or NFS3ERR_TOOSMALL, put in place of the whole results with dir's
 * attributes, if not even one entry fitted though there was one (n == 0 && !eof). */
uint32_t nfs3_entries_end(struct nfs3_entries *e, const struct nfs3_post_op *dir, bool eof);

#endif

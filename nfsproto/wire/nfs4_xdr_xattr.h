/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_xattr: arguments and results of the operations on user extended attributes (RFC 8276),
 * and the ACL (RFC 8881 6.2.1). Conventions: nfs4_xdr.h, which is the header to include.
 *
 * Names stand without "user." in front (RFC 8276 section 8.1 leaves prefixes to the client).
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_XDR_XATTR_H
#define RNFS_NFSPROTO_WIRE_NFS4_XDR_XATTR_H

#include "nfsproto/wire/nfs4_item.h"

#define NFS4_XATTR_MAX                                                                             \
	65536u		    /* most bytes of a value that system calls take; NFS4_IO_MAX decode    \
			     */
#define NFS4_ACES_MAX 4096u /* entries accepted in an ACL */

struct nfs4_getxattr_res {
	struct nfs4_opaque value; /* at most NFS4_IO_MAX */
};
void nfs4_put_getxattr_res(struct xdr_out *x, uint32_t status, const struct nfs4_getxattr_res *r);
int nfs4_get_getxattr_res(struct xdr_in *x, uint32_t status, struct nfs4_getxattr_res *r);

struct nfs4_setxattr_args {
	uint32_t option; /* setxattr_option4, checked */
	struct nfs_name name;
	struct nfs4_opaque value; /* at most NFS4_IO_MAX */
};
void nfs4_put_setxattr_args(struct xdr_out *x, const struct nfs4_setxattr_args *a);
int nfs4_get_setxattr_args(struct xdr_in *x, struct nfs4_setxattr_args *a);

struct nfs4_listxattrs_args {
	uint64_t cookie;   /* 0: from the start */
	uint32_t maxcount; /* bytes of LISTXATTRS4resok */
};
struct nfs4_listxattrs_res {
	uint64_t cookie; /* where to go on */
	uint32_t n;
	/* the names in wire form; get: nfs4_xattr_names_next() */
	struct nfs4_opaque names;
	bool eof;
};
void nfs4_put_listxattrs_args(struct xdr_out *x, const struct nfs4_listxattrs_args *a);
int nfs4_get_listxattrs_args(struct xdr_in *x, struct nfs4_listxattrs_args *a);
/* A server uses nfs4_xattrs_begin() and the functions below instead. */
void nfs4_put_listxattrs_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_listxattrs_res *r);
int nfs4_get_listxattrs_res(struct xdr_in *x, uint32_t status, struct nfs4_listxattrs_res *r);
/* The names of decoded results one after the other: start with *pos 0. False: no more. */
bool nfs4_xattr_names_next(
	const struct nfs4_listxattrs_res *r, uint32_t *pos, struct nfs_name *name);

/* A server's LISTXATTRS result under a byte budget. */
struct nfs4_xattrs {
	struct xdr_out *x;
	size_t start; /* of the operation's result */
	size_t body;  /* of LISTXATTRS4resok */
	size_t limit; /* x->len that must not be exceeded */
	uint32_t n;   /* names so far */
	bool dead;    /* x had overflowed before the list began */
};
/* Puts the head. maxcount: of the arguments; reserve: bytes to leave free in x. */
void nfs4_xattrs_begin(struct nfs4_xattrs *l, struct xdr_out *x, uint32_t maxcount, size_t reserve);
/* True: the name fits. False: the name did not fit; call nfs4_xattrs_end(). */
bool nfs4_xattrs_add(struct nfs4_xattrs *l, const struct nfs_name *name);
/* Ends the list; cookie: where to go on. Returns NFS4_OK; or NFS4ERR_TOOSMALL, put in place of the
 * whole result, if not even one name fitted though there was one (n == 0 && !eof). */
uint32_t nfs4_xattrs_end(struct nfs4_xattrs *l, uint64_t cookie, bool eof);

/* nfsace4; flags, masks and type are not checked. */
struct nfs4_ace {
	uint32_t type, flag, access_mask;
	struct nfs_name who;
};
void nfs4_put_ace(struct xdr_out *x, const struct nfs4_ace *ace);
int nfs4_get_ace(struct xdr_in *x, struct nfs4_ace *ace);
/* Walks an nfsace4<> (at most NFS4_ACES_MAX). The number of entries, or -EBADMSG. */
int nfs4_get_acl(struct xdr_in *x);
/* Is value (its length a multiple of 4) exactly one nfsace4<>? */
bool nfs4_acl_valid(const void *value, size_t len);

#endif

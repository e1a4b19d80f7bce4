/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr: the wire form of NFSv4.1 (RFC 5662) and of NFSv4.2's additions (RFC 7863, RFC 8276),
 * both directions, for client and server.
 *
 * Four functions per operation X (fewer where an operation has no arguments or results):
 *
 *     nfs4_put_X_args(x, &args)         the operation number and the arguments
 *     nfs4_get_X_args(x, &args)         the arguments: the caller has read the number
 *     nfs4_put_X_res(x, status, &res)   the operation number, the status and the results
 *     nfs4_get_X_res(x, status, &res)   the results: the caller has read number and status, with
 *                                       nfs4_get_op_res()
 *
 * Operations with the same arguments or results share the functions, X is then the name of the
 * contents, and put takes the number of the operation behind x.
 *
 * An operation with only a status as result has no res functions: nfs4_put_op_res() and
 * nfs4_get_op_res() are enough. res may be NULL in put where status carries no results.
 *
 * Errors. put functions leave a failure to the cursor's sticky overflow. get functions return 0, or
 * -EBADMSG and the cursor is bad; then the output is unspecified (but initialised) memory. Every
 * count and length is bounded here; semantic checks (a name's length, an unknown flag) are the
 * caller's, so that a server can answer with the right status. Enumerations that steer decoding are
 * checked. Trailing bytes after the last operation are the caller's to reject.
 *
 * Ownership. Pointers in decoded structures point into the message, and are valid as long as the
 * message. Pointers in structures to encode are the caller's. The bytes are copied, except for
 * payloads (transport/rpc/xdr.h).
 *
 * Payload. READ's data and WRITE's data go by xdr_put_payload()/xdr_get_payload() (DDP-eligible,
 * RFC 8267 6.1), and so does on the get side the target of CREATE of a symbolic link.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_XDR_H
#define RNFS_NFSPROTO_WIRE_NFS4_XDR_H

#include "nfsproto/wire/nfs4_item.h"
#include "nfsproto/wire/nfs4_xdr_cb.h"
#include "nfsproto/wire/nfs4_xdr_layout.h"
#include "nfsproto/wire/nfs4_xdr_session.h"
#include "nfsproto/wire/nfs4_xdr_space.h"
#include "nfsproto/wire/nfs4_xdr_xattr.h"

/* --- COMPOUND ------------------------------------------------------------------------------- */

struct nfs4_compound_args {
	struct nfs4_opaque tag; /* at most NFS4_OPAQUE_LIMIT */
	uint32_t minor;
	uint32_t cb_ident; /* CB_COMPOUND only */
	uint32_t nops;	   /* get: never more than the rest of the message could hold */
};

struct nfs4_compound_res {
	uint32_t status;
	struct nfs4_opaque tag;
	uint32_t nops;
};

/* Header of a COMPOUND (callback: of a CB_COMPOUND). Returns the place of the count, to be set with
 * xdr_patch_u32() once all operations have been put. */
size_t nfs4_put_compound_args(struct xdr_out *x, const char *tag, uint32_t minor);
size_t nfs4_put_cb_compound_args(
	struct xdr_out *x, const char *tag, uint32_t minor, uint32_t cb_ident);
int nfs4_get_compound_args(struct xdr_in *x, struct nfs4_compound_args *c);
int nfs4_get_cb_compound_args(struct xdr_in *x, struct nfs4_compound_args *c);

/* Results of both kinds. begin leaves status and count open; end fills them in. at is begin's
 * return. */
size_t nfs4_begin_compound_res(struct xdr_out *x, const struct nfs4_opaque *tag);
void nfs4_end_compound_res(struct xdr_out *x, size_t at, uint32_t status, uint32_t nops);
int nfs4_get_compound_res(struct xdr_in *x, struct nfs4_compound_res *c);

/* --- contents that several operations have ---------------------------------------------------- */

struct nfs4_name_args { /* LINK, LOOKUP, REMOVE, SECINFO; without "user.": GETXATTR, REMOVEXATTR */
	struct nfs_name name;
};
void nfs4_put_name_args(struct xdr_out *x, uint32_t op, const struct nfs4_name_args *a);
int nfs4_get_name_args(struct xdr_in *x, struct nfs4_name_args *a);

struct nfs4_stateid_args { /* DELEGRETURN, FREE_STATEID, OFFLOAD_CANCEL, OFFLOAD_STATUS */
	struct nfs4_stateid stateid;
};
void nfs4_put_stateid_args(struct xdr_out *x, uint32_t op, const struct nfs4_stateid_args *a);
int nfs4_get_stateid_args(struct xdr_in *x, struct nfs4_stateid_args *a);

struct nfs4_range_args { /* ALLOCATE, DEALLOCATE */
	struct nfs4_stateid stateid;
	uint64_t offset, length;
};
void nfs4_put_range_args(struct xdr_out *x, uint32_t op, const struct nfs4_range_args *a);
int nfs4_get_range_args(struct xdr_in *x, struct nfs4_range_args *a);

struct nfs4_read_args { /* READ, READ_PLUS */
	struct nfs4_stateid stateid;
	uint64_t offset;
	uint32_t count;
};
void nfs4_put_read_args(struct xdr_out *x, uint32_t op, const struct nfs4_read_args *a);
int nfs4_get_read_args(struct xdr_in *x, struct nfs4_read_args *a);

struct nfs4_verify_args { /* VERIFY, NVERIFY */
	struct nfs4_fattr attrs;
};
void nfs4_put_verify_args(struct xdr_out *x, uint32_t op, const struct nfs4_verify_args *a);
int nfs4_get_verify_args(struct xdr_in *x, struct nfs4_verify_args *a);

struct nfs4_change_res { /* LINK, REMOVE, SETXATTR, REMOVEXATTR */
	struct nfs4_change_info cinfo;
};
void nfs4_put_change_res(
	struct xdr_out *x, uint32_t op, uint32_t status, const struct nfs4_change_res *r);
int nfs4_get_change_res(struct xdr_in *x, uint32_t status, struct nfs4_change_res *r);

struct nfs4_stateid_res { /* CLOSE, LOCKU, OPEN_DOWNGRADE */
	struct nfs4_stateid stateid;
};
void nfs4_put_stateid_res(
	struct xdr_out *x, uint32_t op, uint32_t status, const struct nfs4_stateid_res *r);
int nfs4_get_stateid_res(struct xdr_in *x, uint32_t status, struct nfs4_stateid_res *r);

/* --- file handles and names (nfs4_xdr_dir.c) -------------------------------------------------- */

struct nfs4_access_args {
	uint32_t access;
};
struct nfs4_access_res {
	uint32_t supported, access;
};
void nfs4_put_access_args(struct xdr_out *x, const struct nfs4_access_args *a);
int nfs4_get_access_args(struct xdr_in *x, struct nfs4_access_args *a);
void nfs4_put_access_res(struct xdr_out *x, uint32_t status, const struct nfs4_access_res *r);
int nfs4_get_access_res(struct xdr_in *x, uint32_t status, struct nfs4_access_res *r);

struct nfs4_create_args {
	uint32_t type;			 /* nfs_ftype4; not checked: a server answers BADTYPE */
	struct nfs_name target;		 /* NF4LNK */
	uint32_t rdev_major, rdev_minor; /* NF4BLK, NF4CHR */
	struct nfs_name name;
	struct nfs4_fattr attrs;
};
struct nfs4_create_res {
	struct nfs4_change_info cinfo;
	struct nfs4_bitmap attrset;
};
void nfs4_put_create_args(struct xdr_out *x, const struct nfs4_create_args *a);
int nfs4_get_create_args(struct xdr_in *x, struct nfs4_create_args *a);
void nfs4_put_create_res(struct xdr_out *x, uint32_t status, const struct nfs4_create_res *r);
int nfs4_get_create_res(struct xdr_in *x, uint32_t status, struct nfs4_create_res *r);

struct nfs4_getattr_args {
	struct nfs4_bitmap want;
};
void nfs4_put_getattr_args(struct xdr_out *x, const struct nfs4_getattr_args *a);
int nfs4_get_getattr_args(struct xdr_in *x, struct nfs4_getattr_args *a);
/* A server that has facts rather than a fattr uses nfs4_put_op_res() and nfs4_put_attrs(). */
void nfs4_put_getattr_res(struct xdr_out *x, uint32_t status, const struct nfs4_getattr_res *r);
int nfs4_get_getattr_res(struct xdr_in *x, uint32_t status, struct nfs4_getattr_res *r);

struct nfs4_getfh_res {
	struct nfs_fh fh;
};
void nfs4_put_getfh_res(struct xdr_out *x, uint32_t status, const struct nfs4_getfh_res *r);
int nfs4_get_getfh_res(struct xdr_in *x, uint32_t status, struct nfs4_getfh_res *r);

struct nfs4_putfh_args {
	struct nfs_fh fh; /* get: len may be 0 or any bytes; the server answers BADHANDLE */
};
void nfs4_put_putfh_args(struct xdr_out *x, const struct nfs4_putfh_args *a);
int nfs4_get_putfh_args(struct xdr_in *x, struct nfs4_putfh_args *a);

struct nfs4_readdir_args {
	uint64_t cookie;
	uint8_t verf[NFS4_VERIFIER_SIZE];
	uint32_t dircount, maxcount;
	struct nfs4_bitmap want;
};
struct nfs4_readdir_res { /* the head; entries follow */
	uint8_t verf[NFS4_VERIFIER_SIZE];
};
struct nfs4_entry {
	uint64_t cookie;
	struct nfs_name name;
	struct nfs4_fattr attrs;
};
void nfs4_put_readdir_args(struct xdr_out *x, const struct nfs4_readdir_args *a);
int nfs4_get_readdir_args(struct xdr_in *x, struct nfs4_readdir_args *a);
/* After this, with status NFS4_OK, nfs4_get_entry() until it returns 0: also by a caller that wants
 * no more, as later operations stand behind the list. */
int nfs4_get_readdir_res(struct xdr_in *x, uint32_t status, struct nfs4_readdir_res *r);
/* 1: *ent is the next entry. 0: no more, *eof is set. -EBADMSG. */
int nfs4_get_entry(struct xdr_in *x, struct nfs4_entry *ent, bool *eof);

/* A server's READDIR result under a byte budget. */
struct nfs4_entries {
	struct xdr_out *x;
	size_t start; /* of the operation's result */
	size_t limit; /* x->len that must not be exceeded */
	size_t mark;  /* where the current entry starts */
	uint32_t n;   /* entries so far */
	bool dead;    /* x had overflowed before the list began */
};
/* Puts the head (operation, NFS4_OK, verifier). maxcount is that of the arguments: bytes of
 * READDIR4resok (RFC 8881 18.23.3). reserve: bytes to leave free in x for later operations. */
void nfs4_entries_begin(struct nfs4_entries *e, struct xdr_out *x,
	const uint8_t verf[NFS4_VERIFIER_SIZE], uint32_t maxcount, size_t reserve);
/* Starts an entry: cookie and name. The caller then puts the entry's fattr4 (nfs4_put_attrs()). */
void nfs4_entries_start(struct nfs4_entries *e, uint64_t cookie, const struct nfs_name *name);
/* Ends the entry. True: the entry fits. False: the entry did not fit and has been taken back; call
 * nfs4_entries_end(). */
bool nfs4_entries_commit(struct nfs4_entries *e);
/* Ends the list. Returns NFS4_OK; or NFS4ERR_TOOSMALL, put in place of the whole result, if not
 * even one entry fitted though there was one (n == 0 && !eof). */
uint32_t nfs4_entries_end(struct nfs4_entries *e, bool eof);

struct nfs4_readlink_res {
	struct nfs_name link; /* at most NFS4_STRING_MAX */
	/* put: with data the target goes as payload, for a requester that gave a Write chunk for
	 * the target (RFC 8267 6.4.1). get never sets data. */
	struct seg_list data;
};
void nfs4_put_readlink_res(struct xdr_out *x, uint32_t status, const struct nfs4_readlink_res *r);
int nfs4_get_readlink_res(struct xdr_in *x, uint32_t status, struct nfs4_readlink_res *r);

struct nfs4_rename_args {
	struct nfs_name from, to;
};
struct nfs4_rename_res {
	struct nfs4_change_info from, to;
};
void nfs4_put_rename_args(struct xdr_out *x, const struct nfs4_rename_args *a);
int nfs4_get_rename_args(struct xdr_in *x, struct nfs4_rename_args *a);
void nfs4_put_rename_res(struct xdr_out *x, uint32_t status, const struct nfs4_rename_res *r);
int nfs4_get_rename_res(struct xdr_in *x, uint32_t status, struct nfs4_rename_res *r);

struct nfs4_secinfo_no_name_args {
	uint32_t style; /* secinfo_style4, checked */
};
struct nfs4_flavor {
	uint32_t flavor;
	/* NFS4_RPCSEC_GSS */
	struct nfs4_opaque oid;
	uint32_t qop, service;
};
struct nfs4_secinfo_res { /* of both operations */
	uint32_t n;	  /* at most NFS4_FLAVORS_MAX */
	struct nfs4_flavor flavor[NFS4_FLAVORS_MAX];
};
void nfs4_put_secinfo_no_name_args(struct xdr_out *x, const struct nfs4_secinfo_no_name_args *a);
int nfs4_get_secinfo_no_name_args(struct xdr_in *x, struct nfs4_secinfo_no_name_args *a);
void nfs4_put_secinfo_res(
	struct xdr_out *x, uint32_t op, uint32_t status, const struct nfs4_secinfo_res *r);
int nfs4_get_secinfo_res(struct xdr_in *x, uint32_t status, struct nfs4_secinfo_res *r);

struct nfs4_setattr_args {
	struct nfs4_stateid stateid;
	struct nfs4_fattr attrs;
};
struct nfs4_setattr_res { /* carried by every status (RFC 5662: no union) */
	struct nfs4_bitmap attrset;
};
void nfs4_put_setattr_args(struct xdr_out *x, const struct nfs4_setattr_args *a);
int nfs4_get_setattr_args(struct xdr_in *x, struct nfs4_setattr_args *a);
/* r NULL: no attribute was set. */
void nfs4_put_setattr_res(struct xdr_out *x, uint32_t status, const struct nfs4_setattr_res *r);
int nfs4_get_setattr_res(struct xdr_in *x, uint32_t status, struct nfs4_setattr_res *r);

/* --- open files (nfs4_xdr_file.c, nfs4_xdr_open.c) ---------------------------------------------
 */

struct nfs4_close_args {
	uint32_t seqid;
	struct nfs4_stateid stateid;
};
void nfs4_put_close_args(struct xdr_out *x, const struct nfs4_close_args *a);
int nfs4_get_close_args(struct xdr_in *x, struct nfs4_close_args *a);

struct nfs4_commit_args {
	uint64_t offset;
	uint32_t count;
};
struct nfs4_commit_res {
	uint8_t verf[NFS4_VERIFIER_SIZE];
};
void nfs4_put_commit_args(struct xdr_out *x, const struct nfs4_commit_args *a);
int nfs4_get_commit_args(struct xdr_in *x, struct nfs4_commit_args *a);
void nfs4_put_commit_res(struct xdr_out *x, uint32_t status, const struct nfs4_commit_res *r);
int nfs4_get_commit_res(struct xdr_in *x, uint32_t status, struct nfs4_commit_res *r);

struct nfs4_lock_args {
	uint32_t type; /* nfs_lock_type4, checked */
	bool reclaim;
	uint64_t offset, length;
	bool new_owner; /* the first lock of owner on this open */
	/* new_owner */
	uint32_t open_seqid;
	struct nfs4_stateid open_stateid;
	struct nfs4_owner owner;
	/* not new_owner */
	struct nfs4_stateid lock_stateid;
	/* both */
	uint32_t lock_seqid;
};
struct nfs4_lock_denied {
	uint64_t offset, length;
	uint32_t type;
	struct nfs4_owner owner;
};
struct nfs4_lock_res {
	struct nfs4_stateid stateid;	/* NFS4_OK */
	struct nfs4_lock_denied denied; /* NFS4ERR_DENIED */
};
void nfs4_put_lock_args(struct xdr_out *x, const struct nfs4_lock_args *a);
int nfs4_get_lock_args(struct xdr_in *x, struct nfs4_lock_args *a);
void nfs4_put_lock_res(struct xdr_out *x, uint32_t status, const struct nfs4_lock_res *r);
int nfs4_get_lock_res(struct xdr_in *x, uint32_t status, struct nfs4_lock_res *r);

struct nfs4_lockt_args {
	uint32_t type;
	uint64_t offset, length;
	struct nfs4_owner owner;
};
struct nfs4_lockt_res {
	struct nfs4_lock_denied denied; /* NFS4ERR_DENIED */
};
void nfs4_put_lockt_args(struct xdr_out *x, const struct nfs4_lockt_args *a);
int nfs4_get_lockt_args(struct xdr_in *x, struct nfs4_lockt_args *a);
void nfs4_put_lockt_res(struct xdr_out *x, uint32_t status, const struct nfs4_lockt_res *r);
int nfs4_get_lockt_res(struct xdr_in *x, uint32_t status, struct nfs4_lockt_res *r);

struct nfs4_locku_args {
	uint32_t type;
	uint32_t seqid;
	struct nfs4_stateid stateid;
	uint64_t offset, length;
};
void nfs4_put_locku_args(struct xdr_out *x, const struct nfs4_locku_args *a);
int nfs4_get_locku_args(struct xdr_in *x, struct nfs4_locku_args *a);

struct nfs4_open_args {
	uint32_t seqid;
	uint32_t share_access; /* OPEN4_SHARE_ACCESS_*, with WANT flags */
	uint32_t share_deny;
	struct nfs4_owner owner;
	bool create;
	enum createmode4 mode;		  /* create */
	struct nfs4_fattr attrs;	  /* create: UNCHECKED4, GUARDED4, EXCLUSIVE4_1 */
	uint8_t verf[NFS4_VERIFIER_SIZE]; /* create: EXCLUSIVE4, EXCLUSIVE4_1 */
	enum open_claim_type4 claim;
	struct nfs_name name;	   /* CLAIM_NULL, CLAIM_DELEGATE_CUR, CLAIM_DELEGATE_PREV */
	struct nfs4_stateid deleg; /* CLAIM_DELEGATE_CUR, CLAIM_DELEG_CUR_FH */
	uint32_t deleg_type;	   /* CLAIM_PREVIOUS: open_delegation_type4 */
};
struct nfs4_delegation {
	enum open_delegation_type4 type;
	struct nfs4_stateid stateid;		 /* READ, WRITE */
	bool recall;				 /* READ, WRITE */
	struct nfs4_ace permissions;		 /* READ, WRITE */
	uint32_t limit_by;			 /* WRITE: limit_by4 */
	uint64_t limit_size;			 /* NFS_LIMIT_SIZE */
	uint32_t limit_blocks, limit_block_size; /* NFS_LIMIT_BLOCKS */
	uint32_t why;				 /* NONE_EXT: why_no_delegation4 */
	bool server_will;			 /* NONE_EXT, CONTENTION: push; RESOURCE: signal */
};
struct nfs4_open_res {
	struct nfs4_stateid stateid;
	struct nfs4_change_info cinfo;
	uint32_t rflags; /* OPEN4_RESULT_* */
	struct nfs4_bitmap attrset;
	struct nfs4_delegation deleg;
};
void nfs4_put_open_args(struct xdr_out *x, const struct nfs4_open_args *a);
int nfs4_get_open_args(struct xdr_in *x, struct nfs4_open_args *a);
void nfs4_put_open_res(struct xdr_out *x, uint32_t status, const struct nfs4_open_res *r);
int nfs4_get_open_res(struct xdr_in *x, uint32_t status, struct nfs4_open_res *r);

struct nfs4_open_downgrade_args {
	struct nfs4_stateid stateid;
	uint32_t seqid;
	uint32_t share_access, share_deny;
};
void nfs4_put_open_downgrade_args(struct xdr_out *x, const struct nfs4_open_downgrade_args *a);
int nfs4_get_open_downgrade_args(struct xdr_in *x, struct nfs4_open_downgrade_args *a);

struct nfs4_read_res {
	bool eof;
	struct seg_list data; /* put only */
};
/* The data goes as payload: the memory stays the caller's until the message is done. */
void nfs4_put_read_res(struct xdr_out *x, uint32_t status, const struct nfs4_read_res *r);
/* Decodes eof and stops where the data's length word stands: with NFS4_OK the caller then takes the
 * data with rpc_call_take_sink() (or xdr_get_payload()), and must, before the next operation. */
int nfs4_get_read_res(struct xdr_in *x, uint32_t status, struct nfs4_read_res *r);
/* rpc_peek_fn for a COMPOUND reply in which the first READ's data is the first sink's: walks
 * SEQUENCE, PUTFH, PUTROOTFH, SAVEFH, RESTOREFH, ACCESS, GETFH, GETATTR, LOOKUP, CLOSE and OPEN
 * results up to it. */
size_t nfs4_peek_read(const void *res, size_t n);

struct nfs4_write_args {
	struct nfs4_stateid stateid;
	uint64_t offset;
	uint32_t stable; /* stable_how4, checked */
	/* put: a payload. get: where the data is (read only), at most NFS4_IO_MAX */
	struct seg_list data;
};
struct nfs4_write_res {
	uint32_t count;
	uint32_t committed; /* stable_how4, checked */
	uint8_t verf[NFS4_VERIFIER_SIZE];
};
void nfs4_put_write_args(struct xdr_out *x, const struct nfs4_write_args *a);
int nfs4_get_write_args(struct xdr_in *x, struct nfs4_write_args *a);
void nfs4_put_write_res(struct xdr_out *x, uint32_t status, const struct nfs4_write_res *r);
int nfs4_get_write_res(struct xdr_in *x, uint32_t status, struct nfs4_write_res *r);

/* --- any operation ---------------------------------------------------------------------------- */

struct nfs4_none_args {
	char none;
};

struct nfs4_args {
	uint32_t op;
	union {
#define MEMBER(op, number, args, ...) struct nfs4_##args##_args args;
		NFS4_OPS(MEMBER, NFS4_SKIP, NFS4_SKIP)
#undef MEMBER
	} u;
};

/* A server's view: reads an operation number and all arguments. The caller need not clear a. op is
 * set in any case. 0; -EBADMSG (NFS4ERR_BADXDR); -EOPNOTSUPP: the arguments of op are not known
 * here. The caller must tell illegal operations from unsupported ones, and the rest of the COMPOUND
 * cannot be parsed. */
int nfs4_get_args(struct xdr_in *x, struct nfs4_args *a);

#endif

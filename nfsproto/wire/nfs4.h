/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4: numbers of the NFSv4.1 protocol (RFC 8881, RFC 5662) and of its extensions 4.2 (RFC 7862,
 * RFC 7863) and user extended attributes (RFC 8276). Names are the RFCs'.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_H
#define RNFS_NFSPROTO_WIRE_NFS4_H

#include <stdint.h>

#include "nfsproto/wire/nfs4_ops.h"

#define NFS4_PROGRAM	   100003u
#define NFS4_VERSION	   4u
#define NFS4_PROC_NULL	   0u
#define NFS4_PROC_COMPOUND 1u
#define NFS4_CB_PROGRAM	   0x40000000u /* the start of the transient range: the client chooses */
#define NFS4_CB_VERSION	   1u
#define NFS4_CB_NULL	   0u
#define NFS4_CB_COMPOUND   1u

/* RFC 5662: sizes */
#define NFS4_FHSIZE	    128u
#define NFS4_VERIFIER_SIZE  8u
#define NFS4_OPAQUE_LIMIT   1024u
#define NFS4_SESSIONID_SIZE 16u
#define NFS4_STATEID_OTHER  12u
#define NFS4_DEVICEID_SIZE  16u
#define NFS4_MAXFILEOFF	    0xfffffffffffffffeull
#define NFS4_LENGTH_EOF	    0xffffffffffffffffull /* a byte range up to the end of the file */

#define NUMBER(op, number, ...) op = number,
enum nfs_opnum4 {
	NFS4_OPS(NUMBER, NUMBER, NUMBER) OP_BEHIND_LAST,
	OP_LAST_42 = OP_BEHIND_LAST - 1,
	OP_LAST_41 = OP_RECLAIM_COMPLETE,
	OP_ILLEGAL = 10044,
};
#undef NUMBER

/* The operations of callbacks, as in NFS4_OPS: the arguments are struct nfs4_cb_X_args. */
#define NFS4_CALLBACKS(OP, LIKE, ALIEN)                                                            \
	OP(OP_CB_GETATTR, 3, getattr)                                                              \
	OP(OP_CB_RECALL, 4, recall)                                                                \
	OP(OP_CB_LAYOUTRECALL, 5, layoutrecall)                                                    \
	ALIEN(OP_CB_NOTIFY, 6)                                                                     \
	ALIEN(OP_CB_PUSH_DELEG, 7)                                                                 \
	OP(OP_CB_RECALL_ANY, 8, recall_any)                                                        \
	LIKE(OP_CB_RECALLABLE_OBJ_AVAIL, 9, recall_any)                                            \
	OP(OP_CB_RECALL_SLOT, 10, recall_slot)                                                     \
	OP(OP_CB_SEQUENCE, 11, sequence)                                                           \
	ALIEN(OP_CB_WANTS_CANCELLED, 12)                                                           \
	OP(OP_CB_NOTIFY_LOCK, 13, notify_lock)                                                     \
	OP(OP_CB_NOTIFY_DEVICEID, 14, notify_deviceid)                                             \
	OP(OP_CB_OFFLOAD, 15, offload) /* NFSv4.2 */

#define NUMBER(op, number, ...) op = number,
enum nfs_cb_opnum4 { NFS4_CALLBACKS(NUMBER, NUMBER, NUMBER) OP_CB_ILLEGAL = 10044 };
#undef NUMBER

/* The statuses, with the (positive) errno that a system call would return. */
#define NFS4_STATUSES(S)                                                                           \
	S(NFS4_OK, 0, 0)                                                                           \
	S(NFS4ERR_PERM, 1, EPERM)                                                                  \
	S(NFS4ERR_NOENT, 2, ENOENT)                                                                \
	S(NFS4ERR_IO, 5, EIO)                                                                      \
	S(NFS4ERR_NXIO, 6, ENXIO)                                                                  \
	S(NFS4ERR_ACCESS, 13, EACCES)                                                              \
	S(NFS4ERR_EXIST, 17, EEXIST)                                                               \
	S(NFS4ERR_XDEV, 18, EXDEV)                                                                 \
	S(NFS4ERR_NOTDIR, 20, ENOTDIR)                                                             \
	S(NFS4ERR_ISDIR, 21, EISDIR)                                                               \
	S(NFS4ERR_INVAL, 22, EINVAL)                                                               \
	S(NFS4ERR_FBIG, 27, EFBIG)                                                                 \
	S(NFS4ERR_NOSPC, 28, ENOSPC)                                                               \
	S(NFS4ERR_ROFS, 30, EROFS)                                                                 \
	S(NFS4ERR_MLINK, 31, EMLINK)                                                               \
	S(NFS4ERR_NAMETOOLONG, 63, ENAMETOOLONG)                                                   \
	S(NFS4ERR_NOTEMPTY, 66, ENOTEMPTY)                                                         \
	S(NFS4ERR_DQUOT, 69, EDQUOT)                                                               \
	S(NFS4ERR_STALE, 70, ESTALE)                                                               \
	S(NFS4ERR_BADHANDLE, 10001, ESTALE)                                                        \
	S(NFS4ERR_BAD_COOKIE, 10003, EINVAL)                                                       \
	S(NFS4ERR_NOTSUPP, 10004, EOPNOTSUPP)                                                      \
	S(NFS4ERR_TOOSMALL, 10005, EREMOTEIO)                                                      \
	S(NFS4ERR_SERVERFAULT, 10006, EREMOTEIO)                                                   \
	S(NFS4ERR_BADTYPE, 10007, EINVAL)                                                          \
	S(NFS4ERR_DELAY, 10008, EAGAIN)                                                            \
	S(NFS4ERR_SAME, 10009, EREMOTEIO)                                                          \
	S(NFS4ERR_DENIED, 10010, EAGAIN)                                                           \
	S(NFS4ERR_EXPIRED, 10011, EIO)                                                             \
	S(NFS4ERR_LOCKED, 10012, EAGAIN)                                                           \
	S(NFS4ERR_GRACE, 10013, EAGAIN)                                                            \
	S(NFS4ERR_FHEXPIRED, 10014, ESTALE)                                                        \
	S(NFS4ERR_SHARE_DENIED, 10015, EACCES)                                                     \
	S(NFS4ERR_WRONGSEC, 10016, EPERM)                                                          \
	S(NFS4ERR_CLID_INUSE, 10017, EREMOTEIO)                                                    \
	S(NFS4ERR_RESOURCE, 10018, EREMOTEIO) /* 4.0 only */                                       \
	S(NFS4ERR_MOVED, 10019, EREMOTE)                                                           \
	S(NFS4ERR_NOFILEHANDLE, 10020, EREMOTEIO)                                                  \
	S(NFS4ERR_MINOR_VERS_MISMATCH, 10021, EPROTONOSUPPORT)                                     \
	S(NFS4ERR_STALE_CLIENTID, 10022, EIO)                                                      \
	S(NFS4ERR_STALE_STATEID, 10023, EIO)                                                       \
	S(NFS4ERR_OLD_STATEID, 10024, EIO)                                                         \
	S(NFS4ERR_BAD_STATEID, 10025, EIO)                                                         \
	S(NFS4ERR_BAD_SEQID, 10026, EREMOTEIO)                                                     \
	S(NFS4ERR_NOT_SAME, 10027, EREMOTEIO)                                                      \
	S(NFS4ERR_LOCK_RANGE, 10028, EINVAL)                                                       \
	S(NFS4ERR_SYMLINK, 10029, ELOOP)                                                           \
	S(NFS4ERR_RESTOREFH, 10030, EREMOTEIO)                                                     \
	S(NFS4ERR_LEASE_MOVED, 10031, EREMOTEIO)                                                   \
	S(NFS4ERR_ATTRNOTSUPP, 10032, EOPNOTSUPP)                                                  \
	S(NFS4ERR_NO_GRACE, 10033, EIO)                                                            \
	S(NFS4ERR_RECLAIM_BAD, 10034, EIO)                                                         \
	S(NFS4ERR_RECLAIM_CONFLICT, 10035, EIO)                                                    \
	S(NFS4ERR_BADXDR, 10036, EREMOTEIO)                                                        \
	S(NFS4ERR_LOCKS_HELD, 10037, EIO)                                                          \
	S(NFS4ERR_OPENMODE, 10038, EBADF)                                                          \
	S(NFS4ERR_BADOWNER, 10039, EINVAL)                                                         \
	S(NFS4ERR_BADCHAR, 10040, EINVAL)                                                          \
	S(NFS4ERR_BADNAME, 10041, EINVAL)                                                          \
	S(NFS4ERR_BAD_RANGE, 10042, EINVAL)                                                        \
	S(NFS4ERR_LOCK_NOTSUPP, 10043, ENOLCK)                                                     \
	S(NFS4ERR_OP_ILLEGAL, 10044, EREMOTEIO)                                                    \
	S(NFS4ERR_DEADLOCK, 10045, EDEADLK)                                                        \
	S(NFS4ERR_FILE_OPEN, 10046, EBUSY)                                                         \
	S(NFS4ERR_ADMIN_REVOKED, 10047, EIO)                                                       \
	S(NFS4ERR_CB_PATH_DOWN, 10048, EIO)                                                        \
	/* NFSv4.1 */                                                                              \
	S(NFS4ERR_BADIOMODE, 10049, EREMOTEIO)                                                     \
	S(NFS4ERR_BADLAYOUT, 10050, EREMOTEIO)                                                     \
	S(NFS4ERR_BAD_SESSION_DIGEST, 10051, EREMOTEIO)                                            \
	S(NFS4ERR_BADSESSION, 10052, EIO)                                                          \
	S(NFS4ERR_BADSLOT, 10053, EREMOTEIO)                                                       \
	S(NFS4ERR_COMPLETE_ALREADY, 10054, EREMOTEIO)                                              \
	S(NFS4ERR_CONN_NOT_BOUND_TO_SESSION, 10055, EIO)                                           \
	S(NFS4ERR_DELEG_ALREADY_WANTED, 10056, EREMOTEIO)                                          \
	S(NFS4ERR_BACK_CHAN_BUSY, 10057, EAGAIN)                                                   \
	S(NFS4ERR_LAYOUTTRYLATER, 10058, EAGAIN)                                                   \
	S(NFS4ERR_LAYOUTUNAVAILABLE, 10059, EREMOTEIO)                                             \
	S(NFS4ERR_NOMATCHING_LAYOUT, 10060, EREMOTEIO)                                             \
	S(NFS4ERR_RECALLCONFLICT, 10061, EAGAIN)                                                   \
	S(NFS4ERR_UNKNOWN_LAYOUTTYPE, 10062, EREMOTEIO)                                            \
	S(NFS4ERR_SEQ_MISORDERED, 10063, EREMOTEIO)                                                \
	S(NFS4ERR_SEQUENCE_POS, 10064, EREMOTEIO)                                                  \
	S(NFS4ERR_REQ_TOO_BIG, 10065, EREMOTEIO)                                                   \
	S(NFS4ERR_REP_TOO_BIG, 10066, EREMOTEIO)                                                   \
	S(NFS4ERR_REP_TOO_BIG_TO_CACHE, 10067, EREMOTEIO)                                          \
	S(NFS4ERR_RETRY_UNCACHED_REP, 10068, EIO)                                                  \
	S(NFS4ERR_UNSAFE_COMPOUND, 10069, EREMOTEIO)                                               \
	S(NFS4ERR_TOO_MANY_OPS, 10070, EREMOTEIO)                                                  \
	S(NFS4ERR_OP_NOT_IN_SESSION, 10071, EREMOTEIO)                                             \
	S(NFS4ERR_HASH_ALG_UNSUPP, 10072, EREMOTEIO)                                               \
	S(NFS4ERR_CLIENTID_BUSY, 10074, EBUSY)                                                     \
	S(NFS4ERR_PNFS_IO_HOLE, 10075, EREMOTEIO)                                                  \
	S(NFS4ERR_SEQ_FALSE_RETRY, 10076, EREMOTEIO)                                               \
	S(NFS4ERR_BAD_HIGH_SLOT, 10077, EREMOTEIO)                                                 \
	S(NFS4ERR_DEADSESSION, 10078, EIO)                                                         \
	S(NFS4ERR_ENCR_ALG_UNSUPP, 10079, EREMOTEIO)                                               \
	S(NFS4ERR_PNFS_NO_LAYOUT, 10080, EREMOTEIO)                                                \
	S(NFS4ERR_NOT_ONLY_OP, 10081, EREMOTEIO)                                                   \
	S(NFS4ERR_WRONG_CRED, 10082, EPERM)                                                        \
	S(NFS4ERR_WRONG_TYPE, 10083, EINVAL)                                                       \
	S(NFS4ERR_DIRDELEG_UNAVAIL, 10084, EREMOTEIO)                                              \
	S(NFS4ERR_REJECT_DELEG, 10085, EREMOTEIO)                                                  \
	S(NFS4ERR_RETURNCONFLICT, 10086, EREMOTEIO)                                                \
	S(NFS4ERR_DELEG_REVOKED, 10087, EIO)                                                       \
	/* NFSv4.2 */                                                                              \
	S(NFS4ERR_PARTNER_NOTSUPP, 10088, EOPNOTSUPP)                                              \
	S(NFS4ERR_PARTNER_NO_AUTH, 10089, EACCES)                                                  \
	S(NFS4ERR_UNION_NOTSUPP, 10090, EOPNOTSUPP)                                                \
	S(NFS4ERR_OFFLOAD_DENIED, 10091, EOPNOTSUPP)                                               \
	S(NFS4ERR_WRONG_LFS, 10092, EINVAL)                                                        \
	S(NFS4ERR_BADLABEL, 10093, EINVAL)                                                         \
	S(NFS4ERR_OFFLOAD_NO_REQS, 10094, EOPNOTSUPP)                                              \
	/* RFC 8276 */                                                                             \
	S(NFS4ERR_NOXATTR, 10095, ENODATA)                                                         \
	S(NFS4ERR_XATTR2BIG, 10096, E2BIG)

#define NUMBER(status, number, err) status = number,
enum nfsstat4 { NFS4_STATUSES(NUMBER) };
#undef NUMBER

/* "NFS4ERR_NOENT"; a number without a name gives "NFS4ERR_?". Never NULL. */
const char *nfs4_status_name(uint32_t status);
/* "OPEN", "CB_RECALL"; a number without a name gives "?". Never NULL. */
const char *nfs4_op_name(uint32_t op);
const char *nfs4_cb_op_name(uint32_t op);
/* The result of a system call: 0 or a negative errno. Statuses that only a broken peer or a broken
 * caller can produce, and unknown ones, are -EREMOTEIO. Statuses that mean "do something and try
 * again" (DELAY, GRACE, a lost session or state) are handled before; here such a status is -EIO or
 * -EAGAIN. */
int nfs4_status_errno(uint32_t status);
/* The server's direction: a (positive or negative) errno of the local file system to a status. */
uint32_t nfs4_errno_status(int err);

enum nfs_ftype4 {
	NF4REG = 1,
	NF4DIR = 2,
	NF4BLK = 3,
	NF4CHR = 4,
	NF4LNK = 5,
	NF4SOCK = 6,
	NF4FIFO = 7,
	NF4ATTRDIR = 8,
	NF4NAMEDATTR = 9,
};

/* fattr4 bit numbers (RFC 8881 5.8-5.13, RFC 7862 12.2, RFC 8275, RFC 8276) */
enum {
	FATTR4_SUPPORTED_ATTRS = 0,
	FATTR4_TYPE = 1,
	FATTR4_FH_EXPIRE_TYPE = 2,
	FATTR4_CHANGE = 3,
	FATTR4_SIZE = 4,
	FATTR4_LINK_SUPPORT = 5,
	FATTR4_SYMLINK_SUPPORT = 6,
	FATTR4_NAMED_ATTR = 7,
	FATTR4_FSID = 8,
	FATTR4_UNIQUE_HANDLES = 9,
	FATTR4_LEASE_TIME = 10,
	FATTR4_RDATTR_ERROR = 11,
	FATTR4_ACL = 12,
	FATTR4_ACLSUPPORT = 13,
	FATTR4_ARCHIVE = 14,
	FATTR4_CANSETTIME = 15,
	FATTR4_CASE_INSENSITIVE = 16,
	FATTR4_CASE_PRESERVING = 17,
	FATTR4_CHOWN_RESTRICTED = 18,
	FATTR4_FILEHANDLE = 19,
	FATTR4_FILEID = 20,
	FATTR4_FILES_AVAIL = 21,
	FATTR4_FILES_FREE = 22,
	FATTR4_FILES_TOTAL = 23,
	FATTR4_FS_LOCATIONS = 24,
	FATTR4_HIDDEN = 25,
	FATTR4_HOMOGENEOUS = 26,
	FATTR4_MAXFILESIZE = 27,
	FATTR4_MAXLINK = 28,
	FATTR4_MAXNAME = 29,
	FATTR4_MAXREAD = 30,
	FATTR4_MAXWRITE = 31,
	FATTR4_MIMETYPE = 32,
	FATTR4_MODE = 33,
	FATTR4_NO_TRUNC = 34,
	FATTR4_NUMLINKS = 35,
	FATTR4_OWNER = 36,
	FATTR4_OWNER_GROUP = 37,
	FATTR4_QUOTA_AVAIL_HARD = 38,
	FATTR4_QUOTA_AVAIL_SOFT = 39,
	FATTR4_QUOTA_USED = 40,
	FATTR4_RAWDEV = 41,
	FATTR4_SPACE_AVAIL = 42,
	FATTR4_SPACE_FREE = 43,
	FATTR4_SPACE_TOTAL = 44,
	FATTR4_SPACE_USED = 45,
	FATTR4_SYSTEM = 46,
	FATTR4_TIME_ACCESS = 47,
	FATTR4_TIME_ACCESS_SET = 48,
	FATTR4_TIME_BACKUP = 49,
	FATTR4_TIME_CREATE = 50,
	FATTR4_TIME_DELTA = 51,
	FATTR4_TIME_METADATA = 52,
	FATTR4_TIME_MODIFY = 53,
	FATTR4_TIME_MODIFY_SET = 54,
	FATTR4_MOUNTED_ON_FILEID = 55,
	FATTR4_DIR_NOTIF_DELAY = 56,
	FATTR4_DIRENT_NOTIF_DELAY = 57,
	FATTR4_DACL = 58,
	FATTR4_SACL = 59,
	FATTR4_CHANGE_POLICY = 60,
	FATTR4_FS_STATUS = 61,
	FATTR4_FS_LAYOUT_TYPES = 62,
	FATTR4_LAYOUT_HINT = 63,
	FATTR4_LAYOUT_TYPES = 64,
	FATTR4_LAYOUT_BLKSIZE = 65,
	FATTR4_LAYOUT_ALIGNMENT = 66,
	FATTR4_FS_LOCATIONS_INFO = 67,
	FATTR4_MDSTHRESHOLD = 68,
	FATTR4_RETENTION_GET = 69,
	FATTR4_RETENTION_SET = 70,
	FATTR4_RETENTEVT_GET = 71,
	FATTR4_RETENTEVT_SET = 72,
	FATTR4_RETENTION_HOLD = 73,
	FATTR4_MODE_SET_MASKED = 74,
	FATTR4_SUPPATTR_EXCLCREAT = 75,
	FATTR4_FS_CHARSET_CAP = 76,
	/* NFSv4.2 */
	FATTR4_CLONE_BLKSIZE = 77,
	FATTR4_SPACE_FREED = 78,
	FATTR4_CHANGE_ATTR_TYPE = 79,
	FATTR4_SEC_LABEL = 80,
	FATTR4_MODE_UMASK = 81, /* RFC 8275 */
	FATTR4_XATTR_SUPPORT = 82,
};

#define FH4_PERSISTENT	       0x0u
#define FH4_NOEXPIRE_WITH_OPEN 0x1u
#define FH4_VOLATILE_ANY       0x2u
#define FH4_VOL_MIGRATION      0x4u
#define FH4_VOL_RENAME	       0x8u

#define ACCESS4_READ	0x01u
#define ACCESS4_LOOKUP	0x02u
#define ACCESS4_MODIFY	0x04u
#define ACCESS4_EXTEND	0x08u
#define ACCESS4_DELETE	0x10u
#define ACCESS4_EXECUTE 0x20u
/* RFC 8276 */
#define ACCESS4_XAREAD	0x040u
#define ACCESS4_XAWRITE 0x080u
#define ACCESS4_XALIST	0x100u

enum nfs_lock_type4 { READ_LT = 1, WRITE_LT = 2, READW_LT = 3, WRITEW_LT = 4 };

enum time_how4 { SET_TO_SERVER_TIME4 = 0, SET_TO_CLIENT_TIME4 = 1 };

enum createmode4 { UNCHECKED4 = 0, GUARDED4 = 1, EXCLUSIVE4 = 2, EXCLUSIVE4_1 = 3 };

enum opentype4 { OPEN4_NOCREATE = 0, OPEN4_CREATE = 1 };

enum open_claim_type4 {
	CLAIM_NULL = 0,
	CLAIM_PREVIOUS = 1,
	CLAIM_DELEGATE_CUR = 2,
	CLAIM_DELEGATE_PREV = 3,
	CLAIM_FH = 4,
	CLAIM_DELEG_CUR_FH = 5,
	CLAIM_DELEG_PREV_FH = 6,
};

#define OPEN4_SHARE_ACCESS_READ			 0x00001u
#define OPEN4_SHARE_ACCESS_WRITE		 0x00002u
#define OPEN4_SHARE_ACCESS_BOTH			 0x00003u
#define OPEN4_SHARE_DENY_NONE			 0x00000u
#define OPEN4_SHARE_DENY_READ			 0x00001u
#define OPEN4_SHARE_DENY_WRITE			 0x00002u
#define OPEN4_SHARE_DENY_BOTH			 0x00003u
#define OPEN4_SHARE_ACCESS_WANT_DELEG_MASK	 0x0ff00u
#define OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE	 0x00000u
#define OPEN4_SHARE_ACCESS_WANT_READ_DELEG	 0x00100u
#define OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG	 0x00200u
#define OPEN4_SHARE_ACCESS_WANT_ANY_DELEG	 0x00300u
#define OPEN4_SHARE_ACCESS_WANT_NO_DELEG	 0x00400u
#define OPEN4_SHARE_ACCESS_WANT_CANCEL		 0x00500u
#define OPEN4_SHARE_ACCESS_WANT_SIGNAL_AVAIL	 0x10000u /* ..._DELEG_WHEN_RESRC_AVAIL */
#define OPEN4_SHARE_ACCESS_WANT_PUSH_UNCONTENDED 0x20000u

#define OPEN4_RESULT_CONFIRM	       0x02u
#define OPEN4_RESULT_LOCKTYPE_POSIX    0x04u
#define OPEN4_RESULT_PRESERVE_UNLINKED 0x08u
#define OPEN4_RESULT_MAY_NOTIFY_LOCK   0x20u

enum open_delegation_type4 {
	OPEN_DELEGATE_NONE = 0,
	OPEN_DELEGATE_READ = 1,
	OPEN_DELEGATE_WRITE = 2,
	OPEN_DELEGATE_NONE_EXT = 3,
};

enum limit_by4 { NFS_LIMIT_SIZE = 1, NFS_LIMIT_BLOCKS = 2 };

enum why_no_delegation4 {
	WND4_NOT_WANTED = 0,
	WND4_CONTENTION = 1,
	WND4_RESOURCE = 2,
	WND4_NOT_SUPP_FTYPE = 3,
	WND4_WRITE_DELEG_NOT_SUPP_FTYPE = 4,
	WND4_NOT_SUPP_UPGRADE = 5,
	WND4_NOT_SUPP_DOWNGRADE = 6,
	WND4_CANCELLED = 7,
	WND4_IS_DIR = 8,
};

enum stable_how4 { UNSTABLE4 = 0, DATA_SYNC4 = 1, FILE_SYNC4 = 2 };

/* the kind of a part of a file: READ_PLUS, SEEK */
enum data_content4 { NFS4_CONTENT_DATA = 0, NFS4_CONTENT_HOLE = 1 };

/* A server's address in COPY and COPY_NOTIFY */
enum netloc_type4 { NL4_NAME = 1, NL4_URL = 2, NL4_NETADDR = 3 };

/* Bits of IO_ADVISE's hints */
enum IO_ADVISE_type4 {
	IO_ADVISE4_NORMAL = 0,
	IO_ADVISE4_SEQUENTIAL = 1,
	IO_ADVISE4_SEQUENTIAL_BACKWARDS = 2,
	IO_ADVISE4_RANDOM = 3,
	IO_ADVISE4_WILLNEED = 4,
	IO_ADVISE4_WILLNEED_OPPORTUNISTIC = 5,
	IO_ADVISE4_DONTNEED = 6,
	IO_ADVISE4_NOREUSE = 7,
	IO_ADVISE4_READ = 8,
	IO_ADVISE4_WRITE = 9,
	IO_ADVISE4_INIT_PROXIMITY = 10,
};

/* How the change attribute moves */
enum change_attr_type4 {
	NFS4_CHANGE_TYPE_IS_MONOTONIC_INCR = 0,
	NFS4_CHANGE_TYPE_IS_VERSION_COUNTER = 1,
	NFS4_CHANGE_TYPE_IS_VERSION_COUNTER_NOPNFS = 2,
	NFS4_CHANGE_TYPE_IS_TIME_METADATA = 3,
	NFS4_CHANGE_TYPE_IS_UNDEFINED = 4,
};

enum setxattr_option4 { SETXATTR4_EITHER = 0, SETXATTR4_CREATE = 1, SETXATTR4_REPLACE = 2 };

/* ACLSUPPORT */
#define ACL4_SUPPORT_ALLOW_ACL 0x1u
#define ACL4_SUPPORT_DENY_ACL  0x2u
#define ACL4_SUPPORT_AUDIT_ACL 0x4u
#define ACL4_SUPPORT_ALARM_ACL 0x8u

enum acetype4 { ACE4_ACCESS_ALLOWED = 0, ACE4_ACCESS_DENIED = 1 };

#define ACE4_FILE_INHERIT	  0x01u
#define ACE4_DIRECTORY_INHERIT	  0x02u
#define ACE4_NO_PROPAGATE_INHERIT 0x04u
#define ACE4_INHERIT_ONLY	  0x08u
#define ACE4_IDENTIFIER_GROUP	  0x40u
#define ACE4_INHERITED		  0x80u

#define ACE4_READ_DATA	      0x000001u
#define ACE4_WRITE_DATA	      0x000002u
#define ACE4_APPEND_DATA      0x000004u
#define ACE4_EXECUTE	      0x000020u
#define ACE4_DELETE_CHILD     0x000040u
#define ACE4_READ_ATTRIBUTES  0x000080u
#define ACE4_WRITE_ATTRIBUTES 0x000100u
#define ACE4_READ_ACL	      0x020000u
#define ACE4_WRITE_ACL	      0x040000u
#define ACE4_SYNCHRONIZE      0x100000u

enum secinfo_style4 { SECINFO_STYLE4_CURRENT_FH = 0, SECINFO_STYLE4_PARENT = 1 };

/* RPC authentication flavours in SECINFO and in the callback's parameters */
#define NFS4_AUTH_NONE	0u
#define NFS4_AUTH_SYS	1u
#define NFS4_RPCSEC_GSS 6u

enum channel_dir_from_client4 {
	CDFC4_FORE = 1,
	CDFC4_BACK = 2,
	CDFC4_FORE_OR_BOTH = 3,
	CDFC4_BACK_OR_BOTH = 7,
};

enum channel_dir_from_server4 { CDFS4_FORE = 1, CDFS4_BACK = 2, CDFS4_BOTH = 3 };

#define EXCHGID4_FLAG_SUPP_MOVED_REFER	  0x00000001u
#define EXCHGID4_FLAG_SUPP_MOVED_MIGR	  0x00000002u
#define EXCHGID4_FLAG_BIND_PRINC_STATEID  0x00000100u
#define EXCHGID4_FLAG_USE_NON_PNFS	  0x00010000u
#define EXCHGID4_FLAG_USE_PNFS_MDS	  0x00020000u
#define EXCHGID4_FLAG_USE_PNFS_DS	  0x00040000u
#define EXCHGID4_FLAG_MASK_PNFS		  0x00070000u
#define EXCHGID4_FLAG_UPD_CONFIRMED_REC_A 0x40000000u
#define EXCHGID4_FLAG_CONFIRMED_R	  0x80000000u

enum state_protect_how4 { SP4_NONE = 0, SP4_MACH_CRED = 1, SP4_SSV = 2 };

#define CREATE_SESSION4_FLAG_PERSIST	    0x1u
#define CREATE_SESSION4_FLAG_CONN_BACK_CHAN 0x2u
#define CREATE_SESSION4_FLAG_CONN_RDMA	    0x4u

#define SEQ4_STATUS_CB_PATH_DOWN	       0x0001u
#define SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRING   0x0002u
#define SEQ4_STATUS_CB_GSS_CONTEXTS_EXPIRED    0x0004u
#define SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED  0x0008u
#define SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED 0x0010u
#define SEQ4_STATUS_ADMIN_STATE_REVOKED	       0x0020u
#define SEQ4_STATUS_RECALLABLE_STATE_REVOKED   0x0040u
#define SEQ4_STATUS_LEASE_MOVED		       0x0080u
#define SEQ4_STATUS_RESTART_RECLAIM_NEEDED     0x0100u
#define SEQ4_STATUS_CB_PATH_DOWN_SESSION       0x0200u
#define SEQ4_STATUS_BACKCHANNEL_FAULT	       0x0400u
#define SEQ4_STATUS_DEVID_CHANGED	       0x0800u
#define SEQ4_STATUS_DEVID_DELETED	       0x1000u

/* --- pNFS (RFC 8881 sections 12, 13; RFC 8435) ------------------------------------------------ */

enum layouttype4 {
	LAYOUT4_NFSV4_1_FILES = 1,
	LAYOUT4_OSD2_OBJECTS = 2,
	LAYOUT4_BLOCK_VOLUME = 3,
	LAYOUT4_FLEX_FILES = 4,
};

enum layoutiomode4 { LAYOUTIOMODE4_READ = 1, LAYOUTIOMODE4_RW = 2, LAYOUTIOMODE4_ANY = 3 };

/* LAYOUTRETURN: which layouts are returned */
enum layoutreturn_type4 {
	LAYOUTRETURN4_FILE = 1,
	LAYOUTRETURN4_FSID = 2,
	LAYOUTRETURN4_ALL = 3,
};

/* CB_LAYOUTRECALL: which layouts are recalled */
enum layoutrecall_type4 {
	LAYOUTRECALL4_FILE = 1,
	LAYOUTRECALL4_FSID = 2,
	LAYOUTRECALL4_ALL = 3,
};

/* Notifications about devices: bit numbers */
enum notify_deviceid_type4 { NOTIFY_DEVICEID4_CHANGE = 1, NOTIFY_DEVICEID4_DELETE = 2 };

/* nfl_util4 of a file layout */
#define NFL4_UFLG_DENSE			0x00000001u
#define NFL4_UFLG_COMMIT_THRU_MDS	0x00000002u
#define NFL4_UFLG_STRIPE_UNIT_SIZE_MASK 0xffffffc0u

/* ff_flags4 */
#define FF_FLAGS_NO_LAYOUTCOMMIT  0x1u
#define FF_FLAGS_NO_IO_THRU_MDS	  0x2u
#define FF_FLAGS_NO_READ_IO	  0x4u
#define FF_FLAGS_WRITE_ONE_MIRROR 0x8u

/* CB_RECALL_ANY: bits of craa_type_mask */
#define RCA4_TYPE_MASK_RDATA_DLG      0
#define RCA4_TYPE_MASK_WDATA_DLG      1
#define RCA4_TYPE_MASK_DIR_DLG	      2
#define RCA4_TYPE_MASK_FILE_LAYOUT    3
#define RCA4_TYPE_MASK_FF_LAYOUT_READ 16
#define RCA4_TYPE_MASK_FF_LAYOUT_RW   17

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_client: a mounted export, whatever the NFS version. The one interface between the protocol
 * back ends and the layers above.
 *
 * Everything that asks the server is a `struct nfs_op`: fill in `type` and the matching member of
 * `u`, nfs_submit() it, and `done` is called exactly once, on a progress thread (or on the
 * caller's, before nfs_submit() returns), with no lock held. The back end retries by itself what
 * can be retried without the caller's knowledge (NFS4ERR_DELAY, a lost session, a changed
 * connection).
 *
 * Ownership. The caller owns the op and all memory named by its inputs until done is called.
 * Outputs live in the op. Open state (`struct nfs_open`) is made by NFS_OPEN, and NFS_CLOSE ends
 * it.
 *
 * Errors. op->error is 0 or a negative errno as a system call would return it; -EREMOTEIO stands
 * for "the server broke the protocol" (the log has the sentence).
 */
#ifndef RNFS_NFSPROTO_NFS_CLIENT_H
#define RNFS_NFSPROTO_NFS_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "transport/rpc/rpc.h"

#define NFS_FH_MAX   128
#define NFS_NAME_MAX 255
#define NFS_PATH_MAX 4096

struct nfs4_lockreq;
struct nfs_client;
struct nfs_open;

struct nfs_fh {
	uint32_t len; /* 1..NFS_FH_MAX */
	uint8_t data[NFS_FH_MAX];
};

static inline bool nfs_fh_equal(const struct nfs_fh *a, const struct nfs_fh *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

enum nfs_type { /* as ftype3 and nfs_ftype4 number them */
	NFS_REG = 1,
	NFS_DIR = 2,
	NFS_BLK = 3,
	NFS_CHR = 4,
	NFS_LNK = 5,
	NFS_SOCK = 6,
	NFS_FIFO = 7,
};

struct nfs_attr {
	enum nfs_type type;
	uint32_t mode; /* permission bits only, 07777 */
	uint32_t nlink;
	uint32_t uid, gid;
	uint32_t rdev_major, rdev_minor;
	uint64_t size, used; /* bytes */
	uint64_t fsid_major, fsid_minor;
	uint64_t fileid;
	uint64_t change; /* v4 change attribute; v3: made from ctime */
	struct timespec atime, mtime, ctime;
};

/* What comes back of a file's attributes with an operation on its data, for whoever has to tell his
 * own changes from those of others. A server need not tell. */
struct nfs_data_attr {
	bool have;	  /* the rest is set, but for what has a flag of its own */
	bool have_before; /* before_*: just before the operation (NFSv3; NFSv4 at an append) */
	bool counted; /* NFSv4.2: each change adds exactly one to change (RFC 7862 section 12.2.3)
		       */
	uint64_t change;
	uint64_t size, used; /* bytes */
	struct timespec atime, mtime, ctime;
	uint64_t before_change, before_size;
};

/* What comes back of a directory's attributes with an operation on the names in it. */
struct nfs_dir_attr {
	bool have; /* the rest is set: a server need not tell */
	/* attr is as before the operation (NFSv4's LOOKUP), else as after it: a name may have been
	 * made or removed in between */
	bool before;
	struct nfs_attr attr;
};

#define NFS_SET_MODE	  (1u << 0)
#define NFS_SET_UID	  (1u << 1)
#define NFS_SET_GID	  (1u << 2)
#define NFS_SET_SIZE	  (1u << 3)
#define NFS_SET_ATIME	  (1u << 4)
#define NFS_SET_MTIME	  (1u << 5)
#define NFS_SET_ATIME_NOW (1u << 6) /* the server's clock */
#define NFS_SET_MTIME_NOW (1u << 7)
/* With NFS_SET_MODE, of what is made, in NFSv4.2 (RFC 8275): mode is as the program gave it, and
 * the server takes the bits of umask from it unless the directory's default ACL says otherwise. */
#define NFS_SET_UMASK (1u << 8)

struct nfs_sattr {
	uint32_t mask; /* NFS_SET_* */
	uint32_t mode, uid, gid, umask;
	uint64_t size;
	struct timespec atime, mtime;
};

struct nfs_fsstat {
	uint64_t tbytes, fbytes, abytes; /* total, free, free for ordinary users */
	uint64_t tfiles, ffiles, afiles;
	uint32_t name_max;
};

/* One directory entry as a readdir callback sees it; valid during the callback. */
struct nfs_dirent {
	const char *name; /* not terminated */
	uint32_t namelen; /* 1..NFS_NAME_MAX, no '/', no NUL, not "." or ".." */
	uint64_t fileid;
	uint64_t cookie;
	bool have_attr, have_fh;
	struct nfs_attr attr;
	struct nfs_fh fh;
};

/* as ACCESS3_ and ACCESS4_ number them */
#define NFS_ACCESS_READ	   0x01u
#define NFS_ACCESS_LOOKUP  0x02u
#define NFS_ACCESS_MODIFY  0x04u
#define NFS_ACCESS_EXTEND  0x08u
#define NFS_ACCESS_DELETE  0x10u
#define NFS_ACCESS_EXECUTE 0x20u

#define NFS_O_EXEC 0x20 /* to be executed, not read: the kernel's __FMODE_EXEC */

enum nfs_stable { NFS_UNSTABLE = 0, NFS_DATA_SYNC = 1, NFS_FILE_SYNC = 2 };

#define NFS_VERF_SIZE 8

enum nfs_op_type {
	NFS_LOOKUP,
	NFS_GETATTR,
	NFS_SETATTR,
	NFS_ACCESS,
	NFS_READLINK,
	NFS_OPEN,
	NFS_CLOSE,
	NFS_READ,
	NFS_WRITE,
	NFS_COMMIT,
	NFS_CREATE, /* anything but a regular file: mkdir, symlink, mknod */
	NFS_REMOVE, /* unlink and rmdir */
	NFS_RENAME,
	NFS_LINK,
	NFS_READDIR,
	NFS_STATFS,
	NFS_LOCK,  /* set or clear a byte-range lock */
	NFS_LOCKT, /* is there a lock in the way? */
	NFS_SEEK,
	NFS_ALLOCATE, /* and deallocate */
	NFS_COPY,     /* and clone */
	NFS_GETXATTR,
	NFS_SETXATTR,
	NFS_LISTXATTR,
	NFS_REMOVEXATTR,
	NFS_GETACL,
	NFS_SETACL,
	NFS_OP_TYPES
};

const char *nfs_op_name(enum nfs_op_type t);

/* Names are not terminated strings: pointer and length, 1..NFS_NAME_MAX (longer: -ENAMETOOLONG). */
struct nfs_name {
	const char *s;
	uint32_t len;
};

struct nfs_op {
	enum nfs_op_type type;
	struct rpc_cred cred; /* the calling user */
	void (*done)(struct nfs_op *op);
	void *ctx;
	int error;

	union {
		struct {
			struct nfs_fh dir;
			struct nfs_name name;
			bool want_dir; /* NFSv3 brings dir_attr always; NFSv4 when asked */
			/* out */
			struct nfs_dir_attr dir_attr; /* with an error too */
			struct nfs_fh fh;
			struct nfs_attr attr;
		} lookup;
		struct {
			struct nfs_fh fh;
			struct nfs_attr attr; /* out */
		} getattr;
		struct {
			struct nfs_fh fh;
			struct nfs_sattr set;
			struct nfs_open
				*open; /* for a size change through an open file; may be NULL */
			struct nfs_attr attr; /* out */
		} setattr;
		struct {
			struct nfs_fh fh;
			uint32_t want; /* NFS_ACCESS_* */
			/* out */
			uint32_t allowed;
			struct nfs_attr attr;
		} access;
		struct {
			struct nfs_fh fh;
			char *buf; /* room for the target and a NUL, which is added */
			uint32_t size;
			uint32_t len; /* out */
		} readlink;
		struct {
			/* by name in fh (create or not), or with name.len 0 the file fh itself */
			struct nfs_fh dir;
			struct nfs_name name;
			/* O_RDONLY|O_WRONLY|O_RDWR, O_CREAT, O_EXCL, O_TRUNC, NFS_O_EXEC */
			int flags;
			struct nfs_sattr set; /* with O_CREAT */
			/* What is to come with it over NFSv4, if the server likes: what the caller
			 * may do (NFS_ACCESS_*, 0: not asked), and the first to.len bytes of the
			 * file, <= info.rsize, unless it is only to be written, made or truncated.
			 * Each segment of to lies in a block of the pool: an op that is cancelled
			 * ends at once, and the server may write there until the last reference is
			 * gone that the open has taken. */
			uint32_t want;
			struct seg_list to;
			/* With O_CREAT | O_EXCL: the caller sets the times to now himself, with
			 * SETATTR, if the server has left something else in them (NFSv4). */
			bool late_times;
			/* out */
			struct nfs_open *open;
			struct nfs_fh fh;
			struct nfs_attr attr;
			/* Over NFSv4: the number of the delegation that the file was under when
			 * this was answered (nfs_deleg_holds()), or 0; and is it one to write? */
			uint64_t deleg;
			bool deleg_writes;
			bool times_left;  /* it has; those in attr are of the change */
			bool have_access; /* allowed is set */
			uint32_t allowed;
			bool have_data; /* the rest is set; attr is a little older than the data */
			uint32_t count;
			bool eof;
		} open;
		struct {
			struct nfs_open *open;	   /* gone afterwards, whatever the error */
			struct nfs_data_attr attr; /* out; not over NFSv3, which has no CLOSE */
		} close;
		struct {
			struct nfs_open *open; /* NULL: the anonymous stateid */
			struct nfs_fh fh;
			uint64_t offset;
			/* to.len bytes are wanted, <= info.rsize; segments of any length */
			struct seg_list to;
			bool want_attr; /* NFSv3 brings them always; NFSv4 when asked, a little
					   older than the data */
			/* out */
			uint32_t count;
			bool eof;
			struct nfs_data_attr attr;
		} read;
		/* With append the data goes to the end of the file, wherever others have moved it.
		 * NFSv4: one COMPOUND asks for the size, verifies that it is offset and writes; if
		 * it is another, that is tried next. NFSv3: GETATTR, then WRITE; what others append
		 * in between is overwritten unless they lock. -EALREADY: the answer was lost with a
		 * session (NFSv4), or with a connection before the server put the call off (NFSv3),
		 * and the data may stand at offset already, which the file has outgrown: READ
		 * tells. */
		struct {
			struct nfs_open *open;
			struct nfs_fh fh;
			/* with append: in: where the end is believed to be; out: where it was */
			uint64_t offset;
			struct seg_list from; /* pool memory, from.len <= info.wsize */
			enum nfs_stable stable;
			bool append;
			/* out */
			uint32_t count; /* may be short */
			enum nfs_stable committed;
			uint8_t verf[NFS_VERF_SIZE];
			struct nfs_data_attr attr; /* as after it */
		} write;
		struct {
			struct nfs_fh fh;
			uint64_t offset;
			uint32_t len; /* 0: to the end */
			/* out */
			uint8_t verf[NFS_VERF_SIZE];
			struct nfs_data_attr attr;
		} commit;
		struct {
			struct nfs_fh dir;
			struct nfs_name name;
			enum nfs_type
				type; /* NFS_DIR, NFS_LNK, NFS_FIFO, NFS_SOCK, NFS_BLK, NFS_CHR */
			struct nfs_sattr set;
			const char *target; /* NFS_LNK */
			uint32_t target_len;
			uint32_t rdev_major, rdev_minor;
			/* What the caller may do with it is to come along (NFS_ACCESS_*, 0: not
			 * asked), over NFSv4. */
			uint32_t want;
			/* out */
			struct nfs_fh fh;
			struct nfs_attr attr;
			bool have_access; /* allowed is set */
			uint32_t allowed;
		} create;
		struct {
			struct nfs_fh dir;
			struct nfs_name name;
			bool is_dir; /* rmdir: a non-directory is -ENOTDIR; unlink: a directory
					-EISDIR */
			/* unlink over NFSv4, or NULL: only if name stands for this file, which is
			 * no directory; else -ESTALE, also where the server cannot tell */
			const struct nfs_fh *only;
		} remove;
		struct {
			struct nfs_fh from_dir, to_dir;
			struct nfs_name from, to;
			/* over NFSv4, or NULL: only if to stands for this file, which is no
			 * directory; else -ESTALE */
			const struct nfs_fh *only;
		} rename;
		struct {
			struct nfs_fh fh, dir;
			struct nfs_name name;
			struct nfs_attr attr; /* out, of fh */
		} link;
		struct {
			struct nfs_fh dir;
			uint64_t cookie;	     /* 0: from the start */
			uint8_t verf[NFS_VERF_SIZE]; /* in and out: the cookie verifier */
			uint32_t max_bytes;	     /* about how much of a reply is wanted */
			bool plus;		     /* attributes and handles too */
			/* called for each entry, before done; false: stop, rest is not wanted */
			bool (*entry)(struct nfs_op *op, const struct nfs_dirent *ent);
			bool want_dir; /* as in lookup */
			/* out */
			struct nfs_dir_attr dir_attr;
			bool eof; /* the server has no more (only if entry never said stop) */
		} readdir;
		struct {
			struct nfs_fh fh;
			struct nfs_fsstat st; /* out */
		} statfs;
		/* Byte-range locks are advisory. Locks of one owner on one file never conflict with
		 * each other; a new one replaces what it overlaps, splitting it where needed. They
		 * last until they are cleared: whoever closes a file clears them first. */
		struct {
			struct nfs_open *open;
			struct nfs_fh fh;
			uint64_t owner; /* the kernel's number of a lock owner */
			int type;	/* F_RDLCK, F_WRLCK, F_UNLCK */
			uint64_t start,
				end; /* both included; end UINT64_MAX: to the end of the file */
			bool wait;   /* until it is granted or cancelled; else -EAGAIN */
		} lock;
		struct {
			struct nfs_open *open;
			struct nfs_fh fh;
			uint64_t owner;
			/* in: the lock that is wanted; out: F_UNLCK, or the one in its way */
			int type;
			uint64_t start, end;
			bool here;	 /* out: it is held through this mount, */
			uint64_t holder; /* out: by that owner */
		} lockt;
		struct {
			struct nfs_open *open;
			struct nfs_fh fh;
			uint64_t offset;
			bool hole;    /* SEEK_HOLE, else SEEK_DATA */
			uint64_t pos; /* out; -ENXIO: offset is at or behind the end, or no data
					 follows */
		} seek;
		struct {
			struct nfs_open *open;
			struct nfs_fh fh;
			uint64_t offset, length;
			bool dealloc; /* make a hole, size unchanged; else allocate, the file grows
				       */
			int unsafe;   /* out: 0: on stable storage; else the negative errno of
					 the COMMIT that came with it: it needs another */
		} allocate;
		struct {
			struct nfs_open *from_open, *to_open;
			struct nfs_fh from_fh, to_fh;
			uint64_t from, to, count;
			/* out */
			uint64_t copied; /* may be short; 0: from is at the end of the file */
			enum nfs_stable committed;
			uint8_t verf[NFS_VERF_SIZE];
			int unsafe; /* as in allocate; if not 0, there is no verf */
		} copy;
		/* Names of extended attributes are those of RFC 8276: without "user." in front. */
		struct {
			struct nfs_fh fh;
			struct nfs_name name;
			void *buf;
			uint32_t size; /* 0: only len is wanted; else too small is -ERANGE */
			uint32_t len;  /* out; -ENODATA: there is none */
		} getxattr;
		struct {
			struct nfs_fh fh;
			struct nfs_name name;
			const void *value;
			uint32_t len;
			int flags; /* XATTR_CREATE, XATTR_REPLACE */
		} setxattr;
		struct {
			struct nfs_fh fh;
			/* all names, each with "user." in front and a NUL behind it, as
			 * listxattr(2) */
			char *buf;
			uint32_t size, len; /* as in getxattr */
		} listxattr;
		struct {
			struct nfs_fh fh;
			struct nfs_name name;
		} removexattr;
		/* The NFSv4 ACL as XDR (nfsace4<>): the value of "system.nfs4_acl". */
		struct {
			struct nfs_fh fh;
			void *buf;
			uint32_t size, len; /* as in getxattr */
		} getacl;
		struct {
			struct nfs_fh fh;
			const void *value;
			uint32_t len;
		} setacl;
	} u;

	/* the back end's */
	struct rpc_call call;
	struct nfs_client *client;
	void *slot;
	unsigned tries;
	uint64_t due_ns;
	union {
		struct {
			struct nfs4_conn *conn; /* that it travels on */
			struct nfs4_user *user; /* the mount; NULL: the server's own */
			struct nfs_open *open;	/* whose own op this is, or NULL */
			struct nfs4_lockreq *lock;
			uint32_t gen; /* of the open state that was sent */
			uint8_t kind, flags, cancelled;
			_Atomic uint8_t state;
			uint32_t from_gen; /* COPY: gen of the source's */
			uint64_t more[2];  /* COPY: the stateid of an asynchronous one;
					      LISTXATTR: cookie, number of pages;
					      APPEND: how often the end was elsewhere,
					      whether an answer was lost */
		} v4;
		struct {
			struct nfs_open *open; /* that an OPEN is making */
			uint64_t cookie;       /* where a READDIR goes on, or 0 */
			uint8_t kind, proc, state, flags, races;
			bool cancelled;
			bool relies, pulled, held; /* I/O that relies on a lock */
		} v3;
	} be;
	TAILQ_ENTRY(nfs_op) link;
};

/* --- what a mount tells its user unasked ----------------------------------------------------- */

enum nfs_lost {
	NFS_LOST_LOCK, /* a byte-range lock: I/O under it fails until it is unlocked */
	NFS_LOST_OPEN, /* an open file: I/O through it fails until it is closed */
	NFS_LOST_GAP,  /* an open file that has been opened anew: others may have come in between */
};

enum nfs_connection {
	NFS_CONNECTION_LOST,	/* what is under way is sent again over the next one */
	NFS_CONNECTION_BACK,	/* nothing has been sent over it yet */
	NFS_CONNECTION_SILENT,	/* the server does not answer; said once, until */
	NFS_CONNECTION_ANSWERS, /* it does again */
};

/* The mount's upcalls to its user. Any may be NULL. They come from nfs_client_new() on, before that
 * has returned, to nfs_client_free(), on a thread of the mount's that is named with each. What is
 * called only leaves word: it must neither wait nor call nfs_* functions, since calls to the server
 * end on these threads, and the callback service's lock may be held (NFSv4: recalled, connection).
 * fh and attr are valid during the call. */
struct nfs_client_upcalls {
	/* A delegation of fh (NFSv4) is not held any more: the server has recalled it, since
	 * somebody else wants to use the file, and it goes back; or it is lost, which the state
	 * manager's thread tells. Else the progress thread. */
	void (*recalled)(void *ctx, const struct nfs_fh *fh);
	/* A delegation of fh to write with that number is not held any more: what was written to
	 * the file is to be made safe, as cred where nobody else does it, and then to be told by
	 * nfs_deleg_flushed(), which may be called at once. It goes back after that. False: no
	 * memory; it is asked again. The state manager's thread; nfs_submit() may be called. */
	bool (*flush)(void *ctx, const struct nfs_fh *fh, uint64_t id, const struct rpc_cred *cred);
	/* Somebody asks what fh looks like, which this mount holds delegated to write: its size,
	 * with what the server does not have yet; the newest change attribute that the server has
	 * told; and is there anything that it does not have? False: that is not known for sure.
	 * The progress thread, with the callback service's lock held. */
	bool (*inquired)(void *ctx, const struct nfs_fh *fh, uint64_t *size, uint64_t *change,
		bool *modified);
	/* State of the open file fh is lost: the server has revoked or forgotten it. Once for each
	 * open or owner of locks. The state manager's thread (NFSv4), that of the locks (NFSv3). */
	void (*lost)(void *ctx, const struct nfs_fh *fh, enum nfs_lost what);
	/* Attributes of fh have come that no op of the user's brings: with a CLOSE whose user was
	 * cancelled or has not waited for it. The server was asked after `asked`, on clock_ns().
	 * Progress thread. */
	void (*attributes)(void *ctx, const struct nfs_fh *fh, const struct nfs_data_attr *attr,
		uint64_t asked);
	/* Of the connection that the mount's operations travel on. LOST and BACK alternate, as do
	 * SILENT and ANSWERS; without this upcall the latter two are said to the log. Progress
	 * thread. */
	void (*connection)(void *ctx, enum nfs_connection what);
};

/* Owners travel over NFSv4 as numbers or as names (user@domain). */
enum nfs_idmap {
	NFS_IDMAP_AUTO,	   /* understands both; sends numbers, or names to servers that want them */
	NFS_IDMAP_NUMERIC, /* a name is nobody */
	NFS_IDMAP_NAME,	   /* understands both, sends names */
};

/* What is asked for at OPEN (NFSv4). */
enum nfs_delegations { NFS_DELEGATIONS_NONE, NFS_DELEGATIONS_READ, NFS_DELEGATIONS_WRITE };

struct nfs_mount_params {
	enum rpc_proto proto;
	const char *host;   /* name or address, [..] around IPv6 already removed */
	uint16_t port;	    /* 0: 20049 for iwarp and rdma, 2049 for tcp */
	const char *export; /* absolute path; "/" is the server's pseudo-root */
	/* 4.2, 4.1, 3.0; 4.0: the newest minor version the server has; 0.0: that, else 3 */
	unsigned vers_major, vers_minor;
	uint16_t mountport;    /* v3: of the MOUNT service; 0: ask the portmapper */
	const char *mounthost; /* v3: where MOUNT is, NULL: host */
	bool mount_udp;	       /* v3: ask MOUNT and the portmapper over UDP, else TCP */
	bool nolock;	       /* v3: no NLM */
	/* v3: where what outlives the mount is remembered (nfs3_nsm.h), NULL: nowhere; and where it
	 * is mounted, which tells it from others, or NULL */
	const char *state_dir, *mountpoint;
	bool read_plus; /* v4.2: READ_PLUS instead of READ: holes are not transferred, but data is
			 * not placed directly either */
	uint32_t rsize, wsize; /* 0: the largest both sides like, at most 1 MiB */
	struct rpc_cred cred;  /* for the mount itself and for state that belongs to no user */
	const struct nfs_client_upcalls *upcalls; /* constant; NULL: none */
	void *upcalls_ctx;
	struct mem_pool *pool;
	enum nfs_delegations delegations;
	enum nfs_idmap idmap;	  /* v4 */
	const char *idmap_domain; /* NULL: as /etc/idmapd.conf says, else the host's */
	unsigned connect_ms, timeo_ms, retrans;
	bool soft;
	uint32_t inline_size, credits;
	bool crc;
};

/* What a mount can do: nfs_client_info.features. An op that it cannot do is -EOPNOTSUPP. */
#define NFS_HAS_LOCKS (1u << 0)
#define NFS_HAS_XATTR (1u << 1)
#define NFS_HAS_ACL   (1u << 2)
#define NFS_HAS_UMASK (1u << 3) /* NFS_SET_UMASK may be used */
/* What it is like: names that differ in case alone are one name, or the server does not say. */
#define NFS_FOLDS_CASE (1u << 4)

struct nfs_client_info {
	struct rpc_client_info rpc;
	unsigned vers_major, vers_minor;
	uint32_t rsize, wsize; /* bytes, as used */
	uint32_t dtsize;       /* preferred readdir reply */
	uint64_t maxfilesize;
	uint32_t lease_s;
	uint32_t slots;		/* fore channel, as negotiated; 0: v3 */
	uint32_t features;	/* NFS_HAS_* */
	char server_owner[128]; /* printable */
};

/* Connects, establishes the session and walks to the export. Blocks (bounded by the time-outs in
 * p). Everything in p is copied but pool and upcalls. NULL with *e set: kinds RESOLVE, UNREACHABLE,
 * REFUSED, NOT_RDMA, VERSION, NO_EXPORT, MOVED, ACCESS, NO_DEVICE, PROTOCOL; the sentence names
 * server, step and remedy. */
struct nfs_client *nfs_client_new(const struct nfs_mount_params *p, struct err *e);
/* Root of the mount; valid as long as the client. */
void nfs_client_root(struct nfs_client *c, struct nfs_fh *fh, struct nfs_attr *attr);
void nfs_client_info(struct nfs_client *c, struct nfs_client_info *out);
void nfs_client_stats(struct nfs_client *c, struct rpc_client_stats *out);
/* Returns delegations, closes what is open, destroys session and client ID on the server (each
 * bounded by a short time-out if the server is silent), disconnects. Ops under way end with
 * -ENOTCONN. Not from done. Accepts NULL, returns NULL. */
struct nfs_client *nfs_client_free(struct nfs_client *c);

/* A delegation of fh with that number, which an OPEN has brought (open.deleg). Any thread; these do
 * not wait. */

/* Is it held, now? Then nobody else has changed the file since then. */
bool nfs_deleg_holds(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
/* The file is opened under it with flags (O_RDONLY, or any where it is one to write) for cred, of
 * whom the caller knows that he may, without asking the server. NFS_CLOSE ends it like any other.
 * NULL: it is not held any more, or no memory. */
struct nfs_open *nfs_deleg_open(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id,
	int flags, const struct rpc_cred *cred);
/* It is not wanted any more: it goes back to the server. */
void nfs_deleg_give_back(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
/* What the upcall `flush` asked for has been done. */
void nfs_deleg_flushed(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);

/* May the server have lost locks that were asked for through o, as far as is known without asking
 * it? What relies on them should wait for its answer then. Any thread; does not wait. */
bool nfs_locks_doubtful(struct nfs_client *c, const struct nfs_open *o);

/* Starts op. done is called exactly once whatever happens. Any thread. */
void nfs_submit(struct nfs_client *c, struct nfs_op *op);
/* Asks that op end soon with -EINTR (a signal to the caller). No effect on an op that is ending.
 * Open state and locks that the server may have granted in the meantime are given back; a CLOSE and
 * an unlock go on without their caller. */
void nfs_cancel(struct nfs_op *op);

#endif

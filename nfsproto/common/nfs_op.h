/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_op: one operation on the server, of any NFS version: its inputs and outputs.
 *
 * Every request to the server is a `struct nfs_op`. Fill in `type` and the matching member of `u`,
 * and nfs_submit() it (nfs_client.h). `done` is called exactly once, with no lock held, on a
 * progress thread or on the caller's thread before nfs_submit() returns. The back end retries
 * without the caller's knowledge where that is possible (NFS4ERR_DELAY, a lost session, a changed
 * connection).
 *
 * Ownership. The caller owns the op and all memory named by its inputs until done is called.
 * Outputs are in the op. NFS_OPEN makes open state (`struct nfs_open`), and NFS_CLOSE ends it.
 *
 * Errors. op->error is 0 or a negative errno as a system call would return it. -EREMOTEIO means
 * that the server broke the protocol (the log has the sentence).
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_OP_H
#define RNFS_NFSPROTO_COMMON_NFS_OP_H

#include <fcntl.h>
#include <stdatomic.h>

#include "nfsproto/wire/nfs_file.h"
#include "transport/rpc/rpc.h"

struct layout_io;
struct nfs4_conn;
struct nfs4_layout_held;
struct nfs4_server;
struct nfs4_lockreq;
struct nfs4_user;
struct nfs_client;
struct nfs_follower;
struct nfs_open;
struct nfs_places;

#define NFS_O_EXEC 0x20 /* open for execution, not for reading: the kernel's __FMODE_EXEC */

#define NFS_OPS(OP)                                                                                \
	OP(NFS_LOOKUP)                                                                             \
	OP(NFS_GETATTR)                                                                            \
	OP(NFS_SETATTR)                                                                            \
	OP(NFS_ACCESS)                                                                             \
	OP(NFS_READLINK)                                                                           \
	OP(NFS_OPEN)                                                                               \
	OP(NFS_CLOSE)                                                                              \
	OP(NFS_READ)                                                                               \
	OP(NFS_WRITE)                                                                              \
	OP(NFS_COMMIT)                                                                             \
	OP(NFS_CREATE) /* anything but a regular file: mkdir, symlink, mknod */                    \
	OP(NFS_REMOVE) /* unlink and rmdir */                                                      \
	OP(NFS_RENAME)                                                                             \
	OP(NFS_LINK)                                                                               \
	OP(NFS_READDIR)                                                                            \
	OP(NFS_STATFS)                                                                             \
	OP(NFS_LOCK)  /* set or clear a byte-range lock */                                         \
	OP(NFS_LOCKT) /* is there a lock in the way? */                                            \
	OP(NFS_SEEK)                                                                               \
	OP(NFS_ALLOCATE) /* and deallocate */                                                      \
	OP(NFS_COPY)	 /* and clone */                                                           \
	OP(NFS_GETXATTR)                                                                           \
	OP(NFS_SETXATTR)                                                                           \
	OP(NFS_LISTXATTR)                                                                          \
	OP(NFS_REMOVEXATTR)                                                                        \
	OP(NFS_GETACL)                                                                             \
	OP(NFS_SETACL)

#define NUMBER(op) op,
enum nfs_op_type { NFS_OPS(NUMBER) NFS_OP_TYPES };
#undef NUMBER

const char *nfs_op_name(enum nfs_op_type t);

/* Work behind a WRITE, in the same COMPOUND: sets attributes and asks for attributes. If the work
 * was not done, the caller does the work by itself; the WRITE has not failed. */
struct nfs_then {
	struct nfs_sattr set; /* mask 0: sets none; neither size nor owner */
	uint64_t asked;	      /* set by the caller: when, on clock_ns() */
	/* out */
	bool done; /* the work was done; attr is from after the work */
	struct nfs_attr attr;
};

/* The calls that were made for an op. */
struct nfs_op_calls {
	uint64_t first_ns; /* when the first was handed to a connection, on clock_ns(); 0: no call
			      was made */
	uint32_t n;
};

struct nfs_op {
	enum nfs_op_type type;
	struct rpc_cred cred; /* the calling user */
	void (*done)(struct nfs_op *op);
	void *ctx;
	int error;
	/* The number of the kernel's request that the op belongs to, if the op's changes are to be
	 * noted for a successor (nfs_former.h); 0: they are not. */
	uint64_t noted;
	uint64_t since_ns; /* when the caller began to want the op, on clock_ns(); 0: nfs_submit()
			      sets it */
	/* out */
	uint64_t ended_ns; /* when done was called */
	struct nfs_op_calls calls;

	union {
		struct {
			struct nfs_fh dir;
			struct nfs_name name;
			bool want_dir; /* NFSv3 always brings dir_attr; NFSv4 on request */
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
			char *buf; /* room for the target and a NUL, which is appended */
			uint32_t size;
			uint32_t len; /* out */
		} readlink;
		struct {
			/* by name in fh (create or not), or with name.len 0 the file fh itself */
			struct nfs_fh dir;
			struct nfs_name name;
			/* O_RDONLY|O_WRONLY|O_RDWR, O_CREAT, O_EXCL, O_TRUNC, NFS_O_EXEC. With
			 * O_CREAT the op truncates no file: O_TRUNC only asks for the permission.
			 * If attr shows a file with data, the caller truncates it, and knows which
			 * file that is. */
			int flags;
			/* By name, with O_TRUNC and without O_CREAT: the only file to truncate (len
			 * 0: any). Another file is opened untouched, and then fh alone is set. */
			struct nfs_fh only;
			struct nfs_sattr set; /* with O_CREAT */
			/* Extras over NFSv4, if the server likes: the caller's permissions (want:
			 * NFS_ACCESS_*, 0: not asked), and the first to.len bytes of the file, <=
			 * info.rsize. No bytes come if the file is only to be written, made or
			 * truncated. Each segment of `to` must lie in a block of the pool. A
			 * cancelled op ends at once, and the server may write there until the open
			 * has dropped its last reference. */
			uint32_t want;
			struct seg_list to;
			/* With O_CREAT | O_EXCL: if the server has left other values in the times
			 * (NFSv4), the caller sets them to now by SETATTR. */
			bool late_times;
			/* out */
			struct nfs_open *open;
			struct nfs_fh fh;
			struct nfs_attr attr;
			/* Over NFSv4: the number of the delegation at the time of the answer
			 * (nfs_deleg_holds()), or 0. write: is it a write delegation? */
			uint64_t deleg;
			bool deleg_writes;
			bool times_left;  /* the server has left other values in the times; attr has
					     the times of the change */
			bool have_access; /* allowed is set */
			uint32_t allowed;
			bool have_data; /* the data is set; attr is a little older than the data */
			uint32_t count;
			bool eof;
		} open;
		struct {
			struct nfs_open *open;	   /* gone afterwards, even after an error */
			bool patient;		   /* no program waits: rpc_call.patient */
			struct nfs_data_attr attr; /* out; not over NFSv3, which has no CLOSE */
		} close;
		struct {
			struct nfs_open *open; /* NULL: the anonymous stateid */
			struct nfs_fh fh;
			uint64_t offset;
			/* to.len bytes are wanted, <= info.rsize; segments of any length */
			struct seg_list to;
			bool want_attr; /* NFSv3 always brings attributes; NFSv4 on request, a
					   little older than the data */
			/* data may stay in another block if all data is in one block; see moved */
			bool moves;
			/* out */
			uint32_t count;
			bool eof;
			/* empty, or where the data is instead; nfs_read_let_go() */
			struct seg_list moved;
			struct nfs_data_attr attr;
		} read;
		/* With append the data goes to the end of the file, wherever that is by now. NFSv4:
		 * one COMPOUND verifies that the size is offset, and writes. If the size is another
		 * one, that one is tried next. NFSv3: GETATTR, then WRITE; bytes that another
		 * client appends in between are overwritten unless both lock. -EALREADY: the answer
		 * was lost with a session (NFSv4), or with a connection before the server put the
		 * call off or took a part (NFSv3), and the file may not end at offset any more. If
		 * the data was written, it stands at offset. But equal bytes there may be another
		 * client's, unless `ours`. */
		struct {
			struct nfs_open *open;
			struct nfs_fh fh;
			/* with append: in: the supposed end; out: the actual end */
			uint64_t offset;
			struct seg_list from; /* pool memory, from.len <= info.wsize */
			enum nfs_stable stable;
			bool append;
			/* NULL, and NULL with append. NFSv3 sets nothing, and brings the
			 * attributes. */
			struct nfs_then *then;
			/* out */
			uint32_t count; /* may be short: then.done was too early */
			enum nfs_stable committed;
			uint8_t verf[NFS_VERF_SIZE];
			struct nfs_data_attr attr; /* from after the WRITE */
			/* With -EALREADY: bytes at offset that equal the data are from this op.
			 * NFSv4: a lock or delegation has kept other clients from writing there
			 * ever since. NFSv3: a WRITE may put the bytes there again, whichever bytes
			 * there are. */
			bool ours;
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
			/* Permissions to ask for along with the op over NFSv4 (NFS_ACCESS_*, 0:
			 * none). */
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
			/* unlink over NFSv4, or NULL: remove the name only if it stands for this
			 * file, which is no directory; otherwise -ESTALE, also if the server cannot
			 * tell */
			const struct nfs_fh *only;
			/* over NFSv4, or 0: also give back that delegation of the file, which is
			 * not open here. nfs_submit() alone looks at deleg_fh. */
			uint64_t deleg;
			const struct nfs_fh *deleg_fh;
		} remove;
		struct {
			struct nfs_fh from_dir, to_dir;
			struct nfs_name from, to;
			/* over NFSv4, or NULL: rename only if `to` stands for this file, which is
			 * no directory; otherwise -ESTALE */
			const struct nfs_fh *only;
			/* the file under the name `from`, or NULL: unknown. The handle shows
			 * whether a rename was done if its answer was lost (nfs_unsure.h). */
			const struct nfs_fh *moved;
			uint64_t deleg; /* as in remove, for the replaced file */
			const struct nfs_fh *deleg_fh;
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
			uint32_t max_bytes;	     /* about the wanted size of the reply */
			bool plus;		     /* attributes and handles too */
			/* called for each entry, before done; false: stop, no more entries are
			 * wanted */
			bool (*entry)(struct nfs_op *op, const struct nfs_dirent *ent);
			bool want_dir; /* as in lookup */
			/* out */
			struct nfs_dir_attr dir_attr;
			bool eof; /* the server has no more entries (only if entry never said stop)
				   */
		} readdir;
		struct {
			struct nfs_fh fh;
			struct nfs_fsstat st; /* out */
		} statfs;
		/* Byte-range locks are advisory. Locks of one owner on one file never conflict. A
		 * new lock replaces the old ones that it overlaps, and splits them if needed. Locks
		 * last until they are cleared: the caller of CLOSE must clear them first. */
		struct {
			struct nfs_open *open;
			struct nfs_fh fh;
			uint64_t owner; /* the kernel's number of a lock owner */
			int type;	/* F_RDLCK, F_WRLCK, F_UNLCK */
			uint64_t start,
				end; /* both included; end UINT64_MAX: to the end of the file */
			bool wait; /* wait until the lock is granted or cancelled; otherwise -EAGAIN
				    */
			/* out: the server was not asked. For a lock: because the file has a write
			 * delegation: no other client has changed it meanwhile */
			bool local;
		} lock;
		struct {
			struct nfs_open *open;
			struct nfs_fh fh;
			uint64_t owner;
			/* in: the wanted lock; out: F_UNLCK, or the conflicting lock */
			int type;
			uint64_t start, end;
			bool here;	 /* out: the lock is held through this mount */
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
			int unsafe;   /* out: 0: on stable storage; otherwise the negative errno of
					 the COMMIT that came along: another COMMIT is needed */
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
		/* Names of extended attributes as in RFC 8276: without the leading "user.". */
		struct {
			struct nfs_fh fh;
			struct nfs_name name;
			void *buf;
			uint32_t size; /* 0: only len is wanted; otherwise -ERANGE if too small */
			uint32_t len;  /* out; -ENODATA: no such attribute */
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

	/* the front's */
	void (*users_done)(struct nfs_op *op); /* while `done` is the front's own */
	/* With -EREMOTE: the places of the file system, or NULL. Freed before users_done. */
	struct nfs_places *places;
	struct nfs_follower *follower; /* the wait for a submount; the lock of nfs_submounts */
	bool unwanted;		       /* a LOOKUP was cancelled; the same lock */
	/* the back end's */
	struct rpc_call call;
	struct nfs_client *client;
	void *slot;
	unsigned tries;
	uint64_t due_ns;
	union {
		struct {
			struct nfs4_server *srv;
			struct nfs4_conn *conn; /* of the next call, or of the last */
			struct nfs4_user *user; /* the mount; NULL: the server's own */
			struct nfs_open *open;	/* the open that made this op for itself, or NULL */
			struct nfs4_lockreq *lock;
			uint64_t *owner; /* of a new open-owner or lock-owner: its number; or NULL
					  */
			struct nfs4_deleg
				*deleg; /* the delegation that goes back with it, or NULL */
			uint32_t gen;	/* generation of the open state that was sent */
			uint16_t flags;
			uint8_t kind, cancelled;
			uint8_t strays; /* nfs4_task_may_stray() */
			bool asks_on;	/* the op has kept its slot; slots.lock */
			_Atomic uint8_t state;
			bool unsure;  /* an earlier call may have been executed */
			bool replays; /* sends a former daemon's call again: nfs4_replay.h */
			bool former;  /* a former daemon may have had the answer: likewise */
			uint8_t deleg_wanted; /* OPEN: the open_delegation_type4 asked for */
			int first_error;      /* error of the unsure op, during the look */
			uint32_t status;      /* of an NFS4_F_PRIV op: the nfsstat4 behind error */
			uint32_t walked;      /* likewise: operations that succeeded */
			uint64_t since_ns; /* since when the op makes no progress; 0: the op does */
			uint32_t from_gen; /* COPY: generation of the source's state */
			union {
				/* COPY: the stateid of an asynchronous one; LISTXATTR: cookie,
				 * number of pages; APPEND: how often the end was elsewhere,
				 * append_alone() */
				uint64_t more[2];
				struct layout_io *parts; /* at data servers: nfs4_layout_io.c */
				/* LAYOUTCOMMIT; uncommitted: none is to be sent. CLOSE: the layout
				 * goes back with it */
				struct {
					struct nfs4_layout_held *layout;
					bool uncommitted;
				};
			};
		} v4;
		struct {
			struct nfs_open *open; /* being made by an OPEN */
			uint64_t cookie;       /* where a READDIR goes on, or 0 */
			uint8_t kind, proc, state, flags, races;
			bool cancelled;
			bool left;		   /* cancelled, but the server may have the call */
			bool relies, pulled, held; /* I/O that relies on a lock */
			bool unsure;		   /* as in v4 */
			int first_error;
		} v3;
	} be;
	TAILQ_ENTRY(nfs_op) link;
};

/* Call before a call of op is handed to a connection. */
static inline void nfs_op_called(struct nfs_op *op, uint64_t now)
{
	if (!op->calls.n++)
		op->calls.first_ns = now;
}

/* The back end made the calls of op as calls of `own`, which begins anew. */
static inline void nfs_op_take_calls(struct nfs_op *op, struct nfs_op *own)
{
	op->calls = own->calls;
	own->calls = (struct nfs_op_calls){0};
}

/* Does op change the data of a file? The server may execute such an op late. Until its end is
 * known, it may undo later changes (nfs_cancel()). */
static inline bool nfs_op_changes_data(const struct nfs_op *op)
{
	switch (op->type) {
	case NFS_WRITE:
	case NFS_ALLOCATE:
	case NFS_COPY:
		return true;
	case NFS_SETATTR:
		return op->u.setattr.set.mask & NFS_SET_SIZE;
	case NFS_OPEN:
		return (op->u.open.flags & (O_TRUNC | O_CREAT)) == O_TRUNC;
	default:
		return false;
	}
}

/* Does op leave the file behind nfs_op_open() as it is? */
static inline bool nfs_op_reads(const struct nfs_op *op)
{
	return op->type == NFS_READ || op->type == NFS_SEEK;
}

/* The open that op acts through, or NULL. */
static inline struct nfs_open *nfs_op_open(const struct nfs_op *op)
{
	switch (op->type) {
	case NFS_READ:
		return op->u.read.open;
	case NFS_WRITE:
		return op->u.write.open;
	case NFS_SETATTR:
		return op->u.setattr.open;
	case NFS_LOCK:
		return op->u.lock.open;
	case NFS_SEEK:
		return op->u.seek.open;
	case NFS_ALLOCATE:
		return op->u.allocate.open;
	case NFS_COPY:
		return op->u.copy.to_open;
	default:
		return NULL;
	}
}

/* The second open, a copy's source, or NULL. */
static inline struct nfs_open *nfs_op_source(const struct nfs_op *op)
{
	return op->type == NFS_COPY ? op->u.copy.from_open : NULL;
}

#endif

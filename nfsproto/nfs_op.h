/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_op: one operation on the server, of no version: what goes in, and what comes out.
 *
 * Everything that asks the server is a `struct nfs_op`: fill in `type` and the matching member of
 * `u`, nfs_submit() it (nfs_client.h), and `done` is called exactly once, on a progress thread (or
 * on the caller's, before nfs_submit() returns), with no lock held. The back end retries by itself
 * what can be retried without the caller's knowledge (NFS4ERR_DELAY, a lost session, a changed
 * connection).
 *
 * Ownership. The caller owns the op and all memory named by its inputs until done is called.
 * Outputs live in the op. Open state (`struct nfs_open`) is made by NFS_OPEN, and NFS_CLOSE ends
 * it.
 *
 * Errors. op->error is 0 or a negative errno as a system call would return it; -EREMOTEIO stands
 * for "the server broke the protocol" (the log has the sentence).
 */
#ifndef RNFS_NFSPROTO_NFS_OP_H
#define RNFS_NFSPROTO_NFS_OP_H

#include <fcntl.h>
#include <stdatomic.h>

#include "nfsproto/nfs_file.h"
#include "transport/rpc/rpc.h"

struct nfs4_conn;
struct nfs4_lockreq;
struct nfs4_user;
struct nfs_client;
struct nfs_open;

#define NFS_O_EXEC 0x20 /* to be executed, not read: the kernel's __FMODE_EXEC */

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

/* What is to be done behind a WRITE, in the same COMPOUND: attributes are set, and asked for. If
 * that was not done the caller does it himself; it is no failure of the WRITE's. */
struct nfs_then {
	struct nfs_sattr set; /* mask 0: nothing is set; neither size nor owner */
	uint64_t asked;	      /* the caller's: when, on clock_ns() */
	/* out */
	bool done; /* it was, and attr is as after that */
	struct nfs_attr attr;
};

/* The calls that were made of an op. */
struct nfs_op_calls {
	uint64_t first_ns; /* when the first was handed to a connection, on clock_ns(); 0: none was
			    */
	uint32_t n;
};

struct nfs_op {
	enum nfs_op_type type;
	struct rpc_cred cred; /* the calling user */
	void (*done)(struct nfs_op *op);
	void *ctx;
	int error;
	uint64_t since_ns; /* since when the caller wants it, on clock_ns(); 0: nfs_submit() sets it
			    */
	/* out */
	uint64_t ended_ns; /* when done was called */
	struct nfs_op_calls calls;

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
			/* O_RDONLY|O_WRONLY|O_RDWR, O_CREAT, O_EXCL, O_TRUNC, NFS_O_EXEC. With
			 * O_CREAT nothing is truncated: O_TRUNC only asks for the right to, and
			 * whoever finds in attr that the file was there and has data truncates it,
			 * knowing which file that is. */
			int flags;
			/* By name, with O_TRUNC and without O_CREAT: truncated is only this file
			 * (len 0: whatever it is). Another one is opened as it is, and then fh
			 * alone is set. */
			struct nfs_fh only;
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
			bool patient;		   /* nobody waits for it: rpc_call.patient */
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
			/* data that comes in one other block may stay there, see moved */
			bool moves;
			/* out */
			uint32_t count;
			bool eof;
			/* empty, or where the data is instead; nfs_read_let_go() */
			struct seg_list moved;
			struct nfs_data_attr attr;
		} read;
		/* With append the data goes to the end of the file, wherever others have moved it.
		 * NFSv4: one COMPOUND asks for the size, verifies that it is offset and writes; if
		 * it is another, that is tried next. NFSv3: GETATTR, then WRITE; what others append
		 * in between is overwritten unless they lock. -EALREADY: the answer was lost with a
		 * session (NFSv4), or with a connection before the server put the call off (NFSv3),
		 * and the file may not end at offset any more. If the data was written it stands at
		 * offset; but equal bytes there may be another client's, unless `ours`. */
		struct {
			struct nfs_open *open;
			struct nfs_fh fh;
			/* with append: in: where the end is believed to be; out: where it was */
			uint64_t offset;
			struct seg_list from; /* pool memory, from.len <= info.wsize */
			enum nfs_stable stable;
			bool append;
			/* NULL, or not with append. NFSv3 sets nothing, and brings the attributes.
			 */
			struct nfs_then *then;
			/* out */
			uint32_t count; /* may be short: then was done, and done too early */
			enum nfs_stable committed;
			uint8_t verf[NFS_VERF_SIZE];
			struct nfs_data_attr attr; /* as after it */
			/* With -EALREADY: bytes at offset that equal the data are this op's. NFSv4:
			 * a lock or a delegation has kept other clients from writing there ever
			 * since. NFSv3: WRITE puts them there again, whichever bytes there are. */
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
			/* over NFSv4, or 0: the delegation of that file goes back with it; nobody
			 * has the file open here. nfs_submit() alone looks at deleg_fh. */
			uint64_t deleg;
			const struct nfs_fh *deleg_fh;
		} remove;
		struct {
			struct nfs_fh from_dir, to_dir;
			struct nfs_name from, to;
			/* over NFSv4, or NULL: only if to stands for this file, which is no
			 * directory; else -ESTALE */
			const struct nfs_fh *only;
			/* the file that `from` stands for, or NULL: not known. By this handle a
			 * rename is recognised whose answer was lost (nfs_unsure.h). */
			const struct nfs_fh *moved;
			uint64_t deleg; /* as in remove, of what is replaced */
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
			/* out: nobody was asked. A lock: since the file is delegated to write:
			 * nobody else has changed it meanwhile */
			bool local;
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

	void (*users_done)(struct nfs_op *op); /* nfs_client.c's: while done is its own */
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
			struct nfs4_deleg *deleg; /* that goes back with it, or NULL */
			uint32_t gen;		  /* of the open state that was sent */
			uint8_t kind, flags, cancelled;
			bool asks_on; /* it has kept its slot; slots.lock */
			_Atomic uint8_t state;
			bool unsure;	   /* an earlier call may have been carried out */
			int first_error;   /* of the unsure op, while it looks */
			uint32_t from_gen; /* COPY: gen of the source's */
			uint64_t more[2];  /* COPY: the stateid of an asynchronous one;
					      LISTXATTR: cookie, number of pages;
					      APPEND: how often the end was elsewhere,
					      append_alone() */
		} v4;
		struct {
			struct nfs_open *open; /* that an OPEN is making */
			uint64_t cookie;       /* where a READDIR goes on, or 0 */
			uint8_t kind, proc, state, flags, races;
			bool cancelled;
			bool left;		   /* cancelled, but the server may have it */
			bool relies, pulled, held; /* I/O that relies on a lock */
			bool unsure;		   /* as in v4 */
			int first_error;
		} v3;
	} be;
	TAILQ_ENTRY(nfs_op) link;
};

/* A call of op is about to be handed to a connection. */
static inline void nfs_op_called(struct nfs_op *op, uint64_t now)
{
	if (!op->calls.n++)
		op->calls.first_ns = now;
}

/* The back end made the calls of op as those of `own`, which begins anew. */
static inline void nfs_op_take_calls(struct nfs_op *op, struct nfs_op *own)
{
	op->calls = own->calls;
	own->calls = (struct nfs_op_calls){0};
}

/* Does op change the data of a file? The server may execute it late: until its end is known, it may
 * undo what came after it (nfs_cancel()). */
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

#endif

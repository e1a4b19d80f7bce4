/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_mount: one mount with NFSv4.1 or later: an export of a server (nfs4_server.h), with the
 * open files and locks of the mount. Only files of nfsproto/v4 include this header, and no file
 * about the server does.
 *
 *     nfs4_client.c        the life of a mount, its ops, and the upcalls from its server
 *     nfs4_export.c        the steps of mounting
 *     nfs4_ops*.c          arguments and results of each kind of op (the table of kinds)
 *     nfs4_open.c          open state
 *     nfs4_open_recover.c  recovery of open state after a loss
 *     nfs4_deleg*.c        delegations (nfs4_deleg.h)
 *     nfs4_lock*.c         byte-range locks
 *     nfs4_names.c         owners by name
 *
 * Locks. The mount's own lock guards the mount's lists, and is held only for a short time. The
 * state of the mount's ops is the server's business. Order: cb.lock, locks.lock, the mount's lock,
 * slots.lock, nfs_open.lock. READ, WRITE and all ops that look at a file take none of the mount's
 * locks. Where the file is locked, they take locks.lock.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_MOUNT_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_MOUNT_H

#include "nfsproto/v4/mount/nfs4_deleg.h"
#include "nfsproto/v4/mount/nfs4_lock.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/common/idmap.h"

/* All kinds (nfs4_ops.c). */
extern const struct nfs4_kind nfs4_kinds[NFS4_KINDS];

/* the coders, one pair per kind, in nfs4_ops.c, nfs4_ops_dir.c, nfs4_ops_open.c, nfs4_walk.c, ...
 */
#define NFS4_CODERS(x)                                                                             \
	void nfs4_put_##x(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k);          \
	enum nfs_outcome nfs4_get_##x(                                                             \
		struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
NFS4_CODERS(op_lookup);
NFS4_CODERS(op_getattr);
NFS4_CODERS(op_setattr);
NFS4_CODERS(op_access);
NFS4_CODERS(op_readlink);
NFS4_CODERS(op_open);
NFS4_CODERS(op_close);
NFS4_CODERS(op_read);
NFS4_CODERS(op_write);
NFS4_CODERS(op_append);
NFS4_CODERS(op_commit);
NFS4_CODERS(op_create);
NFS4_CODERS(op_remove);
NFS4_CODERS(op_rename);
NFS4_CODERS(op_link);
NFS4_CODERS(op_readdir);
NFS4_CODERS(op_statfs);
NFS4_CODERS(op_lookup_after);
NFS4_CODERS(op_look);
NFS4_CODERS(op_getattr_after);
NFS4_CODERS(op_open_setattr);
NFS4_CODERS(op_open_undo);
NFS4_CODERS(op_open_more);
NFS4_CODERS(op_lock);
NFS4_CODERS(op_locku);
NFS4_CODERS(op_lockt);
NFS4_CODERS(op_lock_free);
NFS4_CODERS(op_seek);
NFS4_CODERS(op_allocate);
NFS4_CODERS(op_clone);
NFS4_CODERS(op_copy);
NFS4_CODERS(op_offload_status);
NFS4_CODERS(op_offload_cancel);
NFS4_CODERS(op_read_plus);
NFS4_CODERS(op_getxattr);
NFS4_CODERS(op_setxattr);
NFS4_CODERS(op_listxattr);
NFS4_CODERS(op_removexattr);
NFS4_CODERS(op_getacl);
NFS4_CODERS(op_setacl);
NFS4_CODERS(op_delegreturn);
NFS4_CODERS(op_deleg_open);
NFS4_CODERS(op_deleg_lock);
NFS4_CODERS(op_redeleg);
NFS4_CODERS(op_walk);
NFS4_CODERS(op_locations);
NFS4_CODERS(op_fsinfo);
NFS4_CODERS(op_reopen);
NFS4_CODERS(op_relock);

/* CLAIM_FH, CLAIM_PREVIOUS or, with a delegation's stateid, CLAIM_DELEG_CUR_FH for o's owner. The
 * OPEN asks for o's access and `more`. get: takes the new stateid. (nfs4_ops_open.c) */
void nfs4_put_open_again(struct nfs4_client *c, struct nfs_open *o, struct nfs4_comp *k,
	uint32_t more, enum open_claim_type4 claim, const struct nfs4_stateid *deleg);
int nfs4_get_open_again(struct nfs4_client *c, const struct nfs_op *op, struct nfs_open *o,
	struct nfs4_reply *r, struct nfs4_stateid *id);

/* nfs4_ops_open.c: the attributes of an OPEN op have come. If the caller must set the times, the
 * times in op become those of the change: the server's values there are a verifier. */
void nfs4_open_times(struct nfs_op *op);

/* nfs4_ops.c: steps to the attributes after a change that has succeeded. A failure must not repeat
 * the change: op goes on as NFS4_K_GETATTR_AFTER. Returns as get. */
enum nfs_outcome nfs4_getattr_or_ask_again(
	struct nfs_op *op, struct nfs4_reply *r, struct nfs_attr *attr);

/* nfs4_ops.c: the attributes that come with a READ or READ_PLUS, if the caller wants any. get: 0;
 * otherwise *out is the outcome of op. */
void nfs4_put_read_attr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k);
int nfs4_get_read_attr(struct nfs_op *op, struct nfs4_reply *r, enum nfs_outcome *out);

/* --- NFSv4.2 (nfs4_ops_space.c, nfs4_ops_xattr.c) -------------------------------------------- */

#define NFS4_OFFLOADS 16u

/* The end of an asynchronous copy: CB_OFFLOAD came before any op waited for it. */
struct nfs4_offload {
	bool set;
	uint8_t other[NFS4_STATEID_OTHER];
	uint32_t status;
	struct nfs4_write_response response; /* NFS4_OK */
};

/* The kind that op begins as; -EOPNOTSUPP: the minor version or the server lacks a needed
 * feature. */
int nfs4_space_kind(struct nfs4_client *c, const struct nfs_op *op);
/* 0, or the error of an op about extended attributes or ACLs that need not be sent. */
int nfs4_xattr_check(const struct nfs4_client *c, const struct nfs_op *op);
/* The pause before an op that waits for CB_OFFLOAD asks the server. */
unsigned nfs4_offload_ms(struct nfs_op *op);
/* CB_OFFLOAD has come. No lock held but cb.lock. */
void nfs4_offload_called(struct nfs4_client *c, const struct nfs4_cb_offload_args *a);
/* Tells the server that op's asynchronous copy is no longer wanted. No lock held. */
void nfs4_offload_abandon(struct nfs4_client *c, const struct nfs_op *op);

/* --- blocking calls -------------------------------------------------------------------------- */

/* nfs4_sync_run_as() for the mount, about o, with the credential of o's opener. The open state
 * belongs to the opener, also after recovery; the mount's own user may not even be allowed to look
 * at the file. o NULL: with the mount's own credential. */
int nfs4_mount_run(struct nfs4_client *c, struct nfs_open *o, struct nfs4_sync *s, unsigned kind,
	unsigned timeout_ms);
/* nfs4_task_bind() for one of the mount's ops, on the next connection in turn. */
void nfs4_mount_bind(struct nfs4_client *c, struct nfs_op *op, unsigned kind);

/* The COMPOUND ends here unless the current object is that of fh. */
void nfs4_put_is_file(struct nfs4_comp *k, const struct nfs_fh *fh);
/* The beginning of NFS4_K_WALK and NFS4_K_LOCATIONS: to u.walk.path. */
void nfs4_put_walk_path(struct nfs_op *op, struct nfs4_comp *k);
int nfs4_get_walk_path(struct nfs_op *op, struct nfs4_reply *r);

/* --- mounting ------------------------------------------------------------------------------ */

/* nfs4_client.c: mounts p->export of srv. srv has been started, and may have other mounts. The
 * client has a reference of its own. NULL with *e set, as nfs_client_new(). Blocks. */
struct nfs_client *nfs4_mount_on(
	struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* nfs4_export.c: the walk to the export, and its limits. 0, or -1 with *e set. */
int nfs4_mount_walk(struct nfs4_client *c, const struct nfs_mount_params *p, struct err *e);

/* --- objects that have moved (nfs4_locations.c) -------------------------------------------- */

/* op, which is not under way, was answered NFS4ERR_MOVED. True: start op again; op now asks for the
 * new place, and then ends with -EREMOTE. False: the function has written to the log. */
bool nfs4_moved_ask(struct nfs4_client *c, struct nfs_op *op);

/* --- owners by name (nfs4_names.c) --------------------------------------------------------- */

/* Makes c->idmap by p's settings. 0 or -ENOMEM. */
int nfs4_names_init(struct nfs4_client *c, const struct nfs_mount_params *p);
/* For the coders of c's attributes. not_yet: an owner was decoded as nobody because the owner's
 * name is not known yet. */
struct nfs4_owners nfs4_names_owners(struct nfs4_client *c);
/* op, which is not under way, has succeeded except for such names. True: it must wait and then get
 * the attributes again. */
bool nfs4_names_wait(struct nfs_op *op);
/* op, which is about to start, may be a SETATTR that needs the names of owners. True: op must wait
 * for the names. */
bool nfs4_names_wanted(struct nfs4_client *c, struct nfs_op *op);
/* Starts op in time, after one of these functions has told that op waits. */
void nfs4_names_later(struct nfs4_client *c, struct nfs_op *op);
/* op was answered NFS4ERR_BADOWNER. True: op goes on, with names. False: the function has written
 * to the log. */
bool nfs4_names_refused(struct nfs4_client *c, struct nfs_op *op);

/* --- open state (nfs4_open.c) -------------------------------------------------------------- */

struct nfs_open {
	TAILQ_ENTRY(nfs_open) link; /* in c->opens, or its delegation's; c->lock */
	bool linked;		    /* c->lock: in c->opens */
	struct nfs4_deleg *local; /* c->lock: the delegation of a local open; NULL: no local open */
	bool close_wanted;	  /* c->lock: NFS_CLOSE has begun */
	bool close_put_off;	  /* c->lock: the close begins when the claim has ended
				     (nfs4_deleg_return.c) */
	struct nfs_op *user;	  /* c->lock: the NFS_OPEN or NFS_CLOSE to answer; NULL: none */
	atomic_uint refs;     /* one by the user until CLOSE has ended, one for each op under way */
	uint64_t owner;	      /* constant: our open-owner's number */
	uint32_t access;      /* constant: OPEN4_SHARE_ACCESS_*, as requested */
	atomic_uint nlockctx; /* changes under locks.lock: lock contexts bound to the open */
	bool close_deferred;  /* locks.lock: until no such context holds a lock */
	struct nfs_fh fh;     /* constant after OPEN */
	uint64_t asked_ns;    /* constant: when OPEN began */
	/* the delegation that OPEN asked for */
	enum open_delegation_type4 deleg_wanted;
	bool answered;	   /* OPEN has ended, the first time */
	uint64_t close_ns; /* when the last CLOSE began */
	bool patient;	   /* no user waits for CLOSE */
	/* c->lock. gone: OPEN was cancelled, and no truncation is sent any more. truncating: the
	 * server may have a call that truncates the file; a cancelled OPEN is answered when that
	 * call has ended */
	bool gone, truncating;
	/* until OPEN has ended: the place for the first data, with references on its blocks, and
	 * the copy of its array, or NULL */
	struct seg_list to;
	struct seg *to_seg;
	pthread_mutex_t lock; /* of the following */
	struct nfs4_stateid stateid;
	uint32_t gen; /* counts changes of stateid */
	/* access granted by the server, with more for locks; a local open: none */
	uint32_t wire_access;
	bool suspect;	   /* the server has disowned stateid: the state manager opens anew */
	bool lost;	   /* opening anew failed: operations fail with -EIO */
	struct nfs_op own; /* its cred, the opener's, is constant and goes with all calls about o */
	char name[NFS_NAME_MAX];
};

struct nfs_open *nfs4_open_ref(struct nfs_open *o);
void nfs4_open_unref(struct nfs_open *o);
/* Makes an open with an open-owner of its own. NULL: no memory. */
struct nfs_open *nfs4_open_new(struct nfs4_client *c, uint32_t access, const struct rpc_cred *cred);
/* The access for an open with these flags (O_RDONLY, O_TRUNC...): OPEN4_SHARE_ACCESS_*. */
uint32_t nfs4_share_access(int flags);
/* The server has opened o (again), with this additional access. */
void nfs4_open_got(struct nfs_open *o, const struct nfs4_stateid *id, uint32_t more);
/* NFS_OPEN and NFS_CLOSE of a user. */
void nfs4_open_submit(struct nfs4_client *c, struct nfs_op *op);
void nfs4_close_submit(struct nfs4_client *c, struct nfs_op *op);
/* OPEN, or SETATTR after OPEN, is about to be encoded so that it truncates the file of o. False:
 * the call must not truncate any more. */
bool nfs4_open_truncates(struct nfs4_client *c, struct nfs_open *o);
/* The server has answered such a call. */
void nfs4_open_answered(struct nfs4_client *c, struct nfs_open *o);
/* NFS_OPEN or NFS_CLOSE of a user is cancelled. */
void nfs4_open_cancel(struct nfs4_client *c, struct nfs_op *op);
/* Sends a CLOSE of o without a waiting user. */
void nfs4_close_start(struct nfs4_client *c, struct nfs_open *o);
/* No lock defers o's CLOSE any more. */
void nfs4_close_deferred(struct nfs4_client *c, struct nfs_open *o);
/* Own ops, of opens and of locks, are counted. The count goes up before the op starts and down
 * after its last access to any memory. */
void nfs4_own_begins(struct nfs4_client *c);
void nfs4_own_ended(struct nfs4_client *c);
/* At unmount, when no own op is under way: begins to close all open files. Returns their number. */
unsigned nfs4_close_all(struct nfs4_client *c);
/* The stateid to send in op now; the anonymous one without o. */
struct nfs4_stateid nfs4_open_stateid(struct nfs_op *op, struct nfs_open *o);
/* The open that an op acts through, or NULL. */
struct nfs_open *nfs4_op_open(const struct nfs_op *op);
/* The second open, a copy's source, or NULL. */
struct nfs_open *nfs4_op_source(const struct nfs_op *op);
/* op failed with a status about its stateid. NFS_RECOVER: try again after ms; NFS_FAILED. */
enum nfs_outcome nfs4_open_disowned(
	struct nfs4_client *c, struct nfs_op *op, uint32_t status, unsigned *ms);
/* nfs4_open_recover.c: the upcalls of the same names, with the locks. */
void nfs4_open_reclaim(struct nfs4_client *c);
bool nfs4_open_revoked(struct nfs4_client *c);
bool nfs4_open_check(struct nfs4_client *c);
/* A reclaim was answered with status. True: the server puts reclaims off, and the pause is over:
 * send the reclaim again. */
bool nfs4_reclaim_put_off(struct nfs4_client *c, uint32_t status);

/* --- the whole ----------------------------------------------------------------------------- */

struct nfs4_client {
	struct nfs_client base; /* first */
	struct nfs4_user user;	/* the mount as the server's user */
	/* constant after mount */
	struct nfs4_server *srv;
	struct rpc_cred cred; /* of the mount itself */
	unsigned connect_ms;
	struct idmap *idmap; /* NULL: numbers only */
	enum nfs_idmap idmap_mode;
	atomic_bool send_names;	      /* instead of numbers */
	struct nfs4_bitmap supported; /* in the root's file system; other file systems may differ */
	struct nfs4_bitmap
		stat_want; /* nfs4_bits_stat(): without the bits that a file system lacks */
	struct nfs4_bitmap data_want; /* nfs4_bits_data(), and CHANGE_ATTR_TYPE if the server's
					 change attribute counts changes */
	struct nfs4_bitmap exclcreat; /* attributes that may go with an exclusive create */
	bool read_plus;		      /* use READ_PLUS if the server has it */
	uint32_t clone_blksize;	      /* a power of two, or 0: try any alignment */

	uint64_t reclaim_until_ns; /* the state manager's: time limit for repeating delayed reclaims
				    */

	pthread_mutex_t lock; /* of the following */
	TAILQ_HEAD(, nfs_open) opens;
	unsigned nown;	     /* own ops under way */
	pthread_cond_t idle; /* nown has become 0 */
	struct nfs4_delegs delegs;
	struct nfs4_offload offload[NFS4_OFFLOADS];
	unsigned next_offload;
	char moved[NFS4_WHERE_MAX]; /* the last place told for a moved file system */
	uint64_t moved_ns;	    /* when; 0: never */

	struct nfs4_locks locks;
};

static inline struct nfs4_client *nfs4_client(struct nfs_client *c)
{
	return (struct nfs4_client *)c;
}

static inline struct nfs4_client *nfs4_client_of(struct nfs4_user *u)
{
	return container_of(u, struct nfs4_client, user);
}

/* A mount's upcalls for its server. */
extern const struct nfs4_upcalls nfs4_client_upcalls;

#endif

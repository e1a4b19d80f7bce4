/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_client: one NFSv4.1 mount, as the files of the NFSv4 back end share it. Nothing outside
 * nfs4_*.c includes this.
 *
 *     nfs4_client.c   the life of a mount
 *     nfs4_mount.c    its steps up to the limits of the export
 *     nfs4_task.c     the life of one op: slot, send, reply, retry
 *     nfs4_ops*.c     what each kind of op says and hears (the table of kinds)
 *     nfs4_open.c     open state
 *     nfs4_lock*.c    byte-range locks
 *     nfs4_names.c    owners by name
 *     nfs4_sync.c     calls that a thread waits for: client ID, session, root
 *     nfs4_state.c    the state manager's thread: lease, time, work
 *     nfs4_recover.c  what it does when something was lost
 *     nfs4_cb.c       the callback service
 *
 * Locks. slots.lock is the short lock: slot table, queues, state of every op, the work list of the
 * state manager, the list of opens. It is held for some tens of instructions, never across a call
 * to the server. Order: cb.lock, locks.lock, slots.lock, nfs_open.lock. The transport's locks may
 * be taken inside slots.lock (rpc_call_cancel), never the other way round: callbacks arrive without
 * any lock.
 */
#ifndef RNFS_NFSPROTO_NFS4_CLIENT_H
#define RNFS_NFSPROTO_NFS4_CLIENT_H

#include <stdatomic.h>

#include "nfsproto/idmap.h"
#include "nfsproto/nfs4_cb.h"
#include "nfsproto/nfs4_compound.h"
#include "nfsproto/nfs4_lock.h"
#include "nfsproto/nfs4_slots.h"
#include "nfsproto/nfs_backend.h"

#define NFS4_WHERE_MAX 300 /* of other servers named in a sentence */

#define NFS4_MSEC 1000000ull
#define NFS4_SEC  1000000000ull

struct nfs4_client;

/* --- kinds of op (nfs4_ops.c) -------------------------------------------------------------- */

enum nfs4_kind_id {			    /* those of nfs_client.h first, by the same numbers */
	NFS4_K_LOOKUP_AFTER = NFS_OP_TYPES, /* what a CREATE made, when its own reply did not say */
	NFS4_K_GETATTR_AFTER,		    /* the attributes after SETATTR, OPEN, LINK, likewise */
	NFS4_K_OPEN_SETATTR,		    /* attributes that an exclusive OPEN could not set */
	NFS4_K_OPEN_UNDO,		    /* CLOSE after an OPEN of which a later step failed */
	NFS4_K_OPEN_MORE,		    /* OPEN again with the access that a lock needs */
	NFS4_K_LOCKU,			    /* NFS_LOCK that unlocks */
	NFS4_K_LOCK_FREE,		    /* FREE_STATEID of a lock-owner that holds nothing */
	NFS4_K_CLONE,			    /* an NFS_COPY that is tried so first */
	NFS4_K_OFFLOAD_STATUS,		    /* an NFS_COPY that the server carries out by itself */
	NFS4_K_OFFLOAD_CANCEL,		    /* after one that is not wanted any more */
	NFS4_K_READ_PLUS,		    /* an NFS_READ */
	/* from here on: the back end's own, see struct nfs4_sync */
	NFS4_K_SEQUENCE,
	NFS4_K_DELEGRETURN,
	NFS4_K_EXCHANGE_ID,
	NFS4_K_CREATE_SESSION,
	NFS4_K_BIND,
	NFS4_K_DESTROY_SESSION,
	NFS4_K_DESTROY_CLIENTID,
	NFS4_K_RECLAIM_COMPLETE,
	NFS4_K_WALK,
	NFS4_K_LOCATIONS, /* also what an op becomes that was answered NFS4ERR_MOVED */
	NFS4_K_FSINFO,
	NFS4_K_REOPEN,
	NFS4_K_RELOCK,
	NFS4_K_TEST_STATEID,
	NFS4_K_FREE_STATEID,
	NFS4_KINDS
};

#define NFS4_KF_CACHE 1u /* sa_cachethis: a second execution would not be the same */
#define NFS4_KF_NOSEQ 2u /* goes without SEQUENCE and slot */

/* get's return values besides those of nfs4_compound.h: go on as another kind (be.v4.kind is set).
 */
#define NFS4_AGAIN 0x7fff0001
#define NFS4_LATER 0x7fff0002 /* the same after nfs4_offload_ms() */

struct nfs4_kind {
	const char *name;
	unsigned flags; /* NFS4_KF_* */
	/* Puts the operations after SEQUENCE. */
	void (*put)(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k);
	/* Walks their results: 0, an nfsstat4, a negative errno, NFS4_AGAIN. */
	int (*get)(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r);
};

extern const struct nfs4_kind nfs4_kinds[NFS4_KINDS];

/* the coders, one pair per kind, in nfs4_ops.c, nfs4_ops_dir.c, nfs4_ops_open.c, nfs4_sync.c */
#define NFS4_CODERS(x)                                                                             \
	void nfs4_put_##x(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k);          \
	int nfs4_get_##x(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
NFS4_CODERS(op_lookup);
NFS4_CODERS(op_getattr);
NFS4_CODERS(op_setattr);
NFS4_CODERS(op_access);
NFS4_CODERS(op_readlink);
NFS4_CODERS(op_open);
NFS4_CODERS(op_close);
NFS4_CODERS(op_read);
NFS4_CODERS(op_write);
NFS4_CODERS(op_commit);
NFS4_CODERS(op_create);
NFS4_CODERS(op_remove);
NFS4_CODERS(op_rename);
NFS4_CODERS(op_link);
NFS4_CODERS(op_readdir);
NFS4_CODERS(op_statfs);
NFS4_CODERS(op_lookup_after);
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
NFS4_CODERS(op_sequence);
NFS4_CODERS(op_delegreturn);
NFS4_CODERS(op_exchange_id);
NFS4_CODERS(op_create_session);
NFS4_CODERS(op_bind);
NFS4_CODERS(op_destroy_session);
NFS4_CODERS(op_destroy_clientid);
NFS4_CODERS(op_reclaim_complete);
NFS4_CODERS(op_walk);
NFS4_CODERS(op_locations);
NFS4_CODERS(op_fsinfo);
NFS4_CODERS(op_reopen);
NFS4_CODERS(op_relock);
NFS4_CODERS(op_test_stateid);
NFS4_CODERS(op_free_stateid);

/* CLAIM_FH, or with reclaim CLAIM_PREVIOUS, for o's owner, with more access than it has; the new
 * stateid. (nfs4_ops_open.c) */
void nfs4_put_open_again(struct nfs4_client *c, struct nfs_open *o, struct nfs4_comp *k,
	uint32_t more, bool reclaim);
int nfs4_get_open_again(struct nfs4_client *c, const struct nfs_op *op, struct nfs_open *o,
	struct nfs4_reply *r, struct nfs4_stateid *id);

/* nfs4_ops.c: steps to the attributes after a change that has succeeded. A failure must not repeat
 * the change: op goes on as NFS4_K_GETATTR_AFTER. Returns as get. */
int nfs4_getattr_or_ask_again(struct nfs_op *op, struct nfs4_reply *r, struct nfs_attr *attr);

/* --- NFSv4.2 (nfs4_ops_space.c, nfs4_ops_xattr.c) -------------------------------------------- */

#define NFS4_OFFLOADS 16u

/* The end of an asynchronous copy that came with CB_OFFLOAD before anybody waited for it. */
struct nfs4_offload {
	bool set;
	uint8_t other[NFS4_STATEID_OTHER];
	uint32_t status;
	struct nfs4_write_response response; /* NFS4_OK */
};

/* The kind that op begins as; -EOPNOTSUPP: the minor version or the server lacks what it needs. */
int nfs4_space_kind(struct nfs4_client *c, const struct nfs_op *op);
/* 0, or why an op about extended attributes or ACLs need not be sent. */
int nfs4_xattr_check(const struct nfs4_client *c, const struct nfs_op *op);
/* How long an op that waits for CB_OFFLOAD sleeps before it asks. */
unsigned nfs4_offload_ms(struct nfs_op *op);
/* CB_OFFLOAD has come. No lock held but cb.lock. */
void nfs4_offload_called(struct nfs4_client *c, const struct nfs4_cb_offload_args *a);
/* Tells the server that nobody waits for op's asynchronous copy any more. No lock held. */
void nfs4_offload_abandon(struct nfs4_client *c, const struct nfs_op *op);

/* --- one op (nfs4_task.c) ------------------------------------------------------------------ */

enum nfs4_task_state { /* nfs_op.be.v4.state, under slots.lock but for one step, see nfs4_task.c */
	NFS4_T_NEW,
	NFS4_T_QUEUED,	/* in slots.waiting: for a slot or the gate */
	NFS4_T_DELAYED, /* in c->delayed: until due_ns */
	NFS4_T_SENDING, /* has what it needs; its call is being made */
	NFS4_T_ABORTED, /* cancelled while it was SENDING */
	NFS4_T_SENT,	/* there is a call, which the transport has or is about to get */
	NFS4_T_ENDING,	/* its reply is being looked at; perhaps it starts again */
};

/* nfs_op.be.v4.flags: written by the thread that starts the op or looks at its reply;
 * be.v4.cancelled is under slots.lock */
#define NFS4_F_PRIV	 1u  /* passes the gate, never queues or retries: a nfs4_sync */
#define NFS4_F_OWN	 2u  /* a nfs_open's own op */
#define NFS4_F_SLOT_SET	 4u  /* comes with its slot: finding out about a doubtful one */
#define NFS4_F_SLOT_KEPT 8u  /* has kept its slot and sequence id: SEQUENCE was answered DELAY */
#define NFS4_F_LAST	 16u /* at unmount: goes although the client stops, is never retried */
#define NFS4_F_UNCACHED	 32u /* the reply is too large for the server's cache */
#define NFS4_F_NAMING	 64u /* waits for the name service */

/* Starts (or starts again) an op whose kind is set. Any thread, no lock held. */
void nfs4_task_start(struct nfs4_client *c, struct nfs_op *op);
/* Ends it: done is called. No lock held. */
void nfs4_task_end(struct nfs4_client *c, struct nfs_op *op, int error);
/* op, which is not under way, may have a slot whose request the server may have counted: it goes
 * back as DOUBTFUL. slots.lock held. */
void nfs4_task_give_up_slot_locked(struct nfs4_client *c, struct nfs_op *op);
/* Asks it to end early; slots.lock held. Its done is called later and from another thread. */
void nfs4_task_cancel_locked(struct nfs4_client *c, struct nfs_op *op);
/* Starts what can be started now that the gate is open. No lock held. */
void nfs4_task_kick(struct nfs4_client *c);
uint64_t nfs4_now_ns(void);

/* --- calls that are waited for (nfs4_sync.c) ----------------------------------------------- */

struct nfs4_sync {
	struct nfs_op op;
	pthread_mutex_t lock; /* of ended */
	pthread_cond_t cond;
	bool ended;
	/* how it ended: status is the nfsstat4 if op.error comes from one */
	uint32_t status;
	uint32_t walked; /* operations that succeeded before it */
	/* in and out, by kind */
	union {
		struct {
			uint64_t clientid;
			uint32_t sequence, flags;
		} exchange_id;
		struct {
			const char *path;  /* names separated by one '/', no leading one */
			uint32_t from_len; /* 0: from the root of the server, else fh */
			struct nfs_fh fh;  /* in and out */
			struct nfs_attr attr;
			char where[NFS4_WHERE_MAX]; /* NFS4_K_LOCATIONS: out */
		} walk;
		struct nfs4_attrs fsinfo; /* mask, in: what to ask for; out: what came */
		struct {
			struct nfs_open *open;
			bool reclaim; /* CLAIM_PREVIOUS, else CLAIM_FH */
			struct nfs4_stateid stateid;
		} reopen;
		struct {
			struct nfs4_lockctx *ctx;
			struct lock_range range;
			bool reclaim;
		} relock;
		struct {
			struct nfs4_stateid ids[32];
			uint32_t n;
			uint32_t code[32];
		} test;
		struct nfs4_stateid free_id;
		struct nfs_open *close;
	} u;
};

/* Runs one op of the given kind and waits for it at most timeout_ms. Not on a progress thread.
 * Returns op.error: 0, -EAGAIN (no slot), -ETIMEDOUT (silence), -EINTR (the client stops), ... */
int nfs4_sync_run(struct nfs4_client *c, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms);

/* The beginning of NFS4_K_WALK and NFS4_K_LOCATIONS: to u.walk.path. */
void nfs4_put_walk_path(struct nfs_op *op, struct nfs4_comp *k);
int nfs4_get_walk_path(struct nfs_op *op, struct nfs4_reply *r);

/* Client ID and session; both set c's members and return as nfs4_sync_run(), s->status set. */
int nfs4_sync_exchange_id(struct nfs4_client *c, struct nfs4_sync *s, unsigned timeout_ms);
int nfs4_sync_create_session(struct nfs4_client *c, struct nfs4_sync *s, unsigned timeout_ms);

/* --- mounting (nfs4_mount.c) --------------------------------------------------------------- */

/* Everything from EXCHANGE_ID to the limits of the export, and the start of the state manager. 0,
 * or -1 with *e set. Blocks. */
int nfs4_establish(struct nfs4_client *c, const struct nfs_mount_params *p, struct err *e);

/* --- what is elsewhere (nfs4_locations.c) -------------------------------------------------- */

/* op, which is not under way, was answered NFS4ERR_MOVED. True: it is to be started again, now as
 * the question where that is; it then ends with -EREMOTE. False: the log has been told. */
bool nfs4_moved_ask(struct nfs4_client *c, struct nfs_op *op);

/* --- owners by name (nfs4_names.c) --------------------------------------------------------- */

/* Makes c->idmap as p wants it. 0 or -ENOMEM. */
int nfs4_names_init(struct nfs4_client *c, const struct nfs_mount_params *p);
/* Around what encodes and decodes attributes, on the same thread. leave: was there a name that is
 * not known yet, so that an owner reads nobody? */
void nfs4_names_enter(struct nfs4_client *c);
bool nfs4_names_leave(void);
/* In between: the same about what was decoded since the last call; it is forgotten. */
bool nfs4_names_pending(void);
/* op, which is not under way, has succeeded but for such names: true if it goes on, with a wait and
 * another look at the attributes. */
bool nfs4_names_wait(struct nfs4_client *c, struct nfs_op *op);
/* Starts op, which may be a SETATTR with owners whose names must be known first. */
void nfs4_names_start(struct nfs4_client *c, struct nfs_op *op);
/* op was answered NFS4ERR_BADOWNER. True: it goes on, with names. False: the log has been told. */
bool nfs4_names_refused(struct nfs4_client *c, struct nfs_op *op);

/* --- open state (nfs4_open.c) -------------------------------------------------------------- */

struct nfs_open {
	TAILQ_ENTRY(nfs_open) link; /* in c->opens, slots.lock */
	bool linked;		    /* slots.lock */
	bool close_wanted;	    /* slots.lock: NFS_CLOSE has begun */
	struct nfs_op *user;	/* slots.lock: the NFS_OPEN or NFS_CLOSE to answer; NULL: none */
	atomic_uint refs;	/* one by the user until CLOSE has ended, one per op under way */
	uint64_t owner;		/* constant: our open-owner's number */
	uint32_t access;	/* constant: OPEN4_SHARE_ACCESS_* that was asked for */
	unsigned nlockctx;	/* locks.lock: lock contexts bound to it */
	bool close_deferred;	/* locks.lock: until they hold nothing */
	atomic_uint locks_lost; /* lock contexts that have lost a lock: no I/O */
	struct nfs_fh fh;	/* constant after OPEN */
	pthread_mutex_t lock;	/* of the following */
	struct nfs4_stateid stateid;
	uint32_t gen;	      /* counts changes of stateid */
	uint32_t wire_access; /* what the server has given it: access, and more for locks */
	bool suspect;	      /* the server has disowned stateid: the state manager opens anew */
	bool lost;	      /* it could not: operations fail with -EIO */
	struct nfs_op
		own; /* its cred, the opener's, is constant and goes with all that is about o */
	char name[NFS_NAME_MAX];
};

struct nfs_open *nfs4_open_ref(struct nfs_open *o);
void nfs4_open_unref(struct nfs_open *o);
/* NFS_OPEN and NFS_CLOSE of a user. */
void nfs4_open_submit(struct nfs4_client *c, struct nfs_op *op);
void nfs4_close_submit(struct nfs4_client *c, struct nfs_op *op);
/* The locks are gone that o's CLOSE was waiting for. */
void nfs4_close_deferred(struct nfs4_client *c, struct nfs_open *o);
/* Own ops, of opens and of locks, are counted from before they start until they have taken their
 * last look at anything. */
void nfs4_own_begins(struct nfs4_client *c);
void nfs4_own_ended(struct nfs4_client *c);
/* At unmount, when no own op is under way: begins to close all that is open. Returns how many. */
unsigned nfs4_close_all(struct nfs4_client *c);
/* The stateid to send in op now; the anonymous one without o. */
struct nfs4_stateid nfs4_open_stateid(struct nfs_op *op, struct nfs_open *o);
/* The open that an op acts through, or NULL. */
struct nfs_open *nfs4_op_open(const struct nfs_op *op);
/* The second one, a copy's source, or NULL. */
struct nfs_open *nfs4_op_source(const struct nfs_op *op);
/* op failed with a status about its stateid. 0: try again after ms; or the errno to end with. */
int nfs4_open_disowned(struct nfs4_client *c, struct nfs_op *op, uint32_t status, unsigned *ms);

/* A delegation that we did not ask for, on its way back. */
struct nfs4_deleg {
	TAILQ_ENTRY(nfs4_deleg) link; /* in c->delegs, slots.lock */
	struct nfs_fh fh;
	struct nfs4_stateid stateid;
	struct nfs_op op;
};
void nfs4_deleg_return(struct nfs4_client *c, const struct nfs_op *from, const struct nfs_fh *fh,
	const struct nfs4_stateid *stateid);
/* For CB_RECALL: do we hold it? */
bool nfs4_deleg_held(
	struct nfs4_client *c, const struct nfs_fh *fh, const struct nfs4_stateid *stateid);

/* --- the state manager (nfs4_state.c) ------------------------------------------------------ */

enum nfs4_state {
	NFS4_S_NEW,	  /* mounting; no thread yet */
	NFS4_S_RUNNING,	  /* gate open */
	NFS4_S_DRAINING,  /* gate closed, requests under way on the dead session are coming home */
	NFS4_S_CLIENT_ID, /* EXCHANGE_ID */
	NFS4_S_SESSION,	  /* CREATE_SESSION */
	NFS4_S_RECLAIM,	  /* opens, RECLAIM_COMPLETE */
	NFS4_S_STOPPED,
};
const char *nfs4_state_name(enum nfs4_state s);

/* what the state manager is to do: c->todo, slots.lock */
#define NFS4_TODO_BIND	  0x01u /* BIND_CONN_TO_SESSION */
#define NFS4_TODO_SESSION 0x02u /* the session is gone: a new one */
#define NFS4_TODO_CLIENT  0x04u /* the client ID too */
#define NFS4_TODO_DESTROY 0x08u /* with SESSION: the old one may still be there and must go */
#define NFS4_TODO_PROBE	  0x10u /* doubtful slots */
#define NFS4_TODO_CHECK	  0x20u /* opens marked suspect */
#define NFS4_TODO_REVOKED 0x40u /* the server revoked state: find out which */

#define NFS4_TODO_GATE (NFS4_TODO_SESSION | NFS4_TODO_CLIENT) /* what closes the gate */

int nfs4_state_start(struct nfs4_client *c); /* 0 or -errno */
void nfs4_state_stop(struct nfs4_client *c);
/* Adds work; the gate is closed for what needs it. slots.lock held. */
void nfs4_state_want_locked(struct nfs4_client *c, uint32_t todo);
void nfs4_state_want(struct nfs4_client *c, uint32_t todo);
/* A SEQUENCE's sr_status_flags, when not 0. */
void nfs4_state_flags(struct nfs4_client *c, uint32_t flags);
/* Starts op again after ms. No lock held. */
void nfs4_state_delay(struct nfs4_client *c, struct nfs_op *op, unsigned ms);
/* Ends what nfs4_state_end_later_locked() has listed. No lock held. */
void nfs4_state_pump(struct nfs4_client *c);
/* Has the thread end op with error. slots.lock held; op is in no queue. */
void nfs4_state_end_later_locked(struct nfs4_client *c, struct nfs_op *op, int error);

/* For the state manager's thread itself. pause returns false when it is to stop. */
void nfs4_state_set(struct nfs4_client *c, enum nfs4_state s);
bool nfs4_state_pause(struct nfs4_client *c, uint64_t ns);
bool nfs4_state_stopping(struct nfs4_client *c);
void nfs4_state_wait_locked(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns);

/* nfs4_recover.c: the pieces of work, on the state manager's thread */
void nfs4_recover_session(struct nfs4_client *c, uint32_t todo);
void nfs4_recover_bind(struct nfs4_client *c);
void nfs4_recover_probe(struct nfs4_client *c);
void nfs4_recover_check(struct nfs4_client *c);
void nfs4_recover_revoked(struct nfs4_client *c);
/* Is status, of an attempt to have an open or a lock again, no verdict on that? */
bool nfs4_recover_undecided(uint32_t status);
/* A reclaim was answered status. True: it was put off, and a pause is over: it is to be sent again,
 * since the server takes reclaims only now. */
bool nfs4_recover_put_off(struct nfs4_client *c, uint32_t status);

/* --- the whole ----------------------------------------------------------------------------- */

struct nfs4_client {
	struct nfs_client base; /* first */
	/* constant after mount */
	unsigned minor;
	bool any_minor; /* minor may be lowered to what the server has */
	struct rpc_cred cred;
	char server[256];
	char owner[160]; /* co_ownerid */
	uint8_t verf[NFS4_VERIFIER_SIZE];
	unsigned connect_ms;
	uint32_t slots_wanted;
	bool soft;
	unsigned soft_ms;    /* soft: most time an op is retried */
	struct idmap *idmap; /* NULL: numbers only */
	enum nfs_idmap idmap_mode;
	atomic_bool send_names;	      /* instead of numbers */
	uint32_t request_max;	      /* bytes, of the first session; later ones are alike */
	struct nfs4_bitmap supported; /* in the root's file system; others may have more or less */
	struct nfs4_bitmap stat_want; /* nfs4_bits_stat(): what a file system lacks is left out */
	struct nfs4_bitmap exclcreat; /* what may go with an exclusive create */
	bool read_plus;		      /* READ_PLUS is to be used where the server has it */
	uint32_t clone_blksize;	      /* a power of two, or 0: any alignment may be tried */

	/* what has been learnt of the server: operations it does not have (nfs4_ops_space.c), and
	 * that it refuses to copy while the caller waits */
	atomic_uint lacks;
	atomic_bool copies_async;

	/* written by whoever runs nfs4_sync (mounting thread, state manager, unmounting thread: one
	 * after the other); session and minor are read by all while the gate is open */
	uint64_t clientid;
	uint32_t create_seq;	/* csa_sequence of the next CREATE_SESSION */
	bool create_misordered; /* the server expects another one */
	struct nfs4_sessionid session;
	bool have_clientid, have_session, confirmed;
	char refused[400];	   /* why a session was not good enough, a sentence; else empty */
	bool lost_session;	   /* while mounting: a step failed because of that */
	uint64_t reclaim_until_ns; /* reclaims that are put off are repeated until then */
	struct nfs4_channel_attrs fore;

	struct nfs4_slots slots;
	/* slots.lock */
	bool stopping;				  /* no new ops */
	TAILQ_HEAD(nfs4_delayed, nfs_op) delayed; /* by due_ns */
	TAILQ_HEAD(, nfs_op) ended;		  /* to be ended by the state manager's thread */
	TAILQ_HEAD(, nfs_open) opens;
	unsigned nown; /* own ops under way; idle is signalled when it becomes 0 */
	TAILQ_HEAD(, nfs4_deleg) delegs;
	struct nfs4_sync *sync; /* under way, for cancelling */
	struct nfs4_offload offload[NFS4_OFFLOADS];
	unsigned next_offload;
	enum nfs4_state state;
	uint32_t todo;
	uint32_t flags_seen; /* sr_status_flags that have been acted upon since flags_ns */
	uint64_t flags_ns;
	char moved[NFS4_WHERE_MAX]; /* where something is that is not here, as last told */
	uint64_t moved_ns;	    /* when; 0: never */
	uint64_t check_ns;	    /* when opens are looked at again; 0: not */
	uint64_t probe_ns;
	bool renewing;	     /* renew is under way */
	bool lock_kick;	     /* somebody who waits for a lock may be due */
	pthread_cond_t wake; /* of the state manager */
	pthread_t thread;
	bool thread_up;
	bool stop_thread;

	struct nfs_op renew;		  /* SEQUENCE alone */
	atomic_uint_least64_t renewed_ns; /* the last time the server renewed the lease */
	atomic_uint_least64_t next_owner;
	struct nfs4_locks locks;
	struct nfs4_cb cb;
};

static inline struct nfs4_client *nfs4_client(struct nfs_client *c)
{
	return (struct nfs4_client *)c;
}

#endif

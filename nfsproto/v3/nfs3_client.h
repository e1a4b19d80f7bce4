/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_client: the NFSv3 back end's insides: the declarations that its files share. nfs_client.h
 * has the interface.
 *
 *     nfs3_backend.c   mounting and unmounting; takes ops in
 *     nfs3_conn.c      the connections, and whether a lost one means a restart of the server
 *     nfs3_task.c      the life of an op
 *     nfs3_ops*.c      arguments and results of each kind of call; their table: nfs3_kinds.c
 *     nfs3_mount.c     the root handle, by the MOUNT protocol
 *     nfs3_nlm*.c      byte-range locks (nfs3_nlm_state.h)
 *
 * An op is a sequence of calls. Each call is of a kind (enum nfs3_kind_id). When the call's results
 * are in, the kind decides how the op goes on: the op ends, or makes a call of another kind. There
 * is no state on the server but locks, which go by another protocol (nfs3_nlm.h).
 *
 * Threads: submitters, the progress thread, the thread of c->timer, and in nfs3_nlm.c one more.
 * c->lock guards the members noted there; it is held for moments, and no callback runs under it.
 * Lock order: c->lock, then the transport's.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_CLIENT_H
#define RNFS_NFSPROTO_V3_NFS3_CLIENT_H

#include <stdatomic.h>

#include "nfsproto/common/nfs3_sync.h"
#include "nfsproto/wire/nfs3_xdr.h"
#include "nfsproto/common/nfs_backend.h"
#include "nfsproto/common/nfs_links.h"
#include "transport/lock.h"
#include "transport/rpc/rpc_paths.h"

#define NFS3_MSEC UINT64_C(1000000)

struct nfs3_client;

/* --- kinds of calls --------------------------------------------------------------------------- */

enum nfs3_kind_id {
	/* 0 .. NFS_OP_TYPES - 1: an op's first call, where every op of the type begins alike */
	NFS3_K_LOOKUP_AFTER = NFS_OP_TYPES, /* for a handle that CREATE's reply left out */
	NFS3_K_LOOK,			    /* at the name of an unsure op (nfs_unsure.h) */
	NFS3_K_GETATTR_AFTER,		    /* for attributes that a reply left out */
	NFS3_K_OPEN_CREATE,
	NFS3_K_OPEN_LOOKUP,
	NFS3_K_OPEN_ACCESS,
	NFS3_K_OPEN_SETATTR,  /* for attributes that an exclusive create could not set */
	NFS3_K_OPEN_TRUNCATE, /* O_TRUNC of an existing file */
	NFS3_K_APPEND_SIZE,   /* the offset for an NFS_WRITE that appends, */
	NFS3_K_APPEND,	      /* and that WRITE */
	NFS3_KINDS
};

struct nfs3_kind {
	const char *name;
	/* Fills in a for the call, except a->proc, which is NULL, and call's sinks. */
	void (*put)(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a);
	/* Looks at results with status NFS3_OK; x stands where nfs3_get_res() ends. Returns
	 * NFS_DONE, NFS_AGAIN (with op->be.v3.kind) or NFS_FAILED. */
	enum nfs_outcome (*get)(struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r,
		struct xdr_in *x);
	/* The call failed with status. Returns as get does, or NFS_STATUS: op fails with status.
	 * May be NULL. */
	enum nfs_outcome (*fail)(struct nfs3_client *c, struct nfs_op *op, uint32_t status);
	/* Takes the results beside a failure. May be NULL. */
	void (*failed)(struct nfs_op *op, const struct nfs3_res *r);
};

extern const struct nfs3_kind nfs3_kinds[NFS3_KINDS];

#define NFS3_RACES_MAX 8 /* how often a name may come and go while an op looks it up */

#define NFS3_FUNCS(fn)                                                                             \
	void nfs3_put_op_##fn(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a);      \
	enum nfs_outcome nfs3_get_op_##fn(struct nfs3_client *c, struct nfs_op *op,                \
		const struct nfs3_res *r, struct xdr_in *x);

/* nfs3_ops.c */
NFS3_FUNCS(getattr)
NFS3_FUNCS(setattr)
NFS3_FUNCS(access)
NFS3_FUNCS(read)
NFS3_FUNCS(write)
NFS3_FUNCS(append_size)
NFS3_FUNCS(append)
NFS3_FUNCS(commit)
NFS3_FUNCS(statfs)
NFS3_FUNCS(getattr_after)
/* nfs3_ops_dir.c */
NFS3_FUNCS(lookup)
NFS3_FUNCS(readlink)
NFS3_FUNCS(create)
NFS3_FUNCS(lookup_after)
NFS3_FUNCS(look)
NFS3_FUNCS(remove)
NFS3_FUNCS(rename)
NFS3_FUNCS(link)
NFS3_FUNCS(readdir)
enum nfs_outcome nfs3_fail_op_getattr_after(
	struct nfs3_client *c, struct nfs_op *op, uint32_t status);
void nfs3_failed_op_lookup(struct nfs_op *op, const struct nfs3_res *r);
enum nfs_outcome nfs3_fail_op_look(struct nfs3_client *c, struct nfs_op *op, uint32_t status);
enum nfs_outcome nfs3_fail_op_remove(struct nfs3_client *c, struct nfs_op *op, uint32_t status);
enum nfs_outcome nfs3_fail_op_readdir(struct nfs3_client *c, struct nfs_op *op, uint32_t status);
/* nfs3_ops_open.c */
NFS3_FUNCS(open_create)
NFS3_FUNCS(open_lookup)
NFS3_FUNCS(open_access)
NFS3_FUNCS(open_setattr)
NFS3_FUNCS(open_truncate)
enum nfs_outcome nfs3_fail_op_open_create(
	struct nfs3_client *c, struct nfs_op *op, uint32_t status);
enum nfs_outcome nfs3_fail_op_open_lookup(
	struct nfs3_client *c, struct nfs_op *op, uint32_t status);
#undef NFS3_FUNCS

/* Takes the op's attributes if p has any; otherwise the op goes on to ask for attributes. */
enum nfs_outcome nfs3_take_attr(
	struct nfs_op *op, const struct nfs3_post_op *p, struct nfs_attr *attr);

/* --- opens ------------------------------------------------------------------------------------ */

/* An open file. Its I/O relies on the locks that an owner last requested through it
 * (nfs3_nlm.h). */
struct nfs_open {
	struct nfs_open_head head;
	uint8_t verf[NFS3_CREATEVERFSIZE]; /* of an exclusive create */
	atomic_uint refs;		   /* held by the user until CLOSE, and by lock contexts */
	uint32_t number;		   /* in the record for a successor; 0: none */
	atomic_uint locks;		   /* lock contexts that hold locks */
	atomic_uint locks_lost;		   /* lock contexts that have lost a lock: no I/O */
	LIST_ENTRY(nfs_open) link;	   /* the client's lock: of its opens, until CLOSE */
};

/* With one reference, and in no list. NULL: no memory. */
struct nfs_open *nfs3_open_new(struct nfs3_client *c);
struct nfs_open *nfs3_open_ref(struct nfs_open *o);
/* Accepts NULL, returns NULL. */
struct nfs_open *nfs3_open_unref(struct nfs_open *o);

/* flags of op->be.v3 in an OPEN */
#define NFS3_F_CREATED	 1u /* this op has made the file */
#define NFS3_F_EXCLUSIVE 2u /* the CREATE that was sent is exclusive */

/* Starts an OPEN: its open state and its first kind. 0 or -ENOMEM. */
int nfs3_open_begin(struct nfs3_client *c, struct nfs_op *op);
/* Gives an ending OPEN's state to the user, or frees the state if the op failed. */
void nfs3_open_end(struct nfs3_client *c, struct nfs_op *op);
/* The user closes o. The second closes all open files at the end of the mount. */
void nfs3_open_close(struct nfs3_client *c, struct nfs_open *o);
void nfs3_open_close_all(struct nfs3_client *c);

/* --- the whole -------------------------------------------------------------------------------- */

struct nfs3_mount; /* nfs3_mount.h */
struct nfs3_nlm;   /* nfs3_nlm.h */

struct nfs3_conn { /* nfs3_conn.h */
	struct nfs3_client *c;
	unsigned i; /* of c->rpcs */
};

struct nfs3_client {
	struct nfs_client base; /* first */
	/* constant after mount */
	struct rpc_cred cred;
	char server[256];
	struct rpc_paths paths;			/* the connections, if there may be several */
	struct rpc_client *rpcs[RPC_PATHS_MAX]; /* the connections */
	struct nfs3_conn conn[RPC_PATHS_MAX];
	struct rpc_client_params own; /* of the mount's connections; peer_name: server */
	struct rpc_client_params rp;  /* the same for others, which the mount's user does not see */
	struct nfs3_mount *mount;     /* how MOUNT was reached; NULL: not mounted */
	struct nfs3_nlm *nlm;	      /* locks; NULL: mounted with nolock */
	unsigned connect_ms;
	bool soft;
	unsigned soft_ms;  /* soft: longest time of retries of an op */
	uint32_t name_max; /* longest name, bytes */
	uint64_t verf;	   /* random: first verifier of exclusive creates */

	atomic_uint_least64_t next_verf;
	atomic_bool no_plus;	  /* the server has no READDIRPLUS */
	atomic_bool no_exclusive; /* the server has no exclusive CREATE */
	atomic_bool append_raced; /* the log has been told of a race between appends */

	struct mutex news_lock; /* held over the upcall `connection`; takes no other */
	struct nfs_links links GUARDED_BY(news_lock);

	struct mutex lock;
	/* lock also guards be.v3.state and be.v3.cancelled of every op */
	bool stopping GUARDED_BY(lock); /* no new ops */
					/* open files of the user, which end with the mount */
	GUARDED_BY(lock) LIST_HEAD(, nfs_open) opens;
	/* connections, as bits: those that are up, and those unbroken since the server was last
	 * known to have the locks */
	uint32_t up GUARDED_BY(lock), witnesses GUARDED_BY(lock);
	atomic_bool doubt;			       /* locks may be lost; changed under lock */
	GUARDED_BY(lock) TAILQ_HEAD(, nfs_op) relying; /* sent, and rely on locks */
	GUARDED_BY(lock) TAILQ_HEAD(nfs3_delayed, nfs_op) delayed; /* by due_ns */
	pthread_cond_t wake;					   /* of the timer's thread */
	bool timer_up GUARDED_BY(lock), timer_stop GUARDED_BY(lock);
	pthread_t timer;
};

static inline struct nfs3_client *nfs3_client(struct nfs_client *c)
{
	return (struct nfs3_client *)c;
}

/* --- tasks ------------------------------------------------------------------------------------ */

enum nfs3_task_state { NFS3_T_NEW, NFS3_T_SENT, NFS3_T_DELAYED, NFS3_T_ENDING };

/* The server may have lost the locks that I/O relies on. Such I/O is not sent any more. */
void nfs3_task_doubt_locked(struct nfs3_client *c) REQUIRES(c->lock);
/* Meanwhile such I/O that was sent is taken back, unless a witness carries the I/O. */
void nfs3_task_pull_locked(struct nfs3_client *c) REQUIRES(c->lock);
/* I/O that such a doubt has held back goes on. */
void nfs3_task_trust_locked(struct nfs3_client *c) REQUIRES(c->lock);
/* Starts op with the kind in op->be.v3.kind. No lock held. */
void nfs3_task_start(struct nfs3_client *c, struct nfs_op *op);
/* Ends op. No lock held. */
void nfs3_task_end(struct nfs3_client *c, struct nfs_op *op, int error);
void nfs3_task_cancel(struct nfs3_client *c, struct nfs_op *op);

/* Starts the thread that starts delayed ops again. 0 or -errno. */
int nfs3_timer_start(struct nfs3_client *c);
/* Ends delayed ops with -ENOTCONN; no op will be delayed any more. */
void nfs3_timer_stop(struct nfs3_client *c);

#endif

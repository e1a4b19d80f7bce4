/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_client: the NFSv3 back end's insides: what its files share. nfs_client.h has the interface.
 *
 * An op is a sequence of calls: each call is of a kind (enum nfs3_kind_id), and when its results
 * are in, the kind tells how it goes on: ended, or by another kind. There is no state on the server
 * but locks, which go by another protocol (nfs3_nlm.h).
 *
 * Threads: submitters, the progress thread, the thread of c->timer, and in nfs3_nlm.c one more.
 * c->lock guards what is noted there; it is held for moments, and no callback runs under it. Lock
 * order: c->lock, then the transport's.
 */
#ifndef RNFS_NFSPROTO_NFS3_CLIENT_H
#define RNFS_NFSPROTO_NFS3_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "nfsproto/nfs3_xdr.h"
#include "nfsproto/nfs_backend.h"

#define NFS3_AGAIN INT32_MIN /* get: the op goes on with op->be.v3.kind */

#define NFS3_MSEC UINT64_C(1000000)

struct nfs3_client;

/* --- kinds of calls --------------------------------------------------------------------------- */

enum nfs3_kind_id {
	/* 0 .. NFS_OP_TYPES - 1: an op's first call, where every op of the type begins alike */
	NFS3_K_LOOKUP_AFTER = NFS_OP_TYPES, /* the handle that CREATE did not tell */
	NFS3_K_GETATTR_AFTER,		    /* the attributes that a reply did not tell */
	NFS3_K_OPEN_CREATE,
	NFS3_K_OPEN_LOOKUP,
	NFS3_K_OPEN_ACCESS,
	NFS3_K_OPEN_SETATTR,  /* what an exclusive create could not set */
	NFS3_K_OPEN_TRUNCATE, /* O_TRUNC of a file that was there */
	NFS3_KINDS
};

struct nfs3_kind {
	const char *name;
	/* Fills in a, whose proc is NULL, for the call, and call's sinks. */
	void (*put)(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a);
	/* Looks at results with status NFS3_OK; x stands where nfs3_get_res() ends. 0: the op has
	 * succeeded; NFS3_AGAIN; -errno. */
	int (*get)(struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r,
		struct xdr_in *x);
	/* The call failed with status: as get, or positive: that status it is. May be NULL. */
	int (*fail)(struct nfs3_client *c, struct nfs_op *op, uint32_t status);
};

extern const struct nfs3_kind nfs3_kinds[NFS3_KINDS];

#define NFS3_FUNCS(fn)                                                                             \
	void nfs3_put_op_##fn(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a);      \
	int nfs3_get_op_##fn(struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r,   \
		struct xdr_in *x);

/* nfs3_ops.c */
NFS3_FUNCS(getattr)
NFS3_FUNCS(setattr)
NFS3_FUNCS(access)
NFS3_FUNCS(read)
NFS3_FUNCS(write)
NFS3_FUNCS(commit)
NFS3_FUNCS(statfs)
NFS3_FUNCS(getattr_after)
/* nfs3_ops_dir.c */
NFS3_FUNCS(lookup)
NFS3_FUNCS(readlink)
NFS3_FUNCS(create)
NFS3_FUNCS(lookup_after)
NFS3_FUNCS(remove)
NFS3_FUNCS(rename)
NFS3_FUNCS(link)
NFS3_FUNCS(readdir)
int nfs3_fail_op_remove(struct nfs3_client *c, struct nfs_op *op, uint32_t status);
int nfs3_fail_op_readdir(struct nfs3_client *c, struct nfs_op *op, uint32_t status);
/* nfs3_ops_open.c */
NFS3_FUNCS(open_create)
NFS3_FUNCS(open_lookup)
NFS3_FUNCS(open_access)
NFS3_FUNCS(open_setattr)
NFS3_FUNCS(open_truncate)
int nfs3_fail_op_open_create(struct nfs3_client *c, struct nfs_op *op, uint32_t status);
int nfs3_fail_op_open_lookup(struct nfs3_client *c, struct nfs_op *op, uint32_t status);
#undef NFS3_FUNCS

/* The op's attributes, if p has them; else the op goes on to ask for them. */
int nfs3_take_attr(struct nfs_op *op, const struct nfs3_post_op *p, struct nfs_attr *attr);

/* --- opens ------------------------------------------------------------------------------------ */

struct nfs_open {
	uint8_t verf[NFS3_CREATEVERFSIZE]; /* of an exclusive create */
};

/* flags of op->be.v3 in an OPEN */
#define NFS3_F_CREATED	 1u /* this op has made the file */
#define NFS3_F_EXCLUSIVE 2u /* the CREATE that was sent is exclusive */

/* Starts an OPEN: its open state and its first kind. 0 or -ENOMEM. */
int nfs3_open_begin(struct nfs3_client *c, struct nfs_op *op);
/* Gives an ending OPEN's state to the user, or frees it if the op failed. */
void nfs3_open_end(struct nfs_op *op);

/* --- tasks ------------------------------------------------------------------------------------ */

enum nfs3_task_state { NFS3_T_NEW, NFS3_T_SENT, NFS3_T_DELAYED, NFS3_T_ENDING };

/* Starts op with the kind in op->be.v3.kind. No lock held. */
void nfs3_task_start(struct nfs3_client *c, struct nfs_op *op);
/* Ends op. No lock held. */
void nfs3_task_end(struct nfs3_client *c, struct nfs_op *op, int error);
void nfs3_task_cancel(struct nfs3_client *c, struct nfs_op *op);
/* What an ended call without results means for its op: -errno. */
int nfs3_rpc_error(const struct rpc_call *call, int error);

uint64_t nfs3_now_ns(void);

/* The thread that starts ops again that were told to come later. 0 or -errno. */
int nfs3_timer_start(struct nfs3_client *c);
/* Ends what waits with -ENOTCONN; nothing will wait any more. */
void nfs3_timer_stop(struct nfs3_client *c);

/* --- one call, waited for --------------------------------------------------------------------- */

struct nfs3_sync {
	struct rpc_call call;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool ended;
	int error;	 /* as an rpc_done_fn gets it; -ETIMEDOUT too */
	const void *put; /* the caller's, for get */
	void *out;
	int (*get)(struct nfs3_sync *s, struct xdr_in *x); /* 0 or -EBADMSG */
	/* ends the call with -EINTR when it is set; looked at ten times a second. May be NULL. */
	const atomic_bool *stop;
	/* called as often, no lock held. May be NULL. */
	void (*look)(struct nfs3_sync *s);
};

/* Calls proc and waits at most ms. put writes the arguments (at most 2 KiB), get reads all of the
 * results. Returns s->error: 0 or -errno; s->call's rpc_stat, mismatch and auth_stat may be read.
 * Not from a progress thread. */
int nfs3_sync_call(struct nfs3_sync *s, struct rpc_client *rpc, const struct rpc_cred *cred,
	uint32_t proc, void (*put)(struct nfs3_sync *s, struct xdr_out *x), uint32_t reply_max,
	unsigned ms);
/* An NFSv3 procedure on the mount's connection. 0 (the status is in res), or -errno. */
int nfs3_sync_proc(struct nfs3_client *c, struct nfs3_sync *s, const struct nfs3_args *args,
	struct nfs3_res *res, unsigned ms);

/* --- the whole -------------------------------------------------------------------------------- */

struct nfs3_mount; /* nfs3_mount.h */
struct nfs3_nlm;   /* nfs3_nlm.h */

struct nfs3_client {
	struct nfs_client base; /* first */
	/* constant after mount */
	struct rpc_cred cred;
	char server[256];
	struct rpc_client_params rp; /* of the connection, for others like it; peer_name: server */
	struct nfs3_mount *mount;    /* how MOUNT was reached; NULL: not mounted */
	struct nfs3_nlm *nlm;	     /* locks; NULL: mounted with nolock */
	unsigned connect_ms;
	bool soft;
	unsigned soft_ms;  /* soft: most time an op is retried */
	uint32_t name_max; /* longest name, bytes */
	uint64_t verf;	   /* random: where verifiers of exclusive creates begin */

	atomic_uint_least64_t next_verf;
	atomic_bool no_plus;	  /* the server has no READDIRPLUS */
	atomic_bool no_exclusive; /* the server has no exclusive CREATE */

	pthread_mutex_t lock;
	/* lock: these, and be.v3.state and be.v3.cancelled of every op */
	bool stopping;				  /* no new ops */
	TAILQ_HEAD(nfs3_delayed, nfs_op) delayed; /* by due_ns */
	pthread_cond_t wake;			  /* of the timer's thread */
	bool timer_up, timer_stop;
	pthread_t timer;
};

static inline struct nfs3_client *nfs3_client(struct nfs_client *c)
{
	return (struct nfs3_client *)c;
}

#endif

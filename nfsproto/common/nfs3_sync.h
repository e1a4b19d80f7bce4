/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_sync: one blocking call, for mounting, unmounting and locking.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS3_SYNC_H
#define RNFS_NFSPROTO_COMMON_NFS3_SYNC_H

#include <stdatomic.h>
#include <stdbool.h>

#include "transport/lock.h"
#include "transport/rpc/rpc.h"

struct nfs3_sync {
	struct rpc_call call;
	struct mutex lock;
	pthread_cond_t cond;
	bool ended GUARDED_BY(lock);
	int error;	 /* as an rpc_done_fn gets the error; -ETIMEDOUT too */
	const void *put; /* the caller's, for get */
	void *out;
	int (*get)(struct nfs3_sync *s, struct xdr_in *x); /* 0 or -EBADMSG */
	/* true ends the call with -EINTR; looked at ten times a second. May be NULL. */
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

/* The -errno for the caller of a call that ended with error, without results. */
int nfs3_rpc_error(const struct rpc_call *call, int error);

#endif

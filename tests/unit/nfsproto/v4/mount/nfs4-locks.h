/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4-locks: a mount's opens and locks without any server: nothing is sent.
 */
#ifndef RNFS_TESTS_NFS4_LOCKS_H
#define RNFS_TESTS_NFS4_LOCKS_H

#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_locking.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/nfs4_client_upcalls.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_join.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"

#define LOCKS_OPENS 8

struct locks {
	struct nfs4_server srv; /* the gate is closed */
	struct nfs4_client c;
	struct nfs_open *open[LOCKS_OPENS];
	unsigned nopens;
};

static inline int locks_setup(void **state)
{
	struct locks *l = calloc(1, sizeof(*l));

	nfs4_server_init(&l->srv, nfs4_kinds);
	l->srv.lease_s = 30;
	TAILQ_INIT(&l->c.opens);
	nfs4_deleg_init(&l->c, false);
	nfs4_lock_init(&l->c.locks);
	l->c.srv = &l->srv;
	l->c.user.up = &nfs4_client_upcalls;
	nfs4_user_join(&l->srv, &l->c.user);
	*state = l;
	return 0;
}

static inline int locks_teardown(void **state)
{
	struct locks *l = *state;

	l->c.user.stopping = l->srv.stopping = true;
	nfs4_lock_abort(&l->c);
	nfs4_task_pump(&l->srv);
	nfs4_lock_finish(&l->c.locks);
	while (l->nopens)
		nfs4_open_unref(l->open[--l->nopens]);
	nfs4_server_finish(&l->srv);
	free(l);
	return 0;
}

/* An open file with this name for a handle, of the user uid. */
static inline struct nfs_open *locks_open(struct locks *l, const char *name, uint32_t uid)
{
	struct nfs_open *o = calloc(1, sizeof(*o));

	mutex_init(&o->lock);
	atomic_init(&o->refs, 1);
	o->access = o->wire_access = OPEN4_SHARE_ACCESS_BOTH;
	o->fh.len = (uint32_t)strlen(name);
	memcpy(o->fh.data, name, o->fh.len);
	o->own.cred.uid = uid;
	o->stateid = (struct nfs4_stateid){.seqid = 3, .other = "open"};
	l->open[l->nopens++] = o;
	return o;
}

/* The context of owner on o's file, bound to o, without locks. */
static inline struct nfs4_lockctx *locks_ctx(struct locks *l, struct nfs_open *o, uint64_t owner)
{
	struct nfs4_lockctx *ctx;

	mutex_lock(&l->c.locks.lock);
	ctx = nfs4_lockctx_new_locked(&l->c, &o->fh, owner, o);
	mutex_unlock(&l->c.locks.lock);
	atomic_fetch_add(&o->nlockctx, 1);
	return ctx;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_mount: one mount with NFSv4.1 or later.
 */
#include "nfsproto/v4/mount/nfs4_mount.h"

#include "nfsproto/v4/server/nfs4_recover.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"

void nfs4_mount_bind(struct nfs4_client *c, struct nfs_op *op, unsigned kind)
{
	nfs4_task_bind(op, nfs4_server_conn(c->srv), &c->user, kind);
}

int nfs4_mount_run(struct nfs4_client *c, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms)
{
	return nfs4_sync_run_as(
		nfs4_server_conn(c->srv), &c->user, &c->cred, NULL, s, kind, timeout_ms);
}

void nfs4_own_begins(struct nfs4_client *c)
{
	mutex_lock(&c->lock);
	c->nown++;
	mutex_unlock(&c->lock);
}

void nfs4_own_ended(struct nfs4_client *c)
{
	mutex_lock(&c->lock);
	if (--c->nown == 0)
		pthread_cond_broadcast(&c->idle);
	mutex_unlock(&c->lock);
}

#define PUT_OFF_NS (100 * NFS4_MSEC) /* between attempts at a reclaim */

bool nfs4_reclaim_put_off(struct nfs4_client *c, uint32_t status)
{
	return status == NFS4ERR_DELAY && clock_ns() < c->reclaim_until_ns &&
	       !nfs4_server_quitting(c->srv, &c->user) && nfs4_recover_pause(c->srv, PUT_OFF_NS);
}

bool nfs4_mount_unsure(const struct nfs4_client *c, uint64_t now)
{
	uint64_t renewed = atomic_load_explicit(&c->srv->renewed_ns, memory_order_acquire);
	uint32_t lease_s = atomic_load_explicit(&c->srv->lease_s, memory_order_relaxed);

	return atomic_load(&c->srv->revoking) || now > renewed + lease_s * NFS4_SEC;
}

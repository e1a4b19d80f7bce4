/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_open: an open of a file.
 */
#include "nfsproto/v4/mount/nfs4_open.h"

#include <fcntl.h>
#include <stdlib.h>

struct nfs_open *nfs4_open_ref(struct nfs_open *o)
{
	atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
	return o;
}

void nfs4_open_unref(struct nfs_open *o)
{
	/* release: our last use happens before the free; acquire: the free comes after theirs */
	if (atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) != 1)
		return;
	mutex_alone(&o->lock);
	if (o->note.at) /* without a CLOSE: the mount ends */
		ledger_drop(nfs4_client(o->head.client)->ledger, &o->note);
	mutex_destroy(&o->lock);
	free(o);
}

struct nfs_open *nfs4_open_new(struct nfs4_client *c, uint32_t access, const struct rpc_cred *cred)
{
	struct nfs_open *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->head.client = &c->base;
	mutex_init(&o->lock);
	atomic_init(&o->refs, 1);
	o->owner = atomic_fetch_add_explicit(&c->srv->next_owner, 1, memory_order_relaxed);
	o->access = o->wire_access = access;
	atomic_init(&o->nlockctx, 0);
	o->own.cred = *cred;
	o->own.client = &c->base;
	return o;
}

uint32_t nfs4_share_access(int flags)
{
	/* truncating needs write permission, and SETATTR needs an open to write */
	if ((flags & (O_ACCMODE | O_TRUNC)) == (O_RDONLY | O_TRUNC))
		return OPEN4_SHARE_ACCESS_BOTH;
	switch (flags & O_ACCMODE) {
	case O_WRONLY:
		return OPEN4_SHARE_ACCESS_WRITE;
	case O_RDWR:
	case O_ACCMODE: /* Linux: neither read nor write, but only with permission for both */
		return OPEN4_SHARE_ACCESS_BOTH;
	default:
		return OPEN4_SHARE_ACCESS_READ;
	}
}

void nfs4_open_got(struct nfs_open *o, const struct nfs4_stateid *id, uint32_t more)
{
	mutex_lock(&o->lock);
	o->stateid = *id;
	o->gen++;
	o->wire_access |= o->access | more;
	mutex_unlock(&o->lock);
}

struct nfs4_stateid nfs4_open_stateid(struct nfs_op *op, struct nfs_open *o)
{
	struct nfs4_stateid id;

	if (!o)
		return nfs4_stateid_anonymous;
	mutex_lock(&o->lock);
	id = o->stateid;
	op->be.v4.gen = o->gen;
	mutex_unlock(&o->lock);
	id.seqid = 0; /* 0 means the current one: RFC 8881 8.2.2 */
	return id;
}

int nfs4_open_run(struct nfs4_client *c, struct nfs_open *o, struct nfs4_sync *s, unsigned kind,
	unsigned timeout_ms)
{
	return nfs4_sync_run_as(
		nfs4_server_conn(c->srv), &c->user, &o->own.cred, o, s, kind, timeout_ms);
}

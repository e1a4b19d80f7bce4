/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_backend: the part of a mount that all NFS versions have, and its upcalls to its user.
 */
#include "nfsproto/common/nfs_backend.h"

#include "transport/clock.h"

void nfs_client_init(
	struct nfs_client *c, const struct nfs_backend *backend, const struct nfs_mount_params *p)
{
	c->backend = backend;
	c->up = p->upcalls;
	c->up_ctx = p->upcalls_ctx;
	c->submounts = p->submounts;
	c->number = p->submount;
	c->fsid_mix = p->fsid_mix;
	atomic_init(&c->remaking, p->former != NULL);
}

/* A handle as the callers of the mount know it. */
static struct nfs_fh own_fh(const struct nfs_client *c, const struct nfs_fh *fh)
{
	struct nfs_fh own = *fh;

	own.server = c->number;
	return own;
}

void nfs_tell_recalled(struct nfs_client *c, const struct nfs_fh *fh)
{
	struct nfs_fh own = own_fh(c, fh);

	if (c->up && c->up->recalled && !atomic_load(&c->remaking))
		c->up->recalled(c->up_ctx, &own);
}

bool nfs_tell_flush(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	struct nfs_fh own = own_fh(c, fh);

	if (c->up && c->up->flush)
		return c->up->flush(c->up_ctx, &own, id);
	c->backend->deleg_flushed(c, fh, id);
	return true;
}

bool nfs_tell_inquired(struct nfs_client *c, const struct nfs_fh *fh, uint64_t *size,
	uint64_t *change, bool *modified)
{
	struct nfs_fh own = own_fh(c, fh);

	return c->up && c->up->inquired && !atomic_load(&c->remaking) &&
	       c->up->inquired(c->up_ctx, &own, size, change, modified);
}

void nfs_tell_lost(struct nfs_client *c, const struct nfs_fh *fh, enum nfs_lost what)
{
	struct nfs_fh own = own_fh(c, fh);

	if (c->up && c->up->lost && !atomic_load(&c->remaking))
		c->up->lost(c->up_ctx, &own, what);
}

void nfs_tell_attributes(struct nfs_client *c, const struct nfs_fh *fh,
	const struct nfs_data_attr *attr, uint64_t asked)
{
	struct nfs_fh own = own_fh(c, fh);

	if (attr->have && c->up && c->up->attributes && !atomic_load(&c->remaking))
		c->up->attributes(c->up_ctx, &own, attr, asked);
}

/* The user hears of the mount's own server only. But written data of a submount may be lost with a
 * connection, too. */
void nfs_tell_connection(struct nfs_client *c, enum nfs_connection what)
{
	if (!c->up || !c->up->connection)
		return;
	if (!c->number)
		c->up->connection(c->up_ctx, what);
	else if (what == NFS_CONNECTION_LOST || what == NFS_CONNECTION_MOVED)
		c->up->connection(c->up_ctx, NFS_CONNECTION_MOVED);
}

uint64_t nfs_leave_until(const struct nfs_client *c, unsigned ms)
{
	uint64_t usual = clock_ns() + ms * NSEC_PER_MSEC;

	return c->leave_by && c->leave_by < usual ? c->leave_by : usual;
}

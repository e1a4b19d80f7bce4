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
}

void nfs_tell_recalled(struct nfs_client *c, const struct nfs_fh *fh)
{
	if (c->up && c->up->recalled)
		c->up->recalled(c->up_ctx, fh);
}

bool nfs_tell_flush(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	if (c->up && c->up->flush)
		return c->up->flush(c->up_ctx, fh, id);
	c->backend->deleg_flushed(c, fh, id);
	return true;
}

bool nfs_tell_inquired(struct nfs_client *c, const struct nfs_fh *fh, uint64_t *size,
	uint64_t *change, bool *modified)
{
	return c->up && c->up->inquired && c->up->inquired(c->up_ctx, fh, size, change, modified);
}

void nfs_tell_lost(struct nfs_client *c, const struct nfs_fh *fh, enum nfs_lost what)
{
	if (c->up && c->up->lost)
		c->up->lost(c->up_ctx, fh, what);
}

void nfs_tell_attributes(struct nfs_client *c, const struct nfs_fh *fh,
	const struct nfs_data_attr *attr, uint64_t asked)
{
	if (attr->have && c->up && c->up->attributes)
		c->up->attributes(c->up_ctx, fh, attr, asked);
}

void nfs_tell_connection(struct nfs_client *c, enum nfs_connection what)
{
	if (c->up && c->up->connection)
		c->up->connection(c->up_ctx, what);
}

uint64_t nfs_leave_until(const struct nfs_client *c, unsigned ms)
{
	uint64_t usual = clock_ns() + ms * NSEC_PER_MSEC;

	return c->leave_by && c->leave_by < usual ? c->leave_by : usual;
}

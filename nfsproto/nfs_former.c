/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_former: a mount that goes on where a killed daemon has left off.
 */
#include "nfsproto/nfs_former.h"

#include "nfsproto/common/nfs_backend.h"

void nfs_client_answered(struct nfs_client *c, uint64_t request)
{
	if (c->backend->answered && request)
		c->backend->answered(c, request);
}

bool nfs_client_has_changes(struct nfs_client *c, uint64_t request)
{
	return c->backend->has_changes && request && c->backend->has_changes(c, request);
}

void nfs_client_replays_end(struct nfs_client *c)
{
	if (c->backend->replays_end)
		c->backend->replays_end(c);
}

uint64_t nfs_open_note_number(const struct nfs_open *o)
{
	const struct nfs_client *c = nfs_open_client(o);

	return c->backend->note_number ? c->backend->note_number(o) : 0;
}

struct nfs_open *nfs_client_former_open(struct nfs_client *c, uint64_t number)
{
	return c->backend->former_open && number ? c->backend->former_open(c, number) : NULL;
}

uint64_t nfs_client_former_deleg(struct nfs_client *c, const struct nfs_fh *fh, bool *writes)
{
	*writes = false;
	return c->backend->former_deleg ? c->backend->former_deleg(c, fh, writes) : 0;
}

void nfs_client_former_end(struct nfs_client *c)
{
	atomic_store(&c->remaking, false);
	if (c->backend->former_end)
		c->backend->former_end(c);
}

void nfs_open_discard(struct nfs_open *o)
{
	const struct nfs_client *c = nfs_open_client(o);

	if (c->backend->discard)
		c->backend->discard(o);
}

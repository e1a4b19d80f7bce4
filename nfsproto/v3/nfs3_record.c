/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_record: a mount with NFSv3 for a successor.
 */
#include "nfsproto/v3/nfs3_record.h"

#include <stdlib.h>

#include "nfsproto/v3/nfs3_nlm_state.h"

static bool any_locks(struct nfs3_client *c)
{
	const struct nfs_open *o;
	bool any = false;

	mutex_lock(&c->lock);
	LIST_FOREACH (o, &c->opens, link)
		any |= atomic_load(&o->locks) || atomic_load(&o->locks_lost);
	mutex_unlock(&c->lock);
	if (!c->nlm)
		return any;
	mutex_lock(&c->nlm->lock);
	any |= c->nlm->current || !TAILQ_EMPTY(&c->nlm->queue);
	mutex_unlock(&c->nlm->lock);
	return any;
}

const char *nfs3_settle(struct nfs_client *base)
{
	struct nfs3_client *c = nfs3_client(base);

	return any_locks(c) ? "locks, which over NFSv3 cannot be handed over, to be unlocked"
			    : NULL;
}

void nfs3_put_record(
	struct nfs_client *base, struct nfs_open *const open[], uint32_t n, struct xdr_out *x)
{
	nfs_record_put_fh(x, &base->root);
}

int nfs3_get_record(struct nfs3_client *c, const struct nfs_record *rec, struct err *e)
{
	struct nfs_fh root;
	struct xdr_in x;

	xdr_in_init(&x, rec->data, rec->len);
	nfs_record_get_fh(&x, &root);
	if (!xdr_in_done(&x))
		return err_set(e, ERR_INTERNAL, "the record of the mount is damaged");
	c->base.root = root;
	for (uint32_t i = 0; i < rec->nopens; i++) {
		struct nfs_open *o = nfs3_open_new(c);

		if (!o)
			return err_set(e, ERR_INTERNAL, "out of memory for the open files");
		mutex_lock(&c->lock);
		LIST_INSERT_HEAD(&c->opens, o, link);
		mutex_unlock(&c->lock);
		rec->open[i] = o;
	}
	return 0;
}

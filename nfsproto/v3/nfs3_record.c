/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_record: a mount with NFSv3 for a successor.
 */
#include "nfsproto/v3/nfs3_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfsproto/v3/nfs3_nlm.h"
#include "nfsproto/v3/nfs3_nlm_record.h"

const char *nfs3_settle(struct nfs_client *base)
{
	struct nfs3_client *c = nfs3_client(base);

	if (!c->nlm)
		return NULL;
	if (atomic_load(&c->doubt))
		return "locks that the server may have lost";
	return nfs3_nlm_settle(c->nlm);
}

/* Open files that are not in the record have number 0. */
static void number_opens(struct nfs3_client *c, struct nfs_open *const open[], uint32_t n)
{
	struct nfs_open *o;

	mutex_lock(&c->lock);
	LIST_FOREACH (o, &c->opens, link)
		o->number = 0;
	for (uint32_t i = 0; i < n; i++)
		open[i]->number = i + 1;
	mutex_unlock(&c->lock);
}

void nfs3_put_record(
	struct nfs_client *base, struct nfs_open *const open[], uint32_t n, struct xdr_out *x)
{
	struct nfs3_client *c = nfs3_client(base);

	nfs_record_put_fh(x, &base->root);
	xdr_put_bool(x, c->nlm);
	if (!c->nlm)
		return;
	number_opens(c, open, n);
	nfs3_nlm_put_record(c->nlm, x);
}

static int get_opens(struct nfs3_client *c, const struct nfs_record *rec)
{
	for (uint32_t i = 0; i < rec->nopens; i++) {
		struct nfs_open *o = nfs3_open_new(c);

		if (!o)
			return -ENOMEM;
		mutex_lock(&c->lock);
		LIST_INSERT_HEAD(&c->opens, o, link);
		mutex_unlock(&c->lock);
		rec->open[i] = o;
	}
	return 0;
}

static int get_nlm(struct nfs3_client *c, const struct nfs_record *rec, struct xdr_in *x)
{
	struct nfs3_nlm *n;
	struct nfs3_nsm name;

	if (!xdr_get_bool(x))
		return 0;
	nfs3_nlm_get_name(&name, x);
	if (!xdr_in_ok(x))
		return 0;
	n = calloc(1, sizeof(*n));
	if (!n || nfs3_nlm_init(n, NULL, NULL, &name)) {
		if (name.fd >= 0)
			close(name.fd);
		free(n);
		return -ENOMEM;
	}
	c->nlm = n;
	c->base.info.features |= NFS_HAS_LOCKS;
	return nfs3_nlm_get_record(c, rec->open, rec->nopens, x);
}

int nfs3_get_record(
	struct nfs3_client *c, const struct nfs_record *rec, struct nfs_fh *root, struct err *e)
{
	struct xdr_in x;
	int rc;

	xdr_in_init(&x, rec->data, rec->len);
	nfs_record_get_fh(&x, root);
	rc = xdr_in_ok(&x) ? get_opens(c, rec) : 0;
	if (!rc)
		rc = get_nlm(c, rec, &x);
	if (rc && xdr_in_ok(&x))
		return err_set(e, ERR_INTERNAL, "out of memory for the open files");
	if (!xdr_in_done(&x))
		return err_set(e, ERR_INTERNAL, "the record of the mount is damaged");
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_files: coders of the bodies of the file layout type.
 */
#include "nfsproto/wire/nfs4_files.h"

#include <string.h>

/* The bytes of x from `from` to the cursor; none if x is bad. */
static struct nfs4_opaque passed(const struct xdr_in *x, size_t from)
{
	struct nfs4_opaque o = {x->base + from, 0};

	if (xdr_in_ok(x))
		o.len = (uint32_t)(x->pos - from);
	return o;
}

/* A body ends where its last item ends. */
static int body_end(const struct xdr_in *x)
{
	return xdr_in_done(x) ? 0 : -EBADMSG;
}

void nfs4_put_files_layout(struct xdr_out *x, const struct nfs4_files_layout *l)
{
	nfs4_put_deviceid(x, &l->device);
	xdr_put_u32(x, l->unit | (l->dense ? NFL4_UFLG_DENSE : 0) |
			       (l->commit_thru_mds ? NFL4_UFLG_COMMIT_THRU_MDS : 0));
	xdr_put_u32(x, l->first_stripe);
	xdr_put_u64(x, l->pattern_offset);
	xdr_put_u32(x, l->nfh);
	xdr_put_fixed(x, l->fh.data, l->fh.len);
}

int nfs4_get_files_layout(const struct nfs4_opaque *body, struct nfs4_files_layout *l)
{
	struct nfs_fh fh;
	struct xdr_in x;
	uint32_t util;
	size_t from;

	xdr_in_init(&x, body->data, body->len);
	nfs4_get_deviceid(&x, &l->device);
	util = xdr_get_u32(&x);
	l->dense = util & NFL4_UFLG_DENSE;
	l->commit_thru_mds = util & NFL4_UFLG_COMMIT_THRU_MDS;
	l->unit = util & NFL4_UFLG_STRIPE_UNIT_SIZE_MASK;
	if (l->unit == 0)
		xdr_in_fail(&x);
	l->first_stripe = xdr_get_u32(&x);
	l->pattern_offset = xdr_get_u64(&x);
	l->nfh = xdr_get_count(&x, NFS4_STRIPES_MAX, 8);
	from = x.pos;
	for (uint32_t i = 0; i < l->nfh && xdr_in_ok(&x); i++)
		nfs4_get_fh(&x, &fh);
	l->fh = passed(&x, from);
	return body_end(&x);
}

bool nfs4_files_fh_next(const struct nfs4_files_layout *l, uint32_t *pos, struct nfs_fh *fh)
{
	struct xdr_in x;

	if (*pos >= l->fh.len)
		return false;
	xdr_in_init(&x, l->fh.data + *pos, l->fh.len - *pos);
	nfs4_get_fh(&x, fh);
	*pos += (uint32_t)x.pos;
	return xdr_in_ok(&x);
}

void nfs4_put_files_device(struct xdr_out *x, const struct nfs4_files_device *d)
{
	xdr_put_u32(x, d->nstripes);
	xdr_put_fixed(x, d->stripe.data, d->stripe.len);
	xdr_put_u32(x, d->nservers);
	xdr_put_fixed(x, d->server.data, d->server.len);
}

int nfs4_get_files_device(const struct nfs4_opaque *body, struct nfs4_files_device *d)
{
	struct nfs4_multipath m;
	struct xdr_in x;
	size_t from;

	xdr_in_init(&x, body->data, body->len);
	d->nstripes = xdr_get_count(&x, NFS4_STRIPES_MAX, 4);
	from = x.pos;
	xdr_consume(&x, 4 * (size_t)d->nstripes);
	d->stripe = passed(&x, from);
	d->nservers = xdr_get_count(&x, NFS4_SERVERS_MAX, 4);
	from = x.pos;
	for (uint32_t i = 0; i < d->nservers && xdr_in_ok(&x); i++)
		nfs4_get_multipath(&x, &m);
	d->server = passed(&x, from);
	if (!xdr_in_done(&x) || d->nstripes == 0)
		return -EBADMSG;
	for (uint32_t i = 0; i < d->nstripes; i++)
		if (nfs4_files_stripe(d, i) >= d->nservers)
			return -EBADMSG;
	return 0;
}

uint32_t nfs4_files_stripe(const struct nfs4_files_device *d, uint32_t i)
{
	struct xdr_in x;

	xdr_in_init(&x, d->stripe.data + 4 * (size_t)i, 4);
	return xdr_get_u32(&x);
}

bool nfs4_files_server_next(
	const struct nfs4_files_device *d, uint32_t *pos, struct nfs4_multipath *m)
{
	struct xdr_in x;

	if (*pos >= d->server.len)
		return false;
	xdr_in_init(&x, d->server.data + *pos, d->server.len - *pos);
	nfs4_get_multipath(&x, m);
	*pos += (uint32_t)x.pos;
	return xdr_in_ok(&x);
}

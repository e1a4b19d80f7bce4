/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_item: coders of the items that operations are composed of.
 */
#include "nfsproto/wire/nfs4_item.h"

#include <string.h>

const struct nfs4_stateid nfs4_stateid_anonymous = {0, {0}};
const struct nfs4_stateid nfs4_stateid_bypass = {
	UINT32_MAX, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
const struct nfs4_stateid nfs4_stateid_current = {1, {0}};
const struct nfs4_stateid nfs4_stateid_invalid = {UINT32_MAX, {0}};

bool nfs4_stateid_same(const struct nfs4_stateid *a, const struct nfs4_stateid *b)
{
	return a->seqid == b->seqid && memcmp(a->other, b->other, sizeof(a->other)) == 0;
}

/* --- items ---------------------------------------------------------------------------------- */

void nfs4_put_bitmap(struct xdr_out *x, const struct nfs4_bitmap *b)
{
	uint32_t n = NFS4_BITMAP_WORDS;

	while (n && !b->w[n - 1])
		n--;
	xdr_put_u32(x, n);
	for (uint32_t i = 0; i < n; i++)
		xdr_put_u32(x, b->w[i]);
}

int nfs4_get_bitmap(struct xdr_in *x, struct nfs4_bitmap *b)
{
	uint32_t n = xdr_get_count(x, NFS4_BITMAP_WIRE, 4);

	memset(b, 0, sizeof(*b));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t w = xdr_get_u32(x);

		if (i < NFS4_BITMAP_WORDS)
			b->w[i] = w;
		else if (w)
			b->more = true;
	}
	return nfs4_got(x);
}

void nfs4_put_fattr(struct xdr_out *x, const struct nfs4_fattr *f)
{
	nfs4_put_bitmap(x, &f->mask);
	xdr_put_opaque(x, f->vals.data, f->vals.len);
}

int nfs4_get_fattr(struct xdr_in *x, struct nfs4_fattr *f)
{
	nfs4_get_bitmap(x, &f->mask);
	return nfs4_get_opaque(x, NFS4_ATTRLIST_MAX, &f->vals);
}

void nfs4_put_opaque(struct xdr_out *x, const struct nfs4_opaque *o)
{
	xdr_put_opaque(x, o->data, o->len);
}

int nfs4_get_opaque(struct xdr_in *x, uint32_t max, struct nfs4_opaque *o)
{
	o->data = xdr_get_opaque(x, max, &o->len);
	return nfs4_got(x);
}

void nfs4_put_stateid(struct xdr_out *x, const struct nfs4_stateid *s)
{
	xdr_put_u32(x, s->seqid);
	xdr_put_fixed(x, s->other, sizeof(s->other));
}

int nfs4_get_stateid(struct xdr_in *x, struct nfs4_stateid *s)
{
	s->seqid = xdr_get_u32(x);
	xdr_get_fixed(x, s->other, sizeof(s->other));
	return nfs4_got(x);
}

void nfs4_put_sessionid(struct xdr_out *x, const struct nfs4_sessionid *s)
{
	xdr_put_fixed(x, s->id, sizeof(s->id));
}

int nfs4_get_sessionid(struct xdr_in *x, struct nfs4_sessionid *s)
{
	xdr_get_fixed(x, s->id, sizeof(s->id));
	return nfs4_got(x);
}

void nfs4_put_fh(struct xdr_out *x, const struct nfs_fh *fh)
{
	xdr_put_opaque(x, fh->data, fh->len);
}

int nfs4_get_any_fh(struct xdr_in *x, struct nfs_fh *fh)
{
	const uint8_t *p = xdr_get_opaque(x, NFS4_FHSIZE, &fh->len);

	fh->server = 0;
	if (fh->len)
		memcpy(fh->data, p, fh->len);
	return nfs4_got(x);
}

int nfs4_get_fh(struct xdr_in *x, struct nfs_fh *fh)
{
	nfs4_get_any_fh(x, fh);
	if (fh->len == 0)
		xdr_in_fail(x);
	return nfs4_got(x);
}

void nfs4_put_name(struct xdr_out *x, const struct nfs_name *n)
{
	xdr_put_opaque(x, n->s, n->len);
}

int nfs4_get_name(struct xdr_in *x, struct nfs_name *n)
{
	n->s = (const char *)xdr_get_opaque(x, NFS4_STRING_MAX, &n->len);
	return nfs4_got(x);
}

void nfs4_put_owner(struct xdr_out *x, const struct nfs4_owner *o)
{
	xdr_put_u64(x, o->clientid);
	nfs4_put_opaque(x, &o->owner);
}

int nfs4_get_owner(struct xdr_in *x, struct nfs4_owner *o)
{
	o->clientid = xdr_get_u64(x);
	return nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &o->owner);
}

void nfs4_put_change_info(struct xdr_out *x, const struct nfs4_change_info *c)
{
	xdr_put_bool(x, c->atomic);
	xdr_put_u64(x, c->before);
	xdr_put_u64(x, c->after);
}

int nfs4_get_change_info(struct xdr_in *x, struct nfs4_change_info *c)
{
	c->atomic = xdr_get_bool(x);
	c->before = xdr_get_u64(x);
	c->after = xdr_get_u64(x);
	return nfs4_got(x);
}

void nfs4_put_time(struct xdr_out *x, const struct timespec *t)
{
	xdr_put_u64(x, (uint64_t)t->tv_sec);
	xdr_put_u32(x, (uint32_t)t->tv_nsec);
}

int nfs4_get_time(struct xdr_in *x, struct timespec *t)
{
	uint32_t ns;

	t->tv_sec = (time_t)xdr_get_u64(x);
	ns = xdr_get_u32(x);
	if (ns > 999999999) {
		ns = 0;
		xdr_in_fail(x);
	}
	t->tv_nsec = ns;
	return nfs4_got(x);
}

uint32_t nfs4_get_enum(struct xdr_in *x, uint32_t min, uint32_t max)
{
	uint32_t v = xdr_get_u32(x);

	if (v < min || v > max) {
		xdr_in_fail(x);
		return min;
	}
	return v;
}

/* --- an operation, and its result ----------------------------------------------------------- */

void nfs4_put_op(struct xdr_out *x, uint32_t op)
{
	xdr_put_u32(x, op);
}

void nfs4_put_op_res(struct xdr_out *x, uint32_t op, uint32_t status)
{
	xdr_put_u32(x, op);
	xdr_put_u32(x, status);
}

int nfs4_get_op_res(struct xdr_in *x, uint32_t op, uint32_t *status)
{
	uint32_t number = xdr_get_u32(x);

	*status = xdr_get_u32(x);
	if (number != op && (number != OP_ILLEGAL || *status != NFS4ERR_OP_ILLEGAL))
		xdr_in_fail(x);
	return nfs4_got(x);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_flexfiles: coders of the bodies of the flexible file layout type.
 */
#include "nfsproto/wire/nfs4_flexfiles.h"

#include <string.h>

/* --- ff_layout4 ------------------------------------------------------------------------------- */

void nfs4_put_ff_head(struct xdr_out *x, const struct nfs4_ff_layout *l)
{
	xdr_put_u64(x, l->unit);
	xdr_put_u32(x, l->nmirrors);
}

void nfs4_put_ff_mirror(struct xdr_out *x, uint32_t nstripes)
{
	xdr_put_u32(x, nstripes);
}

void nfs4_put_ff_server(struct xdr_out *x, const struct nfs4_ff_server *s)
{
	nfs4_put_deviceid(x, &s->device);
	xdr_put_u32(x, s->efficiency);
	nfs4_put_stateid(x, &s->stateid);
	xdr_put_u32(x, s->nfh);
	for (uint32_t i = 0; i < s->nfh; i++)
		nfs4_put_fh(x, &s->fh[i]);
	nfs4_put_name(x, &s->user);
	nfs4_put_name(x, &s->group);
}

void nfs4_put_ff_tail(struct xdr_out *x, const struct nfs4_ff_layout *l)
{
	xdr_put_u32(x, l->flags);
	xdr_put_u32(x, l->stats_hint);
}

#define SERVER_MIN (NFS4_DEVICEID_SIZE + 4 + 4 + NFS4_STATEID_OTHER + 4 + 8 + 4 + 4)

static void get_server(struct xdr_in *x, struct nfs4_ff_server *s)
{
	nfs4_get_deviceid(x, &s->device);
	s->efficiency = xdr_get_u32(x);
	nfs4_get_stateid(x, &s->stateid);
	s->nfh = xdr_get_count(x, NFS4_FF_VERSIONS_MAX, 8);
	if (s->nfh == 0)
		xdr_in_fail(x);
	for (uint32_t i = 0; i < s->nfh; i++)
		nfs4_get_fh(x, &s->fh[i]);
	nfs4_get_name(x, &s->user);
	nfs4_get_name(x, &s->group);
}

static void get_mirror(struct xdr_in *x, struct nfs4_ff_layout *l)
{
	uint32_t n = xdr_get_count(x, NFS4_FF_STRIPES_MAX, SERVER_MIN);
	struct nfs4_ff_server s;

	if (l->nstripes == 0)
		l->nstripes = n;
	if (n == 0 || n != l->nstripes)
		xdr_in_fail(x);
	while (n-- > 0 && xdr_in_ok(x))
		get_server(x, &s);
}

int nfs4_get_ff_layout(const struct nfs4_opaque *body, struct nfs4_ff_layout *l)
{
	struct xdr_in x;
	size_t from;

	memset(l, 0, sizeof(*l));
	xdr_in_init(&x, body->data, body->len);
	l->unit = xdr_get_u64(&x);
	l->nmirrors = xdr_get_count(&x, NFS4_FF_MIRRORS_MAX, 4 + SERVER_MIN);
	from = x.pos;
	for (uint32_t i = 0; i < l->nmirrors && xdr_in_ok(&x); i++)
		get_mirror(&x, l);
	if (xdr_in_ok(&x))
		l->mirrors = (struct nfs4_opaque){x.base + from, (uint32_t)(x.pos - from)};
	l->flags = xdr_get_u32(&x);
	l->stats_hint = xdr_get_u32(&x);
	if (l->nmirrors == 0 || (l->nstripes > 1 && l->unit == 0))
		return -EBADMSG;
	return xdr_in_done(&x) ? 0 : -EBADMSG;
}

bool nfs4_ff_next(const struct nfs4_ff_layout *l, struct nfs4_ff_walk *w, struct nfs4_ff_server *s)
{
	struct xdr_in x;

	if (w->next >= l->nmirrors * l->nstripes)
		return false;
	w->mirror = w->next / l->nstripes;
	w->stripe = w->next % l->nstripes;
	xdr_in_init(&x, l->mirrors.data + w->pos, l->mirrors.len - w->pos);
	if (w->stripe == 0)
		xdr_get_u32(&x); /* nstripes */
	get_server(&x, s);
	w->pos += (uint32_t)x.pos;
	w->next++;
	return xdr_in_ok(&x);
}

/* --- ff_device_addr4 -------------------------------------------------------------------------- */

void nfs4_put_ff_device(struct xdr_out *x, const struct nfs4_ff_device *d)
{
	nfs4_put_multipath(x, &d->addrs);
	xdr_put_u32(x, d->nversions);
	for (uint32_t i = 0; i < d->nversions; i++) {
		const struct nfs4_ff_version *v = &d->version[i];

		xdr_put_u32(x, v->version);
		xdr_put_u32(x, v->minor);
		xdr_put_u32(x, v->rsize);
		xdr_put_u32(x, v->wsize);
		xdr_put_bool(x, v->tight);
	}
}

int nfs4_get_ff_device(const struct nfs4_opaque *body, struct nfs4_ff_device *d)
{
	struct xdr_in x;

	xdr_in_init(&x, body->data, body->len);
	nfs4_get_multipath(&x, &d->addrs);
	d->nversions = xdr_get_count(&x, NFS4_FF_VERSIONS_MAX, 20);
	for (uint32_t i = 0; i < d->nversions; i++) {
		struct nfs4_ff_version *v = &d->version[i];

		v->version = xdr_get_u32(&x);
		v->minor = xdr_get_u32(&x);
		v->rsize = xdr_get_u32(&x);
		v->wsize = xdr_get_u32(&x);
		v->tight = xdr_get_bool(&x);
	}
	return xdr_in_done(&x) && d->nversions ? 0 : -EBADMSG;
}

/* --- ff_layoutupdate4, ff_layoutreturn4 ------------------------------------------------------- */

static void put_latency(struct xdr_out *x, const struct nfs4_ff_latency *l)
{
	xdr_put_u64(x, l->ops_requested);
	xdr_put_u64(x, l->bytes_requested);
	xdr_put_u64(x, l->ops_completed);
	xdr_put_u64(x, l->bytes_completed);
	xdr_put_u64(x, l->bytes_not_delivered);
	nfs4_put_time(x, &l->busy);
	nfs4_put_time(x, &l->completion);
}

static void get_latency(struct xdr_in *x, struct nfs4_ff_latency *l)
{
	l->ops_requested = xdr_get_u64(x);
	l->bytes_requested = xdr_get_u64(x);
	l->ops_completed = xdr_get_u64(x);
	l->bytes_completed = xdr_get_u64(x);
	l->bytes_not_delivered = xdr_get_u64(x);
	nfs4_get_time(x, &l->busy);
	nfs4_get_time(x, &l->completion);
}

void nfs4_put_ff_update(struct xdr_out *x, const struct nfs4_ff_update *u)
{
	nfs4_put_name(x, &u->addr.netid);
	nfs4_put_name(x, &u->addr.addr);
	nfs4_put_fh(x, &u->fh);
	put_latency(x, &u->read);
	put_latency(x, &u->write);
	nfs4_put_time(x, &u->duration);
	xdr_put_bool(x, u->local);
}

static void get_update(struct xdr_in *x, struct nfs4_ff_update *u)
{
	nfs4_get_name(x, &u->addr.netid);
	nfs4_get_name(x, &u->addr.addr);
	nfs4_get_any_fh(x, &u->fh);
	get_latency(x, &u->read);
	get_latency(x, &u->write);
	nfs4_get_time(x, &u->duration);
	u->local = xdr_get_bool(x);
}

int nfs4_get_ff_update(const struct nfs4_opaque *body, struct nfs4_ff_update *u)
{
	struct xdr_in x;

	xdr_in_init(&x, body->data, body->len);
	get_update(&x, u);
	return xdr_in_done(&x) ? 0 : -EBADMSG;
}

void nfs4_put_ff_return(struct xdr_out *x, const struct nfs4_ff_return *r)
{
	xdr_put_u32(x, r->nerrors);
	for (uint32_t i = 0; i < r->nerrors; i++)
		nfs4_put_ioerr(x, &r->error[i]);
	xdr_put_u32(x, r->nstats);
	for (uint32_t i = 0; i < r->nstats; i++) {
		const struct nfs4_ff_iostats *s = &r->stats[i];

		xdr_put_u64(x, s->offset);
		xdr_put_u64(x, s->length);
		nfs4_put_stateid(x, &s->stateid);
		nfs4_put_io_info(x, &s->read);
		nfs4_put_io_info(x, &s->write);
		nfs4_put_deviceid(x, &s->device);
		nfs4_put_ff_update(x, &s->update);
	}
}

static void get_iostats(struct xdr_in *x, struct nfs4_ff_iostats *s)
{
	s->offset = xdr_get_u64(x);
	s->length = xdr_get_u64(x);
	nfs4_get_stateid(x, &s->stateid);
	nfs4_get_io_info(x, &s->read);
	nfs4_get_io_info(x, &s->write);
	nfs4_get_deviceid(x, &s->device);
	get_update(x, &s->update);
}

#define IOERR_MIN   (8 + 8 + 4 + NFS4_STATEID_OTHER + 4)
#define UPDATE_MIN  (4 + 4 + 4 + 2 * (5 * 8 + 2 * 12) + 12 + 4)
#define IOSTATS_MIN (8 + 8 + 4 + NFS4_STATEID_OTHER + 4 * 8 + NFS4_DEVICEID_SIZE + UPDATE_MIN)

int nfs4_get_ff_return(const struct nfs4_opaque *body, struct nfs4_ff_return *r)
{
	struct nfs4_layouterror_args e;
	struct nfs4_ff_iostats s;
	struct xdr_in x;
	uint32_t n;

	r->nerrors = r->nstats = 0;
	r->more_errors = false;
	if (body->len == 0)
		return 0;
	xdr_in_init(&x, body->data, body->len);
	n = xdr_get_count(&x, NFS4_FF_REPORTS_MAX, IOERR_MIN);
	r->more_errors = n > NFS4_FF_ERRORS_KEPT;
	while (n-- > 0 && nfs4_get_layouterror_args(&x, &e) == 0)
		if (r->nerrors < NFS4_FF_ERRORS_KEPT)
			r->error[r->nerrors++] = e;
	n = xdr_get_count(&x, NFS4_FF_REPORTS_MAX, IOSTATS_MIN);
	while (n-- > 0 && xdr_in_ok(&x)) {
		get_iostats(&x, &s);
		if (r->nstats < NFS4_FF_STATS_KEPT)
			r->stats[r->nstats++] = s;
	}
	return xdr_in_done(&x) ? 0 : -EBADMSG;
}

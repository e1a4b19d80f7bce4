/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_layout: coders of the operations of pNFS.
 */
#include "nfsproto/wire/nfs4_xdr_layout.h"

#include <string.h>

void nfs4_put_deviceid(struct xdr_out *x, const struct nfs4_deviceid *d)
{
	xdr_put_fixed(x, d->id, sizeof(d->id));
}

int nfs4_get_deviceid(struct xdr_in *x, struct nfs4_deviceid *d)
{
	xdr_get_fixed(x, d->id, sizeof(d->id));
	return nfs4_got(x);
}

/* --- GETDEVICEINFO ---------------------------------------------------------------------------- */

void nfs4_put_getdeviceinfo_args(struct xdr_out *x, const struct nfs4_getdeviceinfo_args *a)
{
	nfs4_put_op(x, OP_GETDEVICEINFO);
	nfs4_put_deviceid(x, &a->device);
	xdr_put_u32(x, a->type);
	xdr_put_u32(x, a->maxcount);
	nfs4_put_bitmap(x, &a->notify);
}

int nfs4_get_getdeviceinfo_args(struct xdr_in *x, struct nfs4_getdeviceinfo_args *a)
{
	nfs4_get_deviceid(x, &a->device);
	a->type = xdr_get_u32(x);
	a->maxcount = xdr_get_u32(x);
	return nfs4_get_bitmap(x, &a->notify);
}

void nfs4_put_getdeviceinfo_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_getdeviceinfo_res *r)
{
	nfs4_put_op_res(x, OP_GETDEVICEINFO, status);
	if (status == NFS4ERR_TOOSMALL)
		xdr_put_u32(x, r->mincount);
	if (status != NFS4_OK)
		return;
	xdr_put_u32(x, r->type);
	nfs4_put_opaque(x, &r->body);
	nfs4_put_bitmap(x, &r->notify);
}

int nfs4_get_getdeviceinfo_res(struct xdr_in *x, uint32_t status, struct nfs4_getdeviceinfo_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status == NFS4ERR_TOOSMALL)
		r->mincount = xdr_get_u32(x);
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->type = xdr_get_u32(x);
	nfs4_get_opaque(x, NFS4_LAYOUT_BODY_MAX, &r->body);
	return nfs4_get_bitmap(x, &r->notify);
}

/* --- LAYOUTCOMMIT ----------------------------------------------------------------------------- */

void nfs4_put_layoutcommit_args(struct xdr_out *x, const struct nfs4_layoutcommit_args *a)
{
	nfs4_put_op(x, OP_LAYOUTCOMMIT);
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->length);
	xdr_put_bool(x, a->reclaim);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_bool(x, a->wrote);
	if (a->wrote)
		xdr_put_u64(x, a->last);
	xdr_put_bool(x, a->modified);
	if (a->modified)
		nfs4_put_time(x, &a->mtime);
	xdr_put_u32(x, a->type);
	nfs4_put_opaque(x, &a->body);
}

int nfs4_get_layoutcommit_args(struct xdr_in *x, struct nfs4_layoutcommit_args *a)
{
	memset(a, 0, sizeof(*a));
	a->offset = xdr_get_u64(x);
	a->length = xdr_get_u64(x);
	a->reclaim = xdr_get_bool(x);
	nfs4_get_stateid(x, &a->stateid);
	a->wrote = xdr_get_bool(x);
	if (a->wrote)
		a->last = xdr_get_u64(x);
	a->modified = xdr_get_bool(x);
	if (a->modified)
		nfs4_get_time(x, &a->mtime);
	a->type = xdr_get_u32(x);
	return nfs4_get_opaque(x, NFS4_LAYOUT_BODY_MAX, &a->body);
}

void nfs4_put_layoutcommit_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_layoutcommit_res *r)
{
	nfs4_put_op_res(x, OP_LAYOUTCOMMIT, status);
	if (status != NFS4_OK)
		return;
	xdr_put_bool(x, r->resized);
	if (r->resized)
		xdr_put_u64(x, r->size);
}

int nfs4_get_layoutcommit_res(struct xdr_in *x, uint32_t status, struct nfs4_layoutcommit_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->resized = xdr_get_bool(x);
	if (r->resized)
		r->size = xdr_get_u64(x);
	return nfs4_got(x);
}

/* --- LAYOUTGET -------------------------------------------------------------------------------- */

void nfs4_put_layoutget_args(struct xdr_out *x, const struct nfs4_layoutget_args *a)
{
	nfs4_put_op(x, OP_LAYOUTGET);
	xdr_put_bool(x, a->signal);
	xdr_put_u32(x, a->type);
	xdr_put_u32(x, a->iomode);
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->length);
	xdr_put_u64(x, a->minlength);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u32(x, a->maxcount);
}

int nfs4_get_layoutget_args(struct xdr_in *x, struct nfs4_layoutget_args *a)
{
	a->signal = xdr_get_bool(x);
	a->type = xdr_get_u32(x);
	a->iomode = xdr_get_u32(x);
	a->offset = xdr_get_u64(x);
	a->length = xdr_get_u64(x);
	a->minlength = xdr_get_u64(x);
	nfs4_get_stateid(x, &a->stateid);
	a->maxcount = xdr_get_u32(x);
	return nfs4_got(x);
}

static void put_layout(struct xdr_out *x, const struct nfs4_layout *l)
{
	xdr_put_u64(x, l->offset);
	xdr_put_u64(x, l->length);
	xdr_put_u32(x, l->iomode);
	xdr_put_u32(x, l->type);
	nfs4_put_opaque(x, &l->body);
}

static void get_layout(struct xdr_in *x, struct nfs4_layout *l)
{
	l->offset = xdr_get_u64(x);
	l->length = xdr_get_u64(x);
	l->iomode = nfs4_get_enum(x, LAYOUTIOMODE4_READ, LAYOUTIOMODE4_RW);
	l->type = xdr_get_u32(x);
	nfs4_get_opaque(x, NFS4_LAYOUT_BODY_MAX, &l->body);
}

void nfs4_put_layoutget_res(struct xdr_out *x, uint32_t status, const struct nfs4_layoutget_res *r)
{
	nfs4_put_op_res(x, OP_LAYOUTGET, status);
	if (status == NFS4ERR_LAYOUTTRYLATER)
		xdr_put_bool(x, r->will_signal);
	if (status != NFS4_OK)
		return;
	xdr_put_bool(x, r->return_on_close);
	nfs4_put_stateid(x, &r->stateid);
	xdr_put_u32(x, r->n);
	for (uint32_t i = 0; i < r->n; i++)
		put_layout(x, &r->layout[i]);
}

int nfs4_get_layoutget_res(struct xdr_in *x, uint32_t status, struct nfs4_layoutget_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status == NFS4ERR_LAYOUTTRYLATER)
		r->will_signal = xdr_get_bool(x);
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->return_on_close = xdr_get_bool(x);
	nfs4_get_stateid(x, &r->stateid);
	r->n = xdr_get_count(x, NFS4_LAYOUTS_MAX, 28);
	for (uint32_t i = 0; i < r->n; i++)
		get_layout(x, &r->layout[i]);
	return nfs4_got(x);
}

/* --- LAYOUTRETURN ----------------------------------------------------------------------------- */

void nfs4_put_layoutreturn_args(struct xdr_out *x, const struct nfs4_layoutreturn_args *a)
{
	nfs4_put_op(x, OP_LAYOUTRETURN);
	xdr_put_bool(x, a->reclaim);
	xdr_put_u32(x, a->type);
	xdr_put_u32(x, a->iomode);
	xdr_put_u32(x, a->what);
	if (a->what != LAYOUTRETURN4_FILE)
		return;
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->length);
	nfs4_put_stateid(x, &a->stateid);
	nfs4_put_opaque(x, &a->body);
}

int nfs4_get_layoutreturn_args(struct xdr_in *x, struct nfs4_layoutreturn_args *a)
{
	memset(a, 0, sizeof(*a));
	a->reclaim = xdr_get_bool(x);
	a->type = xdr_get_u32(x);
	a->iomode = xdr_get_u32(x);
	a->what = nfs4_get_enum(x, LAYOUTRETURN4_FILE, LAYOUTRETURN4_ALL);
	if (a->what != LAYOUTRETURN4_FILE)
		return nfs4_got(x);
	a->offset = xdr_get_u64(x);
	a->length = xdr_get_u64(x);
	nfs4_get_stateid(x, &a->stateid);
	return nfs4_get_opaque(x, NFS4_LAYOUT_BODY_MAX, &a->body);
}

void nfs4_put_layoutreturn_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_layoutreturn_res *r)
{
	nfs4_put_op_res(x, OP_LAYOUTRETURN, status);
	if (status != NFS4_OK)
		return;
	xdr_put_bool(x, r->left);
	if (r->left)
		nfs4_put_stateid(x, &r->stateid);
}

int nfs4_get_layoutreturn_res(struct xdr_in *x, uint32_t status, struct nfs4_layoutreturn_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->left = xdr_get_bool(x);
	return r->left ? nfs4_get_stateid(x, &r->stateid) : nfs4_got(x);
}

/* --- LAYOUTERROR, LAYOUTSTATS ----------------------------------------------------------------- */

void nfs4_put_ioerr(struct xdr_out *x, const struct nfs4_layouterror_args *a)
{
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->length);
	nfs4_put_stateid(x, &a->stateid);
	xdr_put_u32(x, a->n);
	for (uint32_t i = 0; i < a->n; i++) {
		nfs4_put_deviceid(x, &a->error[i].device);
		xdr_put_u32(x, a->error[i].status);
		xdr_put_u32(x, a->error[i].op);
	}
}

void nfs4_put_layouterror_args(struct xdr_out *x, const struct nfs4_layouterror_args *a)
{
	nfs4_put_op(x, OP_LAYOUTERROR);
	nfs4_put_ioerr(x, a);
}

int nfs4_get_layouterror_args(struct xdr_in *x, struct nfs4_layouterror_args *a)
{
	struct nfs4_device_error e;
	uint32_t n;

	a->offset = xdr_get_u64(x);
	a->length = xdr_get_u64(x);
	nfs4_get_stateid(x, &a->stateid);
	a->n = 0;
	n = xdr_get_count(x, NFS4_DEVICE_ERRORS_MAX, NFS4_DEVICEID_SIZE + 8);
	a->more = n > NFS4_DEVICE_ERRORS_KEPT;
	while (n-- > 0) {
		nfs4_get_deviceid(x, &e.device);
		e.status = xdr_get_u32(x);
		e.op = xdr_get_u32(x);
		if (a->n < NFS4_DEVICE_ERRORS_KEPT)
			a->error[a->n++] = e;
	}
	return nfs4_got(x);
}

void nfs4_put_io_info(struct xdr_out *x, const struct nfs4_io_info *i)
{
	xdr_put_u64(x, i->count);
	xdr_put_u64(x, i->bytes);
}

int nfs4_get_io_info(struct xdr_in *x, struct nfs4_io_info *i)
{
	i->count = xdr_get_u64(x);
	i->bytes = xdr_get_u64(x);
	return nfs4_got(x);
}

void nfs4_put_layoutstats_args(struct xdr_out *x, const struct nfs4_layoutstats_args *a)
{
	nfs4_put_op(x, OP_LAYOUTSTATS);
	xdr_put_u64(x, a->offset);
	xdr_put_u64(x, a->length);
	nfs4_put_stateid(x, &a->stateid);
	nfs4_put_io_info(x, &a->read);
	nfs4_put_io_info(x, &a->write);
	nfs4_put_deviceid(x, &a->device);
	xdr_put_u32(x, a->type);
	nfs4_put_opaque(x, &a->body);
}

int nfs4_get_layoutstats_args(struct xdr_in *x, struct nfs4_layoutstats_args *a)
{
	a->offset = xdr_get_u64(x);
	a->length = xdr_get_u64(x);
	nfs4_get_stateid(x, &a->stateid);
	nfs4_get_io_info(x, &a->read);
	nfs4_get_io_info(x, &a->write);
	nfs4_get_deviceid(x, &a->device);
	a->type = xdr_get_u32(x);
	return nfs4_get_opaque(x, NFS4_LAYOUT_BODY_MAX, &a->body);
}

/* --- CB_NOTIFY_DEVICEID ----------------------------------------------------------------------- */

#define DELETE_LEN (4 + NFS4_DEVICEID_SIZE) /* notify_deviceid_delete4 */
#define CHANGE_LEN (DELETE_LEN + 4)	    /* notify_deviceid_change4 */

void nfs4_put_cb_notify_deviceid_args(
	struct xdr_out *x, const struct nfs4_cb_notify_deviceid_args *a)
{
	nfs4_put_op(x, OP_CB_NOTIFY_DEVICEID);
	xdr_put_u32(x, a->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct nfs4_device_change *c = &a->change[i];
		struct nfs4_bitmap mask = {{0}, false};

		nfs4_bit_set(&mask, c->deleted ? NOTIFY_DEVICEID4_DELETE : NOTIFY_DEVICEID4_CHANGE);
		nfs4_put_bitmap(x, &mask);
		xdr_put_u32(x, c->deleted ? DELETE_LEN : CHANGE_LEN);
		xdr_put_u32(x, c->type);
		nfs4_put_deviceid(x, &c->device);
		if (!c->deleted)
			xdr_put_bool(x, c->immediate);
	}
}

/* The value of one bit of a notify4. */
static void get_change(struct xdr_in *x, bool deleted, struct nfs4_cb_notify_deviceid_args *a)
{
	struct nfs4_device_change c = {.deleted = deleted};

	c.type = xdr_get_u32(x);
	nfs4_get_deviceid(x, &c.device);
	if (!deleted)
		c.immediate = xdr_get_bool(x);
	if (a->n < NFS4_DEVICES_KEPT)
		a->change[a->n++] = c;
	else
		a->more = true;
}

int nfs4_get_cb_notify_deviceid_args(struct xdr_in *x, struct nfs4_cb_notify_deviceid_args *a)
{
	const uint32_t known = 1u << NOTIFY_DEVICEID4_CHANGE | 1u << NOTIFY_DEVICEID4_DELETE;
	uint32_t n = xdr_get_count(x, NFS4_DEVICES_MAX, 8);

	memset(a, 0, sizeof(*a));
	while (n-- > 0 && xdr_in_ok(x)) {
		struct nfs4_bitmap mask;
		uint32_t len, want = 0;

		nfs4_get_bitmap(x, &mask);
		len = xdr_get_u32(x);
		if (nfs4_bit(&mask, NOTIFY_DEVICEID4_CHANGE))
			want += CHANGE_LEN;
		if (nfs4_bit(&mask, NOTIFY_DEVICEID4_DELETE))
			want += DELETE_LEN;
		if (mask.w[0] & ~known || mask.w[1] || mask.w[2] || mask.more || len != want)
			return xdr_in_fail(x);
		if (nfs4_bit(&mask, NOTIFY_DEVICEID4_CHANGE))
			get_change(x, false, a);
		if (nfs4_bit(&mask, NOTIFY_DEVICEID4_DELETE))
			get_change(x, true, a);
	}
	return nfs4_got(x);
}

/* --- multipath_list4 -------------------------------------------------------------------------- */

void nfs4_put_multipath(struct xdr_out *x, const struct nfs4_multipath *m)
{
	xdr_put_u32(x, m->n);
	for (uint32_t i = 0; i < m->n; i++) {
		nfs4_put_name(x, &m->addr[i].netid);
		nfs4_put_name(x, &m->addr[i].addr);
	}
}

int nfs4_get_multipath(struct xdr_in *x, struct nfs4_multipath *m)
{
	uint32_t n = xdr_get_count(x, NFS4_MULTIPATH_MAX, 8);
	struct nfs4_netaddr a;

	m->n = 0;
	if (n == 0)
		xdr_in_fail(x);
	while (n-- > 0) {
		nfs4_get_name(x, &a.netid);
		nfs4_get_name(x, &a.addr);
		if (m->n < NFS4_MULTIPATH_KEPT)
			m->addr[m->n++] = a;
	}
	return nfs4_got(x);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_xdr_res: results of NFSv3's procedures (RFC 1813 section 3.3).
 */
#include <errno.h>
#include <string.h>

#include "nfsproto/wire/nfs3_xdr.h"

static int got(const struct xdr_in *x)
{
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

/* Zeroes the result at r and reads the status at the beginning. */
static uint32_t begin(struct xdr_in *x, void *r, size_t size)
{
	uint32_t status = xdr_get_u32(x);

	memset(r, 0, size);
	memcpy(r, &status, sizeof(status));
	return status;
}

/* --- one object ------------------------------------------------------------------------------- */

void nfs3_put_getattr_res(struct xdr_out *x, const struct nfs3_getattr_res *r)
{
	xdr_put_u32(x, r->status);
	if (r->status == NFS3_OK)
		nfs3_put_attr(x, &r->attr);
}

int nfs3_get_getattr_res(struct xdr_in *x, struct nfs3_getattr_res *r)
{
	if (begin(x, r, sizeof(*r)) != NFS3_OK)
		return got(x);
	return nfs3_get_attr(x, &r->attr);
}

void nfs3_put_wcc_res(struct xdr_out *x, const struct nfs3_wcc_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_wcc(x, &r->wcc);
}

int nfs3_get_wcc_res(struct xdr_in *x, struct nfs3_wcc_res *r)
{
	begin(x, r, sizeof(*r));
	return nfs3_get_wcc(x, &r->wcc);
}

void nfs3_put_access_res(struct xdr_out *x, const struct nfs3_access_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_post_op(x, &r->obj);
	if (r->status == NFS3_OK)
		xdr_put_u32(x, r->access);
}

int nfs3_get_access_res(struct xdr_in *x, struct nfs3_access_res *r)
{
	uint32_t status = begin(x, r, sizeof(*r));

	nfs3_get_post_op(x, &r->obj);
	if (status == NFS3_OK)
		r->access = xdr_get_u32(x);
	return got(x);
}

void nfs3_put_readlink_res(struct xdr_out *x, const struct nfs3_readlink_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_post_op(x, &r->obj);
	if (r->status != NFS3_OK)
		return;
	if (r->data.n)
		xdr_put_payload_list(x, &r->data);
	else
		nfs3_put_name(x, &r->target);
}

int nfs3_get_readlink_res(struct xdr_in *x, struct nfs3_readlink_res *r)
{
	uint32_t status = begin(x, r, sizeof(*r));

	nfs3_get_post_op(x, &r->obj);
	return status == NFS3_OK ? nfs3_get_name(x, &r->target) : got(x);
}

void nfs3_put_read_res(struct xdr_out *x, const struct nfs3_read_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_post_op(x, &r->obj);
	if (r->status != NFS3_OK)
		return;
	xdr_put_u32(x, r->count);
	xdr_put_bool(x, r->eof);
	xdr_put_payload_list(x, &r->data);
}

int nfs3_get_read_res(struct xdr_in *x, struct nfs3_read_res *r)
{
	uint32_t status = begin(x, r, sizeof(*r));

	nfs3_get_post_op(x, &r->obj);
	if (status == NFS3_OK) {
		r->count = xdr_get_u32(x);
		r->eof = xdr_get_bool(x);
	}
	return got(x);
}

size_t nfs3_peek_read(const void *res, size_t n)
{
	struct nfs3_read_res r;
	struct xdr_in x;

	xdr_in_init(&x, res, n);
	if (nfs3_get_read_res(&x, &r) || r.status != NFS3_OK)
		return 0;
	xdr_get_u32(&x); /* the data's length */
	return xdr_in_ok(&x) ? x.pos : 0;
}

void nfs3_put_write_res(struct xdr_out *x, const struct nfs3_write_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_wcc(x, &r->wcc);
	if (r->status != NFS3_OK)
		return;
	xdr_put_u32(x, r->count);
	xdr_put_u32(x, r->committed);
	xdr_put_fixed(x, r->verf, sizeof(r->verf));
}

int nfs3_get_write_res(struct xdr_in *x, struct nfs3_write_res *r)
{
	uint32_t status = begin(x, r, sizeof(*r));

	nfs3_get_wcc(x, &r->wcc);
	if (status == NFS3_OK) {
		r->count = xdr_get_u32(x);
		r->committed = xdr_get_u32(x);
		xdr_get_fixed(x, r->verf, sizeof(r->verf));
		if (r->committed > NFS_FILE_SYNC)
			return xdr_in_fail(x);
	}
	return got(x);
}

void nfs3_put_commit_res(struct xdr_out *x, const struct nfs3_commit_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_wcc(x, &r->wcc);
	if (r->status == NFS3_OK)
		xdr_put_fixed(x, r->verf, sizeof(r->verf));
}

int nfs3_get_commit_res(struct xdr_in *x, struct nfs3_commit_res *r)
{
	uint32_t status = begin(x, r, sizeof(*r));

	nfs3_get_wcc(x, &r->wcc);
	if (status == NFS3_OK)
		xdr_get_fixed(x, r->verf, sizeof(r->verf));
	return got(x);
}

/* --- names ------------------------------------------------------------------------------------ */

void nfs3_put_lookup_res(struct xdr_out *x, const struct nfs3_lookup_res *r)
{
	xdr_put_u32(x, r->status);
	if (r->status == NFS3_OK) {
		nfs3_put_fh(x, &r->fh);
		nfs3_put_post_op(x, &r->obj);
	}
	nfs3_put_post_op(x, &r->dir);
}

int nfs3_get_lookup_res(struct xdr_in *x, struct nfs3_lookup_res *r)
{
	if (begin(x, r, sizeof(*r)) == NFS3_OK) {
		nfs3_get_fh(x, &r->fh);
		nfs3_get_post_op(x, &r->obj);
	}
	return nfs3_get_post_op(x, &r->dir);
}

/* post_op_fh3 */
static void put_post_op_fh(struct xdr_out *x, bool have, const struct nfs_fh *fh)
{
	xdr_put_bool(x, have);
	if (have)
		nfs3_put_fh(x, fh);
}

/* An empty handle counts as none. */
static bool get_post_op_fh(struct xdr_in *x, struct nfs_fh *fh)
{
	if (!xdr_get_bool(x)) {
		fh->len = 0;
		return false;
	}
	nfs3_get_any_fh(x, fh);
	return fh->len > 0;
}

void nfs3_put_create_res(struct xdr_out *x, const struct nfs3_create_res *r)
{
	xdr_put_u32(x, r->status);
	if (r->status == NFS3_OK) {
		put_post_op_fh(x, r->have_fh, &r->fh);
		nfs3_put_post_op(x, &r->obj);
	}
	nfs3_put_wcc(x, &r->dir);
}

int nfs3_get_create_res(struct xdr_in *x, struct nfs3_create_res *r)
{
	if (begin(x, r, sizeof(*r)) == NFS3_OK) {
		r->have_fh = get_post_op_fh(x, &r->fh);
		nfs3_get_post_op(x, &r->obj);
	}
	return nfs3_get_wcc(x, &r->dir);
}

void nfs3_put_rename_res(struct xdr_out *x, const struct nfs3_rename_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_wcc(x, &r->from);
	nfs3_put_wcc(x, &r->to);
}

int nfs3_get_rename_res(struct xdr_in *x, struct nfs3_rename_res *r)
{
	begin(x, r, sizeof(*r));
	nfs3_get_wcc(x, &r->from);
	return nfs3_get_wcc(x, &r->to);
}

void nfs3_put_link_res(struct xdr_out *x, const struct nfs3_link_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_post_op(x, &r->obj);
	nfs3_put_wcc(x, &r->dir);
}

int nfs3_get_link_res(struct xdr_in *x, struct nfs3_link_res *r)
{
	begin(x, r, sizeof(*r));
	nfs3_get_post_op(x, &r->obj);
	return nfs3_get_wcc(x, &r->dir);
}

/* --- the file system -------------------------------------------------------------------------- */

void nfs3_put_fsstat_res(struct xdr_out *x, const struct nfs3_fsstat_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_post_op(x, &r->obj);
	if (r->status != NFS3_OK)
		return;
	xdr_put_u64(x, r->st.tbytes);
	xdr_put_u64(x, r->st.fbytes);
	xdr_put_u64(x, r->st.abytes);
	xdr_put_u64(x, r->st.tfiles);
	xdr_put_u64(x, r->st.ffiles);
	xdr_put_u64(x, r->st.afiles);
	xdr_put_u32(x, r->invarsec);
}

int nfs3_get_fsstat_res(struct xdr_in *x, struct nfs3_fsstat_res *r)
{
	uint32_t status = begin(x, r, sizeof(*r));

	nfs3_get_post_op(x, &r->obj);
	if (status != NFS3_OK)
		return got(x);
	r->st.tbytes = xdr_get_u64(x);
	r->st.fbytes = xdr_get_u64(x);
	r->st.abytes = xdr_get_u64(x);
	r->st.tfiles = xdr_get_u64(x);
	r->st.ffiles = xdr_get_u64(x);
	r->st.afiles = xdr_get_u64(x);
	r->invarsec = xdr_get_u32(x);
	return got(x);
}

void nfs3_put_fsinfo_res(struct xdr_out *x, const struct nfs3_fsinfo_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_post_op(x, &r->obj);
	if (r->status != NFS3_OK)
		return;
	xdr_put_u32(x, r->rtmax);
	xdr_put_u32(x, r->rtpref);
	xdr_put_u32(x, r->rtmult);
	xdr_put_u32(x, r->wtmax);
	xdr_put_u32(x, r->wtpref);
	xdr_put_u32(x, r->wtmult);
	xdr_put_u32(x, r->dtpref);
	xdr_put_u64(x, r->maxfilesize);
	nfs3_put_time(x, &r->time_delta);
	xdr_put_u32(x, r->properties);
}

int nfs3_get_fsinfo_res(struct xdr_in *x, struct nfs3_fsinfo_res *r)
{
	uint32_t status = begin(x, r, sizeof(*r));

	nfs3_get_post_op(x, &r->obj);
	if (status != NFS3_OK)
		return got(x);
	r->rtmax = xdr_get_u32(x);
	r->rtpref = xdr_get_u32(x);
	r->rtmult = xdr_get_u32(x);
	r->wtmax = xdr_get_u32(x);
	r->wtpref = xdr_get_u32(x);
	r->wtmult = xdr_get_u32(x);
	r->dtpref = xdr_get_u32(x);
	r->maxfilesize = xdr_get_u64(x);
	nfs3_get_time(x, &r->time_delta);
	r->properties = xdr_get_u32(x);
	return got(x);
}

void nfs3_put_pathconf_res(struct xdr_out *x, const struct nfs3_pathconf_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_post_op(x, &r->obj);
	if (r->status != NFS3_OK)
		return;
	xdr_put_u32(x, r->linkmax);
	xdr_put_u32(x, r->name_max);
	xdr_put_bool(x, r->no_trunc);
	xdr_put_bool(x, r->chown_restricted);
	xdr_put_bool(x, r->case_insensitive);
	xdr_put_bool(x, r->case_preserving);
}

int nfs3_get_pathconf_res(struct xdr_in *x, struct nfs3_pathconf_res *r)
{
	uint32_t status = begin(x, r, sizeof(*r));

	nfs3_get_post_op(x, &r->obj);
	if (status != NFS3_OK)
		return got(x);
	r->linkmax = xdr_get_u32(x);
	r->name_max = xdr_get_u32(x);
	r->no_trunc = xdr_get_bool(x);
	r->chown_restricted = xdr_get_bool(x);
	r->case_insensitive = xdr_get_bool(x);
	r->case_preserving = xdr_get_bool(x);
	return got(x);
}

/* --- directories ------------------------------------------------------------------------------ */

void nfs3_put_readdir_res(struct xdr_out *x, const struct nfs3_readdir_res *r)
{
	xdr_put_u32(x, r->status);
	nfs3_put_post_op(x, &r->dir);
	if (r->status == NFS3_OK)
		xdr_put_fixed(x, r->verf, sizeof(r->verf));
}

int nfs3_get_readdir_res(struct xdr_in *x, struct nfs3_readdir_res *r)
{
	uint32_t status = begin(x, r, sizeof(*r));

	nfs3_get_post_op(x, &r->dir);
	if (status == NFS3_OK)
		xdr_get_fixed(x, r->verf, sizeof(r->verf));
	return got(x);
}

int nfs3_get_entry(struct xdr_in *x, bool plus, struct nfs3_entry *ent, bool *eof)
{
	memset(ent, 0, sizeof(*ent));
	*eof = false;
	if (!xdr_get_bool(x)) {
		*eof = xdr_get_bool(x);
		return got(x);
	}
	ent->fileid = xdr_get_u64(x);
	nfs3_get_name(x, &ent->name);
	ent->cookie = xdr_get_u64(x);
	if (plus) {
		nfs3_get_post_op(x, &ent->obj);
		ent->have_fh = get_post_op_fh(x, &ent->fh);
	}
	return xdr_in_ok(x) ? 1 : -EBADMSG;
}

#define ENTRIES_TAIL 8 /* no further entry, eof */

void nfs3_entries_begin(struct nfs3_entries *e, struct xdr_out *x, bool plus,
	const struct nfs3_post_op *dir, const uint8_t verf[NFS3_COOKIEVERFSIZE], uint32_t maxcount)
{
	size_t body, room;

	e->x = x;
	e->n = 0;
	e->plus = plus;
	e->start = x->len;
	xdr_put_u32(x, NFS3_OK);
	e->dead = !xdr_out_ok(x);
	body = x->len;
	nfs3_put_post_op(x, dir);
	xdr_put_fixed(x, verf, NFS3_COOKIEVERFSIZE);
	room = x->cap - body;
	if (room > maxcount)
		room = maxcount;
	/* room for the tail is set aside here, so that ending the list cannot fail */
	e->limit = room > ENTRIES_TAIL ? body + room - ENTRIES_TAIL : body;
}

bool nfs3_entries_add(struct nfs3_entries *e, const struct nfs3_entry *ent)
{
	size_t mark = e->x->len;

	xdr_put_bool(e->x, true);
	xdr_put_u64(e->x, ent->fileid);
	nfs3_put_name(e->x, &ent->name);
	xdr_put_u64(e->x, ent->cookie);
	if (e->plus) {
		nfs3_put_post_op(e->x, &ent->obj);
		put_post_op_fh(e->x, ent->have_fh, &ent->fh);
	}
	if (xdr_out_ok(e->x) && e->x->len <= e->limit) {
		e->n++;
		return true;
	}
	if (!e->dead) {
		e->x->overflow = false; /* the overflow was the entry's own */
		e->x->len = mark;
	}
	return false;
}

uint32_t nfs3_entries_end(struct nfs3_entries *e, const struct nfs3_post_op *dir, bool eof)
{
	const struct nfs3_readdir_res small = {.status = NFS3ERR_TOOSMALL, .dir = *dir};

	if (e->dead)
		return NFS3ERR_TOOSMALL;
	/* limit leaves room for the tail, but a maxcount below head and tail leaves none */
	if ((e->n == 0 && !eof) || e->x->len > e->limit || !xdr_out_ok(e->x)) {
		e->x->len = e->start;
		e->x->overflow = false;
		nfs3_put_readdir_res(e->x, &small);
		return NFS3ERR_TOOSMALL;
	}
	xdr_put_bool(e->x, false);
	xdr_put_bool(e->x, eof);
	return NFS3_OK;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_xdr: the items that procedures of NFSv3 have in common (RFC 1813 section 2.5 and 2.6). The
 * procedures: nfs3_xdr_args.c, nfs3_xdr_res.c; both by the procedure's number: nfs3_xdr_proc.c.
 */
#include "nfsproto/wire/nfs3_xdr.h"

#include <errno.h>
#include <string.h>

#define NSEC_MAX 999999999u

static int got(const struct xdr_in *x)
{
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

uint64_t nfs3_change(const struct timespec *ctime)
{
	return ((uint64_t)ctime->tv_sec << 30) + (uint64_t)ctime->tv_nsec;
}

int nfs3_get_any_fh(struct xdr_in *x, struct nfs_fh *fh)
{
	const uint8_t *p = xdr_get_opaque(x, NFS3_FHSIZE, &fh->len);

	fh->server = 0;
	if (!p) {
		fh->len = 0;
		return -EBADMSG;
	}
	memcpy(fh->data, p, fh->len);
	return 0;
}

int nfs3_get_fh(struct xdr_in *x, struct nfs_fh *fh)
{
	int rc = nfs3_get_any_fh(x, fh);

	return rc == 0 && fh->len == 0 ? xdr_in_fail(x) : rc;
}

void nfs3_put_fh(struct xdr_out *x, const struct nfs_fh *fh)
{
	xdr_put_opaque(x, fh->data, fh->len);
}

int nfs3_get_name(struct xdr_in *x, struct nfs_name *n)
{
	n->s = (const char *)xdr_get_opaque(x, NFS3_STRING_MAX, &n->len);
	if (!n->s)
		n->len = 0;
	return got(x);
}

void nfs3_put_name(struct xdr_out *x, const struct nfs_name *n)
{
	xdr_put_opaque(x, n->s, n->len);
}

int nfs3_get_time(struct xdr_in *x, struct timespec *t)
{
	uint32_t nsec;

	t->tv_sec = (time_t)xdr_get_u32(x);
	nsec = xdr_get_u32(x);
	t->tv_nsec = (long)(nsec > NSEC_MAX ? NSEC_MAX : nsec);
	return got(x);
}

void nfs3_put_time(struct xdr_out *x, const struct timespec *t)
{
	bool early = t->tv_sec<0, late = t->tv_sec>(int64_t) UINT32_MAX;

	xdr_put_u32(x, early ? 0 : late ? UINT32_MAX : (uint32_t)t->tv_sec);
	xdr_put_u32(x, early ? 0 : late ? NSEC_MAX : (uint32_t)t->tv_nsec);
}

int nfs3_get_attr(struct xdr_in *x, struct nfs_attr *a)
{
	uint32_t type = xdr_get_u32(x);

	memset(a, 0, sizeof(*a));
	if (xdr_in_ok(x) && (type < NFS_REG || type > NFS_FIFO))
		return xdr_in_fail(x);
	a->type = (enum nfs_type)type;
	a->mode = xdr_get_u32(x) & 07777; /* some servers add the type */
	a->nlink = xdr_get_u32(x);
	a->uid = xdr_get_u32(x);
	a->gid = xdr_get_u32(x);
	a->size = xdr_get_u64(x);
	a->used = xdr_get_u64(x);
	a->rdev_major = xdr_get_u32(x);
	a->rdev_minor = xdr_get_u32(x);
	a->fsid_major = xdr_get_u64(x);
	a->fileid = xdr_get_u64(x);
	nfs3_get_time(x, &a->atime);
	nfs3_get_time(x, &a->mtime);
	nfs3_get_time(x, &a->ctime);
	a->change = nfs3_change(&a->ctime);
	return got(x);
}

void nfs3_put_attr(struct xdr_out *x, const struct nfs_attr *a)
{
	xdr_put_u32(x, (uint32_t)a->type);
	xdr_put_u32(x, a->mode);
	xdr_put_u32(x, a->nlink);
	xdr_put_u32(x, a->uid);
	xdr_put_u32(x, a->gid);
	xdr_put_u64(x, a->size);
	xdr_put_u64(x, a->used);
	xdr_put_u32(x, a->rdev_major);
	xdr_put_u32(x, a->rdev_minor);
	xdr_put_u64(x, a->fsid_major);
	xdr_put_u64(x, a->fileid);
	nfs3_put_time(x, &a->atime);
	nfs3_put_time(x, &a->mtime);
	nfs3_put_time(x, &a->ctime);
}

/* One of the two times of sattr3; value and now are its bits. */
static void get_set_time(
	struct xdr_in *x, struct nfs_sattr *s, uint32_t value, uint32_t now, struct timespec *t)
{
	uint32_t sec, nsec;

	switch (xdr_get_u32(x)) {
	case NFS3_DONT_CHANGE:
		break;
	case NFS3_SET_TO_SERVER_TIME:
		s->mask |= now;
		break;
	case NFS3_SET_TO_CLIENT_TIME:
		s->mask |= value;
		sec = xdr_get_u32(x);
		nsec = xdr_get_u32(x);
		if (nsec > NSEC_MAX)
			xdr_in_fail(x);
		t->tv_sec = (time_t)sec;
		t->tv_nsec = (long)nsec;
		break;
	default:
		xdr_in_fail(x);
	}
}

static void get_set_u32(struct xdr_in *x, struct nfs_sattr *s, uint32_t bit, uint32_t *v)
{
	if (!xdr_get_bool(x))
		return;
	s->mask |= bit;
	*v = xdr_get_u32(x);
}

int nfs3_get_sattr(struct xdr_in *x, struct nfs_sattr *s)
{
	memset(s, 0, sizeof(*s));
	get_set_u32(x, s, NFS_SET_MODE, &s->mode);
	get_set_u32(x, s, NFS_SET_UID, &s->uid);
	get_set_u32(x, s, NFS_SET_GID, &s->gid);
	if (xdr_get_bool(x)) {
		s->mask |= NFS_SET_SIZE;
		s->size = xdr_get_u64(x);
	}
	get_set_time(x, s, NFS_SET_ATIME, NFS_SET_ATIME_NOW, &s->atime);
	get_set_time(x, s, NFS_SET_MTIME, NFS_SET_MTIME_NOW, &s->mtime);
	return got(x);
}

static void put_set_u32(struct xdr_out *x, const struct nfs_sattr *s, uint32_t bit, uint32_t v)
{
	xdr_put_bool(x, s->mask & bit);
	if (s->mask & bit)
		xdr_put_u32(x, v);
}

static void put_set_time(struct xdr_out *x, const struct nfs_sattr *s, uint32_t value, uint32_t now,
	const struct timespec *t)
{
	if (s->mask & now) {
		xdr_put_u32(x, NFS3_SET_TO_SERVER_TIME);
	} else if (s->mask & value) {
		xdr_put_u32(x, NFS3_SET_TO_CLIENT_TIME);
		nfs3_put_time(x, t);
	} else {
		xdr_put_u32(x, NFS3_DONT_CHANGE);
	}
}

void nfs3_put_sattr(struct xdr_out *x, const struct nfs_sattr *s)
{
	put_set_u32(x, s, NFS_SET_MODE, s->mode);
	put_set_u32(x, s, NFS_SET_UID, s->uid);
	put_set_u32(x, s, NFS_SET_GID, s->gid);
	xdr_put_bool(x, s->mask & NFS_SET_SIZE);
	if (s->mask & NFS_SET_SIZE)
		xdr_put_u64(x, s->size);
	put_set_time(x, s, NFS_SET_ATIME, NFS_SET_ATIME_NOW, &s->atime);
	put_set_time(x, s, NFS_SET_MTIME, NFS_SET_MTIME_NOW, &s->mtime);
}

int nfs3_get_post_op(struct xdr_in *x, struct nfs3_post_op *p)
{
	memset(p, 0, sizeof(*p));
	if (xdr_get_bool(x))
		p->have = nfs3_get_attr(x, &p->attr) == 0;
	return got(x);
}

void nfs3_put_post_op(struct xdr_out *x, const struct nfs3_post_op *p)
{
	xdr_put_bool(x, p->have);
	if (p->have)
		nfs3_put_attr(x, &p->attr);
}

int nfs3_get_wcc(struct xdr_in *x, struct nfs3_wcc *w)
{
	memset(w, 0, sizeof(*w));
	w->have_before = xdr_get_bool(x);
	if (w->have_before) {
		w->before.size = xdr_get_u64(x);
		nfs3_get_time(x, &w->before.mtime);
		nfs3_get_time(x, &w->before.ctime);
	}
	return nfs3_get_post_op(x, &w->after);
}

void nfs3_put_wcc(struct xdr_out *x, const struct nfs3_wcc *w)
{
	xdr_put_bool(x, w->have_before);
	if (w->have_before) {
		xdr_put_u64(x, w->before.size);
		nfs3_put_time(x, &w->before.mtime);
		nfs3_put_time(x, &w->before.ctime);
	}
	nfs3_put_post_op(x, &w->after);
}

int nfs3_get_dirop(struct xdr_in *x, struct nfs3_dirop *d)
{
	nfs3_get_any_fh(x, &d->dir);
	return nfs3_get_name(x, &d->name);
}

void nfs3_put_dirop(struct xdr_out *x, const struct nfs3_dirop *d)
{
	nfs3_put_fh(x, &d->dir);
	nfs3_put_name(x, &d->name);
}

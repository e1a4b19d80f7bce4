/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v3_readdir: READDIR and READDIRPLUS.
 *
 * NFSv3 clients also get "." and "..". The two entries have the cookies 1 and 2, which dir.h leaves
 * free; dir.h's cookies begin behind 2.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/ops/dir.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/v3/v3.h"

#define COOKIE_DOT    1
#define COOKIE_DOTDOT 2

static const uint8_t cookie_verf[NFS3_COOKIEVERFSIZE] = {'r', 'n', 'f', 's', 'd', 'i', 'r', '3'};

/* A list under way. */
struct list {
	struct v3_call *c;
	struct nfs3_entries e;
	uint32_t dircount,
		names; /* bytes of names, numbers and cookies: the limit, and the sum so far */
};

/* Puts an entry for the object o with attributes *st (o NULL: unknown). False: no room. */
static bool put(struct list *l, struct nfs3_entry *ent, struct obj *o, const struct statx *st)
{
	uint32_t size = 8 + 4 + ent->name.len + xdr_pad(ent->name.len) + 8;

	/* the first entry always goes */
	if (l->e.plus && l->dircount && l->names + size > l->dircount && l->e.n > 0)
		return false;
	l->names += size;
	if (l->e.plus && o) {
		ent->have_fh = true;
		ent->obj.have = !deleg_hides(&l->c->sv->state, o, NULL);
		v3_attr(o, st, &ent->obj.attr);
		ent->fh.len = obj_handle(l->c->sv->objs, o, ent->fh.data);
	}
	return nfs3_entries_add(&l->e, ent);
}

static bool put_dot(struct list *l, const char *name, uint64_t cookie, struct obj *o)
{
	struct nfs3_entry ent = {.cookie = cookie, .name = {name, (uint32_t)strlen(name)}};
	struct statx st;

	if (obj_stat(o, &st) < 0)
		return put(l, &ent, NULL, NULL);
	ent.fileid = st.stx_ino;
	return put(l, &ent, o, &st);
}

/* "." and "..", as far as they lie behind cookie. False: no more fits. */
static bool put_dots(struct list *l, uint64_t cookie)
{
	struct obj_table *objs = l->c->sv->objs;
	struct obj *dir = l->c->o, *up;
	bool ok;

	if (cookie < COOKIE_DOT && !put_dot(l, ".", COOKIE_DOT, dir))
		return false;
	if (cookie >= COOKIE_DOTDOT)
		return true;
	/* the directory's own parent is not visible above the root, or without permission: then the
	 * directory itself */
	if (obj_parent(objs, dir, &up) < 0)
		up = obj_ref(objs, dir);
	ok = put_dot(l, "..", COOKIE_DOTDOT, up);
	obj_unref(objs, up);
	return ok;
}

static bool put_entry(struct list *l, const struct dir_entry *d)
{
	struct nfs3_entry ent = {
		.fileid = d->ino, .cookie = d->cookie, .name = {d->name, d->namelen}};
	struct statx st;
	struct obj *o = NULL;
	bool ok;

	/* an entry that cannot be looked up, or has just gone, is listed without attributes */
	if (l->e.plus && obj_lookup(l->c->sv->objs, l->c->o, d->name, d->namelen, &o, &st) < 0)
		o = NULL;
	ok = put(l, &ent, o, &st);
	obj_unref(l->c->sv->objs, o);
	return ok;
}

/* Puts entries until there are no more (*eof), they do not fit, or an error. 0 or -errno. */
static int put_entries(struct list *l, struct dir_stream *ds, bool *eof)
{
	struct dir_entry d;
	int r;

	while ((r = dir_next(ds, &d)) > 0) {
		if (!put_entry(l, &d)) {
			dir_back(ds);
			return 0;
		}
	}
	*eof = r == 0;
	return r;
}

static int read_dir(struct list *l, uint64_t cookie, bool *eof)
{
	struct serve *sv = l->c->sv;
	struct dir_stream *ds;
	int r;

	if (cookie <= COOKIE_DOTDOT) {
		if (!put_dots(l, cookie))
			return 0;
		cookie = 0; /* dir.h's beginning */
	}
	r = dir_open(sv->dirs, l->c->o, cookie, &ds);
	if (r < 0)
		return r;
	r = put_entries(l, ds, eof);
	dir_close(sv->dirs, ds, r == 0 && !*eof && l->e.n > 0);
	return r;
}

uint32_t v3_readdir(struct v3_call *c, const struct nfs3_args *args)
{
	const struct nfs3_readdir_args *a = &args->u.readdir;
	struct list l = {.c = c, .dircount = a->dircount};
	struct nfs3_post_op dir;
	uint32_t max = c->req->res_max > 4 ? c->req->res_max - 4 : 0;
	bool eof = false;
	int r;

	v3_post_op(c->o, &dir);
	c->res.u.readdir.dir = dir;
	if (a->cookie < COOKIE_DOTDOT && !obj_allowed(c->o, R_OK)) /* dir_open() comes later */
		return NFS4ERR_ACCESS;
	if (a->cookie && memcmp(a->verf, cookie_verf, sizeof(cookie_verf)) != 0)
		return NFS4ERR_BAD_COOKIE;
	nfs3_entries_begin(&l.e, &c->req->res, args->proc == NFS3PROC_READDIRPLUS, &dir,
		cookie_verf, a->maxcount < max ? a->maxcount : max);
	r = read_dir(&l, a->cookie, &eof);
	if (r < 0) {
		c->req->res.len = l.e.start;
		c->req->res.overflow = false;
		return r == -EINVAL && a->cookie ? NFS4ERR_BAD_COOKIE : nfs4_errno_status(r);
	}
	c->put = true;
	return nfs3_entries_end(&l.e, &dir, eof);
}

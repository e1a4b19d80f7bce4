/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * referral: directories that stand for the exports of other servers (--refer).
 */
#include "contrib/serve/export/referral.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/export/place.h"

#define FSID_MAJOR 0x7265666572ull /* no file system's device number */

/* The places of one directory. */
struct referral {
	struct obj *o; /* referenced: the table then knows one object for the directory */
	unsigned n;
	uint8_t xdr[REFERRALS_MAX * 8 * PLACE_MAX]; /* fs_locations4 */
	uint32_t len, count_at; /* in bytes; where xdr has the number of places */
};

struct referrals {
	struct obj_table *objs;
	unsigned n;
	struct referral *list[REFERRALS_MAX];
};

/* A spec in parts. */
struct spec {
	char path[PLACE_MAX];
	struct place at;
};

static int parse(const char *text, struct spec *s, struct err *e)
{
	const char *equals = strchr(text, '=');

	if (strlen(text) >= PLACE_MAX || text[0] != '/' || !equals || !place_is_one(equals + 1))
		return err_set(e, ERR_USAGE,
			"--refer %.300s: /PATH=SERVER:/EXPORT is wanted, such as "
			"/archive=server2:/srv/archive",
			text);
	snprintf(s->path, sizeof(s->path), "%.*s", (int)(equals - text), text);
	return place_parse("--refer", text, equals + 1, &s->at, e);
}

struct walk {
	struct obj_table *t;
	struct obj *at;
};

static int walk_name(void *ctx, const char *name, size_t len)
{
	struct walk *w = ctx;
	struct obj *next;
	int r = obj_lookup(w->t, w->at, name, len, &next, NULL);

	if (r == 0) {
		obj_unref(w->t, w->at);
		w->at = next;
	}
	return r;
}

/* The directory that path names, referenced; NULL: *error. */
static struct obj *find(struct obj_table *t, const char *path, int *error)
{
	struct walk w = {.t = t, .at = obj_root(t)};

	*error = place_each_name(path, walk_name, &w);
	if (!*error && !S_ISDIR(w.at->type))
		*error = -ENOTDIR;
	return *error ? obj_unref(t, w.at) : w.at;
}

/* The referral of o, which *r gets if there is none. */
static struct referral *referral_of(struct referrals *r, struct obj *o, const char *path)
{
	struct referral *one = (struct referral *)o->referral;
	struct xdr_out x;

	if (one || r->n == REFERRALS_MAX)
		return one;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	xdr_out_init(&x, one->xdr, sizeof(one->xdr));
	place_put_path(&x, path);
	one->count_at = (uint32_t)x.len;
	xdr_put_u32(&x, 0);
	one->len = (uint32_t)x.len;
	one->o = obj_ref(r->objs, o);
	o->referral = one;
	r->list[r->n++] = one;
	return one;
}

/* The directory may have another path, by a bind mount, than the one in one->xdr. */
static void add_place(struct referral *one, const struct spec *s)
{
	struct xdr_out x;

	one->n++;
	xdr_out_init(&x, one->xdr + one->count_at, 4);
	xdr_put_u32(&x, one->n);
	xdr_out_init(&x, one->xdr + one->len, sizeof(one->xdr) - one->len);
	xdr_put_u32(&x, 1);
	xdr_put_opaque(&x, s->at.server, (uint32_t)strlen(s->at.server));
	place_put_path(&x, s->at.export);
	one->len += (uint32_t)x.len;
}

static int add(struct referrals *r, const char *text, struct err *e)
{
	struct referral *one;
	struct obj *o;
	struct spec s;
	int error;

	if (parse(text, &s, e))
		return -1;
	o = find(r->objs, s.path, &error);
	if (!o)
		return err_set(e, ERR_USAGE,
			"--refer %.300s: the exported directory has no directory %.300s (%s): make "
			"an empty one there",
			text, s.path, strerror(-error));
	one = referral_of(r, o, s.path);
	obj_unref(r->objs, o);
	if (!one)
		return err_set(e, ERR_INTERNAL, "out of memory");
	add_place(one, &s);
	return 0;
}

struct referrals *referrals_new(
	struct obj_table *t, const char *const *specs, unsigned n, struct err *e)
{
	struct referrals *r = calloc(1, sizeof(*r));

	if (!r) {
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	r->objs = t;
	for (unsigned i = 0; i < n; i++)
		if (add(r, specs[i], e)) {
			referrals_free(r);
			return NULL;
		}
	return r;
}

void referrals_free(struct referrals *r)
{
	for (unsigned i = 0; r && i < r->n; i++) {
		r->list[i]->o->referral = NULL;
		obj_unref(r->objs, r->list[i]->o);
		free(r->list[i]);
	}
	free(r);
}

void referral_attrs(const struct obj *o, const struct nfs4_bitmap *want, struct nfs4_attrs *a)
{
	const struct nfs4_bitmap known = nfs4_bits(FATTR4_FSID, FATTR4_FS_LOCATIONS,
		FATTR4_RDATTR_ERROR, FATTR4_MOUNTED_ON_FILEID, -1);

	memset(a, 0, sizeof(*a));
	a->mask = nfs4_bits_and(want, &known);
	/* RFC 8881 section 11.4.2 */
	a->rdattr_error = nfs4_bit(want, FATTR4_FS_LOCATIONS) ? NFS4_OK : NFS4ERR_MOVED;
	a->attr.fsid_major = FSID_MAJOR;
	a->attr.fsid_minor = a->mounted_on_fileid = o->id.ino;
	a->fs_locations = (struct nfs4_opaque){o->referral->xdr, o->referral->len};
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * referral: directories that stand for the exports of other servers (--refer).
 */
#include "contrib/serve/export/referral.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEC_MAX   1000
#define FSID_MAJOR 0x7265666572ull /* no file system's device number */

/* The places of one directory. */
struct referral {
	struct obj *o; /* referenced: the table then knows one object for the directory */
	unsigned n;
	uint8_t xdr[REFERRALS_MAX * 8 * SPEC_MAX]; /* fs_locations4 */
	uint32_t len;
};

struct referrals {
	struct obj_table *objs;
	unsigned n;
	struct referral *list[REFERRALS_MAX];
};

/* A spec in parts. */
struct spec {
	char path[SPEC_MAX], server[SPEC_MAX], export[SPEC_MAX];
};

/* Calls fn for each name of path until fn fails. Returns fn's last result, or 0. */
static int each_name(
	const char *path, int (*fn)(void *ctx, const char *name, size_t len), void *ctx)
{
	int r = 0;

	while (*path && r == 0) {
		size_t len = strcspn(path, "/");

		if (len)
			r = fn(ctx, path, len);
		path += len;
		path += strspn(path, "/");
	}
	return r;
}

/* ADDRESS:PORT becomes a universal address (RFC 5665), the one form with a port that fs_locations
 * has. */
static int make_universal(char *server, size_t size)
{
	char *colon = strrchr(server, ':'), *end, host[SPEC_MAX];
	bool six = server[0] == '[';
	struct in6_addr a;
	unsigned long port;
	size_t len;

	if (!colon || (six && colon[-1] != ']'))
		return 0;
	port = strtoul(colon + 1, &end, 10);
	len = (size_t)(colon - server) - 2 * six;
	memcpy(host, server + six, len);
	host[len] = '\0';
	if (*end || end == colon + 1 || port == 0 || port > 65535 ||
		inet_pton(six ? AF_INET6 : AF_INET, host, &a) != 1)
		return -1;
	return snprintf(server, size, "%s.%lu.%lu", host, port >> 8, port & 255) < (int)size ? 0
											     : -1;
}

static int parse(const char *text, struct spec *s, struct err *e)
{
	const char *equals = strchr(text, '='), *colon = equals ? strstr(equals, ":/") : NULL;

	if (strlen(text) >= SPEC_MAX || text[0] != '/' || !colon || colon == equals + 1)
		return err_set(e, ERR_USAGE,
			"--refer %.300s: /PATH=SERVER:/EXPORT is wanted, such as "
			"/archive=server2:/srv/archive",
			text);
	snprintf(s->path, sizeof(s->path), "%.*s", (int)(equals - text), text);
	snprintf(s->server, sizeof(s->server), "%.*s", (int)(colon - equals - 1), equals + 1);
	snprintf(s->export, sizeof(s->export), "%s", colon + 1);
	if (make_universal(s->server, sizeof(s->server)))
		return err_set(e, ERR_USAGE,
			"--refer %.300s: a port needs an address in front, and lies in 1 to 65535",
			text);
	return 0;
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

	*error = each_name(path, walk_name, &w);
	if (!*error && !S_ISDIR(w.at->type))
		*error = -ENOTDIR;
	return *error ? obj_unref(t, w.at) : w.at;
}

static int count_name(void *ctx, const char *name, size_t len)
{
	++*(uint32_t *)ctx;
	return 0;
}

static int put_name(void *ctx, const char *name, size_t len)
{
	xdr_put_opaque(ctx, name, (uint32_t)len);
	return 0;
}

static void put_path(struct xdr_out *x, const char *path)
{
	uint32_t n = 0;

	each_name(path, count_name, &n);
	xdr_put_u32(x, n);
	each_name(path, put_name, x);
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
	put_path(&x, path);
	xdr_put_u32(&x, 0);
	one->len = (uint32_t)x.len;
	one->o = obj_ref(r->objs, o);
	o->referral = one;
	r->list[r->n++] = one;
	return one;
}

static void add_place(struct referral *one, const char *path, const struct spec *s)
{
	struct xdr_out x;

	one->n++;
	/* the path, the number of places, and those before stay as they are */
	xdr_out_init(&x, one->xdr, sizeof(one->xdr));
	put_path(&x, path);
	xdr_put_u32(&x, one->n);
	xdr_out_init(&x, one->xdr + one->len, sizeof(one->xdr) - one->len);
	xdr_put_u32(&x, 1);
	xdr_put_opaque(&x, s->server, (uint32_t)strlen(s->server));
	put_path(&x, s->export);
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
	add_place(one, s.path, &s);
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
	a->rdattr_error = NFS4ERR_MOVED;
	a->attr.fsid_major = FSID_MAJOR;
	a->attr.fsid_minor = a->mounted_on_fileid = o->id.ino;
	a->fs_locations = (struct nfs4_opaque){o->referral->xdr, o->referral->len};
}

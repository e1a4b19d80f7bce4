/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_client_record: the record of a mount with its submounts for a successor.
 */
#include "nfsproto/nfs_client_record.h"

#include <stdlib.h>
#include <string.h>

#include "nfsproto/common/nfs_backend.h"
#include "nfsproto/common/nfs_places.h"
#include "nfsproto/nfs_route.h"

#define SUBMOUNT_BYTES 64u	  /* the least that a submount takes in a record */
#define TEXT_MAX       (1u << 20) /* more than a server can tell in one reply */

/* --- putting -------------------------------------------------------------------------------- */

static void put_places(const struct nfs_places *p, struct xdr_out *x)
{
	xdr_put_u32(x, p->n);
	for (unsigned i = 0; i < p->n; i++) {
		nfs_record_put_text(x, p->place[i].server);
		nfs_record_put_text(x, p->place[i].path);
	}
}

static void put_submount(const struct nfs_submount_told *t, struct xdr_out *x)
{
	xdr_put_u32(x, t->number);
	xdr_put_u32(x, t->depth);
	nfs_record_put_fh(x, &t->dir);
	xdr_put_opaque(x, t->name, t->namelen);
	put_places(t->places, x);
	xdr_put_u32(x, t->place);
	xdr_put_u32(x, t->proto);
	xdr_put_opaque(x, &t->nfs.peer, t->nfs.peer_len);
}

/* The part of c's back end. mine: room for n. */
static void put_part(struct nfs_client *c, struct nfs_open *const open[], uint32_t n,
	struct nfs_open **mine, struct xdr_out *x)
{
	uint32_t nmine = 0;
	size_t len = xdr_skip_u32(x);

	for (uint32_t i = 0; i < n; i++)
		if (nfs_open_client(open[i]) == c)
			mine[nmine++] = open[i];
	c->backend->record(c, mine, nmine, x);
	xdr_patch_u32(x, len, (uint32_t)(x->len - len - 4));
}

void nfs_client_put_parts(
	struct nfs_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x)
{
	struct nfs_open **mine = calloc((size_t)n + 1, sizeof(struct nfs_open *));
	struct nfs_submount_told told;
	struct nfs_client *part;
	uint32_t subs = 0;
	unsigned at = 1;
	size_t count;

	if (!mine) {
		x->overflow = true;
		return;
	}
	put_part(c, open, n, mine, x);
	count = xdr_skip_u32(x);
	for (; (part = nfs_route_each(c, &at)); subs++) {
		nfs_submounts_tell(c->submounts, part->number, &told);
		put_submount(&told, x);
		put_part(part, open, n, mine, x);
	}
	xdr_patch_u32(x, count, subs);
	for (uint32_t i = 0; i < n; i++)
		xdr_put_u32(x, nfs_open_client(open[i])->number);
	free(mine);
}

/* --- getting -------------------------------------------------------------------------------- */

/* The text in x as a string at *to, which moves behind the string and has *left bytes. */
static char *get_text(struct xdr_in *x, char **to, size_t *left)
{
	char *text = *to;

	nfs_record_get_text(x, text, (uint32_t)*left);
	*to += strlen(text) + 1;
	*left -= strlen(text) + 1;
	return text;
}

/* One block, as of a server. NULL: x is bad, or no memory. */
static struct nfs_places *get_places(struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, NFS_PLACES_MAX, 8);
	struct nfs_places *p;
	struct xdr_in texts = *x;
	size_t left = 1;
	uint32_t len;
	char *to;

	for (uint32_t i = 0; i < 2 * n && xdr_get_opaque(&texts, TEXT_MAX, &len); i++)
		left += len + 1;
	if (!n || !xdr_in_ok(&texts)) {
		xdr_in_fail(x);
		return NULL;
	}
	p = calloc(1, sizeof(*p) + left);
	if (!p)
		return NULL;
	to = (char *)(p + 1);
	for (p->n = 0; p->n < n && xdr_in_ok(x); p->n++) {
		p->place[p->n].server = get_text(x, &to, &left);
		p->place[p->n].path = get_text(x, &to, &left);
		if (p->place[p->n].path[0] != '/')
			xdr_in_fail(x);
	}
	return p;
}

/* The data of a back end. */
static void get_data(struct nfs_record *r, struct xdr_in *x)
{
	uint32_t len;

	r->data = xdr_get_opaque(x, UINT32_MAX, &len);
	r->len = r->data ? len : 0;
}

/* after: the number of the submount before. False: no memory, unless x is bad. */
static bool get_submount(struct nfs_submount_told *t, unsigned after, struct xdr_in *x)
{
	uint32_t number = xdr_get_u32(x), proto, len;
	const uint8_t *bytes;

	t->depth = xdr_get_u32(x);
	nfs_record_get_fh(x, &t->dir);
	bytes = xdr_get_opaque(x, sizeof(t->name), &len);
	t->namelen = bytes ? len : 0;
	if (bytes)
		memcpy(t->name, bytes, len);
	t->places = get_places(x);
	t->place = xdr_get_u32(x);
	proto = xdr_get_u32(x);
	bytes = xdr_get_opaque(x, sizeof(t->nfs.peer), &len);
	t->nfs.peer_len = bytes ? len : 0;
	if (bytes)
		memcpy(&t->nfs.peer, bytes, len);
	get_data(&t->nfs, x);
	if (number <= after || number > NFS_SUBMOUNTS_MAX || t->depth < 1 ||
		t->depth > NFS_SUBMOUNT_DEEP || t->dir.server > NFS_SUBMOUNTS_MAX || !t->namelen ||
		proto > RPC_RDMA || t->nfs.peer_len < sizeof(sa_family_t) ||
		(t->places && t->place >= t->places->n))
		xdr_in_fail(x);
	t->number = (uint16_t)number;
	t->proto = (enum rpc_proto)proto;
	return t->places;
}

static struct nfs_record *part_of(struct nfs_client_parts *p, uint32_t number)
{
	if (!number)
		return &p->own;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->sub[i].number == number)
			return &p->sub[i].nfs;
	return NULL;
}

/* False: no memory, unless x is bad. */
static bool get_numbers(struct nfs_client_parts *p, struct xdr_in *x)
{
	if (p->nopens > xdr_in_left(x) / 4) {
		xdr_in_fail(x);
		return false;
	}
	p->number = calloc((size_t)p->nopens + 1, sizeof(*p->number));
	for (uint32_t i = 0; p->number && i < p->nopens; i++) {
		uint32_t number = xdr_get_u32(x);
		struct nfs_record *part = part_of(p, number);

		if (part)
			part->nopens++;
		else
			xdr_in_fail(x);
		p->number[i] = (uint16_t)number;
	}
	return p->number;
}

static bool make_room(struct nfs_record *part)
{
	part->open = calloc((size_t)part->nopens + 1, sizeof(*part->open));
	return part->open;
}

/* False: no memory, unless x is bad. */
static bool get_all(struct nfs_client_parts *p, struct xdr_in *x)
{
	uint32_t n;
	bool memory;

	get_data(&p->own, x);
	n = xdr_get_count(x, NFS_SUBMOUNTS_MAX, SUBMOUNT_BYTES);
	for (memory = true; memory && p->n < n && xdr_in_ok(x); p->n++)
		memory = get_submount(&p->sub[p->n], p->n ? p->sub[p->n - 1].number : 0, x);
	if (!memory || !xdr_in_ok(x) || !get_numbers(p, x) || !xdr_in_done(x))
		return false;
	memory = make_room(&p->own);
	for (uint32_t i = 0; memory && i < p->n; i++)
		memory = make_room(&p->sub[i].nfs);
	return memory;
}

struct nfs_client_parts *nfs_client_get_parts(const struct nfs_record *rec, struct err *e)
{
	struct nfs_client_parts *p = calloc(1, sizeof(*p));
	struct xdr_in x;

	xdr_in_init(&x, rec->data, rec->len);
	if (!p) {
		err_set(e, ERR_INTERNAL, "out of memory for the record of the mount");
		return NULL;
	}
	p->own.peer = rec->peer;
	p->own.peer_len = rec->peer_len;
	p->nopens = rec->nopens;
	if (get_all(p, &x))
		return p;
	err_set(e, ERR_INTERNAL,
		xdr_in_done(&x) ? "out of memory for the record of the mount"
				: "the record of the mount is damaged");
	return nfs_client_free_parts(p);
}

void nfs_client_join_parts(const struct nfs_client_parts *p, const struct nfs_record *rec)
{
	uint32_t own = 0, next[NFS_SUBMOUNTS_MAX] = {0};

	for (uint32_t i = 0; i < p->nopens; i++) {
		uint32_t k = 0;

		while (p->number[i] && p->sub[k].number != p->number[i])
			k++;
		rec->open[i] = p->number[i] ? p->sub[k].nfs.open[next[k]++] : p->own.open[own++];
	}
}

struct nfs_client_parts *nfs_client_free_parts(struct nfs_client_parts *p)
{
	if (!p)
		return NULL;
	free(p->own.open);
	for (uint32_t i = 0; i < p->n; i++) {
		free(p->sub[i].nfs.open);
		free(p->sub[i].places);
	}
	free(p->number);
	free(p);
	return NULL;
}

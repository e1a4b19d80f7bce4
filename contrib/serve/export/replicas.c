/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * replicas: other servers with the exported file system (--replica, --copy).
 */
#include "contrib/serve/export/replicas.h"

#include <stdlib.h>
#include <string.h>

#include "contrib/serve/export/place.h"

#define VALID_S 60 /* seconds until clients ask again: the next run may have other replicas */
#define CLASS	1  /* of this server */
#define COPY	2  /* of a copy, where the classes differ */

struct replicas {
	bool read_only, copy[REPLICAS_MAX];
	unsigned n;
	struct place at[REPLICAS_MAX];
	/* fs_locations4 and fs_locations_info4 */
	uint8_t locations[REPLICAS_MAX * 8 * PLACE_MAX], info[REPLICAS_MAX * 8 * PLACE_MAX];
	uint32_t locations_len, info_len;
};

static void make_locations(struct replicas *r)
{
	struct xdr_out x;

	xdr_out_init(&x, r->locations, sizeof(r->locations));
	place_put_path(&x, "/");
	xdr_put_u32(&x, r->n);
	for (unsigned i = 0; i < r->n; i++) {
		xdr_put_u32(&x, 1);
		xdr_put_opaque(&x, r->at[i].server, (uint32_t)strlen(r->at[i].server));
		place_put_path(&x, r->at[i].export);
	}
	r->locations_len = (uint32_t)x.len;
}

/* An fs_locations_item4 of one server. */
static void put_item(
	struct xdr_out *x, uint8_t flags, bool copy, const char *server, const char *path)
{
	struct nfs4_replica one = {
		.ninfo = FSLI4BX_KNOWN,
		.server = {server, (uint32_t)strlen(server)},
	};

	one.info[FSLI4BX_GFLAGS] = flags;
	for (unsigned i = FSLI4BX_CLSIMUL; i <= FSLI4BX_CLREADDIR; i++)
		one.info[i] = CLASS;
	if (copy)
		one.info[FSLI4BX_CLSIMUL] = one.info[FSLI4BX_CLWRITEVER] =
			one.info[FSLI4BX_CLCHANGE] = COPY;
	xdr_put_u32(x, 1);
	nfs4_put_replica(x, &one);
	place_put_path(x, path);
}

static void make_info(struct replicas *r)
{
	const uint8_t writable = r->read_only ? 0 : FSLI4GF_WRITABLE;
	struct xdr_out x;

	xdr_out_init(&x, r->info, sizeof(r->info));
	xdr_put_u32(&x, 0); /* fli_flags */
	xdr_put_u32(&x, VALID_S);
	place_put_path(&x, "/");
	xdr_put_u32(&x, r->n + 1);
	put_item(&x, writable | FSLI4GF_CUR_REQ, false, "", "/");
	for (unsigned i = 0; i < r->n; i++)
		put_item(&x, r->copy[i] ? 0 : writable, r->copy[i], r->at[i].server,
			r->at[i].export);
	r->info_len = (uint32_t)x.len;
}

struct replicas *replicas_new(
	const struct replica_spec *specs, unsigned n, bool read_only, struct err *e)
{
	struct replicas *r = calloc(1, sizeof(*r));

	if (!r) {
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	r->read_only = read_only;
	for (; r->n < n; r->n++) {
		const struct replica_spec *s = &specs[r->n];

		r->copy[r->n] = s->copy;
		if (place_parse(s->copy ? "--copy" : "--replica", s->place, s->place, &r->at[r->n],
			    e)) {
			free(r);
			return NULL;
		}
	}
	make_locations(r);
	make_info(r);
	return r;
}

void replicas_free(struct replicas *r)
{
	free(r);
}

void replicas_attrs(const struct replicas *r, struct nfs4_attrs *a)
{
	a->fs_locations = (struct nfs4_opaque){r->locations, r->locations_len};
	a->fs_locations_info = (struct nfs4_opaque){r->info, r->info_len};
	a->fs_status.type = r->read_only ? STATUS4_FIXED : STATUS4_WRITABLE;
	a->fs_status.age = -1;
}

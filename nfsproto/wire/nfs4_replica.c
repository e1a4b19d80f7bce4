/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_replica: fs_locations, fs_locations_info and fs_status on the wire.
 */
#include "nfsproto/wire/nfs4_replica.h"

#include <string.h>

#define SERVER_MIN 12u /* bytes of an fs_locations_server4 without text */
#define ITEM_MIN   8u  /* bytes of an fs_location4 or fs_locations_item4 without members */

/* --- one server, and the status -------------------------------------------------------------- */

static int done(const struct xdr_in *x)
{
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

void nfs4_put_replica(struct xdr_out *x, const struct nfs4_replica *r)
{
	xdr_put_u32(x, (uint32_t)r->currency);
	xdr_put_opaque(x, r->info, r->ninfo);
	xdr_put_opaque(x, r->server.s, r->server.len);
}

int nfs4_get_replica(struct xdr_in *x, struct nfs4_replica *r)
{
	const uint8_t *info;
	uint32_t n;

	memset(r, 0, sizeof(*r));
	r->currency = (int32_t)xdr_get_u32(x);
	info = xdr_get_opaque(x, NFS4_REPLICA_INFO_MAX, &n);
	if (info && n) {
		r->ninfo = n < FSLI4BX_KNOWN ? n : FSLI4BX_KNOWN;
		memcpy(r->info, info, r->ninfo);
	}
	nfs4_get_name(x, &r->server);
	return done(x);
}

void nfs4_put_fs_status(struct xdr_out *x, const struct nfs4_fs_status *s)
{
	xdr_put_bool(x, s->absent);
	xdr_put_u32(x, s->type);
	xdr_put_opaque(x, s->source.s, s->source.len);
	xdr_put_opaque(x, s->current.s, s->current.len);
	xdr_put_u32(x, (uint32_t)s->age);
	nfs4_put_time(x, &s->version);
}

int nfs4_get_fs_status(struct xdr_in *x, struct nfs4_fs_status *s)
{
	s->absent = xdr_get_bool(x);
	s->type = nfs4_get_enum(x, STATUS4_FIXED, STATUS4_REFERRAL);
	nfs4_get_name(x, &s->source);
	nfs4_get_name(x, &s->current);
	s->age = (int32_t)xdr_get_u32(x);
	nfs4_get_time(x, &s->version);
	return done(x);
}

/* --- lists ----------------------------------------------------------------------------------- */

static void skip_names(struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, NFS4_LOCATIONS_MAX, 4);
	struct nfs_name name;

	while (n-- > 0)
		nfs4_get_name(x, &name);
}

static void skip_replicas(struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, NFS4_LOCATIONS_MAX, SERVER_MIN);
	struct nfs4_replica r;

	while (n-- > 0 && nfs4_get_replica(x, &r) == 0)
		;
}

/* The path of the root, and items of servers and a path each. */
static int skip_items(struct xdr_in *x, void (*skip_servers)(struct xdr_in *x))
{
	uint32_t n;

	skip_names(x);
	n = xdr_get_count(x, NFS4_LOCATIONS_MAX, ITEM_MIN);
	while (n-- > 0 && xdr_in_ok(x)) {
		skip_servers(x);
		skip_names(x);
	}
	return done(x);
}

int nfs4_scan_locations(struct xdr_in *x)
{
	return skip_items(x, skip_names);
}

int nfs4_scan_locations_info(struct xdr_in *x)
{
	xdr_get_u32(x); /* fli_flags */
	xdr_get_u32(x); /* fli_valid_for */
	return skip_items(x, skip_replicas);
}

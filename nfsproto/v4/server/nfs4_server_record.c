/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_server_record: client ID and session for a successor.
 */
#include "nfsproto/v4/server/nfs4_server_record.h"

#include "nfsproto/common/nfs_record.h"
#include "transport/rpc/fields.h"

static const struct field server_fields[] = {
	FIELD(struct nfs4_server, minor),
	FIELD(struct nfs4_server, verf),
	FIELD(struct nfs4_server, clientid),
	FIELD(struct nfs4_server, create_seq),
	FIELD(struct nfs4_server, owner_minor),
	FIELD(struct nfs4_server, request_max),
	FIELD(struct nfs4_server, response_max),
	FIELD(struct nfs4_server, renewed_ns),
	FIELD(struct nfs4_server, next_owner),
	FIELD(struct nfs4_server, lacks),
	FIELD(struct nfs4_server, copies_async),
};

bool nfs4_server_is_settled(struct nfs4_server *srv)
{
	bool settled;

	mutex_lock(&srv->slots.lock);
	settled = srv->state == NFS4_S_RUNNING && srv->slots.gate_open && !srv->todo &&
		  !srv->visited && !srv->check_ns && !srv->slots.ndoubtful &&
		  srv->slots.nbusy <= srv->renewing && TAILQ_EMPTY(&srv->delayed) &&
		  TAILQ_EMPTY(&srv->ended) && TAILQ_EMPTY(&srv->slots.waiting) &&
		  !atomic_load(&srv->revoking);
	mutex_unlock(&srv->slots.lock);
	return settled && srv->have_clientid && srv->have_session;
}

static void put_kept(struct xdr_out *x, const struct nfs4_kept *kept)
{
	xdr_put_opaque(x, kept->data, kept->len);
}

static void get_kept(struct xdr_in *x, struct nfs4_kept *kept)
{
	uint32_t len;
	const uint8_t *data = xdr_get_opaque(x, sizeof(kept->data), &len);

	kept->len = data ? len : 0;
	if (data)
		memcpy(kept->data, data, len);
}

void nfs4_server_put_record(struct nfs4_server *srv, struct xdr_out *x)
{
	fields_put(x, srv, FIELDS(server_fields));
	nfs_record_put_text(x, srv->owner);
	nfs_record_put_text(x, srv->major_id);
	nfs4_put_sessionid(x, &srv->session);
	put_kept(x, &srv->owner_major);
	put_kept(x, &srv->scope);
}

void nfs4_server_get_record(struct nfs4_server *srv, struct xdr_in *x)
{
	fields_get(x, srv, FIELDS(server_fields));
	nfs_record_get_text(x, srv->owner, sizeof(srv->owner));
	nfs_record_get_text(x, srv->major_id, sizeof(srv->major_id));
	nfs4_get_sessionid(x, &srv->session);
	get_kept(x, &srv->owner_major);
	get_kept(x, &srv->scope);
	if (srv->minor < 1)
		xdr_in_fail(x);
	srv->any_minor = false;
	srv->have_clientid = srv->have_session = srv->confirmed = xdr_in_ok(x);
}

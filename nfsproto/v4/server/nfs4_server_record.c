/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_server_record: client ID and session for a successor.
 */
#include "nfsproto/v4/server/nfs4_server_record.h"

#include <string.h>

#include "nfsproto/common/nfs_record.h"
#include "transport/rpc/fields.h"

#define NOTE_MAX 4096u
/* Owners' numbers that the former daemon may have used since the note was made. */
#define OWNERS_PAST (UINT64_C(1) << 40)

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

/* --- notes ----------------------------------------------------------------------------------- */

void nfs4_server_note(struct nfs4_server *srv)
{
	struct nfs4_replay *r = srv->replay;
	uint8_t buf[NOTE_MAX];
	struct xdr_out x;

	if (!r || !r->ledger)
		return;
	xdr_out_init(&x, buf, sizeof(buf));
	xdr_put_opaque(&x, &srv->rp.peer, srv->rp.peer_len);
	xdr_put_bool(&x, srv->reclaiming);
	nfs4_server_put_record(srv, &x);
	if (xdr_out_ok(&x))
		ledger_put(r->ledger, &r->server, NOTE_SERVER, buf, x.len);
	else
		ledger_give_up(r->ledger);
}

static int damaged(struct err *e)
{
	return err_set(e, ERR_INTERNAL, "the former daemon's note of the server is damaged");
}

/* The one note in *x, behind the peer. */
static int begin_note(
	const struct former *f, struct xdr_in *x, struct nfs_record *rec, struct err *e)
{
	const void *note, *peer;
	uint32_t len;

	if (former_count(f, NOTE_SERVER) != 1)
		return damaged(e);
	note = former_note(f, NOTE_SERVER, 0, &len);
	xdr_in_init(x, note, len);
	peer = xdr_get_opaque(x, sizeof(rec->peer), &len);
	if (!peer || len < sizeof(rec->peer.ss_family))
		return damaged(e);
	memcpy(&rec->peer, peer, len);
	rec->peer_len = (socklen_t)len;
	return 0;
}

int nfs4_server_note_peer(const struct former *f, struct nfs_record *rec, struct err *e)
{
	struct xdr_in x;

	*rec = (struct nfs_record){0};
	return begin_note(f, &x, rec, e);
}

int nfs4_server_get_note(struct nfs4_server *srv, const struct former *f, struct err *e)
{
	struct nfs_record rec;
	struct xdr_in x;

	if (begin_note(f, &x, &rec, e))
		return -1;
	srv->reclaiming = xdr_get_bool(&x);
	nfs4_server_get_record(srv, &x);
	if (!xdr_in_done(&x)) {
		srv->have_clientid = srv->have_session = false;
		return damaged(e);
	}
	atomic_fetch_add(&srv->next_owner, OWNERS_PAST);
	srv->fore.maxrequestsize = srv->request_max;
	srv->fore.maxresponsesize = srv->response_max;
	return 0;
}

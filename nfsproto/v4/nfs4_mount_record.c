/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_mount_record: a mount for a successor.
 */
#include "nfsproto/v4/nfs4_mount_record.h"

#include "nfsproto/v4/mount/nfs4_state_record.h"
#include "nfsproto/v4/pnfs/nfs4_pnfs.h"
#include "nfsproto/v4/server/nfs4_server_record.h"
#include "transport/rpc/fields.h"

#define NOTE_MAX 2048u

static const struct field client_fields[] = {
	FIELD(struct nfs4_client, send_names),
	FIELD(struct nfs4_client, clone_blksize),
	FIELD(struct nfs4_client, layout_types),
	FIELD(struct nfs4_client, base.info.vers_major),
	FIELD(struct nfs4_client, base.info.vers_minor),
	FIELD(struct nfs4_client, base.info.rsize),
	FIELD(struct nfs4_client, base.info.wsize),
	FIELD(struct nfs4_client, base.info.dtsize),
	FIELD(struct nfs4_client, base.info.maxfilesize),
	FIELD(struct nfs4_client, base.info.lease_s),
	FIELD(struct nfs4_client, base.info.slots),
	FIELD(struct nfs4_client, base.info.features),
};

const char *nfs4_mount_settle(struct nfs_client *base)
{
	struct nfs4_client *c = nfs4_client(base);
	const char *why;

	if (!nfs4_pnfs_settle(c))
		return "layouts that go back to the server";
	why = nfs4_state_settle(c);
	if (!why && !nfs4_server_is_settled(c->srv))
		why = "the session with the server";
	return why;
}

static void put_properties(struct nfs4_client *c, struct xdr_out *x)
{
	fields_put(x, c, FIELDS(client_fields));
	nfs4_put_bitmap(x, &c->supported);
	nfs4_put_bitmap(x, &c->stat_want);
	nfs4_put_bitmap(x, &c->data_want);
	nfs4_put_bitmap(x, &c->exclcreat);
	nfs_record_put_fh(x, &c->base.root);
	nfs_record_put_attr(x, &c->base.root_attr);
}

static void get_properties(struct nfs4_client *c, struct xdr_in *x)
{
	fields_get(x, c, FIELDS(client_fields));
	nfs4_get_bitmap(x, &c->supported);
	nfs4_get_bitmap(x, &c->stat_want);
	nfs4_get_bitmap(x, &c->data_want);
	nfs4_get_bitmap(x, &c->exclcreat);
	nfs_record_get_fh(x, &c->base.root);
	nfs_record_get_attr(x, &c->base.root_attr);
	if (c->base.root_attr.type != NFS_DIR)
		xdr_in_fail(x);
	memcpy(c->base.info.server_owner, c->srv->major_id, sizeof(c->base.info.server_owner));
}

void nfs4_mount_note(struct nfs4_client *c)
{
	struct ledger *l = c->ledger;
	uint8_t buf[NOTE_MAX];
	struct xdr_out x;

	if (!l)
		return;
	xdr_out_init(&x, buf, sizeof(buf));
	put_properties(c, &x);
	if (xdr_out_ok(&x))
		ledger_put(l, &c->note, NOTE_EXPORT, buf, x.len);
	else
		ledger_give_up(l);
}

bool nfs4_mount_get_note(struct nfs4_client *c, const struct former *f)
{
	const void *note;
	uint32_t len;
	struct xdr_in x;

	if (former_count(f, NOTE_EXPORT) != 1)
		return false;
	note = former_note(f, NOTE_EXPORT, 0, &len);
	xdr_in_init(&x, note, len);
	get_properties(c, &x);
	if (!xdr_in_done(&x))
		return false;
	nfs4_server_lease(c->srv, c->base.info.lease_s);
	nfs4_mount_note(c);
	return true;
}

void nfs4_mount_record(
	struct nfs_client *base, struct nfs_open *const open[], uint32_t n, struct xdr_out *x)
{
	struct nfs4_client *c = nfs4_client(base);

	nfs4_server_put_record(c->srv, x);
	put_properties(c, x);
	nfs4_state_put_record(c, open, n, x);
}

int nfs4_mount_get_record(
	struct nfs4_client *c, const struct nfs_record *rec, struct xdr_in *x, struct err *e)
{
	get_properties(c, x);
	if (xdr_in_ok(x) && nfs4_state_get_record(c, rec->open, rec->nopens, x) && xdr_in_ok(x))
		return err_set(e, ERR_INTERNAL, "out of memory for the open files");
	if (!xdr_in_done(x))
		return err_set(e, ERR_INTERNAL, "the record of the mount is damaged");
	nfs4_mount_note(c);
	nfs4_server_lease(c->srv, c->base.info.lease_s);
	return 0;
}

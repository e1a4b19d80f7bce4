/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_note: the note of a delegation.
 */
#include "nfsproto/v4/mount/nfs4_deleg_note.h"

#include "nfsproto/common/nfs_record.h"

#define NOTE_MAX 1024u

void nfs4_deleg_note_put(struct ledger *l, struct note *note, const struct nfs4_deleg_noted *n)
{
	uint8_t buf[NOTE_MAX];
	struct xdr_out x;

	if (!l)
		return;
	xdr_out_init(&x, buf, sizeof(buf));
	nfs_record_put_fh(&x, &n->fh);
	xdr_put_u32(&x, n->type);
	nfs4_put_stateid(&x, &n->stateid);
	nfs_record_put_cred(&x, &n->cred);
	xdr_put_bool(&x, n->held);
	xdr_put_bool(&x, n->change_known);
	xdr_put_u64(&x, n->change);
	if (xdr_out_ok(&x))
		ledger_put(l, note, NOTE_DELEG, buf, x.len);
	else
		ledger_give_up(l);
}

bool nfs4_deleg_note_get(struct xdr_in *x, struct nfs4_deleg_noted *out)
{
	*out = (struct nfs4_deleg_noted){0};
	nfs_record_get_fh(x, &out->fh);
	out->type = (enum open_delegation_type4)xdr_get_u32(x);
	nfs4_get_stateid(x, &out->stateid);
	nfs_record_get_cred(x, &out->cred);
	out->held = xdr_get_bool(x);
	out->change_known = xdr_get_bool(x);
	out->change = xdr_get_u64(x);
	return xdr_in_done(x) && out->fh.len &&
	       (out->type == OPEN_DELEGATE_READ || out->type == OPEN_DELEGATE_WRITE);
}

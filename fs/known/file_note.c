/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file_note: the note of an open file.
 */
#include "fs/known/file_note.h"

#include "nfsproto/common/nfs_record.h"
#include "transport/rpc/fields.h"

#define NOTE_MAX (128 + 4u * RPC_MAX_GIDS) /* bytes of a note */

static const struct field told_fields[] = {
	FIELD(struct file_told, number),
	FIELD(struct file_told, inode),
	FIELD(struct file_told, open),
	FIELD(struct file_told, request),
	FIELD(struct file_told, flock_owner),
	FIELD(struct file_told, flags),
	FIELD(struct file_told, view.synced),
	FIELD(struct file_told, view.flushed),
	FIELD(struct file_told, view.unwritten),
	FIELD(struct file_told, released),
};

void file_note_put(struct ledger *l, struct note *note, const struct file_told *told)
{
	uint8_t bytes[NOTE_MAX];
	struct xdr_out x;

	xdr_out_init(&x, bytes, sizeof(bytes));
	fields_put(&x, told, FIELDS(told_fields));
	nfs_record_put_cred(&x, &told->cred);
	if (xdr_out_ok(&x))
		ledger_put(l, note, NOTE_FILE, bytes, x.len);
	else
		ledger_give_up(l);
}

bool file_note_get(const void *data, uint32_t len, struct file_told *out)
{
	struct xdr_in x;

	*out = (struct file_told){0};
	xdr_in_init(&x, data, len);
	fields_get(&x, out, FIELDS(told_fields));
	nfs_record_get_cred(&x, &out->cred);
	return xdr_in_done(&x) && out->number && out->inode;
}

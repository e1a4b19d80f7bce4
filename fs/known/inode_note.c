/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode_note: the note of an inode.
 */
#include "fs/known/inode_note.h"

#include <string.h>

#include "nfsproto/common/nfs_record.h"

#define NOTE_MAX (8 + NFS_FH_MAX + 64u) /* bytes of a note */

void inode_note_put(struct ledger *l, struct note *note, const struct inode_told *told)
{
	_Alignas(8) uint8_t bytes[NOTE_MAX];
	struct xdr_out x;

	memcpy(bytes, &told->nlookup, 8);
	xdr_out_init(&x, bytes + 8, sizeof(bytes) - 8);
	xdr_put_u64(&x, told->id);
	xdr_put_u64(&x, told->generation);
	nfs_record_put_fh(&x, &told->fh);
	xdr_put_u32(&x, told->attr.type);
	xdr_put_u64(&x, told->attr.fileid);
	xdr_put_u64(&x, told->attr.fsid_major);
	xdr_put_u64(&x, told->attr.fsid_minor);
	ledger_put(l, note, NOTE_INODE, bytes, 8 + x.len);
}

void inode_note_lookups(struct ledger *l, const struct note *note, uint64_t nlookup)
{
	_Atomic uint64_t *word = ledger_words(l, note);

	if (word)
		atomic_store(word, nlookup);
}

bool inode_note_get(const void *data, uint32_t len, struct inode_told *out)
{
	struct xdr_in x;

	*out = (struct inode_told){0};
	if (len < 8)
		return false;
	memcpy(&out->nlookup, data, 8);
	xdr_in_init(&x, (const uint8_t *)data + 8, len - 8);
	out->id = xdr_get_u64(&x);
	out->generation = xdr_get_u64(&x);
	nfs_record_get_fh(&x, &out->fh);
	out->attr.type = (enum nfs_type)xdr_get_u32(&x);
	out->attr.fileid = xdr_get_u64(&x);
	out->attr.fsid_major = xdr_get_u64(&x);
	out->attr.fsid_minor = xdr_get_u64(&x);
	return xdr_in_done(&x) && out->generation && out->attr.type >= NFS_REG &&
	       out->attr.type <= NFS_FIFO;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode_record: the inodes of a mount for a successor.
 */
#include "fs/known/inode_record.h"

#include "nfsproto/common/nfs_record.h"
#include "transport/rpc/fields.h"

#define INODE_BYTES 64u /* the least that an inode takes in a record */

#define INO(member) FIELD(struct inode, member)

static const struct field inode_fields[] = {
	INO(generation),
	INO(written_at),
	INO(attrs.touched),
	INO(attrs.end),
	INO(attrs.relinked),
	INO(attrs.removed),
	INO(attrs.seen),
	INO(attrs.asked),
	INO(attrs.came),
	INO(attrs.from),
	INO(attrs.rights_seen),
	INO(attrs.listed),
	INO(attrs.timeout),
	INO(attrs.timeout_at),
	INO(attrs.timeout_of),
	INO(dirnames.version),
	INO(dirnames.version_at),
	INO(dirnames.seen),
	INO(dirnames.from),
	INO(dirnames.recalled),
	INO(dirnames.foreign_at),
	INO(written.failing),
	INO(written.redone_at),
	INO(append.displaced),
	INO(append.kernel_end),
	INO(append.astray_at),
};

static const struct field view_fields[] = {
	INO(view.change),
	INO(view.size),
	INO(view.count),
	INO(view.writes),
	INO(view.pages),
	INO(view.blank),
	INO(view.renewed),
	INO(view.listener),
	INO(view.times),
	INO(view.lasting),
	INO(view.forgot),
	INO(view.several),
	INO(view.oldest),
	INO(view.rest),
	INO(view.passing_size),
	INO(view.passing_at),
	INO(view.passing_other_at),
	INO(view.notified_at),
	INO(view.answered_at),
	INO(view.renamed_for),
	INO(view.renamed_at),
	INO(view.believed.most),
	INO(view.believed.less),
	INO(view.believed.less_at),
	INO(view.believed.less_by),
	INO(view.believed.thrown_at),
	INO(view.believed.last.tid),
	INO(view.believed.last.at),
	INO(view.believed.last.until),
	INO(view.believed.moves_until),
	INO(view.believed.notify_at),
	INO(view.believed.cut.tid),
	INO(view.believed.cut.at),
	INO(view.believed.cut.until),
	INO(view.believed.cut_from),
	INO(view.believed.told[0].tid),
	INO(view.believed.told[0].at),
	INO(view.believed.told[0].until),
	INO(view.believed.told[1].tid),
	INO(view.believed.told[1].at),
	INO(view.believed.told[1].until),
	INO(view.believed.told[2].tid),
	INO(view.believed.told[2].at),
	INO(view.believed.told[2].until),
	INO(view.believed.told[3].tid),
	INO(view.believed.told[3].at),
	INO(view.believed.told[3].until),
};

_Static_assert(BELIEVED_TOLD == 4, "the list above has each of believed.told");

static const struct field data_fields[] = {
	INO(data.change.touched),
	INO(data.change.foreign),
	INO(data.change.replaced),
	INO(data.change.dropping),
	INO(data.change.dropped),
	INO(data.change.known),
	INO(data.change.whole),
	INO(data.change.version.change),
	INO(data.change.version.size),
	INO(data.change.sizes.change),
	INO(data.change.sizes.least),
	INO(data.change.sizes.most),
	INO(data.change.undone.change),
	INO(data.change.undone.size),
	INO(data.change.undone_at),
	INO(data.change.asked),
	INO(data.change.came),
	INO(data.change.told),
	INO(data.change.wrote),
	INO(data.dirty),
	INO(data.unkept),
	INO(data.unsafe),
	INO(data.have_verf),
	INO(data.verf),
	INO(data.gen),
	INO(data.restarts),
	INO(data.redone),
	INO(data.failed_gen),
	INO(data.lost_gen),
	INO(data.told_gen),
	INO(data.losses),
	INO(data.error),
	INO(data.synced),
	INO(data.flushed),
	INO(data.unwritten),
	INO(data.unwritten_error),
};

/* --- putting -------------------------------------------------------------------------------- */

void inode_put_record(struct inode *ino, struct xdr_out *x)
{
	/* no request is under way */
	mutex_alone(&ino->attrs.lock);
	mutex_alone(&ino->data.lock);
	xdr_put_u64(x, ino->id);
	xdr_put_u64(x, ino->nlookup);
	nfs_record_put_fh(x, &ino->fh);
	nfs_record_put_attr(x, &ino->attrs.attr);
	/* as first told: inode_number() goes by these */
	xdr_put_u32(x, ino->type);
	xdr_put_u64(x, ino->fileid);
	xdr_put_u64(x, ino->fsid_major);
	xdr_put_u64(x, ino->fsid_minor);
	fields_put(x, ino, FIELDS(inode_fields));
	fields_put(x, ino, FIELDS(view_fields));
	fields_put(x, ino, FIELDS(data_fields));
	if (ino->data.dirty)
		nfs_record_put_cred(x, &ino->data.by);
}

static void put_inode(struct inode *ino, void *ctx)
{
	inode_put_record(ino, ctx);
}

void inode_table_put_record(
	struct inode_table *t, struct inode *const forgotten[], uint32_t n, struct xdr_out *x)
{
	xdr_put_u64(x, inode_table_generation(t));
	xdr_put_u32(x, inode_table_count(t) + n);
	inode_table_each(t, put_inode, x);
	for (uint32_t i = 0; i < n; i++)
		inode_put_record(forgotten[i], x);
}

/* --- getting -------------------------------------------------------------------------------- */

bool inode_get_record(struct inode_table *t, struct xdr_in *x)
{
	uint64_t id = xdr_get_u64(x), nlookup = xdr_get_u64(x);
	struct nfs_attr attr, first;
	struct inode *ino;
	struct nfs_fh fh;

	nfs_record_get_fh(x, &fh);
	nfs_record_get_attr(x, &attr);
	first = attr;
	first.type = (enum nfs_type)xdr_get_u32(x);
	first.fileid = xdr_get_u64(x);
	first.fsid_major = xdr_get_u64(x);
	first.fsid_minor = xdr_get_u64(x);
	if (first.type < NFS_REG || first.type > NFS_FIFO)
		xdr_in_fail(x);
	if (!xdr_in_ok(x))
		return false;
	ino = nlookup ? inode_inherit(t, &fh, &first, id, nlookup)
		      : inode_inherit_forgotten(t, &fh, &first, id);
	if (!ino)
		return false;
	mutex_alone(&ino->attrs.lock); /* no request is served yet */
	mutex_alone(&ino->data.lock);
	ino->attrs.attr = attr;
	fields_get(x, ino, FIELDS(inode_fields));
	fields_get(x, ino, FIELDS(view_fields));
	fields_get(x, ino, FIELDS(data_fields));
	if (ino->data.dirty)
		nfs_record_get_cred(x, &ino->data.by);
	return xdr_in_ok(x);
}

bool inode_table_get_record(struct inode_table *t, unsigned run, struct xdr_in *x)
{
	uint64_t generation = xdr_get_u64(x);
	uint32_t n = xdr_get_count(x, UINT32_MAX, INODE_BYTES);

	if (!xdr_in_ok(x))
		return true;
	if (!inode_table_inherit(t, run, n, generation))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!inode_get_record(t, x))
			return false;
	return true;
}

struct inode *inode_get_id(struct inode_table *t, struct xdr_in *x)
{
	uint64_t id = xdr_get_u64(x);
	struct inode *ino = NULL;

	/* an ID of this run would be an address */
	if (xdr_in_ok(x))
		ino = inode_inherited(t, id);
	if (!ino)
		xdr_in_fail(x);
	return ino;
}

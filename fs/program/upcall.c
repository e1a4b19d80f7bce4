/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * upcall: events that the NFS client reports unasked.
 */
#include "fs/program/upcall.h"

#include "fs/coherence/announce.h"
#include "fs/coherence/change.h"
#include "fs/coherence/inval.h"
#include "fs/coherence/recall.h"
#include "fs/program/connect.h"
#include "transport/clock.h"

static void doubt(struct fs *fs, const struct nfs_fh *fh)
{
	struct inode *ino = inode_find(fs->inodes, fh);

	if (ino)
		inval_doubt(fs->inval, ino);
	inode_unref(ino);
}

static void recalled(void *ctx, const struct nfs_fh *fh)
{
	doubt(ctx, fh);
}

static bool flush(void *ctx, const struct nfs_fh *fh, uint64_t id)
{
	return recall_flush(ctx, fh, id);
}

static bool inquired(
	void *ctx, const struct nfs_fh *fh, uint64_t *size, uint64_t *change, bool *modified)
{
	return recall_inquired(ctx, fh, size, change, modified);
}

static void lost(void *ctx, const struct nfs_fh *fh, enum nfs_lost what)
{
	doubt(ctx, fh);
}

static void attributes(
	void *ctx, const struct nfs_fh *fh, const struct nfs_data_attr *attr, uint64_t asked)
{
	struct fs *fs = ctx;
	struct inode *ino = inode_find(fs->inodes, fh);

	if (ino)
		change_look(fs, ino, attr, asked);
	inode_unref(ino);
}

static void connection(void *ctx, enum nfs_connection what)
{
	struct fs *fs = ctx;

	switch (what) {
	case NFS_CONNECTION_SILENT:
		announce_silence(ctx, true);
		break;
	case NFS_CONNECTION_ANSWERS:
		announce_silence(ctx, false);
		break;
	case NFS_CONNECTION_LOST: /* the transport has logged the reason */
		writeback_connection_lost(fs->writeback);
		atomic_store(&fs->lost_since, clock_ns());
		break;
	case NFS_CONNECTION_MOVED:
		writeback_connection_lost(fs->writeback);
		break;
	case NFS_CONNECTION_BACK:
		atomic_store(&fs->lost_since, 0);
		break;
	}
}

static struct nfs_client *follow(
	void *ctx, const struct nfs_place *place, const struct nfs_mount_params *as, struct err *e)
{
	struct fs *fs = ctx;

	if (fs->opt->referrals && !fs->opt->survive)
		return connect_submount(fs, &upcalls, place, as, e);
	err_set(e, ERR_MOVED, "the option %s forbids to follow",
		fs->opt->survive ? "survive" : "noreferrals");
	return NULL;
}

const struct nfs_client_upcalls upcalls = {
	.recalled = recalled,
	.flush = flush,
	.inquired = inquired,
	.lost = lost,
	.attributes = attributes,
	.connection = connection,
	.follow = follow,
};

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * change: what the answers about a file's data tell of changes by others.
 */
#include "fs/change.h"

#include "transport/clock.h"
#include "transport/log.h"

#define ATTR_AGE_S 1u

static struct filechange *of(struct inode *ino)
{
	return &ino->data.change;
}

/* The notification has the kernel throw away what a GETATTR that is under way will say, and with
 * it the reason to drop pages before the read that asked. So there is none where the kernel asks
 * before each read anyway; elsewhere the read after that one asks again. */
void change_doubt(struct fs *fs, struct inode *ino)
{
	inode_doubt(ino);
	if (fs->opt->attr_timeout > 0)
		fuse_lowlevel_notify_inval_inode(fs->se, inode_id(fs->inodes, ino), -1, 0);
}

static void judged(
	struct fs *fs, struct inode *ino, const struct nfs_data_attr *a, enum filechange_by by)
{
	if (by != FILECHANGE_FOREIGN)
		return;
	log_ctrl("file %llu was changed by somebody else", (unsigned long long)ino->fileid);
	stats_add(&fs->stats.foreign, 1);
	atomic_store_explicit(&ino->end, a->size, memory_order_relaxed);
	change_doubt(fs, ino);
}

void change_begin(struct inode *ino)
{
	filechange_begin(of(ino));
}

void change_end(struct fs *fs, struct inode *ino, const struct nfs_op *op)
{
	const struct nfs_data_attr *a = op->error ? NULL : &op->u.write.attr;

	judged(fs, ino, a, filechange_end(of(ino), a));
}

void change_look(struct fs *fs, struct inode *ino, const struct nfs_data_attr *a, uint64_t asked)
{
	const struct fileversion v = {a->change, a->size};

	if (a->have)
		judged(fs, ino, a, filechange_look(of(ino), &v, asked));
}

void change_told(struct inode *ino, const struct nfs_attr *a, uint64_t asked)
{
	const struct fileversion v = {a->change, a->size};

	if (ino->type == NFS_REG)
		filechange_look(of(ino), &v, asked);
}

bool change_keeps_pages(struct inode *ino, const struct nfs_attr *a, uint64_t asked)
{
	const struct fileversion v = {a->change, a->size};
	bool keep = filechange_open(of(ino), &v, asked);

	/* what was appended may stand in pages where it is not (append.c) */
	return keep && !atomic_load(&ino->displaced);
}

bool change_wants_attr(const struct fs *fs, struct inode *ino, uint64_t now)
{
	unsigned age_s = fs->opt->acregmin < ATTR_AGE_S ? fs->opt->acregmin : ATTR_AGE_S;

	return filechange_is_old(of(ino), now - age_s * NSEC_PER_SEC);
}

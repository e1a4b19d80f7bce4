/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * recall: the server's requests for a file that is delegated to this mount to write.
 *
 * A recall does not wait for data written after its beginning: a process that goes on writing does
 * not delay the recall. No harm is done. From the recall on no process relies on the delegation, so
 * later data is made safe at fsync or close, as without a delegation.
 */
#include "fs/coherence/recall.h"

#include <stdlib.h>

#include "transport/log.h"

/* A delegation that is being returned. */
struct recall {
	struct writeback_wait wait;
	struct fs *fs;
	struct written *of; /* held */
	uint64_t id;
};

static struct inode *inode_of_written(struct written *w)
{
	return (struct inode *)((char *)w - offsetof(struct inode, written));
}

static void end(struct recall *r)
{
	struct inode *ino = inode_of_written(r->of);

	nfs_deleg_flushed(r->fs->client, &ino->fh, r->id);
	inode_unref(ino);
	free(r);
}

static void flushed(struct writeback_wait *w)
{
	end((struct recall *)((char *)w - offsetof(struct recall, wait)));
}

/* The written data of fh, held. A file that has left the inode table may still have some. */
static struct written *find(struct fs *fs, const struct nfs_fh *fh)
{
	struct inode *ino = inode_find(fs->inodes, fh);

	return ino ? &ino->written : writeback_find(fs->writeback, fh);
}

bool recall_flush(struct fs *fs, const struct nfs_fh *fh, uint64_t id)
{
	struct recall *r = calloc(1, sizeof(*r));

	if (!r)
		return false;
	*r = (struct recall){.fs = fs, .of = find(fs, fh), .id = id};
	if (!r->of) {
		nfs_deleg_flushed(fs->client, fh, id);
		free(r);
		return true;
	}
	r->wait.ready = flushed;
	if (!writeback_wait(fs->writeback, r->of, &r->wait, STABLE))
		end(r);
	return true;
}

bool recall_inquired(
	struct fs *fs, const struct nfs_fh *fh, uint64_t *size, uint64_t *change, bool *modified)
{
	struct inode *ino = inode_find(fs->inodes, fh);
	struct fileversion v;
	uint64_t end;
	bool known;

	if (!ino)
		return false;
	/* in this order: written data is at any time in one of the two */
	*modified = written_dirty(&ino->written);
	end = *modified ? written_end(&ino->written) : 0;
	known = filechange_newest(&ino->data.change, *modified, &v);
	*size = end > v.size ? end : v.size;
	*change = v.change;
	inode_unref(ino);
	return known;
}

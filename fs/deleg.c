/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg: files that the server has delegated to this mount.
 */
#include "fs/deleg.h"

#include "transport/clock.h"

/* Is no change of ino by this mount under way, nor was one since `asked`? */
static bool is_quiet(struct inode *ino, uint64_t asked)
{
	return !atomic_load(&ino->writers) && atomic_load(&ino->touched) < asked &&
	       filechange_is_quiet(&ino->data.change, asked);
}

uint64_t deleg_note(struct fs *fs, struct inode *ino, const struct nfs_op *op, uint64_t asked)
{
	uint64_t id = op->u.open.deleg, now;

	if (!id)
		return asked;
	if (op->u.open.attr.type != NFS_REG) {
		nfs_deleg_give_back(fs->client, &ino->fh, id);
		return asked;
	}
	now = clock_ns(); /* what begins later is noticed by since() */
	if (!is_quiet(ino, asked))
		return asked;
	pthread_mutex_lock(&ino->lock);
	ino->deleg_at = now;
	atomic_store(&ino->deleg, id);
	pthread_mutex_unlock(&ino->lock);
	return nfs_deleg_holds(fs->client, &ino->fh, id) ? now : asked;
}

/* The number too. */
static uint64_t since(const struct fs *fs, struct inode *ino, uint64_t *id)
{
	uint64_t at;

	if (!atomic_load_explicit(&ino->deleg, memory_order_relaxed))
		return 0;
	pthread_mutex_lock(&ino->lock);
	*id = atomic_load(&ino->deleg);
	at = ino->deleg_at;
	pthread_mutex_unlock(&ino->lock);
	if (atomic_load(&ino->writers) || atomic_load(&ino->touched) >= at ||
		!nfs_deleg_holds(fs->client, &ino->fh, *id))
		return 0;
	return at;
}

uint64_t deleg_since(const struct fs *fs, struct inode *ino)
{
	uint64_t id;

	return since(fs, ino, &id);
}

struct nfs_open *deleg_open(const struct fs *fs, struct inode *ino, const struct rpc_cred *cred)
{
	uint64_t id;

	return since(fs, ino, &id) ? nfs_deleg_open(fs->client, &ino->fh, id, cred) : NULL;
}

void deleg_give_back(const struct fs *fs, struct inode *ino)
{
	uint64_t id = atomic_exchange(&ino->deleg, 0);

	if (id)
		nfs_deleg_give_back(fs->client, &ino->fh, id);
}

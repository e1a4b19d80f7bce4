/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg: files that the server has delegated to this mount.
 */
#include "fs/coherence/deleg.h"

#include "transport/clock.h"

/* Is no change of ino by this mount in flight, and was none since `asked`? And, unless the
 * delegation is to write, can none be about to begin? */
static bool is_quiet(struct inode *ino, uint64_t asked, bool writes)
{
	return (writes || !atomic_load(&ino->opens.writers)) &&
	       atomic_load(&ino->attrs.touched) < asked &&
	       filechange_is_quiet(&ino->data.change, asked);
}

uint64_t deleg_note(struct fs *fs, struct inode *ino, const struct nfs_op *op, uint64_t asked)
{
	uint64_t id = op->u.open.deleg, now;
	bool writes = op->u.open.deleg_writes, quiet;

	if (!id)
		return asked;
	if (op->u.open.attr.type != NFS_REG) {
		nfs_deleg_give_back(fs->client, &ino->fh, id);
		return asked;
	}
	now = clock_ns(); /* since() notices changes that begin later */
	quiet = is_quiet(ino, asked, writes);
	if (!quiet && !writes)
		return asked;
	mutex_lock(&ino->lock);
	if (!writes || atomic_load(&ino->deleg.id) != id)
		ino->deleg.at = now;
	ino->deleg.writes = writes;
	atomic_store(&ino->deleg.id, id);
	mutex_unlock(&ino->lock);
	return quiet && nfs_deleg_holds(fs->client, &ino->fh, id) ? now : asked;
}

void deleg_former(struct fs *fs, struct inode *ino)
{
	bool writes;
	uint64_t id = nfs_client_former_deleg(fs->client, &ino->fh, &writes);

	if (!id)
		return;
	mutex_lock(&ino->lock);
	if (!atomic_load(&ino->deleg.id)) { /* else an OPEN has told of the delegation */
		ino->deleg.at = clock_ns();
		ino->deleg.writes = writes;
		atomic_store(&ino->deleg.id, id);
	}
	mutex_unlock(&ino->lock);
}

/* Since when ino is delegated, with the number, and whether the delegation is to write. */
static uint64_t since(const struct fs *fs, struct inode *ino, uint64_t *id, bool *writes)
{
	uint64_t at;

	*writes = false;
	if (!atomic_load_explicit(&ino->deleg.id, memory_order_relaxed))
		return 0;
	mutex_lock(&ino->lock);
	*id = atomic_load(&ino->deleg.id);
	*writes = ino->deleg.writes;
	at = ino->deleg.at;
	mutex_unlock(&ino->lock);
	if ((!*writes &&
		    (atomic_load(&ino->opens.writers) || atomic_load(&ino->attrs.touched) >= at)) ||
		!nfs_deleg_holds(fs->client, &ino->fh, *id))
		return 0;
	return at;
}

bool deleg_to_write_may_come(const struct fs *fs, int flags)
{
	return fs->opt->delegations == NFS_DELEGATIONS_WRITE && fs->info.vers_major >= 4 &&
	       (flags & O_ACCMODE) != O_RDONLY;
}

uint64_t deleg_since(const struct fs *fs, struct inode *ino)
{
	uint64_t id;
	bool writes;

	return since(fs, ino, &id, &writes);
}

uint64_t deleg_alone_since(const struct fs *fs, struct inode *ino)
{
	uint64_t id, at;
	bool writes;

	at = since(fs, ino, &id, &writes);
	return writes ? at : 0;
}

struct nfs_open *deleg_open(
	const struct fs *fs, struct inode *ino, int flags, const struct rpc_cred *cred)
{
	uint64_t id;
	bool writes;

	if (!since(fs, ino, &id, &writes))
		return NULL;
	return nfs_deleg_open(fs->client, &ino->fh, id, flags, cred);
}

void deleg_changing(const struct fs *fs, struct inode *ino)
{
	bool writes;

	if (!atomic_load(&ino->deleg.id))
		return;
	mutex_lock(&ino->lock);
	writes = ino->deleg.writes;
	mutex_unlock(&ino->lock);
	if (!writes)
		deleg_give_back(fs, ino);
}

void deleg_give_back(const struct fs *fs, struct inode *ino)
{
	uint64_t id = atomic_exchange(&ino->deleg.id, 0);

	if (id)
		nfs_deleg_give_back(fs->client, &ino->fh, id);
}

/* May the removal of this name of ino leave its data uncommitted? Data on the server need not be
 * committed if the file ends with the name. */
static bool is_safe(struct inode *ino)
{
	if (written_dirty(&ino->written))
		return false;
	return !dirty_bytes(&ino->written.dirty, DIRTY_UNSTABLE) || attrs_links(&ino->attrs) <= 1;
}

uint64_t deleg_leaves(const struct fs *fs, struct inode *ino)
{
	if (is_safe(ino))
		return atomic_exchange(&ino->deleg.id, 0);
	deleg_give_back(fs, ino);
	return 0;
}

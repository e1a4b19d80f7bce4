/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * setup: making the parts of a mount, and freeing them.
 */
#include "fs/program/setup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "cache/fetch.h"
#include "cli/fuse_fd.h"
#include "fs/observe/account.h"
#include "fs/file/append.h"
#include "fs/file/cached.h"
#include "fs/file/flush.h"
#include "fs/coherence/inval.h"
#include "fs/file/late.h"
#include "fs/lookup/listing.h"
#include "fs/program/former.h"
#include "fs/program/memory.h"
#include "fs/program/survivor.h"
#include "fs/known/names.h"
#include "fs/coherence/notify.h"
#include "fs/file/open_note.h"
#include "fs/file/opening.h"
#include "fs/kernel/again.h"
#include "fs/kernel/arrival.h"
#include "fs/kernel/order.h"
#include "fs/coherence/repeat.h"
#include "fs/kernel/request_waits.h"
#include "fs/file/retry.h"
#include "fs/file/silly.h"
#include "fs/kernel/turn.h"
#include "fs/kernel/underway.h"
#include "transport/clock.h"

int setup_begin(struct fs *fs, const struct options *o, struct err *e)
{
	size_t bytes, data, cached;

	fs->opt = o;
	atomic_init(&fs->upgrade_asker, -1);
	/* every server has locks, unless the options ask for none */
	fs->posix_locks = !o->local_posix;
	fs->flock_locks = !o->local_flock;
	/* The process that passed a device in place of a mount point may have let other users
	 * in. */
	fs->shared = !o->default_permissions &&
		     (o->allow_other || o->allow_root || fuse_fd_meant(o->mountpoint));
	fs->memory = memory_new("", o->cache_size);
	bytes = fs->memory ? memory_bytes(fs->memory) : 0;
	memory_split(bytes, &data, &cached);
	atomic_init(&fs->data_limit, data);
	mutex_init(&fs->handles_lock);
	LIST_INIT(&fs->handles);
	fs->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!o->survive)
		fs->pool = mem_pool_new(bytes);
	else if (survivor_setup(fs, bytes, e))
		return -1;
	fs->requests = request_pool_new();
	fs->accounts = accounts_new();
	fs->agains = agains_new();
	fs->openings = openings_new();
	fs->silly = silly_names_new((uint32_t)clock_ns() ^ (unsigned)getpid() << 16);
	fs->listings = listings_new();
	fs->appends = appends_new();
	fs->orders = orders_new();
	fs->arrivals = arrivals_new();
	fs->lates = lates_new();
	fs->retries = retries_new();
	fs->turns = turns_new();
	fs->repeats = repeats_new();
	fs->cache = fs->pool ? cache_new(fs->pool, o->readahead_kb ? cached : 0) : NULL;
	fs->fetches = fs->cache ? fetches_new(fs->cache) : NULL;
	fs->cached = cached_new();
	fs->flush_ops = flush_ops(fs);
	fs->writeback = writeback_new(&fs->flush_ops, o->gather ? data / 2 : 0);
	fs->flushes = flushes_new();
	if (fs->wake_fd >= 0 && fs->memory && fs->pool && fs->requests && fs->accounts &&
		fs->agains && fs->openings && fs->silly && fs->listings && fs->appends &&
		fs->orders && fs->arrivals && fs->lates && fs->retries && fs->turns &&
		fs->repeats && fs->fetches && fs->cached && fs->writeback && fs->flushes)
		return 0;
	return err_set(e, ERR_INTERNAL, "out of memory or file descriptors");
}

bool setup_root(struct fs *fs)
{
	struct nfs_fh root;
	struct nfs_attr attr;

	nfs_client_info(fs->client, &fs->info);
	if (!(fs->info.features & NFS_HAS_LOCKS))
		fs->posix_locks = fs->flock_locks = false;
	memory_connected(fs);
	fetches_start(fs->fetches, fs->client, fs->info.rsize);
	writeback_start(fs->writeback, fs->client, fs->info.wsize);
	nfs_client_root(fs->client, &root, &attr);
	fs->inodes = inode_table_new(&root, &attr);
	fs->names = fs->inodes ? names_new(fs->inodes) : NULL;
	fs->inval = inval_start(fs);
	if (fs->ledger) {
		fs->underway = underway_new(fs->ledger);
		fs->open_notes = open_notes_new(fs->ledger);
	}
	if (fs->inodes)
		inode_table_keep_notes(fs->inodes, fs->ledger);
	former_keep_note(fs);
	return fs->inodes && fs->names && fs->inval &&
	       ((fs->underway && fs->open_notes) || !fs->ledger);
}

void setup_end(struct fs *fs)
{
	fs->client = nfs_client_free(fs->client);
	fs->inval = inval_free(fs->inval);
	fs->notifier = notifier_free(fs->notifier);
	fs_free_handles(fs);
	fs->listings = listings_free(fs->listings);
	fs->retries = retries_free(fs->retries);
	fs->inodes = inode_table_free(fs->inodes);
	fs->names = names_free(fs->names);
	fs->requests = request_pool_free(fs->requests);
	fs->accounts = accounts_free(fs->accounts);
	fs->agains = agains_free(fs->agains);
	fs->underway = underway_free(fs->underway);
	fs->open_notes = open_notes_free(fs->open_notes);
	trace_finish(&fs->trace);
	fs->appends = appends_free(fs->appends);
	fs->orders = orders_free(fs->orders);
	fs->arrivals = arrivals_free(fs->arrivals);
	fs->lates = lates_free(fs->lates);
	fs->turns = turns_free(fs->turns);
	fs->repeats = repeats_free(fs->repeats);
	fs->cached = cached_free(fs->cached);
	fs->writeback = writeback_free(fs->writeback);
	fs->flushes = flushes_free(fs->flushes);
	fs->fetches = fetches_free(fs->fetches);
	fs->cache = cache_free(fs->cache);
	fs->openings = openings_free(fs->openings);
	fs->silly = silly_names_free(fs->silly);
	mutex_destroy(&fs->handles_lock);
	numbers_finish(&fs->handle_numbers);
	fs->pool = mem_pool_free(fs->pool);
	fs->ledger = ledger_free(fs->ledger);
	fs->memory = memory_free(fs->memory);
	if (fs->wake_fd >= 0)
		close(fs->wake_fd);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops: the operations of a mount, which libfuse calls.
 */
#include "fs/ops/ops.h"

#include "fs/file/append.h"
#include "fs/file/cached.h"
#include "fs/file/flush.h"
#include "fs/coherence/inval.h"
#include "fs/file/late.h"
#include "fs/lookup/listing.h"
#include "fs/coherence/notify.h"
#include "fs/file/opening.h"
#include "fs/kernel/order.h"
#include "fs/file/silly.h"
#include "fs/coherence/repeat.h"
#include "fs/kernel/turn.h"

struct fuse_lowlevel_ops ops_table(const struct fs *fs)
{
#define ROW(op) .op = ops_##op,
	struct fuse_lowlevel_ops ops = {FS_OPS(ROW)};
#undef ROW

	if (!fs->posix_locks) {
		ops.getlk = NULL;
		ops.setlk = NULL;
	}
	if (!fs->flock_locks)
		ops.flock = NULL;
	return ops;
}

void ops_end_gone(struct fs *fs)
{
	struct request_list gone = SLIST_HEAD_INITIALIZER(gone);
	struct request *r;

	silly_take_gone(fs, &gone);
	openings_take_gone(fs, &gone);
	listings_take_gone(fs, &gone);
	while ((r = SLIST_FIRST(&gone))) {
		SLIST_REMOVE_HEAD(&gone, free);
		r->next(r); /* the call of r is cancelled at once */
	}
	append_end_gone(fs);
	cached_end_gone(fs);
	order_end_gone(fs);
	late_end_gone(fs);
	turn_end_gone(fs);
	repeats_tick(fs, false);
	flush_end_gone(fs);
	inval_end_gone(fs->inval);
	notifier_end_gone(fs->notifier);
}

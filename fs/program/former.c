/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * former: all that a daemon takes over from one that was killed.
 */
#include "fs/program/former.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/coherence/deleg.h"
#include "fs/coherence/inval.h"
#include "fs/file/file_former.h"
#include "fs/file/locker.h"
#include "fs/file/open_note.h"
#include "fs/file/silly.h"
#include "fs/kernel/again.h"
#include "fs/kernel/underway.h"
#include "fs/known/file.h"
#include "fs/known/inode_former.h"
#include "fs/lookup/dir.h"
#include "transport/log.h"

/* --- the note of the mount -------------------------------------------------------------------- */

struct mount_told {
	uint32_t run, tag;
};

void former_keep_note(struct fs *fs)
{
	struct mount_told told = {fs->handle_numbers.run, silly_tag(fs)};

	ledger_put(fs->ledger, &fs->note, NOTE_FS, &told, sizeof(told));
	stale_keep_note(&fs->stale, fs->ledger);
}

static int read_note(struct fs *fs, const struct former *f, struct mount_told *told, struct err *e)
{
	uint32_t len = 0;
	const void *data;

	data = former_count(f, NOTE_FS) == 1 ? former_note(f, NOTE_FS, 0, &len) : NULL;
	if (len == sizeof(*told))
		memcpy(told, data, sizeof(*told));
	if (len != sizeof(*told) || told->run >= NUMBERS_RUN_MAX || !stale_former(&fs->stale, f))
		return err_set(e, ERR_INTERNAL,
			"the former daemon's note of the mount is damaged, or no further daemon "
			"can go on with the mount");
	return 0;
}

/* --- what the kernel believes ----------------------------------------------------------------- */

/* The state of the request that walks from inode to inode. */
struct walk_state {
	struct inode **ino; /* references, n of them; NULL behind */
	uint32_t n, at;
	atomic_int turns; /* functions that go on with the walk */
};

static struct walk_state *walk_of(const struct request *r)
{
	return request_state(r, struct walk_state);
}

static void note_one(struct inode *ino, void *ctx)
{
	struct walk_state *w = ctx;

	if (w->ino)
		w->ino[w->n] = inode_ref(ino);
	w->n++;
}

static void walk(struct request *r);

static void walk_end(struct request *r)
{
	struct walk_state *w = walk_of(r);

	while (w->at < w->n)
		inode_unref(w->ino[w->at++]);
	free(w->ino);
	request_free(r);
}

/* The pages of one inode are gone. inval_then() calls walk() before it returns if the mount ends,
 * so the loop stands in the first of the calls. */
static void walk(struct request *r)
{
	struct walk_state *w = walk_of(r);

	if (atomic_fetch_add(&w->turns, 1))
		return;
	do {
		if (w->at == w->n) {
			walk_end(r);
			return;
		}
		inode_unref(r->inode);
		r->inode = w->ino[w->at++];
		inval_then(r->fs->inval, r, walk);
	} while (atomic_fetch_sub(&w->turns, 1) > 1);
}

static void forget_all(struct fs *fs)
{
	const struct rpc_cred none = {.flavor = RPC_AUTH_NONE};
	struct request *r = request_new_cred(fs, NULL, &none);
	struct walk_state count = {0};

	inode_table_each(fs->inodes, note_one, &count);
	if (r)
		walk_of(r)->ino = calloc(count.n, sizeof(struct inode *));
	if (!r || !walk_of(r)->ino) {
		log_warn("the kernel believes old attributes and pages for a while: out of memory");
		if (r)
			request_free(r);
		return;
	}
	inode_table_each(fs->inodes, note_one, walk_of(r));
	walk(r);
}

/* --- written data ----------------------------------------------------------------------------- */

static struct written *find_written(void *ctx, uint64_t id)
{
	struct fs *fs = ctx;
	struct inode *ino = inode_inherited(fs->inodes, id);

	return ino ? &ino->written : NULL;
}

static struct writer *find_writer(void *ctx, uint64_t number)
{
	struct fs *fs = ctx;
	struct handle *h = numbers_inherited(&fs->handle_numbers, number);

	return h && file_is(h) ? &((struct file *)h)->writer : NULL;
}

static int take_data(struct fs *fs, const struct former *f, struct err *e)
{
	const struct written_find find = {find_written, find_writer, fs};

	return written_former(fs->writeback, fs->pool, f, &find, e) ? 0 : -1;
}

/* --- delegations ------------------------------------------------------------------------------ */

/* When the requests that were sent again have ended: a noted answer to such a request may be older
 * than other changes of the file. */
static void take_deleg(struct inode *ino, void *ctx)
{
	deleg_former(ctx, ino);
}

/* --- taking over ------------------------------------------------------------------------------ */

int fs_former_restore(struct fs *fs, const struct former *f, struct err *e)
{
	size_t handles = (size_t)former_count(f, NOTE_FILE) + former_count(f, NOTE_DIR);
	struct mount_told told;

	if (read_note(fs, f, &told, e))
		return -1;
	if (!numbers_init(&fs->handle_numbers, told.run + 1, handles))
		return err_set(e, ERR_INTERNAL, "out of memory for the files of the former daemon");
	if (inode_table_former(fs->inodes, told.run + 1, f, e) || underway_former(fs, f, e) ||
		again_former(fs, f, e) || open_notes_former(fs, f, e) || files_former(fs, f, e) ||
		lockers_former(fs, f, e) || silly_former(fs, told.tag, f, e) ||
		dirs_former(fs, f, e) || take_data(fs, f, e))
		return -1;
	inode_table_settle_all(fs->inodes);
	former_keep_note(fs);
	nfs_client_former_end(fs->client);
	return 0;
}

int fs_former_go_on(struct fs *fs, struct err *e)
{
	silly_tick(fs); /* rmdir(2) waits for the names of files that are closed */
	if (!underway_resend(fs))
		return err_set(e, ERR_INTERNAL, "the kernel does not send its requests again: %s",
			strerror(errno));
	files_former_close(fs);
	forget_all(fs);
	return 0;
}

void former_tick(struct fs *fs)
{
	if (underway_all_came(fs))
		silly_settle(fs);
	if (!underway_tick(fs))
		return;
	inode_table_each(fs->inodes, take_deleg, fs);
	silly_end_begun(fs);
	open_notes_end(fs->open_notes);
	written_former_end(fs->writeback, fs->pool);
}

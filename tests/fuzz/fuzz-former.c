/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any notes (notes.h) of a mount: the record's head, inodes, open files and directories, owners of
 * locks, silly names, answers, written data. The server is that of fake-nfs.h. The notes that a
 * successor accepts, the next successor accepts from the first one.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fs/file/flush.h"
#include "fs/file/silly.h"
#include "fs/known/inode.h"
#include "fs/program/former.h"
#include "fs/program/record.h"
#include "fs/program/setup.h"
#include "tests/fuzz/notes.h"
#include "tests/unit/fs/fake-nfs.h"
#include "transport/log.h"

#define POOL (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char nowhere[] = "/nowhere";
static const struct options options = {
	.mountpoint = nowhere, .cache_size = POOL, .gather = true, .survive = true};

static void read_head(const struct former *f)
{
	for (uint32_t i = 0; i < former_count(f, NOTE_MOUNT); i++) {
		struct err e = {0};
		uint32_t len;
		const void *note = former_note(f, NOTE_MOUNT, i, &len);
		struct record *r = record_of_note(note, len, &e);

		if (!r && !e.msg[0])
			abort();
		record_free(r);
	}
}

/* Takes over the notes, and the pool in the file. False: the notes are damaged. */
static bool take_over(struct fs *fs, struct former *f, int pool)
{
	struct err e = {0};

	fs->former = f;
	fs->former_pool = pool;
	if (setup_begin(fs, &options, &e)) {
		if (!e.msg[0])
			abort();
		return false;
	}
	fs->client = fake_client_new();
	if (!setup_root(fs))
		abort();
	if (fs_former_restore(fs, f, &e)) {
		if (!e.msg[0])
			abort();
		return false;
	}
	return true;
}

static void end(struct fs *fs)
{
	struct inode *ino;
	struct silly *s;

	if (fs->writeback && fs->pool)
		written_former_end(fs->writeback, fs->pool);
	if (fs->inodes)
		flush_end(fs);
	while (fs->inodes && (ino = inode_next_silly(fs->inodes, &s))) {
		silly_free(fs, s);
		inode_unref(ino);
	}
	setup_end(fs);
	former_free(fs->former);
	free(fs);
}

static struct fs *fs_new(void)
{
	struct fs *fs = calloc(1, sizeof(*fs));

	if (!fs)
		abort();
	fs->holder_fd = -1;
	return fs;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fs *first = fs_new(), *second;
	struct former *f = notes_read(data, size);
	int pool = memfd_create("fuzz", MFD_CLOEXEC);

	log_set_level(LOG_L_ERROR);
	read_head(f);
	if (take_over(first, f, pool) && ledger_is_whole(first->ledger)) {
		second = fs_new();
		if (!take_over(second, notes_of(first->ledger), mem_pool_fd(first->pool)))
			abort();
		end(second);
	}
	end(first);
	close(pool);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fs-fixture: a mount on the server of fake-nfs.h, without a kernel: no requests come yet.
 */
#ifndef RNFS_TESTS_FS_FIXTURE_H
#define RNFS_TESTS_FS_FIXTURE_H

#include "fs/known/fs.h"

/* With 16 MiB of pool memory; fs_fixture_options may change fs->opt. */
/* How much the next mount reads ahead; 0, as at first: nothing, and the mount has no cache. */
extern unsigned fs_fixture_readahead_kb;
/* Does the next mount gather writes? Not at first. */
extern bool fs_fixture_gather;

/* The next mount keeps notes here, and frees the ledger; NULL, as at first: no notes. */
extern struct ledger *fs_fixture_ledger;

struct fs *fs_fixture_new(void);
struct fs *fs_fixture_free(struct fs *fs);

extern struct options fs_fixture_options;

#endif

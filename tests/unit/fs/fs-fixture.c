/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fs-fixture: a mount on the server of fake-nfs.h, without a kernel.
 */
#include "tests/unit/fs/fs-fixture.h"

#include <stdlib.h>

#include "fs/program/setup.h"
#include "tests/unit/fs/fake-nfs.h"

struct options fs_fixture_options;
bool fs_fixture_gather;
unsigned fs_fixture_readahead_kb;
struct ledger *fs_fixture_ledger;
static unsigned mounts;

struct fs *fs_fixture_new(void)
{
	static char mountpoint[] = "/nowhere";
	struct fs *fs = calloc(1, sizeof(*fs));

	if (!mounts++) /* else threads of another mount may read them */
		fs_fixture_options = (struct options){.mountpoint = mountpoint,
			.cache_size = 16 << 20,
			.readahead_kb = fs_fixture_readahead_kb,
			.gather = fs_fixture_gather};
	fs->ledger = fs_fixture_ledger;
	if (setup_begin(fs, &fs_fixture_options, NULL))
		abort();
	fs->client = fake_client_new();
	if (!setup_root(fs))
		abort();
	return fs;
}

struct fs *fs_fixture_free(struct fs *fs)
{
	setup_end(fs);
	free(fs);
	mounts--;
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mount: a mount of rnfs in the simulator.
 */
#include "tests/simulation/mount.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fs/program/first.h"
#include "fs/known/fs.h"
#include "fs/program/leave.h"
#include "fs/program/loop.h"
#include "fs/program/mount.h"
#include "fs/coherence/notify.h"
#include "fs/options/options.h"
#include "fs/kernel/service.h"
#include "fs/program/setup.h"
#include "fs/observe/stats.h"
#include "fs/kernel/worker.h"
#include "tests/simulation/sched.h"

struct mount {
	struct fs fs;
	struct options options;
	char device[32];
	pthread_t loop;
	struct service service;
	bool safe;
};

static bool is_wanted(void *ctx)
{
	return true;
}

static void *run_loop(void *ctx)
{
	struct mount *m = ctx;
	struct fs *fs = &m->fs;

	loop_run(fs, &m->service);
	leave_notices(fs);
	workers_stop(fs);
	m->safe = leave_mount(fs, true);
	return NULL;
}

static void parse(struct mount *m, const char *source, const char *list)
{
	char *argv[] = {"rnfs", "-f", "-o", (char *)list, (char *)source, m->device, NULL};
	struct err e = {0};

	if (options_parse(&m->options, 6, argv, &e))
		sched_fail("%s", e.msg);
}

struct mount *mount_new(const char *source, const char *list, size_t cache, int fd)
{
	struct daemon d = {.verdict_fd = -1, .auto_unmount_fd = -1};
	struct mount *m = calloc(1, sizeof(*m));
	char why[1500] = "";
	struct err e = {0};
	struct fs *fs;

	if (!m)
		abort();
	fs = &m->fs;
	snprintf(m->device, sizeof(m->device), "/dev/fd/%d", fd);
	parse(m, source, list);
	fs->opt = &m->options;
	fs->mountpoint = m->device;
	service_begin(&m->service, fs, m->device);
	if (setup_begin(fs, &m->options, NULL))
		sched_fail("a mount has no memory");
	if (first_connect(fs, &d, is_wanted, NULL, why, sizeof(why)) != FIRST_CONNECTED)
		sched_fail("a mount has no server: %s", why);
	if (!setup_root(fs) || mount_session(fs, m->device, &e))
		sched_fail("a mount has no session: %s", e.msg);
	if (cache) {
		cache_set_limit(fs->cache, cache);
		writeback_set_limit(fs->writeback, cache);
	}
	fs->notifier = notifier_start(fs);
	if (!fs->notifier || !workers_start(fs, m->options.workers))
		sched_fail("a mount has no threads");
	if (loop_until_init(fs, &e))
		sched_fail("a mount does not begin: %s", e.msg);
	pthread_create(&m->loop, NULL, run_loop, m);
	return m;
}

struct mount *mount_free(struct mount *m)
{
	if (!m)
		return NULL;
	pthread_join(m->loop, NULL);
	options_finish(&m->options);
	free(m);
	return NULL;
}

unsigned mount_inodes(const struct mount *m)
{
	return inode_table_count(m->fs.inodes);
}

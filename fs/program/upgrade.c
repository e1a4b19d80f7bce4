/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * upgrade: a daemon replaces itself by the program that is installed now.
 */
#include "fs/program/upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/sidecar.h"
#include "fs/coherence/inval.h"
#include "fs/coherence/notify.h"
#include "fs/coherence/repeat.h"
#include "fs/file/opening.h"
#include "fs/kernel/again.h"
#include "fs/kernel/device.h"
#include "fs/kernel/request_waits.h"
#include "fs/kernel/service.h"
#include "fs/kernel/signals.h"
#include "fs/kernel/turn.h"
#include "fs/kernel/worker.h"
#include "fs/program/installed.h"
#include "fs/program/record.h"
#include "fs/program/survivor.h"
#include "transport/clock.h"
#include "transport/log.h"

#define TRY_NS	   (10 * NSEC_PER_SEC)
#define PAUSE_NS   (250 * NSEC_PER_MSEC)
#define FIRST_NS   (30 * NSEC_PER_MSEC)
#define BETWEEN_NS (250 * NSEC_PER_MSEC)
#define LOOK_NS	   NSEC_PER_MSEC

#define NO_ASKER -1

bool upgrade_ask(struct fs *fs, int fd)
{
	int none = NO_ASKER;

	if (!atomic_compare_exchange_strong(&fs->upgrade_asker, &none, fd))
		return false;
	if (eventfd_write(fs->wake_fd, 1))
		log_ctrl("eventfd: cannot wake the main thread");
	return true;
}

bool upgrade_is_asked(const struct fs *fs)
{
	return atomic_load(&fs->upgrade_asker) != NO_ASKER;
}

static void pause_for(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* --- stillness -------------------------------------------------------------------------------- */

/* The work that is under way, for "waiting for %s"; NULL: none. The workers are at rest. */
static const char *under_way(struct fs *fs)
{
	const char *why;

	openings_tick(fs, true);
	turns_tick(fs, false);
	repeats_tick(fs, false);
	if (writeback_sync(fs->writeback) || writeback_busy(fs->writeback))
		return "written data to be safe on the server";
	why = nfs_client_settle(fs->client);
	if (why)
		return why;
	if (!inval_is_idle(fs->inval) || !notifier_is_idle(fs->notifier))
		return "the kernel to forget what other clients have changed";
	if (!request_pool_is_idle(fs->requests))
		return "requests of programs";
	return NULL;
}

/* Pauses the workers until nothing is under way. NULL: they are at rest. Otherwise they go on.
 * Requests that wait for a lock stay put off for the next time: the server would be asked for all
 * of them again and again, and the mount would not become still. */
static const char *pause_once(struct fs *fs, uint64_t *paused_at)
{
	const char *why = "requests of programs";
	uint64_t until;

	*paused_at = clock_ns();
	until = *paused_at + PAUSE_NS;
	if (!workers_pause(fs, until))
		return why;
	request_pool_put_off(fs->requests);
	while ((why = under_way(fs)) && clock_ns() < until)
		pause_for(LOOK_NS);
	if (why)
		workers_resume(fs);
	return why;
}

static int become_still(struct fs *fs, uint64_t *paused_at, struct err *e)
{
	uint64_t until = clock_ns() + TRY_NS;
	const char *why;

	/* before the pause: the less is left to do, the shorter the pause */
	writeback_sync(fs->writeback);
	nfs_client_settle(fs->client);
	pause_for(FIRST_NS);
	while ((why = pause_once(fs, paused_at)) && clock_ns() < until && !signals_stops()) {
		service_tick(fs->service); /* a server that does not answer makes this long */
		pause_for(BETWEEN_NS);
	}
	if (!why)
		return 0;
	again_begin(fs);
	return err_set(e, ERR_INTERNAL, "the daemon goes on as it was, after waiting for %s", why);
}

/* --- exec ------------------------------------------------------------------------------------- */

/* A copy that execve() leaves open; -1 stays -1. */
static int keep_open(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD, 3);
}

static void drop(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Nothing is under way. Returns -1 with *e set. */
static int succeed(struct fs *fs, struct installed *p, uint64_t paused_at, struct err *e)
{
	struct record_head head = {
		.run = fs->handle_numbers.run + 1,
		.device = keep_open(fuse_session_fd(fs->se)),
		.row = keep_open(device_row(fs->device)),
		.auto_unmount = keep_open(fs->auto_unmount_fd),
		.asker = keep_open(atomic_load(&fs->upgrade_asker)),
		.paused_at = paused_at,
		.mounted_at = fs->mounted_at,
		.log_level = (unsigned)atomic_load(&log_max_level),
		.proto = fs->info.rpc.proto,
		.vers_major = fs->info.vers_major,
		.vers_minor = fs->info.vers_minor,
	};
	int file = -1, record = -1;

	snprintf(head.mountpoint, sizeof(head.mountpoint), "%s", fs->mountpoint);
	if (head.device >= 0 && head.asker >= 0 && (device_row(fs->device) < 0 || head.row >= 0) &&
		(fs->auto_unmount_fd < 0 || head.auto_unmount >= 0))
		file = record_write(fs, &head, e);
	else
		err_set(e, ERR_INTERNAL, "%s", strerror(errno));
	record = keep_open(file);
	if (record >= 0) {
		int error = installed_exec(p, record);

		err_set(e, ERR_INTERNAL, "%.200s cannot be run: %s", p->path, strerror(error));
	} else if (file >= 0) {
		err_set(e, ERR_INTERNAL, "%s", strerror(errno));
	}
	drop(record);
	drop(file);
	drop(head.device);
	drop(head.row);
	drop(head.auto_unmount);
	drop(head.asker);
	return -1;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Mounts that cannot be handed over at all. */
static int check_kind(const struct fs *fs, struct err *e)
{
	if (sidecar_directory())
		return err_set(e, ERR_USAGE,
			"a sidecar (--fd-from) has its mount from a mounter, which waits for the "
			"end of this program: start the new program as the next sidecar");
	if (fs->handle_numbers.run == NUMBERS_RUN_MAX)
		return err_set(e, ERR_INTERNAL,
			"this mount has had too many daemons: unmount and mount again");
	if (!fs->init.in_len || !fs->init.out_len)
		return err_set(e, ERR_INTERNAL,
			"the kernel has begun this mount in a way that is not known: unmount and "
			"mount again");
	return 0;
}

static void try_all(struct fs *fs, struct err *e)
{
	struct installed p = {.args = NULL};
	uint64_t paused_at;

	if (!check_kind(fs, e) && !installed_init(&p, e) && !installed_check(&p, fs->ledger, e) &&
		!become_still(fs, &paused_at, e)) {
		if (fs->ledger)
			survivor_replace(fs, p.path, atomic_load(&fs->upgrade_asker), paused_at, e);
		else
			succeed(fs, &p, paused_at, e);
		again_begin(fs);
		workers_resume(fs);
	}
	installed_finish(&p);
}

void upgrade_run(struct fs *fs)
{
	struct err e = {0};
	char line[sizeof(e.msg) + 16];
	int n, fd;

	try_all(fs, &e);
	log_always_warn("no successor: %s", e.msg);
	fd = atomic_exchange(&fs->upgrade_asker, NO_ASKER);
	n = snprintf(line, sizeof(line), ANSWER_ERROR " %s\n", e.msg);
	if (send(fd, line, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < n)
		log_ctrl("the command has gone");
	close(fd);
}

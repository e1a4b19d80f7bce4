/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * loop: the main thread's work while the mount is used.
 */
#include "fs/program/loop.h"

#include <poll.h>
#include <unistd.h>

#include "cli/fuse_fd.h"
#include "fs/coherence/announce.h"
#include "fs/kernel/ending.h"
#include "fs/program/memory.h"
#include "fs/program/former.h"
#include "fs/program/mount.h"
#include "fs/program/survivor.h"
#include "fs/program/upgrade.h"
#include "fs/file/opening.h"
#include "fs/ops/ops.h"
#include "fs/kernel/request_waits.h"
#include "fs/kernel/signals.h"
#include "fs/file/silly.h"
#include "fs/coherence/repeat.h"
#include "fs/file/retry.h"
#include "fs/kernel/turn.h"
#include "fs/kernel/underway.h"
#include "fs/kernel/worker.h"
#include "transport/clock.h"
#include "transport/log.h"

#define INIT_WAIT_MS	30000
#define DETACH_WAIT_NS	(2 * NSEC_PER_SEC)
#define DETACH_TICK_MS	100
#define TICK_MS		1000
#define KILLING_TICK_MS 20
#define SILENT_TICK_MS	100
#define PARKED_TICK_MS	20

static void sleep_on(struct fs *fs, int timeout_ms)
{
	struct pollfd p[] = {
		{.fd = fs->wake_fd, .events = POLLIN}, {.fd = memory_fd(fs), .events = POLLPRI}};
	uint64_t n;

	if (poll(p, 2, timeout_ms) <= 0)
		return;
	if (p[0].revents && read(fs->wake_fd, &n, 8) != 8)
		log_ctrl("eventfd: nothing to read");
	if (p[1].revents)
		memory_stalled(fs, p[1].revents);
}

static uint64_t now_ms(void)
{
	return clock_ns() / 1000000;
}

int loop_until_init(struct fs *fs, struct err *e)
{
	uint64_t end = now_ms() + INIT_WAIT_MS;

	while (!atomic_load(&fs->init_done)) {
		if (atomic_load(&fs->not_first))
			return err_set(e, ERR_INTERNAL,
				"the FUSE device has served another daemon: open /dev/fuse and "
				"mount anew for each daemon");
		if (signals_stops())
			return err_set(e, ERR_INTERNAL, "stopped by a signal while mounting");
		if (!workers_running(fs))
			return err_set(
				e, ERR_INTERNAL, "the kernel ended the FUSE session at once");
		if (now_ms() >= end)
			return err_set(e, ERR_INTERNAL,
				"the kernel has not begun the FUSE session after %d s",
				INIT_WAIT_MS / 1000);
		sleep_on(fs, 100);
	}
	return 0;
}

bool loop_run(struct fs *fs, struct service *service)
{
	bool parked = false, detached = false;
	uint64_t until = 0, checked = 0;
	int tick = TICK_MS;

	underway_waits_anew(fs);
	for (;;) {
		if (!workers_running(fs))
			return true;
		if (signals_take_stats())
			fs_log_stats(fs);
		if (signals_take_hangup())
			log_reopen();
		if (signals_stops() && !detached) {
			/* The mount point leaves the name space at once; open files have a moment
			 * to end. */
			log_always_info("signal: %s %s",
				fuse_fd_meant(fs->mountpoint)
					? "ending, and the mounter is to unmount"
					: "unmounting",
				mount_shown(fs->mountpoint));
			detached = true;
			writeback_sync(fs->writeback);
			if (!mount_detach(fs->mountpoint))
				return false;
			until = ending_until(fs, DETACH_WAIT_NS);
			continue;
		}
		if (detached && (signals_stops() > 1 || clock_ns() > until))
			return false;
		sleep_on(fs, parked && tick > PARKED_TICK_MS	 ? PARKED_TICK_MS
			     : detached && tick > DETACH_TICK_MS ? DETACH_TICK_MS
								 : tick);
		parked = openings_tick(fs, false);
		parked |= turns_tick(fs, false);
		parked |= repeats_tick(fs, false);
		service_tell(service, fs);
		service_tick(service);
		if (atomic_exchange(&fs->some_gone, false))
			ops_end_gone(fs);
		if (upgrade_is_asked(fs))
			upgrade_run(fs);
		if (now_ms() - checked >= (unsigned)tick) {
			checked = now_ms();
			tick = request_check_killed(fs->requests) ? KILLING_TICK_MS
			       : announce_hurries(fs)		  ? SILENT_TICK_MS
								  : TICK_MS;
			ops_end_gone(fs);
			signals_reap();
			retries_tick(fs, false);
			silly_tick(fs);
			if (tick != KILLING_TICK_MS)
				memory_tick(fs);
			announce_tick(fs);
			writeback_tick(fs->writeback);
			log_tell(false);
			survivor_tick(fs);
			former_tick(fs);
		}
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ending: how long the end of a mount may take.
 */
#include "fs/kernel/ending.h"

#include "fs/kernel/signals.h"
#include "transport/clock.h"
#include "transport/log.h"

#define UNMOUNT_NS (30 * NSEC_PER_SEC)
#define QUIET_NS   (2 * NSEC_PER_SEC) /* so long without a success: the server takes nothing */
#define LAST_NS	   NSEC_PER_SEC	      /* the part of the grace for the steps behind the data */
#define HURRY_NS   (NSEC_PER_SEC / 4) /* for a step that begins when the time is over */

void ending_begin(struct fs *fs)
{
	fs->ending_at = clock_ns();
}

void ending_took(struct fs *fs)
{
	atomic_store_explicit(&fs->took_at, clock_coarse_ns(), memory_order_relaxed);
}

static uint64_t grace_ns(const struct fs *fs)
{
	return fs->opt->grace_s * NSEC_PER_SEC;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The end of the grace; UINT64_MAX: never. */
static uint64_t bound(const struct fs *fs)
{
	uint64_t at = signals_stopped_at(), grace = grace_ns(fs);
	uint64_t last = grace / 4 < LAST_NS ? grace / 4 : LAST_NS;

	if (signals_stops() > 1)
		return 0;
	if (at)
		return grace ? at + grace - last : UINT64_MAX;
	return fs->ending_at ? fs->ending_at + UNMOUNT_NS : UINT64_MAX;
}

bool ending_over(struct fs *fs)
{
	uint64_t end = bound(fs), now = clock_ns();
	size_t left;

	if (now < end)
		return false;
	if (!end || clock_age(now, atomic_load(&fs->took_at)) >= QUIET_NS)
		return true;
	left = writeback_bytes(fs->writeback);
	if (left && !fs->said_ending) {
		log_always_warn("the time for the end is over, but the server still takes data, so "
				"the end goes on: %zu KiB are left, which a SIGKILL loses",
			(left + 1023) / 1024);
		fs->said_ending = true;
	}
	return false;
}

uint64_t ending_until(const struct fs *fs, uint64_t usual)
{
	uint64_t now = clock_ns(), end = later(bound(fs), now + HURRY_NS);

	return end < now + usual ? end : now + usual;
}

uint64_t ending_leave_by(const struct fs *fs)
{
	uint64_t at = signals_stopped_at(), soon = clock_ns() + HURRY_NS;

	if (signals_stops() > 1)
		return soon;
	return at && grace_ns(fs) ? later(at + grace_ns(fs), soon) : 0;
}

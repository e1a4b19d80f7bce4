/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * thread: the threads that a mount cannot do without.
 */
#include "fs/kernel/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "fs/kernel/device.h"
#include "fs/kernel/ending.h"
#include "fs/kernel/service.h"
#include "fs/kernel/signals.h"
#include "fs/known/fs.h"
#include "transport/clock.h"
#include "transport/log.h"

#define PAUSE_NS (100 * NSEC_PER_MSEC)

static int start(pthread_t *t, void *(*run)(void *), void *arg, int allowed)
{
	sigset_t block, before;
	int rc;

	sigfillset(&block);
	if (allowed)
		sigdelset(&block, allowed);
	pthread_sigmask(SIG_SETMASK, &block, &before);
	rc = pthread_create(t, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* May this daemon wait for a thread? The successor of a killed daemon makes written data safe even
 * if a signal or an unmount ends the mount, so the successor has the time of an end
 * (survivor_is_wanted()). */
static bool may_wait(struct fs *fs)
{
	if (!fs->waits_for_threads)
		return false;
	if (!fs->former)
		return !signals_stops();
	if (!fs->ending_at && fs->se && device_gone(fuse_session_fd(fs->se)))
		ending_begin(fs);
	return !ending_over(fs);
}

int thread_start(struct fs *fs, pthread_t *t, void *(*run)(void *), void *arg, int allowed)
{
	bool told = false;
	int rc;

	while ((rc = start(t, run, arg, allowed)) == EAGAIN && may_wait(fs)) {
		if (!told)
			log_always_warn("cannot start a thread: %s: waiting for one (is pids.max "
					"of the control group or ulimit -u too small?)",
				strerror(rc));
		told = true;
		if (fs->service)
			service_tick(fs->service);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * announce: a server that does not answer, and one that answers again.
 */
#include "fs/coherence/announce.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include "fs/kernel/request_waits.h"
#include "transport/clock.h"
#include "transport/log.h"

extern char **environ;

/* The lower of a and b; 0 counts as no bound. */
static uint64_t shorter(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static uint64_t limit(const struct fs *fs)
{
	uint64_t patience = fs->opt->patience_s * NSEC_PER_SEC;

	return shorter(fs->kernel_bound_ns, atomic_load(&fs->silent_since) ? patience : 0);
}

void announce_bound(struct fs *fs, uint64_t ns)
{
	fs->kernel_bound_ns = ns;
	request_pool_limit(fs->requests, limit(fs));
}

void announce_silence(struct fs *fs, bool silent)
{
	const struct options *o = fs->opt;

	if (silent)
		log_always_info("server %s not responding%s", o->host,
			o->soft || o->patience_s ? "" : ", still trying");
	else
		log_always_info("server %s OK", o->host);
	atomic_store(&fs->silent_since, silent ? clock_ns() : 0);
	request_pool_limit(fs->requests, limit(fs));
	if (fs->wake_fd >= 0 && eventfd_write(fs->wake_fd, 1))
		log_ctrl("eventfd: cannot wake the main thread");
}

bool announce_hurries(const struct fs *fs)
{
	return fs->opt->patience_s && atomic_load(&fs->silent_since);
}

/* Without notify-send, or without a desktop that listens, the user sees no message. */
static pid_t tell_desktop(const struct options *o, bool silent)
{
	char summary[300];
	const char *argv[] = {"notify-send", "--app-name=rnfs", "--icon=network-server",
		silent ? "--urgency=critical" : "--urgency=low", summary, o->source, NULL};
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;

	snprintf(summary, sizeof(summary),
		silent ? "%.200s does not answer" : "%.200s answers again", o->host);
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	if (posix_spawnp(&pid, argv[0], NULL, &attr, (char *const *)argv, environ))
		pid = 0;
	posix_spawnattr_destroy(&attr);
	return pid;
}

void announce_tick(struct fs *fs)
{
	bool silent = atomic_load(&fs->silent_since) != 0;

	if (!fs->opt->notify)
		return;
	/* not 0: the process has ended, or process 1 has reaped it (signals_reap()) */
	if (fs->notifying && waitpid(fs->notifying, NULL, WNOHANG) != 0)
		fs->notifying = 0;
	/* one message after the other, so that the desktop shows the last one last */
	if (fs->notifying || silent == fs->notified_silent)
		return;
	fs->notified_silent = silent;
	fs->notifying = tell_desktop(fs->opt, silent);
}

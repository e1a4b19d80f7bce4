/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * service: messages to systemd.
 */
#include "fs/kernel/service.h"

#include <stdio.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/pulse.h"
#include "transport/sd_notify.h"

/* A thread that has nothing to receive shows its pulse every ten seconds. */
#define STUCK_LOOKS 14u
#define LOOK_MS	    900u

static void say(const struct service *s, const struct fs *fs, const char *state)
{
	sd_notify("STATUS=%s on %s: %s", fs->opt->source, s->mountpoint, state);
}

void service_begin(struct service *s, const struct fs *fs, const char *mountpoint)
{
	*s = (struct service){.on = fs->opt->foreground, .mountpoint = mountpoint};
	if (!s->on)
		return;
	s->watchdog_ms = sd_notify_watchdog_ms();
	s->told = clock_ns();
	say(s, fs, "connecting");
}

static void say_mounted(const struct service *s, const struct fs *fs)
{
	const struct nfs_client_info *i = &fs->info;
	char text[80];

	if (i->vers_major == 3)
		snprintf(text, sizeof(text), "NFS 3 over %s", rpc_proto_name(i->rpc.proto));
	else
		snprintf(text, sizeof(text), "NFS %u.%u over %s", i->vers_major, i->vers_minor,
			rpc_proto_name(i->rpc.proto));
	say(s, fs, text);
}

void service_delayed(struct service *s, const struct fs *fs)
{
	if (!s->on)
		return;
	say(s, fs, "waiting for the server");
	sd_notify("READY=1");
}

void service_ready(struct service *s, const struct fs *fs)
{
	if (!s->on)
		return;
	say_mounted(s, fs);
	sd_notify("READY=1");
}

void service_tell(struct service *s, const struct fs *fs)
{
	bool silent = atomic_load(&fs->silent_since) != 0;

	if (!s->on || silent == s->silent)
		return;
	s->silent = silent;
	if (silent)
		say(s, fs, "the server does not answer");
	else
		say_mounted(s, fs);
}

void service_tick(struct service *s)
{
	unsigned looks = s->watchdog_ms / 2 / LOOK_MS;
	uint64_t now = clock_ns();
	const char *stuck;

	if (!s->watchdog_ms || clock_age(now, s->looked) < LOOK_MS * NSEC_PER_MSEC)
		return;
	s->looked = now;
	stuck = pulse_look(looks > STUCK_LOOKS ? looks : STUCK_LOOKS);
	if (stuck && !s->stuck)
		log_always_error("thread %s is stuck: the service manager's watchdog gets no "
				 "more signs of life",
			stuck);
	s->stuck = stuck;
	if (stuck || clock_age(now, s->told) < s->watchdog_ms / 3 * NSEC_PER_MSEC)
		return;
	s->told = now;
	sd_notify("WATCHDOG=1");
}

void service_end(struct service *s)
{
	if (s->on)
		sd_notify("STOPPING=1");
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * weather: a thread that harms the server again and again.
 */
#include "tests/simulation/weather.h"

#include <unistd.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/lulls.h"
#include "tests/simulation/network.h"
#include "tests/simulation/pieces.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/server.h"
#include "tests/simulation/ways.h"

#define KILLS_MOST 30 /* the threads of a killed server stay until the end of the run */
#define RESTS	   40 /* while a program rests the weather harms more seldom by so much */

static unsigned kills;

unsigned weather_kills(void)
{
	return kills;
}

void weather_serve(struct weather *w)
{
	w->process = sched_process_new("server");
	network_place(w->process, w->host, NULL);
	w->server = server_new(w->args);
	sched_process_enter(0);
}

/* With an NLM host the server's grace period lasts a whole lease time. Programs lock after that. */
static void wait_for_grace(const struct weather *w)
{
	uint64_t end = sched_now() + (ways.lease_s + 2) * 1000000000ull;

	while (ways.v3 && !w->ends && sched_now() < end)
		usleep(100000);
}

/* kill -9, or the power: then the disk loses the changes that no sync has covered. */
static void kill_server(struct weather *w, bool power)
{
	if (kills == KILLS_MOST)
		return;
	if (power)
		network_down(w->host);
	kills++;
	sched_process_kill(w->process);
	descriptors_close_of(w->process);
	if (power)
		disk_power_cut();
	usleep(sched_choose(3000000));
	if (power)
		network_up(w->host);
	weather_serve(w);
	if (sched_once_in(2))
		wait_for_grace(w);
}

/* One connection is cut, or half of it is gone or silent. The client of an NLM server loses its
 * locks, and rightly so, if the client does not notice in time that the server restarts: no silence
 * is long then. */
static void harm_one(void)
{
	unsigned n = network_any(), quiet_ms = ways.v3 ? 3000 : 20000;

	switch (sched_choose(3)) {
	case 0:
		network_cut(n);
		break;
	case 1:
		network_lose(n, sched_choose(2), !ways.v3 && sched_once_in(2));
		break;
	case 2:
		network_quiet(n, sched_choose(2), sched_choose(quiet_ms) * 1000000ull);
		break;
	}
}

enum { CALM = 4 };

static void *be_weather(void *ctx)
{
	struct weather *w = ctx;

	sched_name("weather");
	for (unsigned i = 0; !w->ends; i++) {
		bool is = piece_begin(PIECE_WEATHER, i, 0);

		usleep(100000 + sched_choose(3000000));
		if (lull_now() && !sched_once_in(RESTS))
			continue;
		for (unsigned n = is && w->several ? sched_choose(4) : 0; n; n--) {
			harm_one();
			usleep(sched_choose(1000000));
		}
		switch (is ? sched_choose(5) : CALM) {
		case 0:
			sched_event("weather: all connections are cut");
			network_cut_all(w->host);
			break;
		case 1:
			sched_event("weather: silence");
			network_quiet_all(w->host, sched_choose(3000) * 1000000ull);
			break;
		case 2:
			kill_server(w, false);
			break;
		case 3:
			kill_server(w, true);
			break;
		case CALM:
			break;
		}
	}
	return NULL;
}

void weather_begin(struct weather *w)
{
	pthread_create(&w->thread, NULL, be_weather, w);
}

void weather_end(struct weather *w)
{
	w->ends = true;
	pthread_join(w->thread, NULL);
}

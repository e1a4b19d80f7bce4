/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * server: rnfs-serve in the simulator.
 */
#include "tests/simulation/server.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/main/life.h"
#include "contrib/serve/state/deleg.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"
#include "transport/clock.h"

#define ARGS_MAX 32
#define TICK_NS	 1000000000ull
#define RECALL_S 20 /* in which a mount returns a recalled delegation */

struct server {
	struct options options;
	struct life life;
	pthread_t ticks;
	bool ends;
};

/* A mount returns a recalled delegation before the server would revoke the delegation. A lost
 * session may take a CB_RECALL along, which the server repeats after 5 s. */
static void check_recalls(const struct server *s)
{
	unsigned most = ways.lease_s * 3 / 4, patience = most < RECALL_S ? most : RECALL_S;
	uint64_t now = clock_ns();
	const struct st *st;

	if (!ways.calm)
		return;
	TAILQ_FOREACH (st, &s->life.sv.state.delegs->list, deleg.link)
		if (st->deleg.recalled_ns && st->deleg.recalled_ns + patience * TICK_NS < now)
			sched_fail("a mount has not returned a delegation for %u s", patience);
}

static void tick_once(struct server *s)
{
	life_tick(&s->life);
	check_recalls(s);
}

static void *tick(void *ctx)
{
	struct server *s = ctx;

	while (!s->ends)
		if (!sched_wait(s, sched_now() + TICK_NS, "for a second"))
			tick_once(s);
	return NULL;
}

static unsigned starts;

unsigned server_starts(void)
{
	return starts;
}

struct server *server_new(char **args)
{
	struct server *s = calloc(1, sizeof(*s));
	char *argv[ARGS_MAX] = {"rnfs-serve"};
	struct err e = {0};
	int argc = 1;

	if (!s)
		abort();
	starts++;
	while (*args && argc < ARGS_MAX - 1)
		argv[argc++] = *args++;
	umask(0); /* modes are the clients' */
	if (serve_options_parse(&s->options, argc, argv, &e) < 0)
		sched_fail("a server does not begin: %s", e.msg);
	way_crew_begin();
	ident_init(!s->options.no_root_squash);
	if (life_begin(&s->life, &s->options, &e) < 0)
		sched_fail("a server does not begin: %s", e.msg);
	pthread_create(&s->ticks, NULL, tick, s);
	return s;
}

struct server *server_free(struct server *s)
{
	if (!s)
		return NULL;
	s->ends = true;
	sched_wake_all(s);
	pthread_join(s->ticks, NULL);
	life_end(&s->life);
	way_crew_end();
	free(s);
	return NULL;
}

void server_check_idle(const struct server *s)
{
	const struct state *st = &s->life.sv.state;
	unsigned opens = atomic_load(&st->nopens);

	if (ways.refuses)
		return;
	if (opens || st->nsessions || (st->nclients && !ways.v3))
		sched_fail("the server has %u open files, %u sessions and %u clients left", opens,
			st->nsessions, st->nclients);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * try-pieces: programs of which some have a defect, for the test that failures are made smaller.
 * Takes the command line of sim: try-pieces [--pct] [--trace] [--pieces] [--schedule SEED]
 * [--without LIST] SEED.
 *
 * In some of their rounds, programs CARELESS and CARELESS + 1 add to a number without the lock: an
 * addition is lost if another program adds at the same time.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/simulation/pieces.h"
#include "tests/simulation/sched.h"

#define PROGRAMS 6
#define ROUNDS	 10
#define ADDS	 5
#define CARELESS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned number, added[PROGRAMS];

static void add(unsigned program, bool locks)
{
	unsigned old;

	if (locks)
		pthread_mutex_lock(&lock);
	old = number;
	if (!locks)
		sched_point();
	number = old + 1;
	added[program]++;
	if (locks)
		pthread_mutex_unlock(&lock);
}

static void *run(void *ctx)
{
	unsigned program = (unsigned)(uintptr_t)ctx;

	for (unsigned i = 0; i < ROUNDS; i++) {
		bool locks;

		if (!piece_begin(PIECE_PROGRAM, program, i))
			continue;
		locks = (program != CARELESS && program != CARELESS + 1) || sched_once_in(2);
		for (unsigned k = 0; k < ADDS; k++)
			add(program, locks);
	}
	return NULL;
}

static void first(void *ctx)
{
	pthread_t t[PROGRAMS];
	unsigned all = 0;

	for (uintptr_t i = 0; i < PROGRAMS; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (unsigned i = 0; i < PROGRAMS; i++) {
		pthread_join(t[i], NULL);
		all += added[i];
	}
	if (number != all)
		sched_fail("the number is %u, not %u", number, all);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"pct", no_argument, NULL, 'p'},
		{"trace", no_argument, NULL, 't'}, {"pieces", no_argument, NULL, 'i'},
		{"schedule", required_argument, NULL, 's'}, {"steps", required_argument, NULL, 'm'},
		{"without", required_argument, NULL, 'w'}, {0}};
	struct sched_params p = {.most_steps = 1000000, .depth = 3, .span = 1000, .out = stderr};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == '?' || (c == 'w' && !pieces_leave_out(optarg)))
			return 2;
		p.policy = c == 'p' ? SCHED_PCT : p.policy;
		p.trace |= c == 't';
		p.pieces |= c == 'i';
		p.most_steps = c == 'm' ? strtoull(optarg, NULL, 0) : p.most_steps;
		p.schedule = c == 's' ? strtoull(optarg, NULL, 0) : p.schedule;
	}
	p.seed = strtoull(argv[optind], NULL, 0);
	sched_run(&p, first, NULL);
	printf("seed %llu: %llu steps, %llu ms\n", (unsigned long long)p.seed,
		(unsigned long long)sched_steps(), (unsigned long long)sched_now() / 1000000);
	return 0;
}

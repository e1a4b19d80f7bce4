/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * try-sched: plays small programs in the simulator: try-sched SEED sound|wakeup|deadlock|livelock
 * [pct]. "sound" ends with status 0 and prints the digest; the others have a defect that some seeds
 * show.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/sched.h"

#define WORKERS 4
#define ROUNDS	50

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static unsigned made, taken;
static const char *what;

static void *take(void *ctx)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		while (!made)
			pthread_cond_wait(&some, &lock);
		made--;
		taken++;
		sched_event("took %u", taken);
		pthread_mutex_unlock(&lock);
	}
	return ctx;
}

/* defect: looks without the lock, so that the wake-up may come between look and wait */
static void *take_carelessly(void *ctx)
{
	if (!made) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&some, &lock);
		pthread_mutex_unlock(&lock);
	}
	return ctx;
}

static void *lock_other_way(void *ctx)
{
	pthread_mutex_lock(&other);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&other);
	return ctx;
}

static void *spin(void *ctx)
{
	while (!made)
		sched_yield();
	return ctx;
}

static void check(bool is, const char *text)
{
	if (!is)
		sched_fail("%s", text);
}

static void sound(void)
{
	pthread_t t[WORKERS];
	struct timespec ts, later;
	struct pollfd p;
	void *res;

	p.fd = eventfd(0, EFD_NONBLOCK);
	p.events = POLLIN;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	check(poll(&p, 1, 3600 * 1000) == 0, "an event came");
	clock_gettime(CLOCK_MONOTONIC, &later);
	check(later.tv_sec - ts.tv_sec >= 3600, "an hour has not passed");
	check(!eventfd_write(p.fd, 7) && poll(&p, 1, -1) == 1, "no event came");
	close(p.fd);
	for (uintptr_t i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, take, (void *)i);
	for (unsigned i = 0; i < WORKERS * ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		made++;
		pthread_cond_signal(&some);
		pthread_mutex_unlock(&lock);
	}
	for (uintptr_t i = 0; i < WORKERS; i++)
		check(!pthread_join(t[i], &res) && res == (void *)i, "a thread ended wrongly");
	check(taken == WORKERS * ROUNDS && !made, "some is left");
	pthread_mutex_lock(&lock);
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += 10;
	check(pthread_cond_timedwait(&some, &lock, &ts) == ETIMEDOUT, "no time-out");
	pthread_mutex_unlock(&lock);
	check(!descriptors_open(), "descriptors are left");
}

static void first(void *ctx)
{
	pthread_t t;

	if (!strcmp(what, "sound")) {
		sound();
		return;
	}
	if (!strcmp(what, "wakeup")) {
		pthread_create(&t, NULL, take_carelessly, NULL);
		pthread_mutex_lock(&lock);
		made = 1;
		pthread_cond_signal(&some);
		pthread_mutex_unlock(&lock);
	} else if (!strcmp(what, "deadlock")) {
		pthread_create(&t, NULL, lock_other_way, NULL);
		pthread_mutex_lock(&lock);
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&other);
		pthread_mutex_unlock(&lock);
	} else {
		pthread_create(&t, NULL, spin, NULL);
	}
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	struct sched_params p = {.seed = strtoull(argv[1], NULL, 0),
		.most_steps = 1000000,
		.out = stderr,
		.depth = 3,
		.span = 30};

	what = argv[2];
	p.policy = argc > 3 ? SCHED_PCT : SCHED_WALK;
	p.trace = getenv("TRACE") ? 2 : 0;
	sched_run(&p, first, NULL);
	printf("%016llx\n", (unsigned long long)sched_digest());
	return 0;
}

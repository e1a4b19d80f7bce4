/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lulls: rests of programs, and calls that do not end.
 */
#include "tests/simulation/lulls.h"

#include <pthread.h>
#include <stdint.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs.h"

#define SECOND	  1000000000ull
#define RESTS	  12   /* of a run, at most */
#define SHORT_S	  100  /* most rests are shorter */
#define LONG_S	  700  /* longer than actimeo=600 */
#define PATIENT_S 45   /* longer than any call of a calm run but for a lock */
#define EVER_S	  7200 /* longer than all rests of a run together */
#define LOOK_S	  60   /* between two looks at calls */

static struct {
	unsigned one_in; /* system calls; 0: never */
	unsigned left;
	bool calm, ends;
	uint64_t until;
	pthread_t watch;
} lulls;

static void check_calls(unsigned seconds, bool locks)
{
	uint64_t now = sched_now(), age = seconds * SECOND;
	const struct process *p = now > age ? proc_waits_since(now - age, locks) : NULL;

	if (p)
		sched_fail("process %d has been in a system call for more than %u s",
			(int)proc_pid(p), seconds);
}

static void *watch(void *ctx)
{
	sched_name("watch");
	while (!lulls.ends) {
		sched_wait(&lulls.ends, sched_now() + LOOK_S * SECOND, "for the end of programs");
		check_calls(EVER_S, true);
	}
	return NULL;
}

void lulls_begin(bool calm)
{
	static const unsigned often[] = {0, 400, 80};

	lulls.one_in = often[sched_choose(3)];
	lulls.left = RESTS;
	lulls.calm = calm;
	pthread_create(&lulls.watch, NULL, watch, NULL);
}

void lulls_end(void)
{
	lulls.ends = true;
	sched_wake_all(&lulls.ends);
	pthread_join(lulls.watch, NULL);
}

bool lull_now(void)
{
	return sched_now() < lulls.until;
}

static void wait_until(uint64_t end)
{
	while (sched_now() < end)
		sched_wait(&lulls.until, end, "for the end of a rest");
}

void lull_rest(void)
{
	unsigned seconds;
	uint64_t end;

	if (!lulls.one_in || !lulls.left || !sched_once_in(lulls.one_in))
		return;
	lulls.left--;
	seconds = 5 + sched_choose(sched_once_in(4) ? LONG_S : SHORT_S);
	end = sched_now() + seconds * SECOND;
	if (end > lulls.until)
		lulls.until = end;
	sched_event("a program rests for %u s", seconds);
	wait_until(end);
	sched_event("the rest ends");
	if (lulls.calm)
		check_calls(PATIENT_S, false);
}

void lull_wait(void)
{
	while (lull_now())
		wait_until(lulls.until);
}

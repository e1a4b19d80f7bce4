/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pulse: the pulses of this process.
 */
#include "transport/pulse.h"

#include <stddef.h>

#include "transport/lock.h"

static struct mutex lock = MUTEX_INITIALIZER;
static GUARDED_BY(lock) LIST_HEAD(, pulse) pulses = LIST_HEAD_INITIALIZER(pulses);

void pulse_join(struct pulse *p, const char *name)
{
	p->name = name;
	atomic_init(&p->count, 0);
	p->seen = p->same = 0;
	mutex_lock(&lock);
	LIST_INSERT_HEAD(&pulses, p, link);
	mutex_unlock(&lock);
}

void pulse_leave(struct pulse *p)
{
	mutex_lock(&lock);
	LIST_REMOVE(p, link);
	mutex_unlock(&lock);
}

const char *pulse_look(unsigned most)
{
	const char *stuck = NULL;
	struct pulse *p;

	mutex_lock(&lock);
	LIST_FOREACH (p, &pulses, link) {
		unsigned now = atomic_load_explicit(&p->count, memory_order_relaxed);

		p->same = now % 2 && now == p->seen ? p->same + 1 : 0;
		p->seen = now;
		if (p->same > most)
			stuck = p->name;
	}
	mutex_unlock(&lock);
	return stuck;
}

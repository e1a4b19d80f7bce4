/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * trace: events on their way from the threads that answer requests to the control thread.
 *
 * A writer takes the next number by compare-and-swap, if the place for it is free. The release that
 * hands a place over, to the reader or to the writer of the next round, is the store of its turn.
 */
#include "fs/observe/trace.h"

#include <stddef.h>
#include <stdlib.h>

struct place {
	_Atomic uint64_t turn;
	struct trace_event event;
};

struct trace_ring {
	_Atomic uint64_t next;	  /* number of the next event that is written */
	_Atomic uint64_t dropped; /* events dropped since the last trace_dropped() */
	uint64_t read;		  /* used by the reader: number of the next event to take */
	struct place place[TRACE_EVENTS];
};

static struct place *place_of(struct trace_ring *r, uint64_t number)
{
	return &r->place[number % TRACE_EVENTS];
}

static struct place *place_of_event(struct trace_event *e)
{
	return (struct place *)((char *)e - offsetof(struct place, event));
}

bool trace_start(struct trace *t)
{
	struct trace_event e;

	if (!t->ring) {
		t->ring = calloc(1, sizeof(*t->ring));
		if (!t->ring)
			return false;
		for (unsigned i = 0; i < TRACE_EVENTS; i++)
			atomic_init(&t->ring->place[i].turn, i);
	}
	while (trace_take(t, &e))
		;
	trace_dropped(t);
	atomic_store_explicit(&t->on, true, memory_order_release);
	return true;
}

void trace_stop(struct trace *t)
{
	atomic_store_explicit(&t->on, false, memory_order_release);
}

void trace_finish(struct trace *t)
{
	free(t->ring);
	t->ring = NULL;
}

struct trace_event *trace_place(struct trace *t)
{
	struct trace_ring *r = t->ring;
	uint64_t number = atomic_load_explicit(&r->next, memory_order_relaxed);

	for (;;) {
		struct place *p = place_of(r, number);
		uint64_t turn = atomic_load_explicit(&p->turn, memory_order_acquire);

		if (turn < number) { /* the reader has not come by since the last round */
			atomic_fetch_add_explicit(&r->dropped, 1, memory_order_relaxed);
			return NULL;
		}
		if (turn > number) { /* another writer has the number */
			number = atomic_load_explicit(&r->next, memory_order_relaxed);
			continue;
		}
		if (atomic_compare_exchange_weak_explicit(&r->next, &number, number + 1,
			    memory_order_relaxed, memory_order_relaxed)) {
			p->event.turn = number;
			return &p->event;
		}
	}
}

void trace_put(struct trace_event *e)
{
	atomic_store_explicit(&place_of_event(e)->turn, e->turn + 1, memory_order_release);
}

bool trace_take(struct trace *t, struct trace_event *out)
{
	struct trace_ring *r = t->ring;
	struct place *p = place_of(r, r->read);

	if (atomic_load_explicit(&p->turn, memory_order_acquire) != r->read + 1)
		return false;
	*out = p->event;
	atomic_store_explicit(&p->turn, r->read + TRACE_EVENTS, memory_order_release);
	r->read++;
	return true;
}

uint64_t trace_dropped(struct trace *t)
{
	return atomic_exchange_explicit(&t->ring->dropped, 0, memory_order_relaxed);
}

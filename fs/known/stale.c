/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stale: threads that got ESTALE for an open.
 */
#include "fs/known/stale.h"

static unsigned place_of(pid_t tid)
{
	return (unsigned)tid % STALE_THREADS;
}

/* Replaces the note `from` on tid by `to`. False: the note was not `from`. */
static bool change(struct stale_threads *s, pid_t tid, pid_t from, pid_t to)
{
	return atomic_compare_exchange_strong(&s->at[place_of(tid)], &from, to);
}

void stale_answered(struct stale_threads *s, pid_t tid)
{
	if (tid)
		atomic_store(&s->at[place_of(tid)], tid);
}

bool stale_walks_again(const struct stale_threads *s, pid_t tid)
{
	pid_t there = atomic_load(&s->at[place_of(tid)]);

	return tid && (there == tid || there == -tid);
}

bool stale_not_found(struct stale_threads *s, pid_t tid)
{
	return tid && !change(s, tid, tid, -tid) && change(s, tid, -tid, 0);
}

bool stale_opens_again(struct stale_threads *s, pid_t tid)
{
	return tid && (change(s, tid, tid, 0) || change(s, tid, -tid, 0));
}

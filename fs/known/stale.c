/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stale: threads that got ESTALE for an open.
 */
#include "fs/known/stale.h"

#include <string.h>

/* A word: the thread; whether the open is the second one; the number of the open, which stands for
 * the whole number: the kernel does not reach 2^40 requests between two of them. */
#define WORD_TID    UINT64_C(0x7fffff) /* the kernel's PID_MAX_LIMIT is 2^22 */
#define WORD_SECOND UINT64_C(0x800000)
#define WORD_SHIFT  24

static unsigned place_of(pid_t tid)
{
	return (unsigned)tid % STALE_THREADS;
}

/* Replaces the note `from` on tid by `to`. False: the note was not `from`. */
static bool change(struct stale_threads *s, pid_t tid, pid_t from, pid_t to)
{
	return atomic_compare_exchange_strong(&s->at[place_of(tid)], &from, to);
}

static uint64_t word_of(pid_t tid, uint64_t request, bool second)
{
	return request << WORD_SHIFT | (second ? WORD_SECOND : 0) | ((uint64_t)tid & WORD_TID);
}

static void keep_word(struct stale_threads *s, pid_t tid, uint64_t request, bool second)
{
	if (s->words)
		atomic_store(&s->words[place_of(tid)], word_of(tid, request, second));
}

void stale_answered(struct stale_threads *s, pid_t tid, uint64_t request)
{
	if (!tid)
		return;
	atomic_store(&s->at[place_of(tid)], tid);
	keep_word(s, tid, request, false);
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

bool stale_opens_again(struct stale_threads *s, pid_t tid, uint64_t request, bool again)
{
	bool noted, second;

	if (!tid)
		return false;
	noted = change(s, tid, tid, 0) || change(s, tid, -tid, 0);
	if (again && s->former[place_of(tid)] == word_of(tid, request, true))
		second = true;
	else if (again && s->former[place_of(tid)] == word_of(tid, request, false))
		second = false;
	else
		second = noted;
	if (second)
		keep_word(s, tid, request, true);
	return second;
}

void stale_keep_note(struct stale_threads *s, struct ledger *l)
{
	ledger_put(l, &s->note, NOTE_STALE, s->former, sizeof(s->former));
	s->words = ledger_words(l, &s->note);
}

bool stale_former(struct stale_threads *s, const struct former *f)
{
	uint32_t len = 0;
	const void *data;

	data = former_count(f, NOTE_STALE) == 1 ? former_note(f, NOTE_STALE, 0, &len) : NULL;
	if (len != sizeof(s->former))
		return false;
	memcpy(s->former, data, sizeof(s->former));
	for (unsigned i = 0; i < STALE_THREADS; i++) {
		uint64_t word = s->former[i];
		pid_t tid = (pid_t)(word & WORD_TID);

		if (word && place_of(tid) != i)
			return false;
		if (word && !(word & WORD_SECOND))
			atomic_store(&s->at[i], tid);
	}
	return true;
}

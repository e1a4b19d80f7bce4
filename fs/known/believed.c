/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * believed: the size that the kernel believes a file to have.
 */
#include "fs/known/believed.h"

#include "transport/clock.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct believed_move answer(pid_t tid, uint64_t now)
{
	return (struct believed_move){tid, now, now + BELIEVED_TAKEN_NS};
}

static void move_ends(struct believed_move *m, pid_t tid, uint64_t born)
{
	if (m->tid == tid && born > m->at && born < m->until)
		m->until = born;
}

/* An answer to tid is about to change the kernel's attributes. */
static void move(struct believed *b, pid_t tid, uint64_t now)
{
	if (!tid || b->last.tid != tid)
		b->moves_until = larger(b->moves_until, b->last.until);
	b->last = answer(tid, now);
}

static uint64_t notified_until(const struct believed *b)
{
	return b->notifying ? b->notify_at + BELIEVED_TAKEN_NS : 0;
}

/* The time until which the kernel may learn attributes from an answer to a thread other than tid,
 * or from a notification. */
static uint64_t others_until(const struct believed *b, pid_t tid)
{
	uint64_t others = larger(b->moves_until, notified_until(b));

	return tid && b->last.tid == tid ? others : larger(others, b->last.until);
}

/* The thread has handled the answer: the smaller size counts. */
static void settle(struct believed *b)
{
	b->most = b->less;
	b->less_at = 0;
}

static void settle_by_time(struct believed *b, uint64_t now)
{
	if (b->less_at && clock_age(now, b->less_at) >= BELIEVED_TAKEN_NS)
		settle(b);
}

void believed_heard(struct believed *b, pid_t tid, uint64_t born)
{
	if (!tid)
		return;
	move_ends(&b->last, tid, born);
	move_ends(&b->cut, tid, born);
	for (unsigned i = 0; i < BELIEVED_TOLD; i++)
		move_ends(&b->told[i], tid, born);
	if (b->less_at && b->less_by == tid && born > b->less_at)
		settle(b);
}

/* The slot for an answer to tid: the thread's own slot, or the one with the oldest answer. */
static struct believed_move *told_slot(struct believed *b, pid_t tid)
{
	struct believed_move *slot = b->told;

	for (struct believed_move *m = b->told; m < b->told + BELIEVED_TOLD; m++) {
		if (tid && m->tid == tid)
			return m;
		if (m->at < slot->at)
			slot = m;
	}
	return slot;
}

void believed_told(struct believed *b, const struct told *told, uint64_t now)
{
	uint64_t size = told->attr->size;
	pid_t tid = told->tid;

	believed_heard(b, tid, now);
	settle_by_time(b, now);
	*told_slot(b, tid) = answer(tid, now);
	if (size >= b->most) {
		b->most = size;
		b->less_at = 0;
		move(b, tid, now);
	} else if (told->born > b->thrown_at && told->born > others_until(b, tid)) {
		b->less = b->less_at ? larger(b->less, size) : size;
		b->less_by = b->less_at && b->less_by != tid ? 0 : tid;
		b->less_at = b->less_at ? b->less_at : now;
	}
}

/* The kernel ignores all answers that its threads have not handled by now. */
static void throw_away(struct believed *b, uint64_t now)
{
	settle_by_time(b, now);
	b->less_at = 0;
	b->thrown_at = now;
}

void believed_wrote(struct believed *b, uint64_t end, pid_t tid, uint64_t now)
{
	believed_heard(b, tid, now);
	throw_away(b, now);
	b->most = larger(b->most, end);
	move(b, tid, now);
}

void believed_notifies(struct believed *b, uint64_t now)
{
	b->notifying++;
	b->notify_at = now;
}

void believed_notified(struct believed *b, uint64_t now)
{
	throw_away(b, now);
	b->notifying--;
	b->moves_until = larger(b->moves_until, now);
}

/* Another cut begins, or the daemon answers a cut. */
static void cut_counts(struct believed *b, uint64_t now)
{
	bool others = b->cuts || b->cut.until > now;

	b->cut_from = others ? larger(b->cut_from, b->most) : b->most;
}

/* The daemon answers tid's cut. */
static void cut_answered(struct believed *b, pid_t tid, uint64_t now)
{
	bool others = b->cut.until > now && b->cut.tid != tid;

	b->cut = answer(others ? 0 : tid, now);
}

void believed_cut_begin(struct believed *b, uint64_t now)
{
	cut_counts(b, now);
	b->cuts++;
}

void believed_cut_end(struct believed *b, pid_t tid, uint64_t now)
{
	b->cuts--;
	cut_answered(b, tid, now);
}

void believed_cut(struct believed *b, uint64_t size, pid_t tid, uint64_t now)
{
	believed_heard(b, tid, now);
	throw_away(b, now);
	cut_counts(b, now);
	cut_answered(b, tid, now);
	b->most = size;
}

bool believed_handled(const struct believed *b, uint64_t now)
{
	for (const struct believed_move *m = b->told; m < b->told + BELIEVED_TOLD; m++)
		if (m->until >= now && clock_age(now, m->at) < BELIEVED_HANDLED_NS)
			return false;
	return true;
}

bool believed_more(struct believed *b, uint64_t size, uint64_t now)
{
	settle_by_time(b, now);
	return size < b->most;
}

/* The time until which the kernel may learn of m after making the READ; 0: the kernel learned of m
 * before making the READ. */
static uint64_t moves_for(const struct believed_move *m, const struct believed_read *read)
{
	return read->tid && m->tid == read->tid && read->born > m->at ? 0 : m->until;
}

bool believed_ignores(struct believed *b, uint64_t end, const struct believed_read *read,
	uint64_t now, uint64_t *until)
{
	uint64_t moves = larger(b->moves_until, notified_until(b)), most;

	believed_heard(b, read->tid, read->born);
	settle_by_time(b, now);
	moves = larger(moves, moves_for(&b->last, read));
	moves = larger(moves, moves_for(&b->cut, read));
	most = b->cuts || b->cut.until > now ? larger(b->most, b->cut_from) : b->most;
	*until = b->cuts ? UINT64_MAX : moves;
	return most > end && (b->cuts || moves >= read->since);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirty_note: the notes of extents.
 */
#include "cache/dirty_note.h"

#include <string.h>

/* The words come first: ledger_words() of the note. */
struct contents {
	_Atomic uint64_t len, state, gen, sent, got;
	uint64_t id, number, off, slab;
	uint32_t size, blocks, index, at;
};

_Static_assert(sizeof(struct contents) <= 104, "a note fits into an entry of 128 bytes");

/* States of a note. */
enum { NOTED_NEW, NOTED_UNSTABLE, NOTED_LOST, NOTED_STATES };

static uint64_t noted_state(const struct dirty_extent *x)
{
	if (x->state != DIRTY_UNSTABLE)
		return NOTED_NEW;
	return x->lost ? NOTED_LOST : NOTED_UNSTABLE;
}

void dirty_note_put(struct dirty_file *d, struct dirty_extent *x)
{
	struct mem_place place;
	struct contents c;

	if (!d->ledger)
		return;
	if (!mem_buf_place(x->mem->buf, &place)) {
		ledger_give_up(d->ledger);
		return;
	}
	c = (struct contents){
		.len = x->len,
		.state = noted_state(x),
		.gen = x->gen,
		.sent = x->sent,
		.got = x->got,
		.id = d->id,
		.number = x->by->number,
		.off = x->off,
		.slab = place.slab,
		.size = place.size,
		.blocks = place.blocks,
		.index = place.index,
		.at = x->at,
	};
	ledger_put(d->ledger, &x->note, NOTE_EXTENT, &c, sizeof(c));
}

void dirty_note_drop(struct dirty_file *d, struct dirty_extent *x)
{
	ledger_drop(d->ledger, &x->note);
}

void dirty_note_len(struct dirty_file *d, struct dirty_extent *x)
{
	struct contents *c = (struct contents *)ledger_words(d->ledger, &x->note);

	/* release: the bytes are in place before */
	if (c)
		atomic_store_explicit(&c->len, x->len, memory_order_release);
}

void dirty_note_state(struct dirty_file *d, struct dirty_extent *x)
{
	struct contents *c = (struct contents *)ledger_words(d->ledger, &x->note);

	if (!c)
		return;
	if (x->state == DIRTY_UNSTABLE) {
		atomic_store_explicit(&c->gen, x->gen, memory_order_relaxed);
		atomic_store_explicit(&c->sent, x->sent, memory_order_relaxed);
		atomic_store_explicit(&c->got, x->got, memory_order_relaxed);
	}
	/* release: a state has its other words */
	atomic_store_explicit(&c->state, noted_state(x), memory_order_release);
}

bool dirty_noted(const struct former *f, uint32_t i, struct dirty_noted *n)
{
	struct contents c;
	const void *data;
	uint32_t bytes;

	data = former_note(f, NOTE_EXTENT, i, &bytes);
	if (bytes != sizeof(c))
		return false;
	memcpy(&c, data, sizeof(c));
	*n = (struct dirty_noted){
		.id = c.id,
		.number = c.number,
		.place = {.slab = c.slab, .size = c.size, .blocks = c.blocks, .index = c.index},
		.x = {.at = c.at,
			.off = c.off,
			.len = (uint32_t)c.len,
			.state = c.state == NOTED_NEW ? DIRTY_NEW : DIRTY_UNSTABLE,
			.lost = c.state == NOTED_LOST,
			.sent = c.sent,
			.gen = c.gen,
			.got = c.got},
	};
	return c.state < NOTED_STATES && c.len && c.len <= c.size && c.at <= c.size - c.len &&
	       c.off <= INT64_MAX - c.len;
}

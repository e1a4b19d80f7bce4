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

void dirty_note_put(struct ledger *l, struct note *note, const struct dirty_noted *n)
{
	struct contents c = {
		.len = n->len,
		.state = n->state,
		.gen = n->gen,
		.sent = n->sent,
		.got = n->got,
		.id = n->id,
		.number = n->number,
		.off = n->off,
		.slab = n->place.slab,
		.size = n->place.size,
		.blocks = n->place.blocks,
		.index = n->place.index,
		.at = n->at,
	};

	ledger_put(l, note, NOTE_EXTENT, &c, sizeof(c));
}

void dirty_note_len(struct ledger *l, const struct note *note, uint32_t len)
{
	struct contents *c = (struct contents *)ledger_words(l, note);

	/* release: the bytes are in place before */
	if (c)
		atomic_store_explicit(&c->len, len, memory_order_release);
}

void dirty_note_state(struct ledger *l, const struct note *note, const struct dirty_noted *n)
{
	struct contents *c = (struct contents *)ledger_words(l, note);

	if (!c)
		return;
	if (n->state != NOTED_NEW) {
		atomic_store_explicit(&c->gen, n->gen, memory_order_relaxed);
		atomic_store_explicit(&c->sent, n->sent, memory_order_relaxed);
		atomic_store_explicit(&c->got, n->got, memory_order_relaxed);
	}
	/* release: a state has its other words */
	atomic_store_explicit(&c->state, n->state, memory_order_release);
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
		.off = c.off,
		.at = c.at,
		.len = (uint32_t)c.len,
		.state = (enum dirty_noted_state)c.state,
		.gen = c.gen,
		.sent = c.sent,
		.got = c.got,
	};
	return c.state < NOTED_STATES && c.len && c.len <= c.size && c.at <= c.size - c.len &&
	       c.off <= INT64_MAX - c.len;
}

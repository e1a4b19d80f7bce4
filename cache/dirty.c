/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirty: data that was written to a file and may not be safe on the server yet.
 */
#include "cache/dirty.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cache/dirty_note.h"

#define ROOM_MIN 4096u

static int compare(const struct dirty_extent *a, const struct dirty_extent *b)
{
	return a->off < b->off ? -1 : a->off > b->off;
}

RB_GENERATE_INTERNAL(dirty_tree, dirty_extent, node, compare, __attribute__((unused)) static)

void dirty_init(struct dirty_file *d, const struct dirty_memory *memory)
{
	*d = (struct dirty_file){.memory = memory};
	RB_INIT(&d->tree);
	LIST_INIT(&d->cuts);
	SLIST_INIT(&d->gone);
}

void dirty_finish(struct dirty_file *d)
{
	assert(RB_EMPTY(&d->tree) && LIST_EMPTY(&d->cuts) && !d->lost && SLIST_EMPTY(&d->gone));
}

static uint64_t end_of(const struct dirty_extent *x)
{
	return x->off + x->len;
}

/* The first extent that ends behind off. */
static struct dirty_extent *at_or_behind(struct dirty_file *d, uint64_t off)
{
	struct dirty_extent key = {.off = off}, *x = RB_NFIND(dirty_tree, &d->tree, &key), *before;

	if (x && x->off == off)
		return x;
	before = x ? RB_PREV(dirty_tree, &d->tree, x) : RB_MAX(dirty_tree, &d->tree);
	return before && end_of(before) > off ? before : x;
}

/* --- notes -------------------------------------------------------------------------------------
 */

static struct dirty_noted noted(const struct dirty_file *d, const struct dirty_extent *x)
{
	return (struct dirty_noted){
		.id = d->id,
		.number = x->by->number,
		.off = x->off,
		.at = x->at,
		.len = x->len,
		.state = x->state != DIRTY_UNSTABLE ? NOTED_NEW
			 : x->lost		    ? NOTED_LOST
						    : NOTED_UNSTABLE,
		.gen = x->gen,
		.sent = x->sent,
		.got = x->got,
	};
}

/* Puts the note of x, whose memory is complete, in place of an earlier one. */
static void note_put(struct dirty_file *d, struct dirty_extent *x)
{
	struct dirty_noted n;

	if (!d->ledger)
		return;
	n = noted(d, x);
	if (mem_buf_place(x->mem->buf, &n.place))
		dirty_note_put(d->ledger, &x->note, &n);
	else
		ledger_give_up(d->ledger);
}

static void note_len(struct dirty_file *d, const struct dirty_extent *x)
{
	if (d->ledger)
		dirty_note_len(d->ledger, &x->note, x->len);
}

static void note_state(struct dirty_file *d, const struct dirty_extent *x)
{
	struct dirty_noted n;

	if (!d->ledger)
		return;
	n = noted(d, x);
	dirty_note_state(d->ledger, &x->note, &n);
}

/* --- extents ---------------------------------------------------------------------------------- */

static void count(struct dirty_file *d, enum dirty_state state, uint64_t n)
{
	atomic_fetch_add_explicit(&d->bytes[state], n, memory_order_release);
	if (state != DIRTY_UNSTABLE && !dirty_bytes(d, DIRTY_NEW) && !dirty_bytes(d, DIRTY_WRITING))
		atomic_store(&d->end, 0);
}

static void reaches(struct dirty_file *d, uint64_t end)
{
	if (end > atomic_load_explicit(&d->end, memory_order_relaxed))
		atomic_store(&d->end, end);
}

static void set_state(struct dirty_file *d, struct dirty_extent *x, enum dirty_state state)
{
	count(d, state, x->len);
	count(d, x->state, -(uint64_t)x->len);
	x->state = state;
	if (state == DIRTY_NEW)
		reaches(d, end_of(x));
}

/* A copy of `like`, not in the tree yet. NULL when out of memory. */
static struct dirty_extent *copy_of(const struct dirty_extent *like)
{
	struct dirty_extent *x = malloc(sizeof(*x));

	if (x) {
		*x = *like;
		x->note = (struct note){0};
	}
	return x;
}

/* Puts x, which lies in a block, into the tree. No extent may be in the place of x. */
static void insert(struct dirty_file *d, struct dirty_extent *x)
{
	RB_INSERT(dirty_tree, &d->tree, x);
	x->by->extents++;
	x->mem->extents++;
	d->lost += x->lost;
	count(d, x->state, x->len);
	if (x->state != DIRTY_UNSTABLE)
		reaches(d, end_of(x));
}

static void leave(struct dirty_file *d, struct dirty_extent *x)
{
	RB_REMOVE(dirty_tree, &d->tree, x);
	count(d, x->state, -(uint64_t)x->len);
	x->by->extents--;
	d->lost -= x->lost;
}

static void mem_unref(struct dirty_file *d, struct dirty_mem *mem)
{
	if (--mem->extents)
		return;
	d->memory->put(d->memory->ctx, mem->buf);
	free(mem);
}

/* x is not in the tree any more. The note goes before the memory. */
static void destroy(struct dirty_file *d, struct dirty_extent *x)
{
	ledger_drop(d->ledger, &x->note);
	mem_unref(d, x->mem);
	free(x);
}

static void drop(struct dirty_file *d, struct dirty_extent *x)
{
	leave(d, x);
	destroy(d, x);
}

static struct dirty_mem *mem_of(struct mem_buf *buf)
{
	struct dirty_mem *mem = malloc(sizeof(*mem));

	if (mem)
		*mem = (struct dirty_mem){.buf = buf};
	return mem;
}

/* Removes n bytes from the head of x, fewer than all. The order of the tree stays. */
static void shorten_head(struct dirty_file *d, struct dirty_extent *x, uint32_t n)
{
	x->off += n;
	x->at += n;
	x->len -= n;
	x->room -= n;
	note_put(d, x);
	count(d, x->state, -(uint64_t)n);
}

static void shorten_tail(struct dirty_file *d, struct dirty_extent *x, uint32_t n)
{
	x->len -= n;
	x->room = x->len; /* another extent may lie behind x */
	note_len(d, x);
	count(d, x->state, -(uint64_t)n);
}

/* Removes the bytes [off, end) from x. False when out of memory: x is unchanged. */
static bool cut(struct dirty_file *d, struct dirty_extent *x, uint64_t off, uint64_t end)
{
	struct dirty_extent *tail;

	if (off <= x->off && end >= end_of(x)) {
		drop(d, x);
	} else if (off <= x->off) {
		shorten_head(d, x, (uint32_t)(end - x->off));
	} else if (end >= end_of(x)) {
		shorten_tail(d, x, (uint32_t)(end_of(x) - off));
	} else {
		tail = copy_of(x);
		if (!tail)
			return false;
		tail->off = end;
		tail->at += (uint32_t)(end - x->off);
		tail->len = tail->room = (uint32_t)(end_of(x) - end);
		note_put(d, tail);
		insert(d, tail);
		shorten_tail(d, x, (uint32_t)(end_of(x) - off));
	}
	return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* The extent of `by` that ends at off, or NULL. */
static struct dirty_extent *stream_to(
	struct dirty_file *d, const struct dirty_owner *by, uint64_t off)
{
	struct dirty_extent key = {.off = off}, *x = RB_NFIND(dirty_tree, &d->tree, &key);

	x = x ? RB_PREV(dirty_tree, &d->tree, x) : RB_MAX(dirty_tree, &d->tree);
	return x && end_of(x) == off && x->by == by ? x : NULL;
}

/* Makes an extent at off with room for len bytes, or up to most bytes if the extent continues a
 * stream. The extent is not in the tree yet. NULL: no memory. */
static struct dirty_extent *begin(struct dirty_file *d, struct dirty_owner *by, uint64_t off,
	const struct dirty_extent *stream, uint32_t len, uint32_t most)
{
	uint32_t before = stream ? stream->before + stream->len : 0, room = 2 * before;
	struct dirty_extent new = {.by = by, .off = off, .before = before}, *x;
	struct mem_buf *buf;

	if (before > DIRTY_RUN)
		new.before = room = DIRTY_RUN;
	room = room < len ? len : room;
	room = room < ROOM_MIN ? ROOM_MIN : room;
	buf = d->memory->get(d->memory->ctx, room < most ? room : most);
	if (!buf && room > len)
		buf = d->memory->get(d->memory->ctx, len);
	if (!buf)
		return NULL;
	new.room = buf->size < most ? buf->size : most;
	new.mem = mem_of(buf);
	x = new.mem ? copy_of(&new) : NULL;
	if (!x) {
		free(new.mem);
		d->memory->put(d->memory->ctx, buf);
	}
	return x;
}

/* Undoes begin(). */
static void unbegin(struct dirty_file *d, struct dirty_extent *x)
{
	ledger_drop(d->ledger, &x->note);
	d->memory->put(d->memory->ctx, x->mem->buf);
	free(x->mem);
	free(x);
}

/* Appends as much as possible of [off, end) to the extent that ends at off, or begins another one.
 * over: the UNSTABLE extent in that place, or NULL. The bytes of `over` are removed once there is
 * memory for the new ones. Returns the number of bytes; 0: no memory. */
static uint32_t fill(struct dirty_file *d, struct dirty_owner *by, uint64_t off, uint64_t end,
	const uint8_t *data, struct dirty_extent *over)
{
	uint32_t most = DIRTY_RUN - (uint32_t)(off % DIRTY_RUN);
	uint32_t n = end - off < most ? (uint32_t)(end - off) : most;
	struct dirty_extent *stream = stream_to(d, by, off), *x = stream, *new = NULL;

	if (!x || x->state != DIRTY_NEW || x->len == x->room || off % DIRTY_RUN == 0)
		x = new = begin(d, by, off, stream, n, most);
	if (!x)
		return 0;
	if (n > x->room - x->len)
		n = x->room - x->len;
	memcpy(x->mem->buf->data + x->at + x->len, data, n);
	x->len += n;
	if (new)
		note_put(d, new);
	else
		note_len(d, x);
	if (over && !cut(d, over, off, off + n)) {
		x->len -= n;
		if (new)
			unbegin(d, new);
		else
			note_len(d, x);
		return 0;
	}
	if (new)
		insert(d, new);
	else
		count(d, DIRTY_NEW, n);
	reaches(d, end_of(x));
	return n;
}

enum dirty_put dirty_put(struct dirty_file *d, struct dirty_owner *by, uint64_t off,
	const uint8_t *data, uint32_t len, uint32_t *took)
{
	uint64_t pos = off, end = off + len;

	for (*took = 0; pos < end; *took = (uint32_t)(pos - off)) {
		struct dirty_extent *x = at_or_behind(d, pos);
		uint64_t to = x && end_of(x) < end ? end_of(x) : end;
		const uint8_t *from = data + (pos - off);
		uint32_t n;

		if (!x || x->off > pos) {
			n = fill(d, by, pos, x && x->off < end ? x->off : end, from, NULL);
			if (!n)
				return DIRTY_FULL;
			pos += n;
		} else if (x->state == DIRTY_UNSTABLE) {
			n = fill(d, by, pos, to, from, x);
			if (!n)
				return DIRTY_FULL;
			pos += n;
		} else if (x->state == DIRTY_NEW && x->by == by) {
			memcpy(x->mem->buf->data + x->at + (pos - x->off), from, to - pos);
			pos = to;
		} else {
			return DIRTY_BUSY;
		}
	}
	return DIRTY_DONE;
}

enum dirty_put dirty_take(struct dirty_file *d, struct dirty_owner *by, uint64_t off,
	struct mem_buf *buf, uint32_t at, uint32_t len)
{
	struct dirty_extent new = {.by = by, .at = at, .off = off, .len = len, .room = len}, *x;

	if (dirty_overlaps(d, off, len))
		return DIRTY_BUSY;
	new.mem = mem_of(buf);
	x = new.mem ? copy_of(&new) : NULL;
	if (!x) {
		free(new.mem);
		return DIRTY_FULL;
	}
	note_put(d, x);
	dirty_cut(d, off, len, UINT64_MAX);
	insert(d, x);
	return DIRTY_DONE;
}

/* --- to the server ---------------------------------------------------------------------------- */

static bool continues(
	const struct dirty_extent *a, const struct dirty_extent *b, uint64_t first, uint64_t end)
{
	return a->state == DIRTY_NEW && b->state == DIRTY_NEW && a->by == b->by &&
	       end_of(a) == b->off && end - first <= DIRTY_RUN;
}

unsigned dirty_run(struct dirty_file *d, uint64_t *from, struct dirty_extent *run[])
{
	struct dirty_extent *x = at_or_behind(d, *from), *next;
	unsigned n = 0;

	while (x && x->state != DIRTY_NEW)
		x = RB_NEXT(dirty_tree, &d->tree, x);
	for (; x && n < DIRTY_RUN_EXTENTS; x = next) {
		run[n++] = x;
		*from = end_of(x);
		next = RB_NEXT(dirty_tree, &d->tree, x);
		if (!next || !continues(x, next, run[0]->off, end_of(next)))
			break;
	}
	return n;
}

unsigned dirty_run_to(struct dirty_file *d, uint64_t end, struct dirty_extent *run[])
{
	struct dirty_extent *x = end ? at_or_behind(d, end - 1) : NULL, *before;
	uint64_t from;

	if (!x || x->state != DIRTY_NEW)
		return 0;
	for (unsigned n = 1; n < DIRTY_RUN_EXTENTS; n++, x = before) {
		before = RB_PREV(dirty_tree, &d->tree, x);
		if (!before || !continues(before, x, before->off, end))
			break;
	}
	from = x->off;
	return dirty_run(d, &from, run);
}

void dirty_writing(
	struct dirty_file *d, struct dirty_extent *run[], unsigned n, uint64_t now, uint64_t guard)
{
	for (unsigned i = 0; i < n; i++) {
		run[i]->sent = now;
		run[i]->guard = guard;
		set_state(d, run[i], DIRTY_WRITING);
	}
}

void dirty_wrote(struct dirty_file *d, struct dirty_extent *run[], unsigned n, bool unstable,
	uint64_t gen, uint64_t got)
{
	for (unsigned i = 0; i < n; i++) {
		if (!unstable) {
			drop(d, run[i]);
			continue;
		}
		run[i]->gen = gen;
		run[i]->got = got;
		set_state(d, run[i], DIRTY_UNSTABLE);
		note_state(d, run[i]);
	}
}

void dirty_committed(struct dirty_file *d, uint64_t gen)
{
	struct dirty_extent *x, *next;

	if (!dirty_bytes(d, DIRTY_UNSTABLE))
		return;
	RB_FOREACH_SAFE(x, dirty_tree, &d->tree, next)
	if (x->state == DIRTY_UNSTABLE && x->gen <= gen && !x->lost)
		drop(d, x);
}

/* May a cut in flight have been executed after the server had x? */
static bool may_be_cut(const struct dirty_file *d, const struct dirty_extent *x)
{
	const struct dirty_cut *cut;

	LIST_FOREACH (cut, &d->cuts, link)
		if (x->got <= cut->since)
			return true;
	return false;
}

static void redo(struct dirty_file *d, struct dirty_extent *x)
{
	d->lost -= x->lost;
	x->lost = may_be_cut(d, x);
	d->lost += x->lost;
	if (!x->lost && x->sent <= d->replaced && !x->guard) {
		d->given_up += x->len;
		leave(d, x);
		SLIST_INSERT_HEAD(&d->gone, x, given_up);
		return;
	}
	if (!x->lost) {
		x->room = x->len;
		set_state(d, x, DIRTY_NEW);
	}
	note_state(d, x);
}

void dirty_gave_up(struct dirty_file *d)
{
	struct dirty_extent *x;

	d->given_up = 0;
	while ((x = SLIST_FIRST(&d->gone))) {
		SLIST_REMOVE_HEAD(&d->gone, given_up);
		destroy(d, x);
	}
}

void dirty_redo(struct dirty_file *d, uint64_t replaced,
	uint64_t (*guard)(const struct dirty_owner *by, uint64_t off, uint64_t len))
{
	struct dirty_extent *x, *next;

	if (!dirty_bytes(d, DIRTY_UNSTABLE))
		return;
	d->replaced = replaced;
	RB_FOREACH_SAFE(x, dirty_tree, &d->tree, next)
	if (x->state == DIRTY_UNSTABLE) {
		if (x->guard && x->guard != guard(x->by, x->off, x->len))
			x->guard = 0;
		redo(d, x);
	}
}

void dirty_cut(struct dirty_file *d, uint64_t off, uint64_t len, uint64_t until)
{
	uint64_t end = len > UINT64_MAX - off ? UINT64_MAX : off + len;
	struct dirty_extent *x, *next;

	if (!dirty_bytes(d, DIRTY_UNSTABLE))
		return;
	for (x = at_or_behind(d, off); x && x->off < end; x = next) {
		next = RB_NEXT(dirty_tree, &d->tree, x);
		/* without memory for the tail, drop all of x: the server has it, and is trusted */
		if (x->state == DIRTY_UNSTABLE && x->got <= until && !cut(d, x, off, end))
			drop(d, x);
	}
}

void dirty_cut_begin(struct dirty_file *d, struct dirty_cut *cut, uint64_t now)
{
	cut->since = now;
	LIST_INSERT_HEAD(&d->cuts, cut, link);
}

void dirty_cut_end(struct dirty_file *d, struct dirty_cut *cut, uint64_t off, uint64_t len)
{
	struct dirty_extent *x, *next;

	LIST_REMOVE(cut, link);
	if (len)
		dirty_cut(d, off, len, cut->since);
	if (!d->lost)
		return;
	RB_FOREACH_SAFE(x, dirty_tree, &d->tree, next)
	if (x->lost)
		redo(d, x);
}

void dirty_forget(struct dirty_file *d, struct dirty_owner *by)
{
	struct dirty_extent *x, *next;

	if (!by->extents)
		return;
	RB_FOREACH_SAFE(x, dirty_tree, &d->tree, next)
	if (x->by == by && x->state != DIRTY_WRITING)
		drop(d, x);
}

void dirty_give_up(struct dirty_file *d, struct dirty_owner *by, uint64_t gen)
{
	struct dirty_extent *x, *next;

	if (!by->extents || !gen)
		return;
	RB_FOREACH_SAFE(x, dirty_tree, &d->tree, next)
	if (x->by == by && x->state == DIRTY_UNSTABLE && x->gen <= gen)
		drop(d, x);
}

bool dirty_overlaps(struct dirty_file *d, uint64_t off, uint64_t len)
{
	uint64_t end = len > UINT64_MAX - off ? UINT64_MAX : off + len;
	struct dirty_extent *x;

	if (!dirty_bytes(d, DIRTY_NEW) && !dirty_bytes(d, DIRTY_WRITING))
		return false;
	for (x = at_or_behind(d, off); x && x->off < end; x = RB_NEXT(dirty_tree, &d->tree, x))
		if (x->state != DIRTY_UNSTABLE)
			return true;
	return false;
}

uint64_t dirty_unstable_end(struct dirty_file *d, uint64_t until)
{
	struct dirty_extent *x;

	if (!dirty_bytes(d, DIRTY_UNSTABLE))
		return 0;
	RB_FOREACH_REVERSE(x, dirty_tree, &d->tree)
	if (x->state == DIRTY_UNSTABLE && x->sent <= until)
		return x->off + x->len;
	return 0;
}

bool dirty_unstable_since(struct dirty_file *d, uint64_t off, uint64_t len, uint64_t until)
{
	uint64_t end = len > UINT64_MAX - off ? UINT64_MAX : off + len;
	struct dirty_extent *x;

	if (!dirty_bytes(d, DIRTY_UNSTABLE))
		return false;
	for (x = at_or_behind(d, off); x && x->off < end; x = RB_NEXT(dirty_tree, &d->tree, x))
		if (x->state == DIRTY_UNSTABLE && x->sent <= until)
			return true;
	return false;
}

/* --- a successor ------------------------------------------------------------------------------ */

struct dirty_mem *dirty_mem_begin(struct mem_buf *buf)
{
	struct dirty_mem *mem = mem_of(buf);

	if (mem)
		mem->extents = 1;
	return mem;
}

void dirty_mem_end(struct dirty_file *d, struct dirty_mem *mem)
{
	mem_unref(d, mem);
}

bool dirty_former(struct dirty_file *d, const struct dirty_extent *like)
{
	uint64_t end = end_of(like), to;

	for (uint64_t pos = like->off; pos < end; pos = to) {
		struct dirty_extent *there = at_or_behind(d, pos), *x;

		if (there && there->off <= pos) {
			to = end_of(there);
			continue;
		}
		to = there && there->off < end ? there->off : end;
		x = copy_of(like);
		if (!x)
			return false;
		x->off = pos;
		x->at += (uint32_t)(pos - like->off);
		x->len = x->room = (uint32_t)(to - pos);
		note_put(d, x);
		insert(d, x);
	}
	return true;
}

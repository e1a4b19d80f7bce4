/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * blocks: the data of the simulated disk's files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/simulation/choices.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/sched.h"

uint64_t inode_free;

static uint8_t *new_data(const uint8_t *from)
{
	uint8_t *p = malloc(INODE_BLOCK);

	if (!p)
		abort();
	if (from)
		memcpy(p, from, INODE_BLOCK);
	else
		memset(p, 0, INODE_BLOCK);
	return p;
}

/* --- blocks by number ------------------------------------------------------------------------- */

/* The first that is not before `at`. */
static size_t place(const struct blocks *b, uint64_t at)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (b->block[mid].at < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct block *find(const struct blocks *b, uint64_t at)
{
	size_t k = place(b, at);

	return k < b->n && b->block[k].at == at ? &b->block[k] : NULL;
}

static struct block *add(struct blocks *b, struct block one)
{
	size_t k = place(b, one.at);

	if (b->n == b->room) {
		b->room = b->room ? 2 * b->room : 4;
		b->block = realloc(b->block, b->room * sizeof(*b->block));
		if (!b->block)
			abort();
	}
	memmove(b->block + k + 1, b->block + k, (b->n - k) * sizeof(*b->block));
	b->block[k] = one;
	b->n++;
	return &b->block[k];
}

/* A block comes back by a power cut: the disk has it, full or not. */
static void take_room(void)
{
	inode_free -= inode_free > 0;
}

static void free_data(struct block *k)
{
	inode_free += k->now && !k->copied;
	free(k->now);
	free(k->was);
}

void inode_free_blocks(struct blocks *b)
{
	for (size_t k = 0; k < b->n; k++)
		free_data(&b->block[k]);
	free(b->block);
	*b = (struct blocks){0};
}

/* --- maps ------------------------------------------------------------------------------------- */

static void copy_in(struct inode *i, const uint8_t *buf, size_t n, off_t off);

/* Copies the bytes that processes have stored in the mapped memory to the file's blocks. */
static void pull(struct inode *i)
{
	uint8_t old[INODE_BLOCK];

	for (size_t at = 0; i->map && at < i->map_len && (off_t)at < i->a.size; at += INODE_BLOCK) {
		size_t n = i->map_len - at < INODE_BLOCK ? i->map_len - at : INODE_BLOCK;
		const struct block *k = find(&i->data, at / INODE_BLOCK);

		if ((off_t)(at + n) > i->a.size)
			n = (size_t)i->a.size - at;
		memset(old, 0, sizeof(old));
		if (k && k->now)
			memcpy(old, k->now, n);
		if (memcmp(old, i->map + at, n) != 0)
			copy_in(i, i->map + at, n, (off_t)at);
	}
}

static void copy_out(const struct inode *i, uint8_t *buf, size_t n, off_t off);

static void push(struct inode *i)
{
	if (i->map)
		copy_out(i, i->map, i->map_len, 0);
}

void *inode_map(struct inode *i, size_t len)
{
	if (i->map && i->map_len != len)
		return NULL;
	if (!i->map) {
		i->map = calloc(1, len);
		i->map_len = len;
		push(i);
	}
	i->maps++;
	return i->map;
}

static const void *wanted;
static struct inode *owner;

static void look(struct inode *i)
{
	if (i->map && (const void *)i->map == wanted)
		owner = i;
}

struct inode *inode_of_map(const void *p)
{
	owner = NULL;
	wanted = p;
	if (p)
		inode_each(look);
	return owner;
}

void inode_unmap(struct inode *i)
{
	pull(i);
	if (--i->maps)
		return;
	free(i->map);
	i->map = NULL;
}

/* --- reading and writing ---------------------------------------------------------------------- */

static void copy_out(const struct inode *i, uint8_t *buf, size_t n, off_t off)
{
	while (n) {
		size_t in = (size_t)off % INODE_BLOCK;
		size_t part = n < INODE_BLOCK - in ? n : INODE_BLOCK - in;
		const struct block *k = find(&i->data, (uint64_t)off / INODE_BLOCK);

		if (k && k->now)
			memcpy(buf, k->now + in, part);
		else
			memset(buf, 0, part);
		buf += part;
		n -= part;
		off += (off_t)part;
	}
}

size_t inode_read(struct inode *i, uint8_t *buf, size_t n, off_t off)
{
	pull(i);
	if (off >= i->a.size)
		return 0;
	if ((off_t)n > i->a.size - off)
		n = (size_t)(i->a.size - off);
	copy_out(i, buf, n, off);
	return n;
}

size_t inode_read_safe(struct inode *i, uint8_t *buf, size_t n, off_t off)
{
	size_t got = inode_read(i, buf, n, off);

	for (size_t k = 0; k < i->data.n; k++) {
		const struct block *b = &i->data.block[k];

		for (size_t at = 0; b->dirty && at < INODE_BLOCK; at++) {
			off_t place = (off_t)(b->at * INODE_BLOCK + at) - off;

			if (place >= 0 && (size_t)place < got)
				buf[place] = b->was ? b->was[at] : 0;
		}
	}
	return got;
}

/* The block, about to be changed; NULL: the disk is full. */
static struct block *dirty(struct inode *i, uint64_t at, bool hole)
{
	struct block *k = find(&i->data, at);
	bool room = hole || (k && k->now) || inode_free > 0;

	if (!room && !journal_makes_room())
		return NULL;
	if (!k)
		k = add(&i->data, (struct block){.at = at});
	if (!k->dirty) {
		k->was = k->now && !k->unwritten ? new_data(k->now) : NULL;
		k->dirty = true;
	}
	k->lost = false;
	k->unwritten = false;
	if (hole) {
		inode_free += k->now != NULL;
		free(k->now);
		k->now = NULL;
	} else if (!k->now) {
		k->now = new_data(NULL);
		inode_free--;
	}
	return k;
}

static void copy_in(struct inode *i, const uint8_t *buf, size_t n, off_t off)
{
	struct block *k = dirty(i, (uint64_t)off / INODE_BLOCK, false);

	if (k)
		memcpy(k->now + (size_t)off % INODE_BLOCK, buf, n);
}

ssize_t inode_write(struct inode *i, const uint8_t *buf, size_t n, off_t off)
{
	size_t done = 0;

	pull(i);
	while (done < n) {
		size_t in = (size_t)off % INODE_BLOCK;
		size_t part = n - done < INODE_BLOCK - in ? n - done : INODE_BLOCK - in;

		if (!dirty(i, (uint64_t)off / INODE_BLOCK, false))
			break;
		copy_in(i, buf + done, part, off);
		done += part;
		off += (off_t)part;
	}
	push(i);
	return done || !n ? (ssize_t)done : -ENOSPC;
}

void inode_cut(struct inode *i, off_t size, struct blocks *cut)
{
	uint64_t at = (uint64_t)size / INODE_BLOCK;
	size_t in = (size_t)size % INODE_BLOCK, from;
	struct block *k;

	pull(i);
	if (in) {
		k = find(&i->data, at);
		if (k && k->now) {
			struct block copy = *k;

			copy.now = new_data(k->now);
			copy.was = k->was ? new_data(k->was) : NULL;
			copy.copied = true;
			add(cut, copy);
			k = dirty(i, at, false);
			memset(k->now + in, 0, INODE_BLOCK - in);
		}
		at++;
	}
	from = place(&i->data, at);
	for (size_t n = from; n < i->data.n; n++)
		add(cut, i->data.block[n]);
	i->data.n = from;
	push(i);
}

void inode_uncut(struct inode *i, off_t size, struct blocks *cut)
{
	size_t from = place(&i->data, (uint64_t)size / INODE_BLOCK);
	struct blocks gone = {0};

	for (size_t n = from; n < i->data.n; n++)
		add(&gone, i->data.block[n]);
	i->data.n = from;
	/* a block that size lies in and that was a hole is none of the cut ones */
	for (size_t n = 0; n < cut->n; n++) {
		struct block *k = add(&i->data, cut->block[n]);

		if (k->copied)
			take_room();
		k->copied = false;
	}
	free(cut->block);
	*cut = (struct blocks){0};
	inode_free_blocks(&gone);
}

void inode_punch(struct inode *i, off_t off, off_t end)
{
	uint64_t first = ((uint64_t)off + INODE_BLOCK - 1) / INODE_BLOCK;
	uint64_t last = (uint64_t)end / INODE_BLOCK; /* behind the last whole one */

	pull(i);
	for (size_t n = place(&i->data, (uint64_t)off / INODE_BLOCK); n < i->data.n; n++) {
		uint64_t at = i->data.block[n].at;
		off_t begin = (off_t)at * INODE_BLOCK;
		size_t a = off > begin ? (size_t)(off - begin) : 0, z = INODE_BLOCK;

		if (begin >= end)
			break;
		if (!i->data.block[n].now)
			continue;
		if (at >= first && at < last) {
			dirty(i, at, true);
			continue;
		}
		if (end - begin < (off_t)z)
			z = (size_t)(end - begin);
		memset(dirty(i, at, false)->now + a, 0, z - a);
	}
	push(i);
}

int inode_reserve(struct inode *i, off_t off, off_t end)
{
	for (uint64_t at = (uint64_t)off / INODE_BLOCK; (off_t)at * INODE_BLOCK < end; at++) {
		struct block *k = find(&i->data, at);

		if (k && k->now)
			continue;
		k = dirty(i, at, false);
		if (!k)
			return -ENOSPC;
		k->unwritten = true;
	}
	return 0;
}

off_t inode_seek(const struct inode *i, off_t off, bool hole)
{
	uint64_t at = (uint64_t)off / INODE_BLOCK;

	for (size_t n = place(&i->data, at);; n++) {
		const struct block *k = n < i->data.n ? &i->data.block[n] : NULL;

		if (!k || (off_t)k->at * INODE_BLOCK >= i->a.size)
			break;
		if (hole && k->at > at)
			break;
		if (!k->now || k->unwritten) {
			if (hole)
				break;
			continue;
		}
		if (!hole)
			return (off_t)k->at * INODE_BLOCK > off ? (off_t)k->at * INODE_BLOCK : off;
		at = k->at + 1;
	}
	if (!hole)
		return -1;
	if ((off_t)at * INODE_BLOCK < off)
		return off;
	return (off_t)at * INODE_BLOCK < i->a.size ? (off_t)at * INODE_BLOCK : i->a.size;
}

uint64_t inode_blocks(const struct inode *i)
{
	uint64_t n = 0;

	for (size_t k = 0; k < i->data.n; k++)
		n += i->data.block[k].now != NULL;
	return n;
}

/* --- the disk --------------------------------------------------------------------------------- */

/* Blocks that are holes now and on the disk are none. */
static void tidy(struct blocks *b)
{
	size_t kept = 0;

	for (size_t n = 0; n < b->n; n++)
		if (b->block[n].now || b->block[n].dirty)
			b->block[kept++] = b->block[n];
	b->n = kept;
}

void inode_sync(struct inode *i)
{
	pull(i);
	for (size_t n = 0; n < i->data.n; n++) {
		struct block *k = &i->data.block[n];

		if (!k->dirty || k->lost)
			continue;
		free(k->was);
		k->was = NULL;
		k->dirty = false;
	}
	tidy(&i->data);
}

void inode_lose(struct inode *i)
{
	for (size_t n = 0; n < i->data.n; n++)
		i->data.block[n].lost |= i->data.block[n].dirty;
}

/* Each dirty block is on the disk by chance, or as it was. */
static void choose(struct inode *i)
{
	for (size_t n = 0; n < i->data.n; n++) {
		struct block *k = &i->data.block[n];

		if (!k->dirty)
			continue;
		if (k->lost || choices_once_in(CHOICES_DISK, 2)) {
			inode_free += k->now != NULL;
			if (k->was)
				take_room();
			free(k->now);
			k->now = k->was;
			k->unwritten = false;
		} else {
			free(k->was);
		}
		k->was = NULL;
		k->dirty = k->lost = false;
	}
}

void inode_cut_power(struct inode *i)
{
	struct blocks behind = {0};

	inode_changing(i);
	pull(i);
	i->map = NULL; /* the machine's memory has gone */
	i->maps = 0;
	i->locked = NULL;
	choose(i);
	/* The size may be smaller than before the cut: bytes behind the size must not come back
	 * when the file grows. */
	inode_cut(i, i->a.size, &behind);
	inode_free_blocks(&behind);
	inode_sync(i);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ledger: notes about the objects of a daemon, in a memory file.
 */
#include "transport/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/lock.h"

#define MAGIC	0x726e666c65646772u /* "rnfledgr" */
#define CHUNK	(256u << 10)
#define CHUNKS	(16u << 10) /* 4 GiB of addresses, not of memory */
#define BYTES	((size_t)CHUNK * CHUNKS)
#define UNIT	64u /* the smallest entry; struct note counts in units */
#define CLASSES 12u /* 64 bytes to 128 KiB */

/* At the beginning of the file, in chunk 0, which has no entries. */
struct head {
	uint64_t magic;
	_Atomic uint32_t chunks;	/* chunks in use, chunk 0 included */
	_Atomic uint32_t broken;	/* not whole */
	_Atomic uint32_t class[CHUNKS]; /* of each chunk */
};

_Static_assert(sizeof(struct head) <= CHUNK, "the head fits into chunk 0");

struct entry {
	_Atomic uint64_t serial; /* 0: free. Set last */
	uint64_t key;		 /* the first serial of the note */
	uint32_t kind, len;
	uint64_t data[];
};

_Static_assert(LEDGER_NOTE_MAX + sizeof(struct entry) <= UNIT << (CLASSES - 1),
	"the largest entry holds the longest note");

struct ledger {
	int fd;
	struct head *head; /* the mapped file */
	struct mutex lock;
	uint64_t serial GUARDED_BY(lock);
	/* free entries of each class: the next one is in the entry's key */
	uint64_t free[CLASSES] GUARDED_BY(lock);
};

static void *at(const struct head *h, uint64_t unit)
{
	return (uint8_t *)(uintptr_t)h + unit * UNIT;
}

static unsigned class_of(size_t len)
{
	unsigned class = 0;

	while ((size_t)UNIT << class < len + sizeof(struct entry))
		class ++;
	return class;
}

struct ledger *ledger_new(struct err *e)
{
	struct ledger *l = calloc(1, sizeof(*l));
	void *map = MAP_FAILED;

	if (!l) {
		err_set(e, ERR_INTERNAL, "out of memory for the ledger");
		return NULL;
	}
	l->fd = memfd_create("rnfs-ledger", MFD_CLOEXEC);
	if (l->fd >= 0 && !ftruncate(l->fd, (off_t)BYTES))
		map = mmap(
			NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, l->fd, 0);
	if (map == MAP_FAILED) {
		err_set(e, ERR_INTERNAL, "no memory file for the ledger: %s", strerror(errno));
		if (l->fd >= 0)
			close(l->fd);
		free(l);
		return NULL;
	}
	mutex_init(&l->lock);
	l->head = map;
	atomic_init(&l->head->chunks, 1);
	l->head->magic = MAGIC;
	return l;
}

struct ledger *ledger_free(struct ledger *l)
{
	if (!l)
		return NULL;
	mutex_destroy(&l->lock);
	munmap(l->head, BYTES);
	close(l->fd);
	free(l);
	return NULL;
}

int ledger_fd(const struct ledger *l)
{
	return l->fd;
}

bool ledger_is_whole(const struct ledger *l)
{
	return !atomic_load_explicit(&l->head->broken, memory_order_relaxed);
}

void ledger_give_up(struct ledger *l)
{
	if (l)
		atomic_store(&l->head->broken, 1);
}

/* Puts the entries of a fresh chunk on the list of class. False: the file is full. */
static bool add_chunk_locked(struct ledger *l, unsigned class) REQUIRES(l->lock)
{
	uint32_t chunk = atomic_load(&l->head->chunks), units = 1u << class;
	uint64_t first = (uint64_t)chunk * (CHUNK / UNIT);

	if (chunk == CHUNKS)
		return false;
	for (uint64_t unit = first + CHUNK / UNIT; unit > first; unit -= units) {
		struct entry *en = at(l->head, unit - units);

		en->key = l->free[class];
		l->free[class] = unit - units;
	}
	atomic_store(&l->head->class[chunk], class);
	atomic_store(&l->head->chunks, chunk + 1);
	return true;
}

static void free_locked(struct ledger *l, uint32_t unit) REQUIRES(l->lock)
{
	unsigned class =
		atomic_load_explicit(&l->head->class[unit / (CHUNK / UNIT)], memory_order_relaxed);
	struct entry *en = at(l->head, unit);

	/* before the entry is another note: its bytes are no note now */
	atomic_store_explicit(&en->serial, 0, memory_order_seq_cst);
	en->key = l->free[class];
	l->free[class] = unit;
}

void ledger_put(struct ledger *l, struct note *n, enum note_kind kind, const void *data, size_t len)
{
	const struct entry *old = l && n->at ? at(l->head, n->at) : NULL;
	unsigned class = class_of(len);
	struct entry *en;
	uint64_t unit;

	if (!l)
		return;
	mutex_lock(&l->lock);
	if (len > LEDGER_NOTE_MAX || (!l->free[class] && !add_chunk_locked(l, class))) {
		mutex_unlock(&l->lock);
		ledger_give_up(l);
		return;
	}
	unit = l->free[class];
	en = at(l->head, unit);
	l->free[class] = en->key;
	l->serial++;
	en->key = old ? old->key : l->serial;
	en->kind = kind;
	en->len = (uint32_t)len;
	if (len)
		memcpy(en->data, data, len);
	atomic_store_explicit(&en->serial, l->serial, memory_order_seq_cst);
	if (old)
		free_locked(l, n->at);
	mutex_unlock(&l->lock);
	n->at = (uint32_t)unit;
}

void ledger_drop(struct ledger *l, struct note *n)
{
	if (!l || !n->at)
		return;
	mutex_lock(&l->lock);
	free_locked(l, n->at);
	mutex_unlock(&l->lock);
	n->at = 0;
}

_Atomic uint64_t *ledger_words(struct ledger *l, const struct note *n)
{
	struct entry *en;

	if (!l || !n->at)
		return NULL;
	en = at(l->head, n->at);
	return (_Atomic uint64_t *)en->data;
}

/* --- reading -------------------------------------------------------------------------------- */

struct former {
	struct head *head; /* the mapped file, to read only */
	uint32_t n[NOTE_KINDS], first[NOTE_KINDS];
	const struct entry **entry; /* by kind, then by key */
	size_t total;
};

/* Calls fn for each note; false: the file is damaged. */
static bool each(const struct head *h, bool (*fn)(void *ctx, const struct entry *en), void *ctx)
{
	uint32_t chunks = atomic_load(&h->chunks);

	if (!chunks || chunks > CHUNKS)
		return false;
	for (uint32_t chunk = 1; chunk < chunks; chunk++) {
		unsigned class = atomic_load(&h->class[chunk]);
		uint64_t first = (uint64_t)chunk * (CHUNK / UNIT);

		if (class >= CLASSES)
			return false;
		for (uint64_t unit = first; unit < first + CHUNK / UNIT; unit += 1u << class) {
			const struct entry *en = at(h, unit);

			if (!atomic_load(&en->serial))
				continue;
			if (en->kind == NOTE_NONE || en->kind >= NOTE_KINDS || !en->key ||
				en->len > ((size_t)UNIT << class) - sizeof(*en))
				return false;
			if (!fn(ctx, en))
				return false;
		}
	}
	return true;
}

static bool count_one(void *ctx, const struct entry *en)
{
	struct former *f = ctx;

	f->total++;
	return true;
}

static bool add_one(void *ctx, const struct entry *en)
{
	struct former *f = ctx;

	f->entry[f->total++] = en;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a;
	const struct entry *y = *(const struct entry *const *)b;
	uint64_t sx = atomic_load(&x->serial), sy = atomic_load(&y->serial);

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return sx < sy ? -1 : sx > sy;
}

/* Leaves the newest of the notes with the same key, and counts by kind. */
static void keep_newest(struct former *f)
{
	size_t total = 0;

	for (size_t i = 0; i < f->total; i++) {
		const struct entry *en = f->entry[i];

		if (i + 1 < f->total && f->entry[i + 1]->key == en->key &&
			f->entry[i + 1]->kind == en->kind)
			continue;
		if (!f->n[en->kind]++)
			f->first[en->kind] = (uint32_t)total;
		f->entry[total++] = en;
	}
	f->total = total;
}

static bool index_notes(struct former *f, struct err *e)
{
	if (f->head->magic != MAGIC || !each(f->head, count_one, f)) {
		err_set(e, ERR_INTERNAL, "the ledger of the former daemon is damaged");
		return false;
	}
	if (atomic_load(&f->head->broken)) {
		err_set(e, ERR_INTERNAL,
			"the ledger of the former daemon is not whole: there was no memory, or too "
			"much to note");
		return false;
	}
	f->entry = calloc(f->total + 1, sizeof(*f->entry));
	if (!f->entry) {
		err_set(e, ERR_INTERNAL, "out of memory for the notes of the former daemon");
		return false;
	}
	f->total = 0;
	each(f->head, add_one, f);
	qsort(f->entry, f->total, sizeof(*f->entry), compare);
	keep_newest(f);
	return true;
}

struct former *former_read(int fd, struct err *e)
{
	struct former *f = calloc(1, sizeof(*f));
	void *map = MAP_FAILED;
	struct stat st;

	if (f && !fstat(fd, &st) && (size_t)st.st_size == BYTES)
		map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED) {
		err_set(e, ERR_INTERNAL, "the ledger of the former daemon cannot be read");
		free(f);
		return NULL;
	}
	f->head = map;
	return index_notes(f, e) ? f : former_free(f);
}

struct former *former_free(struct former *f)
{
	if (!f)
		return NULL;
	munmap(f->head, BYTES);
	free(f->entry);
	free(f);
	return NULL;
}

uint32_t former_count(const struct former *f, enum note_kind kind)
{
	return f->n[kind];
}

const void *former_note(const struct former *f, enum note_kind kind, uint32_t i, uint32_t *len)
{
	const struct entry *en = f->entry[f->first[kind] + i];

	*len = en->len;
	return en->data;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * answers: the server's answers to operations that must not be done twice, kept for the server's
 * next run.
 *
 * The record is a ring of entries. An entry is valid if its checksum is right; an entry that was
 * being written when the server was killed is not. The entries of earlier runs are indexed once, at
 * the start. An indexed entry that this run has overwritten belongs to this run and is skipped.
 */
#include "contrib/serve/state/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "contrib/serve/state/record.h"
#include "transport/clock.h"
#include "transport/crc32c.h"
#include "transport/lock.h"
#include "transport/log.h"

#define BUCKETS 512
#define MAGIC	"rnfs-serve answers 1"

struct entry {
	uint32_t crc; /* of the rest, up to the end of the reply; 0: no entry */
	uint32_t run, key_len, len, summed;
	uint64_t sum, number; /* number: of the answer, counted through all runs */
	uint64_t at_ns;	      /* on the machine's monotonic clock */
	uint8_t key[ANSWERS_KEY], reply[ANSWERS_LEN];
};

struct ring {
	struct record_head head;
	uint32_t run;
	uint64_t next; /* number of the next answer */
	uint8_t secret[ANSWERS_SECRET];
	struct entry entry[ANSWERS_MAX];
};

struct answers {
	struct mutex lock;
	struct record record;
	struct ring *ring PT_GUARDED_BY(lock);
	/* of earlier runs; -1: none */
	int16_t first[BUCKETS] GUARDED_BY(lock), next[ANSWERS_MAX] GUARDED_BY(lock);
};

static uint32_t sum_of(const struct entry *e)
{
	const size_t from = offsetof(struct entry, run), to = offsetof(struct entry, reply);
	uint32_t crc = crc32c(0, (const uint8_t *)e + from, to - from + e->len);

	return crc ? crc : 1;
}

static bool sound(const struct entry *e)
{
	return e->crc && e->key_len <= ANSWERS_KEY && e->len <= ANSWERS_LEN && e->crc == sum_of(e);
}

static unsigned bucket_of(const void *key, size_t len)
{
	return crc32c(0, key, len) % BUCKETS;
}

/* Indexes the entries of earlier runs, and begins a run. False: no random numbers. */
static bool begin(struct answers *a) REQUIRES(a->lock)
{
	struct ring *r = a->ring;

	if (a->record.fresh &&
		getrandom(r->secret, sizeof(r->secret), 0) != (ssize_t)sizeof(r->secret))
		return false;
	memset(a->first, -1, sizeof(a->first));
	for (int i = 0; i < ANSWERS_MAX; i++) {
		const struct entry *e = &r->entry[i];
		unsigned b;

		if (!sound(e))
			continue;
		b = bucket_of(e->key, e->key_len);
		a->next[i] = a->first[b];
		a->first[b] = (int16_t)i;
	}
	r->run++;
	return true;
}

struct answers *answers_new(const char *path)
{
	struct answers *a = calloc(1, sizeof(*a));
	int r = a ? record_open(&a->record, path, MAGIC, sizeof(struct ring)) : -ENOMEM;

	if (r == 0) {
		mutex_init(&a->lock);
		a->ring = a->record.map;
		if (!begin(a)) {
			record_close(&a->record);
			r = -EIO;
		}
	}
	if (r < 0) {
		log_always_warn(
			"answers cannot be kept as %s (%s): after a restart of the server a "
			"client may be told of an error in what was done just before",
			path, strerror(-r));
		free(a);
		return NULL;
	}
	return a;
}

struct answers *answers_free(struct answers *a)
{
	if (!a)
		return NULL;
	record_close(&a->record);
	mutex_destroy(&a->lock);
	free(a);
	return NULL;
}

void answers_secret(const struct answers *a, uint8_t secret[ANSWERS_SECRET])
{
	memcpy(secret, a->ring->secret, ANSWERS_SECRET);
}

void answers_keep(struct answers *a, const void *key, size_t key_len, uint64_t sum, uint32_t summed,
	const void *reply, size_t len)
{
	struct entry *e;
	struct ring *r;

	if (!a || key_len > ANSWERS_KEY || len > ANSWERS_LEN)
		return;
	mutex_lock(&a->lock);
	r = a->ring;
	e = &r->entry[r->next % ANSWERS_MAX];
	e->crc = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the stores below do not come before this one */
	e->run = r->run;
	e->number = r->next++;
	e->key_len = (uint32_t)key_len;
	e->len = (uint32_t)len;
	e->sum = sum;
	e->summed = summed;
	e->at_ns = clock_coarse_ns();
	memcpy(e->key, key, key_len);
	memset(e->key + key_len, 0, ANSWERS_KEY - key_len);
	memcpy(e->reply, reply, len);
	e->crc = sum_of(e);
	mutex_unlock(&a->lock);
}

/* The latest answer under key of an earlier run, or NULL. */
static const struct entry *find_locked(const struct answers *a, const void *key, size_t key_len)
	REQUIRES(a->lock)
{
	uint64_t now = clock_coarse_ns();
	const struct entry *best = NULL;

	for (int i = a->first[bucket_of(key, key_len)]; i >= 0; i = a->next[i]) {
		const struct entry *e = &a->ring->entry[i];

		if (e->run != a->ring->run && e->key_len == key_len &&
			memcmp(e->key, key, key_len) == 0 &&
			now - e->at_ns <= ANSWERS_AGE_S * NSEC_PER_SEC &&
			(!best || e->number > best->number))
			best = e;
	}
	return best;
}

bool answers_find(struct answers *a, const void *key, size_t key_len, struct answer *out)
{
	const struct entry *e;

	if (!a)
		return false;
	mutex_lock(&a->lock);
	e = find_locked(a, key, key_len);
	if (e) {
		out->sum = e->sum;
		out->summed = e->summed;
		out->len = e->len;
		memcpy(out->reply, e->reply, e->len);
	}
	mutex_unlock(&a->lock);
	return e != NULL;
}

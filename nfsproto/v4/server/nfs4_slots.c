/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_slots: the fore channel's slot table. States and invariants: nfs4_slots.h.
 */
#include "nfsproto/v4/server/nfs4_slots.h"

#include <assert.h>

#include "nfsproto/common/nfs_op.h"
#include "transport/clock.h"

#define WORDS (NFS4_MAX_SLOTS / 64)

static void set_bit(uint64_t *w, uint32_t i)
{
	w[i / 64] |= UINT64_C(1) << (i % 64);
}

static void clear_bit(uint64_t *w, uint32_t i)
{
	w[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline bool test_bit(const uint64_t *w, uint32_t i)
{
	return w[i / 64] >> (i % 64) & 1;
}

uint64_t nfs4_slots_word_locked(const struct nfs4_slots *s, uint32_t i)
{
	const struct nfs4_slot *slot = &s->slot[i];

	return (uint64_t)slot->seq << 1 |
	       (slot->doubtful || slot->reserved || test_bit(s->busy, i));
}

static void tell_successor_locked(struct nfs4_slots *s, uint32_t i) REQUIRES(s->lock)
{
	if (s->words) /* a daemon that is killed loses no store that came before */
		atomic_store_explicit(
			&s->words[i], nfs4_slots_word_locked(s, i), memory_order_relaxed);
}

void nfs4_slots_init(struct nfs4_slots *s)
{
	mutex_init(&s->lock);
	clock_cond_init(&s->idle);
	TAILQ_INIT(&s->waiting);
	s->gate_open = false;
	s->nbusy = 0;
	s->words = NULL;
	nfs4_slots_reset_locked(s, 1);
}

void nfs4_slots_finish(struct nfs4_slots *s)
{
	mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->idle);
	assert(TAILQ_EMPTY(&s->waiting) && s->nbusy == 0);
}

void nfs4_slots_reset_locked(struct nfs4_slots *s, uint32_t n)
{
	assert(s->nbusy == 0);
	if (n < 1)
		n = 1;
	if (n > NFS4_MAX_SLOTS)
		n = NFS4_MAX_SLOTS;
	s->max = n;
	s->limit = n;
	s->ndoubtful = 0;
	s->words = NULL;
	for (unsigned w = 0; w < WORDS; w++)
		s->free[w] = s->busy[w] = 0;
	for (uint32_t i = 0; i < NFS4_MAX_SLOTS; i++) {
		s->slot[i] = (struct nfs4_slot){.id = i, .seq = 1};
		if (i < n)
			set_bit(s->free, i);
	}
}

struct nfs4_slot *nfs4_slots_take_locked(struct nfs4_slots *s, bool priv)
{
	if (!s->gate_open && !priv)
		return NULL;
	for (unsigned w = 0; w < WORDS; w++) {
		uint32_t i;

		if (!s->free[w])
			continue;
		i = w * 64 + (uint32_t)__builtin_ctzll(s->free[w]);
		if (i >= s->limit)
			return NULL;
		clear_bit(s->free, i);
		set_bit(s->busy, i);
		s->nbusy++;
		tell_successor_locked(s, i);
		return &s->slot[i];
	}
	return NULL;
}

void nfs4_slots_put_locked(struct nfs4_slots *s, struct nfs4_slot *slot, enum nfs4_slot_end end)
{
	assert(test_bit(s->busy, slot->id));
	clear_bit(s->busy, slot->id);
	s->nbusy--;
	slot->op = NULL;
	slot->doubtful = end == NFS4_SLOT_DOUBTFUL;
	if (slot->doubtful)
		s->ndoubtful++;
	else
		set_bit(s->free, slot->id);
	if (end == NFS4_SLOT_USED)
		slot->seq++;
	tell_successor_locked(s, slot->id);
	if (s->nbusy == 0 && !s->gate_open)
		pthread_cond_broadcast(&s->idle);
}

bool nfs4_slots_take_doubtful_locked(struct nfs4_slots *s, struct nfs4_slot *slot)
{
	if (!slot->doubtful)
		return false;
	slot->doubtful = false;
	s->ndoubtful--;
	set_bit(s->busy, slot->id);
	s->nbusy++;
	return true;
}

bool nfs4_slots_changing_locked(const struct nfs4_slots *s)
{
	for (uint32_t i = 0; i < NFS4_MAX_SLOTS; i++)
		if (s->slot[i].changes && (test_bit(s->busy, i) || s->slot[i].doubtful))
			return true;
	return false;
}

void nfs4_slots_former_locked(struct nfs4_slots *s, uint32_t i, uint64_t word)
{
	struct nfs4_slot *slot = &s->slot[i];

	slot->seq = (uint32_t)(word >> 1);
	if (!(word & 1))
		return;
	clear_bit(s->free, i);
	slot->doubtful = true;
	s->ndoubtful++;
}

bool nfs4_slots_reserve_locked(struct nfs4_slots *s, uint32_t i, uint32_t seq)
{
	struct nfs4_slot *slot = &s->slot[i];
	uint32_t reserved = 0;

	for (uint32_t k = 0; k < s->max; k++)
		reserved += s->slot[k].reserved;
	if (!slot->doubtful || slot->seq != seq || reserved + 1 >= s->max)
		return false;
	slot->doubtful = false;
	s->ndoubtful--;
	slot->reserved = true;
	return true;
}

struct nfs4_slot *nfs4_slots_take_reserved_locked(struct nfs4_slots *s, uint32_t i)
{
	struct nfs4_slot *slot = &s->slot[i];

	if (!slot->reserved)
		return NULL;
	slot->reserved = false;
	set_bit(s->busy, i);
	s->nbusy++;
	return slot;
}

bool nfs4_slots_doubt_reserved_locked(struct nfs4_slots *s, uint32_t i)
{
	struct nfs4_slot *slot = &s->slot[i];

	if (!slot->reserved)
		return false;
	slot->reserved = false;
	slot->doubtful = true;
	s->ndoubtful++;
	return true;
}

uint32_t nfs4_slots_highest_locked(const struct nfs4_slots *s)
{
	for (unsigned w = WORDS; w-- > 0;)
		if (s->busy[w])
			return w * 64 + 63 - (uint32_t)__builtin_clzll(s->busy[w]);
	return 0;
}

bool nfs4_slots_target_locked(struct nfs4_slots *s, uint32_t highest, uint32_t target)
{
	uint32_t top = highest < target ? highest : target, before = s->limit;

	s->limit = top >= s->max ? s->max : top + 1;
	return s->limit > before && !TAILQ_EMPTY(&s->waiting);
}

void nfs4_slots_close_locked(struct nfs4_slots *s)
{
	s->gate_open = false;
}

void nfs4_slots_open_locked(struct nfs4_slots *s)
{
	s->gate_open = true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_slots: the fore channel's slot table on the requester's side (RFC 8881 section 2.10.6.1).
 *
 *     FREE --take--> BUSY --put(USED|UNUSED)--> FREE
 *                      \---put(DOUBTFUL)------> DOUBTFUL --settle--> FREE
 *
 * A slot is DOUBTFUL when its request ended without an answer (cancelled, timed out): the server
 * may have counted the request or not. Ordinary requests do not get the slot until a SEQUENCE of
 * its own has found out.
 *
 * A slot is RESERVED in a successor of a killed daemon, while the op that the slot's request
 * belongs to is to come again (nfs4_replay.h):
 *
 *     RESERVED --take_reserved--> BUSY
 *             \--doubt_reserved--> DOUBTFUL
 *
 * A successor reads the words of the table. Each word has the sequence id of the request under way,
 * or of the next one; and whether a request may be under way.
 *
 * The gate holds ordinary requests back while a session is made anew; only a `priv` taker passes.
 * Requests without a slot, or before a closed gate, wait in `waiting`, first in, first out. Waiting
 * requests hold no thread: the thread that gives a slot back starts the next one.
 *
 * Invariants: slot i is in exactly one state: in `free`, in `busy`, DOUBTFUL or RESERVED; nbusy
 * and ndoubtful count; only slots below `limit` are given out; an open gate with a free slot below
 * limit means that `waiting` is empty, or that the thread that opened the gate or freed the slot is
 * about to start the head of `waiting`.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_SLOTS_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "transport/lock.h"

#define NFS4_MAX_SLOTS 128

struct nfs_op;

enum nfs4_slot_end {
	NFS4_SLOT_USED,	    /* the server counted the request */
	NFS4_SLOT_UNUSED,   /* the server certainly did not count the request */
	NFS4_SLOT_DOUBTFUL, /* the server may have counted it */
};

/* Changes under the table's lock. The op that has the slot reads the slot without the lock. */
struct nfs4_slot {
	uint32_t id;
	uint32_t seq; /* sequence id of the request under way, or of the next one */
	bool doubtful, reserved;
	struct nfs_op *op; /* the op that has the slot; NULL: none */
	uint64_t sent_ns;  /* when the request under way was sent; for the op that has the slot */
	/* the last request changes files or names; while the slot is busy or doubtful: unanswered
	 */
	bool changes;
};

struct nfs4_slots {
	struct mutex lock;   /* short */
	pthread_cond_t idle; /* nbusy has become 0 behind a closed gate, or a visit is over */
	bool gate_open GUARDED_BY(lock);
	uint32_t max GUARDED_BY(lock);	 /* slots this side is ready to use, 1..NFS4_MAX_SLOTS */
	uint32_t limit GUARDED_BY(lock); /* slots the server wants used now, 1..max */
	uint32_t nbusy GUARDED_BY(lock), ndoubtful GUARDED_BY(lock);
	uint64_t free[NFS4_MAX_SLOTS / 64] GUARDED_BY(lock);
	uint64_t busy[NFS4_MAX_SLOTS / 64] GUARDED_BY(lock);
	struct nfs4_slot slot[NFS4_MAX_SLOTS] GUARDED_BY(lock);
	GUARDED_BY(lock) TAILQ_HEAD(nfs4_op_list, nfs_op) waiting;
	/* NFS4_MAX_SLOTS words for a successor; NULL: none is wanted. Null after a reset. */
	_Atomic uint64_t *words GUARDED_BY(lock);
};

void nfs4_slots_init(struct nfs4_slots *s) ASSERT_HELD(s->lock);
void nfs4_slots_finish(struct nfs4_slots *s);

/* A new session with n slots (clamped to 1..NFS4_MAX_SLOTS): all free, sequence ids at 1. No slot
 * may be busy. */
void nfs4_slots_reset_locked(struct nfs4_slots *s, uint32_t n) REQUIRES(s->lock);

/* The lowest free slot, as RFC 8881 section 2.10.6.1 recommends; NULL if there is none or the gate
 * is closed (priv passes the gate). O(1). */
struct nfs4_slot *nfs4_slots_take_locked(struct nfs4_slots *s, bool priv) REQUIRES(s->lock);
/* Gives the slot back; no op has it then. */
void nfs4_slots_put_locked(struct nfs4_slots *s, struct nfs4_slot *slot, enum nfs4_slot_end end)
	REQUIRES(s->lock);

/* The highest slot with a request outstanding (sa_highest_slotid); 0 if there is none. */
uint32_t nfs4_slots_highest_locked(const struct nfs4_slots *s) REQUIRES(s->lock);
/* Obeys sr_highest_slotid and sr_target_highest_slotid. True: there are more slots than before, and
 * the caller must start requests that wait. */
bool nfs4_slots_target_locked(struct nfs4_slots *s, uint32_t highest, uint32_t target)
	REQUIRES(s->lock);

/* May the server, as far as answers tell, execute a request that changes files or names? */
bool nfs4_slots_changing_locked(const struct nfs4_slots *s) REQUIRES(s->lock);

/* Makes a doubtful slot BUSY for finding out; false if the slot is not doubtful. */
bool nfs4_slots_take_doubtful_locked(struct nfs4_slots *s, struct nfs4_slot *slot)
	REQUIRES(s->lock);

/* --- for a successor of a killed daemon (nfs4_replay.h) --------------------------------------- */

/* The word of slot i. */
uint64_t nfs4_slots_word_locked(const struct nfs4_slots *s, uint32_t i) REQUIRES(s->lock);
/* The former daemon left slot i, which is free, with that word: its sequence id counts, and the
 * slot is DOUBTFUL if a request may be under way. */
void nfs4_slots_former_locked(struct nfs4_slots *s, uint32_t i, uint64_t word) REQUIRES(s->lock);
/* Makes slot i RESERVED if it is DOUBTFUL because of the request with that sequence id; or false.
 * Some slot is never RESERVED: the op that is to take one may come behind others. */
bool nfs4_slots_reserve_locked(struct nfs4_slots *s, uint32_t i, uint32_t seq) REQUIRES(s->lock);
/* Makes slot i BUSY for the request that the slot is RESERVED for; NULL: slot i is not RESERVED. */
struct nfs4_slot *nfs4_slots_take_reserved_locked(struct nfs4_slots *s, uint32_t i)
	REQUIRES(s->lock);
/* Makes slot i DOUBTFUL if it is RESERVED; or false. */
bool nfs4_slots_doubt_reserved_locked(struct nfs4_slots *s, uint32_t i) REQUIRES(s->lock);

void nfs4_slots_close_locked(struct nfs4_slots *s) REQUIRES(s->lock);
void nfs4_slots_open_locked(struct nfs4_slots *s) REQUIRES(s->lock);

#endif

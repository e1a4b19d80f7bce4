/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirty_note: the notes of extents (dirty.h), by which a successor of the daemon finds the written
 * data in the memory file of the pool (mem.h).
 *
 * Each extent has a note, from the moment that its first bytes are in place, and before the write
 * is answered, until its data is safe. The length and the state are words that change in place, by
 * one store each. The daemon may be killed before or after any of these steps, so their order
 * matters:
 *
 *     new bytes     The bytes are copied first. Then the extent's note is put, or the length in the
 *                   note grows. Then the UNSTABLE extent in the same place is cut. In between two
 *                   notes have the same place: NEW bytes are newer than UNSTABLE ones. The kernel
 *                   sends a write again that was not answered; the successor puts the same bytes in
 *                   the same place again. So bytes of a write without an answer do no harm, and
 *                   neither does a NEW extent that was overwritten in part.
 *     cuts          The part behind a cut gets a note before the part in front is shortened. In
 *                   between two notes of UNSTABLE extents have the same place, and the same bytes
 *                   there.
 *     WRITE         WRITING is no state of a note: an extent without an answer is NEW. The file's
 *                   note tells the verifier (filedata.h) before an extent's note says UNSTABLE. The
 *                   number, the time and the time of the answer are stored before the state.
 *     COMMIT        The file's note says that all is safe before the notes of extents are dropped.
 *                   So an UNSTABLE extent of a file without unstable data is safe.
 *     restart       The file's note tells of another verifier first, and tells that the data is
 *                   written again when each extent is NEW, lost, or gone.
 *     losses        The file's note tells of a loss before the note of the lost extent is dropped.
 *
 * The number of the byte-range lock of an extent is not noted. So a successor that finds a changed
 * verifier and another client's change gives up the extent, and tells of a loss.
 *
 * No ledger: all functions do nothing.
 */
#ifndef RNFS_CACHE_DIRTY_NOTE_H
#define RNFS_CACHE_DIRTY_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/ledger.h"
#include "transport/mem.h"

enum dirty_noted_state { NOTED_NEW, NOTED_UNSTABLE, NOTED_LOST, NOTED_STATES };

/* The contents of a note: members of struct dirty_extent, and the numbers of its file and writer.
 */
struct dirty_noted {
	uint64_t id, number;
	struct mem_place place; /* of the block */
	uint64_t off;
	uint32_t at, len; /* the bytes in the block */
	enum dirty_noted_state state;
	uint64_t gen, sent, got; /* no meaning for NEW */
};

/* All writing is under the lock of the extent's file. */
/* The memory of the extent is complete. */
void dirty_note_put(struct ledger *l, struct note *note, const struct dirty_noted *n);
void dirty_note_len(struct ledger *l, const struct note *note, uint32_t len);
/* n: the state, and gen, sent and got. */
void dirty_note_state(struct ledger *l, const struct note *note, const struct dirty_noted *n);

/* Note i of kind NOTE_EXTENT. False: the note is damaged. */
bool dirty_noted(const struct former *f, uint32_t i, struct dirty_noted *n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stale: threads that got ESTALE for an open.
 *
 * After ESTALE for an open the kernel looks the path up again, asking for every name, and opens
 * once more. A second ESTALE goes to the program. So a thread that was answered ESTALE is noted
 * here until its next open. Until then the server is asked for each name that the thread looks up.
 * The next open then opens the file that was found, even if the names have changed since. When a
 * LOOKUP fails the kernel invalidates the name and tries once more. After two failed LOOKUPs there
 * will be no open, and the note on the thread ends.
 *
 * A thread's place is its number modulo the size of the table. A thread that takes the place of
 * another costs the other its second try. No lock. Any thread may call any function.
 *
 * With a ledger (ledger.h) each place has a word for the successor of a daemon that is killed: the
 * last thread, the number of the open that was answered ESTALE or of the second open, and which of
 * the two the open is. If the kernel sends the second open again, the open is the second one again.
 * If the kernel sends the first open again, the kernel knows no ESTALE.
 */
#ifndef RNFS_FS_KNOWN_STALE_H
#define RNFS_FS_KNOWN_STALE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport/ledger.h"

#define STALE_THREADS 256

struct stale_threads {
	/* 0: free; the thread's number; negative: the thread's number, and one LOOKUP has failed */
	_Atomic pid_t at[STALE_THREADS];
	_Atomic uint64_t *words;	/* STALE_THREADS words for a successor; NULL: none */
	struct note note;		/* the words */
	uint64_t former[STALE_THREADS]; /* the words of the former daemon; 0: none */
};

/* In all functions tid 0 stands for an unknown thread, which is never noted. request: the number of
 * the kernel's request (request_number()). */

/* The open of tid is answered ESTALE. */
void stale_answered(struct stale_threads *s, pid_t tid, uint64_t request);
/* Is tid, which looks a name up, walking the path again? */
bool stale_walks_again(const struct stale_threads *s, pid_t tid);
/* A LOOKUP of tid has failed. True: the second one, and tid will not open. */
bool stale_not_found(struct stale_threads *s, pid_t tid);
/* tid opens: is this the second try? Ends the note on tid. again: the former daemon has read the
 * request before. */
bool stale_opens_again(struct stale_threads *s, pid_t tid, uint64_t request, bool again);

/* Makes or renews the note of the words; without a ledger does nothing. No other thread may use
 * s. */
void stale_keep_note(struct stale_threads *s, struct ledger *l);
/* Takes over the note of a daemon that was killed. False: the note is missing or damaged. No other
 * thread may use s, and s is to be empty. */
bool stale_former(struct stale_threads *s, const struct former *f);

#endif

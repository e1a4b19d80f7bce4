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
 */
#ifndef RNFS_FS_KNOWN_STALE_H
#define RNFS_FS_KNOWN_STALE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define STALE_THREADS 256

struct stale_threads {
	/* 0: free; the thread's number; negative: the thread's number, and one LOOKUP has failed */
	_Atomic pid_t at[STALE_THREADS];
};

/* In all functions tid 0 stands for an unknown thread, which is never noted. */

/* The open of tid is answered ESTALE. */
void stale_answered(struct stale_threads *s, pid_t tid);
/* Is tid, which looks a name up, walking the path again? */
bool stale_walks_again(const struct stale_threads *s, pid_t tid);
/* A LOOKUP of tid has failed. True: the second one, and tid will not open. */
bool stale_not_found(struct stale_threads *s, pid_t tid);
/* tid opens: is this the second try? Ends the note on tid. */
bool stale_opens_again(struct stale_threads *s, pid_t tid);

#endif

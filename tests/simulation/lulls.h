/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lulls: a program rests in front of one of its system calls, with all that the program has open or
 * locked. A rest is often longer than the server's lease, and than the time for which mounts
 * believe names and attributes. Other programs end their rounds, and begin none before the rest is
 * over. So no later request helps a request whose wake-up was lost.
 */
#ifndef RNFS_SIMULATION_LULLS_H
#define RNFS_SIMULATION_LULLS_H

#include <stdbool.h>

/* Chooses how often programs of the run rest, and begins to watch for calls without an end. calm:
 * the server neither ends nor is silent. Then each call but one that waits for a lock ends during a
 * rest, or the run ends. */
void lulls_begin(bool calm);
/* All programs have ended. */
void lulls_end(void);
/* In front of a system call: the calling program may rest. */
void lull_rest(void);
/* In front of a round: waits until no program rests. */
void lull_wait(void);
/* Does a program rest? */
bool lull_now(void);

#endif

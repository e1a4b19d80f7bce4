/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * signals: the signals that the daemon catches, and the duties of process 1 of a PID namespace.
 *
 * A handler only notes the signal and wakes the main thread. If process 1 has no handler for a
 * signal, even SIGTERM, the kernel discards the signal. Process 1 also gets the children of every
 * process that ends.
 */
#ifndef RNFS_FS_KERNEL_SIGNALS_H
#define RNFS_FS_KERNEL_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Is this process the first of its PID namespace, like the program that a container runs? */
bool signals_first_process(void);
/* To be called before anything else: until signals_catch() a signal ends process 1 as it would end
 * any other. Does nothing in other processes. */
void signals_begin(void);
/* From now on signals are noted, and written to wake_fd, an eventfd. SIGHUP asks for opening the
 * log anew or, if hangup_stops, for the end, like SIGTERM. */
void signals_catch(int wake_fd, bool hangup_stops);
/* Signals have been kept back since before this program began (a successor): no longer. */
void signals_let_in(void);
/* In process 1: reaps all children that have ended. For the main thread, on which this process also
 * waits for children of its own. Does nothing in other processes. */
void signals_reap(void);

/* How often a signal has asked for the end. A signal of the parent (the holder) and one of another
 * process count as one, because the same request comes in both ways. Any thread. */
unsigned signals_stops(void);
/* When the first such signal came, on clock_ns(); 0: none has. Any thread. */
uint64_t signals_stopped_at(void);
/* The same as a signal that asks for the end, from within. */
void signals_stop(void);

/* Has a signal asked for statistics, or for opening the log anew, since the last call? */
bool signals_take_stats(void);
bool signals_take_hangup(void);

#endif

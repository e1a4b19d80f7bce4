/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * signals: the signals that the daemon catches, and the duties of process 1 of a PID namespace.
 *
 * A handler only notes the signal and wakes the main thread. The kernel drops a signal to process 1
 * that has no handler, even SIGTERM, and gives it the children of every process that ends.
 */
#ifndef RNFS_FS_KERNEL_SIGNALS_H
#define RNFS_FS_KERNEL_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Is this process the first of its PID namespace, as the program that a container runs is? */
bool signals_first_process(void);
/* To be called before anything else: until signals_catch() a signal ends process 1 as it would end
 * any other. Does nothing in other processes. */
void signals_begin(void);
/* From now on signals are noted, and written to wake_fd, an eventfd. SIGHUP is to open the log
 * anew, or, if hangup_stops, the same as SIGTERM. */
void signals_catch(int wake_fd, bool hangup_stops);
/* Process 1: reaps all children that have ended. By the main thread, on which this process also
 * waits for children of its own. Does nothing in other processes. */
void signals_reap(void);

/* How often a signal has asked for the end. Any thread, as the next. */
unsigned signals_stops(void);
/* When the first did, on clock_ns(); 0: none has. */
uint64_t signals_stopped_at(void);
/* The same as a signal that asks for the end, from within. */
void signals_stop(void);

/* Has one asked for that since the last call? */
bool signals_take_stats(void);
bool signals_take_hangup(void);

#endif

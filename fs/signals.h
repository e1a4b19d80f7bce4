/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * signals: the signals that the daemon catches.
 *
 * A handler only notes the signal and wakes the main thread.
 */
#ifndef RNFS_FS_SIGNALS_H
#define RNFS_FS_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on signals are noted, and written to wake_fd, an eventfd. SIGHUP is to open the log
 * anew, or, if hangup_stops, the same as SIGTERM. */
void signals_catch(int wake_fd, bool hangup_stops);

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

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * patience: how long the kernel waits for the answer to a request.
 *
 * From Linux 6.15 an administrator may bound that time: fs.fuse.default_request_timeout and
 * fs.fuse.max_request_timeout, in seconds, 0 for no bound. When one request of a mount has waited
 * longer, the kernel ends the mount with all its open files. So the daemon must answer requests
 * earlier, if need be with an error (request_pool_limit()). The kernel counts from the making of
 * the request, also for a RELEASE, and looks every 15 s. A mount keeps the bound with which it was
 * made.
 *
 * A daemon can tell the kernel a bound of its own, but cannot read the one in force. So the daemon
 * reads the settings when it answers INIT.
 */
#ifndef RNFS_FS_FILE_PATIENCE_H
#define RNFS_FS_FILE_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>

#define PATIENCE_LEAST_S 15 /* a lower bound counts as this; also how often the kernel looks */

/* The bound for a mount that the kernel initialises now, in seconds; 0: none. False: the settings
 * cannot be read, because the kernel has none, or a container has no /proc/sys; errno tells the
 * reason. Every user can read the settings, also where /proc/sys is read-only: the settings belong
 * to the machine. root: the directory of /proc, "" but in tests. Any thread. */
bool patience_s(const char *root, unsigned *bound_s);
/* After how many seconds a request must be answered under such a bound: three quarters of the
 * bound. */
unsigned patience_answer_s(unsigned bound_s);
/* Writes the sentence that tells the user of the bound, with the remedy, into text, of size
 * bytes. */
void patience_say(unsigned bound_s, char *text, size_t size);
/* Writes the sentence that the bound is not known, with the reason from errno. */
void patience_say_unknown(char *text, size_t size);

#endif

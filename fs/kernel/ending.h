/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ending: how long the end of a mount may take.
 *
 * The steps of the end wait for the server: written data is sent and made safe, calls that
 * outlive their process end, unlinked files go, the state is given back. All steps share one bound.
 * After a signal that is the option grace, less a last second for giving the state back, for
 * unmounting and for the log; without a signal, as after umount(8), it is half a minute. A second
 * signal ends all waits.
 *
 * While the server takes data the bound does not count: a WRITE or COMMIT that ended well within
 * the last two seconds lets the end go on. No bound here is a promise that the server takes
 * everything; the log names the files that have lost data (lost.h).
 */
#ifndef RNFS_FS_KERNEL_ENDING_H
#define RNFS_FS_KERNEL_ENDING_H

#include "fs/known/fs.h"

/* The mount ends now: without a signal the bound counts from here. The main thread's. */
void ending_begin(struct fs *fs);
/* The server has taken written data. Any thread. */
void ending_took(struct fs *fs);
/* Is the time over? Says once in the log if it is, but the server still takes data. The main
 * thread's. */
bool ending_over(struct fs *fs);
/* A step of the end that begins now and usually lasts no longer than `usual` ns is to end then, on
 * clock_ns(). Any thread. */
uint64_t ending_until(const struct fs *fs, uint64_t usual);
/* Giving the state back is to end then; 0: as long as it usually takes. */
uint64_t ending_leave_by(const struct fs *fs);

#endif

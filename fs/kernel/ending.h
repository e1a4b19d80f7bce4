/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ending: how long the end of a mount may take.
 *
 * The steps of the end wait for the server: written data is sent and made safe, calls that outlive
 * their process end, silly names are removed, and the state is given back. All steps share one
 * bound. After a signal the bound is the option grace, less a last second for giving the state
 * back, for unmounting and for the log. Without a signal, as after umount(8), the bound is half a
 * minute. A second signal ends all waits.
 *
 * While the server takes data the bound does not count: a WRITE or COMMIT that ended well within
 * the last two seconds lets the end go on. No bound here is a promise that the server takes
 * everything; the log names the files that have lost data (lost.h).
 */
#ifndef RNFS_FS_KERNEL_ENDING_H
#define RNFS_FS_KERNEL_ENDING_H

#include "fs/known/fs.h"

/* The mount ends now: without a signal the bound counts from here. For the main thread. */
void ending_begin(struct fs *fs);
/* The server has taken written data. Any thread. */
void ending_took(struct fs *fs);
/* Is the time over? If it is, but the server still takes data, says so once in the log. For the
 * main thread. */
bool ending_over(struct fs *fs);
/* Until when, on clock_ns(), a step of the end may last that begins now and usually takes no longer
 * than `usual` ns. Any thread. */
uint64_t ending_until(const struct fs *fs, uint64_t usual);
/* Until when giving the state back may last; 0: as long as usual. */
uint64_t ending_leave_by(const struct fs *fs);

#endif

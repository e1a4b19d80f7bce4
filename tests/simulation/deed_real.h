/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deed_real: deeds of threads on a FUSE mount of this machine. Each thread plays a process: the
 * thread has descriptors, a user and a working directory of its own. Linux takes the table of
 * descriptors for the owner of record locks.
 */
#ifndef RNFS_SIMULATION_DEED_REAL_H
#define RNFS_SIMULATION_DEED_REAL_H

#include "tests/simulation/deed.h"

/* /dev/fuse, mounted at the directory, for this process alone; or a negative errno. */
int deed_real_mount(const char *directory, bool default_permissions);
/* Begins the threads, once the daemon answers. device: closed in the threads. */
const struct deeds *deed_real_start(const char *directory, int device);
void deed_real_stop(const char *directory);

#endif

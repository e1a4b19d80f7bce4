/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * loopback: a small daemon for try-vfs, with a file system in memory. Its threads read raw requests
 * and answer late, in any order.
 */
#ifndef RNFS_SIMULATION_LOOPBACK_H
#define RNFS_SIMULATION_LOOPBACK_H

#include <stdbool.h>

struct loopback_params {
	int fd;
	unsigned threads, valid_s;		     /* valid_s: of names and attributes */
	bool keeps, auto_inval, notifies, truncates; /* truncates: atomic_o_trunc */
};

void loopback_start(const struct loopback_params *p);
/* The device has ended: joins the threads. Fails if a lookup was not given back, or a file is open.
 */
void loopback_stop(void);
/* Lookups that the kernel holds of other inodes than the root. */
unsigned long loopback_lookups(void);

#endif

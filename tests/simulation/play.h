/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * play: a schedule of system calls, changes behind the kernel's back and faults, by a seed.
 */
#ifndef RNFS_SIMULATION_PLAY_H
#define RNFS_SIMULATION_PLAY_H

#include "tests/simulation/deed.h"
#include "tests/simulation/loopback.h"

/* The mount that a seed asks for. */
struct play_mount {
	struct loopback_params daemon;
	bool default_permissions;
};
struct play_mount play_mount(uint64_t seed);

/* Plays `steps` steps, and writes the results of calls, and the requests. */
void play(uint64_t seed, unsigned steps, const struct deeds *deeds, FILE *out);

#endif

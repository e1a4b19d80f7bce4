/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowds: all crowds. The file of each crowd says how its programs act, and how the judge decides.
 */
#ifndef RNFS_SIMULATION_CROWDS_H
#define RNFS_SIMULATION_CROWDS_H

#include "tests/simulation/crowd.h"

extern const struct crowd crowd_failing, crowd_promised, crowd_killed, crowd_modes, crowd_direct,
	crowd_mapped, crowd_ranges, crowd_exclusive, crowd_names, crowd_resized, crowd_append,
	crowd_closed, crowd_created, crowd_listed, crowd_locked, crowd_outside, crowd_synced,
	crowd_copied, crowd_beside;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dice: random numbers that follow from a seed alone, also outside a run of the simulator.
 */
#ifndef RNFS_SIMULATION_DICE_H
#define RNFS_SIMULATION_DICE_H

#include <stdbool.h>
#include <stdint.h>

void choose_from(uint64_t seed);
/* A number below n (n > 0). */
unsigned below(unsigned n);
/* True once in n times. */
bool once_in(unsigned n);

#endif

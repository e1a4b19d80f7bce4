/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * turn: programs tell each other, by a way that rnfs does not see, that one has closed a file and
 * the next may open the file: one program that changes the file, or several that read.
 */
#ifndef RNFS_SIMULATION_TURN_H
#define RNFS_SIMULATION_TURN_H

#include <stdbool.h>

struct turn {
	unsigned readers;
	bool writer;
};

/* Waits. */
void turn_take(struct turn *t, bool writes);
void turn_leave(struct turn *t);

#endif

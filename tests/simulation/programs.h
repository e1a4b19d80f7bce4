/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * programs: the threads of a run's programs, and the choice of crowds (crowd.h).
 */
#ifndef RNFS_SIMULATION_PROGRAMS_H
#define RNFS_SIMULATION_PROGRAMS_H

#include "tests/simulation/crowd.h"

/* False: `list`, names with commas between them, names no crowd. */
bool programs_may_play(const char *list);
/* The names of all crowds, with commas between them. */
const char *programs_crowds(void);
/* Plays the crowds of the list, until all programs have ended. NULL: two to four crowds of the
 * seed's choice. A violation ends the run. */
void programs_run(const struct stage *s, const char *list);

#endif

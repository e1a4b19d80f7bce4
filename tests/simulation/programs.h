/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * programs: the threads of a run's programs, and the choice of crowds (crowd.h).
 */
#ifndef RNFS_SIMULATION_PROGRAMS_H
#define RNFS_SIMULATION_PROGRAMS_H

#include "tests/simulation/crowd.h"

/* Can one run play the crowds of `list`, names with commas between them? False: `why`, of n bytes,
 * is a sentence. */
bool programs_may_play(const char *list, char *why, size_t n);
/* Plays the crowds of the list, until all programs have ended. NULL: two to four crowds of the
 * seed's choice. A violation ends the run. */
void programs_run(const struct stage *s, const char *list);

#endif

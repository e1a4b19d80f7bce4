/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * programs: the programs that use the mounts of a run, and the judge of the bytes that they see.
 *
 * Two crowds, each on files of its own. The programs of "locked" hold a lock of the whole file
 * around all that they do: each read shows exactly the bytes that the holders before have left. In
 * "closed" one program writes a file in versions, and closes the file after each; others open, read
 * and close: each byte is of a version that was closed before the open began, or of a later one.
 * A byte that no program wrote is never right.
 */
#ifndef RNFS_SIMULATION_PROGRAMS_H
#define RNFS_SIMULATION_PROGRAMS_H

#include "tests/simulation/kernel.h"

/* Runs programs on the n mounts until all have ended. Some call of a program may fail (faults that
 * are told to programs)? Then programs go on after EIO. A violation ends the run. */
void programs_run(struct kernel **mounts, unsigned n, unsigned rounds);

#endif

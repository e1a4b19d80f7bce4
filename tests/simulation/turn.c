/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * turn: which program may use a file.
 */
#include "tests/simulation/turn.h"

#include "tests/simulation/sched.h"

void turn_take(struct turn *t, bool writes)
{
	while (t->writer || (writes && t->readers))
		sched_wait(t, SCHED_NEVER, "for the turn at a file");
	if (writes)
		t->writer = true;
	else
		t->readers++;
}

void turn_leave(struct turn *t)
{
	if (t->writer)
		t->writer = false;
	else
		t->readers--;
	sched_wake_all(t);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * busy: which processes and which files had the most requests lately.
 *
 * Events are added up, by process and by path, in two tables of BUSY_ROWS rows. When a table is
 * full, a newcomer takes the row with the fewest requests. So the busiest stay, and the counts of
 * rare ones may be too low. The totals count all events. For one thread.
 */
#ifndef RNFS_FS_KERNEL_BUSY_H
#define RNFS_FS_KERNEL_BUSY_H

#include "cli/word.h"
#include "fs/observe/trace.h"

#define BUSY_ROWS 256u

struct busy_count {
	uint64_t requests, read, written, rpcs; /* read and written: bytes */
	uint64_t took_ns;			/* waits of all requests, added up */
};

struct busy_row {
	uint64_t hash; /* of name; 0: the row is free */
	struct busy_count count;
	pid_t pid; /* of a process */
	char name[TRACE_PATH];
};

struct busy {
	struct busy_count total;
	struct busy_row process[BUSY_ROWS], file[BUSY_ROWS];
};

/* Clears the totals and all rows. */
void busy_clear(struct busy *b);
void busy_add(struct busy *b, const struct trace_event *e);
/* Adds the lines of a report, the n busiest rows of each table: see cli/ask.h. Clears the rows that
 * were written. */
void busy_write(struct busy *b, unsigned n, struct words *w);

#endif

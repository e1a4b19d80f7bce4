/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * installed: the program that is installed now in place of the one that this process runs, with the
 * arguments and the environment of this process.
 */
#ifndef RNFS_FS_PROGRAM_INSTALLED_H
#define RNFS_FS_PROGRAM_INSTALLED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "transport/err.h"

struct installed {
	char path[PATH_MAX];
	char *args, *variables; /* the words that argv and env point to */
	char **argv, **env;	/* env has room for one more, at env[nenv] */
	size_t nenv;
};

/* 0, or -1 with *e set. installed_finish() is due in either case. */
int installed_init(struct installed *p, struct err *e);
void installed_finish(struct installed *p);

/* Asks the program for the format of the records that it reads (by_notes: of the notes in a
 * ledger), and whether it understands the arguments. Takes some seconds at most. 0: the program can
 * take over; or -1 with *e set. */
int installed_check(struct installed *p, bool by_notes, struct err *e);
/* execve() with all signals blocked, and with the descriptor of the record in the environment.
 * Returns an errno, with the signals as before. */
int installed_exec(struct installed *p, int record);

/* Prints the formats of the records and notes that this program reads, a line each: the answer to
 * installed_check(). */
void installed_print_formats(void);

#endif

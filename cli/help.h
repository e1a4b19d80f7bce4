/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * help: texts on the command line and on mount options.
 *
 * The long text of an option is its entry in the man page: cli/entries.py copies the entry when
 * rnfs is built.
 */
#ifndef RNFS_CLI_HELP_H
#define RNFS_CLI_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/nearest.h"

/* The text of -h: a screenful. */
void help_short(FILE *out);
/* All mount options, a line or so for each. */
void help_options(FILE *out);
/* Prints all about the mount option `name`, which ends at the first "=". False: there is no such
 * option. */
bool help_option(FILE *out, const char *name);
/* Offers the names of all options. */
void help_offer(struct nearest *n);

#endif

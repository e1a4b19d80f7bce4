/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stat: the ways in which `rnfs stat` prints a report. The reports have requests and operations.
 */
#ifndef RNFS_CLI_STAT_H
#define RNFS_CLI_STAT_H

#include <stdio.h>

#include "cli/report.h"

/* Tables for people, of all since the mount was made. */
void stat_text(const struct report *r, FILE *out);
/* A line of rates, in the time between two reports of the same mount; head: with the column names
 * above. */
void stat_rates(const struct report *before, const struct report *now, bool head, FILE *out);
/* One object, on a line. */
void stat_json(const struct report *r, FILE *out);

#endif

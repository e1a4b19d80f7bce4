/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * human: numbers for people: three digits and a unit.
 *
 * Each fills text, of HUMAN_MAX bytes, and returns text. Pure functions.
 */
#ifndef RNFS_CLI_HUMAN_H
#define RNFS_CLI_HUMAN_H

#include <stdint.h>

#define HUMAN_MAX 24

/* "812", "1.2K", "45.1M" (powers of 1024). */
char *human_bytes(char text[HUMAN_MAX], double bytes);
/* "812", "12.3k", "4.5M" (powers of 1000). */
char *human_count(char text[HUMAN_MAX], double n);
/* A time in ns: "0", "12us", "3.4ms", "1.2s". */
char *human_time(char text[HUMAN_MAX], uint64_t ns);
/* A long time in ms: "12 s", "3 min", "5 h", "12 days". */
char *human_age(char text[HUMAN_MAX], uint64_t ms);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * finding: one line for each thing that `rnfs doctor` looks at.
 *
 * A line has a verdict, the name of the thing, and a sentence. The sentence of a warning or a
 * failure ends with the remedy.
 */
#ifndef RNFS_CLI_FINDING_H
#define RNFS_CLI_FINDING_H

#include <stdio.h>

enum finding_verdict {
	FINDING_OK,
	FINDING_NOTE, /* good to know; no remedy is needed */
	FINDING_WARN, /* a mount works, but with a loss */
	FINDING_FAIL, /* a mount does not work */
	FINDING_VERDICTS
};

struct findings {
	FILE *out;
	unsigned count[FINDING_VERDICTS];
};

/* Begins with no finding; lines go to out, which stays the caller's. */
void findings_init(struct findings *f, FILE *out);

/* Prints one line and counts the verdict. Names that a peer chose are quoted, control characters
 * are escaped. A long sentence is cut at 1000 bytes. */
__attribute__((format(printf, 4, 5))) void finding(
	struct findings *f, enum finding_verdict verdict, const char *thing, const char *fmt, ...);

/* Prints the number of lines with each verdict. Returns the exit status: 0, or 1 after a failure.
 */
int findings_end(struct findings *f);

#endif

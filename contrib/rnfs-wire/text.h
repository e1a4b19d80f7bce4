/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * text: lines that are gathered to be printed later.
 */
#ifndef RNFS_CONTRIB_WIRE_TEXT_H
#define RNFS_CONTRIB_WIRE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *buf; /* a string, or NULL: nothing was written */
	size_t len, cap;
	bool failed; /* memory has ended; what is there is whole up to there */
};

void text_init(struct text *t);
void text_finish(struct text *t);
/* Empties it, and keeps its memory. */
void text_clear(struct text *t);
/* What is there, "" if there is nothing. It is the text's, until that changes. */
const char *text_str(const struct text *t);
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line of its own, indented by four blanks for each of depth. */
void text_line(struct text *t, unsigned depth, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif

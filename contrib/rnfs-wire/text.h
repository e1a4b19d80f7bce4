/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * text: gathers lines for later printing.
 */
#ifndef RNFS_CONTRIB_WIRE_TEXT_H
#define RNFS_CONTRIB_WIRE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *buf; /* a string, or NULL: nothing was written */
	size_t len, cap;
	bool failed; /* out of memory; buf is complete up to the failure */
};

void text_init(struct text *t);
void text_finish(struct text *t);
/* Empties t, and keeps the memory. */
void text_clear(struct text *t);
/* The gathered text, or "". t owns the string, which is valid until t changes. */
const char *text_str(const struct text *t);
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a line, indented by four blanks for each level of depth. */
void text_line(struct text *t, unsigned depth, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif

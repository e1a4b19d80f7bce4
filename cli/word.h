/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * word: the lines between daemons and commands: words with one space between two.
 *
 * A word may be any text: a space, a control character, DEL and % become %XX, and an empty text is
 * the word "%". Bytes beyond ASCII stay as they are. Pure functions.
 */
#ifndef RNFS_CLI_WORD_H
#define RNFS_CLI_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer for lines. full: an addition did not fit; then the whole text counts for nothing. */
struct words {
	char *buf;
	size_t size, len;
	bool full;
};

/* Adds text as printf() does. The caller must write valid words. */
__attribute__((format(printf, 2, 3))) void words_print(struct words *w, const char *fmt, ...);
/* Adds a space and text as one word. */
void words_add(struct words *w, const char *text);

/* Takes the next word of *line, decodes the word in place, and moves *line behind the word. NULL at
 * the end. */
char *word_next(char **line);
/* The same for a number. False: no word, or not a number. */
bool word_number(char **line, uint64_t *n);

#endif

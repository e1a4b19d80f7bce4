/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * word: the lines in which daemons and commands talk: words with one space between two.
 *
 * A word may be any text: a space, a control character, DEL and % become %XX, and an empty text is
 * the word "%". Bytes beyond ASCII stay as they are. Pure functions.
 */
#ifndef RNFS_CLI_WORD_H
#define RNFS_CLI_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer that text is added to. full: something did not fit; then all of it counts for nothing.
 */
struct words {
	char *buf;
	size_t size, len;
	bool full;
};

/* Adds what printf() would print. The words in it are the caller's care. */
__attribute__((format(printf, 2, 3))) void words_print(struct words *w, const char *fmt, ...);
/* Adds a space and text as one word. */
void words_add(struct words *w, const char *text);

/* The next word of *line, which is changed: as the text that it stands for. *line then stands
 * behind it. NULL at the end. */
char *word_next(char **line);
/* The same as a number. False: there is no word, or it is no number. */
bool word_number(char **line, uint64_t *n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * word: the lines in which daemons and commands talk.
 */
#include "cli/word.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void words_print(struct words *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (w->full)
		return;
	va_start(ap, fmt);
	n = vsnprintf(w->buf + w->len, w->size - w->len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= w->size - w->len)
		w->full = true;
	else
		w->len += (size_t)n;
}

static bool is_plain(unsigned char c)
{
	return c > ' ' && c != '%' && c != 0x7f;
}

void words_add(struct words *w, const char *text)
{
	words_print(w, *text ? " " : " %%");
	for (; *text && !w->full; text++) {
		size_t run = 0;

		while (is_plain((unsigned char)text[run]))
			run++;
		if (run) {
			words_print(w, "%.*s", (int)run, text);
			text += run - 1;
		} else {
			words_print(w, "%%%02X", (unsigned char)*text);
		}
	}
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *word_next(char **line)
{
	char *begin = *line, *to, *from;

	if (!begin || !*begin)
		return NULL;
	for (to = from = begin; *from && *from != ' '; to++) {
		int high = *from == '%' ? hex(from[1]) : -1, low = high >= 0 ? hex(from[2]) : -1;

		if (low >= 0 && (high || low)) {
			*to = (char)(high << 4 | low);
			from += 3;
		} else if (from == begin && from[0] == '%' && (!from[1] || from[1] == ' ')) {
			from++;
			break;
		} else {
			*to = *from++;
		}
	}
	*line = *from ? from + 1 : from;
	*to = 0;
	return begin;
}

bool word_number(char **line, uint64_t *n)
{
	char *word = word_next(line), *end;

	if (!word || *word < '0' || *word > '9')
		return false;
	errno = 0;
	*n = strtoull(word, &end, 10);
	return !*end && !errno;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * text: see text.h.
 */
#include "contrib/rnfs-wire/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void text_init(struct text *t)
{
	*t = (struct text){0};
}

void text_finish(struct text *t)
{
	free(t->buf);
	text_init(t);
}

void text_clear(struct text *t)
{
	t->len = 0;
	t->failed = false;
	if (t->buf)
		t->buf[0] = '\0';
}

const char *text_str(const struct text *t)
{
	return t->buf ? t->buf : "";
}

static bool room(struct text *t, size_t n)
{
	size_t cap = t->cap ? t->cap : 256;
	char *grown;

	while (cap - t->len <= n)
		cap *= 2;
	if (cap == t->cap)
		return true;
	grown = realloc(t->buf, cap);
	if (!grown)
		return false;
	t->buf = grown;
	t->cap = cap;
	return true;
}

static void addv(struct text *t, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	if (t->failed)
		return;
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0 || !room(t, (size_t)n)) {
		t->failed = true;
		return;
	}
	vsnprintf(t->buf + t->len, (size_t)n + 1, fmt, ap);
	t->len += (size_t)n;
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	addv(t, fmt, ap);
	va_end(ap);
}

void text_line(struct text *t, unsigned depth, const char *fmt, ...)
{
	va_list ap;

	text_add(t, "%*s", (int)depth * 4, "");
	va_start(ap, fmt);
	addv(t, fmt, ap);
	va_end(ap);
	text_add(t, "\n");
}

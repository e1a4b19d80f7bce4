/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * quote: a peer's bytes, made safe for a line of text.
 */
#include "transport/quote.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char dots[] = "...";

static size_t put(char *dst, uint8_t byte, bool as_is)
{
	static const char hex[] = "0123456789ABCDEF";

	if (as_is) {
		dst[0] = (char)byte;
		return 1;
	}
	dst[0] = '%';
	dst[1] = hex[byte >> 4];
	dst[2] = hex[byte & 15];
	return 3;
}

static bool shows(uint8_t c)
{
	return c >= ' ' && c <= '~' && c != '%' && c != '"';
}

const char *quote(struct quote *q, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	size_t n = 0, whole = 0; /* bytes that fit in front of the dots */

	for (size_t i = 0; i < len; i++) {
		if (n + (shows(p[i]) ? 1 : 3) >= sizeof(q->text)) {
			memcpy(q->text + whole, dots, sizeof(dots));
			return q->text;
		}
		n += put(q->text + n, p[i], shows(p[i]));
		if (n + sizeof(dots) <= sizeof(q->text))
			whole = n;
	}
	q->text[n] = '\0';
	return q->text;
}

/* Does a control character begin at p? U+0080 to U+009F are control characters too, in UTF-8 of two
 * bytes. */
static bool controls(const uint8_t *p)
{
	return *p < ' ' || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0);
}

void quote_line(char *dst, size_t size, const char *line)
{
	const uint8_t *p = (const uint8_t *)line;
	size_t n = 0;

	while (*p && n + 4 <= size) {
		n += put(dst + n, *p, !controls(p));
		p++;
	}
	dst[n] = '\0';
}

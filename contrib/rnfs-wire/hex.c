/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * hex: see hex.h.
 */
#include "contrib/rnfs-wire/hex.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Skips all characters without a digit. True: a message has ended. */
static bool skip(const char **text)
{
	const char *p = *text;
	unsigned lines = 0;

	for (;; p++) {
		if (*p == '#') { /* a comment line does not count as an empty line */
			p += strcspn(p, "\n");
			lines = 0;
		}
		if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
			p++;
		else if (*p == '\n')
			lines++;
		else if (!isspace((unsigned char)*p) && (!*p || !strchr(":,", *p)))
			break;
	}
	*text = p;
	return lines > 1 || !*p;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

long hex_next(const char **text, uint8_t *buf, size_t cap)
{
	size_t n = 0;

	skip(text);
	while (**text) {
		int high = digit((*text)[0]), low = high < 0 ? -1 : digit((*text)[1]);

		if (low < 0)
			return -EINVAL;
		if (n == cap)
			return -EMSGSIZE;
		buf[n++] = (uint8_t)(high << 4 | low);
		*text += 2;
		if (skip(text))
			break;
	}
	return (long)n;
}

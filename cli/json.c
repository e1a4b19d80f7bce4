/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * json: writes JSON.
 */
#include "cli/json.h"

#include <inttypes.h>

/* Bytes of the UTF-8 character that s begins with (RFC 3629 section 4), or 0: none. */
static unsigned character(const unsigned char *s)
{
	unsigned n = s[0] < 0x80   ? 1
		     : s[0] < 0xc2 ? 0
		     : s[0] < 0xe0 ? 2
		     : s[0] < 0xf0 ? 3
		     : s[0] < 0xf5 ? 4
				   : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* longer than need be, a surrogate, or beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
		(s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

static void string(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		unsigned n = character(s);

		if (!n)
			fputs("\xef\xbf\xbd", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, n, out);
		s += n ? n : 1;
	}
	putc('"', out);
}

/* What comes before a member's value. */
static void member(struct json *j, const char *name)
{
	if (j->some)
		putc(',', j->out);
	j->some = true;
	if (!name)
		return;
	string(j->out, name);
	putc(':', j->out);
}

void json_begin(struct json *j, const char *name, char bracket)
{
	member(j, name);
	putc(bracket, j->out);
	j->some = false;
}

void json_end(struct json *j, char bracket)
{
	putc(bracket, j->out);
	j->some = true;
}

void json_text(struct json *j, const char *name, const char *text)
{
	member(j, name);
	string(j->out, text);
}

void json_number(struct json *j, const char *name, uint64_t n)
{
	member(j, name);
	fprintf(j->out, "%" PRIu64, n);
}

void json_signed(struct json *j, const char *name, int64_t n)
{
	member(j, name);
	fprintf(j->out, "%" PRId64, n);
}

void json_seconds(struct json *j, const char *name, uint64_t ns)
{
	member(j, name);
	fprintf(j->out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

void json_null(struct json *j, const char *name)
{
	member(j, name);
	fputs("null", j->out);
}

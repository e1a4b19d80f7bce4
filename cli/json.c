/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * json: writes JSON.
 */
#include "cli/json.h"

#include <inttypes.h>

#include "cli/utf8.h"

static void string(FILE *out, const char *text)
{
	putc('"', out);
	while (*text) {
		unsigned n = utf8_character(text);

		if (!n)
			fputs(UTF8_UNKNOWN, out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if (n == 1 && (*text < 0x20 || *text == 0x7f))
			fprintf(out, "\\u%04x", *text);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
	putc('"', out);
}

/* Writes the part before a member's value. */
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

void json_seconds(struct json *j, const char *name, uint64_t ns)
{
	member(j, name);
	fprintf(j->out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

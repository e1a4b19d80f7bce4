/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ask: the line that a command sends to a daemon.
 */
#include "cli/ask.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/word.h"
#include "transport/log.h"

static const char *const whats[ASK_WHATS] = {
	[ASK_HELLO] = "hello",
	[ASK_STAT] = "stat",
	[ASK_TOP] = "top",
	[ASK_TRACE] = "trace",
	[ASK_LOG_LEVEL] = "log-level",
	[ASK_UPGRADE] = "upgrade",
};

/* NAME=NUMBER behind the first word. */
static const struct parameter {
	enum ask_what what;
	const char *name;
	size_t at; /* of the member, an unsigned */
	unsigned min, max, usual;
} parameters[] = {
	{ASK_TOP, "interval_ms", offsetof(struct ask, interval_ms), 100, 3600000, 1000},
	{ASK_TOP, "rows", offsetof(struct ask, rows), 1, ASK_ROWS_MAX, 20},
	{ASK_TRACE, "errors", offsetof(struct ask, errors), 0, 1, 0},
	{ASK_TRACE, "slow_us", offsetof(struct ask, slow_us), 0, UINT32_MAX, 0},
	{ASK_LOG_LEVEL, "level", offsetof(struct ask, level), 0, LOG_L_DATA + 1, 0},
};

#define PARAMETERS (sizeof(parameters) / sizeof(parameters[0]))

static unsigned *member(struct ask *a, const struct parameter *p)
{
	return (unsigned *)((char *)a + p->at);
}

static bool set_parameter(struct ask *a, char *word)
{
	char *value = strchr(word, '=');
	uint64_t n;

	if (!value)
		return false;
	*value++ = 0;
	if (!word_number(&value, &n))
		return false;
	for (size_t i = 0; i < PARAMETERS; i++) {
		const struct parameter *p = &parameters[i];

		if (p->what != a->what || strcmp(p->name, word) != 0)
			continue;
		if (n < p->min || n > p->max)
			return false;
		*member(a, p) = (unsigned)n;
		return true;
	}
	return false;
}

void ask_init(struct ask *a, enum ask_what what)
{
	*a = (struct ask){.what = what};
	for (size_t i = 0; i < PARAMETERS; i++)
		if (parameters[i].what == what)
			*member(a, &parameters[i]) = parameters[i].usual;
}

bool ask_parse(const char *line, size_t len, struct ask *out, const char **why)
{
	char copy[ASK_MAX], *rest = copy, *word;
	unsigned what = 0;

	*why = "the line is too long, or has a NUL in it";
	if (len >= sizeof(copy) || memchr(line, 0, len))
		return false;
	memcpy(copy, line, len);
	copy[len] = 0;
	word = word_next(&rest);
	while (what < ASK_WHATS && (!word || strcmp(word, whats[what]) != 0))
		what++;
	*why = "this daemon does not know such a request";
	if (what == ASK_WHATS)
		return false;
	ask_init(out, what);
	*why = "the request has a word that this daemon does not understand";
	while ((word = word_next(&rest)))
		if (!set_parameter(out, word))
			return false;
	return true;
}

size_t ask_format(const struct ask *a, char line[ASK_MAX + 1])
{
	struct words w = {.buf = line, .size = ASK_MAX + 1};
	struct ask copy = *a;

	words_print(&w, "%s", whats[a->what]);
	for (size_t i = 0; i < PARAMETERS; i++)
		if (parameters[i].what == a->what)
			words_print(
				&w, " %s=%u", parameters[i].name, *member(&copy, &parameters[i]));
	words_print(&w, "\n");
	return w.len;
}

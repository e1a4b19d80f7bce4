/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ask: the one line that a command sends to a daemon.
 */
#include "cli/ask.h"

#include <string.h>

#include "cli/word.h"

static const char *const whats[ASK_WHATS] = {
	[ASK_HELLO] = "hello",
	[ASK_STAT] = "stat",
};

bool ask_parse(const char *line, size_t len, struct ask *out, const char **why)
{
	char copy[ASK_MAX], *rest = copy, *word;

	*out = (struct ask){.what = ASK_WHATS};
	*why = "the line is too long, or has a NUL in it";
	if (len >= sizeof(copy) || memchr(line, 0, len))
		return false;
	memcpy(copy, line, len);
	copy[len] = 0;
	word = word_next(&rest);
	for (unsigned i = 0; word && i < ASK_WHATS; i++)
		if (!strcmp(word, whats[i]))
			out->what = i;
	*why = "this daemon does not know such a request";
	if (out->what == ASK_WHATS)
		return false;
	*why = "the request has a word too much";
	return !word_next(&rest);
}

size_t ask_format(const struct ask *a, char line[ASK_MAX + 1])
{
	struct words w = {.buf = line, .size = ASK_MAX + 1};

	words_print(&w, "%s\n", whats[a->what]);
	return w.len;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: the lines of a daemon's report. A report that is read can be written, and is the
 * same when it is read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/report.h"

static void read_lines(struct report *r, char *text, bool good)
{
	char *rest = text, *line;

	memset(r, 0, sizeof(*r));
	while ((line = strsep(&rest, "\n")))
		if (*line && !report_read(r, line) && good)
			__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct report a, b;
	static char text[ANSWER_MAX];
	struct words w = {.buf = text, .size = sizeof(text)};
	char *copy = malloc(size + 1);

	memcpy(copy, data, size);
	copy[size] = 0;
	read_lines(&a, copy, false);
	free(copy);
	report_write(&a, &w);
	if (w.full)
		__builtin_trap();
	read_lines(&b, text, true);
	if (memcmp(&a, &b, sizeof(a)) != 0)
		__builtin_trap();
	return 0;
}

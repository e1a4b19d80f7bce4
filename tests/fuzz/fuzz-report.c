/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: the lines of a daemon's report. A report that was read can be written, and is the
 * same after a second reading.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/report.h"

static struct report_ops requests[2], operations[2];

static void read_lines(struct report *r, char *text, bool good)
{
	char *rest = text, *line;

	report_clear(r);
	while ((line = strsep(&rest, "\n")))
		if (*line && !report_read(r, line) && good)
			__builtin_trap();
}

static bool same(const struct report *a, const struct report *b)
{
	return !memcmp(a->text, b->text, sizeof(a->text)) &&
	       !memcmp(a->number, b->number, sizeof(a->number)) &&
	       !memcmp(a->path, b->path, sizeof(a->path)) && a->npaths == b->npaths &&
	       !memcmp(a->requests, b->requests, sizeof(*a->requests)) &&
	       !memcmp(a->operations, b->operations, sizeof(*a->operations));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct report a = {.requests = &requests[0], .operations = &operations[0]};
	static struct report b = {.requests = &requests[1], .operations = &operations[1]};
	static char text[4 * ANSWER_MAX];
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
	if (!same(&a, &b))
		__builtin_trap();
	return 0;
}

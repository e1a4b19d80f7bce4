/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * finding: one line for each thing that `rnfs doctor` looks at.
 */
#include "cli/finding.h"

#include <stdarg.h>

#include "transport/quote.h"

static const char *const verdicts[] = {
	[FINDING_OK] = "ok",
	[FINDING_NOTE] = "note",
	[FINDING_WARN] = "warn",
	[FINDING_FAIL] = "FAIL",
};

void findings_init(struct findings *f, FILE *out)
{
	*f = (struct findings){.out = out};
}

void finding(
	struct findings *f, enum finding_verdict verdict, const char *thing, const char *fmt, ...)
{
	char text[1000], line[1100];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	quote_line(line, sizeof(line), text);
	fprintf(f->out, "%-4s  %s: %s\n", verdicts[verdict], thing, line);
	fflush(f->out);
	f->count[verdict]++;
}

int findings_end(struct findings *f)
{
	unsigned fails = f->count[FINDING_FAIL], warns = f->count[FINDING_WARN];

	fprintf(f->out, "%u failure%s, %u warning%s\n", fails, fails == 1 ? "" : "s", warns,
		warns == 1 ? "" : "s");
	return fails ? 1 : 0;
}

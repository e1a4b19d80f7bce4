/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * report: what a daemon tells of itself and its mount, and how that travels.
 */
#include "cli/report.h"

#include <stdio.h>
#include <string.h>

static const char *const texts[REPORT_TEXTS] = {
	[REPORT_MOUNTPOINT] = "mountpoint",
	[REPORT_SOURCE] = "source",
	[REPORT_PROGRAM] = "program",
	[REPORT_NFS] = "nfs",
	[REPORT_TRANSPORT] = "transport",
	[REPORT_PROVIDER] = "provider",
	[REPORT_DIALECT] = "rpc_over_rdma",
};

static const char *const numbers[REPORT_NUMBERS] = {
	[REPORT_PID] = "pid",
	[REPORT_UID] = "uid",
	[REPORT_DEV_MAJOR] = "dev_major",
	[REPORT_DEV_MINOR] = "dev_minor",
	[REPORT_UP_MS] = "up_ms",
	[REPORT_SILENT_MS] = "silent_ms",
	[REPORT_LOST_MS] = "lost_ms",
	[REPORT_OLDEST_MS] = "oldest_ms",
};

void report_set(struct report *r, enum report_text which, const char *text)
{
	char *to = r->text[which];

	memset(to, 0, REPORT_TEXT_MAX);
	snprintf(to, REPORT_TEXT_MAX, "%s", text);
}

void report_write(const struct report *r, struct words *w)
{
	for (unsigned i = 0; i < REPORT_TEXTS; i++) {
		words_print(w, "is %s", texts[i]);
		words_add(w, r->text[i]);
		words_print(w, "\n");
	}
	for (unsigned i = 0; i < REPORT_NUMBERS; i++)
		words_print(w, "n %s %llu\n", numbers[i], (unsigned long long)r->number[i]);
}

/* The index of name, or n. */
static unsigned find(const char *const names[], unsigned n, const char *name)
{
	unsigned i = 0;

	while (i < n && strcmp(names[i], name) != 0)
		i++;
	return i;
}

static bool read_text(struct report *r, char *line)
{
	char *name = word_next(&line), *text = word_next(&line);
	unsigned i;

	if (!name || !text || strlen(text) >= REPORT_TEXT_MAX)
		return false;
	i = find(texts, REPORT_TEXTS, name);
	if (i < REPORT_TEXTS)
		report_set(r, i, text);
	return true;
}

static bool read_number(struct report *r, char *line)
{
	char *name = word_next(&line);
	uint64_t n;
	unsigned i;

	if (!name || !word_number(&line, &n))
		return false;
	i = find(numbers, REPORT_NUMBERS, name);
	if (i < REPORT_NUMBERS)
		r->number[i] = n;
	return true;
}

bool report_read(struct report *r, char *line)
{
	char *kind = word_next(&line);

	if (!kind)
		return false;
	if (!strcmp(kind, "is"))
		return read_text(r, line);
	if (!strcmp(kind, "n"))
		return read_number(r, line);
	return true;
}

enum report_state report_state(const struct report *r)
{
	if (r->number[REPORT_SILENT_MS])
		return REPORT_SILENT;
	if (r->number[REPORT_LOST_MS])
		return REPORT_DISCONNECTED;
	return r->number[REPORT_OLDEST_MS] >= REPORT_SLOW_MS ? REPORT_SLOW : REPORT_OK;
}

const char *report_state_name(enum report_state s)
{
	static const char *const names[] = {
		[REPORT_OK] = "ok",
		[REPORT_SLOW] = "slow",
		[REPORT_DISCONNECTED] = "disconnected",
		[REPORT_SILENT] = "silent",
	};

	return names[s];
}

uint64_t report_state_ms(const struct report *r)
{
	switch (report_state(r)) {
	case REPORT_SILENT:
		return r->number[REPORT_SILENT_MS];
	case REPORT_DISCONNECTED:
		return r->number[REPORT_LOST_MS];
	case REPORT_SLOW:
		return r->number[REPORT_OLDEST_MS];
	case REPORT_OK:
		break;
	}
	return 0;
}

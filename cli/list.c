/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * list: `rnfs list`, the mounts and the state of each.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/mounts.h"
#include "transport/quote.h"

/* As one word: for programs. */
static const char *state_of(const struct mount *m)
{
	switch (m->daemon) {
	case MOUNT_ANSWERS:
		return report_state_name(report_state(&m->report));
	case MOUNT_DEAD:
		return "dead";
	case MOUNT_MUTE:
		break;
	}
	return "unknown";
}

/* For people. */
static void say_state(const struct mount *m, char *text, size_t size)
{
	unsigned long long s = (report_state_ms(&m->report) + 500) / 1000;

	if (m->daemon == MOUNT_DEAD) {
		snprintf(text, size, "the daemon has died: umount it");
		return;
	}
	if (m->daemon == MOUNT_MUTE) {
		snprintf(text, size, "no daemon answers");
		return;
	}
	switch (report_state(&m->report)) {
	case REPORT_OK:
		snprintf(text, size, "ok");
		break;
	case REPORT_SLOW:
		snprintf(text, size, "a request has waited for %llu s", s);
		break;
	case REPORT_DISCONNECTED:
		snprintf(text, size, "no connection to the server for %llu s", s);
		break;
	case REPORT_SILENT:
		snprintf(text, size, "the server has not answered for %llu s", s);
		break;
	}
}

static const char *source_of(const struct mount *m)
{
	return m->daemon == MOUNT_ANSWERS ? m->report.text[REPORT_SOURCE] : m->info.source;
}

enum column { POINT, SOURCE, NFS, TRANSPORT, DAEMON, STATE, COLUMNS };

struct row {
	char cell[COLUMNS][1100];
};

static void fill_row(const struct mount *m, struct row *row)
{
	const struct report *r = &m->report;
	bool answers = m->daemon == MOUNT_ANSWERS;

	quote_line(row->cell[POINT], sizeof(row->cell[0]), mount_point(m));
	quote_line(row->cell[SOURCE], sizeof(row->cell[0]), source_of(m));
	quote_line(row->cell[NFS], 20, answers ? r->text[REPORT_NFS] : "-");
	quote_line(row->cell[TRANSPORT], 20, answers ? r->text[REPORT_TRANSPORT] : "-");
	if (answers)
		snprintf(row->cell[DAEMON], 24, "%llu", (unsigned long long)r->number[REPORT_PID]);
	else
		snprintf(row->cell[DAEMON], 24, "-");
	say_state(m, row->cell[STATE], sizeof(row->cell[0]));
}

static void print_rows(const struct mounts *all)
{
	static const struct row head = {
		{"MOUNT POINT", "SOURCE", "NFS", "TRANSPORT", "DAEMON", "STATE"}};
	static struct row row;
	int width[COLUMNS];

	for (unsigned c = 0; c < COLUMNS; c++)
		width[c] = (int)strlen(head.cell[c]);
	for (unsigned i = 0; i < all->n; i++) {
		fill_row(&all->of[i], &row);
		for (unsigned c = 0; c < COLUMNS; c++)
			if ((int)strlen(row.cell[c]) > width[c])
				width[c] = (int)strlen(row.cell[c]);
	}
	for (unsigned i = 0; i <= all->n; i++) {
		if (i)
			fill_row(&all->of[i - 1], &row);
		for (unsigned c = 0; c < COLUMNS; c++)
			printf("%-*s%s", c + 1 < COLUMNS ? width[c] : 0,
				(i ? &row : &head)->cell[c], c + 1 < COLUMNS ? "  " : "\n");
	}
}

static void print_json(const struct mounts *all)
{
	struct json j = {.out = stdout};

	json_begin(&j, NULL, '[');
	for (unsigned i = 0; i < all->n; i++) {
		const struct mount *m = &all->of[i];
		const struct report *r = &m->report;

		json_begin(&j, NULL, '{');
		json_text(&j, "mountpoint", mount_point(m));
		json_text(&j, "source", source_of(m));
		json_text(&j, "state", state_of(m));
		if (m->daemon == MOUNT_ANSWERS) {
			json_seconds(&j, "state_seconds", report_state_ms(r) * 1000000);
			json_seconds(&j, "up_seconds", r->number[REPORT_UP_MS] * 1000000);
			json_text(&j, "nfs", r->text[REPORT_NFS]);
			json_text(&j, "transport", r->text[REPORT_TRANSPORT]);
			json_number(&j, "pid", r->number[REPORT_PID]);
		}
		json_number(&j, "uid", m->is_here ? m->info.uid : r->number[REPORT_UID]);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	putchar('\n');
}

int list_main(int argc, char **argv)
{
	bool json = argc == 2 && !strcmp(argv[1], "--json");
	struct err e = {0};
	struct mounts all;

	if (argc > 1 && !json) {
		fprintf(stderr, "rnfs: the command line is rnfs list [--json]\n");
		return 2;
	}
	if (mounts_find(&all, true, &e))
		fprintf(stderr, "rnfs: %s\n", e.msg);
	else if (json)
		print_json(&all);
	else if (all.n)
		print_rows(&all);
	else
		puts("There are no mounts.");
	mounts_free(&all);
	return e.kind || fflush(stdout) ? 1 : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * top: `rnfs top`, which processes use which files of a mount.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/human.h"
#include "cli/json.h"
#include "cli/mounts.h"
#include "transport/quote.h"

#define CLEAR	 "\033[H\033[J" /* the terminal */
#define GRACE_MS 5000		/* how late a report may be */
#define ROWS	 15u

struct arguments {
	bool json;
	unsigned seconds, count; /* count 0: without end */
	const char *mount;
};

enum kind {
	TOTAL,
	PROCESS,
	FILES,
};

struct row {
	enum kind kind;
	uint64_t pid;
	char name[1024];
	uint64_t requests, read, written, rpcs, ns;
};

/* A report of the daemon's. */
struct report_of_interval {
	unsigned n;
	struct row row[1 + 2 * ASK_ROWS_MAX];
	uint64_t ms, lost;
};

static int usage(void)
{
	fprintf(stderr, "rnfs: the command line is rnfs top [--interval SECONDS] [-n COUNT | "
			"--once] [--json] [MOUNT]\n");
	return 2;
}

static bool number(const char *text, unsigned max, unsigned *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n < 1 || n > max)
		return false;
	*out = (unsigned)n;
	return true;
}

static bool parse(struct arguments *a, int argc, char **argv)
{
	static const struct option longs[] = {
		{"interval", required_argument, NULL, 'i'},
		{"once", no_argument, NULL, '1'},
		{"json", no_argument, NULL, 'j'},
		{0},
	};
	int c;

	optind = 0;
	opterr = 0;
	*a = (struct arguments){.seconds = 1};
	while ((c = getopt_long(argc, argv, "n:", longs, NULL)) != -1) {
		if (c == 'j')
			a->json = true;
		else if (c == '1')
			a->count = 1;
		else if (c == 'i' && number(optarg, 3600, &a->seconds))
			continue;
		else if (c != 'n' || !number(optarg, 1000000, &a->count))
			return false;
	}
	a->mount = argv[optind];
	return argc - optind <= 1;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_row(struct report_of_interval *r, enum kind kind, char *line)
{
	struct row *row = &r->row[r->n];
	char *name;

	if (r->n == sizeof(r->row) / sizeof(r->row[0]))
		return false;
	memset(row, 0, sizeof(*row));
	row->kind = kind;
	if (kind == PROCESS && !word_number(&line, &row->pid))
		return false;
	if (kind != TOTAL) {
		name = word_next(&line);
		if (!name)
			return false;
		snprintf(row->name, sizeof(row->name), "%s", name);
	}
	r->n++;
	return word_number(&line, &row->requests) && word_number(&line, &row->read) &&
	       word_number(&line, &row->written) && word_number(&line, &row->rpcs) &&
	       word_number(&line, &row->ns);
}

/* 0, or -1 with *e set. */
static int read_report(struct contact *c, int ms, struct report_of_interval *r, struct err *e)
{
	char *line, *word;
	bool good = true;

	r->n = 0;
	while (good && (line = contact_line(c, ms, e))) {
		word = word_next(&line);
		if (!word)
			good = false;
		else if (!strcmp(word, "total"))
			good = read_row(r, TOTAL, line);
		else if (!strcmp(word, "process"))
			good = read_row(r, PROCESS, line);
		else if (!strcmp(word, "file"))
			good = read_row(r, FILES, line);
		else if (!strcmp(word, "end"))
			return word_number(&line, &r->ms) && word_number(&line, &r->lost) && r->ms
				       ? 0
				       : err_set(e, ERR_PROTOCOL, "the daemon's answer is wrong");
	}
	return err_set(e, ERR_PROTOCOL, "the daemon's answer cannot be understood");
}

/* --- printing --------------------------------------------------------------------------------- */

#define BYTES(n) human_bytes((char[HUMAN_MAX]){0}, (double)(n)*1000 / ms)
#define COUNT(n) human_count((char[HUMAN_MAX]){0}, (double)(n)*1000 / ms)

static void print_row(const struct row *row, double ms)
{
	char name[300];

	quote_line(name, sizeof(name), row->name);
	printf("%7s %7s %7s %7s %7s  ", COUNT(row->requests), COUNT(row->rpcs), BYTES(row->read),
		BYTES(row->written),
		human_time((char[HUMAN_MAX]){0}, row->requests ? row->ns / row->requests : 0));
	if (row->kind == TOTAL)
		printf("all\n");
	else if (row->kind == FILES)
		printf("%s\n", name);
	else if (row->pid)
		printf("%llu %s\n", (unsigned long long)row->pid, name);
	else
		printf("- (the kernel, or a process that has gone)\n");
}

static void print_rows(const struct report_of_interval *r, enum kind kind, const char *head)
{
	printf("%7s %7s %7s %7s %7s  %s\n", "req/s", "calls/s", "read/s", "write/s", "mean", head);
	for (unsigned i = 0; i < r->n; i++)
		if (r->row[i].kind == kind || (kind == PROCESS && r->row[i].kind == TOTAL))
			print_row(&r->row[i], (double)r->ms);
}

static void print_text(const struct report_of_interval *r)
{
	if (isatty(STDOUT_FILENO))
		fputs(CLEAR, stdout);
	print_rows(r, PROCESS, "process");
	putchar('\n');
	print_rows(r, FILES, "file");
	if (r->lost)
		printf("\n%llu requests came too fast to be looked at, and are not in these "
		       "figures\n",
			(unsigned long long)r->lost);
}

static void put_rows(
	struct json *j, const struct report_of_interval *r, enum kind kind, const char *name)
{
	json_begin(j, name, '[');
	for (unsigned i = 0; i < r->n; i++) {
		const struct row *row = &r->row[i];

		if (row->kind != kind)
			continue;
		json_begin(j, NULL, '{');
		if (kind == PROCESS) {
			json_number(j, "pid", row->pid);
			json_text(j, "comm", row->name);
		} else if (kind == FILES) {
			json_text(j, "path", row->name);
		}
		json_number(j, "requests", row->requests);
		json_number(j, "rpcs", row->rpcs);
		json_number(j, "read_bytes", row->read);
		json_number(j, "written_bytes", row->written);
		json_seconds(j, "seconds", row->ns);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void print_json(const struct report_of_interval *r)
{
	struct json j = {.out = stdout};

	json_begin(&j, NULL, '{');
	json_seconds(&j, "interval_seconds", r->ms * 1000000);
	json_number(&j, "lost", r->lost);
	put_rows(&j, r, TOTAL, "total");
	put_rows(&j, r, PROCESS, "processes");
	put_rows(&j, r, FILES, "files");
	json_end(&j, '}');
	putchar('\n');
}

static void run(const struct mounts *all, const struct arguments *a, struct err *e)
{
	static struct report_of_interval r;
	struct contact c;
	struct ask ask;

	ask_init(&ask, ASK_TOP);
	ask.interval_ms = a->seconds * 1000;
	ask.rows = ROWS;
	if (mounts_ask(all, a->mount, &ask, &c, e))
		return;
	for (unsigned i = 0; !a->count || i < a->count; i++) {
		if (read_report(&c, (int)ask.interval_ms + GRACE_MS, &r, e))
			break;
		if (a->json)
			print_json(&r);
		else
			print_text(&r);
		if (fflush(stdout))
			break;
		if (!a->json && i + 1 != a->count && !isatty(STDOUT_FILENO))
			putchar('\n');
	}
	contact_close(&c);
}

int top_main(int argc, char **argv)
{
	struct arguments a;
	struct err e = {0};
	struct mounts all;

	if (!parse(&a, argc, argv))
		return usage();
	if (!mounts_find(&all, true, &e))
		run(&all, &a, &e);
	mounts_free(&all);
	if (e.kind)
		fprintf(stderr, "rnfs: %s\n", e.msg);
	return e.kind == ERR_USAGE ? 2 : e.kind || fflush(stdout) ? 1 : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stat: `rnfs stat`, the counters and times of a mount.
 */
#include "cli/stat.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/metrics.h"
#include "cli/mounts.h"

#define HEAD_LINES 20u /* of rates under one head */
#define WATCH_MAX  86400

enum form {
	TEXT,
	JSON,
	METRICS,
};

struct arguments {
	enum form form;
	unsigned watch_s; /* 0: once */
	const char *mount;
};

struct sample {
	struct report report;
	struct report_ops requests, operations;
};

static int usage(void)
{
	fprintf(stderr,
		"rnfs: the command line is rnfs stat [--watch[=SECONDS]] [--json] [MOUNT], or "
		"rnfs stat --prometheus [MOUNT]\n");
	return 2;
}

static bool parse(struct arguments *a, int argc, char **argv)
{
	static const struct option longs[] = {
		{"watch", optional_argument, NULL, 'w'},
		{"json", no_argument, NULL, 'j'},
		{"prometheus", no_argument, NULL, 'p'},
		{0},
	};
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		char *end = NULL;
		long s = 1;

		if (c == 'j' || c == 'p') {
			if (a->form != TEXT)
				return false;
			a->form = c == 'j' ? JSON : METRICS;
			continue;
		}
		if (c != 'w')
			return false;
		if (optarg)
			s = strtol(optarg, &end, 10);
		if ((end && (*end || end == optarg)) || s < 1 || s > WATCH_MAX)
			return false;
		a->watch_s = (unsigned)s;
	}
	a->mount = argv[optind]; /* NULL at the end */
	return argc - optind <= 1 && !(a->watch_s && a->form == METRICS);
}

static int read_sample(
	const struct mounts *all, const struct arguments *a, struct sample *s, struct err *e)
{
	struct ask ask;
	struct contact c;

	ask_init(&ask, ASK_STAT);
	s->report.requests = &s->requests;
	s->report.operations = &s->operations;
	report_clear(&s->report);
	return mounts_ask(all, a->mount, &ask, &c, e) || mounts_read(&c, &s->report, e) ? -1 : 0;
}

static void print(const struct arguments *a, const struct report *r)
{
	if (a->form == JSON)
		stat_json(r, stdout);
	else if (a->form == METRICS)
		metrics_write(r, stdout);
	else
		stat_text(r, stdout);
}

/* Returns when the daemon has gone, or no process reads on. */
static void watch(const struct mounts *all, const struct arguments *a, struct err *e)
{
	static struct sample samples[2];
	struct sample *now = &samples[0], *before = &samples[1];

	for (unsigned line = 0; !read_sample(all, a, now, e); line++) {
		struct sample *other = before;

		if (a->form == JSON)
			stat_json(&now->report, stdout);
		else if (line)
			stat_rates(&before->report, &now->report, line % HEAD_LINES == 1, stdout);
		if (fflush(stdout))
			return;
		before = now;
		now = other;
		nanosleep(&(struct timespec){.tv_sec = a->watch_s}, NULL);
	}
}

int stat_main(int argc, char **argv)
{
	static struct sample once;
	struct arguments a = {0};
	struct err e = {0};
	struct mounts all;

	if (!parse(&a, argc, argv))
		return usage();
	if (!mounts_find(&all, true, &e)) {
		if (a.watch_s)
			watch(&all, &a, &e);
		else if (!read_sample(&all, &a, &once, &e))
			print(&a, &once.report);
	}
	mounts_free(&all);
	if (e.kind)
		fprintf(stderr, "rnfs: %s\n", e.msg);
	return e.kind == ERR_USAGE ? 2 : e.kind || fflush(stdout) ? 1 : 0;
}

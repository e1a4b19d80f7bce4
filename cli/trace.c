/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * trace: `rnfs trace`, each request of a mount as it ends.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/human.h"
#include "cli/mounts.h"
#include "transport/quote.h"

#define SLOW_MAX_MS 3600000ul

struct event {
	uint64_t wall_us, pid, offset, length, bytes, error, ns, rpcs;
	const char *comm, *operation, *path;
};

static int usage(void)
{
	fprintf(stderr,
		"rnfs: the command line is rnfs trace [--errors] [--slow MILLISECONDS] [MOUNT]\n");
	return 2;
}

static bool parse(struct ask *a, const char **mount, int argc, char **argv)
{
	static const struct option longs[] = {
		{"errors", no_argument, NULL, 'e'},
		{"slow", required_argument, NULL, 's'},
		{0},
	};
	int c;

	optind = 0;
	opterr = 0;
	ask_init(a, ASK_TRACE);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		unsigned long ms;
		char *end;

		if (c == 'e') {
			a->errors = 1;
			continue;
		}
		if (c != 's' || *optarg < '0' || *optarg > '9')
			return false;
		ms = strtoul(optarg, &end, 10);
		if (*end || ms > SLOW_MAX_MS)
			return false;
		a->slow_us = (unsigned)(ms * 1000);
	}
	*mount = argv[optind];
	return argc - optind <= 1;
}

static bool read_event(char *line, struct event *e)
{
	if (!word_number(&line, &e->wall_us) || !word_number(&line, &e->pid))
		return false;
	e->comm = word_next(&line);
	e->operation = word_next(&line);
	e->path = word_next(&line);
	return e->path && word_number(&line, &e->offset) && word_number(&line, &e->length) &&
	       word_number(&line, &e->bytes) && word_number(&line, &e->error) &&
	       word_number(&line, &e->ns) && word_number(&line, &e->rpcs);
}

static void print_result(const struct event *e)
{
	const char *name = e->error < 4096 ? strerrorname_np((int)e->error) : NULL;

	if (e->error && name)
		printf(" = %s", name);
	else if (e->error)
		printf(" = error %llu", (unsigned long long)e->error);
	else
		printf(" = %llu", (unsigned long long)e->bytes);
}

static void print_event(const struct event *e)
{
	time_t s = (time_t)(e->wall_us / 1000000);
	char clock[16] = "", comm[64], operation[32], path[1024], took[HUMAN_MAX];
	struct tm tm;

	if (localtime_r(&s, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	quote_line(comm, sizeof(comm), e->comm);
	quote_line(operation, sizeof(operation), e->operation);
	quote_line(path, sizeof(path), e->path);
	printf("%s.%03u ", clock, (unsigned)(e->wall_us / 1000 % 1000));
	if (e->pid)
		printf("%llu %s", (unsigned long long)e->pid, comm);
	else
		printf("-");
	printf(" %s %s", operation, path);
	if (e->length)
		printf(" %llu+%llu", (unsigned long long)e->offset, (unsigned long long)e->length);
	print_result(e);
	printf(" %s", human_time(took, e->ns));
	if (e->rpcs)
		printf(" %llu call%s", (unsigned long long)e->rpcs, e->rpcs == 1 ? "" : "s");
	putchar('\n');
}

/* False: the line cannot be understood. */
static bool print_line(char *line)
{
	char *word = word_next(&line);
	struct event e;
	uint64_t n;

	if (word && !strcmp(word, "lost")) {
		if (!word_number(&line, &n))
			return false;
		printf("... %llu requests came too fast and are not shown\n",
			(unsigned long long)n);
		return true;
	}
	if (!word || strcmp(word, "event") != 0)
		return word;
	if (!read_event(line, &e))
		return false;
	print_event(&e);
	return true;
}

static void run(const struct mounts *all, const struct ask *a, const char *mount, struct err *e)
{
	struct contact c;
	char *line;

	if (mounts_ask(all, mount, a, &c, e))
		return;
	while ((line = contact_line(&c, -1, e))) {
		if (!print_line(line)) {
			err_set(e, ERR_PROTOCOL, "the daemon's answer cannot be understood");
			break;
		}
		/* prints further received lines first */
		if (!memchr(c.buf + c.at, '\n', c.len - c.at) && fflush(stdout))
			break;
	}
	contact_close(&c);
}

int trace_main(int argc, char **argv)
{
	struct err e = {0};
	struct mounts all;
	const char *mount;
	struct ask a;

	if (!parse(&a, &mount, argc, argv))
		return usage();
	if (!mounts_find(&all, true, &e))
		run(&all, &a, mount, &e);
	mounts_free(&all);
	fflush(stdout);
	if (e.kind)
		fprintf(stderr, "rnfs: %s\n", e.msg);
	return e.kind == ERR_USAGE ? 2 : e.kind || ferror(stdout) ? 1 : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stat: a report for people.
 */
#include "cli/stat.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/human.h"
#include "transport/quote.h"

/* Texts for numbers; each call in a line has a buffer of its own. */
#define BYTES(n) human_bytes((char[HUMAN_MAX]){0}, (double)(n))
#define COUNT(n) human_count((char[HUMAN_MAX]){0}, (double)(n))
#define TIME(ns) human_time((char[HUMAN_MAX]){0}, (ns))
#define AGE(ms)	 human_age((char[HUMAN_MAX]){0}, (ms))

static void print_head(const struct report *r, FILE *out)
{
	char source[REPORT_TEXT_MAX], mountpoint[REPORT_TEXT_MAX];
	const char *dialect = r->text[REPORT_DIALECT];

	quote_line(source, sizeof(source), r->text[REPORT_SOURCE]);
	quote_line(mountpoint, sizeof(mountpoint), r->text[REPORT_MOUNTPOINT]);
	fprintf(out, "%s on %s: NFS %.16s over %.16s", source, mountpoint, r->text[REPORT_NFS],
		r->text[REPORT_TRANSPORT]);
	if (*dialect)
		fprintf(out, " (RPC-over-RDMA version %.16s)", dialect);
	fprintf(out, ", for %s\n", AGE(r->number[REPORT_UP_MS]));
	switch (report_state(r)) {
	case REPORT_OK:
		break;
	case REPORT_SLOW:
		fprintf(out, "A request has waited for %s.\n", AGE(report_state_ms(r)));
		break;
	case REPORT_DISCONNECTED:
		fprintf(out, "There has been no connection to the server for %s.\n",
			AGE(report_state_ms(r)));
		break;
	case REPORT_SILENT:
		fprintf(out, "The server has not answered for %s.\n", AGE(report_state_ms(r)));
		break;
	}
}

/* Puts larger total times first. */
static int by_time(const void *a, const void *b)
{
	const struct report_op *one = *(const struct report_op *const *)a;
	const struct report_op *two = *(const struct report_op *const *)b;

	if (one->time.sum_ns != two->time.sum_ns)
		return one->time.sum_ns < two->time.sum_ns ? 1 : -1;
	return strcmp(one->name, two->name);
}

static unsigned sorted(const struct report_ops *ops, const struct report_op *list[REPORT_OPS])
{
	for (unsigned i = 0; i < ops->n; i++)
		list[i] = &ops->of[i];
	qsort(list, ops->n, sizeof(list[0]), by_time);
	return ops->n;
}

static void print_times(const struct histogram *h, FILE *out)
{
	fprintf(out, " %7s %7s %7s %7s %7s\n", TIME(histogram_mean(h)),
		TIME(histogram_percentile(h, 500)), TIME(histogram_percentile(h, 900)),
		TIME(histogram_percentile(h, 990)), TIME(h->max_ns));
}

static void print_requests(const struct report_ops *ops, FILE *out)
{
	const struct report_op *list[REPORT_OPS];
	unsigned n = sorted(ops, list);

	fprintf(out, "\n%-16s %7s %7s %7s %6s %6s %7s %7s %7s %7s %7s\n", "requests", "count",
		"errors", "bytes", "calls", "trips", "mean", "p50", "p90", "p99", "max");
	for (unsigned i = 0; i < n; i++) {
		const struct report_op *op = list[i];
		double count = (double)histogram_count(&op->time);

		fprintf(out, "%-16.23s %7s %7s %7s %6.2f %6.2f", op->name, COUNT(count),
			COUNT(op->errors), BYTES(op->bytes), (double)op->rpcs / count,
			(double)op->waits / count);
		print_times(&op->time, out);
	}
}

static void print_operations(const struct report_ops *ops, FILE *out)
{
	const struct report_op *list[REPORT_OPS];
	unsigned n = sorted(ops, list);

	fprintf(out, "\n%-16s %7s %7s %7s %6s %6s %7s %7s %7s %7s %7s\n", "operations", "count",
		"errors", "bytes", "calls", "queue", "mean", "p50", "p90", "p99", "max");
	for (unsigned i = 0; i < n; i++) {
		const struct report_op *op = list[i];
		double count = (double)histogram_count(&op->time);

		fprintf(out, "%-16.23s %7s %7s %7s %6.2f %6s", op->name, COUNT(count),
			COUNT(op->errors), BYTES(op->bytes), (double)op->rpcs / count,
			TIME(histogram_mean(&op->queue)));
		print_times(&op->time, out);
	}
}

static void print_paths(const struct report *r, FILE *out)
{
	fprintf(out, "\n%-16s %7s %7s %7s %7s %9s %10s %7s %7s %7s %9s  %s\n", "connections",
		"calls", "replies", "way", "credits", "time-outs", "reconnects", "placed", "copied",
		"exposed", "pulled up", "server");
	for (unsigned i = 0; i < r->npaths; i++) {
		const uint64_t *n = r->path[i].number;
		const char *server = r->path[i].server;

		fprintf(out, "%-2u %-13s %7s %7s %7s %7llu %9s %10s %7s %7s %7s %9s%s%s\n", i + 1,
			n[REPORT_PATH_UP] ? "up" : "lost", COUNT(n[REPORT_PATH_CALLS]),
			COUNT(n[REPORT_PATH_REPLIES]), COUNT(n[REPORT_PATH_UNDER_WAY]),
			(unsigned long long)n[REPORT_PATH_CREDITS], COUNT(n[REPORT_PATH_TIMEOUTS]),
			COUNT(n[REPORT_PATH_RECONNECTS]), BYTES(n[REPORT_PATH_PLACED]),
			BYTES(n[REPORT_PATH_COPIED]), BYTES(n[REPORT_PATH_EXPOSED]),
			BYTES(n[REPORT_PATH_PULLED_UP]), server[0] ? "  " : "", server);
		if (r->path[i].why[0])
			fprintf(out, "   %s\n", r->path[i].why);
	}
}

static void print_numbers(const struct report *r, FILE *out)
{
	const uint64_t *n = r->number;
	uint64_t hits = n[REPORT_CACHE_HITS];
	uint64_t reads = hits + n[REPORT_CACHE_JOINED] + n[REPORT_CACHE_MISSES];

	fprintf(out, "\nread    %s placed, %s copied; written %s from where it was, %s copied\n",
		BYTES(n[REPORT_PLACED]), BYTES(n[REPORT_COPIED]), BYTES(n[REPORT_EXPOSED]),
		BYTES(n[REPORT_PULLED_UP]));
	fprintf(out,
		"cache   %s of %s used; of %s reads %.0f %% found, %s waited for a READ ahead; %s "
		"READs, %s blocks evicted, %s never read\n",
		BYTES(n[REPORT_CACHE_USED]), BYTES(n[REPORT_CACHE_LIMIT]), COUNT(reads),
		reads ? 100 * (double)hits / (double)reads : 0, COUNT(n[REPORT_CACHE_JOINED]),
		COUNT(n[REPORT_CACHE_FETCHES]), COUNT(n[REPORT_CACHE_EVICTED]),
		COUNT(n[REPORT_CACHE_WASTED]));
	fprintf(out,
		"writes  %s not yet safe; %s gathered, %s times sent again, %s times no room\n",
		BYTES(n[REPORT_DIRTY]), BYTES(n[REPORT_GATHERED]), COUNT(n[REPORT_REWRITTEN]),
		COUNT(n[REPORT_WRITE_FULL]));
	fprintf(out, "memory  %s used, %s mapped of %s; waited for %s times\n",
		BYTES(n[REPORT_MEMORY_USED]), BYTES(n[REPORT_MEMORY_MAPPED]),
		BYTES(n[REPORT_MEMORY_LIMIT]), COUNT(n[REPORT_STARVED]));
	fprintf(out, "server  ");
	if (r->npaths)
		fprintf(out, "%llu of %llu connections up; ",
			(unsigned long long)n[REPORT_CONNECTIONS_UP],
			(unsigned long long)n[REPORT_CONNECTIONS]);
	fprintf(out,
		"%s calls, %s under way, %llu credits, %llu slots; %s reconnects, %s "
		"time-outs, %s callbacks\n",
		COUNT(n[REPORT_CALLS]), COUNT(n[REPORT_UNDER_WAY]),
		(unsigned long long)n[REPORT_CREDITS], (unsigned long long)n[REPORT_SLOTS],
		COUNT(n[REPORT_RECONNECTS]), COUNT(n[REPORT_TIMEOUTS]), COUNT(n[REPORT_CALLBACKS]));
	fprintf(out,
		"files   %s known, %s open, %s opened by delegation; %s changes by other clients, "
		"%s requests killed\n",
		COUNT(n[REPORT_INODES]), COUNT(n[REPORT_OPEN_FILES]), COUNT(n[REPORT_DELEGATED]),
		COUNT(n[REPORT_FOREIGN]), COUNT(n[REPORT_INTERRUPTED]));
}

void stat_text(const struct report *r, FILE *out)
{
	print_head(r, out);
	if (r->requests->n)
		print_requests(r->requests, out);
	if (r->operations->n)
		print_operations(r->operations, out);
	if (r->npaths)
		print_paths(r, out);
	print_numbers(r, out);
}

/* --- rates ------------------------------------------------------------------------------------ */

static void add(struct histogram *sum, const struct histogram *h)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum->n[i] += h->n[i];
	sum->sum_ns += h->sum_ns;
}

static struct histogram all_times(const struct report_ops *ops)
{
	struct histogram sum = {0};

	for (unsigned i = 0; i < ops->n; i++)
		add(&sum, &ops->of[i].time);
	return sum;
}

static uint64_t bytes_of(const struct report *r, const char *name)
{
	const struct report_op *op = report_find(r->requests, name);

	return op ? op->bytes : 0;
}

void stat_rates(const struct report *before, const struct report *now, bool head, FILE *out)
{
	const uint64_t *b = before->number, *n = now->number;
	double s = (double)(n[REPORT_UP_MS] - b[REPORT_UP_MS]) / 1000;
	struct histogram requests = all_times(now->requests), was = all_times(before->requests);
	struct histogram operations = all_times(now->operations);
	uint64_t hits = n[REPORT_CACHE_HITS] - b[REPORT_CACHE_HITS];
	uint64_t reads = hits + n[REPORT_CACHE_JOINED] - b[REPORT_CACHE_JOINED] +
			 n[REPORT_CACHE_MISSES] - b[REPORT_CACHE_MISSES];
	char clock[16];
	time_t t = time(NULL);

	s = s > 0 ? s : 1;
	histogram_subtract(&requests, &was);
	was = all_times(before->operations);
	histogram_subtract(&operations, &was);
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&t));
	if (head)
		fprintf(out, "%8s %7s %7s %7s %5s %7s %7s %7s %7s %7s %7s %7s %5s\n", "time",
			"req/s", "read/s", "write/s", "hit%", "p50", "p99", "calls/s", "p50", "p99",
			"dirty", "way", "state");
	fprintf(out, "%8s %7s %7s %7s %5.0f %7s %7s %7s %7s %7s %7s %7s %5s\n", clock,
		COUNT((double)histogram_count(&requests) / s),
		BYTES((double)(bytes_of(now, "READ") - bytes_of(before, "READ")) / s),
		BYTES((double)(bytes_of(now, "WRITE") - bytes_of(before, "WRITE")) / s),
		reads ? 100 * (double)hits / (double)reads : 0,
		TIME(histogram_percentile(&requests, 500)),
		TIME(histogram_percentile(&requests, 990)),
		COUNT((double)(n[REPORT_CALLS] - b[REPORT_CALLS]) / s),
		TIME(histogram_percentile(&operations, 500)),
		TIME(histogram_percentile(&operations, 990)), BYTES(n[REPORT_DIRTY]),
		COUNT(n[REPORT_UNDER_WAY]), report_state_name(report_state(now)));
}

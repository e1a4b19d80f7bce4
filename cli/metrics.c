/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * metrics: a report in Prometheus's text format.
 */
#include "cli/metrics.h"

#include <inttypes.h>
#include <stddef.h>

#include "cli/utf8.h"

#define FIRST_BUCKET 2u /* the first written bucket: up to 2^12 ns */
#define LAST_BUCKET  26u
#define BUCKET_STEP  2u

/* The type of a number. */
enum kind {
	GAUGE,
	GAUGE_MS, /* a gauge of seconds, from milliseconds */
	COUNTER,
};

static const struct metric {
	enum report_number number;
	enum kind kind;
	const char *name, *help;
} metrics[] = {
	{REPORT_UP_MS, GAUGE_MS, "up_seconds", "Time since the mount was made."},
	{REPORT_SILENT_MS, GAUGE_MS, "server_silent_seconds",
		"For how long the server has not answered; 0 if it does."},
	{REPORT_LOST_MS, GAUGE_MS, "connection_lost_seconds",
		"For how long there has been no connection to the server; 0 if there is one."},
	{REPORT_OLDEST_MS, GAUGE_MS, "oldest_request_seconds",
		"Age of the oldest request of a program that has no answer; locks do not count."},
	{REPORT_CALLS, COUNTER, "rpc_calls_total", "RPC calls made."},
	{REPORT_REPLIES, COUNTER, "rpc_replies_total", "RPC replies received."},
	{REPORT_CALLBACKS, COUNTER, "rpc_callbacks_total",
		"RPC calls of the server to this client."},
	{REPORT_UNDER_WAY, GAUGE, "rpc_calls_under_way", "RPC calls without an answer."},
	{REPORT_TIMEOUTS, COUNTER, "rpc_timeouts_total",
		"RPC calls that were not answered in time."},
	{REPORT_RECONNECTS, COUNTER, "reconnects_total", "Connections made in place of lost ones."},
	{REPORT_CONNECTIONS, GAUGE, "connections", "Connections that the mount has made."},
	{REPORT_CONNECTIONS_UP, GAUGE, "connections_up", "Connections that are up."},
	{REPORT_CREDITS, GAUGE, "credits",
		"RPC calls that the server lets be under way; 0 for TCP."},
	{REPORT_SLOTS, GAUGE, "session_slots", "Slots of the NFSv4 session; 0 for NFSv3."},
	{REPORT_PLACED, COUNTER, "read_placed_bytes_total",
		"Bytes of READ data received straight to their place."},
	{REPORT_COPIED, COUNTER, "read_copied_bytes_total",
		"Bytes of READ data copied to their place."},
	{REPORT_EXPOSED, COUNTER, "write_exposed_bytes_total",
		"Bytes of WRITE data sent from where they were."},
	{REPORT_PULLED_UP, COUNTER, "write_copied_bytes_total",
		"Bytes of WRITE data copied into messages."},
	{REPORT_CACHE_USED, GAUGE, "cache_used_bytes", "File data in the cache."},
	{REPORT_CACHE_LIMIT, GAUGE, "cache_limit_bytes", "Most file data that the cache may hold."},
	{REPORT_CACHE_HITS, COUNTER, "cache_hits_total", "Reads answered from the cache at once."},
	{REPORT_CACHE_JOINED, COUNTER, "cache_joined_total",
		"Reads that waited for data on its way to the cache."},
	{REPORT_CACHE_MISSES, COUNTER, "cache_misses_total",
		"Reads that the server was asked for."},
	{REPORT_CACHE_FETCHES, COUNTER, "cache_fetches_total",
		"READs into the cache, most of them ahead of a reader."},
	{REPORT_CACHE_EVICTED, COUNTER, "cache_evicted_total", "Blocks evicted from the cache."},
	{REPORT_CACHE_WASTED, COUNTER, "cache_wasted_total",
		"Blocks evicted that were never read."},
	{REPORT_DIRTY, GAUGE, "dirty_bytes",
		"Written data that is not known to be on the server's stable storage."},
	{REPORT_GATHERED, COUNTER, "gathered_bytes_total", "Written data that was sent later."},
	{REPORT_REWRITTEN, COUNTER, "rewritten_total",
		"Times that data was sent again because the server had lost it."},
	{REPORT_WRITE_FULL, COUNTER, "write_full_total", "Writes that found no room."},
	{REPORT_MEMORY_USED, GAUGE, "memory_used_bytes", "Memory in use for messages and data."},
	{REPORT_MEMORY_MAPPED, GAUGE, "memory_mapped_bytes",
		"Memory taken from the system for messages and data."},
	{REPORT_MEMORY_LIMIT, GAUGE, "memory_limit_bytes",
		"Most memory that may be taken for messages and data."},
	{REPORT_INODES, GAUGE, "inodes", "Files and directories that the kernel knows."},
	{REPORT_OPEN_FILES, GAUGE, "open_files", "Open files."},
	{REPORT_INTERRUPTED, COUNTER, "interrupted_total",
		"Requests given up because their process was killed."},
	{REPORT_STARVED, COUNTER, "starved_total", "Times that a request waited for memory."},
	{REPORT_FOREIGN, COUNTER, "foreign_changes_total", "Changes of files by other clients."},
	{REPORT_DELEGATED, COUNTER, "delegated_opens_total", "Opens without asking the server."},
};

/* A label's value: text in which \, " and line feeds are escaped. */
static void put_value(const char *text, FILE *out)
{
	while (*text) {
		unsigned n = utf8_character(text);

		if (!n)
			fputs(UTF8_UNKNOWN, out);
		else if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

static void put_head(const char *name, const char *type, const char *help, FILE *out)
{
	fprintf(out, "# HELP rnfs_%s %s\n# TYPE rnfs_%s %s\n", name, help, name, type);
}

/* The name and the label of the mount; the caller adds more labels, and "} VALUE\n". */
static void put_sample(const struct report *r, const char *name, const char *suffix, FILE *out)
{
	fprintf(out, "rnfs_%s%s{mountpoint=\"", name, suffix);
	put_value(r->text[REPORT_MOUNTPOINT], out);
	fputc('"', out);
}

static void put_seconds(uint64_t ns, FILE *out)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
}

static void write_info(const struct report *r, FILE *out)
{
	static const struct {
		enum report_text text;
		const char *label;
	} labels[] = {
		{REPORT_SOURCE, "source"},
		{REPORT_NFS, "nfs"},
		{REPORT_TRANSPORT, "transport"},
		{REPORT_PROVIDER, "provider"},
		{REPORT_DIALECT, "rpc_over_rdma"},
		{REPORT_PROGRAM, "version"},
	};

	put_head("mount_info", "gauge", "Always 1; the labels tell what was negotiated.", out);
	put_sample(r, "mount_info", "", out);
	for (unsigned i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		fprintf(out, ",%s=\"", labels[i].label);
		put_value(r->text[labels[i].text], out);
		fputc('"', out);
	}
	fputs("} 1\n", out);
}

static const char *type_of(const struct metric *m)
{
	return m->kind == COUNTER ? "counter" : "gauge";
}

static void write_numbers(const struct report *r, FILE *out)
{
	for (unsigned i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		const struct metric *m = &metrics[i];
		uint64_t n = r->number[m->number];

		put_head(m->name, type_of(m), m->help, out);
		put_sample(r, m->name, "", out);
		fputs("} ", out);
		if (m->kind == GAUGE_MS)
			fprintf(out, "%" PRIu64 ".%03" PRIu64 "\n", n / 1000, n % 1000);
		else
			fprintf(out, "%" PRIu64 "\n", n);
	}
}

/* The metric of one connection that which is. */
static const struct metric *path_metric(enum report_path_number which)
{
	static const struct metric up = {
		.kind = GAUGE, .name = "up", .help = "1 if the connection is up, 0 if it is lost."};
	unsigned i = 0;

	if (which == REPORT_PATH_UP)
		return &up;
	while (metrics[i].number != report_path_total(which))
		i++;
	return &metrics[i];
}

static void write_paths(const struct report *r, FILE *out)
{
	for (unsigned which = 0; which < REPORT_PATH_NUMBERS; which++) {
		const struct metric *m = path_metric(which);
		char name[64];

		snprintf(name, sizeof(name), "connection_%s", m->name);
		put_head(name, type_of(m), m->help, out);
		for (unsigned i = 0; i < r->npaths; i++) {
			put_sample(r, name, "", out);
			fprintf(out, ",connection=\"%u\"} %" PRIu64 "\n", i + 1,
				r->path[i].number[which]);
		}
	}
}

static void put_op(
	const struct report *r, const char *name, const char *suffix, const char *op, FILE *out)
{
	put_sample(r, name, suffix, out);
	fputs(",operation=\"", out);
	put_value(op, out);
	fputc('"', out);
}

static void write_histogram(const struct report *r, const char *name, const char *op,
	const struct histogram *h, FILE *out)
{
	uint64_t count = 0;
	unsigned next = 0;

	for (unsigned i = FIRST_BUCKET; i <= LAST_BUCKET; i += BUCKET_STEP) {
		while (next <= i)
			count += h->n[next++];
		put_op(r, name, "_bucket", op, out);
		fputs(",le=\"", out);
		put_seconds(histogram_end(i), out);
		fprintf(out, "\"} %" PRIu64 "\n", count);
	}
	while (next < HISTOGRAM_BUCKETS)
		count += h->n[next++];
	put_op(r, name, "_bucket", op, out);
	fprintf(out, ",le=\"+Inf\"} %" PRIu64 "\n", count);
	put_op(r, name, "_sum", op, out);
	fputs("} ", out);
	put_seconds(h->sum_ns, out);
	fputc('\n', out);
	put_op(r, name, "_count", op, out);
	fprintf(out, "} %" PRIu64 "\n", count);
}

/* Writes one counter of each op: the member `at` bytes behind the beginning of the op. */
static void write_counter(const struct report *r, const struct report_ops *ops, const char *name,
	const char *help, size_t at, FILE *out)
{
	put_head(name, "counter", help, out);
	for (unsigned i = 0; i < ops->n; i++) {
		const char *op = (const char *)&ops->of[i];

		put_op(r, name, "", ops->of[i].name, out);
		fprintf(out, "} %" PRIu64 "\n", *(const uint64_t *)(op + at));
	}
}

static void write_times(const struct report *r, const struct report_ops *ops, const char *name,
	const char *help, bool queue, FILE *out)
{
	put_head(name, "histogram", help, out);
	for (unsigned i = 0; i < ops->n; i++)
		write_histogram(r, name, ops->of[i].name,
			queue ? &ops->of[i].queue : &ops->of[i].time, out);
}

void metrics_write(const struct report *r, FILE *out)
{
	const struct report_ops *ops = r->requests;

	write_info(r, out);
	write_numbers(r, out);
	if (r->npaths)
		write_paths(r, out);
	if (ops) {
		write_times(r, ops, "request_duration_seconds",
			"Time from a request of a program's to its answer.", false, out);
		write_counter(r, ops, "request_errors_total", "Requests answered with an error.",
			offsetof(struct report_op, errors), out);
		write_counter(r, ops, "request_bytes_total", "File data of requests.",
			offsetof(struct report_op, bytes), out);
		write_counter(r, ops, "request_rpcs_total", "RPC calls made for requests.",
			offsetof(struct report_op, rpcs), out);
		write_counter(r, ops, "request_round_trips_total",
			"Round trips that requests waited for, one after the other.",
			offsetof(struct report_op, waits), out);
	}
	ops = r->operations;
	if (!ops)
		return;
	write_times(r, ops, "operation_duration_seconds",
		"Time from an operation's first call to its end.", false, out);
	write_times(r, ops, "operation_queue_seconds",
		"Time until an operation's first call was sent.", true, out);
	write_counter(r, ops, "operation_errors_total", "Operations that ended with an error.",
		offsetof(struct report_op, errors), out);
	write_counter(r, ops, "operation_bytes_total", "File data of operations.",
		offsetof(struct report_op, bytes), out);
	write_counter(r, ops, "operation_rpcs_total",
		"RPC calls made for operations, repetitions included.",
		offsetof(struct report_op, rpcs), out);
}

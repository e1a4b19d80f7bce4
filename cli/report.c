/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * report: the state of a daemon and its mount, as a daemon sends it to a command.
 */
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
	[REPORT_CALLS] = "calls",
	[REPORT_REPLIES] = "replies",
	[REPORT_CALLBACKS] = "callbacks",
	[REPORT_UNDER_WAY] = "under_way",
	[REPORT_TIMEOUTS] = "timeouts",
	[REPORT_RECONNECTS] = "reconnects",
	[REPORT_CONNECTIONS] = "connections",
	[REPORT_CONNECTIONS_UP] = "connections_up",
	[REPORT_CREDITS] = "credits",
	[REPORT_SLOTS] = "slots",
	[REPORT_RSIZE] = "rsize",
	[REPORT_WSIZE] = "wsize",
	[REPORT_LEASE_S] = "lease_s",
	[REPORT_PLACED] = "placed_bytes",
	[REPORT_COPIED] = "copied_bytes",
	[REPORT_EXPOSED] = "exposed_bytes",
	[REPORT_PULLED_UP] = "pulled_up_bytes",
	[REPORT_CACHE_USED] = "cache_used_bytes",
	[REPORT_CACHE_LIMIT] = "cache_limit_bytes",
	[REPORT_CACHE_HITS] = "cache_hits",
	[REPORT_CACHE_JOINED] = "cache_joined",
	[REPORT_CACHE_MISSES] = "cache_misses",
	[REPORT_CACHE_FETCHES] = "cache_fetches",
	[REPORT_CACHE_EVICTED] = "cache_evicted",
	[REPORT_CACHE_WASTED] = "cache_wasted",
	[REPORT_DIRTY] = "dirty_bytes",
	[REPORT_GATHERED] = "gathered_bytes",
	[REPORT_REWRITTEN] = "rewritten",
	[REPORT_WRITE_FULL] = "write_full",
	[REPORT_MEMORY_USED] = "memory_used_bytes",
	[REPORT_MEMORY_MAPPED] = "memory_mapped_bytes",
	[REPORT_MEMORY_LIMIT] = "memory_limit_bytes",
	[REPORT_INODES] = "inodes",
	[REPORT_OPEN_FILES] = "open_files",
	[REPORT_INTERRUPTED] = "interrupted",
	[REPORT_STARVED] = "starved",
	[REPORT_FOREIGN] = "foreign_changes",
	[REPORT_DELEGATED] = "delegated_opens",
};

const char *report_number_name(enum report_number which)
{
	return numbers[which];
}

enum report_number report_path_total(enum report_path_number which)
{
	static const enum report_number total[REPORT_PATH_NUMBERS] = {
		[REPORT_PATH_UP] = REPORT_CONNECTIONS_UP,
		[REPORT_PATH_CALLS] = REPORT_CALLS,
		[REPORT_PATH_REPLIES] = REPORT_REPLIES,
		[REPORT_PATH_UNDER_WAY] = REPORT_UNDER_WAY,
		[REPORT_PATH_TIMEOUTS] = REPORT_TIMEOUTS,
		[REPORT_PATH_RECONNECTS] = REPORT_RECONNECTS,
		[REPORT_PATH_CREDITS] = REPORT_CREDITS,
		[REPORT_PATH_PLACED] = REPORT_PLACED,
		[REPORT_PATH_COPIED] = REPORT_COPIED,
		[REPORT_PATH_EXPOSED] = REPORT_EXPOSED,
		[REPORT_PATH_PULLED_UP] = REPORT_PULLED_UP,
	};

	return total[which];
}

const char *report_path_name(enum report_path_number which)
{
	return which == REPORT_PATH_UP ? "up" : numbers[report_path_total(which)];
}

void report_clear(struct report *r)
{
	memset(r->text, 0, sizeof(r->text));
	memset(r->number, 0, sizeof(r->number));
	memset(r->path, 0, sizeof(r->path));
	r->npaths = 0;
	if (r->requests)
		memset(r->requests, 0, sizeof(*r->requests));
	if (r->operations)
		memset(r->operations, 0, sizeof(*r->operations));
}

struct report_op *report_add(struct report_ops *ops, const char *name)
{
	struct report_op *op;

	if (ops->n == REPORT_OPS)
		return NULL;
	op = &ops->of[ops->n++];
	memset(op, 0, sizeof(*op));
	snprintf(op->name, sizeof(op->name), "%s", name);
	return op;
}

const struct report_op *report_find(const struct report_ops *ops, const char *name)
{
	for (unsigned i = 0; i < ops->n; i++)
		if (!strcmp(ops->of[i].name, name))
			return &ops->of[i];
	return NULL;
}

void report_set(struct report *r, enum report_text which, const char *text)
{
	char *to = r->text[which];

	memset(to, 0, REPORT_TEXT_MAX);
	snprintf(to, REPORT_TEXT_MAX, "%s", text);
}

static void write_time(const struct histogram *h, struct words *w)
{
	words_print(w, " %llu:%llu", (unsigned long long)h->sum_ns, (unsigned long long)h->max_ns);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (h->n[i])
			words_print(w, ":%u=%llu", i, (unsigned long long)h->n[i]);
}

static void write_ops(const struct report_ops *ops, const char *kind, struct words *w)
{
	for (unsigned i = 0; ops && i < ops->n; i++) {
		const struct report_op *op = &ops->of[i];

		words_print(w, "%s", kind);
		words_add(w, op->name);
		words_print(w, " %llu %llu %llu %llu", (unsigned long long)op->errors,
			(unsigned long long)op->bytes, (unsigned long long)op->rpcs,
			(unsigned long long)op->waits);
		write_time(&op->time, w);
		write_time(&op->queue, w);
		words_print(w, "\n");
	}
}

static void write_path(const struct report_path *p, struct words *w)
{
	words_print(w, "connection");
	for (unsigned i = 0; i < REPORT_PATH_NUMBERS; i++)
		words_print(w, " %llu", (unsigned long long)p->number[i]);
	if (p->server[0] || p->why[0])
		words_add(w, p->server);
	if (p->why[0])
		words_add(w, p->why);
	words_print(w, "\n");
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
	for (unsigned i = 0; i < r->npaths; i++)
		write_path(&r->path[i], w);
	write_ops(r->requests, "request", w);
	write_ops(r->operations, "operation", w);
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

/* Reads a number at *s, and moves *s behind the number. */
static bool take(const char **s, uint64_t *n)
{
	char *end;

	if (**s < '0' || **s > '9')
		return false;
	errno = 0;
	*n = strtoull(*s, &end, 10);
	*s = end;
	return !errno;
}

static bool read_time(char **line, struct histogram *h)
{
	const char *s = word_next(line);
	uint64_t i;

	if (!s || !take(&s, &h->sum_ns) || *s++ != ':' || !take(&s, &h->max_ns))
		return false;
	while (*s++ == ':')
		if (!take(&s, &i) || i >= HISTOGRAM_BUCKETS || *s++ != '=' || !take(&s, &h->n[i]))
			return false;
	return !s[-1];
}

static bool read_op(struct report_ops *ops, char *line)
{
	char *name = word_next(&line);
	struct report_op *op;

	if (!ops)
		return true;
	op = name && strlen(name) < REPORT_OP_NAME ? report_add(ops, name) : NULL;
	if (!op)
		return false;
	if (word_number(&line, &op->errors) && word_number(&line, &op->bytes) &&
		word_number(&line, &op->rpcs) && word_number(&line, &op->waits) &&
		read_time(&line, &op->time) && read_time(&line, &op->queue))
		return true;
	memset(op, 0, sizeof(*op));
	ops->n--;
	return false;
}

static bool read_path(struct report *r, char *line)
{
	struct report_path p = {.server = ""};
	const char *server, *why;

	if (r->npaths == REPORT_PATHS)
		return false;
	for (unsigned i = 0; i < REPORT_PATH_NUMBERS; i++)
		if (!word_number(&line, &p.number[i]))
			return false;
	server = word_next(&line);
	if (server && strlen(server) < sizeof(p.server))
		strcpy(p.server, server);
	why = server ? word_next(&line) : NULL;
	if (why && strlen(why) < sizeof(p.why))
		strcpy(p.why, why);
	r->path[r->npaths++] = p;
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
	if (!strcmp(kind, "request"))
		return read_op(r->requests, line);
	if (!strcmp(kind, "operation"))
		return read_op(r->operations, line);
	if (!strcmp(kind, "connection"))
		return read_path(r, line);
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

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * busy: which processes and which files had the most requests lately.
 */
#include "fs/kernel/busy.h"

#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>

void busy_clear(struct busy *b)
{
	memset(b, 0, sizeof(*b));
}

/* The FNV-1a hash, never 0. */
static uint64_t hash_of(const char *name, pid_t pid)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ (uint64_t)pid;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3ull;
	return hash + !hash;
}

static struct busy_row *find(struct busy_row row[BUSY_ROWS], const char *name, pid_t pid)
{
	uint64_t hash = hash_of(name, pid);
	struct busy_row *least = &row[0];

	for (unsigned i = 0; i < BUSY_ROWS; i++) {
		if (row[i].hash == hash)
			return &row[i];
		if (row[i].count.requests < least->count.requests)
			least = &row[i];
	}
	memset(least, 0, sizeof(*least));
	least->hash = hash;
	least->pid = pid;
	snprintf(least->name, sizeof(least->name), "%s", name);
	return least;
}

static void add(struct busy_count *c, const struct trace_event *e)
{
	c->requests++;
	c->read += e->opcode == FUSE_READ ? e->bytes : 0;
	c->written += e->opcode == FUSE_WRITE ? e->bytes : 0;
	c->rpcs += e->rpcs;
	c->took_ns += e->took_ns;
}

void busy_add(struct busy *b, const struct trace_event *e)
{
	add(&b->total, e);
	add(&find(b->process, e->comm, e->pid)->count, e);
	add(&find(b->file, e->path, 0)->count, e);
}

static void write_count(const struct busy_count *c, struct words *w)
{
	words_print(w, " %llu %llu %llu %llu %llu\n", (unsigned long long)c->requests,
		(unsigned long long)c->read, (unsigned long long)c->written,
		(unsigned long long)c->rpcs, (unsigned long long)c->took_ns);
}

static struct busy_row *busiest(struct busy_row row[BUSY_ROWS])
{
	struct busy_row *most = &row[0];

	for (unsigned i = 1; i < BUSY_ROWS; i++)
		if (row[i].count.requests > most->count.requests)
			most = &row[i];
	return most->count.requests ? most : NULL;
}

void busy_write(struct busy *b, unsigned n, struct words *w)
{
	struct busy_row *row;

	words_print(w, "total");
	write_count(&b->total, w);
	for (unsigned i = 0; i < n && (row = busiest(b->process)); i++) {
		words_print(w, "process %d", (int)row->pid);
		words_add(w, row->name);
		write_count(&row->count, w);
		row->count.requests = 0;
	}
	for (unsigned i = 0; i < n && (row = busiest(b->file)); i++) {
		words_print(w, "file");
		words_add(w, row->name);
		write_count(&row->count, w);
		row->count.requests = 0;
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * event: makes an event of a request that is being answered.
 */
#include "fs/kernel/event.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fs/known/path.h"
#include "fs/kernel/process.h"
#include "transport/clock.h"

/* Paths in the request that this thread answers next. */
static _Thread_local struct {
	uint64_t unique; /* 0: none is known */
	char path[TRACE_PATH];
} named;

void event_names(struct fs *fs, uint64_t unique, struct inode *dir, const char *name,
	struct inode *to_dir, const char *to_name)
{
	char to[TRACE_PATH / 2];

	named.unique = unique;
	if (!to_dir) {
		path_of_name(fs, dir, name, named.path, sizeof(named.path));
		return;
	}
	path_of_name(fs, dir, name, named.path, sizeof(named.path) / 2 - 4);
	path_of_name(fs, to_dir, to_name, to, sizeof(to));
	strcat(named.path, " -> ");
	strcat(named.path, to);
}

void event_ended(struct fs *fs, const struct account_end *end)
{
	const struct account *a = &end->of;
	struct trace_event *e = trace_place(&fs->trace);

	if (!e)
		return;
	e->ended = a->born + end->took_ns;
	e->took_ns = end->took_ns;
	e->offset = a->offset;
	e->length = a->length;
	e->opcode = a->opcode;
	e->rpcs = a->rpcs;
	e->error = end->error;
	e->bytes = end->bytes;
	e->pid = process_name((pid_t)a->tid, e->comm, sizeof(e->comm));
	if (named.unique == a->unique)
		strcpy(e->path, named.path);
	else
		path_of(fs, inode_of(fs->inodes, a->node), e->path, sizeof(e->path));
	named.unique = 0;
	trace_put(e);
}

/* The time `then` of clock_ns(), in microseconds since 1970. */
static uint64_t wall_us(uint64_t then)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000 -
	       clock_age(clock_ns(), then) / 1000;
}

void event_write(const struct trace_event *e, struct words *w)
{
	const char *kind = account_name(e->opcode);

	words_print(w, "event %llu %d", (unsigned long long)wall_us(e->ended), (int)e->pid);
	words_add(w, e->comm);
	words_add(w, kind ? kind : "");
	words_add(w, e->path);
	words_print(w, " %llu %u %u %d %llu %u\n", (unsigned long long)e->offset, e->length,
		e->bytes, -e->error, (unsigned long long)e->took_ns, e->rpcs);
}

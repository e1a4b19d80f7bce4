/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_closed: one program writes versions of files, and others read. A version that was closed
 * before an open is the oldest whose bytes the reader may see.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"

#define FILES	 2
#define SIZE	 30000
#define PROGRAMS 8
#define NEWEST	 255

/* All bytes of version v are v. */
struct closed {
	char name[16];
	uint8_t begun, done; /* versions: the last that is being written, and that was closed */
	uint8_t emptied;     /* the last that began with an empty file */
};

static struct closed file[FILES];

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		snprintf(file[i].name, sizeof(file[i].name), "closed%u", i);
}

static void write_version(struct program *p, struct closed *f)
{
	static uint8_t buf[SIZE];
	bool cuts = sched_once_in(3);
	size_t at = 0, n;
	int fd;

	if (f->begun == NEWEST)
		return;
	f->begun++;
	if (cuts || f->begun == 1)
		f->emptied = f->begun;
	sched_event("%s: version %u begins", f->name, f->begun);
	fd = (int)must(p, sys_open(p->proc, f->name, O_RDWR | O_CREAT | (cuts ? O_TRUNC : 0), 0644),
		"open", f->name);
	memset(buf, f->begun, sizeof(buf));
	while (at < SIZE) {
		n = 1 + sched_choose(SIZE - (uint32_t)at);
		at += (size_t)must(p, sys_pwrite(p->proc, fd, buf, n, (off_t)at), "write", f->name);
	}
	must(p, sys_close(p->proc, fd), "close", f->name);
	f->done = f->begun;
	sched_event("%s: version %u is closed", f->name, f->done);
}

/* May a reader see the byte? The file was at version `done` when the reader opened. If WRITEs of a
 * version take effect out of order in a file that was empty, then a hole is seen between them. */
static bool may_be(const struct closed *f, uint8_t byte, uint8_t done, uint8_t least)
{
	if (!byte)
		return ways.splits && f->emptied > done;
	return byte >= least && byte <= f->begun;
}

static void read_version(struct program *p, struct closed *f)
{
	static uint8_t buf[PROGRAMS][SIZE];
	uint8_t *own = buf[p->nth % PROGRAMS], done = f->done, least = done;
	bool blind = program_is_blind(p, f->name);
	int fd = sys_open(p->proc, f->name, O_RDONLY, 0);
	ssize_t n;

	if (fd == -ENOENT) /* a name may be missed for as long as its directory's attributes last */
		return;
	must(p, fd, "open", f->name);
	blind |= program_is_blind(p, f->name);
	if (blind)
		least = 1;
	for (size_t at = 0; at < SIZE; at += (size_t)n) {
		n = read_beside(p, fd, own, 1 + sched_choose(SIZE), (off_t)at, f->name);
		for (ssize_t i = 0; i < n; i++)
			if (!may_be(f, own[i], done, least))
				wrong(p,
					"%s: byte %zu is of version %u, and %u was closed before "
					"the open",
					f->name, at + (size_t)i, own[i], done);
		if (!n && f->begun == done && !blind)
			wrong(p, "%s ends after %zu of %u bytes", f->name, at, SIZE);
		if (!n)
			break;
	}
	sched_event("%s: read, at least version %u", f->name, least);
	must(p, sys_close(p->proc, fd), "close", f->name);
}

static void act(struct program *p)
{
	struct closed *f = &file[sched_choose(FILES)];

	if (p->nth)
		read_version(p, f);
	else
		write_version(p, f);
}

const struct crowd crowd_closed = {.name = "closed", .each = 2, .begin = begin, .act = act};

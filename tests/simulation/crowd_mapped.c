/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_mapped: programs load and store by mmap(2), beside read(2) and write(2) of the same file. A
 * store is seen by read(2) at once. A store is at the server when msync(2) has returned, or when
 * the program has unmapped and then closed the file: the next opener on any mount sees the store.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/turn.h"

#define FILES 2
#define PIECE 6000u
#define PAGES ((TRUTH_MOST + VFS_PAGE - 1) / VFS_PAGE)

static struct truth file[FILES];
static struct turn turns[FILES];

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		truth_new(&file[i], "mapped", i);
}

static void load(struct program *p, const struct truth *t, int map)
{
	uint8_t buf[PIECE];
	size_t at = sched_choose(TRUTH_MOST), n = 1 + sched_choose(PIECE - 1);
	size_t end = (t->size + VFS_PAGE - 1) / VFS_PAGE * VFS_PAGE;
	int res;

	if (at >= end) { /* no page of the file: SIGBUS */
		res = sys_load(p->proc, map, at, buf, 1);
		if (res != -EFAULT)
			wrong(p, "%s: a load at %zu tells %d, and the file has %zu bytes", t->name,
				at, res, t->size);
		return;
	}
	if (at >= t->size)
		return;
	if (n > t->size - at)
		n = t->size - at;
	must(p, sys_load(p->proc, map, at, buf, n), "load", t->name);
	sched_event("load %s %zu+%zu", t->name, at, n);
	truth_compare(p, t, buf, at, n);
}

static void store(struct program *p, struct truth *t, int map)
{
	uint8_t buf[PIECE], byte = (uint8_t)(1 + sched_choose(255));
	size_t at, n = 1 + sched_choose(PIECE - 1);

	if (!t->size)
		return;
	at = sched_choose((uint32_t)t->size);
	if (n > t->size - at)
		n = t->size - at;
	memset(buf, byte, n);
	sched_event("store %s %zu+%zu: %02x", t->name, at, n, byte);
	truth_wrote(t, at, n, byte);
	must(p, sys_store(p->proc, map, at, buf, n), "store", t->name);
}

/* Stores of a private mapping stay in the process. */
static void map_privately(struct program *p, const struct truth *t, int fd)
{
	int map = (int)must(
		p, sys_mmap(p->proc, fd, 0, PAGES * VFS_PAGE, false, true), "mmap", t->name);
	uint8_t byte = 0x77;

	load(p, t, map);
	if (t->size)
		must(p, sys_store(p->proc, map, sched_choose((uint32_t)t->size), &byte, 1), "store",
			t->name);
	must(p, sys_munmap(p->proc, map), "munmap", t->name);
}

static void step(struct program *p, struct truth *t, int fd, int map, bool writes)
{
	switch (sched_choose(writes ? 8 : 3)) {
	case 0:
		truth_read(p, t, fd);
		break;
	case 1:
	case 2:
		load(p, t, map);
		break;
	case 3:
		truth_write(p, t, fd, 0);
		break;
	case 4:
		must(p, sys_msync(p->proc, map), "msync", t->name);
		break;
	case 5:
		map_privately(p, t, fd);
		break;
	default:
		store(p, t, map);
	}
}

static void use(struct program *p, struct truth *t, bool writes)
{
	int fd = sys_open(p->proc, t->name, writes ? O_RDWR | O_CREAT : O_RDONLY, 0644), map;
	bool closes_first = sched_once_in(4);
	struct stat st;

	if (fd == -ENOENT && !writes) /* the name is new, and its directory's listing is believed */
		return;
	must(p, fd, "open", t->name);
	if (program_is_blind(p, t->name)) { /* as every client would be */
		must(p, sys_close(p->proc, fd), "close", t->name);
		return;
	}
	if (writes && sched_once_in(6)) {
		truth_cut(t, 0);
		must(p, sys_ftruncate(p->proc, fd, 0), "ftruncate", t->name);
	}
	if (writes && t->size < PIECE)
		truth_write(p, t, fd, 0);
	/* The kernel refuses a page behind the end of file that is known, and asks for the end at
	 * fstat(2) or read(2) only. */
	must(p, sys_fstat(p->proc, fd, &st), "fstat", t->name);
	truth_check_size(p, t, st.st_size, "fstat");
	map = (int)must(
		p, sys_mmap(p->proc, fd, 0, PAGES * VFS_PAGE, true, writes), "mmap", t->name);
	for (unsigned n = 1 + sched_choose(5); n; n--)
		step(p, t, fd, map, writes);
	if (closes_first) {
		must(p, sys_close(p->proc, fd), "close", t->name);
		load(p, t, map);
		if (writes) {
			store(p, t, map);
			must(p, sys_msync(p->proc, map), "msync", t->name);
		}
	}
	must(p, sys_munmap(p->proc, map), "munmap", t->name);
	if (!closes_first)
		must(p, sys_close(p->proc, fd), "close", t->name);
	sched_event("%s is closed", t->name);
}

static void act(struct program *p)
{
	unsigned i = sched_choose(FILES);
	bool writes = sched_once_in(2);

	turn_take(&turns[i], writes);
	use(p, &file[i], writes);
	turn_leave(&turns[i]);
}

static void end(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		truth_check_disk(&file[i]);
}

const struct crowd crowd_mapped = {
	.name = "mapped", .each = 2, .begin = begin, .act = act, .end = end};

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_beside: programs change one file at the same time without a lock, each its own bytes: by
 * write(2) with O_DIRECT or without, mmap(2), holes and copies. Pages have bytes of several
 * programs. Each program always sees its own bytes as the program has left them, and a size that is
 * no smaller than the end of its writes.
 *
 * The bytes of a program are stripes. In some runs all stripes are in two pages, so that nearly
 * every READ meets a WRITE. In others a stripe has whole pages.
 *
 * Each mount has a file of its own. In a run without weather the mounts also share a file, without
 * mappings: a mapping writes whole pages back, with the old bytes of other clients. The changes of
 * other mounts make the kernel drop pages between a program's write(2) and its WRITE.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"

#define EACH	 3
#define PROGRAMS (EACH * STAGE_MOUNTS)
#define STRIPE	 8000 /* bytes of a program in a row, at most */
#define ROUNDS	 3    /* so often the stripes of all programs follow each other */
#define OWN	 (STRIPE * ROUNDS)
#define SHARED	 STAGE_MOUNTS /* the number of the file that all mounts share */

/* A program's part of a file. */
struct part {
	uint8_t bytes[OWN];
	size_t end; /* in the file, of the program's writes */
};

static struct part part[STAGE_MOUNTS + 1][PROGRAMS];
static bool maps;     /* the run has mappings instead of O_DIRECT */
static size_t stripe; /* bytes of a program in a row */
static bool shares;   /* most rounds of a run without weather use the file of all mounts */

/* The open file of a program in a round. */
struct view {
	struct program *p;
	struct part *own;
	char name[16];
	int fd, direct; /* direct: -1: none */
	int map;	/* -1: none */
};

/* A range of the program's bytes in one stripe. */
struct range {
	size_t own, off, n; /* own: in part.bytes; off: in the file */
};

static void begin(const struct stage *s)
{
	memset(part, 0, sizeof(part));
	maps = sched_once_in(2);
	stripe = (size_t[]){300, 2500, STRIPE}[sched_choose(3)];
	shares = sched_once_in(2);
}

/* The bytes that a program has. */
static size_t own_size(void)
{
	return stripe * ROUNDS;
}

/* The bytes of a mapping. */
static size_t map_size(void)
{
	return PROGRAMS * own_size() / VFS_PAGE * VFS_PAGE;
}

static struct range range_at(const struct program *p, size_t own, size_t n)
{
	size_t off = (own / stripe * PROGRAMS + p->nth) * stripe + own % stripe;

	return (struct range){.own = own, .off = off, .n = n};
}

static struct range any_range(const struct program *p)
{
	size_t own = sched_choose((uint32_t)own_size()), left = stripe - own % stripe;

	return range_at(p, own, 1 + sched_choose((uint32_t)left));
}

static void wrote(struct part *own, const struct range *r)
{
	if (r->off + r->n > own->end)
		own->end = r->off + r->n;
}

static void compare(const struct view *v, const uint8_t *got, const struct range *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (got[i] != v->own->bytes[r->own + i])
			wrong(v->p, "%s: byte %zu of program %u is %02x, not %02x", v->name,
				r->off + i, v->p->nth, got[i], v->own->bytes[r->own + i]);
}

static int any_descriptor(const struct view *v)
{
	return v->direct >= 0 && sched_once_in(2) ? v->direct : v->fd;
}

static void write_some(struct view *v)
{
	struct range r = any_range(v->p);
	uint8_t *bytes = v->own->bytes + r.own, byte = (uint8_t)(1 + sched_choose(255));
	long n;

	memset(bytes, byte, r.n);
	sched_event("write %s %zu+%zu: %02x", v->name, r.off, r.n, byte);
	n = sys_pwrite(v->p->proc, any_descriptor(v), bytes, r.n, (off_t)r.off);
	if (must(v->p, n, "write", v->name) != (long)r.n)
		wrong(v->p, "a short write");
	wrote(v->own, &r);
}

static void read_some(struct view *v)
{
	struct range r = any_range(v->p);
	uint8_t buf[STRIPE];
	long n = sys_pread(v->p->proc, any_descriptor(v), buf, r.n, (off_t)r.off);

	must(v->p, n, "read", v->name);
	if (n < (long)r.n && r.off + (size_t)n < v->own->end)
		wrong(v->p,
			"%s: a read of %zu from %zu on tells %ld, and the program has written to "
			"%zu",
			v->name, r.n, r.off, n, v->own->end);
	compare(v, buf, &r, (size_t)n);
}

/* The page must lie before the end of the file. */
static bool is_mapped(const struct view *v, const struct range *r)
{
	return v->map >= 0 && r->off + r->n <= v->own->end && r->off + r->n <= map_size();
}

static void load(struct view *v)
{
	struct range r = any_range(v->p);
	uint8_t buf[STRIPE];

	if (!is_mapped(v, &r))
		return;
	must(v->p, sys_load(v->p->proc, v->map, r.off, buf, r.n), "load", v->name);
	sched_event("load %s %zu+%zu", v->name, r.off, r.n);
	compare(v, buf, &r, r.n);
}

static void store(struct view *v)
{
	struct range r = any_range(v->p);
	uint8_t *bytes = v->own->bytes + r.own, byte = (uint8_t)(1 + sched_choose(255));

	if (!is_mapped(v, &r))
		return;
	memset(bytes, byte, r.n);
	sched_event("store %s %zu+%zu: %02x", v->name, r.off, r.n, byte);
	must(v->p, sys_store(v->p->proc, v->map, r.off, bytes, r.n), "store", v->name);
}

/* NFS below 4.2 makes no holes. A page that a mapping has changed may be written back between the
 * hole and its effect on the page, with the bytes of before: the kernel's client does the same. */
static void punch(struct view *v)
{
	struct range r = any_range(v->p);
	int res;

	if (maps)
		return;
	res = sys_fallocate(v->p->proc, v->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		(off_t)r.off, (off_t)r.n);
	if (res == -EOPNOTSUPP && !program_has(v->p, "vers=4.2"))
		return;
	must(v->p, res, "fallocate", v->name);
	memset(v->own->bytes + r.own, 0, r.n);
}

/* From one stripe of the program to another. */
static void copy(struct view *v)
{
	struct range from = any_range(v->p), to;
	long n;

	to = range_at(v->p, (from.own + stripe) % own_size(), from.n);
	if (from.off + from.n > v->own->end)
		return;
	n = sys_copy_file_range(v->p->proc, v->fd, (off_t)from.off, v->fd, (off_t)to.off, from.n);
	must(v->p, n, "copy_file_range", v->name);
	if (!n)
		wrong(v->p, "%s: nothing is copied from %zu on, and the program has written to %zu",
			v->name, from.off, v->own->end);
	sched_event("copy %s %zu+%ld to %zu", v->name, from.off, n, to.off);
	to.n = (size_t)n;
	memcpy(v->own->bytes + to.own, v->own->bytes + from.own, to.n);
	wrote(v->own, &to);
}

static void look(struct view *v)
{
	struct stat st;
	bool by_name = sched_once_in(2);
	const char *call = by_name ? "stat" : "fstat";

	must(v->p, by_name ? sys_stat(v->p->proc, v->name, &st) : sys_fstat(v->p->proc, v->fd, &st),
		call, v->name);
	if ((size_t)st.st_size < v->own->end)
		wrong(v->p, "%s: %s tells %zu bytes, and the program has written to %zu", v->name,
			call, (size_t)st.st_size, v->own->end);
}

static int open_one(const struct view *v, int flags)
{
	return (int)must(v->p, sys_open(v->p->proc, v->name, O_RDWR | O_CREAT | flags, 0644),
		"open", v->name);
}

static void close_one(const struct view *v, int fd)
{
	must(v->p, sys_close(v->p->proc, fd), "close", v->name);
}

/* The kernel drops the pages if another client has changed the file. */
static void open_again(struct view *v)
{
	close_one(v, v->fd);
	v->fd = open_one(v, 0);
}

static void step(struct view *v)
{
	switch (sched_choose(13)) {
	case 0:
		look(v);
		break;
	case 1:
		punch(v);
		break;
	case 2:
		copy(v);
		break;
	case 3:
		must(v->p, sys_fsync(v->p->proc, v->fd), "fsync", v->name);
		break;
	case 4:
		load(v);
		break;
	case 5:
	case 6:
		store(v);
		break;
	case 7:
	case 8:
	case 9:
		write_some(v);
		break;
	case 10:
		open_again(v);
		break;
	default:
		read_some(v);
	}
}

static void act(struct program *p)
{
	bool calm = p->stage->calm;
	bool shared = calm && (shares ? !sched_once_in(4) : sched_once_in(3));
	unsigned file = shared ? SHARED : p->mount;
	struct view v = {.p = p, .own = &part[file][p->nth], .direct = -1, .map = -1};

	snprintf(v.name, sizeof(v.name), "beside%u", file);
	v.fd = open_one(&v, 0);
	look(&v);
	if (maps && file != SHARED)
		v.map = (int)must(
			p, sys_mmap(p->proc, v.fd, 0, map_size(), true, true), "mmap", v.name);
	else if (!maps && calm && sched_once_in(2))
		v.direct = open_one(&v, O_DIRECT);
	for (unsigned n = 2 + sched_choose(8); n; n--)
		step(&v);
	if (v.map >= 0)
		must(p, sys_munmap(p->proc, v.map), "munmap", v.name);
	if (v.direct >= 0)
		close_one(&v, v.direct);
	close_one(&v, v.fd);
}

/* The bytes on the server. Those of an old mapping may still be on their way. */
static void end(const struct stage *s)
{
	static uint8_t buf[PROGRAMS * OWN];
	char path[40];

	for (unsigned file = 0; file <= SHARED; file++)
		for (unsigned nth = 0; nth < PROGRAMS; nth++) {
			struct part *own = &part[file][nth];
			struct program p = {.stage = s, .nth = nth};

			snprintf(path, sizeof(path), "/sim/export/beside%u", file);
			if (!own->end || maps)
				continue;
			memset(buf, 0, sizeof(buf));
			disk_read(path, buf, sizeof(buf), 0);
			for (size_t i = 0; i < own_size(); i++) {
				struct range r = range_at(&p, i, 1);

				if (buf[r.off] != own->bytes[i])
					sched_fail("the server has %02x for byte %zu of beside%u, "
						   "not %02x",
						buf[r.off], r.off, file, own->bytes[i]);
			}
		}
}

const struct crowd crowd_beside = {
	.name = "beside", .each = EACH, .begin = begin, .act = act, .end = end};

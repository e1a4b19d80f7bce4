/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_ranges: programs lock ranges of a file by fcntl(2), of processes (POSIX) or of open files
 * (OFD), shared or exclusive, with and without waiting. Ranges meet within pages. The holder sees
 * the bytes that former holders of the range left; no holder of an exclusive lock has company.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"

#define SLOTS	  12u
#define SLOT	  1500u /* bytes */
#define SIZE	  (SLOTS * SLOT)
#define PROGRAMS_ 64

/* Counts of the programs that have a lock. */
struct slot {
	unsigned readers, writers;
};

static struct truth file;
static struct slot slots[SLOTS];

/* A lock that a program has. */
struct held {
	unsigned from, end;	  /* slots */
	bool ofd, writes, to_end; /* to_end: of the file, wherever that will be */
};

static void begin(const struct stage *s)
{
	struct program p = {.stage = s, .proc = kernel_process(s->k[0])};
	int fd;

	truth_new(&file, "ranges", 0);
	truth_wrote(&file, 0, SIZE, 1);
	fd = (int)must(
		&p, sys_open(p.proc, file.name, O_RDWR | O_CREAT, 0644), "create", file.name);
	must(&p, sys_pwrite(p.proc, fd, file.bytes, SIZE, 0), "write", file.name);
	proc_exit(p.proc);
}

/* --- the judge of locks ----------------------------------------------------------------------- */

static void enter(const struct program *p, const struct held *h)
{
	for (unsigned i = h->from; i < h->end; i++) {
		if (slots[i].writers || (h->writes && slots[i].readers))
			wrong(p, "slot %u is locked by %u that write and %u that read", i,
				slots[i].writers, slots[i].readers);
		slots[i].writers += h->writes;
		slots[i].readers += !h->writes;
	}
}

static void quit(const struct held *h)
{
	for (unsigned i = h->from; i < h->end; i++) {
		slots[i].writers -= h->writes;
		slots[i].readers -= !h->writes;
	}
}

/* --- programs --------------------------------------------------------------------------------- */

static struct flock range(const struct held *h, short type)
{
	return (struct flock){.l_type = type,
		.l_start = h->from * SLOT,
		.l_len = h->to_end ? 0 : (h->end - h->from) * SLOT};
}

static short type_of(const struct held *h)
{
	return h->writes ? F_WRLCK : F_RDLCK;
}

/* False: another program has a lock there. */
static bool lock(struct program *p, int fd, const struct held *h, bool waits)
{
	int cmd = h->ofd ? waits ? F_OFD_SETLKW : F_OFD_SETLK : waits ? F_SETLKW : F_SETLK;
	struct flock l = range(h, type_of(h));
	int res = sys_fcntl_lock(p->proc, fd, cmd, &l);

	sched_event("lock slots %u to %u%s%s: %d", h->from, h->end, h->writes ? ", alone" : "",
		h->ofd ? ", of the open file" : "", res);
	if (!waits && (res == -EAGAIN || res == -EACCES))
		return false;
	must(p, res, "lock", file.name);
	enter(p, h);
	return true;
}

static void unlock(struct program *p, int fd, const struct held *h)
{
	struct flock l = range(h, F_UNLCK);

	sched_event("unlock slots %u to %u", h->from, h->end);
	quit(h);
	must(p, sys_fcntl_lock(p->proc, fd, h->ofd ? F_OFD_SETLK : F_SETLK, &l), "unlock",
		file.name);
}

/* A lock becomes shared, in a part or in all. */
static void weaken(struct program *p, int fd, struct held *h)
{
	struct flock l = range(h, F_RDLCK);

	quit(h);
	h->writes = false;
	enter(p, h);
	must(p, sys_fcntl_lock(p->proc, fd, h->ofd ? F_OFD_SETLK : F_SETLK, &l), "lock", file.name);
}

/* A lock that the call finds is one that some program may have: not where the caller is alone. */
static void ask(struct program *p, int fd, const struct held *h)
{
	struct flock l = range(h, F_WRLCK);

	must(p, sys_fcntl_lock(p->proc, fd, h->ofd ? F_OFD_GETLK : F_GETLK, &l), "F_GETLK",
		file.name);
	if (h->writes && l.l_type != F_UNLCK)
		wrong(p, "slots %u to %u are this program's, and F_GETLK finds %lld+%lld", h->from,
			h->end, (long long)l.l_start, (long long)l.l_len);
}

static void use(struct program *p, int fd, const struct held *h)
{
	static uint8_t buf[PROGRAMS_][SIZE];
	uint8_t *own = buf[p->number % PROGRAMS_], byte = (uint8_t)(1 + sched_choose(255));
	size_t off = h->from * SLOT + sched_choose(SLOT), end = h->end * SLOT - sched_choose(SLOT);
	ssize_t n;

	if (off >= end)
		return;
	n = must(p, sys_pread(p->proc, fd, own, end - off, (off_t)off), "read", file.name);
	sched_event("read %s %zu+%zu", file.name, off, end - off);
	if ((size_t)n != end - off)
		wrong(p, "a read of %zu bytes from %zu on tells %zd", end - off, off, n);
	truth_compare(p, &file, own, off, end - off);
	if (!h->writes || sched_once_in(3))
		return;
	off = h->from * SLOT + sched_choose(SLOT);
	if (off >= end)
		return;
	sched_event("write %s %zu+%zu: %02x", file.name, off, end - off, byte);
	truth_wrote(&file, off, end - off, byte);
	memset(own, byte, end - off);
	if (must(p, sys_pwrite(p->proc, fd, own, end - off, (off_t)off), "write", file.name) !=
		(long)(end - off))
		wrong(p, "a short write");
}

/* Closes another descriptor of the file: then the process has none of its POSIX locks any more. */
static void close_another(struct program *p, struct held *h)
{
	int fd = (int)must(p, sys_open(p->proc, file.name, O_RDONLY, 0), "open", file.name);

	if (!h->ofd) {
		quit(h);
		h->end = h->from;
	}
	must(p, sys_close(p->proc, fd), "close", file.name);
}

static void act(struct program *p)
{
	int fd = (int)must(p, sys_open(p->proc, file.name, O_RDWR, 0), "open", file.name);

	for (unsigned n = 1 + sched_choose(3); n; n--) {
		struct held h = {.from = sched_choose(SLOTS), .ofd = sched_once_in(3)};

		h.writes = !sched_once_in(3);
		h.end = h.from + 1 + sched_choose(SLOTS - h.from);
		if (sched_once_in(2) && h.end > h.from + 2)
			h.end = h.from + 2;
		h.to_end = h.end == SLOTS && sched_once_in(2);
		if (!lock(p, fd, &h, !sched_once_in(3)))
			continue;
		for (unsigned i = 1 + sched_choose(2); i; i--)
			use(p, fd, &h);
		if (sched_once_in(4))
			ask(p, fd, &h);
		if (h.writes && sched_once_in(4)) {
			weaken(p, fd, &h);
			use(p, fd, &h);
		}
		if (sched_once_in(6)) {
			close_another(p, &h);
			if (h.end > h.from)
				use(p, fd, &h);
		}
		if (h.end == h.from)
			continue;
		if (n == 1 && sched_once_in(2))
			quit(&h); /* the close is the end of the lock */
		else
			unlock(p, fd, &h);
	}
	if (sched_once_in(4))
		proc_kill(p->proc); /* exit(2) closes */
	else
		must(p, sys_close(p->proc, fd), "close", file.name);
}

static void end(const struct stage *s)
{
	truth_check_disk(&file);
	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i].readers || slots[i].writers)
			sched_fail("the judge has locks of slot %u left", i);
}

const struct crowd crowd_ranges = {
	.name = "ranges", .each = 2, .begin = begin, .act = act, .end = end};

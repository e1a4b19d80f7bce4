/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_ranges: programs lock ranges of a file by fcntl(2), of processes (POSIX) or of open files
 * (OFD), shared or exclusive, with and without waiting. Ranges meet within pages. The holder sees
 * the bytes that former holders of the range left; no holder of an exclusive lock has company.
 *
 * If the server loses unsafe bytes, rnfs does not write the bytes again to a file that
 * another client has changed, and the calls tell (EIO). Then the bytes of the range are unknown
 * until the next holder has written all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"

#define SLOTS 12u
#define SLOT  1500u /* bytes */
#define SIZE  (SLOTS * SLOT)

/* Counts of the programs that hold a lock, and of the programs that unlock now: the unlock may tell
 * the loss of a write. unknown: a call has told a loss. */
struct slot {
	unsigned readers, writers, leaving;
	bool unknown;
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

static void leave(const struct held *h, int change)
{
	for (unsigned i = h->from; i < h->end; i++)
		slots[i].leaving += (unsigned)(h->writes ? change : 0);
}

/* True: the call tells a loss, so the range is unknown. */
static bool check_loss(const struct program *p, const struct held *h, long res, const char *call)
{
	if (res != -EIO || p->stage->calm) {
		must(p, res, call, file.name);
		return false;
	}
	sched_event("%s tells a loss", call);
	for (unsigned i = h->from; i < h->end; i++)
		slots[i].unknown |= h->writes;
	return true;
}

static bool unlock(struct program *p, int fd, const struct held *h)
{
	struct flock l = range(h, F_UNLCK);
	bool lost;

	sched_event("unlock slots %u to %u", h->from, h->end);
	leave(h, 1);
	quit(h);
	lost = check_loss(
		p, h, sys_fcntl_lock(p->proc, fd, h->ofd ? F_OFD_SETLK : F_SETLK, &l), "unlock");
	leave(h, -1);
	return lost;
}

/* The lock becomes shared. */
static bool weaken(struct program *p, int fd, struct held *h)
{
	struct flock l = range(h, F_RDLCK);
	struct held was = *h;
	bool lost;

	leave(&was, 1);
	quit(h);
	h->writes = false;
	enter(p, h);
	lost = check_loss(
		p, &was, sys_fcntl_lock(p->proc, fd, h->ofd ? F_OFD_SETLK : F_SETLK, &l), "lock");
	leave(&was, -1);
	return lost;
}

/* F_GETLK finds no lock where the caller has the range alone. */
static void ask(struct program *p, int fd, const struct held *h)
{
	struct flock l = range(h, F_WRLCK);

	must(p, sys_fcntl_lock(p->proc, fd, h->ofd ? F_OFD_GETLK : F_GETLK, &l), "F_GETLK",
		file.name);
	if (h->writes && l.l_type != F_UNLCK)
		wrong(p, "slots %u to %u are this program's, and F_GETLK finds %lld+%lld", h->from,
			h->end, (long long)l.l_start, (long long)l.l_len);
}

static bool is_known(const struct held *h)
{
	for (unsigned i = h->from; i < h->end; i++)
		if (slots[i].unknown || slots[i].leaving)
			return false;
	return true;
}

/* False: a loss is told. all: from the first byte of the range to the last. */
static bool write_range(struct program *p, int fd, const struct held *h, bool all)
{
	size_t off = h->from * SLOT + (all ? 0 : sched_choose(SLOT));
	size_t n = h->end * SLOT - (all ? 0 : sched_choose(SLOT));
	uint8_t byte = (uint8_t)(1 + sched_choose(255)), buf[SIZE];
	long res;

	if (off >= n)
		return true;
	n -= off;
	sched_event("write %s %zu+%zu: %02x", file.name, off, n, byte);
	memset(buf, byte, n);
	res = sys_pwrite(p->proc, fd, buf, n, (off_t)off);
	if (check_loss(p, h, res, "write"))
		return false;
	truth_wrote(&file, off, n, byte);
	if (res != (long)n)
		wrong(p, "a short write");
	for (unsigned i = h->from; all && i < h->end; i++)
		slots[i].unknown = false;
	return true;
}

/* False: a loss is told. */
static bool use(struct program *p, int fd, const struct held *h)
{
	size_t off = h->from * SLOT + sched_choose(SLOT), end = h->end * SLOT - sched_choose(SLOT);
	uint8_t buf[SIZE];
	ssize_t n;

	if (!is_known(h))
		return !h->writes || write_range(p, fd, h, true);
	if (off < end) {
		n = must(p, sys_pread(p->proc, fd, buf, end - off, (off_t)off), "read", file.name);
		sched_event("read %s %zu+%zu", file.name, off, end - off);
		if ((size_t)n != end - off)
			wrong(p, "a read of %zu bytes from %zu on tells %zd", end - off, off, n);
		if (is_known(h))
			truth_compare(p, &file, buf, off, end - off);
	}
	return !h->writes || sched_once_in(3) || write_range(p, fd, h, false);
}

/* Closes another descriptor of the file: then the process has none of its POSIX locks any more. */
static bool close_another(struct program *p, struct held *h)
{
	int fd = (int)must(p, sys_open(p->proc, file.name, O_RDONLY, 0), "open", file.name);
	struct held was = *h;
	bool lost;

	leave(&was, 1);
	if (!h->ofd) {
		quit(h);
		h->end = h->from;
	}
	lost = check_loss(p, &was, sys_close(p->proc, fd), "close");
	leave(&was, -1);
	return lost;
}

/* Uses a lock. True: a loss is told. */
static bool use_lock(struct program *p, int fd, struct held *h)
{
	bool lost = false;

	for (unsigned i = 1 + sched_choose(2); i; i--)
		lost |= !use(p, fd, h);
	if (sched_once_in(4))
		ask(p, fd, h);
	if (h->writes && sched_once_in(4)) {
		lost |= weaken(p, fd, h);
		lost |= !use(p, fd, h);
	}
	if (sched_once_in(6)) {
		lost |= close_another(p, h);
		if (h->end > h->from)
			lost |= !use(p, fd, h);
	}
	return lost;
}

static void choose(struct held *h)
{
	*h = (struct held){.from = sched_choose(SLOTS), .ofd = sched_once_in(3)};
	h->writes = !sched_once_in(3);
	h->end = h->from + 1 + sched_choose(SLOTS - h->from);
	if (sched_once_in(2) && h->end > h->from + 2)
		h->end = h->from + 2;
	h->to_end = h->end == SLOTS && sched_once_in(2);
}

static void act(struct program *p)
{
	int fd = (int)must(p, sys_open(p->proc, file.name, O_RDWR, 0), "open", file.name), res;
	struct held h = {.end = 0};
	bool lost = false;

	for (unsigned n = 1 + sched_choose(3); n; n--) {
		choose(&h);
		if (!lock(p, fd, &h, !sched_once_in(3))) {
			h.end = h.from;
			continue;
		}
		lost |= use_lock(p, fd, &h);
		if (h.end == h.from || (n == 1 && sched_once_in(2)))
			break; /* the close is the end of the lock */
		lost |= unlock(p, fd, &h);
		h.end = h.from;
	}
	leave(&h, 1);
	quit(&h);
	if (sched_once_in(4) && (p->stage->calm || h.end == h.from)) {
		proc_kill(p->proc); /* exit(2) closes, and tells nothing */
	} else {
		res = sys_close(p->proc, fd);
		if (res != -EIO || !lost) /* each call tells of the loss until fsync(2) does */
			check_loss(p, &h, res, "close");
	}
	leave(&h, -1);
}

static void end(const struct stage *s)
{
	bool known = true;

	for (unsigned i = 0; i < SLOTS; i++)
		known &= !slots[i].unknown;
	if (known)
		truth_check_disk(&file);
	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i].readers || slots[i].writers)
			sched_fail("the judge has locks of slot %u left", i);
}

const struct crowd crowd_ranges = {
	.name = "ranges", .each = 2, .begin = begin, .act = act, .end = end};

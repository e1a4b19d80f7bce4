/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_promised: programs write, and fsync, close, or write with O_SYNC without an error. Then the
 * data is on the server's disk itself, where a cut of the power would find it, and programs of all
 * mounts read it. (With delegations for writing a close promises less, as rnfs.8 says.)
 *
 * crowd_failing: the same while the server's disk fails and fills up. If a program's data is not
 * safe, a call must tell the program, close at the latest. Then nothing is known of the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/turn.h"

#define FILES	    4
#define FULL_AT_ONE 150000u

struct file {
	struct truth t;
	struct turn turn;
	bool unknown; /* an error was told: the next program takes a new file */
	unsigned number;
};

static struct file file[FILES];
static unsigned files; /* of file[], in the run */
static bool fails;

static void begin_file(struct file *f, unsigned number)
{
	truth_new(&f->t, "promised", number);
	f->number = number;
	f->unknown = false;
}

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		begin_file(&file[i], i);
	files = sched_once_in(2) ? 1 : FILES;
	fails = false;
}

static void begin_failing(const struct stage *s)
{
	begin(s);
	fails = true;
}

/* Has the call succeeded? Otherwise an error may only be told where the disk has faults. ESTALE:
 * the sync of the directory failed, and the file went with the power. */
static bool is_well(struct program *p, struct file *f, long res, const char *call)
{
	if (res >= 0)
		return true;
	if (!fails || (res != -EIO && res != -ENOSPC && res != -ESTALE))
		must(p, res, call, f->t.name);
	sched_event("%s: %s tells %ld", f->t.name, call, res);
	f->unknown = true;
	return false;
}

static void break_disk(void)
{
	switch (sched_choose(6)) {
	case 0:
		disk_fail_sync(1);
		sched_event("the next sync fails");
		break;
	case 1:
		disk_fail_writes(1 + sched_choose(2));
		sched_event("the next write fails");
		break;
	case 2:
		disk_full(sched_choose(FULL_AT_ONE));
		sched_event("the disk is full soon");
		break;
	case 3:
		disk_full(UINT64_MAX);
		sched_event("the disk has room");
	}
}

/* The server's disk has the bytes, without its memory. */
static void check_safe(const struct program *p, const struct file *f, const char *call)
{
	static uint8_t buf[TRUTH_MOST + 1];
	const struct truth *t = &f->t;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/sim/export/%s", t->name);
	n = disk_read_safe(path, buf, sizeof(buf), 0);
	if (n != (ssize_t)t->size)
		wrong(p, "after %s the server's disk has %zd bytes of %s, not %zu", call, n,
			t->name, t->size);
	for (size_t i = 0; i < t->size; i++)
		if (buf[i] != t->bytes[i])
			wrong(p, "after %s the server's disk has %02x for byte %zu of %s, not %02x",
				call, buf[i], i, t->name, t->bytes[i]);
}

static bool write_some(struct program *p, struct file *f, int fd)
{
	uint8_t buf[9000], byte = (uint8_t)(1 + sched_choose(255));
	size_t off = sched_choose((uint32_t)f->t.size + 1), n = 1 + sched_choose(sizeof(buf) - 1);
	ssize_t res;

	if (off + n > TRUTH_MOST)
		n = TRUTH_MOST - off;
	if (!n)
		return true;
	memset(buf, byte, n);
	sched_event("write %s %zu+%zu: %02x", f->t.name, off, n, byte);
	res = sys_pwrite(p->proc, fd, buf, n, (off_t)off);
	if (!is_well(p, f, res, "write"))
		return false;
	if (res != (ssize_t)n && !fails)
		wrong(p, "a short write");
	f->unknown = res != (ssize_t)n; /* the server may have taken a part of the rest */
	truth_wrote(&f->t, off, (size_t)res, byte);
	return !f->unknown;
}

static void write_file(struct program *p, struct file *f)
{
	bool syncs = sched_once_in(4), anew = f->unknown;
	int fd;

	if (f->unknown && sched_once_in(4))
		begin_file(f, f->number + FILES);
	fd = sys_open(p->proc, f->t.name,
		O_RDWR | O_CREAT | (syncs ? O_SYNC : 0) | (anew ? O_TRUNC : 0), 0644);
	if (!is_well(p, f, fd, "open"))
		return;
	if (anew)
		truth_cut(&f->t, 0);
	f->unknown = false;
	for (unsigned n = 1 + sched_choose(6); n && !f->unknown; n--) {
		if (fails)
			break_disk();
		if (write_some(p, f, fd) && syncs)
			check_safe(p, f, "a write with O_SYNC");
		if (!f->unknown && sched_once_in(4) &&
			is_well(p, f, sys_fsync(p->proc, fd), "fsync"))
			check_safe(p, f, "fsync");
	}
	if (is_well(p, f, sys_close(p->proc, fd), "close") && !f->unknown &&
		!program_has(p, "delegations=write"))
		check_safe(p, f, "close");
	sched_event("%s is closed%s", f->t.name, f->unknown ? ", with an error" : "");
	/* a sync that fails later has no program to tell */
	f->unknown |= fails && program_has(p, "delegations=write");
}

static void read_file(struct program *p, struct file *f)
{
	int fd = sys_open(p->proc, f->t.name, O_RDONLY, 0);
	long res;

	if (fd == -ENOENT) /* the name is new, and its directory's listing is believed */
		return;
	if (!is_well(p, f, fd, "open"))
		return;
	if (!program_is_blind(p, f->t.name))
		truth_read_all(p, &f->t, fd);
	res = sys_close(p->proc, fd);
	/* after a close with a delegation a loss may be told late, also one of bytes that another
	 * mount has replaced since */
	if (program_has(p, "delegations=write"))
		is_well(p, f, res, "close");
	else
		must(p, res, "close of a reader", f->t.name);
}

static void act(struct program *p)
{
	struct file *f = &file[sched_choose(files)];
	bool writes = !sched_once_in(3);

	turn_take(&f->turn, writes);
	if (writes)
		write_file(p, f);
	else if (!f->unknown)
		read_file(p, f);
	turn_leave(&f->turn);
}

static void end(const struct stage *s)
{
	disk_fail_sync(0);
	disk_fail_writes(0);
	disk_full(UINT64_MAX);
	for (unsigned i = 0; i < FILES; i++)
		if (!file[i].unknown)
			truth_check_disk(&file[i].t);
}

const struct crowd crowd_promised = {
	.name = "promised", .each = 2, .begin = begin, .act = act, .end = end};
const struct crowd crowd_failing = {.name = "failing",
	.each = 2,
	.alone = true,
	.begin = begin_failing,
	.act = act,
	.end = end};

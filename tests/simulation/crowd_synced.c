/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_synced: the programs of a mount write to one file at the same time, each to a range of its
 * own. After its fsync(2) or close a program's range is on the server's disk itself, whatever else
 * is under way: the COMMIT that another program waits for may be older than the data.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"

#define PROGRAMS 4 /* on each mount */
#define RANGE	 6000

/* The range of a program, which takes up the last bytes of a page and the first of another. */
static uint8_t range[STAGE_MOUNTS * PROGRAMS][RANGE];

static void name_of(char name[16], unsigned mount)
{
	snprintf(name, 16, "synced%u", mount);
}

static off_t place(const struct program *p)
{
	return (off_t)(p->nth / p->stage->mounts) * RANGE;
}

static void begin(const struct stage *s)
{
	memset(range, 0, sizeof(range));
	for (unsigned m = 0; m < s->mounts; m++) {
		struct program p = {.stage = s, .proc = kernel_process(s->k[m]), .mount = m};
		char name[16];
		int fd;

		name_of(name, m);
		fd = (int)must(&p, sys_open(p.proc, name, O_RDWR | O_CREAT, 0644), "create", name);
		must(&p, sys_ftruncate(p.proc, fd, (off_t)PROGRAMS * RANGE), "ftruncate", name);
		must(&p, sys_close(p.proc, fd), "close", name);
		proc_exit(p.proc);
	}
}

static void check(const struct program *p, const char *name, const char *call)
{
	const uint8_t *own = range[p->nth];
	uint8_t buf[RANGE];
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/sim/export/%s", name);
	n = disk_read_safe(path, buf, sizeof(buf), place(p));
	if (n != RANGE)
		wrong(p, "after %s the server's disk has %zd of %d bytes of %s", call, n, RANGE,
			name);
	for (unsigned i = 0; i < RANGE; i++)
		if (buf[i] != own[i])
			wrong(p, "after %s the server's disk has %02x for byte %u of %s, not %02x",
				call, buf[i], (unsigned)place(p) + i, name, own[i]);
}

static void write_some(struct program *p, const char *name, int fd)
{
	uint8_t *own = range[p->nth], byte = (uint8_t)(1 + sched_choose(255));
	uint32_t off = sched_choose(RANGE), n = 1 + sched_choose((RANGE - off) / 4 + 1);

	sched_event("write %s %u+%u: %02x", name, (unsigned)place(p) + off, n, byte);
	memset(own + off, byte, n);
	if (must(p, sys_pwrite(p->proc, fd, own + off, n, place(p) + off), "write", name) !=
		(long)n)
		wrong(p, "a short write");
}

/* Linux lets no write begin while an fsync(2) of the file is under way, but while a close is. With
 * delegations to write a close promises less. Data in one piece may be made safe by its WRITE
 * alone; several pieces need a COMMIT. */
static void use(struct program *p, const char *name)
{
	int fd = (int)must(p, sys_open(p->proc, name, O_RDWR, 0), "open", name);
	bool less = program_has(p, "delegations=write");

	for (unsigned n = 1 + sched_choose(3); n; n--)
		write_some(p, name, fd);
	if (sched_once_in(less ? 2 : 8)) {
		must(p, sys_fsync(p->proc, fd), "fsync", name);
		check(p, name, "fsync");
	}
	must(p, sys_close(p->proc, fd), "close", name);
	if (!less)
		check(p, name, "close");
	sched_event("%s: the range of program %u is closed", name, p->number);
}

static void act(struct program *p)
{
	char name[16];

	name_of(name, p->mount);
	for (unsigned n = 1 + sched_choose(8); n; n--) {
		use(p, name);
		if (sched_once_in(8))
			usleep(sched_choose(20000));
	}
}

const struct crowd crowd_synced = {.name = "synced", .each = PROGRAMS, .begin = begin, .act = act};

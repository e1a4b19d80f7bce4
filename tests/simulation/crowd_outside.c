/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_outside: a program on the server's machine writes versions of files, without NFS, and
 * programs on the mounts read. A new version takes the place of the old bytes, or of the old file.
 * A reader sees the version that was complete before the open, or a later one.
 *
 * The leases of the simulated disk break at no open, and a power cut does not end the program on
 * the server. So the first version stays where the server gives delegations, and where it is
 * harmed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"

#define EXPORT	 "/sim/export"
#define FILES	 2
#define SIZE	 30000
#define PROGRAMS 8
#define NEWEST	 255

/* All bytes of version v are v. */
struct outside {
	char name[16];
	char path[32];	     /* on the server */
	uint8_t begun, done; /* versions */
	unsigned replaced;   /* times that the name was given to another file */
};

static struct outside file[FILES];

static void sure(const char *call, const char *path, bool ok)
{
	if (!ok)
		sched_fail("on the server, %s of %s: %s", call, path, strerror(errno));
}

static void write_file(const char *path, uint8_t version, int flags)
{
	static uint8_t buf[SIZE];
	int fd = open(path, O_WRONLY | O_CREAT | flags, 0644);
	size_t at = 0, n;

	sure("open", path, fd >= 0);
	memset(buf, version, sizeof(buf));
	for (; at < SIZE; at += n) {
		n = 1 + sched_choose(SIZE - (uint32_t)at);
		sure("write", path, pwrite(fd, buf, n, (off_t)at) == (ssize_t)n);
	}
	sure("fsync", path, fsync(fd) == 0);
	close(fd);
}

static void sync_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	sure("open", path, fd >= 0);
	sure("fsync", path, fsync(fd) == 0);
	close(fd);
}

static void replace(struct outside *f)
{
	char other[48];

	snprintf(other, sizeof(other), "%s.new", f->path);
	write_file(other, f->begun, 0);
	f->replaced++;
	sure("rename", other, rename(other, f->path) == 0);
	sync_directory(EXPORT);
}

static void write_version(struct outside *f)
{
	if (f->begun == NEWEST)
		return;
	f->begun++;
	sched_event("on the server %s: version %u begins", f->name, f->begun);
	if (sched_once_in(3))
		replace(f);
	else
		write_file(f->path, f->begun, sched_once_in(3) ? O_TRUNC : 0);
	f->done = f->begun;
	sched_event("on the server %s: version %u is there", f->name, f->done);
}

/* A power cut in the middle may take bytes, since the program on the server goes on. The file is
 * made in its place: fsync(2) of a new file covers its name, but no later rename(2). */
static void write_first(struct outside *f)
{
	unsigned cuts;

	f->begun = 1;
	do {
		cuts = disk_power_cuts();
		write_file(f->path, f->begun, 0);
	} while (disk_power_cuts() != cuts);
	f->done = f->begun;
}

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(file[i].name, sizeof(file[i].name), "outside%u", i);
		snprintf(file[i].path, sizeof(file[i].path), EXPORT "/outside%u", i);
		write_first(&file[i]);
	}
}

static bool is_blind(const struct program *p, const struct outside *f)
{
	return ways_blind(p->stage->process[p->mount], f->path, true);
}

static void read_version(struct program *p, struct outside *f)
{
	static uint8_t buf[PROGRAMS][SIZE];
	uint8_t *own = buf[p->nth % PROGRAMS], done = f->done;
	unsigned replaced = f->replaced;
	bool blind = is_blind(p, f);
	int fd = sys_open(p->proc, f->name, O_RDONLY, 0);
	ssize_t n;

	if (fd == -ESTALE && f->replaced != replaced)
		return;
	must(p, fd, "open", f->name);
	blind |= is_blind(p, f);
	sched_event("%s: a reader begins, at least version %u%s", f->name, done,
		blind ? ", without a sign of it" : "");
	for (size_t at = 0; at < SIZE; at += (size_t)n) {
		n = sys_pread(p->proc, fd, own, 1 + sched_choose(SIZE), (off_t)at);
		if (n == -ESTALE && f->replaced != replaced)
			break;
		must(p, n, "read", f->name);
		for (ssize_t i = 0; i < n; i++)
			if (!own[i] || own[i] > f->begun || (own[i] < done && !blind))
				wrong(p,
					"%s: byte %zu is of version %u, and %u was there before "
					"the open",
					f->name, at + (size_t)i, own[i], done);
		if (!n && f->begun == done && !blind)
			wrong(p, "%s ends after %zu of %u bytes", f->name, at, SIZE);
		if (!n)
			break;
	}
	must(p, sys_close(p->proc, fd), "close", f->name);
}

static void act(struct program *p)
{
	struct outside *f = &file[sched_choose(FILES)];

	if (p->nth || ways.delegates || !p->stage->calm)
		read_version(p, f);
	else
		write_version(f);
}

const struct crowd crowd_outside = {.name = "outside", .each = 2, .begin = begin, .act = act};

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * programs: the programs of a run, and the judge.
 */
#include "tests/simulation/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"

#define FILES	  2 /* of each crowd */
#define SIZE_MAX_ 60000
#define EACH	  2 /* programs of a crowd, on each mount */
#define MOUNTS	  3

/* The truth of a file of "locked": changed by the holder of the lock. */
struct locked {
	char name[16];
	size_t size;
	uint8_t bytes[SIZE_MAX_];
};

/* A file of "closed": of version v, byte i is of_version(v, i). */
struct closed {
	char name[16];
	uint8_t begun, done; /* versions: the last that is being written, and that was closed */
	uint8_t first;	     /* the oldest whose bytes may be left */
};

struct program {
	pthread_t thread;
	struct kernel *k;
	unsigned number, mount, rounds;
	bool writes; /* of "closed" */
	void (*act)(struct program *);
};

static struct locked locked[FILES];
static struct closed closed[FILES];

static __attribute__((format(printf, 2, 3), noreturn)) void wrong(
	const struct program *p, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sched_fail("program %u on mount %u: %s", p->number, p->mount, text);
}

static int must(const struct program *p, long res, const char *call, const char *name)
{
	if (res < 0)
		wrong(p, "%s of %s: %s", call, name, strerror((int)-res));
	return (int)res;
}

/* --- locked ----------------------------------------------------------------------------------- */

static void compare(
	struct program *p, const struct locked *f, const uint8_t *got, size_t off, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (got[i] != f->bytes[off + i])
			wrong(p, "%s: byte %zu of %zu is %02x, not %02x", f->name, off + i, f->size,
				got[i], f->bytes[off + i]);
}

static void read_locked(struct program *p, struct locked *f, int fd)
{
	static uint8_t buf[8][SIZE_MAX_];
	uint8_t *own = buf[p->number % 8];
	size_t off = f->size ? sched_choose((uint32_t)f->size) : 0,
	       size = 1 + sched_choose(SIZE_MAX_ - 1);
	size_t want = off < f->size ? f->size - off : 0;
	struct stat st;
	ssize_t n;

	if (sched_once_in(3))
		off = 0, size = SIZE_MAX_, want = f->size;
	if (want > size)
		want = size;
	if (sched_once_in(2)) {
		must(p, kernel_fstat(p->k, fd, &st), "fstat", f->name);
		if ((size_t)st.st_size != f->size)
			wrong(p, "%s has %zu bytes, and fstat tells %zu", f->name, f->size,
				(size_t)st.st_size);
	}
	n = kernel_read(p->k, fd, own, size, (off_t)off);
	must(p, n, "read", f->name);
	sched_event("read %s %zu+%zu: %zd", f->name, off, size, n);
	if ((size_t)n != want)
		wrong(p, "%s has %zu bytes, and a read of %zu from %zu on tells %zd", f->name,
			f->size, size, off, n);
	compare(p, f, own, off, (size_t)n);
}

static void write_locked(struct program *p, struct locked *f, int fd)
{
	size_t size = 1 + sched_choose(9000),
	       off = f->size ? sched_choose((uint32_t)f->size + 1) : 0;
	uint8_t byte = (uint8_t)(1 + sched_choose(255));

	if (off + size > SIZE_MAX_)
		size = SIZE_MAX_ - off;
	if (!size)
		return;
	memset(f->bytes + off, byte, size);
	sched_event("write %s %zu+%zu: %02x", f->name, off, size, byte);
	if (off + size > f->size)
		f->size = off + size;
	if (must(p, kernel_write(p->k, fd, f->bytes + off, size, (off_t)off), "write", f->name) !=
		(int)size)
		wrong(p, "a short write");
}

static void cut_locked(struct program *p, struct locked *f, int fd)
{
	size_t size = sched_choose(SIZE_MAX_);

	if (size > f->size)
		memset(f->bytes + f->size, 0, size - f->size);
	f->size = size;
	sched_event("truncate %s to %zu", f->name, size);
	must(p, kernel_ftruncate(p->k, fd, (off_t)size), "ftruncate", f->name);
}

static void act_locked(struct program *p)
{
	struct locked *f = &locked[sched_choose(FILES)];
	int fd = must(p, kernel_open(p->k, f->name, O_RDWR | O_CREAT, 0644), "open", f->name);
	unsigned n = 1 + sched_choose(4);

	must(p, kernel_lock(p->k, fd, F_WRLCK), "lock", f->name);
	while (n--) {
		read_locked(p, f, fd);
		if (sched_once_in(2))
			write_locked(p, f, fd);
		else if (sched_once_in(4))
			cut_locked(p, f, fd);
		else if (sched_once_in(4))
			must(p, kernel_fsync(p->k, fd), "fsync", f->name);
	}
	if (sched_once_in(2))
		must(p, kernel_lock(p->k, fd, F_UNLCK), "unlock", f->name);
	must(p, kernel_close(p->k, fd), "close", f->name);
}

/* --- closed ----------------------------------------------------------------------------------- */

#define CLOSED_SIZE 30000

static void write_version(struct program *p, struct closed *f)
{
	static uint8_t buf[CLOSED_SIZE];
	bool cuts = sched_once_in(3);
	size_t at = 0, n;
	int fd;

	if (f->begun == 255)
		return;
	f->begun++;
	sched_event("%s: version %u begins", f->name, f->begun);
	fd = must(p, kernel_open(p->k, f->name, O_RDWR | O_CREAT | (cuts ? O_TRUNC : 0), 0644),
		"open", f->name);
	memset(buf, f->begun, sizeof(buf));
	while (at < CLOSED_SIZE) {
		n = 1 + sched_choose(CLOSED_SIZE - (uint32_t)at);
		at += (size_t)must(p, kernel_write(p->k, fd, buf, n, (off_t)at), "write", f->name);
	}
	must(p, kernel_close(p->k, fd), "close", f->name);
	f->done = f->begun;
	sched_event("%s: version %u is closed", f->name, f->done);
}

static void read_version(struct program *p, struct closed *f)
{
	static uint8_t buf[8][CLOSED_SIZE];
	uint8_t *own = buf[p->number % 8], least = f->done;
	int fd = kernel_open(p->k, f->name, O_RDONLY, 0);
	ssize_t n;

	if (fd == -ENOENT) /* a name may be missed for as long as its directory's attributes last */
		return;
	must(p, fd, "open", f->name);
	for (size_t at = 0; at < CLOSED_SIZE; at += (size_t)n) {
		n = must(p, kernel_read(p->k, fd, own, 1 + sched_choose(CLOSED_SIZE), (off_t)at),
			"read", f->name);
		for (ssize_t i = 0; i < n; i++)
			if (own[i] < least || own[i] > f->begun || !own[i])
				wrong(p,
					"%s: byte %zu is of version %u, and %u was closed before "
					"the open",
					f->name, at + (size_t)i, own[i], least);
		if (!n && f->begun == least)
			wrong(p, "%s ends after %zu of %u bytes", f->name, at, CLOSED_SIZE);
		if (!n)
			break;
	}
	sched_event("%s: read, at least version %u", f->name, least);
	must(p, kernel_close(p->k, fd), "close", f->name);
}

static void act_closed(struct program *p)
{
	struct closed *f = &closed[sched_choose(FILES)];

	if (p->writes)
		write_version(p, f);
	else
		read_version(p, f);
}

/* --- all -------------------------------------------------------------------------------------- */

static void *run(void *ctx)
{
	struct program *p = ctx;
	char name[16];

	snprintf(name, sizeof(name), "program%u", p->number);
	sched_name(name);
	for (unsigned i = 0; i < p->rounds; i++) {
		p->act(p);
		if (sched_once_in(4))
			usleep(sched_choose(3000000));
	}
	return NULL;
}

static void check_disk(void)
{
	static uint8_t buf[SIZE_MAX_ + 1];
	char path[64];

	for (unsigned i = 0; i < FILES; i++) {
		struct locked *f = &locked[i];
		ssize_t n;

		snprintf(path, sizeof(path), "/sim/export/%.16s", f->name);
		n = disk_read(path, buf, sizeof(buf), 0);
		if (n == -ENOENT && !f->size)
			continue;
		if (n != (ssize_t)f->size || memcmp(buf, f->bytes, f->size))
			sched_fail(
				"at the end %s has not the bytes that programs wrote (%zd of %zu)",
				path, n, f->size);
	}
}

void programs_run(struct kernel **mounts, unsigned n, unsigned rounds)
{
	static struct program program[MOUNTS * EACH * 2];
	unsigned made = 0;

	for (unsigned i = 0; i < FILES; i++) {
		snprintf(locked[i].name, sizeof(locked[i].name), "locked%u", i);
		snprintf(closed[i].name, sizeof(closed[i].name), "closed%u", i);
	}
	for (unsigned i = 0; i < n * EACH * 2; i++) {
		struct program *p = &program[made];

		*p = (struct program){.number = made,
			.mount = i % n,
			.k = mounts[i % n],
			.rounds = rounds,
			.act = i / n % 2 ? act_closed : act_locked,
			.writes = i == n};
		made++;
		pthread_create(&p->thread, NULL, run, p);
	}
	while (made > 0)
		pthread_join(program[--made].thread, NULL);
	check_disk();
}

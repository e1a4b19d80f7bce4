/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * truth: a file as its programs have made the file.
 */
#include "tests/simulation/truth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"

#define PROGRAMS  64
#define WAIT_MOST 600
#define WAIT_US	  100000

/* A buffer of the program's own, for reads and writes. */
static uint8_t *buffer(const struct program *p)
{
	static uint8_t buf[PROGRAMS][TRUTH_MOST];

	return buf[p->number % PROGRAMS];
}

void truth_new(struct truth *t, const char *name, unsigned number)
{
	*t = (struct truth){.size = 0};
	snprintf(t->name, sizeof(t->name), "%s%u", name, number);
}

void truth_compare(
	const struct program *p, const struct truth *t, const uint8_t *got, size_t off, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (got[i] != t->bytes[off + i])
			wrong(p, "%s: byte %zu of %zu is %02x, not %02x", t->name, off + i, t->size,
				got[i], t->bytes[off + i]);
}

void truth_check_size(const struct program *p, const struct truth *t, off_t size, const char *call)
{
	if ((size_t)size != t->size)
		wrong(p, "%s has %zu bytes, and %s tells %zu", t->name, t->size, call,
			(size_t)size);
}

static void read_part(struct program *p, const struct truth *t, int fd, size_t off, size_t size)
{
	size_t want = off < t->size ? t->size - off : 0;
	ssize_t n;

	if (want > size)
		want = size;
	n = must(p, sys_pread(p->proc, fd, buffer(p), size, (off_t)off), "read", t->name);
	sched_event("read %s %zu+%zu: %zd", t->name, off, size, n);
	if ((size_t)n != want)
		wrong(p, "%s has %zu bytes, and a read of %zu from %zu on tells %zd", t->name,
			t->size, size, off, n);
	truth_compare(p, t, buffer(p), off, want);
}

void truth_read_all(struct program *p, const struct truth *t, int fd)
{
	read_part(p, t, fd, 0, TRUTH_MOST);
}

void truth_read(struct program *p, const struct truth *t, int fd)
{
	size_t off = t->size ? sched_choose((uint32_t)t->size) : 0;
	size_t size = 1 + sched_choose(TRUTH_MOST - 1);
	struct stat st;

	if (sched_once_in(2)) {
		must(p, sys_fstat(p->proc, fd, &st), "fstat", t->name);
		truth_check_size(p, t, st.st_size, "fstat");
	}
	if (sched_once_in(3))
		truth_read_all(p, t, fd);
	else
		read_part(p, t, fd, off, size);
}

void truth_wrote(struct truth *t, size_t off, size_t n, uint8_t byte)
{
	if (off > t->size)
		memset(t->bytes + t->size, 0, off - t->size);
	memset(t->bytes + off, byte, n);
	if (off + n > t->size)
		t->size = off + n;
}

void truth_write(struct program *p, struct truth *t, int fd, size_t gap)
{
	size_t size = 1 + sched_choose(9000), off = sched_choose((uint32_t)(t->size + gap) + 1);
	uint8_t byte = (uint8_t)(1 + sched_choose(255));

	if (off >= TRUTH_MOST)
		return;
	if (off + size > TRUTH_MOST)
		size = TRUTH_MOST - off;
	sched_event("write %s %zu+%zu: %02x", t->name, off, size, byte);
	truth_wrote(t, off, size, byte);
	memset(buffer(p), byte, size);
	if (must(p, sys_pwrite(p->proc, fd, buffer(p), size, (off_t)off), "write", t->name) !=
		(long)size)
		wrong(p, "a short write");
}

void truth_cut(struct truth *t, size_t size)
{
	if (size > t->size)
		memset(t->bytes + t->size, 0, size - t->size);
	t->size = size;
}

void truth_zero(struct truth *t, size_t off, size_t end)
{
	if (end > t->size)
		end = t->size;
	if (off < end)
		memset(t->bytes + off, 0, end - off);
}

bool truth_sync(struct program *p, struct truth *t, int fd)
{
	int res = sys_fsync(p->proc, fd);

	if (res != -EIO || p->stage->calm) {
		must(p, res, "fsync", t->name);
		return true;
	}
	sched_event("%s is lost", t->name);
	must(p, sys_ftruncate(p->proc, fd, 0), "ftruncate", t->name);
	truth_cut(t, 0);
	return false;
}

/* The server's bytes; -ENOENT: there is no file. */
static ssize_t read_disk(const struct truth *t, uint8_t buf[TRUTH_MOST + 1])
{
	char path[64];

	snprintf(path, sizeof(path), "/sim/export/%s", t->name);
	return disk_read(path, buf, TRUTH_MOST + 1, 0);
}

void truth_wait_disk(const struct truth *t)
{
	static uint8_t buf[TRUTH_MOST + 1];

	for (unsigned i = 0; i < WAIT_MOST; i++) {
		if (read_disk(t, buf) == (ssize_t)t->size && !memcmp(buf, t->bytes, t->size))
			return;
		usleep(WAIT_US);
	}
}

void truth_check_disk(const struct truth *t)
{
	static uint8_t buf[TRUTH_MOST + 1];
	ssize_t n = read_disk(t, buf);

	if (n == -ENOENT && !t->size)
		return;
	if (n != (ssize_t)t->size)
		sched_fail("at the end %s has %zd bytes, not the %zu that programs wrote", t->name,
			n, t->size);
	for (size_t i = 0; i < t->size; i++)
		if (buf[i] != t->bytes[i])
			sched_fail("at the end byte %zu of %s is %02x, not %02x", i, t->name,
				buf[i], t->bytes[i]);
}

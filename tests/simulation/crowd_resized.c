/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_resized: files become shorter and longer, and get holes. One program changes a file between
 * its open and its close; then others open the file without a lock, and must see exactly the size
 * and the bytes that the last closer left.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/turn.h"

#define FILES 2
#define GAP   9000 /* a write begins behind the end by up to so much */

static struct truth file[FILES];
static struct turn turns[FILES];

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		truth_new(&file[i], "resized", i);
}

static size_t place(const struct truth *t)
{
	return t->size && sched_once_in(2) ? sched_choose((uint32_t)t->size)
					   : sched_choose(TRUTH_MOST);
}

static void resize(struct program *p, struct truth *t, int fd)
{
	size_t size = place(t);
	bool by_name = sched_once_in(3);

	sched_event("truncate %s to %zu", t->name, size);
	if (by_name)
		must(p, sys_truncate(p->proc, t->name, (off_t)size), "truncate", t->name);
	else
		must(p, sys_ftruncate(p->proc, fd, (off_t)size), "ftruncate", t->name);
	truth_cut(t, size);
}

/* NFS below 4.2 has neither of both calls. */
static void allocate(struct program *p, struct truth *t, int fd, bool punches)
{
	int mode = punches ? FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE : 0;
	size_t off = place(t), len = 1 + sched_choose(20000);
	int res;

	if (off + len > TRUTH_MOST)
		len = TRUTH_MOST - off;
	if (!len)
		return;
	res = sys_fallocate(p->proc, fd, mode, (off_t)off, (off_t)len);
	sched_event("%s %s %zu+%zu: %d", punches ? "punch" : "allocate", t->name, off, len, res);
	if (res == -EOPNOTSUPP && !program_has(p, "vers=4.2"))
		return;
	must(p, res, "fallocate", t->name);
	if (punches)
		truth_zero(t, off, off + len);
	else if (off + len > t->size)
		truth_cut(t, off + len);
}

static void look(struct program *p, const struct truth *t)
{
	struct stat st;

	must(p, sys_stat(p->proc, t->name, &st), "stat", t->name);
	truth_check_size(p, t, st.st_size, "stat");
}

/* No byte that is not zero is in a hole, and a hole ends at the end at the latest. */
static void seek(struct program *p, const struct truth *t, int fd)
{
	size_t off = place(t), end;
	bool hole = sched_once_in(2);
	off_t res = sys_lseek(p->proc, fd, (off_t)off, hole ? SEEK_HOLE : SEEK_DATA);

	sched_event("seek %s %s %zu: %lld", hole ? "hole" : "data", t->name, off, (long long)res);
	if (res == -ENXIO && (off >= t->size || !hole))
		res = (off_t)t->size;
	must(p, res, "lseek", t->name);
	end = (size_t)res;
	if (off < t->size && (end < off || end > t->size))
		wrong(p, "%s: lseek from %zu finds %zu, and the file has %zu bytes", t->name, off,
			end, t->size);
	for (size_t i = off; !hole && i < end && i < t->size; i++)
		if (t->bytes[i])
			wrong(p,
				"%s: lseek from %zu finds no data before %zu, and byte %zu is %02x",
				t->name, off, end, i, t->bytes[i]);
}

static void change(struct program *p, struct truth *t, int fd)
{
	switch (sched_choose(8)) {
	case 0:
	case 1:
		resize(p, t, fd);
		break;
	case 2:
		allocate(p, t, fd, true);
		break;
	case 3:
		allocate(p, t, fd, false);
		break;
	case 4:
		must(p, sys_fsync(p->proc, fd), "fsync", t->name);
		break;
	default:
		truth_write(p, t, fd, GAP);
	}
}

static void use(struct program *p, struct truth *t, bool writes)
{
	bool cuts = writes && sched_once_in(4);
	unsigned n = 1 + sched_choose(5);
	int fd = sys_open(p->proc, t->name,
		writes ? O_RDWR | O_CREAT | (cuts ? O_TRUNC : 0) : O_RDONLY, 0644);

	if (fd == -ENOENT && !writes) /* the name is new, and its directory's listing is believed */
		return;
	must(p, fd, "open", t->name);
	if (cuts)
		truth_cut(t, 0);
	sched_event("%s is open, of %zu bytes", t->name, t->size);
	if (program_is_blind(p, t->name))
		n = 0; /* every client would believe its old pages */
	while (n--) {
		if (sched_once_in(2))
			truth_read(p, t, fd);
		else if (sched_once_in(6))
			look(p, t);
		else if (sched_once_in(6))
			seek(p, t, fd);
		if (writes)
			change(p, t, fd);
	}
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

const struct crowd crowd_resized = {
	.name = "resized", .each = 2, .begin = begin, .act = act, .end = end};

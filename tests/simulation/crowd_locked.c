/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_locked: programs lock whole files, shared or alone, and read, write and truncate the files.
 * The holder of a lock sees all changes of former holders.
 */
#include <fcntl.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"

#define FILES 2

static struct truth file[FILES];

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		truth_new(&file[i], "locked", i);
}

static void cut(struct program *p, struct truth *t, int fd)
{
	size_t size = sched_choose(TRUTH_MOST);

	sched_event("truncate %s to %zu", t->name, size);
	truth_cut(t, size);
	must(p, sys_ftruncate(p->proc, fd, (off_t)size), "ftruncate", t->name);
}

/* Under the lock. */
static void use(struct program *p, struct truth *t, int fd, bool writes)
{
	for (unsigned n = 1 + sched_choose(4); n; n--) {
		truth_read(p, t, fd);
		if (!writes)
			continue;
		if (sched_once_in(2))
			truth_write(p, t, fd, 0);
		else if (sched_once_in(4))
			cut(p, t, fd);
		else if (sched_once_in(4))
			must(p, sys_fsync(p->proc, fd), "fsync", t->name);
	}
}

/* Reads without a lock: any bytes will do. But the mount must not show these bytes to the next
 * holder of the lock. */
static void peep(struct program *p, struct truth *t, int fd)
{
	uint8_t buf[9000];

	read_beside(p, fd, buf, sizeof(buf), (off_t)sched_choose(TRUTH_MOST), t->name);
}

static void lock_and_use(struct program *p, struct truth *t, int fd, bool last)
{
	bool writes = !sched_once_in(3);
	struct flock l = {.l_type = writes ? F_WRLCK : F_RDLCK};

	must(p, sys_fcntl_lock(p->proc, fd, F_SETLKW, &l), "lock", t->name);
	use(p, t, fd, writes);
	if (last && sched_once_in(2))
		return; /* close(2) unlocks */
	l.l_type = F_UNLCK;
	must(p, sys_fcntl_lock(p->proc, fd, F_SETLK, &l), "unlock", t->name);
}

static void act(struct program *p)
{
	struct truth *t = &file[sched_choose(FILES)];
	int fd = (int)must(p, sys_open(p->proc, t->name, O_RDWR | O_CREAT, 0644), "open", t->name);

	for (unsigned n = 1 + sched_choose(3); n; n--) {
		if (sched_once_in(6))
			peep(p, t, fd);
		lock_and_use(p, t, fd, n == 1);
		/* the file stays open: only the unlock shows the new bytes to other mounts */
		if (n > 1 && sched_once_in(2))
			usleep(sched_choose(500000));
	}
	must(p, sys_close(p->proc, fd), "close", t->name);
}

static void end(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		truth_check_disk(&file[i]);
}

const struct crowd crowd_locked = {
	.name = "locked", .each = 2, .begin = begin, .act = act, .end = end};

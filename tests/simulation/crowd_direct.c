/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_direct: programs read and write with O_DIRECT, and without, by descriptors of one process.
 * Each descriptor reads the bytes that the other has written, and the next opener on any mount
 * reads all of them. A server without power loses data that has gone past the cache of rnfs. So in
 * a run with such weather a direct write is synced at once (truth_sync()).
 */
#include <errno.h>
#include <fcntl.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/turn.h"

#define FILES 2
#define OPENS 2

static struct truth file[FILES];
static struct turn turns[FILES];

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		truth_new(&file[i], "direct", i);
}

static void close_all(struct program *p, const struct truth *t, const int *fd, bool lost)
{
	for (unsigned i = 0; i < OPENS; i++) {
		int res = sys_close(p->proc, fd[i]);

		if (res != -EIO || !lost) /* each open file tells the loss */
			must(p, res, "close", t->name);
	}
}

/* False: bytes are lost. */
static bool step(struct program *p, struct truth *t, int fd, bool direct, bool writes)
{
	if (writes && sched_once_in(2)) {
		truth_write(p, t, fd, 5000);
		return !direct || p->stage->calm || truth_sync(p, t, fd);
	}
	if (writes && sched_once_in(8))
		return truth_sync(p, t, fd);
	if (writes && sched_once_in(8)) {
		truth_cut(t, sched_choose(TRUTH_MOST));
		must(p, sys_ftruncate(p->proc, fd, (off_t)t->size), "ftruncate", t->name);
	} else {
		truth_read(p, t, fd);
	}
	return true;
}

static void use(struct program *p, struct truth *t, bool writes)
{
	bool direct[OPENS] = {sched_once_in(2), true}, lost = false;
	int fd[OPENS];

	for (unsigned i = 0; i < OPENS; i++) {
		fd[i] = sys_open(p->proc, t->name,
			(writes ? O_RDWR | O_CREAT : O_RDONLY) | (direct[i] ? O_DIRECT : 0), 0644);
		if (fd[i] == -ENOENT && !writes && !i)
			return; /* the name is new, and its directory's listing is believed */
		must(p, fd[i], "open", t->name);
	}
	for (unsigned n = program_is_blind(p, t->name) ? 0 : 1 + sched_choose(6); n; n--) {
		unsigned i = sched_choose(OPENS);

		lost |= !step(p, t, fd[i], direct[i], writes);
	}
	close_all(p, t, fd, lost);
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

const struct crowd crowd_direct = {
	.name = "direct", .each = 2, .begin = begin, .act = act, .end = end};

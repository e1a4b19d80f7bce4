/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_copied: programs copy ranges of a file into another one by copy_file_range(2), beside
 * writes to both that are not sent yet. The copier and the next opener of either file, on any
 * mount, see exactly the bytes of the copy.
 *
 * A program asks for the size of the source after the open, as cp(1) does: the kernel copies no
 * byte behind the end that the kernel knows, and learns of another client's end by that question.
 * A server without power loses copies. So in a run with such weather a copy is synced at once
 * (truth_sync()).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/turn.h"

#define FILES 3
#define GAP   3000 /* a copy begins behind the end by up to so much */

static struct truth file[FILES];
static struct turn turns[FILES];

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		truth_new(&file[i], "copied", i);
}

/* -1: the name is new, and its directory's listing is believed. */
static int open_one(struct program *p, const struct truth *t, bool writes)
{
	int fd = sys_open(p->proc, t->name, writes ? O_RDWR | O_CREAT : O_RDONLY, 0644);
	struct stat st;

	if (fd == -ENOENT && !writes)
		return -1;
	must(p, fd, "open", t->name);
	must(p, sys_fstat(p->proc, fd, &st), "fstat", t->name);
	if (!program_is_blind(p, t->name))
		truth_check_size(p, t, st.st_size, "fstat");
	return fd;
}

/* False: bytes are lost. */
static bool copy(struct program *p, const struct truth *from, int in, struct truth *to, int out)
{
	size_t off = sched_choose((uint32_t)from->size + 1), at, n = 1 + sched_choose(TRUTH_MOST);
	ssize_t res;

	at = to->size + GAP < TRUTH_MOST ? to->size + GAP : TRUTH_MOST;
	at = sched_choose((uint32_t)at);
	if (n > TRUTH_MOST - at)
		n = TRUTH_MOST - at;
	res = sys_copy_file_range(p->proc, in, (off_t)off, out, (off_t)at, n);
	must(p, res, "copy_file_range", to->name);
	if (!res && off < from->size)
		wrong(p, "%s, of %zu bytes: nothing is copied from %zu on", from->name, from->size,
			off);
	n = (size_t)res;
	if (n > from->size - off)
		wrong(p, "%s, of %zu bytes: %zu bytes are copied from %zu on", from->name,
			from->size, n, off);
	sched_event("%zu bytes of %s from %zu on are copied to %s at %zu", n, from->name, off,
		to->name, at);
	if (n && at + n > to->size)
		truth_cut(to, at + n);
	memcpy(to->bytes + at, from->bytes + off, n);
	return p->stage->calm || truth_sync(p, to, out);
}

static void use(struct program *p, struct truth *from, struct truth *to, bool writes)
{
	int in = open_one(p, from, writes), out, res;
	bool lost = false;

	if (in < 0)
		return;
	out = open_one(p, to, true);
	for (unsigned n = program_is_blind(p, from->name) || program_is_blind(p, to->name)
				  ? 0
				  : 1 + sched_choose(4);
		n; n--) {
		if (writes && sched_once_in(2))
			truth_write(p, from, in, GAP);
		if (sched_once_in(2))
			truth_write(p, to, out, GAP);
		if (sched_once_in(2))
			truth_read(p, to, out);
		lost |= !copy(p, from, in, to, out);
		truth_read(p, to, out);
	}
	must(p, sys_close(p->proc, in), "close", from->name);
	res = sys_close(p->proc, out);
	if (res != -EIO || !lost)
		must(p, res, "close", to->name);
	sched_event("%s and %s are closed", from->name, to->name);
}

/* Takes the turns in the order of the files, so that no two programs wait for each other. */
static void act(struct program *p)
{
	unsigned from = sched_choose(FILES), to = (from + 1 + sched_choose(FILES - 1)) % FILES;
	bool writes = sched_once_in(2);

	for (unsigned i = 0; i < FILES; i++)
		if (i == from || i == to)
			turn_take(&turns[i], i == to || writes);
	use(p, &file[from], &file[to], writes);
	turn_leave(&turns[from]);
	turn_leave(&turns[to]);
}

static void end(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		truth_check_disk(&file[i]);
}

const struct crowd crowd_copied = {
	.name = "copied", .each = 2, .begin = begin, .act = act, .end = end};

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_listed: each mount has directories whose names the programs of this mount alone change.
 * Programs of the other mounts list these directories and look at their names. A version of a name
 * is a file of its own, or no file. Opening a directory asks the server. So each change that ended
 * before the open is seen by the list, and by each later look of the reader's mount. rnfs tells the
 * kernel soon, not at once: looks count some seconds after the list. A look without a list sees
 * each change that is older than the time for which the mount believes names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/turn.h"
#include "tests/simulation/ways.h"

#define DIRS	 3u /* of each mount */
#define NAMES	 3u
#define VERSIONS 200u
#define SECOND	 1000000000ull
#define SOON	 (3 * SECOND) /* the mount takes names back twice, within a second each */
#define LONG	 (2 * SECOND) /* believed at most so much longer than the mount option says */
#define BELIEVES (60 * SECOND)

/* The versions that a mount has seen at the beginning of its lists. */
struct learned {
	unsigned version, coming; /* coming: counts from the time `from` on */
	uint64_t from;
};

struct name {
	char path[24];
	unsigned begun, done;	  /* versions; 0: there was no file */
	ino_t ino[VERSIONS];	  /* 0: no file */
	uint64_t ended[VERSIONS]; /* when the change to the version had ended */
	struct learned by[STAGE_MOUNTS];
};

struct dir {
	unsigned mount;
	char path[16];
	struct name name[NAMES];
	struct turn turn; /* of the programs that change names */
};

static struct dir dirs[STAGE_MOUNTS][DIRS];

static void begin_dir(const struct program *p, struct dir *d, unsigned number)
{
	snprintf(d->path, sizeof(d->path), "listed%u", number);
	d->mount = p->mount;
	make_dir(p, d->path);
	for (unsigned i = 0; i < NAMES; i++)
		snprintf(d->name[i].path, sizeof(d->name[i].path), "%.12s/n%u", d->path, i);
}

static void begin(const struct stage *s)
{
	for (unsigned m = 0; m < s->mounts; m++) {
		struct program p = {.stage = s, .mount = m, .proc = kernel_process(s->k[m])};

		for (unsigned i = 0; i < DIRS; i++)
			begin_dir(&p, &dirs[m][i], m * DIRS + i);
		proc_exit(p.proc);
	}
}

static bool is_file(unsigned version)
{
	return version % 3 != 0;
}

/* --- changing --------------------------------------------------------------------------------- */

/* A call that the server may carry out twice, if the server was harmed, finds its own work. */
static void must_name(const struct program *p, long res, const char *call, const char *name)
{
	if (res != -ENOENT || p->stage->calm)
		must(p, res, call, name);
}

static void put_file(struct program *p, const struct dir *d, struct name *n)
{
	struct stat st;
	char other[24];
	int fd;

	snprintf(other, sizeof(other), "%.12s/new", d->path);
	fd = (int)must(p, sys_open(p->proc, other, O_WRONLY | O_CREAT, 0644), "create", other);
	must(p, sys_fstat(p->proc, fd, &st), "fstat", other);
	n->ino[n->begun] = st.st_ino;
	must(p, sys_close(p->proc, fd), "close", other);
	must_name(p, sys_rename(p->proc, other, n->path, 0), "rename to", n->path);
}

static void change(struct program *p, struct dir *d)
{
	struct name *n = &d->name[sched_choose(NAMES)];

	turn_take(&d->turn, true);
	if (n->begun + 1 < VERSIONS) {
		n->begun++;
		if (is_file(n->begun))
			put_file(p, d, n);
		else
			must_name(p, sys_unlink(p->proc, n->path), "unlink", n->path);
		n->ended[n->begun] = sched_now();
		n->done = n->begun;
		sched_event("%s has version %u", n->path, n->done);
	}
	turn_leave(&d->turn);
}

/* --- looking ---------------------------------------------------------------------------------- */

static uint64_t believes(const struct program *p)
{
	const char *time = strstr(p->stage->options[p->mount], "actimeo=");

	if (program_has(p, "noac"))
		return 0;
	return time ? strtoull(time + 8, NULL, 10) * SECOND : BELIEVES;
}

/* The oldest version that a look of the program may find, which begins now. */
static unsigned oldest(const struct program *p, const struct dir *d, struct name *n)
{
	struct learned *l = &n->by[p->mount];
	uint64_t age = believes(p) + LONG, now = sched_now();
	unsigned least;

	if (d->mount == p->mount)
		return n->done;
	if (l->coming > l->version && l->from <= now)
		l->version = l->coming;
	least = l->version;
	for (unsigned v = least + 1; v <= n->done; v++)
		if (n->ended[v] + age < now)
			least = v;
	return least;
}

static bool may_find(const struct name *n, unsigned least, bool file)
{
	for (unsigned v = least; v <= n->begun; v++)
		if (is_file(v) == file)
			return true;
	return false;
}

static void look(struct program *p, struct dir *d)
{
	struct name *n = &d->name[sched_choose(NAMES)];
	unsigned least = oldest(p, d, n);
	struct stat st;
	int res = sys_stat(p->proc, n->path, &st);

	sched_event("%s, of version %u to %u: %d, file %lu", n->path, least, n->begun, res,
		res ? 0ul : (unsigned long)st.st_ino);
	if (res == -ENOENT && may_find(n, least, false))
		return;
	if (res == -ENOENT)
		wrong(p, "%s has version %u to %u, and stat finds no file", n->path, least,
			n->begun);
	if (res == -ESTALE && n->begun > least) /* was replaced meanwhile */
		return;
	must(p, res, "stat", n->path);
	for (unsigned v = least; v <= n->begun; v++)
		if (n->ino[v] == st.st_ino)
			return;
	wrong(p, "%s has version %u to %u, and stat finds another file, %lu", n->path, least,
		n->begun, (unsigned long)st.st_ino);
}

/* The mount has asked the server for the directory: later looks know. */
static void learn(const struct program *p, struct dir *d, const unsigned version[NAMES])
{
	uint64_t now = sched_now();

	for (unsigned i = 0; i < NAMES; i++) {
		struct learned *l = &d->name[i].by[p->mount];

		if (l->coming > l->version && l->from <= now)
			l->version = l->coming;
		if (version[i] <= l->coming)
			continue;
		l->coming = version[i];
		l->from = now + SOON;
	}
}

static void list(struct program *p, struct dir *d)
{
	unsigned version[NAMES], i;
	bool seen[NAMES] = {false};
	struct sys_dirent *all;
	int n;

	for (i = 0; i < NAMES; i++)
		version[i] = d->name[i].done;
	n = (int)must(p, sys_readdir(p->proc, d->path, &all), "readdir", d->path);
	for (int e = 0; e < n; e++)
		if (sscanf(all[e].name, "n%u", &i) == 1 && i < NAMES)
			seen[i] = true;
	free(all);
	sched_event("%s has %d names", d->path, n);
	if (ways.coarse) /* two changes in a tick look like one */
		return;
	for (i = 0; i < NAMES; i++)
		if (!may_find(&d->name[i], version[i], seen[i]))
			wrong(p, "%s has version %u to %u, and is %slisted", d->name[i].path,
				version[i], d->name[i].begun, seen[i] ? "" : "not ");
	learn(p, d, version);
}

static void act(struct program *p)
{
	struct dir *d = &dirs[sched_choose(p->stage->mounts)][sched_choose(DIRS)];

	for (unsigned n = 1 + sched_choose(5); n; n--)
		if (d->mount == p->mount && sched_once_in(2))
			change(p, d);
		else if (sched_once_in(3))
			list(p, d);
		else if (sched_once_in(4))
			usleep(sched_choose(5000000));
		else
			look(p, d);
}

const struct crowd crowd_listed = {.name = "listed", .each = 2, .begin = begin, .act = act};

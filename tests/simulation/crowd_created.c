/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_created: programs of all mounts open new names with O_CREAT at about the same time. A name
 * may have become another link of a file that other programs write to meanwhile. Each program
 * writes behind all other writes, so files only grow. A program sees its own bytes. The size is at
 * least the end of each write that had ended on the program's mount, and of each write that was
 * closed before the program's open.
 *
 * A server without power may lose bytes that were not synced. rnfs does not write such bytes again
 * to a file that another client has changed, and a call tells the loss (EIO). So the judge leaves
 * out files of before a power cut. If the server was killed, or changes its write verifier, calls
 * may tell a loss that did not happen. Nor does the judge look at a file of which a kernel has
 * zeroed bytes of a write under way.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"
#include "tests/simulation/weather.h"

#define DIR	 "created"
#define FILES	 400
#define NAMES	 3 /* of one set */
#define SETS	 100
#define ROUNDS	 6 /* of programs, before the next set's names come */
#define PROGRAMS 8
#define MOST	 3000u /* bytes of a write */

/* A file, by its inode number: which names are links of one file is not known before. */
struct made {
	ino_t ino;
	size_t next;		      /* end of the last write that has begun */
	size_t written[STAGE_MOUNTS]; /* ends of the last writes that have ended */
	size_t closed;
	unsigned cuts, kills; /* of the server, before the file was made */
};

/* A range that a program has written, all bytes alike. */
struct mine {
	size_t off, n;
	uint8_t byte;
};

static struct made files[FILES];
static unsigned files_n, rounds;

static struct made *find(const struct program *p, ino_t ino)
{
	for (unsigned i = 0; i < files_n; i++)
		if (files[i].ino == ino)
			return &files[i];
	if (files_n == FILES)
		wrong(p, "more than %d files", FILES);
	files[files_n].ino = ino;
	files[files_n].cuts = disk_power_cuts();
	files[files_n].kills = weather_kills();
	return &files[files_n++];
}

static bool is_sure(const struct made *f)
{
	return f->cuts == disk_power_cuts() && !vfs_has_torn(f->ino);
}

/* False: the call tells a loss. */
static bool keeps(
	const struct program *p, const struct made *f, long res, const char *call, const char *name)
{
	if (res == -EIO && (f->kills != weather_kills() || ways.verf_one_in))
		return false;
	must(p, res, call, name);
	return true;
}

static void begin(const struct stage *s)
{
	struct program p = {.stage = s, .proc = kernel_process(s->k[0])};

	make_dir(&p, DIR);
	proc_exit(p.proc);
}

/* ahead: maybe of the next set, so that the mount believes the name to be absent. */
static void choose_name(char name[32], bool ahead)
{
	unsigned set = rounds / ROUNDS;

	if (ahead && sched_once_in(2))
		set++;
	else if (set && sched_once_in(3))
		set--;
	snprintf(name, 32, DIR "/%u%c", set, 'a' + (int)sched_choose(NAMES));
}

static void check(const struct program *p, const char *name, const struct stat *st, size_t least,
	const char *call)
{
	const struct made *f = find(p, st->st_ino);

	sched_event("%s of %s: file %lu of %lld bytes, at least %zu", call, name,
		(unsigned long)st->st_ino, (long long)st->st_size, least);
	if (!is_sure(f))
		return;
	if ((size_t)st->st_size < least || (size_t)st->st_size > f->next)
		wrong(p, "%s has %zu to %zu bytes, and %s tells %lld", name, least, f->next, call,
			(long long)st->st_size);
}

/* The name may be missing: the mount may believe that for as long as it believes names. */
static void look(const struct program *p, const char *name)
{
	struct stat st;
	size_t least[FILES];
	int res;

	for (unsigned i = 0; i < FILES; i++)
		least[i] = files[i].written[p->mount];
	res = sys_stat(p->proc, name, &st);
	if (res == -ENOENT)
		return;
	must(p, res, "stat", name);
	check(p, name, &st, least[find(p, st.st_ino) - files], "stat");
}

static void look_at_open(const struct program *p, const char *name, int fd, struct made *f)
{
	size_t least = f->written[p->mount];
	struct stat st;

	must(p, sys_fstat(p->proc, fd, &st), "fstat", name);
	if (st.st_ino != f->ino)
		wrong(p, "%s was file %lu, and is %lu", name, (unsigned long)f->ino,
			(unsigned long)st.st_ino);
	check(p, name, &st, least, "fstat");
}

static void write_behind(
	const struct program *p, const char *name, int fd, struct made *f, struct mine *mine)
{
	struct mine m = {.off = f->next,
		.n = 1 + sched_choose(MOST),
		.byte = (uint8_t)(1 + sched_choose(255))};
	uint8_t buf[MOST];
	long n;

	f->next += m.n;
	memset(buf, m.byte, m.n);
	n = sys_pwrite(p->proc, fd, buf, m.n, (off_t)m.off);
	if (!keeps(p, f, n, "write", name))
		return;
	if (n != (long)m.n)
		wrong(p, "%s: a short write", name);
	if (m.off + m.n > f->written[p->mount])
		f->written[p->mount] = m.off + m.n;
	*mine = m;
}

static void compare(const struct program *p, const char *name, const struct made *f,
	const struct mine *m, const uint8_t *got)
{
	for (size_t i = 0; i < m->n; i++)
		if (got[i] != m->byte && is_sure(f))
			wrong(p, "%s: byte %zu is %02x, and this program wrote %02x", name,
				m->off + i, got[i], m->byte);
}

static void read_mine(const struct program *p, const char *name, int fd, const struct made *f,
	const struct mine *m)
{
	uint8_t buf[MOST];
	long n = sys_pread(p->proc, fd, buf, m->n, (off_t)m->off);

	if (!keeps(p, f, n, "read", name))
		return;
	if ((size_t)n != m->n && is_sure(f))
		wrong(p, "%s: this program wrote %zu+%zu, and a read tells %ld", name, m->off, m->n,
			n);
	compare(p, name, f, m, buf);
}

static void load_mine(const struct program *p, const char *name, int fd, const struct made *f,
	const struct mine *m)
{
	size_t from = m->off / VFS_PAGE * VFS_PAGE;
	uint8_t buf[MOST];
	int map =
		(int)must(p, sys_mmap(p->proc, fd, (off_t)from, m->off + m->n - from, true, false),
			"mmap", name);
	int res = sys_load(p->proc, map, m->off - from, buf, m->n);

	if (is_sure(f) && must(p, res, "load", name) >= 0)
		compare(p, name, f, m, buf);
	must(p, sys_munmap(p->proc, map), "munmap", name);
}

/* Another name for the file. */
static void add_name(const struct program *p, const char *name)
{
	char other[32];
	int res;

	choose_name(other, false);
	res = sys_link(p->proc, name, other);
	sched_event("link of %s to %s: %d", name, other, res);
	if (res != -EEXIST && res != -ENOENT)
		must(p, res, "link", name);
}

static void list(const struct program *p)
{
	struct sys_dirent *all;

	must(p, sys_readdir(p->proc, DIR, &all), "readdir", DIR);
	free(all);
}

static void use(const struct program *p, const char *name, int fd, struct made *f)
{
	struct mine m = {.n = 0};

	if (sched_once_in(2))
		add_name(p, name);
	for (unsigned n = 1 + sched_choose(4); n; n--) {
		if (sched_once_in(2))
			write_behind(p, name, fd, f, &m);
		look_at_open(p, name, fd, f);
		if (sched_once_in(4))
			look(p, name);
		if (sched_once_in(3))
			keeps(p, f, sys_fsync(p->proc, fd), "fsync", name);
		if (m.n && sched_once_in(3))
			read_mine(p, name, fd, f, &m);
		else if (m.n && sched_once_in(3))
			load_mine(p, name, fd, f, &m);
		if (sched_once_in(3))
			add_name(p, name);
		else if (sched_once_in(8))
			list(p);
	}
}

static void open_and_use(const struct program *p)
{
	size_t closed[FILES], written;
	struct stat st;
	struct made *f;
	char name[32];
	bool blind;
	int fd;

	choose_name(name, false);
	for (unsigned i = 0; i < FILES; i++)
		closed[i] = files[i].closed > files[i].written[p->mount]
				    ? files[i].closed
				    : files[i].written[p->mount];
	blind = program_is_blind(p, name);
	fd = (int)must(p, sys_open(p->proc, name, O_RDWR | O_CREAT, 0644), "open", name);
	must(p, sys_fstat(p->proc, fd, &st), "fstat", name);
	f = find(p, st.st_ino);
	blind |= program_is_blind(p, name);
	check(p, name, &st, blind ? 0 : closed[f - files], "fstat behind open");
	use(p, name, fd, f);
	written = f->written[p->mount];
	if (keeps(p, f, sys_close(p->proc, fd), "close", name) && written > f->closed)
		f->closed = written;
}

static void act(struct program *p)
{
	rounds++;
	for (unsigned n = 1 + sched_choose(3); n; n--) {
		char name[32];

		if (sched_once_in(2)) {
			choose_name(name, true);
			look(p, name);
		}
		open_and_use(p);
	}
}

const struct crowd crowd_created = {.name = "created", .each = 3, .begin = begin, .act = act};

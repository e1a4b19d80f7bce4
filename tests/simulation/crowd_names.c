/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_names: programs give files names, replace names by rename(2), add links, remove names, and
 * list the directory. The size and the bytes of a file tell its number. A program must find a file
 * of the name's history (history.h), and must keep an open file.
 *
 * Shared names are changed by all mounts, others by one mount only: there each call sees all that
 * ended before. After a cut of its power the server has no answers of before, so a call that the
 * client sends again may be carried out twice, as with every NFS client. The same holds for a
 * killed server that forgets its answers (ways.h). But then the mount finds the effect of its own
 * first call by the name (nfsproto/common/nfs_unsure.h), unless another mount has changed a shared
 * name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/history.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"
#include "tests/simulation/weather.h"

#define DIR	  "names"
#define NAMES	  4 /* shared ones, and of each mount */
#define SIZE	  100u
#define SECOND	  1000000000ull
#define SILLY	  ".nfs"
#define WAIT_MOST 300 /* tenths of seconds */

static struct history names[STAGE_MOUNTS + 1][NAMES];
static unsigned files; /* numbers given, from 1 */

static void begin(const struct stage *s)
{
	char name[24];

	for (unsigned m = 0; m <= STAGE_MOUNTS; m++)
		for (unsigned i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), DIR "/%c%u", 'a' + (int)m, i);
			history_new(&names[m][i], name);
		}
	disk_mkdir("/sim/export/" DIR, 0777);
}

static bool is_shared(const struct history *h)
{
	return h >= names[STAGE_MOUNTS];
}

/* A name that programs of this mount may change. */
static struct history *any(const struct program *p)
{
	unsigned m = sched_once_in(2) ? STAGE_MOUNTS : p->mount;

	return &names[m][sched_choose(NAMES)];
}

static uint64_t believes(const struct program *p)
{
	const char *time = strstr(p->stage->options[p->mount], "actimeo=");

	if (program_has(p, "noac"))
		return 0;
	return time ? strtoull(time + 8, NULL, 10) * SECOND : 60 * SECOND;
}

static struct history_set allowed(const struct program *p, const struct history *h, struct moment b)
{
	return history_allows(h, b, moment_now(), p->mount, believes(p));
}

/* A set of one. */
static struct history_set only(unsigned file)
{
	struct history_set s = {0};

	set_add(&s, file);
	return s;
}

/* --- looking ---------------------------------------------------------------------------------- */

static void check(const struct program *p, const struct history *h, struct moment b, unsigned file,
	const char *call)
{
	struct history_set s = allowed(p, h, b);

	sched_event("%s of %s finds file %u", call, h->name, file);
	if (!set_has(&s, file))
		wrong(p, "%s of %s finds %s%u, which the name did not stand for", call, h->name,
			file ? "file " : "no file: ", file);
}

/* The name is missing, or stood for another file that is gone: both are judged. */
static bool is_missing(const struct program *p, const struct history *h, struct moment b, int res,
	const char *call)
{
	if (res == -ENOENT)
		check(p, h, b, 0, call);
	else if (res != -ESTALE || !is_shared(h))
		must(p, res, call, h->name);
	return res < 0;
}

static unsigned number_of(const struct program *p, const struct history *h, off_t size)
{
	if (size <= SIZE || size > SIZE + files)
		wrong(p, "%s has %lld bytes, as no file has", h->name, (long long)size);
	return (unsigned)size - SIZE;
}

static void look(struct program *p)
{
	struct history *h = &names[sched_choose(STAGE_MOUNTS + 1)][sched_choose(NAMES)];
	struct moment b = moment_now();
	struct stat st;
	int res = sys_stat(p->proc, h->name, &st);

	if (!is_missing(p, h, b, res, "stat"))
		check(p, h, b, number_of(p, h, st.st_size), "stat");
}

/* False: the file is gone, removed by another client. */
static bool read_number(struct program *p, const struct history *h, int fd, unsigned *number)
{
	uint8_t buf[SIZE + HISTORY_FILES];
	ssize_t n = sys_pread(p->proc, fd, buf, sizeof(buf), 0);

	if (n == -ESTALE && is_shared(h))
		return false;
	must(p, n, "read", h->name);
	*number = number_of(p, h, n);
	for (ssize_t i = 0; i < n; i++)
		if (buf[i] != (uint8_t)*number)
			wrong(p, "%s: byte %zd is %02x, and the file is %u", h->name, i, buf[i],
				*number);
	return true;
}

static void change(struct program *p);

/* Opens, and reads again after other changes. */
static void hold(struct program *p)
{
	struct history *h = any(p);
	struct moment b = moment_now();
	int fd = sys_open(p->proc, h->name, O_RDONLY, 0);
	unsigned number, again;
	struct moment e = moment_now();

	if (is_missing(p, h, b, fd, "open"))
		return;
	if (read_number(p, h, fd, &number)) {
		struct history_set s = history_allows(h, b, e, p->mount, believes(p));

		sched_event("open of %s finds file %u", h->name, number);
		if (!set_has(&s, number))
			wrong(p, "open of %s finds file %u, which the name did not stand for",
				h->name, number);
		if (sched_once_in(2))
			change(p);
		if (sched_once_in(2))
			usleep(sched_choose(2000000));
		if (read_number(p, h, fd, &again) && again != number)
			wrong(p, "%s was opened as file %u, and is file %u", h->name, number,
				again);
	}
	must(p, sys_close(p->proc, fd), "close", h->name);
}

static void list(struct program *p)
{
	unsigned seen[STAGE_MOUNTS + 1][NAMES] = {{0}}, m, i;
	struct moment b = moment_now();
	struct sys_dirent *all;
	int n = (int)must(p, sys_readdir(p->proc, DIR, &all), "readdir", DIR);

	for (int e = 0; e < n; e++)
		if (sscanf(all[e].name, "%*1[a-z]%u", &i) == 1 && i < NAMES &&
			all[e].name[0] <= 'a' + STAGE_MOUNTS && strlen(all[e].name) == 2)
			seen[all[e].name[0] - 'a'][i]++;
	free(all);
	sched_event("a list of %d names", n);
	for (m = 0; m <= STAGE_MOUNTS; m++)
		for (i = 0; i < NAMES; i++) {
			struct history *h = &names[m][i];
			struct history_set s = allowed(p, h, b);

			if (seen[m][i] > 1)
				wrong(p, "%s is listed %u times", h->name, seen[m][i]);
			if (!seen[m][i] && !set_has(&s, 0))
				wrong(p, "%s is not listed", h->name);
			if (seen[m][i] && !set_has_any(&s))
				wrong(p, "%s is listed, and there is no such name", h->name);
		}
}

/* --- changing --------------------------------------------------------------------------------- */

/* How often the server has lost answers that a change of h needs, if the server has carried out the
 * change and did not answer. */
static unsigned losses(const struct history *h)
{
	return disk_power_cuts() + (ways.forgets && is_shared(h) ? weather_kills() : 0);
}

/* The server may have carried a call out before it lost its answers, though the call fails. */
static enum history_end how(int res, const struct history *h, unsigned lost)
{
	if (res >= 0)
		return HISTORY_DONE;
	return lost == losses(h) ? HISTORY_FAILED : HISTORY_MAYBE;
}

/* A new file, under a name of its own. 0: there have been enough. */
static unsigned make(struct program *p, char name[24])
{
	uint8_t buf[SIZE + HISTORY_FILES];
	unsigned number;
	int fd;

	if (files + 1 == HISTORY_FILES)
		return 0;
	number = ++files;
	snprintf(name, 24, DIR "/new%u", number);
	memset(buf, (int)number, sizeof(buf));
	fd = (int)must(
		p, sys_open(p->proc, name, O_WRONLY | O_CREAT | O_EXCL, 0644), "create", name);
	if (must(p, sys_pwrite(p->proc, fd, buf, SIZE + number, 0), "write", name) !=
		(long)(SIZE + number))
		wrong(p, "%s: a short write", name);
	must(p, sys_close(p->proc, fd), "close", name);
	return number;
}

/* The program's own name has gone. */
static void check_gone(struct program *p, const char *name)
{
	struct stat st;
	int res = sys_stat(p->proc, name, &st);

	if (res != -ENOENT)
		wrong(p, "%s has been removed here, and stat tells %d", name, res);
}

static void replace(struct program *p)
{
	struct history *h = any(p);
	unsigned lost, number;
	struct change *c;
	char name[24];
	int res;

	number = make(p, name);
	if (!number)
		return;
	lost = losses(h);
	c = history_begin(h, p->mount, only(number), NULL);
	c->gap = true;
	res = sys_rename(p->proc, name, h->name, 0);
	history_end(c, how(res, h, lost));
	sched_event("rename of file %u to %s: %d", number, h->name, res);
	if (res == -ENOENT && lost != losses(h))
		return; /* maybe the rename of the open file failed */
	must(p, res, "rename", name);
	check_gone(p, name);
}

static void add_link(struct program *p)
{
	struct history *h = any(p);
	unsigned cuts = disk_power_cuts(), lost = losses(h), number;
	struct change *c;
	struct moment b;
	char name[24];
	int res;

	number = make(p, name);
	if (!number)
		return;
	b = moment_now();
	c = history_begin(h, p->mount, only(number), NULL);
	res = sys_link(p->proc, name, h->name);
	history_end(c, how(res, h, lost));
	sched_event("link of file %u to %s: %d", number, h->name, res);
	if (res == -EEXIST) {
		struct history_set s = allowed(p, h, b);

		if (!set_has_any(&s) && lost == losses(h))
			wrong(p, "link to %s: the name exists, and it does not", h->name);
	} else {
		must(p, res, "link", h->name);
	}
	res = sys_unlink(p->proc, name);
	if (res != -ENOENT || cuts == disk_power_cuts())
		must(p, res, "unlink", name);
	check_gone(p, name);
}

static void take_away(struct program *p)
{
	struct history *h = any(p);
	unsigned lost = losses(h);
	struct moment b = moment_now();
	struct change *c = history_begin(h, p->mount, only(0), NULL);
	int res = sys_unlink(p->proc, h->name);

	history_end(c, how(res, h, lost));
	sched_event("unlink of %s: %d", h->name, res);
	if (lost == losses(h))
		is_missing(p, h, b, res, "unlink");
}

/* Between two shared names, or two of the mount. Nothing happens if both stand for one file, also
 * if only the mount believes that. */
static void move(struct program *p)
{
	struct history *from = any(p);
	struct history *to = &names[is_shared(from) ? STAGE_MOUNTS : p->mount][sched_choose(NAMES)];
	unsigned lost = losses(from);
	struct history_set none = {0}, before, after;
	struct change *gone, *come;
	struct moment b = moment_now();
	enum history_end end;
	int res;

	if (from == to)
		return;
	after = allowed(p, to, b);
	come = history_begin(to, p->mount, none, from);
	come->gap = true;
	gone = history_begin(from, p->mount, only(0), NULL);
	res = sys_rename(p->proc, from->name, to->name, 0);
	before = allowed(p, from, b);
	end = !res && set_meet(&before, &after) ? HISTORY_MAYBE : how(res, from, lost);
	history_end(come, end);
	history_end(gone, end);
	sched_event("rename of %s to %s: %d", from->name, to->name, res);
	if (end == HISTORY_DONE && !set_has_any(&come->files))
		wrong(p, "%s was renamed to %s, and there is no such name", from->name, to->name);
	/* The kernel moves the file of its own dentry, and goes on with this belief. */
	before.word[0] &= ~1ull;
	if (!res)
		set_add_all(&come->files, before);
	if (lost == losses(from))
		is_missing(p, from, b, res, "rename");
}

static void change(struct program *p)
{
	switch (sched_choose(5)) {
	case 0:
		take_away(p);
		break;
	case 1:
		move(p);
		break;
	case 2:
		add_link(p);
		break;
	default:
		replace(p);
	}
}

static void act(struct program *p)
{
	for (unsigned n = 1 + sched_choose(3); n; n--)
		switch (sched_choose(6)) {
		case 0:
			look(p);
			break;
		case 1:
		case 2:
			hold(p);
			break;
		case 3:
			list(p);
			break;
		default:
			change(p);
		}
}

/* --- the end ---------------------------------------------------------------------------------- */

static void count_silly(const char *name, mode_t mode, void *ctx)
{
	*(unsigned *)ctx += !strncmp(name, SILLY, strlen(SILLY));
}

/* The server's directory: all programs have ended. */
static void check_name(const struct history *h)
{
	struct moment now = moment_now();
	struct history_set s = history_allows(h, now, now, STAGE_MOUNTS, 0);
	char path[64];
	off_t size;

	snprintf(path, sizeof(path), "/sim/export/%.23s", h->name);
	size = disk_size(path);
	if (size != -ENOENT && (size <= SIZE || size > SIZE + files))
		sched_fail("at the end %s has %lld bytes", path, (long long)size);
	if (!set_has(&s, size == -ENOENT ? 0 : (unsigned)size - SIZE))
		sched_fail("at the end %s is file %lld, which is not the last", path,
			(long long)size - SIZE);
}

static void end(const struct stage *s)
{
	unsigned silly = 1;

	for (unsigned i = 0; silly && i < WAIT_MOST; i++) {
		silly = 0;
		disk_list("/sim/export/" DIR, count_silly, &silly);
		if (silly)
			usleep(100000);
	}
	if (silly && !disk_power_cuts())
		sched_fail("%u files of open removed names are left", silly);
	usleep(2000);
	for (unsigned m = 0; m <= STAGE_MOUNTS; m++)
		for (unsigned i = 0; i < NAMES; i++)
			check_name(&names[m][i]);
}

const struct crowd crowd_names = {
	.name = "names", .each = 2, .begin = begin, .act = act, .end = end};

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_exclusive: names serve as locks. A program that makes the name, by O_EXCL, link(2) or
 * mkdir(2), has the lock until the program removes the name; no two programs have one lock at a
 * time. The holder changes a file, and sees all that former holders did.
 *
 * If the power is cut, or a server ends that forgets its answers, while a program removes the name,
 * the client may send the removal again, and remove the name of the next holder: then the lock is
 * not judged any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/ways.h"
#include "tests/simulation/weather.h"

enum kind { OPENED, LINKED, MADE, KINDS };

#define TRIES 6

struct lock {
	char name[24];
	struct truth file; /* for the holder to change */
	const struct program *holder;
	bool unsure;
};

static struct lock locks[KINDS];

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < KINDS; i++) {
		snprintf(locks[i].name, sizeof(locks[i].name), "exclusive%u", i);
		truth_new(&locks[i].file, "excluded", i);
	}
}

static int link_name(struct program *p, const char *name)
{
	char own[32];
	int fd, res;

	snprintf(own, sizeof(own), "exclusive-of%u", p->number);
	fd = (int)must(p, sys_open(p->proc, own, O_WRONLY | O_CREAT, 0600), "create", own);
	must(p, sys_close(p->proc, fd), "close", own);
	res = sys_link(p->proc, own, name);
	must(p, sys_unlink(p->proc, own), "unlink", own);
	return res;
}

static int make_name(struct program *p, enum kind kind, const char *name)
{
	int fd;

	if (kind == MADE)
		return sys_mkdir(p->proc, name, 0700);
	if (kind == LINKED)
		return link_name(p, name);
	fd = sys_open(p->proc, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	return fd < 0 ? fd : sys_close(p->proc, fd);
}

static bool take(struct program *p, enum kind kind, struct lock *l)
{
	int res = make_name(p, kind, l->name);

	sched_event("lock %s: %d", l->name, res);
	/* ESTALE: the name stood for files that were gone, also at the second look */
	if (res == -EEXIST || res == -ESTALE)
		return false;
	must(p, res, "lock", l->name);
	if (l->holder && !l->unsure)
		wrong(p, "%s is a lock that program %u on mount %u has", l->name, l->holder->number,
			l->holder->mount);
	l->holder = p;
	return true;
}

static void leave(struct program *p, enum kind kind, struct lock *l)
{
	unsigned cuts = disk_power_cuts(), kills = weather_kills();
	int res;

	sched_event("unlock %s", l->name);
	l->holder = NULL;
	res = kind == MADE ? sys_rmdir(p->proc, l->name) : sys_unlink(p->proc, l->name);
	l->unsure |= cuts != disk_power_cuts();
	l->unsure |= ways.forgets && kills != weather_kills();
	if (!l->unsure)
		must(p, res, "unlock", l->name);
}

static void use(struct program *p, struct lock *l)
{
	struct truth *t = &l->file;
	int fd = (int)must(p, sys_open(p->proc, t->name, O_RDWR | O_CREAT, 0644), "open", t->name);

	for (unsigned n = 1 + sched_choose(2); n; n--) {
		truth_read(p, t, fd);
		truth_write(p, t, fd, 0);
	}
	must(p, sys_close(p->proc, fd), "close", t->name);
}

static void act(struct program *p)
{
	enum kind kind = sched_choose(KINDS);
	struct lock *l = &locks[kind];

	for (unsigned i = 0; i < TRIES; i++) {
		if (take(p, kind, l)) {
			if (!l->unsure)
				use(p, l);
			leave(p, kind, l);
			return;
		}
		usleep(sched_choose(50000));
	}
}

static void end(const struct stage *s)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (!locks[i].unsure)
			truth_check_disk(&locks[i].file);
}

const struct crowd crowd_exclusive = {
	.name = "exclusive", .each = 2, .begin = begin, .act = act, .end = end};

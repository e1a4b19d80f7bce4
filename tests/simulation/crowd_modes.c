/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_modes: programs change modes, owners, times and extended attributes. A program that opens
 * the file afterwards, on any mount, sees all changes. The present mode decides if an open
 * succeeds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/server.h"
#include "tests/simulation/turn.h"

#define FILES 3
#define USER  1000u
#define XATTR "user.version"
#define LATER 1000000 /* than all times that programs set */

struct file {
	char name[16];
	mode_t mode;
	uid_t uid;
	gid_t gid;
	time_t mtime;
	bool restarted;	  /* the server had, before the last change */
	unsigned version; /* of the extended attribute; 0: there is none */
	struct turn turn;
};

static struct file file[FILES];

static void begin(const struct stage *s)
{
	struct program p = {.stage = s, .proc = kernel_process(s->k[0])};

	for (unsigned i = 0; i < FILES; i++) {
		struct file *f = &file[i];
		struct timespec times[2] = {{1, 0}, {1, 0}};

		snprintf(f->name, sizeof(f->name), "modes%u", i);
		f->mode = 0644;
		f->mtime = 1;
		must(&p, sys_open(p.proc, f->name, O_RDWR | O_CREAT, 0644), "create", f->name);
		must(&p, sys_utimens(p.proc, f->name, times), "utimens", f->name);
	}
	proc_exit(p.proc);
}

/* May the mount not know the last change? A restarted server lets other clients change a delegated
 * file. The holder of the delegation learns of the restart by its next call. */
static bool may_be_old(const struct program *p, const struct file *f)
{
	return f->restarted || program_is_blind(p, f->name);
}

static void set_xattr(struct program *p, struct file *f)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", f->version + 1);
	int res = sys_setxattr(p->proc, f->name, XATTR, text, (size_t)n, 0);

	if (res == -EOPNOTSUPP && !program_has(p, "vers=4.2"))
		return;
	must(p, res, "setxattr", f->name);
	f->version++;
}

/* fd: -1, all is by name. */
static void change(struct program *p, struct file *f, int fd)
{
	struct timespec times[2] = {{2, 0}, {0}};

	switch (sched_choose(5)) {
	case 0:
	case 1:
		f->mode = sched_choose(01000);
		must(p,
			fd < 0 ? sys_chmod(p->proc, f->name, f->mode)
			       : sys_fchmod(p->proc, fd, f->mode),
			"chmod", f->name);
		break;
	case 2:
		f->uid = sched_once_in(2) ? USER : 0;
		f->gid = sched_once_in(2) ? USER : 0;
		must(p, sys_chown(p->proc, f->name, f->uid, f->gid), "chown", f->name);
		break;
	case 3:
		times[1].tv_sec = f->mtime = 3 + sched_choose(LATER - 3);
		must(p,
			fd < 0 ? sys_utimens(p->proc, f->name, times)
			       : sys_futimens(p->proc, fd, times),
			"utimens", f->name);
		break;
	case 4:
		set_xattr(p, f);
	}
	f->restarted = server_starts() > 1;
	sched_event("%s: mode %o of %u:%u, mtime %lld, version %u", f->name, f->mode, f->uid,
		f->gid, (long long)f->mtime, f->version);
}

/* While a mount has a write delegation, the server may take the present for the time of the last
 * write (RFC 8881, section 10.4.3). */
static bool may_be_now(const struct program *p, time_t mtime)
{
	bool delegates = false;

	for (unsigned i = 0; i < p->stage->mounts; i++)
		delegates |= strstr(p->stage->options[i], "delegations=write") != NULL;
	return delegates && mtime > LATER;
}

static void compare(struct program *p, const struct file *f, const struct stat *st)
{
	if (may_be_old(p, f))
		return;
	if ((st->st_mode & 07777) != f->mode)
		wrong(p, "%s has mode %o, not %o", f->name, st->st_mode & 07777, f->mode);
	if (st->st_uid != f->uid || st->st_gid != f->gid)
		wrong(p, "%s is of %u:%u, not of %u:%u", f->name, st->st_uid, st->st_gid, f->uid,
			f->gid);
	if (st->st_mtim.tv_sec != f->mtime && !may_be_now(p, st->st_mtim.tv_sec))
		wrong(p, "%s has mtime %lld, not %lld", f->name, (long long)st->st_mtim.tv_sec,
			(long long)f->mtime);
}

static void compare_xattr(struct program *p, const struct file *f)
{
	char text[16] = "", want[16];
	ssize_t n = sys_getxattr(p->proc, f->name, XATTR, text, sizeof(text) - 1);

	if (n == -EOPNOTSUPP && !program_has(p, "vers=4.2"))
		return;
	snprintf(want, sizeof(want), "%u", f->version);
	if (n == -ENODATA && !f->version)
		return;
	must(p, n, "getxattr", f->name);
	text[n] = 0;
	if (strcmp(text, want) && !may_be_old(p, f))
		wrong(p, "%s has version %s, not %u", f->name, text, f->version);
}

static void look(struct program *p, const struct file *f)
{
	int fd = (int)must(p, sys_open(p->proc, f->name, O_RDONLY, 0), "open", f->name);
	struct stat st;

	must(p, sys_fstat(p->proc, fd, &st), "fstat", f->name);
	compare(p, f, &st);
	compare_xattr(p, f);
	must(p, sys_close(p->proc, fd), "close", f->name);
}

/* A user opens the file, as the mode says. */
static void try_open(struct program *p, const struct file *f)
{
	struct process *user = kernel_process_of(p->k, USER);
	unsigned shift = f->uid == USER ? 6 : f->gid == USER ? 3 : 0, bits = f->mode >> shift;
	int access = (int)sched_choose(3);
	unsigned need = access == O_RDONLY ? 4 : access == O_WRONLY ? 2 : 6;
	int want = (bits & need) == need ? 0 : -EACCES;
	int fd = sys_open(user, f->name, access, 0), got = fd < 0 ? fd : 0;

	sched_event("a user opens %s for %d: %d", f->name, access, got);
	if (got != want && !may_be_old(p, f))
		wrong(p, "%s has mode %o of %u:%u, and open (%d) by a user tells %d", f->name,
			f->mode, f->uid, f->gid, access, got);
	proc_exit(user);
}

static void act(struct program *p)
{
	for (unsigned n = 1 + sched_choose(4); n; n--) {
		struct file *f = &file[sched_choose(FILES)];
		bool changes = sched_once_in(3);

		turn_take(&f->turn, changes);
		if (changes) {
			int fd = sched_once_in(2) ? -1 : sys_open(p->proc, f->name, O_RDWR, 0);

			change(p, f, fd);
			if (fd >= 0)
				must(p, sys_close(p->proc, fd), "close", f->name);
		} else if (sched_once_in(2)) {
			look(p, f);
		} else {
			try_open(p, f);
		}
		turn_leave(&f->turn);
	}
}

const struct crowd crowd_modes = {.name = "modes", .each = 2, .begin = begin, .act = act};

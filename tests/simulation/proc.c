/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * proc: the processes of programs, their descriptors, and their files in /proc.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

#define FIRST_PID   5000001 /* Linux gives no number above 4194304 */
#define SIGKILL_BIT 0x100u
#define EXITING	    0x4u
#define SIGNALED    0x400u

static _Thread_local struct {
	struct process *p;
	unsigned depth;
} self;

static LIST_HEAD(, process) processes = LIST_HEAD_INITIALIZER(processes);
static pid_t last_pid = FIRST_PID - 1;
static uint64_t numbers;

struct process *proc_self(void)
{
	return self.p;
}

struct vfs *proc_enter(struct process *p)
{
	if (self.p && self.p != p)
		sched_fail("a thread is in system calls of two processes");
	if (!self.p && p->rest && !p->exiting)
		p->rest();
	if (!p->busy)
		p->since = sched_now();
	self.p = p;
	self.depth++;
	p->busy++;
	sched_point();
	return p->v;
}

ssize_t proc_leave(struct process *p, ssize_t res)
{
	p->busy--;
	if (!--self.depth)
		self.p = NULL;
	sched_point();
	return res;
}

bool proc_must_end(void)
{
	return self.p && self.p->killed && !self.p->exiting;
}

/* --- life ------------------------------------------------------------------------------------- */

struct process *proc_new(struct vfs *v, uid_t uid, gid_t gid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->v = v;
	p->pid = ++last_pid;
	p->ppid = 1;
	p->uid = uid;
	p->gid = gid;
	p->umask = 022;
	p->number = ++numbers;
	LIST_INIT(&p->waits);
	LIST_INSERT_HEAD(&processes, p, all);
	return p;
}

struct process *proc_fork(struct process *p)
{
	struct process *child = proc_new(p->v, p->uid, p->gid);

	child->ppid = p->pid;
	child->umask = p->umask;
	child->ngroups = p->ngroups;
	memcpy(child->groups, p->groups, sizeof(p->groups));
	for (int fd = 0; fd < VFS_FILES; fd++)
		if (p->file[fd])
			child->file[fd] = vfs_fref(p->file[fd]);
	for (int m = 0; m < VFS_MAPS; m++)
		if (p->map[m].file && p->map[m].shared) {
			child->map[m] = p->map[m];
			vfs_fref(child->map[m].file);
		}
	return child;
}

void proc_kill(struct process *p)
{
	struct vfs_inode *i;

	sched_event("kernel: %d is killed", (int)p->pid);
	p->killed = true;
	vfs_signalled(p->v, p);
	/* waits that a fatal signal ends are for INIT, for room in the background, and for pages */
	sched_wake_all(p->v);
	sched_wake_all(&p->v->background);
	LIST_FOREACH (i, &p->v->inodes, all)
		for (unsigned n = 0; n < i->npages; n++)
			sched_wake_all(i->pages[n]);
}

void proc_signal(struct process *p)
{
	p->signals++;
	vfs_signalled(p->v, p);
}

bool proc_is_killed(const struct process *p)
{
	return p->killed;
}

bool proc_is_busy(const struct process *p)
{
	return p->busy > 0;
}

void proc_exit(struct process *p)
{
	if (p->busy)
		sched_fail("process %d ends, and a thread is in a system call", (int)p->pid);
	p->exiting = true;
	for (int m = 0; m < VFS_MAPS; m++)
		if (p->map[m].file)
			sys_munmap(p, m);
	for (int fd = 0; fd < VFS_FILES; fd++)
		if (p->file[fd])
			sys_close(p, fd);
	LIST_REMOVE(p, all);
	free(p);
}

pid_t proc_pid(const struct process *p)
{
	return p->pid;
}

void proc_set_rest(struct process *p, void (*rest)(void))
{
	p->rest = rest;
}

static bool may_wait_for_lock(const struct process *p)
{
	const struct process *q;

	if (!p->awaits_lock)
		return false;
	LIST_FOREACH (q, &processes, all)
		if (q != p && q->locked == p->awaits_lock)
			return true;
	return false;
}

const struct process *proc_waits_since(uint64_t before, bool locks)
{
	const struct process *p;

	LIST_FOREACH (p, &processes, all)
		if (p->busy && p->since < before && (locks || !may_wait_for_lock(p)))
			return p;
	return NULL;
}

void proc_set_umask(struct process *p, mode_t mask)
{
	p->umask = mask & 0777;
}

void proc_set_groups(struct process *p, const gid_t *groups, unsigned n)
{
	p->ngroups = n < VFS_GROUPS ? n : VFS_GROUPS;
	memcpy(p->groups, groups, p->ngroups * sizeof(*groups));
}

static void cut_map(struct vfs_map *m, uint64_t first)
{
	uint64_t begin = (uint64_t)m->off / VFS_PAGE;

	for (size_t n = 0; n < (m->len + VFS_PAGE - 1) / VFS_PAGE; n++)
		if (begin + n >= first) {
			free(m->own[n]);
			m->own[n] = NULL;
			vfs_punmap(&m->loaded[n]);
		}
}

void proc_cut_maps(const struct vfs_inode *i, uint64_t first)
{
	struct process *p;

	LIST_FOREACH (p, &processes, all)
		for (int m = 0; m < VFS_MAPS; m++)
			if (p->map[m].file && p->map[m].own && p->map[m].file->inode == i)
				cut_map(&p->map[m], first);
}

struct vfs_file *proc_file(struct process *p, int fd)
{
	if (fd < 0 || fd >= VFS_FILES || !p->file[fd])
		return NULL;
	return vfs_fref(p->file[fd]);
}

/* --- /proc ------------------------------------------------------------------------------------ */

static struct process *find(long pid)
{
	struct process *p;

	LIST_FOREACH (p, &processes, all)
		if (p->pid == pid)
			return p;
	return NULL;
}

/* The process of "/proc/N" and "/proc/N/task/N"; *rest: behind it, without a slash. */
static long number(const char *path, const char **rest)
{
	long pid, tid;
	int n = 0, more = 0;

	if (sscanf(path, "/proc/%ld%n", &pid, &n) != 1 || !n || (path[n] && path[n] != '/'))
		return -1;
	path += n;
	if (sscanf(path, "/task/%ld%n", &tid, &more) == 1 && more) {
		if (tid != pid)
			return -1;
		path += more;
	}
	*rest = *path == '/' ? path + 1 : path;
	return pid;
}

bool proc_is_path(const char *path)
{
	const char *rest;
	long pid = number(path, &rest);

	return pid >= FIRST_PID && pid <= last_pid + 1000000;
}

static int put_status(const struct process *p, char *text, size_t size)
{
	char groups[VFS_GROUPS * 11 + 1] = "";
	size_t at = 0;

	for (unsigned i = 0; i < p->ngroups; i++)
		at += (size_t)snprintf(groups + at, sizeof(groups) - at, "%u ", p->groups[i]);
	return snprintf(text, size,
		"Name:\tprogram%d\nUmask:\t%04o\nState:\tS (sleeping)\nTgid:\t%d\nNgid:\t0\n"
		"Pid:\t%d\nPPid:\t%d\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n"
		"FDSize:\t64\nGroups:\t%s\nSigQ:\t0/1000\nSigPnd:\t%016x\nShdPnd:\t%016x\n"
		"SigBlk:\t%016x\nSigIgn:\t%016x\nSigCgt:\t%016x\n",
		(int)p->pid - FIRST_PID, (unsigned)p->umask, (int)p->pid, (int)p->pid, (int)p->ppid,
		p->uid, p->uid, p->uid, p->uid, p->gid, p->gid, p->gid, p->gid, groups,
		p->killed && !p->exiting ? SIGKILL_BIT : 0, 0, 0, 0, 0);
}

static int put_stat(const struct process *p, char *text, size_t size)
{
	unsigned flags = p->exiting ? EXITING | (p->killed ? SIGNALED : 0) : 0;

	return snprintf(text, size, "%d (program%d) S %d %d %d 0 -1 %u 0 0 0 0\n", (int)p->pid,
		(int)p->pid - FIRST_PID, (int)p->ppid, (int)p->pid, (int)p->pid, flags);
}

ssize_t proc_text(const char *path, char *text, size_t size)
{
	const char *rest;
	long pid = number(path, &rest);
	const struct process *p = pid < 0 ? NULL : find(pid);

	if (!p)
		return -ENOENT;
	if (!strcmp(rest, "status"))
		return put_status(p, text, size);
	if (!strcmp(rest, "stat"))
		return put_stat(p, text, size);
	if (size)
		*text = 0;
	return *rest ? -ENOENT : 0;
}

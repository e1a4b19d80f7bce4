/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * process: facts from /proc about a thread that waits for an answer of the daemon.
 */
#include "fs/kernel/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/clock.h"

/* The kernel's flags of a thread (include/linux/sched.h), the seventh word after its name. */
#define PF_EXITING  0x004u
#define PF_SIGNALED 0x400u
#define FLAGS_WORD  7

static bool hidden; /* set before there are other threads */

void process_hide(void)
{
	hidden = true;
}

static uint64_t bit(int sig)
{
	return 1ull << (sig - 1);
}

/* The signals that end a process unless it handles them. Those from SIGRTMIN on do, too. */
static uint64_t deadly_signals(void)
{
	return ~(bit(SIGCHLD) | bit(SIGCONT) | bit(SIGSTOP) | bit(SIGTSTP) | bit(SIGTTIN) |
		 bit(SIGTTOU) | bit(SIGURG) | bit(SIGWINCH));
}

static uint64_t signals(const char *status, const char *key)
{
	const char *s = strstr(status, key);

	return s ? strtoull(s + strlen(key), NULL, 16) : 0;
}

static bool has_deadly_signal(const char *status)
{
	uint64_t pending = signals(status, "\nSigPnd:") | signals(status, "\nShdPnd:");
	uint64_t heeded = signals(status, "\nSigBlk:") | signals(status, "\nSigIgn:") |
			  signals(status, "\nSigCgt:");

	if (signals(status, "\nTracerPid:")) /* the tracer may discard the other signals */
		heeded = UINT64_MAX;
	return pending & ((deadly_signals() & ~heeded) | bit(SIGKILL));
}

static unsigned kernel_flags(const char *stat)
{
	const char *s = strrchr(stat, ')'); /* the name may hold anything */

	for (int word = 0; s && word < FLAGS_WORD; word++) {
		s = strchr(s, ' ');
		if (s)
			s++;
	}
	return s ? (unsigned)strtoul(s, NULL, 10) : 0;
}

enum process_fate process_fate_of(const char *status, const char *stat)
{
	unsigned flags = kernel_flags(stat);

	if (has_deadly_signal(status))
		return PROCESS_KILLED;
	if (flags & PF_EXITING)
		return flags & PF_SIGNALED ? PROCESS_KILLED : PROCESS_ENDING;
	return PROCESS_LIVES;
}

static bool has_task(pid_t pid, pid_t tid)
{
	char path[64];

	if (pid <= 0 || tid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

bool process_exists(pid_t tid)
{
	return has_task(tid, tid);
}

bool process_has_thread(pid_t pid, pid_t tid)
{
	return pid == tid || has_task(pid, tid);
}

static int open_text(pid_t tid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)tid, (int)tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_text(pid_t tid, const char *name, char *text, size_t size)
{
	int fd = open_text(tid, name);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

enum process_fate process_fate(pid_t tid)
{
	char status[32768], stat[1024]; /* status lists all groups */

	if (!tid || hidden || !read_text(tid, "status", status, sizeof(status)) ||
		!read_text(tid, "stat", stat, sizeof(stat)))
		return PROCESS_UNKNOWN;
	return process_fate_of(status, stat);
}

/* --- groups ----------------------------------------------------------------------------------- */

#define KEPT	    4
#define STATUS_HEAD 1024 /* bytes of the text that are read: more groups than a credential has */

/* Open files of /proc. Such a file stands for a thread and not for a number: once the thread has
 * ended, a read says ESRCH. */
static _Thread_local struct {
	struct {
		pid_t tid; /* 0: the place is free */
		int fd;
	} of[KEPT];
	unsigned next; /* the place to be replaced next */
} kept;

unsigned process_groups_of(const char *status, uint32_t *gids, unsigned max)
{
	static const char key[] = "\nGroups:";
	const char *s = strstr(status, key);
	unsigned n = 0;
	char *end;

	if (!s)
		return 0;
	for (s += sizeof(key) - 1; n < max; s = end) {
		unsigned long gid;

		while (*s == ' ' || *s == '\t')
			s++;
		if (*s < '0' || *s > '9')
			break;
		gid = strtoul(s, &end, 10);
		if (!*end)
			break; /* the text may end within the number */
		gids[n++] = (uint32_t)gid;
	}
	return n;
}

static void drop(unsigned i)
{
	if (kept.of[i].tid)
		close(kept.of[i].fd);
	kept.of[i].tid = 0;
}

void process_forget(void)
{
	for (unsigned i = 0; i < KEPT; i++)
		drop(i);
}

static bool keep(unsigned i, pid_t tid)
{
	int fd = open_text(tid, "status");

	drop(i);
	if (fd < 0)
		return false;
	kept.of[i].tid = tid;
	kept.of[i].fd = fd;
	return true;
}

unsigned process_groups(pid_t tid, uint32_t *gids, unsigned max)
{
	char text[STATUS_HEAD + 1];
	ssize_t n = -1;
	unsigned i = 0;

	if (!tid || hidden)
		return 0;
	while (i < KEPT && kept.of[i].tid != tid)
		i++;
	if (i < KEPT)
		n = pread(kept.of[i].fd, text, STATUS_HEAD, 0);
	else
		i = kept.next++ % KEPT;
	if (n <= 0 && keep(i, tid))
		n = pread(kept.of[i].fd, text, STATUS_HEAD, 0);
	text[n > 0 ? n : 0] = 0;
	return process_groups_of(text, gids, max);
}

/* --- names ------------------------------------------------------------------------------------ */

#define NAMES	   64u
#define NAMES_NS   NSEC_PER_SEC
#define NAMES_SIZE 16u /* the kernel's longest has 15 letters */

pid_t process_name_of(const char *status, char *name, size_t size)
{
	static const char first[] = "Name:\t", key[] = "\nTgid:\t";
	const char *tgid = strstr(status, key);

	*name = 0;
	if (strncmp(status, first, sizeof(first) - 1) != 0 || !tgid)
		return 0;
	status += sizeof(first) - 1;
	snprintf(name, size, "%.*s", (int)strcspn(status, "\n"), status);
	return (pid_t)strtol(tgid + sizeof(key) - 1, NULL, 10);
}

pid_t process_name(pid_t tid, char *name, size_t size)
{
	static _Thread_local struct {
		pid_t tid, pid;
		uint64_t at;
		char name[NAMES_SIZE];
	} known[NAMES], *k;
	uint64_t now = clock_coarse_ns();
	char text[STATUS_HEAD + 1];

	*name = 0;
	if (!tid || hidden)
		return 0;
	k = &known[(unsigned)tid % NAMES];
	if (k->tid != tid || clock_age(now, k->at) > NAMES_NS) {
		k->tid = tid;
		k->at = now;
		k->pid = 0;
		k->name[0] = 0;
		if (read_text(tid, "status", text, sizeof(text)))
			k->pid = process_name_of(text, k->name, sizeof(k->name));
	}
	snprintf(name, size, "%s", k->name);
	return k->pid;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * try-vfs: the model of the kernel's caches beside a plain model. try-vfs SEED [PROCESSES]. Each
 * process has a directory with files. Their bytes and names must be as the process has made them.
 * All processes also work in one directory, where only the model's own rules are checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/loopback.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/vfs.h"

#define PROCESSES 4
#define NAMES	  5
#define OPEN	  3
#define SIZE_MOST 120000
#define ROUNDS	  200

/* A file as it should be. */
struct truth {
	unsigned links, opens;
	size_t size;
	uint8_t bytes[SIZE_MOST];
};

struct open_one {
	int fd, map;
	size_t mapped;
	struct truth *t;
};

struct user {
	pthread_t thread;
	struct process *p;
	unsigned number;
	struct truth truths[NAMES + OPEN + 2], *names[NAMES];
	struct open_one open[OPEN];
	uint8_t buf[SIZE_MOST];
};

static struct vfs *v;
static struct user *users[PROCESSES];

static void path_of(const struct user *u, unsigned n, char *path)
{
	sprintf(path, "own%u/file%u", u->number, n);
}

static struct truth *truth_new(struct user *u)
{
	for (unsigned i = 0;; i++)
		if (!u->truths[i].links && !u->truths[i].opens) {
			u->truths[i].size = 0;
			u->truths[i].links = 1;
			return &u->truths[i];
		}
}

static void must(const struct user *u, long res, long want, const char *what)
{
	if (res != want)
		sched_fail("process %u: %s: %ld, not %ld", u->number, what, res, want);
}

/* --- one process's files ---------------------------------------------------------------------- */

static void open_one(struct user *u, struct open_one *o)
{
	unsigned n = sched_choose(NAMES);
	int flags = O_RDWR | (sched_once_in(4) ? O_DIRECT : 0) | (sched_once_in(5) ? O_APPEND : 0);
	char path[64];

	path_of(u, n, path);
	if (sched_once_in(2))
		flags |= O_CREAT;
	if (sched_once_in(6))
		flags |= O_TRUNC;
	if (sched_once_in(8))
		flags |= O_CREAT | O_EXCL;
	o->fd = sys_open(u->p, path, flags, 0644);
	if (!u->names[n] && !(flags & O_CREAT)) {
		must(u, o->fd, -ENOENT, "open");
		return;
	}
	if (u->names[n] && flags & O_EXCL) {
		must(u, o->fd, -EEXIST, "open");
		return;
	}
	if (o->fd < 0)
		must(u, o->fd, 0, "open");
	if (!u->names[n])
		u->names[n] = truth_new(u);
	if (flags & O_TRUNC)
		u->names[n]->size = 0;
	o->t = u->names[n];
	o->t->opens++;
	o->map = -1;
}

static void close_one(struct user *u, struct open_one *o)
{
	if (o->map >= 0)
		must(u, sys_munmap(u->p, o->map), 0, "munmap");
	must(u, sys_close(u->p, o->fd), 0, "close");
	o->t->opens--;
	o->t = NULL;
}

static void check(struct user *u, struct truth *t, size_t off, size_t len, ssize_t got)
{
	size_t want = off < t->size ? t->size - off : 0;

	if (want > len)
		want = len;
	must(u, got, (long)want, "read");
	for (size_t i = 0; i < want; i++)
		if (u->buf[i] != t->bytes[off + i])
			sched_fail("process %u: byte %zu of %zu is %02x, not %02x", u->number,
				off + i, t->size, u->buf[i], t->bytes[off + i]);
}

static void read_one(struct user *u, struct open_one *o)
{
	size_t off = sched_once_in(3) ? 0 : sched_choose(SIZE_MOST), len = sched_choose(SIZE_MOST);

	if (sched_once_in(2))
		len %= 5000;
	check(u, o->t, off, len, sys_pread(u->p, o->fd, u->buf, len, (off_t)off));
}

static void grow(struct truth *t, size_t size)
{
	if (size > t->size) {
		memset(t->bytes + t->size, 0, size - t->size);
		t->size = size;
	}
}

static void write_one(struct user *u, struct open_one *o)
{
	bool append = sys_getfl(u->p, o->fd) & O_APPEND;
	size_t off = append ? o->t->size : sched_choose(SIZE_MOST), len = sched_choose(20000);

	if (!append && sched_once_in(3))
		off &= ~(size_t)4095;
	if (off + len > SIZE_MOST)
		len = off < SIZE_MOST ? SIZE_MOST - off : 0;
	memset(u->buf, 1 + (int)sched_choose(255), len);
	if (len) {
		grow(o->t, off + len);
		memcpy(o->t->bytes + off, u->buf, len);
	}
	must(u, sys_pwrite(u->p, o->fd, u->buf, len, (off_t)off), (long)len, "write");
}

static void cut_one(struct user *u, struct open_one *o)
{
	size_t size = sched_choose(SIZE_MOST);

	must(u, sys_ftruncate(u->p, o->fd, (off_t)size), 0, "ftruncate");
	if (size < o->t->size)
		o->t->size = size;
	grow(o->t, size);
}

static void punch_one(struct user *u, struct open_one *o)
{
	size_t off = sched_choose(SIZE_MOST), len = 1 + sched_choose(20000);

	must(u,
		sys_fallocate(u->p, o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off,
			(off_t)len),
		0, "fallocate");
	for (size_t i = off; i < off + len && i < o->t->size; i++)
		o->t->bytes[i] = 0;
}

static void map_one(struct user *u, struct open_one *o)
{
	size_t at, len;

	if (o->map < 0) {
		if (!o->t->size)
			return;
		o->mapped = o->t->size;
		o->map = sys_mmap(u->p, o->fd, 0, o->mapped, true, true);
		if (o->map < 0)
			must(u, o->map, 0, "mmap");
	}
	at = sched_choose((uint32_t)o->mapped);
	len = 1 + sched_choose(9000);
	if (at + len > o->mapped)
		len = o->mapped - at;
	if (at + len > o->t->size)
		return;
	if (sched_once_in(2)) {
		must(u, sys_load(u->p, o->map, at, u->buf, len), 0, "load");
		check(u, o->t, at, len, (ssize_t)len);
		return;
	}
	memset(u->buf, 1 + (int)sched_choose(255), len);
	must(u, sys_store(u->p, o->map, at, u->buf, len), 0, "store");
	memcpy(o->t->bytes + at, u->buf, len);
	if (sched_once_in(3))
		must(u, sys_msync(u->p, o->map), 0, "msync");
}

static void stat_one(struct user *u, struct open_one *o)
{
	struct stat st;

	must(u, sys_fstat(u->p, o->fd, &st), 0, "fstat");
	must(u, st.st_size, (long)o->t->size, "fstat's size");
}

static void act_open(struct user *u, struct open_one *o)
{
	static void (*const acts[])(struct user *, struct open_one *) = {read_one, read_one,
		read_one, write_one, write_one, cut_one, punch_one, map_one, map_one, stat_one,
		close_one};

	if (!o->t)
		open_one(u, o);
	else
		acts[sched_choose(sizeof(acts) / sizeof(*acts))](u, o);
}

/* --- names ------------------------------------------------------------------------------------ */

static void unlink_one(struct user *u)
{
	unsigned n = sched_choose(NAMES);
	char path[64];

	path_of(u, n, path);
	must(u, sys_unlink(u->p, path), u->names[n] ? 0 : -ENOENT, "unlink");
	if (u->names[n])
		u->names[n]->links--;
	u->names[n] = NULL;
}

static void rename_one(struct user *u)
{
	unsigned n = sched_choose(NAMES), to = sched_choose(NAMES);
	char path[64], other[64];
	bool same = u->names[n] && u->names[n] == u->names[to];

	path_of(u, n, path);
	path_of(u, to, other);
	must(u, sys_rename(u->p, path, other, 0), u->names[n] ? 0 : -ENOENT, "rename");
	if (!u->names[n] || same)
		return;
	if (u->names[to])
		u->names[to]->links--;
	u->names[to] = u->names[n];
	u->names[n] = NULL;
}

static void link_one(struct user *u)
{
	unsigned n = sched_choose(NAMES), to = sched_choose(NAMES);
	char path[64], other[64];
	int want = !u->names[n] ? -ENOENT : u->names[to] ? -EEXIST : 0;

	path_of(u, n, path);
	path_of(u, to, other);
	must(u, sys_link(u->p, path, other), want, "link");
	if (want)
		return;
	u->names[to] = u->names[n];
	u->names[to]->links++;
}

static void stat_name(struct user *u)
{
	unsigned n = sched_choose(NAMES);
	struct stat st;
	char path[64];
	int res;

	path_of(u, n, path);
	res = sys_stat(u->p, path, &st);
	must(u, res, u->names[n] ? 0 : -ENOENT, "stat");
	if (res)
		return;
	must(u, st.st_size, (long)u->names[n]->size, "stat's size");
	must(u, st.st_nlink, u->names[n]->links, "stat's links");
}

static void list_own(struct user *u)
{
	struct sys_dirent *all;
	unsigned want = 0;
	char path[64];
	int n;

	sprintf(path, "own%u", u->number);
	n = sys_readdir(u->p, path, &all);
	for (unsigned i = 0; i < NAMES; i++)
		want += u->names[i] != NULL;
	must(u, n, want, "readdir");
	free(all);
}

static void act_name(struct user *u)
{
	static void (*const acts[])(struct user *) = {
		unlink_one, rename_one, link_one, stat_name, stat_name, list_own};

	acts[sched_choose(sizeof(acts) / sizeof(*acts))](u);
}

/* --- the common directory --------------------------------------------------------------------- */

static void act_common(struct user *u)
{
	char path[64], other[64];
	struct sys_dirent *all;
	struct stat st;
	int fd;

	sprintf(path, "common/name%u", sched_choose(3));
	sprintf(other, "common/name%u", sched_choose(3));
	switch (sched_choose(7)) {
	case 0:
		sys_mkdir(u->p, path, 0755);
		break;
	case 1:
		sys_rmdir(u->p, path);
		break;
	case 2:
		sys_rename(u->p, path, other, 0);
		break;
	case 3:
		sys_stat(u->p, path, &st);
		break;
	case 4:
		if (sys_readdir(u->p, "common", &all) >= 0)
			free(all);
		break;
	case 5:
		sys_unlink(u->p, path);
		break;
	default:
		fd = sys_open(u->p, path, O_RDWR | O_CREAT, 0644);
		if (fd < 0)
			return;
		sys_pwrite(u->p, fd, path, strlen(path), sched_choose(9000));
		sys_pread(u->p, fd, u->buf, 9000, 0);
		sys_ftruncate(u->p, fd, sched_choose(9000));
		sys_close(u->p, fd);
	}
}

/* --- processes that are killed ---------------------------------------------------------------- */

static struct user victim;
static bool victims_end;

/* One after the other: each works until it is killed, or has done enough. */
static void *be_victims(void *ctx)
{
	while (!victims_end) {
		victim.p = proc_new(v, 1000, 1000);
		for (unsigned i = 0; i < 30 && !proc_is_killed(victim.p); i++)
			act_common(&victim);
		proc_exit(victim.p);
		victim.p = NULL;
		usleep(100);
	}
	return NULL;
}

static void *kill_victims(void *ctx)
{
	while (!victims_end) {
		usleep(sched_choose(20000));
		if (victim.p && sched_once_in(2))
			proc_kill(victim.p);
		else if (victim.p)
			proc_signal(victim.p);
	}
	return NULL;
}

/* --- the run ---------------------------------------------------------------------------------- */

static void *run(void *ctx)
{
	struct user *u = ctx;
	char path[64];

	sprintf(path, "own%u", u->number);
	must(u, sys_mkdir(u->p, path, 0755), 0, "mkdir");
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (sched_once_in(5))
			act_common(u);
		else if (sched_once_in(3))
			act_name(u);
		else
			act_open(u, &u->open[sched_choose(OPEN)]);
		if (sched_once_in(20))
			usleep(sched_choose(3000000));
		if (sched_once_in(20))
			vfs_shrink(v, 1 + sched_choose(3));
		if (sched_once_in(20))
			vfs_flush(v);
	}
	for (unsigned i = 0; i < OPEN; i++)
		if (u->open[i].t)
			close_one(u, &u->open[i]);
	return NULL;
}

static unsigned processes = 1;
static struct vfs_counts counts;

static void first(void *ctx)
{
	struct vfs_params vp = {.version = sched_once_in(2) ? 601 : 612, .allow_other = true};
	struct loopback_params lp = {.threads = 1 + sched_choose(3),
		.valid_s = sched_choose(3),
		.keeps = sched_once_in(2),
		.auto_inval = !sched_once_in(3),
		.notifies = sched_once_in(2),
		.truncates = !sched_once_in(3)};
	pthread_t more[2];

	v = vfs_new(&vp);
	lp.fd = vfs_descriptor(v);
	loopback_start(&lp);
	if (!vfs_wait_ready(v, SCHED_NEVER))
		sched_fail("no INIT");
	for (unsigned i = 0; i < processes; i++) {
		users[i] = calloc(1, sizeof(*users[i]));
		users[i]->number = i;
		users[i]->p = proc_new(v, 1000, 1000);
	}
	sys_mkdir(users[0]->p, "common", 0777);
	pthread_create(&more[0], NULL, be_victims, NULL);
	pthread_create(&more[1], NULL, kill_victims, NULL);
	for (unsigned i = 0; i < processes; i++)
		pthread_create(&users[i]->thread, NULL, run, users[i]);
	for (unsigned i = 0; i < processes; i++) {
		pthread_join(users[i]->thread, NULL);
		proc_exit(users[i]->p);
		free(users[i]);
	}
	victims_end = true;
	pthread_join(more[0], NULL);
	pthread_join(more[1], NULL);
	usleep(1000000);
	vfs_check(v);
	vfs_shrink(v, 1);
	usleep(1000000);
	if (loopback_lookups())
		sched_fail("%lu lookups are not given back", loopback_lookups());
	if (vfs_unmount(v))
		sched_fail("files are open");
	loopback_stop();
	counts = vfs_counts(v);
	v = vfs_free(v);
	if (descriptors_open())
		sched_fail("%u descriptors are left", descriptors_open());
}

int main(int argc, char **argv)
{
	struct sched_params p = {.most_steps = 20000000, .depth = 3, .span = 100000, .out = stderr};

	if (argc < 2)
		return 2;
	p.seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		processes = (unsigned)atoi(argv[2]);
	if (processes < 1 || processes > PROCESSES)
		return 2;
	p.policy = p.seed % 3 ? SCHED_WALK : SCHED_PCT;
	p.trace = getenv("TRACE") ? 2 : 0;
	sched_run(&p, first, NULL);
	printf("%016llx %llu steps, %llu requests, %llu interrupts, %llu forgets, %llu stale\n",
		(unsigned long long)sched_digest(), (unsigned long long)sched_steps(),
		(unsigned long long)counts.requests, (unsigned long long)counts.interrupts,
		(unsigned long long)counts.forgets, (unsigned long long)counts.stale_attr);
	return 0;
}

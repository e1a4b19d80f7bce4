/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * bench-file: a shape (shape.h) as a program on a mount has it: system calls on a file, or on files
 * of a directory.
 *
 *     bench-file [OPTION]... SHAPE PATH
 *
 * PATH is the file of data, made if there is none, or the directory for the files that are created
 * and
 * unlinked. Options beside those of shape.h: -d with O_DIRECT, -q blocks under way by the kernel's
 * asynchronous I/O; without -d DEPTH is 1. -j JOBS threads share file or files. -k OTHER: OTHER is
 * the
 * same file on its server. bench-file writes to OTHER before each pass, so that a client's cached
 * data
 * is worthless. -1: one pass, however long it takes.
 *
 * Before each pass the kernel is told to drop the file's pages. All jobs begin a pass together:
 * a drop by one job would otherwise take from the other jobs the pages that were read ahead for
 * those
 * jobs.
 */
#include "shape.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct shape shape;
static const char *path, *stale;
static bool direct;
static bool one_pass;
static double until;
static bool over;		  /* set by job 0, at the end of a pass */
static pthread_barrier_t in_step; /* all jobs, at both ends of a pass */
static _Atomic uint64_t ops, bytes;

struct job {
	pthread_t thread;
	unsigned number;
	uint8_t *buf; /* depth blocks */
	uint64_t seed;
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "bench-file: %s %s: %s\n", what, name, strerror(errno));
	exit(1);
}

static bool time_is_over(void)
{
	return !one_pass && shape_now() >= until;
}

static void count(uint64_t n)
{
	atomic_fetch_add_explicit(&ops, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&bytes, n, memory_order_relaxed);
}

/* --- data ------------------------------------------------------------------------------------- */

static off_t place(const struct job *j, uint64_t i)
{
	uint64_t n = shape.size / shape.block / shape.jobs;

	return (off_t)((j->number * n + shape_block(&shape, i, n, j->seed)) * shape.block);
}

static void make_stale(void)
{
	int fd;
	char c;

	if (!stale)
		return;
	fd = open(stale, O_RDWR);
	if (fd < 0 || pread(fd, &c, 1, 0) != 1 || pwrite(fd, &c, 1, 0) != 1)
		die("write to", stale);
	close(fd);
}

static void one_by_one(struct job *j, int fd, uint64_t n)
{
	for (uint64_t i = 0; i < n && (i == 0 || !time_is_over()); i++) {
		ssize_t got = shape.kind == SHAPE_WRITE
				      ? pwrite(fd, j->buf, shape.block, place(j, i))
				      : pread(fd, j->buf, shape.block, place(j, i));

		if (got != (ssize_t)shape.block) {
			if (got >= 0)
				errno = ENODATA;
			die("read or write", path);
		}
		count((uint64_t)got);
	}
}

static void start(aio_context_t aio, struct job *j, int fd, unsigned slot, uint64_t i)
{
	struct iocb cb = {.aio_data = slot,
		.aio_lio_opcode = shape.kind == SHAPE_WRITE ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
		.aio_fildes = (uint32_t)fd,
		.aio_buf = (uintptr_t)(j->buf + (size_t)slot * shape.block),
		.aio_nbytes = shape.block,
		.aio_offset = place(j, i)};
	struct iocb *list = &cb;

	if (syscall(SYS_io_submit, aio, 1, &list) != 1)
		die("submit to", path);
}

static void several(struct job *j, int fd, uint64_t n)
{
	struct io_event done[SHAPE_MAX_DEPTH];
	aio_context_t aio = 0;
	unsigned busy = 0;
	uint64_t next = 0;

	if (syscall(SYS_io_setup, shape.depth, &aio))
		die("asynchronous I/O on", path);
	for (; busy < shape.depth && next < n; busy++)
		start(aio, j, fd, busy, next++);
	while (busy > 0) {
		long got = syscall(SYS_io_getevents, aio, 1, shape.depth, done, NULL);

		if (got < 0)
			die("wait for", path);
		for (long k = 0; k < got; k++) {
			if (done[k].res != (int64_t)shape.block) {
				errno = done[k].res < 0 ? (int)-done[k].res : ENODATA;
				die("read or write", path);
			}
			count(shape.block);
			if (next < n && !time_is_over())
				start(aio, j, fd, (unsigned)done[k].data, next++);
			else
				busy--;
		}
	}
	syscall(SYS_io_destroy, aio);
}

static void pass(struct job *j)
{
	uint64_t n = shape.size / shape.block / shape.jobs;
	int flags = shape.kind == SHAPE_WRITE ? O_WRONLY : O_RDONLY, fd;

	if (j->number == 0)
		make_stale();
	else
		pthread_barrier_wait(&in_step);
	fd = open(path, flags | (direct ? O_DIRECT : 0));
	if (fd < 0)
		die("open", path);
	if (j->number == 0) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		pthread_barrier_wait(&in_step);
	}
	if (shape.kind == SHAPE_RAND)
		posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	if (shape.depth > 1)
		several(j, fd, n);
	else
		one_by_one(j, fd, n);
	if (shape.kind == SHAPE_WRITE && fsync(fd))
		die("fsync", path);
	if (close(fd))
		die("close", path);
	j->seed++;
	if (j->number == 0)
		over = one_pass || time_is_over();
	pthread_barrier_wait(&in_step);
}

/* The file has its size, and data, not holes, all of it written. */
static void prepare_file(void)
{
	struct stat st;
	uint8_t *block;
	int fd = open(path, O_RDWR | O_CREAT, 0644);

	if (fd < 0 || fstat(fd, &st))
		die("open", path);
	if ((uint64_t)st.st_size >= shape.size) {
		close(fd);
		return;
	}
	block = malloc(1u << 20);
	if (!block)
		die("make", path);
	for (size_t i = 0; i < 1u << 20; i++)
		block[i] = (uint8_t)(i * 7 ^ i >> 9);
	for (uint64_t at = 0; at < shape.size;) {
		size_t n = shape.size - at < 1u << 20 ? (size_t)(shape.size - at) : 1u << 20;
		ssize_t put = pwrite(fd, block, n, (off_t)at);

		if (put <= 0)
			die("write", path);
		at += (uint64_t)put;
	}
	if (fsync(fd) || close(fd))
		die("write", path);
	free(block);
}

/* --- files ------------------------------------------------------------------------------------ */

static const char *name_of(unsigned i)
{
	static _Thread_local char name[4096];

	snprintf(name, sizeof(name), "%s/bench-%u", path, i);
	return name;
}

static void create(unsigned i)
{
	int fd = open(name_of(i), O_CREAT | O_EXCL | O_WRONLY, 0644);

	if (fd < 0 || close(fd))
		die("create", name_of(i));
}

static void remove_one(unsigned i)
{
	if (unlink(name_of(i)))
		die("unlink", name_of(i));
}

static void files(struct job *j)
{
	for (unsigned i = j->number; i < shape.files; i += shape.jobs) {
		if (i != 0 && time_is_over())
			break;
		if (shape.kind == SHAPE_CREATE)
			create(i);
		else
			remove_one(i);
		count(0);
	}
}

/* --- the whole -------------------------------------------------------------------------------- */

static void *job_main(void *arg)
{
	struct job *j = arg;

	if (shape_has_data(&shape))
		do
			pass(j);
		while (!over);
	else
		files(j);
	return NULL;
}

static struct shape_result run(void)
{
	struct job *jobs = calloc(shape.jobs, sizeof(*jobs));
	struct shape_result r;
	double began;

	if (!jobs || (errno = pthread_barrier_init(&in_step, NULL, shape.jobs)))
		die("run", path);
	for (unsigned i = 0; i < shape.jobs; i++) {
		jobs[i].number = i;
		jobs[i].seed = (uint64_t)getpid() * 64 + i;
		if (posix_memalign((void **)&jobs[i].buf, 4096, (size_t)shape.block * shape.depth))
			die("run", path);
		memset(jobs[i].buf, 1, (size_t)shape.block * shape.depth);
	}
	began = shape_now();
	until = began + shape.seconds;
	for (unsigned i = 1; i < shape.jobs; i++)
		if ((errno = pthread_create(&jobs[i].thread, NULL, job_main, &jobs[i])))
			die("run", path);
	job_main(&jobs[0]);
	for (unsigned i = 1; i < shape.jobs; i++)
		pthread_join(jobs[i].thread, NULL);
	r = (struct shape_result){ops, bytes, shape_now() - began};
	for (unsigned i = 0; i < shape.jobs; i++)
		free(jobs[i].buf);
	pthread_barrier_destroy(&in_step);
	free(jobs);
	return r;
}

static void remove_all(void)
{
	for (unsigned i = 0; i < shape.files; i++)
		if (unlink(name_of(i)) && errno != ENOENT)
			die("unlink", name_of(i));
}

int main(int argc, char **argv)
{
	struct shape_result r;
	int opt;

	shape_init(&shape);
	while ((opt = getopt(argc, argv, SHAPE_OPTIONS "dk:1")) != -1) {
		if (opt == 'd')
			direct = true;
		else if (opt == 'k')
			stale = optarg;
		else if (opt == '1')
			one_pass = true;
		else if (!shape_option(&shape, opt, optarg))
			goto usage;
	}
	if (argc - optind != 2 || !shape_set(&shape, argv[optind]) || (shape.depth > 1 && !direct))
		goto usage;
	path = argv[optind + 1];
	if (shape_has_data(&shape))
		prepare_file();
	else if (shape.kind == SHAPE_UNLINK)
		for (unsigned i = 0; i < shape.files; i++)
			create(i);
	r = run();
	shape_print(&shape, &r);
	if (!shape_has_data(&shape))
		remove_all();
	return 0;
usage:
	fprintf(stderr,
		"usage: bench-file [-b BYTES] [-s BYTES] [-d [-q DEPTH]] [-j JOBS] [-t SECONDS] "
		"[-n FILES] [-k OTHER] [-1] read|write|rand|create|unlink PATH\n");
	return 2;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mem_file: the memory file of a pool that a successor of the daemon can take over.
 */
#include "transport/mem_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE	  ((size_t)4096)
#define BYTES_MAX ((uint64_t)1 << 44) /* the most addresses of a file */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* A range that is taken. */
struct range {
	uint64_t off;
	size_t len;
	TAILQ_ENTRY(range) link; /* by offset */
};

struct mem_file {
	int fd;
	uint8_t *base;
	size_t bytes;
	TAILQ_HEAD(, range) ranges;
};

static size_t whole_pages(size_t len)
{
	return (len + PAGE - 1) & ~(PAGE - 1);
}

/* For kernels before 5.14: a write to each page, which changes no byte. */
static void touch(uint8_t *p, size_t len)
{
	for (size_t at = 0; at < len; at += PAGE)
		__atomic_fetch_or(p + at, 0, __ATOMIC_RELAXED);
	__atomic_fetch_or(p + len - 1, 0, __ATOMIC_RELAXED);
}

bool mem_present(void *p, size_t len)
{
	uintptr_t first = (uintptr_t)p & ~(PAGE - 1);
	size_t all = whole_pages((uintptr_t)p + len - first);

	/* Without the right to lock memory the pages are present until the system is short of
	 * memory and moves pages to its swap space. */
	if (mlock((void *)first, all) && errno == EAGAIN)
		return false;
	if (!madvise((void *)first, all, MADV_POPULATE_WRITE))
		return true;
	if (errno != EINVAL)
		return false;
	touch(p, len);
	return true;
}

static bool open_file(struct mem_file *f, size_t bytes, int fd, struct err *e)
{
	struct stat st;

	f->fd = fd < 0 ? memfd_create("rnfs-memory", MFD_CLOEXEC) : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (f->fd < 0 || fstat(f->fd, &st)) {
		err_set(e, ERR_INTERNAL, "no memory file for data: %s", strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > BYTES_MAX ||
		(uint64_t)st.st_size % PAGE) {
		err_set(e, ERR_INTERNAL, "the memory file of the former daemon is damaged");
		return false;
	}
	f->bytes = (size_t)st.st_size > bytes ? (size_t)st.st_size : whole_pages(bytes);
	if ((size_t)st.st_size < f->bytes && ftruncate(f->fd, (off_t)f->bytes)) {
		err_set(e, ERR_INTERNAL, "the memory file for data cannot have %zu bytes: %s",
			f->bytes, strerror(errno));
		return false;
	}
	return true;
}

struct mem_file *mem_file_new(size_t bytes, int fd, struct err *e)
{
	struct mem_file *f = calloc(1, sizeof(*f));
	void *map = MAP_FAILED;

	if (!f) {
		err_set(e, ERR_INTERNAL, "out of memory for the memory file");
		return NULL;
	}
	TAILQ_INIT(&f->ranges);
	if (open_file(f, bytes, fd, e)) {
		map = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			f->fd, 0);
		if (map == MAP_FAILED)
			err_set(e, ERR_INTERNAL, "the memory file for data cannot be mapped: %s",
				strerror(errno));
	}
	if (map == MAP_FAILED) {
		if (f->fd >= 0)
			close(f->fd);
		free(f);
		return NULL;
	}
	f->base = map;
	return f;
}

struct mem_file *mem_file_free(struct mem_file *f)
{
	struct range *r;

	if (!f)
		return NULL;
	while ((r = TAILQ_FIRST(&f->ranges))) {
		TAILQ_REMOVE(&f->ranges, r, link);
		free(r);
	}
	munmap(f->base, f->bytes);
	close(f->fd);
	free(f);
	return NULL;
}

int mem_file_fd(const struct mem_file *f)
{
	return f->fd;
}

static void punch(const struct mem_file *f, uint64_t off, size_t len)
{
	/* a failure costs memory, and nothing else */
	(void)!fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)len);
}

/* Takes [off, off + len), in front of `next` (NULL: behind all ranges). Bytes of the former daemon
 * (`kept`) stay in the file after a failure, for another successor. */
static void *take(struct mem_file *f, struct range *next, uint64_t off, size_t len, bool kept)
{
	struct range *r = malloc(sizeof(*r));

	if (!r)
		return NULL;
	*r = (struct range){.off = off, .len = len};
	if (!mem_present(f->base + off, len)) {
		munlock(f->base + off, len);
		if (!kept)
			punch(f, off, len);
		free(r);
		return NULL;
	}
	if (next)
		TAILQ_INSERT_BEFORE(next, r, link);
	else
		TAILQ_INSERT_TAIL(&f->ranges, r, link);
	return f->base + off;
}

void *mem_file_take(struct mem_file *f, size_t len)
{
	uint64_t off = 0;
	struct range *r;

	len = whole_pages(len);
	TAILQ_FOREACH (r, &f->ranges, link) {
		if (len <= r->off - off)
			break;
		off = r->off + r->len;
	}
	return len <= f->bytes - off ? take(f, r, off, len, false) : NULL;
}

void *mem_file_keep(struct mem_file *f, uint64_t off, size_t len)
{
	struct range *r;

	if (off % PAGE || !len || len % PAGE || off > f->bytes || len > f->bytes - off)
		return NULL;
	TAILQ_FOREACH (r, &f->ranges, link)
		if (r->off + r->len > off)
			break;
	return r && r->off < off + len ? NULL : take(f, r, off, len, true);
}

static void end_range(struct mem_file *f, void *p, bool kept)
{
	uint64_t off = mem_file_offset(f, p);
	struct range *r;

	TAILQ_FOREACH (r, &f->ranges, link)
		if (r->off == off)
			break;
	if (!r)
		return;
	TAILQ_REMOVE(&f->ranges, r, link);
	munlock(f->base + r->off, r->len);
	if (!kept)
		punch(f, r->off, r->len);
	free(r);
}

void mem_file_give(struct mem_file *f, void *p)
{
	end_range(f, p, false);
}

void mem_file_let_go(struct mem_file *f, void *p)
{
	end_range(f, p, true);
}

void mem_file_give_rest(struct mem_file *f)
{
	uint64_t off = 0;
	struct range *r;

	TAILQ_FOREACH (r, &f->ranges, link) {
		if (r->off > off)
			punch(f, off, r->off - off);
		off = r->off + r->len;
	}
	if (f->bytes > off)
		punch(f, off, f->bytes - off);
}

/* The pages stay locked when they come back: to unlock them here would cut the mapping into pieces,
 * of which a process may have only so many. */
void mem_file_dry(const struct mem_file *f, void *p, size_t len)
{
	punch(f, mem_file_offset(f, p), len);
}

uint64_t mem_file_offset(const struct mem_file *f, const void *p)
{
	return (uint64_t)((const uint8_t *)p - f->base);
}

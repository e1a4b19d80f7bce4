/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dir: directories read in pieces.
 *
 * The cache is a list of unused streams, most recently kept first. A call takes its stream out of
 * the list, so two readers with the same cookie get two streams.
 */
#include "contrib/serve/ops/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/lock.h"

#define BUF_SIZE (32u << 10)
/* Cookies that stand for the positions 0, 1 and 2. */
#define LOW_BASE 0x7ffffffffffffff0ull

/* The record format of getdents64(); no C library header has the format. */
struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

struct dir_stream {
	TAILQ_ENTRY(dir_stream) link;
	struct handle_id id; /* of the directory */
	uint64_t cookie;     /* position of the next entry */
	uint64_t prev;	     /* position of the last one, for dir_back() */
	uint64_t idle_ns;
	int fd;
	size_t len, pos, last; /* in buf: filled, next, last returned */
	uint8_t buf[BUF_SIZE] __attribute__((aligned(8)));
};

struct dir_cache {
	struct mutex lock;
	GUARDED_BY(lock) TAILQ_HEAD(dir_list, dir_stream) streams;
	unsigned n GUARDED_BY(lock), max;
};

struct dir_cache *dir_cache_new(unsigned max_streams)
{
	struct dir_cache *dc = calloc(1, sizeof(*dc));

	if (!dc)
		return NULL;
	mutex_init(&dc->lock);
	TAILQ_INIT(&dc->streams);
	dc->max = max_streams;
	return dc;
}

static void stream_free(struct dir_stream *ds)
{
	close(ds->fd);
	free(ds);
}

struct dir_cache *dir_cache_free(struct dir_cache *dc)
{
	struct dir_stream *ds;

	if (!dc)
		return NULL;
	mutex_destroy(&dc->lock);
	while ((ds = TAILQ_FIRST(&dc->streams)) != NULL) {
		TAILQ_REMOVE(&dc->streams, ds, link);
		stream_free(ds);
	}
	free(dc);
	return NULL;
}

void dir_cache_age(struct dir_cache *dc, uint64_t idle_ns)
{
	uint64_t now = clock_coarse_ns();
	struct dir_stream *ds;

	for (;;) {
		mutex_lock(&dc->lock);
		ds = TAILQ_LAST(&dc->streams, dir_list);
		if (ds && clock_age(now, ds->idle_ns) > idle_ns) {
			TAILQ_REMOVE(&dc->streams, ds, link);
			dc->n--;
		} else {
			ds = NULL;
		}
		mutex_unlock(&dc->lock);
		if (!ds)
			return;
		stream_free(ds);
	}
}

static uint64_t cookie_of(int64_t off)
{
	uint64_t v = (uint64_t)off;

	return v <= 2 ? LOW_BASE + v : v;
}

static int64_t off_of(uint64_t cookie)
{
	return (int64_t)(cookie >= LOW_BASE && cookie <= LOW_BASE + 2 ? cookie - LOW_BASE : cookie);
}

static struct dir_stream *take(struct dir_cache *dc, const struct obj *dir, uint64_t cookie)
{
	struct dir_stream *ds;

	mutex_lock(&dc->lock);
	TAILQ_FOREACH (ds, &dc->streams, link)
		if (ds->cookie == cookie && handle_id_equal(&ds->id, &dir->id))
			break;
	if (ds) {
		TAILQ_REMOVE(&dc->streams, ds, link);
		dc->n--;
	}
	mutex_unlock(&dc->lock);
	return ds;
}

int dir_open(struct dir_cache *dc, const struct obj *dir, uint64_t cookie, struct dir_stream **out)
{
	struct dir_stream *ds = NULL;
	int fd;

	if (cookie) {
		if (!obj_allowed(dir, R_OK)) /* the stream may be another caller's */
			return -EACCES;
		ds = take(dc, dir, cookie);
	}
	if (ds) {
		*out = ds;
		return 0;
	}
	fd = obj_open(dir, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	if (cookie && lseek(fd, off_of(cookie), SEEK_SET) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	ds = malloc(sizeof(*ds));
	if (!ds) {
		close(fd);
		return -ENOMEM;
	}
	ds->id = dir->id;
	ds->cookie = ds->prev = cookie;
	ds->fd = fd;
	ds->len = ds->pos = ds->last = 0;
	*out = ds;
	return 0;
}

static bool is_dot(const char *n)
{
	return n[0] == '.' && (n[1] == '\0' || (n[1] == '.' && n[2] == '\0'));
}

int dir_next(struct dir_stream *ds, struct dir_entry *ent)
{
	for (;;) {
		struct linux_dirent64 *d;

		if (ds->pos == ds->len) {
			long n = syscall(SYS_getdents64, ds->fd, ds->buf, sizeof(ds->buf));

			if (n <= 0)
				return n < 0 ? -errno : 0;
			ds->len = (size_t)n;
			ds->pos = 0;
		}
		d = (struct linux_dirent64 *)(ds->buf + ds->pos);
		ds->last = ds->pos;
		ds->prev = ds->cookie;
		ds->pos += d->d_reclen;
		ds->cookie = cookie_of(d->d_off);
		if (is_dot(d->d_name))
			continue;
		ent->ino = d->d_ino;
		ent->cookie = ds->cookie;
		ent->type = d->d_type;
		ent->name = d->d_name;
		ent->namelen = (uint32_t)strlen(d->d_name);
		return 1;
	}
}

void dir_back(struct dir_stream *ds)
{
	ds->pos = ds->last;
	ds->cookie = ds->prev;
}

void dir_close(struct dir_cache *dc, struct dir_stream *ds, bool keep)
{
	struct dir_stream *old = NULL;

	if (!keep) {
		stream_free(ds);
		return;
	}
	ds->idle_ns = clock_coarse_ns();
	mutex_lock(&dc->lock);
	TAILQ_INSERT_HEAD(&dc->streams, ds, link);
	if (++dc->n > dc->max) {
		old = TAILQ_LAST(&dc->streams, dir_list);
		TAILQ_REMOVE(&dc->streams, old, link);
		dc->n--;
	}
	mutex_unlock(&dc->lock);
	if (old)
		stream_free(old);
}

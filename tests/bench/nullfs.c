/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nullfs: a FUSE file system that does nothing, as fast as FUSE allows: the yardstick of the
 * benchmarks.
 *
 * One directory of regular files. A file has a name and a size; reads return zeroes from one static
 * buffer, writes are counted and forgotten. The inode number is the file's index in a fixed table.
 *
 *     nullfs [-f] [-w WORKERS] [-t SECONDS] [-c] MOUNTPOINT
 *
 * As in the mount under comparison: WORKERS threads, names and attributes believed for SECONDS
 * (1), -c with the kernel's writeback cache. -f: stay in the foreground.
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 8192
#define FIRST_INO 2
#define BUCKETS	  4096

struct file {
	char name[64]; /* empty: free */
	off_t size;
	mode_t mode;
	int next; /* in the hash bucket or the free list, -1: end */
};

static struct file files[MAX_FILES];
static int buckets[BUCKETS];
static int free_list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the three above */
static char zeroes[1 << 20];
static double believed = 1.0; /* seconds */
static bool writeback;

static unsigned hash(const char *name)
{
	unsigned h = 5381;

	while (*name)
		h = h * 33 + (unsigned char)*name++;
	return h % BUCKETS;
}

static int find_locked(const char *name)
{
	for (int i = buckets[hash(name)]; i >= 0; i = files[i].next)
		if (strcmp(files[i].name, name) == 0)
			return i;
	return -1;
}

static void fill_attr(fuse_ino_t ino, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_nlink = 1;
	st->st_mode = S_IFDIR | 0777;
	if (ino == FUSE_ROOT_ID)
		return;
	pthread_mutex_lock(&lock);
	st->st_mode = S_IFREG | files[ino - FIRST_INO].mode;
	st->st_size = files[ino - FIRST_INO].size;
	pthread_mutex_unlock(&lock);
}

static void fill_entry(int i, struct fuse_entry_param *e)
{
	memset(e, 0, sizeof(*e));
	e->ino = i + FIRST_INO;
	e->attr_timeout = e->entry_timeout = believed;
	fill_attr(e->ino, &e->attr);
}

static void null_init(void *arg, struct fuse_conn_info *conn)
{
	conn->max_write = sizeof(zeroes);
	conn->max_background = 128;
	conn->congestion_threshold = 96;
	conn->want &= ~(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	conn->want |= conn->capable & (FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO);
	if (writeback)
		conn->want |= conn->capable & FUSE_CAP_WRITEBACK_CACHE;
}

static void null_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;
	int i;

	pthread_mutex_lock(&lock);
	i = find_locked(name);
	pthread_mutex_unlock(&lock);
	if (i < 0) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	fill_entry(i, &e);
	fuse_reply_entry(req, &e);
}

static void null_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	fill_attr(ino, &st);
	fuse_reply_attr(req, &st, believed);
}

static void null_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	if (ino != FUSE_ROOT_ID && (to_set & FUSE_SET_ATTR_SIZE)) {
		pthread_mutex_lock(&lock);
		files[ino - FIRST_INO].size = attr->st_size;
		pthread_mutex_unlock(&lock);
	}
	null_getattr(req, ino, fi);
}

static void null_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fuse_reply_open(req, fi);
}

static void null_create(
	fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct fuse_entry_param e;
	int i;

	if (strlen(name) >= sizeof(files[0].name)) {
		fuse_reply_err(req, ENAMETOOLONG);
		return;
	}
	pthread_mutex_lock(&lock);
	i = find_locked(name);
	if (i < 0 && free_list >= 0) {
		i = free_list;
		free_list = files[i].next;
		files[i].size = 0;
		files[i].mode = mode & 0777;
		strcpy(files[i].name, name);
		files[i].next = buckets[hash(name)];
		buckets[hash(name)] = i;
	}
	pthread_mutex_unlock(&lock);
	if (i < 0) {
		fuse_reply_err(req, ENOSPC);
		return;
	}
	fill_entry(i, &e);
	fuse_reply_create(req, &e, fi);
}

static void null_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	int *link, i;

	pthread_mutex_lock(&lock);
	i = find_locked(name);
	if (i >= 0) {
		for (link = &buckets[hash(name)]; *link != i; link = &files[*link].next)
			;
		*link = files[i].next;
		files[i].name[0] = '\0';
		files[i].next = free_list;
		free_list = i;
	}
	pthread_mutex_unlock(&lock);
	fuse_reply_err(req, i < 0 ? ENOENT : 0);
}

static void null_read(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	off_t end;

	pthread_mutex_lock(&lock);
	end = files[ino - FIRST_INO].size;
	pthread_mutex_unlock(&lock);
	if (off >= end)
		size = 0;
	else if ((off_t)size > end - off)
		size = end - off;
	fuse_reply_buf(req, zeroes, size < sizeof(zeroes) ? size : sizeof(zeroes));
}

static void null_write_buf(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *in, off_t off,
	struct fuse_file_info *fi)
{
	size_t n = fuse_buf_size(in);

	pthread_mutex_lock(&lock);
	if (files[ino - FIRST_INO].size < off + (off_t)n)
		files[ino - FIRST_INO].size = off + n;
	pthread_mutex_unlock(&lock);
	fuse_reply_write(req, n);
}

static void null_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fuse_reply_err(req, 0);
}

static void null_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	fuse_reply_err(req, 0);
}

static const struct fuse_lowlevel_ops ops = {
	.init = null_init,
	.lookup = null_lookup,
	.getattr = null_getattr,
	.setattr = null_setattr,
	.open = null_open,
	.create = null_create,
	.unlink = null_unlink,
	.read = null_read,
	.write_buf = null_write_buf,
	.flush = null_flush,
	.release = null_flush,
	.fsync = null_fsync,
};

/* Serves until the unmount. */
static int serve(struct fuse_session *se, unsigned workers)
{
	struct fuse_loop_config *loop = fuse_loop_cfg_create();
	int ret;

	fuse_loop_cfg_set_max_threads(loop, workers);
	fuse_loop_cfg_set_idle_threads(loop, workers);
	ret = fuse_session_loop_mt(se, loop);
	fuse_loop_cfg_destroy(loop);
	return ret;
}

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse_session *se;
	unsigned workers = 2;
	bool foreground = false;
	int ret, opt;

	while ((opt = getopt(argc, argv, "fw:t:c")) != -1) {
		if (opt == 'f')
			foreground = true;
		else if (opt == 'w')
			workers = (unsigned)atoi(optarg);
		else if (opt == 't')
			believed = atof(optarg);
		else if (opt == 'c')
			writeback = true;
		else
			return 2;
	}
	if (argc - optind != 1 || workers < 1 || workers > 64) {
		fprintf(stderr, "usage: nullfs [-f] [-w WORKERS] [-t SECONDS] [-c] MOUNTPOINT\n");
		return 2;
	}
	for (int i = 0; i < MAX_FILES; i++)
		files[i].next = i + 1 < MAX_FILES ? i + 1 : -1;
	memset(buckets, 0xff, sizeof(buckets));
	se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!se || fuse_set_signal_handlers(se) || fuse_session_mount(se, argv[optind]) ||
		fuse_daemonize(foreground))
		return 1;
	ret = serve(se, workers);
	fuse_session_unmount(se);
	fuse_remove_signal_handlers(se);
	fuse_session_destroy(se);
	return ret != 0;
}

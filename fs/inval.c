/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inval: the thread that has the kernel drop a file's cached pages.
 */
#include "fs/inval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/ops.h"
#include "transport/log.h"

struct inval {
	struct fs *fs;
	pthread_t thread;
	pthread_mutex_t lock; /* of the following; a leaf */
	pthread_cond_t wake;
	STAILQ_HEAD(, request) queue; /* by request.inval */
	bool stop;
};

static void inval_one(struct fs *fs, struct request *r)
{
	int rc = fuse_lowlevel_notify_inval_inode(
		fs->se, inode_id(fs->inodes, r->file->inode), 0, 0);

	if (rc && rc != -ENOENT) /* the kernel has no such inode in its cache */
		log_ctrl("dropping the pages of file %llu: %s",
			(unsigned long long)r->file->inode->fileid, strerror(-rc));
	request_end(r, 0);
}

static void *inval_main(void *arg)
{
	struct inval *v = arg;
	struct request *r;

	pthread_mutex_lock(&v->lock);
	for (;;) {
		while (!(r = STAILQ_FIRST(&v->queue)) && !v->stop)
			pthread_cond_wait(&v->wake, &v->lock);
		if (!r)
			break;
		STAILQ_REMOVE_HEAD(&v->queue, inval);
		pthread_mutex_unlock(&v->lock);
		inval_one(v->fs, r);
		pthread_mutex_lock(&v->lock);
	}
	pthread_mutex_unlock(&v->lock);
	return NULL;
}

struct inval *inval_start(struct fs *fs)
{
	struct inval *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->fs = fs;
	pthread_mutex_init(&v->lock, NULL);
	pthread_cond_init(&v->wake, NULL);
	STAILQ_INIT(&v->queue);
	if (!pthread_create(&v->thread, NULL, inval_main, v))
		return v;
	pthread_cond_destroy(&v->wake);
	pthread_mutex_destroy(&v->lock);
	free(v);
	return NULL;
}

struct inval *inval_stop(struct inval *v)
{
	if (!v)
		return NULL;
	pthread_mutex_lock(&v->lock);
	v->stop = true;
	pthread_cond_signal(&v->wake);
	pthread_mutex_unlock(&v->lock);
	pthread_join(v->thread, NULL);
	pthread_cond_destroy(&v->wake);
	pthread_mutex_destroy(&v->lock);
	free(v);
	return NULL;
}

void inval_then_end(struct inval *v, struct request *r)
{
	pthread_mutex_lock(&v->lock);
	STAILQ_INSERT_TAIL(&v->queue, r, inval);
	pthread_cond_signal(&v->wake);
	pthread_mutex_unlock(&v->lock);
}

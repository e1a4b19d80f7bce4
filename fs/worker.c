/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * worker: the threads that read the kernel's requests.
 */
#include "fs/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <sys/eventfd.h>

#include "fs/fs.h"
#include "fs/process.h"
#include "transport/log.h"

#define MEMORY_POLL_MS 5
#define FATE_POLLS     100 /* between looks at who waits */
#define STOP_POLL_NS   2000000

struct worker {
	struct workers *all;
	pthread_t thread;
	struct mem_buf *buf; /* what requests are read into; NULL once a WRITE has taken it */
	atomic_bool ended;
};

struct workers {
	struct fs *fs;
	atomic_uint running;
	unsigned n;
	struct worker w[];
};

static __thread struct worker *self;

static void wake_main(struct fs *fs)
{
	if (eventfd_write(fs->wake_fd, 1))
		log_error("eventfd: cannot wake the main thread");
}

struct mem_buf *worker_take_buf(const void *data, size_t len)
{
	struct mem_buf *buf = self ? self->buf : NULL;
	const uint8_t *p = data;

	if (!buf || p < buf->data || p > buf->data + buf->size ||
		len > (size_t)(buf->data + buf->size - p))
		return NULL;
	self->buf = NULL;
	return buf;
}

/* Has the file system been unmounted? The device says so by an error condition. */
static bool session_ended(struct fs *fs)
{
	struct pollfd p = {.fd = fuse_session_fd(fs->se)};

	if (fuse_session_exited(fs->se))
		return true;
	return poll(&p, 1, MEMORY_POLL_MS) == 1 && p.revents & (POLLERR | POLLNVAL);
}

struct mem_buf *worker_data_wait(struct fs *fs, size_t size, pid_t tid)
{
	struct mem_buf *buf = data_get(fs, size);
	unsigned polls = 0;

	if (buf)
		return buf;
	stats_add(&fs->stats.starved, 1);
	do {
		if (session_ended(fs))
			return NULL;
		if (tid && ++polls % FATE_POLLS == 0 && process_fate(tid) == PROCESS_KILLED)
			return NULL;
	} while (!(buf = data_get(fs, size)));
	return buf;
}

/* One request, from the device to where its operation leaves it. False: the session has ended. */
static bool serve_one(struct worker *w)
{
	struct fs *fs = w->all->fs;
	struct fuse_buf in = {0};
	bool was_init;
	int n;

	if (!w->buf && !(w->buf = worker_data_wait(fs, MEM_MAX_SIZE, 0))) {
		fuse_session_exit(fs->se);
		return false;
	}
	in.mem = w->buf->data;
	in.size = w->buf->size;
	n = fuse_session_receive_buf(fs->se, &in);
	if (n == -EINTR || n == -EAGAIN)
		return !fuse_session_exited(fs->se);
	if (n <= 0) {
		if (n < 0)
			log_error("reading from the FUSE device: %s", strerror(-n));
		fuse_session_exit(fs->se);
		return false;
	}
	was_init = atomic_load_explicit(&fs->init_done, memory_order_relaxed);
	fuse_session_process_buf(fs->se, &in);
	if (!was_init && atomic_load(&fs->init_done))
		wake_main(fs);
	return !fuse_session_exited(fs->se);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct workers *all = w->all;

	self = w;
	pthread_setname_np(pthread_self(), "rnfs-worker");
	while (serve_one(w))
		;
	data_put(all->fs, w->buf);
	w->buf = NULL;
	atomic_store(&w->ended, true);
	if (atomic_fetch_sub(&all->running, 1) == 1)
		wake_main(all->fs);
	return NULL;
}

struct workers *workers_start(struct fs *fs, unsigned n)
{
	struct workers *all = calloc(1, sizeof(*all) + n * sizeof(all->w[0]));
	sigset_t block, before;

	if (!all)
		return NULL;
	all->fs = fs;
	atomic_init(&all->running, n);
	sigfillset(&block);
	sigdelset(&block, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &block, &before);
	for (all->n = 0; all->n < n; all->n++) {
		struct worker *w = &all->w[all->n];

		w->all = all;
		if (pthread_create(&w->thread, NULL, worker_main, w))
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (all->n < n) {
		atomic_fetch_sub(&all->running, n - all->n);
		fuse_session_exit(fs->se);
		return workers_stop(all);
	}
	return all;
}

unsigned workers_running(struct workers *w)
{
	return atomic_load(&w->running);
}

struct workers *workers_stop(struct workers *all)
{
	if (!all)
		return NULL;
	fuse_session_exit(all->fs->se);
	for (unsigned i = 0; i < all->n; i++) {
		struct worker *w = &all->w[i];

		/* A signal that comes just before the read() does not end it: say it again. */
		while (!atomic_load(&w->ended)) {
			pthread_kill(w->thread, SIGUSR2);
			nanosleep(&(struct timespec){.tv_nsec = STOP_POLL_NS}, NULL);
		}
		pthread_join(w->thread, NULL);
	}
	free(all);
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * worker: the threads that read the kernel's requests.
 */
#include "fs/kernel/worker.h"

#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fs/kernel/arrival.h"
#include "fs/kernel/data.h"
#include "fs/known/fs.h"
#include "fs/kernel/process.h"
#include "fs/kernel/request.h"
#include "fs/kernel/request_waits.h"
#include "fs/kernel/thread.h"
#include "fs/kernel/turn.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"
#include "transport/pulse.h"
#include "transport/rpc/cork.h"

#define MEMORY_POLL_MS 5
#define WANT_POLLS     100 /* between looks at waiters, and at memory that could be freed */
#define STOP_POLL_NS   2000000
#define ROW_MAX	       8 /* requests that send their messages together */

struct worker {
	struct workers *all;
	pthread_t thread;
	/* requests are read into this block; NULL once a WRITE has taken it. Used by this thread */
	struct mem_buf *buf;
	/* Requests are read into this memory while there is no such block: some requests may free
	 * memory. A WRITE is copied out of it. From malloc(); NULL: never needed. */
	uint8_t *spare;
	/* requests read since a message of this thread began to wait; used by this thread */
	unsigned row;
	/* where buf's memory begins, for other threads to pass over; 0: nowhere */
	atomic_uintptr_t at;
	atomic_bool ended;
	struct pulse pulse;
};

struct workers {
	struct fs *fs;
	atomic_uint running;
	atomic_bool pause;
	struct mutex rest;
	pthread_cond_t resumed; /* pause has become false, or the session ends */
	unsigned resting GUARDED_BY(rest);
	unsigned n, made; /* n: threads to make; made: threads made so far, used by the starting
			     thread */
	struct worker w[];
};

static _Thread_local bool in_row;
static _Thread_local struct pulse *own_pulse; /* NULL: the thread is no worker */

bool worker_in_row(void)
{
	return in_row;
}

static void wake_main(struct fs *fs)
{
	if (eventfd_write(fs->wake_fd, 1))
		log_error("eventfd: cannot wake the main thread");
}

static void set_buf(struct worker *w, struct mem_buf *buf)
{
	w->buf = buf;
	atomic_store_explicit(&w->at, buf ? (uintptr_t)buf->data : 0, memory_order_relaxed);
}

/* The worker that has read p: the caller's, because no other thread has seen p yet. */
static struct worker *worker_of(const struct fs *fs, uintptr_t p)
{
	struct workers *all = fs->workers;

	for (unsigned i = 0; i < all->n; i++) {
		uintptr_t at = atomic_load_explicit(&all->w[i].at, memory_order_relaxed);

		if (at && p >= at && p - at < MEM_MAX_SIZE)
			return &all->w[i];
	}
	return NULL;
}

struct mem_buf *worker_take_buf(struct fs *fs, const void *data, size_t len)
{
	struct worker *w = worker_of(fs, (uintptr_t)data);
	struct mem_buf *buf = w ? w->buf : NULL;

	if (!buf || len > buf->size - (size_t)((const uint8_t *)data - buf->data))
		return NULL;
	set_buf(w, NULL);
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

/* Data that is kept until its COMMIT may take all the memory: perhaps no other thread commits the
 * data while this thread waits. */
static void want_room(struct fs *fs)
{
	writeback_sync(fs->writeback);
	cork_pull();
}

/* A pause in a wait for memory. 0, or the reason to end the wait: as in worker_data_wait(). One
 * pause of WANT_POLLS looks at waiters, and at memory that could be freed. */
static int pause_for_memory(struct fs *fs, unsigned polls, pid_t tid)
{
	if (session_ended(fs))
		return ENOTCONN;
	if (own_pulse)
		pulse_work(own_pulse);
	if (polls % WANT_POLLS)
		return 0;
	if (tid && process_fate(tid) == PROCESS_KILLED)
		return EINTR;
	want_room(fs);
	return 0;
}

int worker_data_wait(struct fs *fs, uint32_t size, pid_t tid, struct seg_list *l)
{
	unsigned polls = 0;
	uint64_t began;
	int error;

	if (data_get_list(fs, size, l))
		return 0;
	cork_pull(); /* the kept-back message may be the one that frees memory */
	stats_add(&fs->stats.starved, 1);
	began = clock_ns();
	do {
		if (request_pool_overdue(fs->requests, began))
			return ETIMEDOUT;
		error = pause_for_memory(fs, ++polls, tid);
		if (error)
			return error;
	} while (!data_get_list(fs, size, l));
	request_came_at(began);
	return 0;
}

/* Waits for a block to read requests into. NULL: the session has ended. */
static struct mem_buf *wait_for_block(struct fs *fs)
{
	struct mem_buf *block;
	unsigned polls = 0;

	cork_pull();
	while (!(block = data_get(fs, MEM_MAX_SIZE)))
		if (pause_for_memory(fs, ++polls, 0))
			return NULL;
	return block;
}

/* Sends the messages that requests of a row have left behind. */
static void end_row(struct worker *w)
{
	w->row = 0;
	cork_pull();
}

/* With a ledger the memory is present, and stays so: the kernel ends a request with EIO if the
 * daemon is killed while read(2) waits for a page of it. */
static uint8_t *new_spare(const struct fs *fs)
{
	uint8_t *spare = calloc(1, MEM_MAX_SIZE);

	if (spare && fs->ledger && mlock(spare, MEM_MAX_SIZE))
		memset(spare, 0, MEM_MAX_SIZE);
	return spare;
}

/* Serves one request, from the device to the point where its operation leaves it. False: the
 * session has ended. */
static bool serve_one(struct worker *w)
{
	struct fs *fs = w->all->fs;
	struct fuse_buf in = {0};
	bool was_init;
	int n;

	if (!w->buf)
		set_buf(w, data_get_idle(fs, MEM_MAX_SIZE));
	if (!w->buf && !w->spare)
		w->spare = new_spare(fs);
	if (!w->buf && !w->spare) {
		set_buf(w, wait_for_block(fs));
		if (!w->buf) {
			fuse_session_exit(fs->se);
			return false;
		}
	}
	in.mem = w->buf ? w->buf->data : w->spare;
	in.size = MEM_MAX_SIZE;
	in_row = w->row > 0;
	if (!in_row)
		cork_pull(); /* read() may sleep now */
	pulse_sleep(&w->pulse);
	n = fuse_session_receive_buf(fs->se, &in);
	if (n == -EINTR || n == -EAGAIN) {
		end_row(w);
		return !fuse_session_exited(fs->se);
	}
	if (n <= 0) {
		if (n < 0)
			log_error("reading from the FUSE device: %s", strerror(-n));
		fuse_session_exit(fs->se);
		return false;
	}
	arrival_read(fs->arrivals, in.mem, (size_t)n);
	pulse_work(&w->pulse);
	turn_heard(fs, (pid_t)((const struct fuse_in_header *)in.mem)->pid);
	was_init = atomic_load_explicit(&fs->init_done, memory_order_relaxed);
	cork_put();
	fuse_session_process_buf(fs->se, &in);
	arrival_begins(fs->arrivals);
	if (!cork_held() || ++w->row == ROW_MAX)
		end_row(w);
	if (!was_init && atomic_load(&fs->init_done))
		wake_main(fs);
	return !fuse_session_exited(fs->se);
}

/* Waits for the end of a pause. */
static void rest(struct worker *w)
{
	struct workers *all = w->all;

	end_row(w);
	pulse_sleep(&w->pulse);
	mutex_lock(&all->rest);
	all->resting++;
	while (atomic_load(&all->pause))
		cond_wait(&all->resumed, &all->rest);
	all->resting--;
	mutex_unlock(&all->rest);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct workers *all = w->all;

	pthread_setname_np(pthread_self(), "rnfs-worker");
	pulse_join(&w->pulse, "rnfs-worker");
	own_pulse = &w->pulse;
	while (serve_one(w))
		if (atomic_load_explicit(&all->pause, memory_order_relaxed))
			rest(w);
	pulse_leave(&w->pulse);
	end_row(w);
	process_forget();
	data_put(all->fs, w->buf);
	set_buf(w, NULL);
	free(w->spare);
	w->spare = NULL;
	atomic_store(&w->ended, true);
	if (atomic_fetch_sub(&all->running, 1) == 1)
		wake_main(all->fs);
	return NULL;
}

bool workers_start(struct fs *fs, unsigned n)
{
	struct workers *all = calloc(1, sizeof(*all) + n * sizeof(all->w[0]));
	unsigned made;

	if (!all)
		return false;
	all->fs = fs;
	all->n = n;
	fs->workers = all;
	atomic_init(&all->running, n);
	mutex_init(&all->rest);
	pthread_cond_init(&all->resumed, NULL);
	for (made = 0; made < n; made++) {
		struct worker *w = &all->w[made];

		w->all = all;
		if (thread_start(fs, &w->thread, worker_main, w, SIGUSR2))
			break;
	}
	all->made = made;
	if (made == n)
		return true;
	atomic_fetch_sub(&all->running, n - made);
	workers_stop(fs);
	return false;
}

unsigned workers_running(const struct fs *fs)
{
	return atomic_load(&fs->workers->running);
}

static bool all_rest(struct workers *all)
{
	bool all_do;

	mutex_lock(&all->rest);
	all_do = all->resting == atomic_load(&all->running);
	mutex_unlock(&all->rest);
	return all_do;
}

bool workers_pause(struct fs *fs, uint64_t until)
{
	struct workers *all = fs->workers;

	atomic_store(&all->pause, true);
	while (!all_rest(all)) {
		if (clock_ns() >= until) {
			workers_resume(fs);
			return false;
		}
		/* as in workers_stop(): a signal just before the read() does not end it */
		for (unsigned i = 0; i < all->made; i++)
			if (!atomic_load(&all->w[i].ended))
				pthread_kill(all->w[i].thread, SIGUSR2);
		nanosleep(&(struct timespec){.tv_nsec = STOP_POLL_NS / 4}, NULL);
	}
	return true;
}

void workers_resume(struct fs *fs)
{
	struct workers *all = fs->workers;

	mutex_lock(&all->rest);
	atomic_store(&all->pause, false);
	pthread_cond_broadcast(&all->resumed);
	mutex_unlock(&all->rest);
}

void workers_stop(struct fs *fs)
{
	struct workers *all = fs->workers;

	if (!all)
		return;
	fuse_session_exit(fs->se);
	for (unsigned i = 0; i < all->made; i++) {
		struct worker *w = &all->w[i];

		/* A signal just before the read() does not end it: the signal is sent again. */
		while (!atomic_load(&w->ended)) {
			pthread_kill(w->thread, SIGUSR2);
			nanosleep(&(struct timespec){.tv_nsec = STOP_POLL_NS}, NULL);
		}
		pthread_join(w->thread, NULL);
	}
	fs->workers = NULL;
	pthread_cond_destroy(&all->resumed);
	mutex_destroy(&all->rest);
	free(all);
}

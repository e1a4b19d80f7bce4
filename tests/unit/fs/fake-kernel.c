/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-kernel: the kernel's side of a mount. Requests wait in a queue until a worker reads them;
 * answers are kept until the test asks for them. One lock guards both.
 */
#include "tests/unit/fs/fake-kernel.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <setjmp.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/coherence/notify.h"
#include "fs/file/opening.h"
#include "fs/ops/ops.h"
#include "fs/coherence/repeat.h"
#include "fs/kernel/underway.h"
#include "fs/kernel/worker.h"
#include "fs/observe/account.h"
#include "tests/unit/fs/fs-fixture.h"

#define TICK_MS 20
#define WAIT_S	60
#define CODES	16

struct message {
	STAILQ_ENTRY(message) next;
	uint64_t number;
	unsigned pieces;
	size_t len;
	uint8_t data[];
};

STAILQ_HEAD(message_list, message);

pid_t kernel_tid;
uint32_t kernel_uid;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t some;
	struct message_list asked, answered;
	struct message *last; /* the last message that kernel_wait() has given out */
	uint64_t number;
	struct message *kept; /* as kernel_keep_next() tells; NULL: none */
	bool keeps;
	uint64_t again; /* as kernel_sends_again() tells; 0: not */
	unsigned notified[CODES];
	int device; /* eventfd: readable once for each message asked, and when the mount is over */
	struct fs *fs;
} kernel = {.lock = PTHREAD_MUTEX_INITIALIZER, .some = PTHREAD_COND_INITIALIZER};

static void message_put(struct message_list *l, struct message *m)
{
	pthread_mutex_lock(&kernel.lock);
	STAILQ_INSERT_TAIL(l, m, next);
	pthread_cond_broadcast(&kernel.some);
	pthread_mutex_unlock(&kernel.lock);
}

/* --- the device ------------------------------------------------------------------------------- */

static ssize_t device_read(int fd, void *buf, size_t size, void *userdata)
{
	struct message *m;
	eventfd_t one;
	ssize_t n;

	if (eventfd_read(fd, &one))
		return -1;
	pthread_mutex_lock(&kernel.lock);
	m = STAILQ_FIRST(&kernel.asked);
	if (m)
		STAILQ_REMOVE_HEAD(&kernel.asked, next);
	pthread_mutex_unlock(&kernel.lock);
	if (!m) {
		errno = ENODEV;
		return -1;
	}
	n = (ssize_t)m->len;
	if (m->len > size)
		abort();
	memcpy(buf, m->data, m->len);
	free(m);
	account_read(buf, (size_t)n);
	if (kernel.fs->ledger)
		assert_false(underway_read(kernel.fs, buf, (size_t)n));
	return n;
}

static ssize_t device_writev(int fd, struct iovec *iov, int count, void *userdata)
{
	const struct fuse_out_header *h = iov[0].iov_base;
	struct message *m = malloc(sizeof(*m) + h->len);
	struct note note = {0};

	if (kernel.fs->ledger)
		underway_answers(kernel.fs, iov, count, &note);
	m->number = h->unique;
	m->pieces = (unsigned)count - 1;
	m->len = 0;
	for (int i = 0; i < count; i++) {
		memcpy(m->data + m->len, iov[i].iov_base, iov[i].iov_len);
		m->len += iov[i].iov_len;
	}
	if (kernel.fs->ledger)
		underway_answered(kernel.fs, iov, &note);
	if (m->number) {
		message_put(&kernel.answered, m);
	} else {
		pthread_mutex_lock(&kernel.lock);
		if ((unsigned)h->error < CODES)
			kernel.notified[h->error]++;
		pthread_mutex_unlock(&kernel.lock);
		free(m);
	}
	return h->len;
}

/* --- asking ----------------------------------------------------------------------------------- */

static void comes(struct message *m)
{
	message_put(&kernel.asked, m);
	assert_int_equal(eventfd_write(kernel.device, 1), 0);
}

uint64_t kernel_send(uint32_t opcode, uint64_t node, const void *arg, size_t len, const void *more,
	size_t more_len)
{
	struct fuse_in_header h = {
		.len = (uint32_t)(sizeof(h) + len + more_len),
		.opcode = opcode,
		.unique = kernel.again ? kernel.again : ++kernel.number * 2,
		.nodeid = node,
		.uid = kernel_uid,
		.gid = getgid(),
		.pid = (uint32_t)kernel_tid,
	};
	struct message *m = malloc(sizeof(*m) + h.len);

	m->len = h.len;
	memcpy(m->data, &h, sizeof(h));
	if (len)
		memcpy(m->data + sizeof(h), arg, len);
	if (more_len)
		memcpy(m->data + sizeof(h) + len, more, more_len);
	if (kernel.keeps)
		kernel.kept = m;
	else
		comes(m);
	kernel.keeps = false;
	kernel.again = 0;
	return h.unique;
}

void kernel_sends_again(uint64_t number)
{
	kernel.again = number | REQUEST_AGAIN;
}

void kernel_keep_next(void)
{
	kernel.keeps = true;
}

void kernel_kept_comes(void)
{
	comes(kernel.kept);
	kernel.kept = NULL;
}

static struct message *find_locked(uint64_t number)
{
	struct message *m;

	STAILQ_FOREACH (m, &kernel.answered, next)
		if (m->number == number)
			break;
	return m;
}

bool kernel_answered(uint64_t number)
{
	bool there;

	pthread_mutex_lock(&kernel.lock);
	there = find_locked(number) != NULL;
	pthread_mutex_unlock(&kernel.lock);
	return there;
}

/* Waits for an answer for a while, and does a part of the main thread's work. */
static void wait_and_tick_locked(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += TICK_MS * 1000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	if (!pthread_cond_timedwait(&kernel.some, &kernel.lock, &end))
		return;
	pthread_mutex_unlock(&kernel.lock);
	repeats_tick(kernel.fs, false);
	pthread_mutex_lock(&kernel.lock);
}

struct answer kernel_wait(uint64_t number)
{
	const struct fuse_out_header *h;
	struct message *m;

	pthread_mutex_lock(&kernel.lock);
	for (unsigned i = 0; !(m = find_locked(number)) && i < WAIT_S * 1000 / TICK_MS; i++)
		wait_and_tick_locked();
	if (m)
		STAILQ_REMOVE(&kernel.answered, m, message, next);
	pthread_mutex_unlock(&kernel.lock);
	assert_non_null(m);
	free(kernel.last);
	kernel.last = m;
	h = (const struct fuse_out_header *)m->data;
	return (struct answer){
		.error = h->error,
		.pieces = m->pieces,
		.len = m->len - sizeof(*h),
		.data = m->data + sizeof(*h),
	};
}

int kernel_ask(uint32_t opcode, uint64_t node, const void *arg, size_t len, const void *more,
	size_t more_len, void *out, size_t out_len)
{
	struct answer a = kernel_wait(kernel_send(opcode, node, arg, len, more, more_len));

	if (out && !a.error)
		memcpy(out, a.data, a.len < out_len ? a.len : out_len);
	return a.error;
}

pid_t kernel_killed_process(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		for (;;)
			pause();
	assert_true(pid > 0);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	return pid;
}

void kernel_interrupt(uint64_t number)
{
	struct fuse_interrupt_in in = {.unique = number};

	kernel_send(FUSE_INTERRUPT, 0, &in, sizeof(in), NULL, 0);
}

unsigned kernel_notified(int code)
{
	unsigned n;

	pthread_mutex_lock(&kernel.lock);
	n = kernel.notified[code];
	pthread_mutex_unlock(&kernel.lock);
	return n;
}

/* --- mounting --------------------------------------------------------------------------------- */

static void on_signal(int sig)
{
}

struct fs *kernel_mount(void)
{
	static const struct fuse_custom_io device = {.read = device_read, .writev = device_writev};
	struct sigaction sa = {.sa_handler = on_signal};
	struct fuse_init_in init = {.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = 1 << 20,
		.flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_ATOMIC_O_TRUNC | FUSE_POSIX_LOCKS |
			 FUSE_FLOCK_LOCKS};
	char name[] = "fake";
	char *argv[] = {name, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse_lowlevel_ops ops;
	struct fs *fs;

	sigaction(SIGUSR2, &sa, NULL);
	STAILQ_INIT(&kernel.asked);
	STAILQ_INIT(&kernel.answered);
	memset(kernel.notified, 0, sizeof(kernel.notified));
	kernel.device = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	kernel_tid = 0;
	kernel_uid = getuid();
	fake_knobs = (struct fake_knobs){.sync = true, .features = NFS_HAS_LOCKS};
	kernel.fs = fs = fs_fixture_new();
	ops = ops_table(fs);
	fs->se = fuse_session_new(&args, &ops, sizeof(ops), fs);
	assert_non_null(fs->se);
	assert_int_equal(fuse_session_custom_io(fs->se, &device, kernel.device), 0);
	fuse_opt_free_args(&args);
	fs->notifier = notifier_start(fs);
	assert_true(workers_start(fs, 1));
	assert_int_equal(kernel_ask(FUSE_INIT, 0, &init, sizeof(init), NULL, 0, NULL, 0), 0);
	return fs;
}

static void drop_all(struct message_list *l)
{
	struct message *m;

	while ((m = STAILQ_FIRST(l))) {
		STAILQ_REMOVE_HEAD(l, next);
		free(m);
	}
}

void kernel_unmount(void)
{
	struct fuse_session *se = kernel.fs->se;

	assert_int_equal(eventfd_write(kernel.device, 1), 0);
	workers_stop(kernel.fs);
	openings_tick(kernel.fs, true);
	repeats_tick(kernel.fs, true);
	kernel.fs = fs_fixture_free(kernel.fs);
	fuse_session_destroy(se);
	drop_all(&kernel.asked);
	drop_all(&kernel.answered);
	free(kernel.last);
	kernel.last = NULL;
}

/* --- requests of programs
 * ---------------------------------------------------------------------- */

static int ask_name(uint32_t opcode, uint64_t dir, const char *name, void *out, size_t out_len)
{
	return kernel_ask(opcode, dir, NULL, 0, name, strlen(name) + 1, out, out_len);
}

int kernel_lookup(uint64_t dir, const char *name, struct fuse_entry_out *out)
{
	return ask_name(FUSE_LOOKUP, dir, name, out, sizeof(*out));
}

int kernel_mkdir(uint64_t dir, const char *name, struct fuse_entry_out *out)
{
	struct fuse_mkdir_in in = {.mode = 0755};

	return kernel_ask(
		FUSE_MKDIR, dir, &in, sizeof(in), name, strlen(name) + 1, out, sizeof(*out));
}

int kernel_create(uint64_t dir, const char *name, int flags, uint64_t *node, uint64_t *fh)
{
	struct fuse_create_in in = {.flags = (uint32_t)flags, .mode = S_IFREG | 0644};
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out;
	int error = kernel_ask(
		FUSE_CREATE, dir, &in, sizeof(in), name, strlen(name) + 1, &out, sizeof(out));

	if (!error) {
		*node = out.entry.nodeid;
		*fh = out.open.fh;
	}
	return error;
}

int kernel_open(uint64_t node, int flags, uint64_t *fh)
{
	struct fuse_open_in in = {.flags = (uint32_t)flags};
	struct fuse_open_out out;
	int error = kernel_ask(FUSE_OPEN, node, &in, sizeof(in), NULL, 0, &out, sizeof(out));

	if (!error)
		*fh = out.fh;
	return error;
}

uint64_t kernel_send_read(uint64_t node, uint64_t fh, uint64_t off, uint32_t size)
{
	struct fuse_read_in in = {.fh = fh, .offset = off, .size = size};

	return kernel_send(FUSE_READ, node, &in, sizeof(in), NULL, 0);
}

int kernel_read(uint64_t node, uint64_t fh, uint64_t off, void *buf, uint32_t size)
{
	struct answer a;

	do /* as the kernel does after a failed read-ahead: fs/coherence/repeat.h */
		a = kernel_wait(kernel_send_read(node, fh, off, size));
	while (a.error == -EINTR);
	if (a.error)
		return a.error;
	assert_true(a.len <= size);
	memcpy(buf, a.data, a.len);
	return (int)a.len;
}

uint64_t kernel_send_write(uint64_t node, uint64_t fh, uint64_t off, const void *buf, uint32_t size,
	int flags, uint32_t write_flags)
{
	struct fuse_write_in in = {
		.fh = fh,
		.offset = off,
		.size = size,
		.flags = (uint32_t)flags,
		.write_flags = write_flags,
	};

	return kernel_send(FUSE_WRITE, node, &in, sizeof(in), buf, size);
}

int kernel_write(
	uint64_t node, uint64_t fh, uint64_t off, const void *buf, uint32_t size, int flags)
{
	struct answer a = kernel_wait(kernel_send_write(node, fh, off, buf, size, flags, 0));
	struct fuse_write_out out;

	if (a.error)
		return a.error;
	memcpy(&out, a.data, sizeof(out));
	return (int)out.size;
}

int kernel_flush(uint64_t node, uint64_t fh)
{
	struct fuse_flush_in in = {.fh = fh};

	return kernel_ask(FUSE_FLUSH, node, &in, sizeof(in), NULL, 0, NULL, 0);
}

int kernel_fsync(uint64_t node, uint64_t fh)
{
	struct fuse_fsync_in in = {.fh = fh};

	return kernel_ask(FUSE_FSYNC, node, &in, sizeof(in), NULL, 0, NULL, 0);
}

int kernel_release(uint64_t node, uint64_t fh)
{
	struct fuse_release_in in = {.fh = fh};

	return kernel_ask(FUSE_RELEASE, node, &in, sizeof(in), NULL, 0, NULL, 0);
}

int kernel_unlink(uint64_t dir, const char *name)
{
	return ask_name(FUSE_UNLINK, dir, name, NULL, 0);
}

int kernel_rmdir(uint64_t dir, const char *name)
{
	return ask_name(FUSE_RMDIR, dir, name, NULL, 0);
}

int kernel_rename(uint64_t dir, const char *name, uint64_t to_dir, const char *to_name)
{
	struct fuse_rename_in in = {.newdir = to_dir};
	size_t len = strlen(name) + 1, to_len = strlen(to_name) + 1;
	char names[600];

	memcpy(names, name, len);
	memcpy(names + len, to_name, to_len);
	return kernel_ask(FUSE_RENAME, dir, &in, sizeof(in), names, len + to_len, NULL, 0);
}

int kernel_link(uint64_t node, uint64_t dir, const char *name, struct fuse_entry_out *out)
{
	struct fuse_link_in in = {.oldnodeid = node};

	return kernel_ask(
		FUSE_LINK, dir, &in, sizeof(in), name, strlen(name) + 1, out, sizeof(*out));
}

int kernel_getattr(uint64_t node, struct fuse_attr *out)
{
	struct fuse_getattr_in in = {0};
	struct fuse_attr_out reply;
	int error = kernel_ask(FUSE_GETATTR, node, &in, sizeof(in), NULL, 0, &reply, sizeof(reply));

	if (!error)
		*out = reply.attr;
	return error;
}

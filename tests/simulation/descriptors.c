/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * descriptors: the table of simulated descriptors, and the calls that any of them takes.
 */
#undef _FILE_OFFSET_BITS
#include "tests/simulation/descriptors.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/simulation/sched.h"

#define REAL(fn)     ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))
#define MS	     1000000ull
#define REAL_LOOK_NS MS /* a wait for both kinds looks at the system's so often */

static struct description *table[DESCRIPTORS_MOST];
static unsigned nopen;

static ssize_t fails(int error)
{
	errno = error;
	return -1;
}

static ssize_t ends(ssize_t res)
{
	return res < 0 ? fails((int)-res) : res;
}

/* --- the table -------------------------------------------------------------------------------- */

static int place(struct description *d, int least)
{
	for (int i = least > DESCRIPTORS_FIRST ? least - DESCRIPTORS_FIRST : 0;
		i < DESCRIPTORS_MOST; i++)
		if (!table[i]) {
			table[i] = d;
			d->refs++;
			nopen++;
			return DESCRIPTORS_FIRST + i;
		}
	return -EMFILE;
}

int descriptor_add(const struct description_ops *ops, void *of, int flags)
{
	struct description *d = calloc(1, sizeof(*d));
	int fd;

	if (!d)
		abort();
	d->ops = ops;
	d->of = of;
	d->flags = flags;
	d->process = sched_process();
	d->lease = F_UNLCK;
	fd = place(d, 0);
	if (fd < 0)
		free(d);
	return fd;
}

struct description *descriptor_get(int fd)
{
	return descriptor_is_ours(fd) ? table[fd - DESCRIPTORS_FIRST] : NULL;
}

unsigned descriptors_open(void)
{
	return nopen;
}

/* The description has no descriptor any more. */
static void end(struct description *d)
{
	if (!d->ended && d->ops->close)
		d->ops->close(d);
	d->ended = true;
}

static void drop(struct description *d)
{
	if (--d->refs)
		return;
	end(d);
	free(d);
}

int close(int fd)
{
	struct description *d = descriptor_get(fd);

	if (!descriptor_is_ours(fd))
		return REAL(close)(fd);
	if (!d)
		sched_fail("descriptor %d is closed, which is not open", fd);
	sched_point();
	table[fd - DESCRIPTORS_FIRST] = NULL;
	nopen--;
	drop(d);
	descriptors_changed();
	return 0;
}

void descriptors_close_of(unsigned process)
{
	for (unsigned i = 0; i < DESCRIPTORS_MOST; i++) {
		struct description *d = table[i];

		if (!d || d->process != process)
			continue;
		table[i] = NULL;
		nopen--;
		end(d); /* threads that were in a call will never let d go */
	}
	descriptors_changed();
}

int dup(int fd)
{
	struct description *d = descriptor_get(fd);

	if (!descriptor_is_ours(fd))
		return REAL(dup)(fd);
	return d ? (int)ends(place(d, 0)) : (int)fails(EBADF);
}

/* The same in two names for programs of large files. */
static int control(int fd, int cmd, long arg)
{
	struct description *d = descriptor_get(fd);

	if (!d)
		return (int)fails(EBADF);
	switch (cmd) {
	case F_GETFD:
		return FD_CLOEXEC;
	case F_SETFD:
	case F_SETLEASE:
		d->lease = (int)arg;
		return 0;
	case F_SETSIG:
	case F_SETOWN:
		return 0;
	case F_GETFL:
		return d->flags;
	case F_SETFL:
		d->flags = (d->flags & O_ACCMODE) | ((int)arg & ~O_ACCMODE);
		return 0;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return (int)ends(place(d, (int)arg));
	case F_GETLEASE:
		return d->lease;
	default:
		return (int)fails(EINVAL);
	}
}

int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!descriptor_is_ours(fd))
		return REAL(fcntl)(fd, cmd, arg);
	return control(fd, cmd, (long)arg);
}

int fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fcntl(fd, cmd, arg);
}

/* --- waiting ---------------------------------------------------------------------------------- */

void descriptors_changed(void)
{
	sched_wake_all(&table);
}

static short look(const struct description *d, uint64_t *at)
{
	struct description copy = *d;

	return d->ops->events ? d->ops->events(&copy, at) : POLLIN | POLLOUT;
}

/* The descriptors that are ready. */
static int count_ready(struct pollfd *fds, nfds_t n, uint64_t *at, bool *any_real)
{
	int ready = 0;

	for (nfds_t i = 0; i < n; i++) {
		struct description *d = descriptor_get(fds[i].fd);

		fds[i].revents = 0;
		if (descriptor_is_ours(fds[i].fd)) {
			fds[i].revents =
				d ? (short)(look(d, at) & (fds[i].events | POLLERR | POLLHUP))
				  : POLLNVAL;
		} else if (fds[i].fd >= 0) {
			*any_real = true;
			REAL(poll)(&fds[i], 1, 0);
		}
		ready += fds[i].revents != 0;
	}
	return ready;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	uint64_t until, at;
	bool any_real = false;
	int ready;

	if (!sched_on())
		return REAL(poll)(fds, n, ms);
	sched_point();
	until = ms < 0 ? SCHED_NEVER : sched_now() + (uint64_t)ms * MS;
	for (;;) {
		at = until;
		ready = count_ready(fds, n, &at, &any_real);
		if (ready || sched_now() >= until)
			return ready;
		if (any_real && at > sched_now() + REAL_LOOK_NS)
			at = sched_now() + REAL_LOOK_NS;
		sched_wait(&table, at, "for descriptors");
	}
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask)
{
	if (!sched_on())
		return REAL(ppoll)(fds, n, ts, mask);
	return poll(fds, n, ts ? (int)(ts->tv_sec * 1000 + ts->tv_nsec / 1000000) : -1);
}

/* --- reading and writing ---------------------------------------------------------------------- */

typedef ssize_t transfer_fn(struct description *, const struct iovec *, int);

/* fn, again and again until the description is ready, unless it does not wait. */
static ssize_t transfer(int fd, transfer_fn *fn, const struct iovec *iov, int n)
{
	struct description *d = descriptor_get(fd);
	ssize_t res;

	if (!d)
		return fails(EBADF);
	if (!fn)
		return fails(EINVAL);
	sched_point();
	d->refs++;
	while ((res = fn(d, iov, n)) == -EAGAIN && !(d->flags & O_NONBLOCK)) {
		uint64_t at = SCHED_NEVER;

		look(d, &at);
		sched_wait(&table, at, d->ops->name);
	}
	drop(d);
	return ends(res);
}

static transfer_fn *reads(int fd)
{
	struct description *d = descriptor_get(fd);

	return d ? d->ops->read : NULL;
}

static transfer_fn *writes(int fd)
{
	struct description *d = descriptor_get(fd);

	return d ? d->ops->write : NULL;
}

ssize_t read(int fd, void *buf, size_t n)
{
	struct iovec iov = {buf, n};

	return descriptor_is_ours(fd) ? transfer(fd, reads(fd), &iov, 1) : REAL(read)(fd, buf, n);
}

ssize_t readv(int fd, const struct iovec *iov, int n)
{
	return descriptor_is_ours(fd) ? transfer(fd, reads(fd), iov, n) : REAL(readv)(fd, iov, n);
}

ssize_t write(int fd, const void *buf, size_t n)
{
	struct iovec iov = {(void *)buf, n};

	return descriptor_is_ours(fd) ? transfer(fd, writes(fd), &iov, 1) : REAL(write)(fd, buf, n);
}

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	return descriptor_is_ours(fd) ? transfer(fd, writes(fd), iov, n) : REAL(writev)(fd, iov, n);
}

static ssize_t read_at(int fd, const struct iovec *iov, int n, off_t off)
{
	struct description *d = descriptor_get(fd);

	sched_point();
	return d && d->ops->pread ? ends(d->ops->pread(d, iov, n, off)) : fails(d ? ESPIPE : EBADF);
}

static ssize_t write_at(int fd, const struct iovec *iov, int n, off_t off)
{
	struct description *d = descriptor_get(fd);

	sched_point();
	return d && d->ops->pwrite ? ends(d->ops->pwrite(d, iov, n, off))
				   : fails(d ? ESPIPE : EBADF);
}

ssize_t preadv64(int fd, const struct iovec *iov, int n, off64_t off)
{
	return descriptor_is_ours(fd) ? read_at(fd, iov, n, off) : REAL(preadv64)(fd, iov, n, off);
}

ssize_t pwritev64(int fd, const struct iovec *iov, int n, off64_t off)
{
	return descriptor_is_ours(fd) ? write_at(fd, iov, n, off)
				      : REAL(pwritev64)(fd, iov, n, off);
}

ssize_t pread64(int fd, void *buf, size_t n, off64_t off)
{
	struct iovec iov = {buf, n};

	return descriptor_is_ours(fd) ? read_at(fd, &iov, 1, off) : REAL(pread64)(fd, buf, n, off);
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t off)
{
	struct iovec iov = {(void *)buf, n};

	return descriptor_is_ours(fd) ? write_at(fd, &iov, 1, off)
				      : REAL(pwrite64)(fd, buf, n, off);
}

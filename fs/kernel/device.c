/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * device: reading requests from the FUSE device, and writing answers to the device.
 */
#include "fs/kernel/device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "transport/lock.h"
#include "transport/log.h"

/* This bit is set in the number of an INTERRUPT; the other bits are the number of its request. */
#define OF_INTERRUPT 1u

struct device {
	int fd;	 /* read() sleeps */
	int row; /* read() does not sleep; -1: no rows */
	struct mutex lock;
	atomic_uint n; /* changed under lock */
	/* The numbers of the n unanswered requests that came by row, with room for as
	 * many requests as are being read. */
	unsigned reading GUARDED_BY(lock);
	uint64_t by_row[DEVICE_ROW_MAX] GUARDED_BY(lock);
};

static int clone_of(int fd)
{
	uint32_t of = (uint32_t)fd;
	char path[32];
	int clone;

	/* where another process has mounted, there may be no /dev/fuse */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	clone = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (clone < 0 || ioctl(clone, FUSE_DEV_IOC_CLONE, &of) == 0)
		return clone;
	close(clone);
	return -1;
}

struct device *device_new(int fd)
{
	int row = clone_of(fd);

	if (row < 0)
		log_ctrl("the FUSE device cannot be cloned: each request is sent by itself");
	return device_of(fd, row);
}

struct device *device_of(int fd, int row)
{
	struct device *d = calloc(1, sizeof(*d));
	int flags = fcntl(fd, F_GETFL);

	if (!d) {
		if (row >= 0)
			close(row);
		return NULL;
	}
	if (flags >= 0 && flags & O_NONBLOCK)
		fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	mutex_init(&d->lock);
	d->fd = fd;
	d->row = row;
	return d;
}

struct device *device_free(struct device *d)
{
	if (!d)
		return NULL;
	if (d->row >= 0)
		close(d->row);
	mutex_destroy(&d->lock);
	free(d);
	return NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool is_answered(const struct fuse_in_header *h)
{
	switch (h->opcode) {
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
	case FUSE_NOTIFY_REPLY:
		return false;
	default:
		return true;
	}
}

static bool begin(struct device *d)
{
	bool room;

	mutex_lock(&d->lock);
	room = d->n + d->reading < DEVICE_ROW_MAX;
	d->reading += room;
	mutex_unlock(&d->lock);
	return room;
}

static ssize_t read_row(struct device *d, void *buf, size_t len)
{
	const struct fuse_in_header *h = buf;
	ssize_t n;
	int error;

	if (d->row < 0 || !begin(d)) {
		errno = EAGAIN;
		return -1;
	}
	n = read(d->row, buf, len);
	error = errno;
	mutex_lock(&d->lock);
	d->reading--;
	if (n >= (ssize_t)sizeof(*h) && is_answered(h))
		d->by_row[d->n++] = h->unique;
	mutex_unlock(&d->lock);
	errno = error;
	return n;
}

/* Did the request with number unique, which is being answered, come by d->row? */
static bool came_by_row(struct device *d, uint64_t unique)
{
	bool found = false;

	if (!atomic_load_explicit(&d->n, memory_order_relaxed))
		/* this thread answers only requests that it has read, or got from another thread */
		return false;
	mutex_lock(&d->lock);
	for (unsigned i = d->n; i-- > 0 && !found;) {
		found = d->by_row[i] == (unique & ~(uint64_t)OF_INTERRUPT);
		if (found && !(unique & OF_INTERRUPT))
			d->by_row[i] = d->by_row[--d->n];
	}
	mutex_unlock(&d->lock);
	return found;
}

int device_row(const struct device *d)
{
	return d->row;
}

bool device_gone(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, 0) == 1 && p.revents & (POLLERR | POLLNVAL);
}

bool device_is_row(struct device *d, uint64_t unique)
{
	bool found = false;

	if (!d)
		return false;
	mutex_lock(&d->lock);
	for (unsigned i = 0; i < d->n; i++)
		found |= d->by_row[i] == unique;
	mutex_unlock(&d->lock);
	return found;
}

bool device_inherit_row(struct device *d, uint64_t unique)
{
	bool room;

	if (!d || d->row < 0)
		return false;
	mutex_lock(&d->lock);
	room = d->n + d->reading < DEVICE_ROW_MAX;
	if (room)
		d->by_row[d->n++] = unique;
	mutex_unlock(&d->lock);
	return room;
}

ssize_t device_read(struct device *d, void *buf, size_t len, bool in_row)
{
	return in_row ? read_row(d, buf, len) : read(d->fd, buf, len);
}

ssize_t device_writev(struct device *d, const struct iovec *iov, int count)
{
	const struct fuse_out_header *h = iov[0].iov_base;
	bool by_row = h->unique && came_by_row(d, h->unique);

	return writev(by_row ? d->row : d->fd, iov, count);
}

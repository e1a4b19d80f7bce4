/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * events: eventfd(2).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/sched.h"

#define REAL(fn) ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))

struct event {
	uint64_t count;
	bool semaphore;
};

static ssize_t read_event(struct description *d, const struct iovec *iov, int n)
{
	struct event *e = d->of;
	uint64_t got = e->semaphore && e->count ? 1 : e->count;

	if (iov[0].iov_len < sizeof(got))
		return -EINVAL;
	if (!got)
		return -EAGAIN;
	e->count -= got;
	memcpy(iov[0].iov_base, &got, sizeof(got));
	return sizeof(got);
}

static ssize_t write_event(struct description *d, const struct iovec *iov, int n)
{
	struct event *e = d->of;
	uint64_t more;

	if (iov[0].iov_len < sizeof(more))
		return -EINVAL;
	memcpy(&more, iov[0].iov_base, sizeof(more));
	if (more > UINT64_MAX - 1 - e->count)
		return -EAGAIN;
	e->count += more;
	descriptors_changed();
	return sizeof(more);
}

static short events_of(struct description *d, uint64_t *at)
{
	const struct event *e = d->of;

	return (short)((e->count ? POLLIN : 0) | POLLOUT);
}

static void end_event(struct description *d)
{
	free(d->of);
}

static const struct description_ops ops = {.name = "eventfd",
	.read = read_event,
	.write = write_event,
	.events = events_of,
	.close = end_event};

int eventfd(unsigned count, int flags)
{
	struct event *e;
	int fd;

	if (!sched_on())
		return REAL(eventfd)(count, flags);
	e = calloc(1, sizeof(*e));
	if (!e)
		abort();
	e->count = count;
	e->semaphore = flags & EFD_SEMAPHORE;
	fd = descriptor_add(&ops, e, O_RDWR | (flags & EFD_NONBLOCK ? O_NONBLOCK : 0));
	if (fd >= 0)
		return fd;
	free(e);
	errno = -fd;
	return -1;
}

int eventfd_read(int fd, eventfd_t *value)
{
	return read(fd, value, sizeof(*value)) == sizeof(*value) ? 0 : -1;
}

int eventfd_write(int fd, eventfd_t value)
{
	return write(fd, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}

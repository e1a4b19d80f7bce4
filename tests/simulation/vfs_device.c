/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_device: /dev/fuse, as the daemon sees it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

#define INTERRUPTS  1u /* this bit is set in the number of an INTERRUPT */
#define FORGETS_ROW 8  /* FORGETs and requests take turns in rows of so many */

static const struct description_ops ops;

/* A WRITE that a worker has read and not begun is case 5 of doc/coherence.md. */
#define WRITE_POINTS 50

/* --- reading ---------------------------------------------------------------------------------- */

struct target {
	const struct iovec *iov;
	int n;
	size_t at; /* in iov[0] */
};

static size_t room_of(const struct iovec *iov, int n)
{
	size_t room = 0;

	for (int i = 0; i < n; i++)
		room += iov[i].iov_len;
	return room;
}

static void put(struct target *t, const void *data, size_t len)
{
	const uint8_t *from = data;

	while (len) {
		size_t n = t->iov->iov_len - t->at;

		if (!n) {
			t->iov++;
			t->at = 0;
			continue;
		}
		if (n > len)
			n = len;
		memcpy((uint8_t *)t->iov->iov_base + t->at, from, n);
		t->at += n;
		from += n;
		len -= n;
	}
}

static ssize_t read_interrupt(struct vfs *v, struct target *t)
{
	struct vfs_request *r = STAILQ_FIRST(&v->interrupts);
	struct fuse_in_header h = {.len = sizeof(h) + sizeof(struct fuse_interrupt_in),
		.opcode = FUSE_INTERRUPT,
		.unique = r->head.unique | INTERRUPTS};
	struct fuse_interrupt_in in = {.unique = r->head.unique};

	STAILQ_REMOVE_HEAD(&v->interrupts, next_interrupt);
	r->interrupt_queued = false;
	put(t, &h, sizeof(h));
	put(t, &in, sizeof(in));
	return h.len;
}

static struct vfs_forget take_forget(struct vfs *v)
{
	struct vfs_forget *f = STAILQ_FIRST(&v->forgets), copy = *f;

	STAILQ_REMOVE_HEAD(&v->forgets, next);
	free(f);
	return copy;
}

/* One by one as FORGET, several as BATCH_FORGET: as many as the daemon's buffer holds. */
static ssize_t read_forgets(struct vfs *v, struct target *t, size_t room)
{
	struct fuse_in_header h = {.len = sizeof(h), .unique = v->unique += 2};
	struct fuse_batch_forget_in batch = {0};
	struct vfs_forget *f = STAILQ_FIRST(&v->forgets), one;

	if (!STAILQ_NEXT(f, next)) {
		struct fuse_forget_in in = {.nlookup = f->n};

		one = take_forget(v);
		h.opcode = FUSE_FORGET;
		h.nodeid = one.node;
		h.len += sizeof(in);
		put(t, &h, sizeof(h));
		put(t, &in, sizeof(in));
		return h.len;
	}
	STAILQ_FOREACH (f, &v->forgets, next)
		if (sizeof(h) + sizeof(batch) +
				(batch.count + 1) * sizeof(struct fuse_forget_one) <=
			room)
			batch.count++;
	h.opcode = FUSE_BATCH_FORGET;
	h.len += (uint32_t)(sizeof(batch) + batch.count * sizeof(struct fuse_forget_one));
	put(t, &h, sizeof(h));
	put(t, &batch, sizeof(batch));
	for (uint32_t i = 0; i < batch.count; i++) {
		one = take_forget(v);
		put(t, &(struct fuse_forget_one){.nodeid = one.node, .nlookup = one.n},
			sizeof(struct fuse_forget_one));
	}
	return h.len;
}

static bool takes_forget(struct vfs *v)
{
	if (STAILQ_EMPTY(&v->forgets))
		return false;
	if (STAILQ_EMPTY(&v->pending) || v->forget_batch-- > 0)
		return true;
	if (v->forget_batch <= -FORGETS_ROW)
		v->forget_batch = 2 * FORGETS_ROW;
	return false;
}

static ssize_t read_request(struct vfs_device *dev, struct target *t, size_t room)
{
	struct vfs *v = dev->v;
	struct vfs_request *r = STAILQ_FIRST(&v->pending);

	STAILQ_REMOVE_HEAD(&v->pending, next);
	r->queued = false;
	if (r->head.len > room) {
		vfs_end_request(v, r, r->c.opcode == FUSE_SETXATTR ? -E2BIG : -EIO);
		return 0;
	}
	put(t, &r->head, sizeof(r->head));
	for (unsigned i = 0; i < r->c.n; i++)
		put(t, r->c.in[i].iov_base, r->c.in[i].iov_len);
	r->sent = true;
	r->device = dev;
	if (r->c.opcode == FUSE_WRITE)
		sched_hurry(WRITE_POINTS);
	LIST_INSERT_HEAD(&dev->sent, r, of_device);
	if (r->interrupted && !r->interrupt_queued) {
		r->interrupt_queued = true;
		v->counts.interrupts++;
		STAILQ_INSERT_TAIL(&v->interrupts, r, next_interrupt);
	}
	return r->head.len;
}

/* Interrupts come first, then forgets and requests. */
static ssize_t device_read(struct description *d, const struct iovec *iov, int n)
{
	struct vfs_device *dev = d->of;
	struct vfs *v = dev->v;
	struct target t = {iov, n, 0};
	size_t room = room_of(iov, n);
	size_t least = sizeof(struct fuse_in_header) + sizeof(struct fuse_write_in);
	ssize_t got;

	if (!v)
		return -EPERM;
	least += v->max_write;
	if (room < FUSE_MIN_READ_BUFFER || room < least)
		return -EINVAL;
	for (;;) {
		if (v->ended)
			return v->aborted && vfs_has(v, FUSE_ABORT_ERROR) ? -ECONNABORTED : -ENODEV;
		if (!STAILQ_EMPTY(&v->interrupts))
			return read_interrupt(v, &t);
		if (takes_forget(v))
			return read_forgets(v, &t, room);
		if (STAILQ_EMPTY(&v->pending))
			return -EAGAIN;
		got = read_request(dev, &t, room);
		if (got)
			return got;
	}
}

/* --- writing ---------------------------------------------------------------------------------- */

static ssize_t gather(struct vfs *v, const struct iovec *iov, int n)
{
	size_t len = 0;

	for (int i = 0; i < n; i++) {
		if (iov[i].iov_len > sizeof(v->message) - len)
			return -EINVAL;
		memcpy(v->message + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	return (ssize_t)len;
}

static struct vfs_request *find(struct vfs_device *dev, uint64_t unique)
{
	struct vfs_request *r;

	LIST_FOREACH (r, &dev->sent, of_device)
		if (r->head.unique == unique)
			return r;
	return NULL;
}

/* The answer to an INTERRUPT: the daemon does not know the request yet, or no INTERRUPTs. */
static ssize_t answer_interrupt(struct vfs *v, struct vfs_request *r, int error, size_t len)
{
	if (len != sizeof(struct fuse_out_header))
		return -EINVAL;
	if (error == -ENOSYS)
		v->no_interrupt = true;
	else if (error == -EAGAIN && !r->interrupt_queued) {
		r->interrupt_queued = true;
		STAILQ_INSERT_TAIL(&v->interrupts, r, next_interrupt);
		descriptors_changed();
	}
	return (ssize_t)len;
}

/* The length is checked: an error comes without more, a result has all. */
static bool fits(const struct vfs_request *r, const struct fuse_out_header *h, size_t body)
{
	if (h->error)
		return !body;
	return r->c.var ? body <= r->c.room : body == r->c.room;
}

static ssize_t answer(struct vfs_device *dev, const struct fuse_out_header *h, size_t len)
{
	struct vfs *v = dev->v;
	struct vfs_request *r = find(dev, h->unique & ~(uint64_t)INTERRUPTS);
	size_t body = len - sizeof(*h);

	if (h->error > 0 || h->error <= -512)
		return -EINVAL;
	if (!r)
		return -ENOENT;
	if (h->unique & INTERRUPTS)
		return answer_interrupt(v, r, h->error, len);
	LIST_REMOVE(r, of_device);
	if (!fits(r, h, body)) {
		sched_event("kernel: answer to opcode %u has %zu of %zu bytes", r->c.opcode, body,
			r->c.room);
		vfs_end_request(v, r, -EIO);
		return -EINVAL;
	}
	if (body)
		memcpy(r->c.out, h + 1, body);
	r->got = body;
	vfs_tell_answer(v, r, h->error, body);
	vfs_end_request(v, r, h->error);
	return (ssize_t)len;
}

static ssize_t device_write(struct description *d, const struct iovec *iov, int n)
{
	struct vfs_device *dev = d->of;
	struct vfs *v = dev->v;
	const struct fuse_out_header *h;
	ssize_t len;
	void *body;
	int res;

	if (!v)
		return -EPERM;
	h = (void *)v->message;
	len = gather(v, iov, n);
	if (len < (ssize_t)sizeof(*h) || (size_t)len != h->len)
		return -EINVAL;
	if (h->unique)
		return v->ended ? -ENOENT : answer(dev, h, (size_t)len);
	if (v->ended)
		return -ENOTCONN;
	/* the daemon's thread may have to wait here */
	body = malloc((size_t)len);
	if (!body)
		abort();
	memcpy(body, h + 1, (size_t)len - sizeof(*h));
	v->counts.notifications++;
	res = vfs_notified(v, h->error, body, (size_t)len - sizeof(*h));
	free(body);
	return res ? res : len;
}

/* --- the description -------------------------------------------------------------------------- */

static short device_events(struct description *d, uint64_t *at)
{
	struct vfs_device *dev = d->of;
	struct vfs *v = dev->v;

	if (!v || v->ended)
		return POLLERR;
	if (STAILQ_EMPTY(&v->pending) && STAILQ_EMPTY(&v->interrupts) && STAILQ_EMPTY(&v->forgets))
		return POLLOUT;
	return POLLIN | POLLOUT;
}

/* Requests that came by a device end with the device; all requests end with the last device. */
static void device_close(struct description *d)
{
	struct vfs_device *dev = d->of;
	struct vfs *v = dev->v;
	struct vfs_request *r;

	if (v) {
		LIST_REMOVE(dev, next);
		while ((r = LIST_FIRST(&dev->sent))) {
			LIST_REMOVE(r, of_device);
			vfs_end_request(v, r, -ECONNABORTED);
		}
		if (LIST_EMPTY(&v->devices) && !v->ended)
			vfs_end_requests(v);
	}
	free(dev);
}

static const struct description_ops ops = {
	.name = "/dev/fuse",
	.read = device_read,
	.write = device_write,
	.events = device_events,
	.close = device_close,
};

static struct vfs_device *make(struct vfs *v)
{
	struct vfs_device *dev = calloc(1, sizeof(*dev));

	if (!dev)
		abort();
	LIST_INIT(&dev->sent);
	dev->v = v;
	if (v)
		LIST_INSERT_HEAD(&v->devices, dev, next);
	return dev;
}

int vfs_device_new(struct vfs *v)
{
	return descriptor_add(&ops, make(v), O_RDWR);
}

int vfs_open_device(int flags)
{
	return descriptor_add(&ops, make(NULL), flags);
}

bool vfs_is_device(int fd)
{
	const struct description *d = descriptor_get(fd);

	return d && d->ops == &ops;
}

int vfs_clone(int device, int fd)
{
	struct vfs_device *dev, *of;

	if (!vfs_is_device(device) || !vfs_is_device(fd))
		return -EINVAL;
	dev = descriptor_get(device)->of;
	of = descriptor_get(fd)->of;
	if (dev->v || !of->v)
		return -EINVAL;
	dev->v = of->v;
	LIST_INSERT_HEAD(&dev->v->devices, dev, next);
	return 0;
}

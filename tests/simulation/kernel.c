/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel: the device, requests and their answers, in the form of Linux's fuse.h.
 */
#include "tests/simulation/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/kernel_impl.h"
#include "tests/simulation/sched.h"

/* --- the device ------------------------------------------------------------------------------- */

static size_t gather(void *to, size_t room, const struct iovec *iov, int n)
{
	size_t len = 0;

	for (int i = 0; i < n; i++) {
		if (iov[i].iov_len > room - len)
			sched_fail("a message to the kernel is larger than %zu bytes", room);
		memcpy((char *)to + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	return len;
}

static ssize_t read_request(struct description *d, const struct iovec *iov, int n)
{
	struct kernel *k = d->of;
	struct question *q = STAILQ_FIRST(&k->asked);
	size_t len;

	if (!q)
		return k->gone ? -ENODEV : -EAGAIN;
	STAILQ_REMOVE_HEAD(&k->asked, next);
	len = q->len;
	if (n != 1 || iov[0].iov_len < len)
		sched_fail("a worker reads with too little room");
	memcpy(iov[0].iov_base, q->bytes, len);
	if (q->answered) /* FORGET has no answer */
		free(q);
	else
		LIST_INSERT_HEAD(&k->open, q, in_open);
	return (ssize_t)len;
}

static ssize_t answer(struct kernel *k, const struct fuse_out_header *h, const char *body)
{
	struct question *q;

	LIST_FOREACH (q, &k->open, in_open)
		if (q->unique == h->unique)
			break;
	if (!q)
		return -ENOENT;
	LIST_REMOVE(q, in_open);
	q->error = h->error;
	q->got = h->len - sizeof(*h);
	if (q->got > q->room)
		sched_fail(
			"an answer to request %u has %zu bytes of %zu", q->opcode, q->got, q->room);
	memcpy(q->out, body, q->got);
	q->answered = true;
	sched_wake_all(q);
	return (ssize_t)h->len;
}

static ssize_t write_answer(struct description *d, const struct iovec *iov, int n)
{
	struct kernel *k = d->of;
	const struct fuse_out_header *h = (void *)k->message;
	size_t len = gather(k->message, sizeof(k->message), iov, n);

	if (len < sizeof(*h) || len != h->len)
		return -EINVAL;
	if (k->gone)
		return -ENOENT;
	if (!h->unique)
		return kernel_notified(k, h->error, k->message + sizeof(*h), len - sizeof(*h));
	return answer(k, h, k->message + sizeof(*h));
}

static short events(struct description *d, uint64_t *at)
{
	const struct kernel *k = d->of;

	return (short)((STAILQ_EMPTY(&k->asked) ? 0 : POLLIN) | POLLOUT | (k->gone ? POLLERR : 0));
}

static const struct description_ops ops = {
	.name = "/dev/fuse", .read = read_request, .write = write_answer, .events = events};

/* --- requests --------------------------------------------------------------------------------- */

static struct question *make(
	struct kernel *k, uint32_t opcode, uint64_t node, const struct iovec *in, int n)
{
	struct fuse_in_header h = {.len = sizeof(h), .opcode = opcode, .nodeid = node};
	struct question *q;
	size_t at = sizeof(h);

	for (int i = 0; i < n; i++)
		h.len += (uint32_t)in[i].iov_len;
	q = calloc(1, sizeof(*q) + h.len);
	if (!q)
		abort();
	h.unique = q->unique = k->unique += 2;
	q->opcode = opcode;
	q->len = h.len;
	memcpy(q->bytes, &h, sizeof(h));
	for (int i = 0; i < n; at += in[i++].iov_len)
		memcpy(q->bytes + at, in[i].iov_base, in[i].iov_len);
	return q;
}

static void send(struct kernel *k, struct question *q)
{
	STAILQ_INSERT_TAIL(&k->asked, q, next);
	descriptors_changed();
}

int kernel_ask(struct kernel *k, uint32_t opcode, uint64_t node, const struct iovec *in, int n,
	void *out, size_t room, size_t *got)
{
	struct question *q = make(k, opcode, node, in, n);
	int error;

	q->out = out;
	q->room = room;
	sched_point();
	send(k, q);
	while (!q->answered)
		sched_wait(q, SCHED_NEVER, "for the daemon");
	error = q->error;
	if (got)
		*got = q->got;
	else if (!error && q->got != room)
		sched_fail("an answer to request %u has %zu bytes in place of %zu", opcode, q->got,
			room);
	free(q);
	sched_point();
	return error;
}

void kernel_forget(struct kernel *k, uint64_t node, uint64_t count)
{
	struct fuse_forget_in in = {.nlookup = count};
	struct iovec iov = {&in, sizeof(in)};
	struct question *q = make(k, FUSE_FORGET, node, &iov, 1);

	q->answered = true;
	send(k, q);
}

/* --- the connection --------------------------------------------------------------------------- */

#define INIT_FLAGS                                                                                 \
	(FUSE_ASYNC_READ | FUSE_POSIX_LOCKS | FUSE_FILE_OPS | FUSE_ATOMIC_O_TRUNC |                \
		FUSE_EXPORT_SUPPORT | FUSE_BIG_WRITES | FUSE_DONT_MASK | FUSE_FLOCK_LOCKS |        \
		FUSE_HAS_IOCTL_DIR | FUSE_AUTO_INVAL_DATA | FUSE_DO_READDIRPLUS |                  \
		FUSE_READDIRPLUS_AUTO | FUSE_ASYNC_DIO | FUSE_WRITEBACK_CACHE |                    \
		FUSE_NO_OPEN_SUPPORT | FUSE_PARALLEL_DIROPS | FUSE_HANDLE_KILLPRIV |               \
		FUSE_POSIX_ACL | FUSE_ABORT_ERROR | FUSE_MAX_PAGES | FUSE_CACHE_SYMLINKS |         \
		FUSE_NO_OPENDIR_SUPPORT | FUSE_EXPLICIT_INVAL_DATA | FUSE_HANDLE_KILLPRIV_V2)

static void begin(struct kernel *k)
{
	struct fuse_init_in in = {.major = FUSE_KERNEL_VERSION,
		.minor = 37, /* of Linux 6.1 */
		.max_readahead = 128 << 10,
		.flags = INIT_FLAGS | FUSE_INIT_EXT};
	struct iovec iov = {&in, sizeof(in)};
	struct question *q = make(k, FUSE_INIT, 0, &iov, 1);

	q->out = &k->init;
	q->room = sizeof(k->init);
	k->first = q;
	send(k, q);
}

struct kernel *kernel_new(void)
{
	struct kernel *k = calloc(1, sizeof(*k));

	if (!k)
		abort();
	STAILQ_INIT(&k->asked);
	LIST_INIT(&k->open);
	LIST_INIT(&k->dentries);
	LIST_INIT(&k->nodes);
	begin(k);
	return k;
}

int kernel_device(struct kernel *k)
{
	return descriptor_add(&ops, k, O_RDWR);
}

void kernel_unmount(struct kernel *k)
{
	kernel_drop_names(k);
	k->gone = true;
	descriptors_changed();
}

uint64_t kernel_free(struct kernel *k)
{
	uint64_t left = kernel_lookups(k);

	if (!LIST_EMPTY(&k->open))
		sched_fail("a request was not answered at the end");
	free(k->first);
	kernel_free_names(k);
	free(k);
	return left;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * account: the kind of each request of the kernel, and the time until its answer.
 */
#include "fs/observe/account.h"

#include <errno.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"

struct live {
	_Atomic uint64_t errors, bytes, rpcs, waits;
	struct histogram_live time;
};

struct accounts {
	struct live of[HISTOGRAM_SHARDS][ACCOUNT_KINDS];
};

/* The last request read by this thread, and the next one to be answered by this thread. */
static _Thread_local struct account reading, answering;

static const char *const names[ACCOUNT_KINDS] = {
	[FUSE_LOOKUP] = "LOOKUP",
	[FUSE_GETATTR] = "GETATTR",
	[FUSE_SETATTR] = "SETATTR",
	[FUSE_READLINK] = "READLINK",
	[FUSE_SYMLINK] = "SYMLINK",
	[FUSE_MKNOD] = "MKNOD",
	[FUSE_MKDIR] = "MKDIR",
	[FUSE_UNLINK] = "UNLINK",
	[FUSE_RMDIR] = "RMDIR",
	[FUSE_RENAME] = "RENAME",
	[FUSE_LINK] = "LINK",
	[FUSE_OPEN] = "OPEN",
	[FUSE_READ] = "READ",
	[FUSE_WRITE] = "WRITE",
	[FUSE_STATFS] = "STATFS",
	[FUSE_RELEASE] = "RELEASE",
	[FUSE_FSYNC] = "FSYNC",
	[FUSE_SETXATTR] = "SETXATTR",
	[FUSE_GETXATTR] = "GETXATTR",
	[FUSE_LISTXATTR] = "LISTXATTR",
	[FUSE_REMOVEXATTR] = "REMOVEXATTR",
	[FUSE_FLUSH] = "FLUSH",
	[FUSE_OPENDIR] = "OPENDIR",
	[FUSE_READDIR] = "READDIR",
	[FUSE_RELEASEDIR] = "RELEASEDIR",
	[FUSE_FSYNCDIR] = "FSYNCDIR",
	[FUSE_GETLK] = "GETLK",
	[FUSE_SETLK] = "SETLK",
	[FUSE_SETLKW] = "SETLKW",
	[FUSE_ACCESS] = "ACCESS",
	[FUSE_CREATE] = "CREATE",
	[FUSE_IOCTL] = "IOCTL",
	[FUSE_FALLOCATE] = "FALLOCATE",
	[FUSE_READDIRPLUS] = "READDIRPLUS",
	[FUSE_RENAME2] = "RENAME2",
	[FUSE_LSEEK] = "LSEEK",
	[FUSE_COPY_FILE_RANGE] = "COPY_FILE_RANGE",
};

const char *account_name(unsigned kind)
{
	return kind < ACCOUNT_KINDS ? names[kind] : NULL;
}

struct accounts *accounts_new(void)
{
	return calloc(1, sizeof(struct accounts));
}

struct accounts *accounts_free(struct accounts *all)
{
	free(all);
	return NULL;
}

/* Notes the bytes that a request is about: arg follows the request's header. */
static void read_range(struct account *a, const void *arg, size_t len)
{
	const struct fuse_read_in *read = arg;
	const struct fuse_write_in *write = arg;
	const struct fuse_fallocate_in *space = arg;
	const struct fuse_lseek_in *seek = arg;
	const struct fuse_copy_file_range_in *copy = arg;
	const struct fuse_lk_in *lock = arg;

	a->offset = a->length = 0;
	switch (a->opcode) {
	case FUSE_READ:
	case FUSE_READDIR:
	case FUSE_READDIRPLUS:
		if (len < sizeof(*read))
			return;
		a->offset = read->offset;
		a->length = read->size;
		break;
	case FUSE_WRITE:
		if (len < sizeof(*write))
			return;
		a->offset = write->offset;
		a->length = write->size;
		break;
	case FUSE_FALLOCATE:
		if (len < sizeof(*space))
			return;
		a->offset = space->offset;
		a->length = space->length < UINT32_MAX ? (uint32_t)space->length : UINT32_MAX;
		break;
	case FUSE_LSEEK:
		if (len >= sizeof(*seek))
			a->offset = seek->offset;
		break;
	case FUSE_COPY_FILE_RANGE:
		if (len < sizeof(*copy))
			return;
		a->offset = copy->off_in;
		a->length = copy->len < UINT32_MAX ? (uint32_t)copy->len : UINT32_MAX;
		break;
	case FUSE_GETLK:
	case FUSE_SETLK:
	case FUSE_SETLKW:
		if (len < sizeof(*lock))
			return;
		a->offset = lock->lk.start;
		a->length = lock->lk.end - lock->lk.start < UINT32_MAX
				    ? (uint32_t)(lock->lk.end - lock->lk.start) + 1
				    : UINT32_MAX;
		break;
	default:
		break;
	}
}

void account_read(const void *message, size_t len)
{
	const struct fuse_in_header *h = message;

	reading.unique = 0;
	if (len < sizeof(*h) || !account_name(h->opcode))
		return;
	reading.unique = h->unique;
	reading.born = clock_ns();
	reading.node = h->nodeid;
	reading.opcode = h->opcode;
	reading.tid = h->pid;
	reading.rpcs = reading.waits = 0;
	read_range(&reading, h + 1, len - sizeof(*h));
}

void account_take(struct account *out)
{
	*out = reading;
}

const struct account *account_of(uint64_t unique)
{
	if (answering.unique == unique)
		return &answering;
	return reading.unique == unique ? &reading : NULL;
}

void account_answers(const struct account *a)
{
	answering = *a;
}

/* Bytes of file data that an answer without an error brings or confirms. */
static uint32_t bytes_of(uint32_t opcode, const struct iovec *iov, int count)
{
	const struct fuse_out_header *h = iov[0].iov_base;

	if (opcode == FUSE_READ)
		return h->len - sizeof(*h);
	if ((opcode != FUSE_WRITE && opcode != FUSE_COPY_FILE_RANGE) || count < 2 ||
		iov[1].iov_len < sizeof(struct fuse_write_out))
		return 0;
	return ((const struct fuse_write_out *)iov[1].iov_base)->size;
}

/* 0 or a negative errno. For an absent name, the answer may have no errno. */
static int error_of(uint32_t opcode, const struct iovec *iov, int count)
{
	const struct fuse_out_header *h = iov[0].iov_base;

	if (!h->error && opcode == FUSE_LOOKUP && count > 1 &&
		iov[1].iov_len >= sizeof(struct fuse_entry_out) &&
		!((const struct fuse_entry_out *)iov[1].iov_base)->nodeid)
		return -ENOENT;
	return h->error;
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	if (n)
		atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

bool account_answered(
	struct accounts *all, const struct iovec *iov, int count, struct account_end *end)
{
	const struct fuse_out_header *h = iov[0].iov_base;
	struct account *a = answering.unique == h->unique ? &answering : &reading;
	struct live *sum;

	if (!h->unique || a->unique != h->unique) /* a notification, or not accounted for */
		return false;
	sum = &all->of[histogram_shard()][a->opcode];
	end->of = *a;
	end->took_ns = clock_age(clock_ns(), a->born);
	end->error = error_of(a->opcode, iov, count);
	end->bytes = end->error ? 0 : bytes_of(a->opcode, iov, count);
	add(&sum->errors, end->error != 0);
	add(&sum->bytes, end->bytes);
	add(&sum->rpcs, a->rpcs);
	add(&sum->waits, a->waits);
	histogram_note(&sum->time, end->took_ns);
	a->unique = 0;
	return true;
}

static uint64_t value(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

void account_total(const struct accounts *all, unsigned kind, struct account_sum *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < HISTOGRAM_SHARDS; i++) {
		const struct live *sum = &all->of[i][kind];

		out->errors += value(&sum->errors);
		out->bytes += value(&sum->bytes);
		out->rpcs += value(&sum->rpcs);
		out->waits += value(&sum->waits);
		histogram_add(&out->time, &sum->time);
	}
}

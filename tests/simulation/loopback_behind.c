/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * loopback_behind: events that do not begin with a program: notifications, and other clients of the
 * file system; and the thread of an ordered daemon, which keeps a list of the requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/simulation/loopback_impl.h"
#include "tests/simulation/sched.h"

#define OWNERS 64

/* Held while a request is under way in an ordered daemon, and by calls of loopback.h. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char told[1u << 16];
static size_t told_len;
static struct {
	uint32_t opcode;
	int error;
	unsigned n;
} fault;

/* --- the list --------------------------------------------------------------------------------- */

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(told + told_len, sizeof(told) - told_len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(told) - told_len)
		sched_fail("loopback: the list of requests is full");
	told_len += (size_t)n;
}

/* Owners are told by their order: processes, which read, write or close. */
static unsigned owner_of(uint64_t owner, bool is_process)
{
	static uint64_t owners[OWNERS];

	if (!owner)
		return 0;
	for (unsigned i = 1; i < OWNERS; i++) {
		if (!owners[i] && is_process)
			owners[i] = owner;
		if (owners[i] == owner)
			return i;
	}
	return OWNERS; /* an open file, or a process that has locked alone */
}

/* Flags of an open file that differ between machines are left out. */
static unsigned open_flags(uint32_t flags)
{
	return flags & (O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND);
}

static void say_setattr(const struct fuse_setattr_in *in)
{
	say("SETATTR valid %x", in->valid);
	if (in->valid & FATTR_SIZE)
		say(" size %llu owner %u", (unsigned long long)in->size,
			owner_of(in->lock_owner, true));
	if (in->valid & FATTR_MODE)
		say(" mode %o", in->mode);
}

static void say_data(const struct fuse_in_header *h)
{
	const struct fuse_read_in *r = (const void *)(h + 1);
	const struct fuse_write_in *w = (const void *)(h + 1);
	const uint8_t *bytes = (const void *)(w + 1);
	unsigned sum = 0;

	if (h->opcode == FUSE_READ) {
		say("READ %llu+%u flags %x owner %u", (unsigned long long)r->offset, r->size,
			r->read_flags,
			owner_of(r->read_flags & FUSE_READ_LOCKOWNER ? r->lock_owner : 0, true));
		return;
	}
	for (uint32_t i = 0; i < w->size; i++)
		sum = sum * 31 + bytes[i];
	say("WRITE %llu+%u flags %x owner %u sum %x", (unsigned long long)w->offset, w->size,
		w->write_flags,
		owner_of(w->write_flags & FUSE_WRITE_LOCKOWNER ? w->lock_owner : 0, true), sum);
}

static void say_lock(const struct fuse_in_header *h)
{
	const struct fuse_lk_in *in = (const void *)(h + 1);

	say("%s type %u %llu-%llu flags %x owner %u",
		h->opcode == FUSE_GETLK	   ? "GETLK"
		: h->opcode == FUSE_SETLKW ? "SETLKW"
					   : "SETLK",
		in->lk.type, (unsigned long long)in->lk.start, (unsigned long long)in->lk.end,
		in->lk_flags, owner_of(in->owner, false));
}

static void say_open(const struct fuse_in_header *h)
{
	const struct fuse_open_in *open = (const void *)(h + 1);
	const struct fuse_create_in *create = (const void *)(h + 1);
	const struct fuse_release_in *release = (const void *)(h + 1);

	if (h->opcode == FUSE_CREATE)
		say("CREATE %s flags %o mode %o umask %o kill %x", (const char *)(create + 1),
			open_flags(create->flags), create->mode, create->umask, create->open_flags);
	else if (h->opcode == FUSE_OPEN || h->opcode == FUSE_OPENDIR)
		say("%s flags %o kill %x", h->opcode == FUSE_OPEN ? "OPEN" : "OPENDIR",
			open_flags(open->flags), open->open_flags);
	else
		say("%s flags %o %x owner %u", h->opcode == FUSE_RELEASE ? "RELEASE" : "RELEASEDIR",
			open_flags(release->flags), release->release_flags,
			owner_of(release->lock_owner, false));
}

static void say_name(const struct fuse_in_header *h)
{
	const char *in = (const char *)(h + 1);
	const struct fuse_rename2_in *two = (const void *)in;
	const char *from = in + (h->opcode == FUSE_RENAME2 ? sizeof(struct fuse_rename2_in)
							   : sizeof(struct fuse_rename_in));

	switch (h->opcode) {
	case FUSE_MKDIR:
		say("MKDIR %s mode %o", in + sizeof(struct fuse_mkdir_in),
			((const struct fuse_mkdir_in *)in)->mode);
		break;
	case FUSE_LINK:
		say("LINK %llu %s",
			(unsigned long long)((const struct fuse_link_in *)in)->oldnodeid,
			in + sizeof(struct fuse_link_in));
		break;
	case FUSE_RENAME:
	case FUSE_RENAME2:
		say("RENAME %s to %llu %s flags %x", from, (unsigned long long)two->newdir,
			from + strlen(from) + 1, h->opcode == FUSE_RENAME2 ? two->flags : 0);
		break;
	default:
		say("%s %s",
			h->opcode == FUSE_LOOKUP    ? "LOOKUP"
			: h->opcode == FUSE_UNLINK  ? "UNLINK"
			: h->opcode == FUSE_RMDIR   ? "RMDIR"
			: h->opcode == FUSE_SYMLINK ? "SYMLINK"
						    : "GETXATTR",
			h->opcode == FUSE_GETXATTR ? in + sizeof(struct fuse_getxattr_in) : in);
	}
}

static void say_other(const struct fuse_in_header *h)
{
	const void *in = h + 1;
	const struct fuse_fallocate_in *f = in;
	const struct fuse_read_in *r = in;

	switch (h->opcode) {
	case FUSE_GETATTR:
		say("GETATTR flags %x", ((const struct fuse_getattr_in *)in)->getattr_flags);
		break;
	case FUSE_FALLOCATE:
		say("FALLOCATE %x %llu+%llu", f->mode, (unsigned long long)f->offset,
			(unsigned long long)f->length);
		break;
	case FUSE_FSYNC:
	case FUSE_FSYNCDIR:
		say("FSYNC %x", ((const struct fuse_fsync_in *)in)->fsync_flags);
		break;
	case FUSE_FLUSH:
		say("FLUSH owner %u",
			owner_of(((const struct fuse_flush_in *)in)->lock_owner, true));
		break;
	case FUSE_READDIR:
	case FUSE_READDIRPLUS:
		say("READDIR%s %llu+%u", h->opcode == FUSE_READDIRPLUS ? "PLUS" : "",
			(unsigned long long)r->offset, r->size);
		break;
	default:
		say("opcode %u", h->opcode);
	}
}

static void say_request(const struct fuse_in_header *h)
{
	static void (*const words[64])(const struct fuse_in_header *) = {[FUSE_READ] = say_data,
		[FUSE_WRITE] = say_data,
		[FUSE_GETLK] = say_lock,
		[FUSE_SETLK] = say_lock,
		[FUSE_SETLKW] = say_lock,
		[FUSE_OPEN] = say_open,
		[FUSE_OPENDIR] = say_open,
		[FUSE_CREATE] = say_open,
		[FUSE_RELEASE] = say_open,
		[FUSE_RELEASEDIR] = say_open,
		[FUSE_MKDIR] = say_name,
		[FUSE_LINK] = say_name,
		[FUSE_RENAME] = say_name,
		[FUSE_RENAME2] = say_name,
		[FUSE_LOOKUP] = say_name,
		[FUSE_UNLINK] = say_name,
		[FUSE_RMDIR] = say_name,
		[FUSE_SYMLINK] = say_name,
		[FUSE_GETXATTR] = say_name};

	if (h->opcode == FUSE_INIT || h->opcode == FUSE_FORGET || h->opcode == FUSE_BATCH_FORGET)
		return;
	say("    node %llu ", (unsigned long long)h->nodeid);
	if (h->opcode == FUSE_SETATTR)
		say_setattr((const void *)(h + 1));
	else if (h->opcode < 64 && words[h->opcode])
		words[h->opcode](h);
	else
		say_other(h);
	say(" uid %u\n", h->uid);
}

/* --- the thread ------------------------------------------------------------------------------- */

/* A WRITE of pages that a mapping has changed. */
static bool is_back(const struct fuse_in_header *h)
{
	const struct fuse_write_in *in = (const void *)(h + 1);

	return h->opcode == FUSE_WRITE && in->write_flags & FUSE_WRITE_CACHE;
}

static bool fails(const struct fuse_in_header *h)
{
	struct fuse_out_header out = {
		.len = sizeof(out), .error = -fault.error, .unique = h->unique};

	if (!fault.n || !fault.error || fault.opcode != h->opcode || is_back(h))
		return false;
	fault.n--;
	say("    which ends with %d\n", fault.error);
	if (write(params.fd, &out, sizeof(out)) < 0)
		return false;
	return true;
}

uint32_t loopback_part(uint32_t opcode, uint32_t size)
{
	if (!fault.n || fault.error || fault.opcode != opcode)
		return size;
	fault.n--;
	say("    which has %u bytes\n", size / 2);
	return size / 2;
}

/* 1: a request was answered; 0: there is none; -1: the device has ended. */
static int serve_one(void *buf)
{
	ssize_t n = read(params.fd, buf, BUFFER);

	if (n < 0)
		return errno == EAGAIN ? 0 : errno == EINTR || errno == ENOENT ? 1 : -1;
	if (!n)
		return -1;
	say_request(buf);
	if (!fails(buf))
		loopback_serve(buf);
	return 1;
}

void *loopback_run_ordered(void *ctx)
{
	struct pollfd p = {.fd = params.fd, .events = POLLIN};
	void *buf = malloc(BUFFER);
	int res;

	fcntl(params.fd, F_SETFL, O_NONBLOCK);
	do {
		poll(&p, 1, -1);
		pthread_mutex_lock(&lock);
		do
			res = serve_one(buf);
		while (res > 0);
		pthread_mutex_unlock(&lock);
	} while (!res);
	free(buf);
	return NULL;
}

void loopback_settle(void)
{
	struct pollfd p = {.fd = params.fd, .events = POLLIN};
	int some;

	do {
		usleep(1);
		pthread_mutex_lock(&lock);
		some = poll(&p, 1, 0);
		pthread_mutex_unlock(&lock);
	} while (some);
}

void loopback_tell(FILE *out)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < NODES; i++) {
		if (nodes[i].forgotten)
			say("    node %u is forgotten %llu times\n", i,
				(unsigned long long)nodes[i].forgotten);
		nodes[i].forgotten = 0;
	}
	fwrite(told, told_len, 1, out);
	told_len = 0;
	pthread_mutex_unlock(&lock);
}

static int order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void loopback_tell_sorted(FILE *out)
{
	char *lines[1000], *rest = told, *line;
	size_t n = 0;

	pthread_mutex_lock(&lock);
	told[told_len] = 0;
	while ((line = strsep(&rest, "\n")) && *line && n < 1000)
		lines[n++] = line;
	qsort(lines, n, sizeof(*lines), order);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s\n", lines[i]);
	told_len = 0;
	pthread_mutex_unlock(&lock);
}

void loopback_fail(uint32_t opcode, int error, unsigned n)
{
	fault.opcode = opcode;
	fault.error = error;
	fault.n = n;
}

/* --- another client --------------------------------------------------------------------------- */

static struct node *file_of(const char *name)
{
	struct entry *e = entry_find(ROOT, name);

	return e && S_ISREG(nodes[e->node].mode) ? &nodes[e->node] : NULL;
}

bool loopback_write(const char *name, size_t off, size_t len, uint8_t value)
{
	struct node *n = file_of(name);

	if (!n)
		return false;
	if (off + len > n->size)
		node_set_size(n, off + len);
	memset(n->bytes + off, value, len);
	node_touch(n);
	return true;
}

bool loopback_cut(const char *name, size_t size)
{
	struct node *n = file_of(name);

	if (n)
		node_set_size(n, size);
	return n;
}

bool loopback_remove(const char *name)
{
	struct node *n = file_of(name);

	if (n)
		entry_drop(ROOT, entry_find(ROOT, name));
	return n;
}

void loopback_make(const char *name, size_t size, uint8_t value)
{
	unsigned i;

	if (entry_find(ROOT, name) && !loopback_remove(name))
		return;
	i = node_new(S_IFREG | 0666);
	nodes[i].direct = name[0] == 'x';
	nodes[i].uid = nodes[i].gid = 0;
	node_set_size(&nodes[i], size);
	memset(nodes[i].bytes, value, size);
	entry_add(ROOT, name, i);
}

/* --- notifications ---------------------------------------------------------------------------- */

static ssize_t tell(int code, const void *a, size_t alen, const void *b, size_t blen)
{
	struct fuse_out_header h = {.len = (uint32_t)(sizeof(h) + alen + blen), .error = code};
	struct iovec iov[3] = {{&h, sizeof(h)}, {(void *)a, alen}, {(void *)b, blen}};

	return writev(params.fd, iov, 3) < 0 ? -errno : 0;
}

void *loopback_notify(void *ctx)
{
	while (!loopback_ends) {
		unsigned i = 1 + sched_choose(30);
		struct fuse_notify_inval_inode_out inode = {
			.ino = i, .off = sched_once_in(3) ? -1 : 0};
		struct entry *e = &nodes[ROOT].names[sched_choose(NAMES)];
		struct fuse_notify_inval_entry_out entry = {.parent = ROOT};
		char name[64];

		usleep(sched_choose(4000));
		if (sched_once_in(2)) {
			tell(FUSE_NOTIFY_INVAL_INODE, &inode, sizeof(inode), NULL, 0);
		} else if (e->node) {
			strcpy(name, e->name);
			entry.namelen = (uint32_t)strlen(name);
			entry.flags = sched_choose(2);
			tell(FUSE_NOTIFY_INVAL_ENTRY, &entry, sizeof(entry), name,
				entry.namelen + 1);
		}
	}
	return NULL;
}

int loopback_inval_inode(const char *name, int64_t off, int64_t len)
{
	struct entry *e = entry_find(ROOT, name);
	struct fuse_notify_inval_inode_out o = {.ino = e ? e->node : ROOT, .off = off, .len = len};

	return (int)tell(FUSE_NOTIFY_INVAL_INODE, &o, sizeof(o), NULL, 0);
}

int loopback_inval_entry(const char *name, bool expire)
{
	struct fuse_notify_inval_entry_out o = {.parent = ROOT,
		.namelen = (uint32_t)strlen(name),
		.flags = expire ? FUSE_EXPIRE_ONLY : 0};

	return (int)tell(FUSE_NOTIFY_INVAL_ENTRY, &o, sizeof(o), name, o.namelen + 1);
}

int loopback_delete(const char *name)
{
	struct entry *e = entry_find(ROOT, name);
	struct fuse_notify_delete_out o = {
		.parent = ROOT, .child = e ? e->node : ROOT, .namelen = (uint32_t)strlen(name)};

	return (int)tell(FUSE_NOTIFY_DELETE, &o, sizeof(o), name, o.namelen + 1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * loopback: see loopback.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/simulation/loopback_impl.h"
#include "tests/simulation/sched.h"

#define THREADS 4

struct loopback_params params;
static pthread_t threads[THREADS], notifier;
bool loopback_ends;

/* --- answers ---------------------------------------------------------------------------------- */

static void answer(uint64_t unique, int error, const void *out, size_t len)
{
	struct fuse_out_header h = {
		.len = (uint32_t)(sizeof(h) + (error ? 0 : len)), .error = error, .unique = unique};
	struct iovec iov[2] = {{&h, sizeof(h)}, {(void *)out, len}};

	if (!params.ordered && sched_once_in(3))
		usleep(sched_choose(2000));
	writev(params.fd, iov, error ? 1 : 2);
}

static struct fuse_attr attr_of(unsigned i)
{
	const struct node *n = &nodes[i];

	return (struct fuse_attr){.ino = i,
		.size = n->size,
		.mode = n->mode,
		.nlink = n->nlink,
		.uid = n->uid,
		.gid = n->gid,
		.mtime = n->mtime,
		.blksize = 4096};
}

static struct fuse_entry_out entry_of(unsigned i)
{
	nodes[i].lookups++;
	return (struct fuse_entry_out){.nodeid = i,
		.generation = nodes[i].generation,
		.entry_valid = params.valid_s,
		.attr_valid = params.valid_s,
		.attr = attr_of(i)};
}

static void answer_entry(uint64_t unique, unsigned i)
{
	struct fuse_entry_out e = entry_of(i);

	answer(unique, 0, &e, sizeof(e));
}

static void answer_attr(uint64_t unique, unsigned i)
{
	struct fuse_attr_out a = {.attr_valid = params.valid_s, .attr = attr_of(i)};

	answer(unique, 0, &a, sizeof(a));
}

static void init(const struct fuse_in_header *h)
{
	const struct fuse_init_in *in = (const void *)(h + 1);
	unsigned pages = params.pages ? params.pages : 256;
	struct fuse_init_out out = {.major = 7,
		.minor = 37,
		.max_readahead = params.ordered ? params.readahead * 4096 : in->max_readahead,
		.max_write = pages * 4096,
		.max_pages = (uint16_t)pages,
		/* fewer would let the READs of a read-ahead hang on the daemon's speed */
		.max_background = params.ordered ? 200 : 12,
		.congestion_threshold = params.ordered ? 200 : 9,
		.flags = (params.waits_read ? 0 : FUSE_ASYNC_READ) | FUSE_POSIX_LOCKS |
			 FUSE_FLOCK_LOCKS | FUSE_BIG_WRITES | FUSE_DO_READDIRPLUS |
			 FUSE_READDIRPLUS_AUTO | (params.waits_direct ? 0 : FUSE_ASYNC_DIO) |
			 FUSE_PARALLEL_DIROPS | FUSE_MAX_PAGES |
			 (params.kills ? FUSE_HANDLE_KILLPRIV : FUSE_HANDLE_KILLPRIV_V2) |
			 (params.auto_inval ? FUSE_AUTO_INVAL_DATA : 0) |
			 (params.truncates ? FUSE_ATOMIC_O_TRUNC : 0)};

	answer(h->unique, 0, &out, sizeof(out));
}

/* --- names ------------------------------------------------------------------------------------ */

static void lookup(const struct fuse_in_header *h, const char *name)
{
	struct entry *e = entry_find((unsigned)h->nodeid, name);
	struct fuse_entry_out none = {.entry_valid = params.valid_s};

	if (e)
		answer_entry(h->unique, e->node);
	else if (params.ordered ? params.none_valid : sched_once_in(2))
		answer(h->unique, 0, &none, sizeof(none));
	else
		answer(h->unique, -ENOENT, NULL, 0);
}

static struct fuse_open_out open_node(unsigned i, uint32_t flags)
{
	nodes[i].opens++;
	return (struct fuse_open_out){.fh = i,
		.open_flags =
			(params.keeps ? FOPEN_KEEP_CACHE : 0) |
			(nodes[i].direct ? FOPEN_DIRECT_IO : 0) |
			(params.noflush && (flags & O_ACCMODE) == O_RDONLY ? FOPEN_NOFLUSH : 0)};
}

static unsigned made(const struct fuse_in_header *h, mode_t mode, const char *name)
{
	unsigned i = node_new(mode);

	nodes[i].uid = h->uid;
	nodes[i].gid = h->gid;
	nodes[i].direct = S_ISREG(mode) && name[0] == 'x';
	return i;
}

static void create(const struct fuse_in_header *h, const struct fuse_create_in *in)
{
	const char *name = (const char *)(in + 1);
	struct entry *e = entry_find((unsigned)h->nodeid, name);
	unsigned i = e ? e->node : made(h, in->mode, name);
	struct {
		struct fuse_entry_out e;
		struct fuse_open_out o;
	} out;

	if (e && in->flags & O_EXCL) {
		answer(h->unique, -EEXIST, NULL, 0);
		return;
	}
	if (!e)
		entry_add((unsigned)h->nodeid, name, i);
	else if (in->flags & O_TRUNC)
		nodes[i].size = 0;
	out.e = entry_of(i);
	out.o = open_node(i, in->flags);
	answer(h->unique, 0, &out, sizeof(out));
}

static void make(const struct fuse_in_header *h, mode_t mode, const char *name, const char *target)
{
	unsigned i;

	if (entry_find((unsigned)h->nodeid, name)) {
		answer(h->unique, -EEXIST, NULL, 0);
		return;
	}
	i = made(h, mode, name);
	if (target)
		nodes[i].size = strlen(strcpy((char *)nodes[i].bytes, target));
	entry_add((unsigned)h->nodeid, name, i);
	answer_entry(h->unique, i);
}

static void link_node(const struct fuse_in_header *h, const struct fuse_link_in *in)
{
	const char *name = (const char *)(in + 1);

	if (entry_find((unsigned)h->nodeid, name) || !nodes[in->oldnodeid].nlink) {
		answer(h->unique, nodes[in->oldnodeid].nlink ? -EEXIST : -ENOENT, NULL, 0);
		return;
	}
	nodes[in->oldnodeid].nlink++;
	entry_add((unsigned)h->nodeid, name, (unsigned)in->oldnodeid);
	answer_entry(h->unique, (unsigned)in->oldnodeid);
}

static void remove_node(const struct fuse_in_header *h, const char *name)
{
	struct entry *e = entry_find((unsigned)h->nodeid, name);
	int error = !e ? -ENOENT : 0;

	if (e && S_ISDIR(nodes[e->node].mode) && !node_is_empty(e->node))
		error = -ENOTEMPTY;
	if (!error)
		entry_drop((unsigned)h->nodeid, e);
	answer(h->unique, error, NULL, 0);
}

static void rename_node(
	const struct fuse_in_header *h, unsigned to, const char *names, uint32_t flags)
{
	const char *name = names + strlen(names) + 1;
	struct entry *e = entry_find((unsigned)h->nodeid, names), *over = entry_find(to, name);
	bool swaps = flags & RENAME_EXCHANGE;
	unsigned i;
	int error = !e || (swaps && !over) ? -ENOENT : 0;

	if (!error && over && flags & RENAME_NOREPLACE)
		error = -EEXIST;
	if (!swaps && over && S_ISDIR(nodes[over->node].mode) && !node_is_empty(over->node))
		error = -ENOTEMPTY;
	if (!error && swaps) {
		i = e->node;
		e->node = over->node;
		over->node = i;
	} else if (!error) {
		i = e->node;
		e->node = 0;
		if (over)
			entry_drop(to, over);
		entry_add(to, name, i);
		node_touch(&nodes[h->nodeid]);
	}
	answer(h->unique, error, NULL, 0);
}

/* --- listings --------------------------------------------------------------------------------- */

static void list(const struct fuse_in_header *h, const struct fuse_read_in *in, bool plus)
{
	uint64_t aligned[512] = {0};
	uint8_t *buf = (uint8_t *)aligned;
	size_t len = 0;

	for (unsigned at = (unsigned)in->offset; at < NAMES; at++) {
		const struct entry *e = &nodes[h->nodeid].names[at];
		struct fuse_dirent d = {.ino = e->node, .off = at + 1, .type = DT_UNKNOWN};
		size_t head = plus ? FUSE_NAME_OFFSET_DIRENTPLUS : FUSE_NAME_OFFSET, size;
		struct fuse_entry_out out;

		if (!e->node)
			continue;
		d.namelen = (uint32_t)strlen(e->name);
		size = FUSE_DIRENT_ALIGN(head + d.namelen);
		if (len + size > in->size)
			break;
		if (plus) {
			out = entry_of(e->node);
			memcpy(buf + len, &out, sizeof(out));
		}
		memcpy(buf + len + head - FUSE_NAME_OFFSET, &d, FUSE_NAME_OFFSET);
		memcpy(buf + len + head, e->name, d.namelen);
		len += size;
	}
	answer(h->unique, 0, buf, len);
}

/* --- data ------------------------------------------------------------------------------------- */

static void write_node(const struct fuse_in_header *h, const struct fuse_write_in *in)
{
	struct node *n = &nodes[h->nodeid];
	uint64_t off = in->flags & O_APPEND ? n->size : in->offset;
	uint32_t size =
		in->write_flags & FUSE_WRITE_CACHE ? in->size : loopback_part(h->opcode, in->size);
	struct fuse_write_out out = {.size = size};

	if (off + size > n->size)
		node_set_size(n, off + size);
	memcpy(n->bytes + off, in + 1, size);
	node_touch(n);
	answer(h->unique, 0, &out, sizeof(out));
}

static void read_node(const struct fuse_in_header *h, const struct fuse_read_in *in)
{
	struct node *n = &nodes[h->nodeid];
	size_t len = in->offset >= n->size ? 0 : n->size - in->offset;
	uint8_t *copy = malloc(in->size);

	if (len > in->size)
		len = in->size;
	len = loopback_part(h->opcode, (uint32_t)len);
	memcpy(copy, n->bytes + in->offset, len);
	answer(h->unique, 0, copy, len);
	free(copy);
}

static void allocate(const struct fuse_in_header *h, const struct fuse_fallocate_in *in)
{
	struct node *n = &nodes[h->nodeid];
	uint64_t end = in->offset + in->length;

	if (end > n->size && !(in->mode & FALLOC_FL_KEEP_SIZE))
		node_set_size(n, end);
	if (end > n->size)
		end = n->size;
	if (in->mode & FALLOC_FL_PUNCH_HOLE && end > in->offset)
		memset(n->bytes + in->offset, 0, end - in->offset);
	node_touch(n);
	answer(h->unique, 0, NULL, 0);
}

static void setattr(const struct fuse_in_header *h, const struct fuse_setattr_in *in)
{
	struct node *n = &nodes[h->nodeid];

	if (in->valid & FATTR_SIZE)
		node_set_size(n, in->size);
	if (in->valid & FATTR_MODE)
		n->mode = in->mode;
	if (in->valid & FATTR_UID)
		n->uid = in->uid;
	if (in->valid & FATTR_GID)
		n->gid = in->gid;
	if (in->valid & FATTR_MTIME)
		n->mtime = in->mtime;
	answer_attr(h->unique, (unsigned)h->nodeid);
}

/* --- requests --------------------------------------------------------------------------------- */

static void forget(uint64_t node, uint64_t n)
{
	if (nodes[node].lookups < n)
		sched_fail("loopback: node %llu is forgotten too often", (unsigned long long)node);
	nodes[node].lookups -= n;
	nodes[node].forgotten += n;
	node_maybe_free((unsigned)node);
}

static void forget_batch(const struct fuse_batch_forget_in *in)
{
	const struct fuse_forget_one *one = (const void *)(in + 1);

	for (uint32_t i = 0; i < in->count; i++)
		forget(one[i].nodeid, one[i].nlookup);
}

static void open_any(const struct fuse_in_header *h, const struct fuse_open_in *in)
{
	struct fuse_open_out out = open_node((unsigned)h->nodeid, in->flags);

	if (in->flags & O_TRUNC)
		node_set_size(&nodes[h->nodeid], 0);
	answer(h->unique, 0, &out, sizeof(out));
}

void loopback_serve(const struct fuse_in_header *h)
{
	const void *in = h + 1;

	if (h->nodeid && (h->nodeid >= NODES || !nodes[h->nodeid].used))
		sched_fail("loopback: opcode %u for node %llu, which is none", h->opcode,
			(unsigned long long)h->nodeid);
	switch (h->opcode) {
	case FUSE_INIT:
		init(h);
		break;
	case FUSE_LOOKUP:
		lookup(h, in);
		break;
	case FUSE_FORGET:
		forget(h->nodeid, ((const struct fuse_forget_in *)in)->nlookup);
		break;
	case FUSE_BATCH_FORGET:
		forget_batch(in);
		break;
	case FUSE_GETATTR:
		answer_attr(h->unique, (unsigned)h->nodeid);
		break;
	case FUSE_SETATTR:
		setattr(h, in);
		break;
	case FUSE_MKDIR:
		make(h, S_IFDIR | ((const struct fuse_mkdir_in *)in)->mode,
			(const char *)in + sizeof(struct fuse_mkdir_in), NULL);
		break;
	case FUSE_SYMLINK:
		make(h, S_IFLNK | 0777, in, (const char *)in + strlen(in) + 1);
		break;
	case FUSE_READLINK:
		answer(h->unique, 0, nodes[h->nodeid].bytes, nodes[h->nodeid].size);
		break;
	case FUSE_CREATE:
		create(h, in);
		break;
	case FUSE_LINK:
		link_node(h, in);
		break;
	case FUSE_UNLINK:
	case FUSE_RMDIR:
		remove_node(h, in);
		break;
	case FUSE_RENAME:
		rename_node(h, (unsigned)((const struct fuse_rename_in *)in)->newdir,
			(const char *)in + sizeof(struct fuse_rename_in), 0);
		break;
	case FUSE_RENAME2:
		rename_node(h, (unsigned)((const struct fuse_rename2_in *)in)->newdir,
			(const char *)in + sizeof(struct fuse_rename2_in),
			((const struct fuse_rename2_in *)in)->flags);
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		open_any(h, in);
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		nodes[h->nodeid].opens--;
		answer(h->unique, 0, NULL, 0);
		node_maybe_free((unsigned)h->nodeid);
		break;
	case FUSE_READ:
		read_node(h, in);
		break;
	case FUSE_WRITE:
		write_node(h, in);
		break;
	case FUSE_FALLOCATE:
		allocate(h, in);
		break;
	case FUSE_READDIR:
	case FUSE_READDIRPLUS:
		list(h, in, h->opcode == FUSE_READDIRPLUS);
		break;
	case FUSE_FLUSH:
	case FUSE_FSYNC:
		answer(h->unique, 0, NULL, 0);
		break;
	case FUSE_GETXATTR:
		answer(h->unique, -ENODATA, NULL, 0);
		break;
	case FUSE_GETLK:
		answer(h->unique, params.ordered ? 0 : -ENOSYS,
			&(struct fuse_lk_out){.lk.type = F_UNLCK}, sizeof(struct fuse_lk_out));
		break;
	case FUSE_SETLK:
	case FUSE_SETLKW:
		answer(h->unique, params.ordered ? 0 : -ENOSYS, NULL, 0);
		break;
	case FUSE_INTERRUPT:
		break;
	default:
		answer(h->unique, -ENOSYS, NULL, 0);
	}
}

static void *run(void *ctx)
{
	uint8_t *buf = malloc(BUFFER);

	while (read(params.fd, buf, BUFFER) > 0)
		loopback_serve((const void *)buf);
	free(buf);
	return NULL;
}

void loopback_start(const struct loopback_params *p)
{
	params = *p;
	loopback_ends = false;
	nodes[ROOT] = (struct node){.used = true, .nlink = 2, .mode = S_IFDIR | 0777};
	for (unsigned i = 0; i < p->threads; i++)
		pthread_create(&threads[i], NULL, p->ordered ? loopback_run_ordered : run, NULL);
	if (p->notifies)
		pthread_create(&notifier, NULL, loopback_notify, NULL);
}

unsigned long loopback_lookups(void)
{
	unsigned long n = 0;

	for (unsigned i = ROOT + 1; i < NODES; i++)
		n += nodes[i].lookups;
	return n;
}

void loopback_stop(void)
{
	loopback_ends = true;
	if (params.notifies)
		pthread_join(notifier, NULL);
	for (unsigned i = 0; i < params.threads; i++)
		pthread_join(threads[i], NULL);
	close(params.fd);
	for (unsigned i = 0; i < NODES; i++)
		free(nodes[i].bytes);
}

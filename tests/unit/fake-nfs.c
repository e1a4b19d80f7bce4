/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-nfs: the nfs_client interface over a tree in memory.
 *
 * One lock guards the tree and the queues. Ops run on the client's thread; hanging ones wait on a
 * list until nfs_cancel() or nfs_client_free(). A removed node lives as long as the client: there
 * is no need to give memory back in a test, and a handle to it then answers as an open file would.
 */
#include "tests/unit/fake-nfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_knobs fake_knobs;

struct entry {
	TAILQ_ENTRY(entry) link;
	uint64_t cookie;
	uint32_t id;
	char name[NFS_NAME_MAX + 1];
};

struct node {
	struct nfs_attr attr;
	uint8_t *data;
	size_t cap;
	char *target;
	TAILQ_HEAD(, entry) entries;
	uint64_t next_cookie;
	uint64_t deleg; /* the number of its delegation; 0: none */
	bool deleg_writes;
};

struct nfs_open {
	LIST_ENTRY(nfs_open) link;
	uint32_t id;
};

TAILQ_HEAD(op_list, nfs_op);

struct nfs_client {
	pthread_mutex_t lock; /* everything here */
	pthread_cond_t cond;
	pthread_t thread;
	bool stop;
	struct op_list queue, hanging;
	struct node **nodes;
	uint32_t nnodes;
	uint64_t clock, delegs, flushed;
	LIST_HEAD(, nfs_open) opens;
	struct rpc_client_stats stats;
};

const char *nfs_op_name(enum nfs_op_type t)
{
	static const char *const names[NFS_OP_TYPES] = {"LOOKUP", "GETATTR", "SETATTR", "ACCESS",
		"READLINK", "OPEN", "CLOSE", "READ", "WRITE", "COMMIT", "CREATE", "REMOVE",
		"RENAME", "LINK", "READDIR", "STATFS"};

	return (unsigned)t < NFS_OP_TYPES && names[t] ? names[t] : "?";
}

/* --- the tree --------------------------------------------------------------------------------- */

static void stamp(struct nfs_client *c, struct node *n, bool mtime)
{
	clock_gettime(CLOCK_REALTIME, &n->attr.ctime);
	if (mtime)
		n->attr.mtime = n->attr.ctime;
	n->attr.change = ++c->clock;
}

static uint32_t node_new(
	struct nfs_client *c, enum nfs_type type, uint32_t mode, const struct rpc_cred *cred)
{
	struct node *n = calloc(1, sizeof(*n));

	c->nodes = realloc(c->nodes, (c->nnodes + 1) * sizeof(*c->nodes));
	c->nodes[c->nnodes] = n;
	n->attr.type = type;
	n->attr.mode = mode & 07777;
	n->attr.nlink = type == NFS_DIR ? 2 : 1;
	n->attr.uid = cred->uid;
	n->attr.gid = cred->gid;
	n->attr.fileid = c->nnodes + 100;
	TAILQ_INIT(&n->entries);
	n->next_cookie = 3;
	stamp(c, n, true);
	n->attr.atime = n->attr.mtime;
	return c->nnodes++;
}

static void fh_of(uint32_t id, struct nfs_fh *fh)
{
	memset(fh, 0, sizeof(*fh));
	fh->len = 28;
	memcpy(fh->data + 20, &id, 4);
}

static uint32_t id_of(const struct nfs_fh *fh)
{
	uint32_t id;

	memcpy(&id, fh->data + 20, 4);
	return id;
}

static struct entry *find(struct node *dir, struct nfs_name name)
{
	struct entry *e;

	TAILQ_FOREACH (e, &dir->entries, link)
		if (strlen(e->name) == name.len && !memcmp(e->name, name.s, name.len))
			return e;
	return NULL;
}

static void add(struct nfs_client *c, struct node *dir, struct nfs_name name, uint32_t id)
{
	struct entry *e = calloc(1, sizeof(*e));

	e->cookie = dir->next_cookie++;
	e->id = id;
	memcpy(e->name, name.s, name.len);
	TAILQ_INSERT_TAIL(&dir->entries, e, link);
	if (c->nodes[id]->attr.type == NFS_DIR)
		dir->attr.nlink++;
	stamp(c, dir, true);
}

static void drop(struct nfs_client *c, struct node *dir, struct entry *e)
{
	struct node *n = c->nodes[e->id];

	if (n->attr.type == NFS_DIR)
		dir->attr.nlink--;
	n->attr.nlink -= n->attr.type == NFS_DIR ? 2 : 1;
	stamp(c, n, false);
	stamp(c, dir, true);
	TAILQ_REMOVE(&dir->entries, e, link);
	free(e);
}

static int resize(struct nfs_client *c, struct node *n, uint64_t size)
{
	if (size > 1ull << 31)
		return -EFBIG;
	if (size > n->cap) {
		size_t cap = size + size / 2 + 4096;

		n->data = realloc(n->data, cap);
		memset(n->data + n->cap, 0, cap - n->cap);
		n->cap = cap;
	}
	if (size < n->attr.size)
		memset(n->data + size, 0, n->attr.size - size);
	n->attr.size = n->attr.used = size;
	stamp(c, n, true);
	return 0;
}

static int set(struct nfs_client *c, struct node *n, const struct nfs_sattr *s)
{
	int res = 0;

	if (s->mask & NFS_SET_SIZE)
		res = n->attr.type == NFS_DIR ? -EISDIR : resize(c, n, s->size);
	if (s->mask & NFS_SET_MODE)
		n->attr.mode = s->mode & 07777;
	if (s->mask & NFS_SET_UID)
		n->attr.uid = s->uid;
	if (s->mask & NFS_SET_GID)
		n->attr.gid = s->gid;
	if (s->mask & NFS_SET_ATIME)
		n->attr.atime = s->atime;
	if (s->mask & NFS_SET_ATIME_NOW)
		clock_gettime(CLOCK_REALTIME, &n->attr.atime);
	if (s->mask & NFS_SET_MTIME)
		n->attr.mtime = s->mtime;
	if (s->mask & NFS_SET_MTIME_NOW)
		clock_gettime(CLOCK_REALTIME, &n->attr.mtime);
	stamp(c, n, false);
	return res;
}

/* --- operations ------------------------------------------------------------------------------- */

static int do_read(struct nfs_client *c, struct nfs_op *op);

static void delegate(struct nfs_client *c, struct node *node, struct nfs_op *op)
{
	bool write = (op->u.open.flags & O_ACCMODE) != O_RDONLY;

	if (!node->deleg && (write ? fake_knobs.delegates_write : fake_knobs.delegates)) {
		node->deleg = ++c->delegs;
		node->deleg_writes = write;
	}
	op->u.open.deleg = node->deleg;
	op->u.open.deleg_writes = node->deleg && node->deleg_writes;
}

static int do_open(struct nfs_client *c, struct nfs_op *op)
{
	struct node *dir = c->nodes[id_of(&op->u.open.dir)];
	uint32_t id = id_of(&op->u.open.dir);

	if (op->u.open.name.len) {
		struct entry *e = find(dir, op->u.open.name);

		if (e && op->u.open.flags & O_EXCL)
			return -EEXIST;
		if (!e && !(op->u.open.flags & O_CREAT))
			return -ENOENT;
		if (e) {
			id = e->id;
		} else {
			id = node_new(c, NFS_REG, op->u.open.set.mode, &op->cred);
			add(c, dir, op->u.open.name, id);
		}
	}
	if (c->nodes[id]->attr.type != NFS_REG)
		return c->nodes[id]->attr.type == NFS_DIR ? -EISDIR : -ELOOP;
	if (op->u.open.flags & O_TRUNC)
		resize(c, c->nodes[id], 0);
	op->u.open.open = calloc(1, sizeof(*op->u.open.open));
	op->u.open.open->id = id;
	LIST_INSERT_HEAD(&c->opens, op->u.open.open, link);
	fh_of(id, &op->u.open.fh);
	op->u.open.attr = c->nodes[id]->attr;
	op->u.open.times_left = fake_knobs.uses_times && op->u.open.late_times;
	if (fake_knobs.bare_open)
		return 0;
	delegate(c, c->nodes[id], op);
	op->u.open.have_access = op->u.open.want != 0;
	op->u.open.allowed = op->u.open.want & ~fake_knobs.denied;
	if (op->u.open.to.len && !(op->u.open.flags & (O_CREAT | O_TRUNC))) {
		struct nfs_op read = {.u.read = {.fh = op->u.open.fh, .to = op->u.open.to}};

		do_read(c, &read);
		op->u.open.have_data = true;
		op->u.open.count = read.u.read.count;
		op->u.open.eof = read.u.read.eof;
	}
	return 0;
}

static int do_create(struct nfs_client *c, struct nfs_op *op)
{
	struct node *dir = c->nodes[id_of(&op->u.create.dir)];
	struct node *n;
	uint32_t id;

	if (find(dir, op->u.create.name))
		return -EEXIST;
	id = node_new(c, op->u.create.type, op->u.create.set.mode, &op->cred);
	n = c->nodes[id];
	n->attr.rdev_major = op->u.create.rdev_major;
	n->attr.rdev_minor = op->u.create.rdev_minor;
	if (op->u.create.type == NFS_LNK) {
		n->target = strndup(op->u.create.target, op->u.create.target_len);
		n->attr.size = op->u.create.target_len;
	}
	add(c, dir, op->u.create.name, id);
	fh_of(id, &op->u.create.fh);
	op->u.create.attr = n->attr;
	op->u.create.have_access = op->u.create.want && !fake_knobs.bare_open;
	op->u.create.allowed = op->u.create.want & ~fake_knobs.denied;
	return 0;
}

static int do_remove(struct nfs_client *c, struct nfs_op *op)
{
	struct node *dir = c->nodes[id_of(&op->u.remove.dir)];
	struct entry *e = find(dir, op->u.remove.name);
	struct node *n;

	if (!e)
		return -ENOENT;
	n = c->nodes[e->id];
	if (op->u.remove.only && id_of(op->u.remove.only) != e->id)
		return -ESTALE;
	if (op->u.remove.is_dir && n->attr.type != NFS_DIR)
		return -ENOTDIR;
	if (!op->u.remove.is_dir && n->attr.type == NFS_DIR)
		return -EISDIR;
	if (!TAILQ_EMPTY(&n->entries))
		return -ENOTEMPTY;
	drop(c, dir, e);
	return 0;
}

static int do_rename(struct nfs_client *c, struct nfs_op *op)
{
	struct node *from = c->nodes[id_of(&op->u.rename.from_dir)];
	struct node *to = c->nodes[id_of(&op->u.rename.to_dir)];
	struct entry *e = find(from, op->u.rename.from), *over = find(to, op->u.rename.to);
	uint32_t id;

	if (op->u.rename.only && (!over || id_of(op->u.rename.only) != over->id))
		return -ESTALE;
	if (!e)
		return -ENOENT;
	id = e->id;
	if (over && over->id == id)
		return 0;
	if (over && !TAILQ_EMPTY(&c->nodes[over->id]->entries))
		return -ENOTEMPTY;
	if (over)
		drop(c, to, over);
	c->nodes[id]->attr.nlink += c->nodes[id]->attr.type == NFS_DIR ? 2 : 1;
	drop(c, from, e);
	add(c, to, op->u.rename.to, id);
	return 0;
}

static int do_readdir(struct nfs_client *c, struct nfs_op *op)
{
	struct node *dir = c->nodes[id_of(&op->u.readdir.dir)];
	uint32_t bytes = 0;
	struct entry *e;

	if (dir->attr.type != NFS_DIR)
		return -ENOTDIR;
	if (op->u.readdir.want_dir)
		op->u.readdir.dir_attr =
			(struct nfs_dir_attr){.have = true, .before = true, .attr = dir->attr};
	TAILQ_FOREACH (e, &dir->entries, link) {
		struct nfs_dirent ent = {.name = e->name, .namelen = strlen(e->name)};

		if (e->cookie <= op->u.readdir.cookie && !fake_knobs.cookie_stuck)
			continue;
		bytes += ent.namelen + 150;
		if (bytes > op->u.readdir.max_bytes && bytes > ent.namelen + 150)
			return 0;
		ent.cookie = fake_knobs.cookie_low ? 2 : e->cookie;
		ent.fileid = c->nodes[e->id]->attr.fileid;
		ent.have_attr = ent.have_fh = op->u.readdir.plus;
		ent.attr = c->nodes[e->id]->attr;
		fh_of(e->id, &ent.fh);
		if (!op->u.readdir.entry(op, &ent) || fake_knobs.cookie_stuck ||
			fake_knobs.cookie_loop)
			return 0;
	}
	if (fake_knobs.cookie_loop && op->u.readdir.cookie) {
		op->u.readdir.cookie = 0;
		return do_readdir(c, op);
	}
	op->u.readdir.eof = true;
	return 0;
}

static int do_read(struct nfs_client *c, struct nfs_op *op)
{
	struct node *n = c->nodes[id_of(&op->u.read.fh)];
	uint64_t left = op->u.read.offset < n->attr.size ? n->attr.size - op->u.read.offset : 0;
	uint32_t want = op->u.read.to.len;
	struct seg_iter to;

	if (fake_knobs.short_read && want > fake_knobs.short_read)
		want = fake_knobs.short_read;
	op->u.read.count = left < want ? left : want;
	to = seg_iter_of(&op->u.read.to);
	if (op->u.read.count)
		seg_iter_put(&to, n->data + op->u.read.offset, op->u.read.count);
	op->u.read.eof = op->u.read.offset + op->u.read.count >= n->attr.size;
	return 0;
}

static void put_verf(uint8_t *verf)
{
	memset(verf, 0, NFS_VERF_SIZE);
	memcpy(verf, &fake_knobs.verf, sizeof(fake_knobs.verf));
}

static int do_write(struct nfs_client *c, struct nfs_op *op)
{
	struct node *n = c->nodes[id_of(&op->u.write.fh)];
	uint32_t len = op->u.write.from.len;
	struct seg_list from;
	uint64_t end;
	int res = 0;

	if (fake_knobs.short_write && len > fake_knobs.short_write)
		len = fake_knobs.short_write;
	if (op->u.write.append)
		op->u.write.offset = n->attr.size;
	end = op->u.write.offset + len;
	if (end > n->attr.size)
		res = resize(c, n, end);
	if (res)
		return res;
	from = seg_list_cut(&op->u.write.from, 0, len);
	seg_list_gather(&from, n->data + op->u.write.offset);
	stamp(c, n, true);
	op->u.write.count = len;
	op->u.write.committed = op->u.write.stable;
	put_verf(op->u.write.verf);
	if (fake_knobs.delegates_write)
		op->u.write.attr = (struct nfs_data_attr){
			.have = true, .change = n->attr.change, .size = n->attr.size};
	return 0;
}

static int do_link(struct nfs_client *c, struct nfs_op *op)
{
	struct node *n = c->nodes[id_of(&op->u.link.fh)];
	struct node *dir = c->nodes[id_of(&op->u.link.dir)];

	if (find(dir, op->u.link.name))
		return -EEXIST;
	n->attr.nlink++;
	stamp(c, n, false);
	add(c, dir, op->u.link.name, id_of(&op->u.link.fh));
	op->u.link.attr = n->attr;
	return 0;
}

static int do_lookup(struct nfs_client *c, struct nfs_op *op)
{
	struct node *dir = c->nodes[id_of(&op->u.lookup.dir)];
	struct entry *e = find(dir, op->u.lookup.name);

	if (op->u.lookup.want_dir)
		op->u.lookup.dir_attr =
			(struct nfs_dir_attr){.have = true, .before = true, .attr = dir->attr};
	if (!e)
		return -ENOENT;
	fh_of(e->id, &op->u.lookup.fh);
	op->u.lookup.attr = c->nodes[e->id]->attr;
	return 0;
}

static int run(struct nfs_client *c, struct nfs_op *op)
{
	struct node *n;

	switch (op->type) {
	case NFS_LOOKUP:
		return do_lookup(c, op);
	case NFS_GETATTR:
		op->u.getattr.attr = c->nodes[id_of(&op->u.getattr.fh)]->attr;
		return 0;
	case NFS_SETATTR:
		n = c->nodes[id_of(&op->u.setattr.fh)];
		op->error = set(c, n, &op->u.setattr.set);
		op->u.setattr.attr = n->attr;
		return op->error;
	case NFS_ACCESS:
		op->u.access.allowed = op->u.access.want & ~fake_knobs.denied;
		return 0;
	case NFS_READLINK:
		n = c->nodes[id_of(&op->u.readlink.fh)];
		op->u.readlink.len =
			snprintf(op->u.readlink.buf, op->u.readlink.size, "%s", n->target);
		return 0;
	case NFS_OPEN:
		return do_open(c, op);
	case NFS_CLOSE:
		LIST_REMOVE(op->u.close.open, link);
		free(op->u.close.open);
		return 0;
	case NFS_READ:
		return do_read(c, op);
	case NFS_WRITE:
		return do_write(c, op);
	case NFS_COMMIT:
		put_verf(op->u.commit.verf);
		return 0;
	case NFS_CREATE:
		return do_create(c, op);
	case NFS_REMOVE:
		return do_remove(c, op);
	case NFS_RENAME:
		return do_rename(c, op);
	case NFS_LINK:
		return do_link(c, op);
	case NFS_READDIR:
		return do_readdir(c, op);
	case NFS_STATFS:
		op->u.statfs.st = (struct nfs_fsstat){
			1ull << 40, 1ull << 39, 1ull << 38, 1 << 20, 1 << 19, 1 << 18, 255};
		return 0;
	default:
		return -ENOSYS;
	}
}

/* --- the client ------------------------------------------------------------------------------- */

/* Ends op. The client's lock is not held. */
static void finish(struct nfs_client *c, struct nfs_op *op)
{
	bool scripted = fake_knobs.script && fake_knobs.script(op);

	pthread_mutex_lock(&c->lock);
	if (!scripted)
		op->error = fake_knobs.fail[op->type];
	if (!scripted && !op->error)
		op->error = run(c, op);
	c->stats.calls++;
	pthread_mutex_unlock(&c->lock);
	op->done(op);
}

static void *progress(void *arg)
{
	struct nfs_client *c = arg;
	struct nfs_op *op;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!(op = TAILQ_FIRST(&c->queue)) && !c->stop)
			pthread_cond_wait(&c->cond, &c->lock);
		if (!op)
			break;
		TAILQ_REMOVE(&c->queue, op, link);
		pthread_mutex_unlock(&c->lock);
		if (op->error) /* cancelled, or the end */
			op->done(op);
		else
			finish(c, op);
		pthread_mutex_lock(&c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

void nfs_submit(struct nfs_client *c, struct nfs_op *op)
{
	op->client = c;
	op->error = 0;
	if (fake_knobs.sync && !fake_knobs.hang[op->type]) {
		finish(c, op);
		return;
	}
	pthread_mutex_lock(&c->lock);
	if (fake_knobs.hang[op->type] && !c->stop)
		TAILQ_INSERT_TAIL(&c->hanging, op, link);
	else
		TAILQ_INSERT_TAIL(&c->queue, op, link);
	pthread_cond_signal(&c->cond);
	pthread_mutex_unlock(&c->lock);
}

void nfs_cancel(struct nfs_op *op)
{
	struct nfs_client *c = op->client;
	struct nfs_op *o;

	pthread_mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->hanging, link) {
		if (o != op)
			continue;
		TAILQ_REMOVE(&c->hanging, op, link);
		op->error = -EINTR;
		TAILQ_INSERT_TAIL(&c->queue, op, link);
		pthread_cond_signal(&c->cond);
		break;
	}
	pthread_mutex_unlock(&c->lock);
}

bool nfs_deleg_holds(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	bool held;

	pthread_mutex_lock(&c->lock);
	held = id && c->nodes[id_of(fh)]->deleg == id;
	pthread_mutex_unlock(&c->lock);
	return held;
}

struct nfs_open *nfs_deleg_open(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id,
	int flags, const struct rpc_cred *cred)
{
	struct nfs_open *o;

	if (!nfs_deleg_holds(c, fh, id) ||
		((flags & O_ACCMODE) != O_RDONLY && !c->nodes[id_of(fh)]->deleg_writes))
		return NULL;
	o = calloc(1, sizeof(*o));
	o->id = id_of(fh);
	pthread_mutex_lock(&c->lock);
	LIST_INSERT_HEAD(&c->opens, o, link);
	pthread_mutex_unlock(&c->lock);
	return o;
}

void nfs_deleg_give_back(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	pthread_mutex_lock(&c->lock);
	if (c->nodes[id_of(fh)]->deleg == id)
		c->nodes[id_of(fh)]->deleg = 0;
	pthread_mutex_unlock(&c->lock);
}

bool nfs_locks_doubtful(struct nfs_client *c, const struct nfs_open *o)
{
	return fake_knobs.doubtful;
}

void nfs_deleg_flushed(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	pthread_mutex_lock(&c->lock);
	c->flushed = id;
	pthread_mutex_unlock(&c->lock);
}

uint64_t fake_flushed(struct nfs_client *c)
{
	uint64_t id;

	pthread_mutex_lock(&c->lock);
	id = c->flushed;
	pthread_mutex_unlock(&c->lock);
	return id;
}

void fake_recall(struct nfs_client *c, const struct nfs_fh *fh)
{
	pthread_mutex_lock(&c->lock);
	c->nodes[id_of(fh)]->deleg = 0;
	pthread_mutex_unlock(&c->lock);
}

void fake_release(struct nfs_client *c)
{
	pthread_mutex_lock(&c->lock);
	TAILQ_CONCAT(&c->queue, &c->hanging, link);
	pthread_cond_signal(&c->cond);
	pthread_mutex_unlock(&c->lock);
}

struct nfs_client *fake_client_new(void)
{
	struct nfs_client *c = calloc(1, sizeof(*c));
	struct rpc_cred me = {.uid = getuid(), .gid = getgid()};

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->cond, NULL);
	TAILQ_INIT(&c->queue);
	TAILQ_INIT(&c->hanging);
	node_new(c, NFS_DIR, 0755, &me);
	pthread_create(&c->thread, NULL, progress, c);
	return c;
}

static void knob_cookie(const char *how)
{
	fake_knobs.cookie_stuck = !strcmp(how, "stuck");
	fake_knobs.cookie_low = !strcmp(how, "low");
	fake_knobs.cookie_loop = !strcmp(how, "loop");
}

static void knob(const char *name, const char *value)
{
	uint32_t n = strtoul(value, NULL, 0);
	bool op = !strcmp(name, "hang") || !strcmp(name, "fail");

	if (!strcmp(name, "rsize"))
		fake_knobs.rsize = n;
	else if (!strcmp(name, "wsize"))
		fake_knobs.wsize = n;
	else if (!strcmp(name, "short_read"))
		fake_knobs.short_read = n;
	else if (!strcmp(name, "short_write"))
		fake_knobs.short_write = n;
	else if (!strcmp(name, "sync"))
		fake_knobs.sync = n;
	else if (!strcmp(name, "cookie"))
		knob_cookie(value);
	for (unsigned t = 0; op && t < NFS_OP_TYPES; t++) {
		if (strcmp(nfs_op_name(t), value))
			continue;
		if (name[0] == 'h')
			fake_knobs.hang[t] = true;
		else
			fake_knobs.fail[t] = -EIO;
	}
}

/* FAKE_NFS="hang=READ rsize=4096 ..." for a daemon that is mounted by hand. */
static void knobs_from_environment(void)
{
	const char *env = getenv("FAKE_NFS");
	char *copy = strdup(env ? env : ""), *rest = copy, *item;

	while ((item = strsep(&rest, " "))) {
		char *value = strchr(item, '=');

		if (value) {
			*value = 0;
			knob(item, value + 1);
		}
	}
	free(copy);
}

struct nfs_client *nfs_client_new(const struct nfs_mount_params *p, struct err *e)
{
	if (p->proto != RPC_TCP) {
		err_set(e, ERR_NO_DEVICE, "the fake speaks only tcp");
		return NULL;
	}
	if (!strcmp(p->export, "/none")) {
		err_set(e, ERR_NO_EXPORT, "server %s has no export /none", p->host);
		return NULL;
	}
	knobs_from_environment();
	return fake_client_new();
}

void nfs_client_root(struct nfs_client *c, struct nfs_fh *fh, struct nfs_attr *attr)
{
	fh_of(0, fh);
	*attr = c->nodes[0]->attr;
}

void nfs_client_info(struct nfs_client *c, struct nfs_client_info *out)
{
	*out = (struct nfs_client_info){
		.rpc = {.proto = RPC_TCP, .provider = "fake", .connected = true},
		.vers_major = 4,
		.vers_minor = 1,
		.rsize = fake_knobs.rsize ? fake_knobs.rsize : 1 << 20,
		.wsize = fake_knobs.wsize ? fake_knobs.wsize : 1 << 20,
		.dtsize = fake_knobs.dtsize ? fake_knobs.dtsize : 64 << 10,
		.maxfilesize = 1ull << 31,
		.features = fake_knobs.features,
	};
}

void nfs_client_stats(struct nfs_client *c, struct rpc_client_stats *out)
{
	pthread_mutex_lock(&c->lock);
	*out = c->stats;
	pthread_mutex_unlock(&c->lock);
}

struct nfs_client *nfs_client_free(struct nfs_client *c)
{
	struct nfs_open *open;
	struct nfs_op *op;

	if (!c)
		return NULL;
	pthread_mutex_lock(&c->lock);
	while ((op = TAILQ_FIRST(&c->hanging))) {
		TAILQ_REMOVE(&c->hanging, op, link);
		op->error = -ENOTCONN;
		TAILQ_INSERT_TAIL(&c->queue, op, link);
	}
	c->stop = true;
	pthread_cond_signal(&c->cond);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	while ((open = LIST_FIRST(&c->opens))) {
		LIST_REMOVE(open, link);
		free(open);
	}
	for (uint32_t i = 0; i < c->nnodes; i++) {
		struct node *n = c->nodes[i];
		struct entry *e;

		while ((e = TAILQ_FIRST(&n->entries))) {
			TAILQ_REMOVE(&n->entries, e, link);
			free(e);
		}
		free(n->data);
		free(n->target);
		free(n);
	}
	free(c->nodes);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->cond);
	free(c);
	return NULL;
}

const char *rpc_proto_name(enum rpc_proto p) __attribute__((weak));
const char *rpc_proto_name(enum rpc_proto p)
{
	return "tcp";
}

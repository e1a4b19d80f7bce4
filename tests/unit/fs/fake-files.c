/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-files: files in memory, and the effect of operations on the files.
 */
#include "tests/unit/fs/fake-files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fs/fake-nfs.h"

static void stamp(struct fake_files *f, struct fake_file *n, bool mtime)
{
	clock_gettime(CLOCK_REALTIME, &n->attr.ctime);
	if (mtime)
		n->attr.mtime = n->attr.ctime;
	n->attr.change = ++f->clock;
}

static uint32_t node_new(
	struct fake_files *f, enum nfs_type type, uint32_t mode, const struct rpc_cred *cred)
{
	struct fake_file *n = calloc(1, sizeof(*n));

	f->nodes = realloc(f->nodes, (f->nnodes + 1) * sizeof(*f->nodes));
	f->nodes[f->nnodes] = n;
	n->attr.type = type;
	n->attr.mode = mode & 07777;
	n->attr.nlink = type == NFS_DIR ? 2 : 1;
	n->attr.uid = cred->uid;
	n->attr.gid = cred->gid;
	n->attr.fileid = f->nnodes + 100;
	TAILQ_INIT(&n->entries);
	n->next_cookie = 3;
	stamp(f, n, true);
	n->attr.atime = n->attr.mtime;
	return f->nnodes++;
}

void fake_file_fh(uint32_t id, struct nfs_fh *fh)
{
	memset(fh, 0, sizeof(*fh));
	fh->len = 28;
	memcpy(fh->data + 20, &id, 4);
}

uint32_t fake_file_id(const struct nfs_fh *fh)
{
	uint32_t id;

	memcpy(&id, fh->data + 20, 4);
	return id;
}

static struct fake_entry *find(struct fake_file *dir, struct nfs_name name)
{
	struct fake_entry *e;

	TAILQ_FOREACH (e, &dir->entries, link)
		if (strlen(e->name) == name.len && !memcmp(e->name, name.s, name.len))
			return e;
	return NULL;
}

static void add(struct fake_files *f, struct fake_file *dir, struct nfs_name name, uint32_t id)
{
	struct fake_entry *e = calloc(1, sizeof(*e));

	e->cookie = dir->next_cookie++;
	e->id = id;
	memcpy(e->name, name.s, name.len);
	TAILQ_INSERT_TAIL(&dir->entries, e, link);
	if (f->nodes[id]->attr.type == NFS_DIR)
		dir->attr.nlink++;
	stamp(f, dir, true);
}

static void drop(struct fake_files *f, struct fake_file *dir, struct fake_entry *e)
{
	struct fake_file *n = f->nodes[e->id];

	if (n->attr.type == NFS_DIR)
		dir->attr.nlink--;
	n->attr.nlink -= n->attr.type == NFS_DIR ? 2 : 1;
	stamp(f, n, false);
	stamp(f, dir, true);
	TAILQ_REMOVE(&dir->entries, e, link);
	free(e);
}

static int resize(struct fake_files *f, struct fake_file *n, uint64_t size)
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
	stamp(f, n, true);
	return 0;
}

static int set(struct fake_files *f, struct fake_file *n, const struct nfs_sattr *s)
{
	int res = 0;

	if (s->mask & NFS_SET_SIZE)
		res = n->attr.type == NFS_DIR ? -EISDIR : resize(f, n, s->size);
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
	stamp(f, n, false);
	return res;
}

/* --- operations ------------------------------------------------------------------------------- */

static int do_read(struct fake_files *f, struct nfs_op *op);

static void delegate(struct fake_files *f, struct fake_file *node, struct nfs_op *op)
{
	bool write = (op->u.open.flags & O_ACCMODE) != O_RDONLY;

	if (!node->deleg && (write ? fake_knobs.delegates_write : fake_knobs.delegates)) {
		node->deleg = ++f->delegs;
		node->deleg_writes = write;
	}
	op->u.open.deleg = node->deleg;
	op->u.open.deleg_writes = node->deleg && node->deleg_writes;
}

struct nfs_open *fake_file_open(struct fake_files *f, uint32_t id)
{
	struct nfs_open *o = calloc(1, sizeof(*o));

	o->id = id;
	LIST_INSERT_HEAD(&f->opens, o, link);
	return o;
}

static void fake_file_close(struct nfs_open *o)
{
	LIST_REMOVE(o, link);
	free(o);
}

static int do_open(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *dir = f->nodes[fake_file_id(&op->u.open.dir)];
	uint32_t id = fake_file_id(&op->u.open.dir);

	if (op->u.open.name.len) {
		struct fake_entry *e = find(dir, op->u.open.name);

		if (e && op->u.open.flags & O_EXCL)
			return -EEXIST;
		if (!e && !(op->u.open.flags & O_CREAT))
			return -ENOENT;
		if (e) {
			id = e->id;
		} else {
			id = node_new(f, NFS_REG, op->u.open.set.mode, &op->cred);
			add(f, dir, op->u.open.name, id);
		}
	}
	if (f->nodes[id]->attr.type != NFS_REG)
		return f->nodes[id]->attr.type == NFS_DIR ? -EISDIR : -ELOOP;
	fake_file_fh(id, &op->u.open.fh);
	if (nfs_op_changes_data(op) &&
		(!op->u.open.only.len || nfs_fh_equal(&op->u.open.only, &op->u.open.fh)))
		resize(f, f->nodes[id], 0);
	op->u.open.open = fake_file_open(f, id);
	op->u.open.attr = f->nodes[id]->attr;
	op->u.open.times_left = fake_knobs.uses_times && op->u.open.late_times;
	if (fake_knobs.bare_open)
		return 0;
	delegate(f, f->nodes[id], op);
	op->u.open.have_access = op->u.open.want != 0;
	op->u.open.allowed = op->u.open.want & ~fake_knobs.denied;
	if (op->u.open.to.len && !(op->u.open.flags & (O_CREAT | O_TRUNC))) {
		struct nfs_op read = {.u.read = {.fh = op->u.open.fh, .to = op->u.open.to}};

		do_read(f, &read);
		op->u.open.have_data = true;
		op->u.open.count = read.u.read.count;
		op->u.open.eof = read.u.read.eof;
	}
	return 0;
}

static int do_create(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *dir = f->nodes[fake_file_id(&op->u.create.dir)];
	struct fake_file *n;
	uint32_t id;

	if (find(dir, op->u.create.name))
		return -EEXIST;
	id = node_new(f, op->u.create.type, op->u.create.set.mode, &op->cred);
	n = f->nodes[id];
	n->attr.rdev_major = op->u.create.rdev_major;
	n->attr.rdev_minor = op->u.create.rdev_minor;
	if (op->u.create.type == NFS_LNK) {
		n->target = strndup(op->u.create.target, op->u.create.target_len);
		n->attr.size = op->u.create.target_len;
	}
	add(f, dir, op->u.create.name, id);
	fake_file_fh(id, &op->u.create.fh);
	op->u.create.attr = n->attr;
	op->u.create.have_access = op->u.create.want && !fake_knobs.bare_open;
	op->u.create.allowed = op->u.create.want & ~fake_knobs.denied;
	return 0;
}

/* The delegation goes back with the operation, if the operation returns one. */
static void returned(struct fake_files *f, const struct nfs_fh *fh, uint64_t id)
{
	if (id && f->nodes[fake_file_id(fh)]->deleg == id)
		f->nodes[fake_file_id(fh)]->deleg = 0;
}

static int do_remove(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *dir = f->nodes[fake_file_id(&op->u.remove.dir)];
	struct fake_entry *e = find(dir, op->u.remove.name);
	struct fake_file *n;

	returned(f, op->u.remove.deleg_fh, op->u.remove.deleg);
	if (!e)
		return -ENOENT;
	n = f->nodes[e->id];
	if (op->u.remove.only && fake_file_id(op->u.remove.only) != e->id)
		return -ESTALE;
	if (op->u.remove.is_dir && n->attr.type != NFS_DIR)
		return -ENOTDIR;
	if (!op->u.remove.is_dir && n->attr.type == NFS_DIR)
		return -EISDIR;
	if (!TAILQ_EMPTY(&n->entries))
		return -ENOTEMPTY;
	drop(f, dir, e);
	return 0;
}

static int do_rename(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *from = f->nodes[fake_file_id(&op->u.rename.from_dir)];
	struct fake_file *to = f->nodes[fake_file_id(&op->u.rename.to_dir)];
	struct fake_entry *e = find(from, op->u.rename.from), *over = find(to, op->u.rename.to);
	uint32_t id;

	returned(f, op->u.rename.deleg_fh, op->u.rename.deleg);
	if (op->u.rename.only && (!over || fake_file_id(op->u.rename.only) != over->id))
		return -ESTALE;
	if (!e)
		return -ENOENT;
	id = e->id;
	if (over && over->id == id)
		return 0;
	if (over && !TAILQ_EMPTY(&f->nodes[over->id]->entries))
		return -ENOTEMPTY;
	if (over)
		drop(f, to, over);
	f->nodes[id]->attr.nlink += f->nodes[id]->attr.type == NFS_DIR ? 2 : 1;
	drop(f, from, e);
	add(f, to, op->u.rename.to, id);
	return 0;
}

static int do_readdir(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *dir = f->nodes[fake_file_id(&op->u.readdir.dir)];
	uint32_t bytes = 0;
	struct fake_entry *e;

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
		ent.fileid = f->nodes[e->id]->attr.fileid;
		ent.have_attr = ent.have_fh = op->u.readdir.plus;
		ent.attr = f->nodes[e->id]->attr;
		fake_file_fh(e->id, &ent.fh);
		if (!op->u.readdir.entry(op, &ent) || fake_knobs.cookie_stuck ||
			fake_knobs.cookie_loop)
			return 0;
	}
	if (fake_knobs.cookie_loop && op->u.readdir.cookie) {
		op->u.readdir.cookie = 0;
		return do_readdir(f, op);
	}
	op->u.readdir.eof = true;
	return 0;
}

static int do_read(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *n = f->nodes[fake_file_id(&op->u.read.fh)];
	uint64_t left = op->u.read.offset < n->attr.size ? n->attr.size - op->u.read.offset : 0;
	uint32_t want = op->u.read.to.len, most = fake_knobs.short_read;
	struct seg_iter to;

	if (most && want > most)
		want = most;
	op->u.read.count = left < want ? left : want;
	to = seg_iter_of(&op->u.read.to);
	if (op->u.read.count)
		seg_iter_put(&to, n->data + op->u.read.offset, op->u.read.count);
	op->u.read.eof = op->u.read.offset + op->u.read.count >= n->attr.size;
	return 0;
}

static void put_verf(uint8_t *verf)
{
	uint32_t run = fake_knobs.verf;

	memset(verf, 0, NFS_VERF_SIZE);
	memcpy(verf, &run, sizeof(run));
}

/* The operation that follows a WRITE in the COMPOUND. An error of this operation is no error of the
 * WRITE. */
static int do_then(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *n = f->nodes[fake_file_id(&op->u.write.fh)];
	struct nfs_then *then = op->u.write.then;

	if (!then)
		return 0;
	then->done = !(then->set.mask && (fake_knobs.no_compound || fake_knobs.fail[NFS_SETATTR]));
	if (then->done && then->set.mask)
		set(f, n, &then->set);
	then->attr = n->attr;
	return 0;
}

static int do_write(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *n = f->nodes[fake_file_id(&op->u.write.fh)];
	uint32_t len = op->u.write.from.len, most = fake_knobs.short_write;
	struct seg_list from;
	uint64_t end;
	int res = 0;

	if (most && len > most)
		len = most;
	if (op->u.write.append)
		op->u.write.offset = n->attr.size;
	end = op->u.write.offset + len;
	if (end > n->attr.size)
		res = resize(f, n, end);
	if (res)
		return res;
	from = seg_list_cut(&op->u.write.from, 0, len);
	seg_list_gather(&from, n->data + op->u.write.offset);
	stamp(f, n, true);
	op->u.write.count = len;
	op->u.write.committed = op->u.write.stable;
	put_verf(op->u.write.verf);
	if (fake_knobs.delegates_write)
		op->u.write.attr = (struct nfs_data_attr){
			.have = true, .change = n->attr.change, .size = n->attr.size};
	return 0;
}

static int do_link(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *n = f->nodes[fake_file_id(&op->u.link.fh)];
	struct fake_file *dir = f->nodes[fake_file_id(&op->u.link.dir)];

	if (find(dir, op->u.link.name))
		return -EEXIST;
	n->attr.nlink++;
	stamp(f, n, false);
	add(f, dir, op->u.link.name, fake_file_id(&op->u.link.fh));
	op->u.link.attr = n->attr;
	return 0;
}

static int do_lookup(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *dir = f->nodes[fake_file_id(&op->u.lookup.dir)];
	struct fake_entry *e = find(dir, op->u.lookup.name);

	if (op->u.lookup.want_dir)
		op->u.lookup.dir_attr =
			(struct nfs_dir_attr){.have = true, .before = true, .attr = dir->attr};
	if (!e)
		return -ENOENT;
	fake_file_fh(e->id, &op->u.lookup.fh);
	op->u.lookup.attr = f->nodes[e->id]->attr;
	return 0;
}

int fake_files_run(struct fake_files *f, struct nfs_op *op)
{
	struct fake_file *n;

	switch (op->type) {
	case NFS_LOOKUP:
		return do_lookup(f, op);
	case NFS_GETATTR:
		op->u.getattr.attr = f->nodes[fake_file_id(&op->u.getattr.fh)]->attr;
		return 0;
	case NFS_SETATTR:
		n = f->nodes[fake_file_id(&op->u.setattr.fh)];
		op->error = set(f, n, &op->u.setattr.set);
		op->u.setattr.attr = n->attr;
		return op->error;
	case NFS_ACCESS:
		op->u.access.allowed = op->u.access.want & ~fake_knobs.denied;
		return 0;
	case NFS_READLINK:
		n = f->nodes[fake_file_id(&op->u.readlink.fh)];
		op->u.readlink.len =
			snprintf(op->u.readlink.buf, op->u.readlink.size, "%s", n->target);
		return 0;
	case NFS_OPEN:
		return do_open(f, op);
	case NFS_CLOSE:
		fake_file_close(op->u.close.open);
		return 0;
	case NFS_READ:
		return do_read(f, op);
	case NFS_WRITE:
		op->error = do_write(f, op);
		return op->error ? op->error : do_then(f, op);
	case NFS_COMMIT:
		put_verf(op->u.commit.verf);
		return 0;
	case NFS_CREATE:
		return do_create(f, op);
	case NFS_REMOVE:
		return do_remove(f, op);
	case NFS_RENAME:
		return do_rename(f, op);
	case NFS_LINK:
		return do_link(f, op);
	case NFS_READDIR:
		return do_readdir(f, op);
	case NFS_STATFS:
		op->u.statfs.st = (struct nfs_fsstat){
			1ull << 40, 1ull << 39, 1ull << 38, 1 << 20, 1 << 19, 1 << 18, 255};
		return 0;
	default:
		return -ENOSYS;
	}
}

void fake_files_init(struct fake_files *f)
{
	struct rpc_cred me = {.uid = getuid(), .gid = getgid()};

	memset(f, 0, sizeof(*f));
	node_new(f, NFS_DIR, 0755, &me);
}

void fake_files_finish(struct fake_files *f)
{
	struct nfs_open *open;

	while ((open = LIST_FIRST(&f->opens)))
		fake_file_close(open);
	for (uint32_t i = 0; i < f->nnodes; i++) {
		struct fake_file *n = f->nodes[i];
		struct fake_entry *e;

		while ((e = TAILQ_FIRST(&n->entries))) {
			TAILQ_REMOVE(&n->entries, e, link);
			free(e);
		}
		free(n->data);
		free(n->target);
		free(n);
	}
	free(f->nodes);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel_calls: the system calls of processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/kernel_impl.h"
#include "tests/simulation/sched.h"

static struct iovec text(const char *name)
{
	return (struct iovec){(void *)name, strlen(name) + 1};
}

/* --- open files ------------------------------------------------------------------------------- */

static struct open_file *file_of(struct kernel *k, int fd)
{
	if (fd < 0 || fd >= KERNEL_FILES || !k->file[fd].node)
		sched_fail("a program uses descriptor %d, which is not open", fd);
	return &k->file[fd];
}

static int add(struct kernel *k, struct node *n, uint64_t fh, int flags)
{
	for (int fd = 0; fd < KERNEL_FILES; fd++)
		if (!k->file[fd].node) {
			k->file[fd] = (struct open_file){n, fh, flags, ++k->owner};
			return fd;
		}
	sched_fail("a program has too many files open");
}

static int create(struct kernel *k, struct node *dir, const char *name, int flags, mode_t mode)
{
	struct fuse_create_in in = {.flags = (uint32_t)flags, .mode = mode | S_IFREG};
	struct iovec iov[] = {{&in, sizeof(in)}, text(name)};
	struct {
		struct fuse_entry_out e;
		struct fuse_open_out o;
	} out;
	uint64_t asked = kernel_stamp(k);
	int error = kernel_ask(k, FUSE_CREATE, dir->id, iov, 2, &out, sizeof(out), NULL);

	if (error) {
		kernel_drop_name(k, dir->id, name);
		return error;
	}
	return add(k, kernel_entry(k, dir->id, name, &out.e, asked), out.o.fh, flags);
}

/* The daemon was sent an OPEN of n, which the caller has a reference of. */
static int open_node(struct kernel *k, struct node *n, int flags)
{
	struct fuse_open_in in = {.flags = (uint32_t)(flags & ~(O_CREAT | O_EXCL))};
	struct iovec iov = {&in, sizeof(in)};
	struct fuse_open_out out;
	int error = kernel_ask(k, FUSE_OPEN, n->id, &iov, 1, &out, sizeof(out), NULL);

	if (!error && flags & O_TRUNC) {
		n->attr.size = 0;
		n->attr_until = 0;
		n->attr_stamp = ++k->stamp;
	}
	if (!error)
		return add(k, n, out.fh, flags);
	kernel_node_unref(k, n);
	return error;
}

static int open_once(struct kernel *k, const char *path, int flags, mode_t mode)
{
	struct node *dir, *n;
	const char *last;
	int res = kernel_walk_to_dir(k, path, &dir, &last);

	if (res)
		return res;
	res = kernel_lookup(k, dir, last, &n);
	if (!res && (flags & O_CREAT) && (flags & O_EXCL)) {
		kernel_node_unref(k, n);
		res = -EEXIST;
	} else if (!res) {
		res = open_node(k, n, flags);
	} else if (res == -ENOENT && flags & O_CREAT) {
		res = create(k, dir, last, flags, mode);
	}
	kernel_node_unref(k, dir);
	return res;
}

/* A walk that ended with ESTALE is done once more, without believing in names (all versions). */
static void distrust(struct kernel *k)
{
	struct dentry *d;

	LIST_FOREACH (d, &k->dentries, all)
		d->until = 0;
}

int kernel_open(struct kernel *k, const char *path, int flags, mode_t mode)
{
	int res = open_once(k, path, flags, mode);

	if (res != -ESTALE)
		return res;
	distrust(k);
	return open_once(k, path, flags, mode);
}

int kernel_close(struct kernel *k, int fd)
{
	struct open_file f = *file_of(k, fd);
	struct fuse_flush_in flush = {.fh = f.fh, .lock_owner = f.owner};
	struct fuse_release_in release = {
		.fh = f.fh, .flags = (uint32_t)f.flags, .lock_owner = f.owner};
	struct iovec in = {&flush, sizeof(flush)}, in2 = {&release, sizeof(release)};
	int error = kernel_ask(k, FUSE_FLUSH, f.node->id, &in, 1, NULL, 0, NULL);

	kernel_ask(k, FUSE_RELEASE, f.node->id, &in2, 1, NULL, 0, NULL);
	k->file[fd].node = NULL;
	kernel_node_unref(k, f.node);
	return error;
}

/* --- data ------------------------------------------------------------------------------------- */

ssize_t kernel_read(struct kernel *k, int fd, void *buf, size_t size, off_t off)
{
	struct open_file *f = file_of(k, fd);
	struct fuse_read_in in = {.fh = f->fh,
		.offset = (uint64_t)off,
		.size = (uint32_t)size,
		.flags = (uint32_t)f->flags};
	struct iovec iov = {&in, sizeof(in)};
	size_t got;
	int error = kernel_ask(k, FUSE_READ, f->node->id, &iov, 1, buf, size, &got);

	return error ? error : (ssize_t)got;
}

ssize_t kernel_write(struct kernel *k, int fd, const void *buf, size_t size, off_t off)
{
	struct open_file *f = file_of(k, fd);
	struct fuse_write_in in = {.fh = f->fh,
		.offset = (uint64_t)off,
		.size = (uint32_t)size,
		.flags = (uint32_t)f->flags};
	struct iovec iov[] = {{&in, sizeof(in)}, {(void *)buf, size}};
	struct fuse_write_out out;
	int error = kernel_ask(k, FUSE_WRITE, f->node->id, iov, 2, &out, sizeof(out), NULL);

	f->node->attr_until = 0;
	f->node->attr_stamp = ++k->stamp;
	return error ? error : (ssize_t)out.size;
}

int kernel_fsync(struct kernel *k, int fd)
{
	struct open_file *f = file_of(k, fd);
	struct fuse_fsync_in in = {.fh = f->fh};
	struct iovec iov = {&in, sizeof(in)};

	return kernel_ask(k, FUSE_FSYNC, f->node->id, &iov, 1, NULL, 0, NULL);
}

int kernel_lock(struct kernel *k, int fd, int type)
{
	struct open_file *f = file_of(k, fd);
	struct fuse_lk_in in = {.fh = f->fh,
		.owner = f->owner,
		.lk = {.start = 0, .end = INT64_MAX, .type = (uint32_t)type}};
	struct iovec iov = {&in, sizeof(in)};

	return kernel_ask(
		k, type == F_UNLCK ? FUSE_SETLK : FUSE_SETLKW, f->node->id, &iov, 1, NULL, 0, NULL);
}

/* --- attributes ------------------------------------------------------------------------------- */

static int getattr(struct kernel *k, struct node *n, const struct open_file *f, struct stat *st)
{
	struct fuse_getattr_in in = {.getattr_flags = f ? FUSE_GETATTR_FH : 0, .fh = f ? f->fh : 0};
	struct iovec iov = {&in, sizeof(in)};
	uint64_t asked = kernel_stamp(k);
	struct fuse_attr_out out;
	int error = 0;

	if (n->attr_until <= sched_now()) {
		error = kernel_ask(k, FUSE_GETATTR, n->id, &iov, 1, &out, sizeof(out), NULL);
		if (!error)
			kernel_take_attr(
				k, n, &out.attr, out.attr_valid, out.attr_valid_nsec, asked);
	} else {
		out.attr = n->attr;
	}
	if (!error)
		*st = (struct stat){.st_ino = out.attr.ino,
			.st_size = (off_t)out.attr.size,
			.st_mode = out.attr.mode,
			.st_nlink = out.attr.nlink};
	return error;
}

int kernel_fstat(struct kernel *k, int fd, struct stat *st)
{
	struct open_file *f = file_of(k, fd);

	return getattr(k, f->node, f, st);
}

int kernel_stat(struct kernel *k, const char *path, struct stat *st)
{
	struct node *n;
	int error = kernel_walk(k, path, &n);

	if (error)
		return error;
	error = getattr(k, n, NULL, st);
	kernel_node_unref(k, n);
	return error;
}

int kernel_ftruncate(struct kernel *k, int fd, off_t size)
{
	struct open_file *f = file_of(k, fd);
	struct fuse_setattr_in in = {
		.valid = FATTR_SIZE | FATTR_FH, .fh = f->fh, .size = (uint64_t)size};
	struct iovec iov = {&in, sizeof(in)};
	struct fuse_attr_out out;
	int error = kernel_ask(k, FUSE_SETATTR, f->node->id, &iov, 1, &out, sizeof(out), NULL);

	f->node->attr_until = 0;
	f->node->attr_stamp = ++k->stamp;
	return error;
}

/* --- names ------------------------------------------------------------------------------------ */

static int remove_name(struct kernel *k, const char *path, uint32_t opcode)
{
	struct node *dir, *n;
	const char *last;
	int error = kernel_walk_to_dir(k, path, &dir, &last);
	struct iovec in;

	if (error)
		return error;
	error = kernel_lookup(k, dir, last, &n);
	if (!error) {
		in = text(last);
		error = kernel_ask(k, opcode, dir->id, &in, 1, NULL, 0, NULL);
		n->attr_until = 0;
		n->attr_stamp = ++k->stamp;
		kernel_drop_name(k, dir->id, last);
		kernel_node_unref(k, n);
	}
	kernel_node_unref(k, dir);
	return error;
}

int kernel_unlink(struct kernel *k, const char *path)
{
	return remove_name(k, path, FUSE_UNLINK);
}

int kernel_rmdir(struct kernel *k, const char *path)
{
	return remove_name(k, path, FUSE_RMDIR);
}

int kernel_mkdir(struct kernel *k, const char *path, mode_t mode)
{
	struct fuse_mkdir_in in = {.mode = mode};
	struct node *dir;
	const char *last;
	uint64_t asked = kernel_stamp(k);
	struct fuse_entry_out out;
	int error = kernel_walk_to_dir(k, path, &dir, &last);

	if (error)
		return error;
	error = kernel_ask(k, FUSE_MKDIR, dir->id, (struct iovec[]){{&in, sizeof(in)}, text(last)},
		2, &out, sizeof(out), NULL);
	if (!error)
		kernel_node_unref(k, kernel_entry(k, dir->id, last, &out, asked));
	else
		kernel_drop_name(k, dir->id, last);
	kernel_node_unref(k, dir);
	return error;
}

int kernel_rename(struct kernel *k, const char *from, const char *to)
{
	struct node *dir, *to_dir, *n;
	const char *name, *to_name;
	int error = kernel_walk_to_dir(k, from, &dir, &name);

	if (error)
		return error;
	error = kernel_walk_to_dir(k, to, &to_dir, &to_name);
	if (error) {
		kernel_node_unref(k, dir);
		return error;
	}
	error = kernel_lookup(k, dir, name, &n);
	if (!error) {
		struct fuse_rename_in in = {.newdir = to_dir->id};

		kernel_node_unref(k, n);
		error = kernel_ask(k, FUSE_RENAME, dir->id,
			(struct iovec[]){{&in, sizeof(in)}, text(name), text(to_name)}, 3, NULL, 0,
			NULL);
		kernel_drop_name(k, dir->id, name);
		kernel_drop_name(k, to_dir->id, to_name);
	}
	kernel_node_unref(k, dir);
	kernel_node_unref(k, to_dir);
	return error;
}

int kernel_link(struct kernel *k, const char *from, const char *to)
{
	struct node *n, *dir;
	const char *name;
	uint64_t asked = kernel_stamp(k);
	struct fuse_entry_out out;
	int error = kernel_walk(k, from, &n);

	if (error)
		return error;
	error = kernel_walk_to_dir(k, to, &dir, &name);
	if (!error) {
		struct fuse_link_in in = {.oldnodeid = n->id};

		error = kernel_ask(k, FUSE_LINK, dir->id,
			(struct iovec[]){{&in, sizeof(in)}, text(name)}, 2, &out, sizeof(out),
			NULL);
		if (!error)
			kernel_node_unref(k, kernel_entry(k, dir->id, name, &out, asked));
		else
			kernel_drop_name(k, dir->id, name);
		kernel_node_unref(k, dir);
	}
	kernel_node_unref(k, n);
	return error;
}

/* --- listings --------------------------------------------------------------------------------- */

#define LIST_BYTES 4096

/* One answer's names. Returns the place of the next, or *at if there is none. */
static uint64_t each(
	const char *buf, size_t len, uint64_t at, void (*fn)(const char *, void *), void *ctx)
{
	char name[KERNEL_NAME_MAX + 1];

	while (len >= FUSE_NAME_OFFSET) {
		const struct fuse_dirent *d = (const void *)buf;
		size_t size = FUSE_DIRENT_SIZE(d);

		if (size > len || d->namelen > KERNEL_NAME_MAX)
			sched_fail("a listing is malformed");
		memcpy(name, d->name, d->namelen);
		name[d->namelen] = 0;
		if (strcmp(name, ".") && strcmp(name, ".."))
			fn(name, ctx);
		at = d->off;
		buf += size;
		len -= size;
	}
	return at;
}

int kernel_list(struct kernel *k, const char *path, void (*fn)(const char *, void *), void *ctx)
{
	struct fuse_open_in in = {0};
	struct fuse_open_out out;
	struct node *n;
	char buf[LIST_BYTES];
	uint64_t at = 0, next;
	size_t got;
	int error = kernel_walk(k, path, &n);

	if (error)
		return error;
	error = kernel_ask(k, FUSE_OPENDIR, n->id, &(struct iovec){&in, sizeof(in)}, 1, &out,
		sizeof(out), NULL);
	while (!error) {
		struct fuse_read_in read = {.fh = out.fh, .offset = at, .size = sizeof(buf)};

		error = kernel_ask(k, FUSE_READDIR, n->id, &(struct iovec){&read, sizeof(read)}, 1,
			buf, sizeof(buf), &got);
		next = error ? at : each(buf, got, at, fn, ctx);
		if (next == at) {
			struct fuse_release_in release = {.fh = out.fh};

			kernel_ask(k, FUSE_RELEASEDIR, n->id,
				&(struct iovec){&release, sizeof(release)}, 1, NULL, 0, NULL);
			break;
		}
		at = next;
	}
	kernel_node_unref(k, n);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * forgetfs: a FUSE file system in memory that forgets unsynced changes: power cuts for tests.
 *
 *     forgetfs DIRECTORY              mounts there and goes into the background;
 *                                     fusermount3 -u DIRECTORY ends it
 *     forgetfs DIRECTORY COMMAND...   tells the daemon that is mounted there, and returns when the
 *                                     command is done:
 *
 *         cut             the power goes: all unsynced changes are gone. The user of the file
 *                         system, a server, should have been killed before; its descriptors of
 *                         files that are gone give ESTALE
 *         fail=ERRNO      the next fsync of a regular file fails with that number; as with a page
 *                         cache, its data counts as written from then on, stays readable, and is
 *                         gone with the next cut, unless it is written again
 *         hold, release   syncs wait from the one to the other
 *         size=BYTES      writing more than that altogether fails with ENOSPC; 0: no bound
 *         show            prints how many syncs of files and directories there were, and how many
 *                         wait: "files=N dirs=N waiting=N"
 *
 * Run by root, forgetfs lets all users in. It supports files, directories, links of both kinds,
 * devices, user xattrs, renames, and handles that can be opened until the unmount (a number is
 * never
 * used again). The kernel checks permissions.
 *
 * forget_store.h says which state lasts. A held sync waits without the lock.
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "forget_store.h"

#define CONTROL "user.forgetfs" /* of the root: how commands come in */

static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static unsigned waiting; /* under the store's lock, as holding */
static bool holding;

static int command(const char *word)
{
	pthread_mutex_lock(&store.lock);
	if (strcmp(word, "cut") == 0)
		cut();
	else if (strncmp(word, "fail=", 5) == 0)
		store.fail = atoi(word + 5);
	else if (strcmp(word, "hold") == 0)
		holding = true;
	else if (strcmp(word, "release") == 0)
		holding = false;
	else if (strncmp(word, "size=", 5) == 0)
		store.max_blocks = strtoull(word + 5, NULL, 0) / BLOCK;
	else
		word = NULL;
	pthread_cond_broadcast(&released);
	pthread_mutex_unlock(&store.lock);
	return word ? 0 : EINVAL;
}

/* --- operations ----------------------------------------------------------------------------------
 */

/* Most functions begin with a node; without one they answer ESTALE. With a node, the lock is held
 * afterwards. */
static struct node *begin(fuse_req_t req, fuse_ino_t ino)
{
	struct node *n;

	pthread_mutex_lock(&store.lock);
	n = node_find(ino);
	if (!n) {
		pthread_mutex_unlock(&store.lock);
		fuse_reply_err(req, ESTALE);
	}
	return n;
}

static void end(fuse_req_t req, int err)
{
	pthread_mutex_unlock(&store.lock);
	fuse_reply_err(req, err);
}

static struct stat stat_of(const struct node *n)
{
	struct stat st = n->is[LIVE];

	st.st_blocks = n->content[LIVE].n * (BLOCK / 512);
	return st;
}

static void end_entry(fuse_req_t req, struct node *n, struct fuse_file_info *fi)
{
	struct fuse_entry_param e = {.ino = n->ino, .generation = 1, .attr = stat_of(n)};

	n->nlookup++;
	pthread_mutex_unlock(&store.lock);
	if (fi)
		fuse_reply_create(req, &e, fi);
	else
		fuse_reply_entry(req, &e);
}

static void f_init(void *arg, struct fuse_conn_info *conn)
{
	conn->want |= conn->capable & (FUSE_CAP_EXPORT_SUPPORT | FUSE_CAP_ATOMIC_O_TRUNC);
	conn->want &= ~(FUSE_CAP_SPLICE_READ | FUSE_CAP_WRITEBACK_CACHE);
}

static void f_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct node *dir = begin(req, parent);
	struct entry *e = NULL;

	if (!dir)
		return;
	if (strcmp(name, ".") == 0)
		end_entry(req, dir, NULL);
	else if (strcmp(name, "..") == 0)
		end_entry(req, dir->parent ? dir->parent : dir, NULL);
	else if ((e = entry_find(dir, name)) != NULL)
		end_entry(req, e->node, NULL);
	else
		end(req, ENOENT);
}

static void f_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	node_forget(ino, count);
	fuse_reply_none(req);
}

static void f_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *d)
{
	for (size_t i = 0; i < count; i++)
		node_forget(d[i].ino, d[i].nlookup);
	fuse_reply_none(req);
}

static void f_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct node *n = begin(req, ino);
	struct stat st;

	if (!n)
		return;
	st = stat_of(n);
	pthread_mutex_unlock(&store.lock);
	fuse_reply_attr(req, &st, 0);
}

static void set_times(struct stat *st, const struct stat *attr, int to_set)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (to_set & FUSE_SET_ATTR_ATIME)
		st->st_atim = to_set & FUSE_SET_ATTR_ATIME_NOW ? now : attr->st_atim;
	if (to_set & FUSE_SET_ATTR_MTIME)
		st->st_mtim = to_set & FUSE_SET_ATTR_MTIME_NOW ? now : attr->st_mtim;
}

static void f_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	struct node *n = begin(req, ino);
	struct stat *st, now;
	int err;

	if (!n)
		return;
	st = &n->is[LIVE];
	if (to_set & FUSE_SET_ATTR_SIZE) {
		err = resize(n, attr->st_size);
		if (err) {
			end(req, err);
			return;
		}
		touch(n, true);
	}
	touch(n, false);
	if (to_set & FUSE_SET_ATTR_MODE)
		st->st_mode = (st->st_mode & S_IFMT) | (attr->st_mode & 07777);
	if (to_set & FUSE_SET_ATTR_UID)
		st->st_uid = attr->st_uid;
	if (to_set & FUSE_SET_ATTR_GID)
		st->st_gid = attr->st_gid;
	set_times(st, attr, to_set);
	now = stat_of(n);
	pthread_mutex_unlock(&store.lock);
	fuse_reply_attr(req, &now, 0);
}

/* Makes a node; the lock is held if the result is not NULL. */
static struct node *make(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	const struct fuse_ctx *who = fuse_req_ctx(req);
	struct node *dir = begin(req, parent), *n;

	if (!dir)
		return NULL;
	if (entry_find(dir, name) || strlen(name) > 255) {
		end(req, strlen(name) > 255 ? ENAMETOOLONG : EEXIST);
		return NULL;
	}
	n = node_new(dir, mode, who->uid, who->gid);
	entry_add(dir, name, n);
	return n;
}

static void f_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
	struct node *n = make(req, parent, name, mode);

	if (!n)
		return;
	n->is[LIVE].st_rdev = n->is[KEPT].st_rdev = dev;
	end_entry(req, n, NULL);
}

static void f_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct node *n = make(req, parent, name, mode | S_IFDIR);

	if (n)
		end_entry(req, n, NULL);
}

static void f_create(
	fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct node *n = make(req, parent, name, mode | S_IFREG);

	if (n)
		end_entry(req, n, fi);
}

static void f_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct node *n = make(req, parent, name, S_IFLNK | 0777);

	if (!n)
		return;
	n->target = strdup(target);
	n->is[LIVE].st_size = n->is[KEPT].st_size = (off_t)strlen(target);
	end_entry(req, n, NULL);
}

static void f_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct node *n = begin(req, ino);
	char *target;

	if (!n)
		return;
	target = strdup(n->target ? n->target : "");
	pthread_mutex_unlock(&store.lock);
	fuse_reply_readlink(req, target);
	free(target);
}

static void f_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	struct node *dir = begin(req, parent), *n;

	if (!dir)
		return;
	n = node_find(ino);
	if (!n || entry_find(dir, name)) {
		end(req, n ? EEXIST : ESTALE);
		return;
	}
	entry_add(dir, name, n);
	touch(n, false);
	end_entry(req, n, NULL);
}

static void remove_name(fuse_req_t req, fuse_ino_t parent, const char *name, bool want_dir)
{
	struct node *dir = begin(req, parent);
	struct entry *e;
	int err = 0;

	if (!dir)
		return;
	e = entry_find(dir, name);
	if (!e)
		err = ENOENT;
	else if (S_ISDIR(e->node->is[LIVE].st_mode) != want_dir)
		err = want_dir ? ENOTDIR : EISDIR;
	else if (want_dir && !is_empty(e->node))
		err = ENOTEMPTY;
	else
		entry_drop(dir, e);
	end(req, err);
}

static void f_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	remove_name(req, parent, name, false);
}

static void f_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	remove_name(req, parent, name, true);
}

static void f_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
	const char *newname, unsigned flags)
{
	struct node *from = begin(req, parent), *to, *n;
	struct entry *e, *old;

	if (!from)
		return;
	to = node_find(newparent);
	e = entry_find(from, name);
	old = to ? entry_find(to, newname) : NULL;
	if (!to || !e || flags & ~1u || (old && flags)) {
		end(req, !to ? ESTALE : !e ? ENOENT : old ? EEXIST : EINVAL);
		return;
	}
	if (old && !is_empty(old->node)) {
		end(req, ENOTEMPTY);
		return;
	}
	if (old)
		entry_drop(to, old);
	n = e->node;
	entry_add(to, newname, n); /* first: n must never be without a name */
	entry_drop(from, e);
	end(req, 0);
}

static void f_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct node *n = begin(req, ino);
	int err = 0;

	if (!n)
		return;
	if (fi->flags & O_TRUNC) {
		err = resize(n, 0);
		touch(n, true);
	}
	pthread_mutex_unlock(&store.lock);
	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_open(req, fi);
}

static void f_read(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct node *n = begin(req, ino);
	size_t done = 0, piece;
	char *buf;

	if (!n)
		return;
	if (off >= n->is[LIVE].st_size)
		size = 0;
	else if ((off_t)size > n->is[LIVE].st_size - off)
		size = (size_t)(n->is[LIVE].st_size - off);
	buf = calloc(1, size + 1);
	for (; buf && done < size; done += piece, off += piece) {
		const struct block *b = n->content[LIVE].blocks[off / BLOCK];

		piece = piece_at(off, size - done);
		if (b)
			memcpy(buf + done, b->data + off % BLOCK, piece);
	}
	pthread_mutex_unlock(&store.lock);
	if (buf)
		fuse_reply_buf(req, buf, size);
	else
		fuse_reply_err(req, ENOMEM);
	free(buf);
}

static void f_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct node *n = begin(req, ino);
	size_t done = 0, piece;
	off_t before;
	int err = 0;

	if (!n)
		return;
	before = n->is[LIVE].st_size;
	if (off + (off_t)size > before)
		err = resize(n, off + (off_t)size);
	for (; !err && done < size; done += piece, off += piece) {
		struct block *b = content_own(&n->content[LIVE], (uint32_t)(off / BLOCK));

		piece = piece_at(off, size - done);
		if (!b)
			break;
		memcpy(b->data + off % BLOCK, buf + done, piece);
	}
	if (done < size && n->is[LIVE].st_size > before)
		resize(n, off > before ? off : before);
	touch(n, true);
	pthread_mutex_unlock(&store.lock);
	if (done || !size)
		fuse_reply_write(req, done);
	else
		fuse_reply_err(req, err ? err : ENOSPC);
}

static void f_ok(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fuse_reply_err(req, 0);
}

static void f_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct node *n;
	int err = ESTALE;

	pthread_mutex_lock(&store.lock);
	waiting++;
	while (holding)
		pthread_cond_wait(&released, &store.lock);
	waiting--;
	n = node_find(ino);
	if (n)
		err = S_ISDIR(n->is[LIVE].st_mode) ? sync_dir(n) : sync_file(n, datasync);
	end(req, err);
}

static void f_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct node *dir = begin(req, ino);
	char *buf = malloc(size);
	size_t used = 0, need;
	struct entry *e;

	if (!dir) {
		free(buf);
		return;
	}
	if (!buf)
		abort();
	TAILQ_FOREACH (e, &dir->entries, link) {
		if (!e->is[LIVE] || e->off <= off)
			continue;
		need = fuse_add_direntry(
			req, buf + used, size - used, e->name, &e->node->is[LIVE], e->off);
		if (need > size - used)
			break;
		used += need;
	}
	pthread_mutex_unlock(&store.lock);
	fuse_reply_buf(req, buf, used);
	free(buf);
}

static void f_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs s = {.f_bsize = BLOCK, .f_frsize = BLOCK, .f_namemax = 255};

	pthread_mutex_lock(&store.lock);
	s.f_blocks = store.max_blocks ? store.max_blocks : MAX_BLOCKS;
	s.f_bfree = s.f_bavail = s.f_blocks > store.nblocks ? s.f_blocks - store.nblocks : 0;
	s.f_files = s.f_ffree = s.f_favail = MAX_BLOCKS;
	pthread_mutex_unlock(&store.lock);
	fuse_reply_statfs(req, &s);
}

static struct xattr *xattr_find(struct node *n, const char *name)
{
	struct xattr *x;

	LIST_FOREACH (x, &n->xattrs, link)
		if (strcmp(x->name, name) == 0)
			return x;
	return NULL;
}

static void f_setxattr(
	fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
	struct node *n;
	struct xattr *x;
	char word[64];
	bool there;

	if (ino == FUSE_ROOT_ID && strcmp(name, CONTROL) == 0) {
		snprintf(word, sizeof(word), "%.*s", (int)size, value);
		fuse_reply_err(req, command(word));
		return;
	}
	if (strncmp(name, "user.", 5) != 0) {
		fuse_reply_err(req, EOPNOTSUPP);
		return;
	}
	n = begin(req, ino);
	if (!n)
		return;
	x = xattr_find(n, name);
	there = x && x->is[LIVE].there;
	if ((flags & XATTR_CREATE && there) || (flags & XATTR_REPLACE && !there)) {
		end(req, there ? EEXIST : ENODATA);
		return;
	}
	if (!x) {
		x = calloc(1, sizeof(*x) + strlen(name) + 1);
		if (!x)
			abort();
		strcpy(x->name, name);
		LIST_INSERT_HEAD(&n->xattrs, x, link);
	}
	xattr_value(&x->is[LIVE], true, value, size);
	touch(n, false);
	end(req, 0);
}

/* Answers a value of n bytes to a caller with room for size, or tells the needed size (0). */
static void reply_value(fuse_req_t req, const char *data, size_t n, size_t size)
{
	if (size == 0)
		fuse_reply_xattr(req, n);
	else if (n > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, data, n);
}

static void f_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct node *n = begin(req, ino);
	struct xattr *x;
	char now[96];

	if (!n)
		return;
	x = xattr_find(n, name);
	if (ino == FUSE_ROOT_ID && strcmp(name, CONTROL) == 0) {
		snprintf(now, sizeof(now), "files=%u dirs=%u waiting=%u", store.syncs_of_files,
			store.syncs_of_dirs, waiting);
		reply_value(req, now, strlen(now), size);
	} else if (x && x->is[LIVE].there) {
		reply_value(req, x->is[LIVE].data, x->is[LIVE].len, size);
	} else {
		fuse_reply_err(req, ENODATA);
	}
	pthread_mutex_unlock(&store.lock);
}

static void f_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct node *n = begin(req, ino);
	char names[4096];
	struct xattr *x;
	size_t used = 0;

	if (!n)
		return;
	LIST_FOREACH (x, &n->xattrs, link) {
		size_t len = strlen(x->name) + 1;

		if (!x->is[LIVE].there || len > sizeof(names) - used)
			continue;
		memcpy(names + used, x->name, len);
		used += len;
	}
	pthread_mutex_unlock(&store.lock);
	reply_value(req, names, used, size);
}

static void f_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct node *n = begin(req, ino);
	struct xattr *x;

	if (!n)
		return;
	x = xattr_find(n, name);
	if (!x || !x->is[LIVE].there) {
		end(req, ENODATA);
		return;
	}
	xattr_value(&x->is[LIVE], false, NULL, 0);
	touch(n, false);
	end(req, 0);
}

static const struct fuse_lowlevel_ops ops = {
	.init = f_init,
	.lookup = f_lookup,
	.forget = f_forget,
	.forget_multi = f_forget_multi,
	.getattr = f_getattr,
	.setattr = f_setattr,
	.mknod = f_mknod,
	.mkdir = f_mkdir,
	.create = f_create,
	.symlink = f_symlink,
	.readlink = f_readlink,
	.link = f_link,
	.unlink = f_unlink,
	.rmdir = f_rmdir,
	.rename = f_rename,
	.open = f_open,
	.read = f_read,
	.write = f_write,
	.release = f_ok,
	.fsync = f_fsync,
	.opendir = f_open,
	.readdir = f_readdir,
	.releasedir = f_ok,
	.fsyncdir = f_fsync,
	.statfs = f_statfs,
	.setxattr = f_setxattr,
	.getxattr = f_getxattr,
	.listxattr = f_listxattr,
	.removexattr = f_removexattr,
};

static int tell(const char *dir, const char *word)
{
	char now[96];
	ssize_t n;

	if (strcmp(word, "show") == 0) {
		n = getxattr(dir, CONTROL, now, sizeof(now));
		if (n >= 0)
			printf("%.*s\n", (int)n, now);
	} else {
		n = setxattr(dir, CONTROL, word, strlen(word), 0);
	}
	if (n < 0)
		fprintf(stderr, "forgetfs: %s: %s: %s\n", dir, word, strerror(errno));
	return n < 0;
}

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_loop_config *loop;
	struct fuse_session *se;
	struct stat st;
	int ret = 0;

	if (argc < 2 || stat(argv[1], &st) < 0) {
		fprintf(stderr, "usage: forgetfs DIRECTORY [cut | fail=ERRNO | hold | release | "
				"size=BYTES | show]...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		ret |= tell(argv[1], argv[i]);
	if (argc > 2)
		return ret;
	fuse_opt_add_arg(&args, "forgetfs");
	fuse_opt_add_arg(&args, geteuid() == 0 ? "-odefault_permissions,allow_other,fsname=forgetfs"
					       : "-odefault_permissions,fsname=forgetfs");
	keep_attributes(node_new(NULL, st.st_mode, st.st_uid, st.st_gid));
	se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!se || fuse_set_signal_handlers(se) || fuse_session_mount(se, argv[1]) ||
		fuse_daemonize(0))
		return 1;
	loop = fuse_loop_cfg_create();
	fuse_loop_cfg_set_max_threads(loop, 64); /* each held sync needs one */
	ret = fuse_session_loop_mt(se, loop);
	fuse_session_unmount(se);
	fuse_remove_signal_handlers(se);
	fuse_session_destroy(se);
	fuse_loop_cfg_destroy(loop);
	fuse_opt_free_args(&args);
	return ret != 0;
}

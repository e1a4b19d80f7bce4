/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names: the calls of libc on names of the simulated disk.
 */
#undef _FILE_OFFSET_BITS
#include "tests/simulation/names.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/acls.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/sched.h"

#define REAL(fn)   ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))
#define LINKS_MOST 65000

static int ends(ssize_t res)
{
	if (res >= 0)
		return (int)res;
	errno = (int)-res;
	return -1;
}

/* --- making ----------------------------------------------------------------------------------- */

int names_inode(struct inode *dir, mode_t mode, struct inode **out)
{
	bool by_dir = dir->a.mode & S_ISGID;
	gid_t gid = by_dir ? dir->a.gid : caller_gid();
	struct inode *i;

	if (dir->a.nlink == 0)
		return -ENOENT;
	if (!caller_may(dir, W_OK | X_OK))
		return -EACCES;
	if (inode_free == 0 && !journal_makes_room())
		return -ENOSPC;
	if (by_dir && S_ISDIR(mode))
		mode |= S_ISGID;
	else if (by_dir && (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
		 !caller_is_root() && !caller_in_group(gid))
		mode &= ~(mode_t)S_ISGID;
	i = inode_new(mode, caller_uid(), gid);
	if (!i)
		return -ENOSPC;
	if (!S_ISLNK(mode) && !acls_inherit(dir, i))
		i->a.mode &= ~caller_umask();
	*out = i;
	return 0;
}

int names_make(struct place *p, mode_t mode, dev_t rdev, struct inode **out)
{
	int r = names_inode(p->dir, mode, out);

	if (r < 0)
		return r;
	(*out)->rdev = rdev;
	journal_begin();
	paths_add(p, *out);
	return 0;
}

/* A place for a new name. */
static int find_free(int dirfd, const char *path, bool dir, struct place *p)
{
	int r = paths_find(dirfd, path, PATHS_NEW, p);

	if (r < 0)
		return r;
	if (p->at)
		return -EEXIST;
	return p->slash && !dir ? -ENOENT : 0;
}

int mkdirat(int dirfd, const char *path, mode_t mode)
{
	struct inode *i;
	struct place p;
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(mkdirat)(dirfd, path, mode);
	sched_point();
	r = find_free(dirfd, path, true, &p);
	if (r == 0 && p.dir->a.nlink >= LINKS_MOST)
		r = -EMLINK;
	return ends(r < 0 ? r : names_make(&p, S_IFDIR | (mode & 01777), 0, &i));
}

int mkdir(const char *path, mode_t mode)
{
	return paths_ours(AT_FDCWD, path) ? mkdirat(AT_FDCWD, path, mode) : REAL(mkdir)(path, mode);
}

int mknodat(int dirfd, const char *path, mode_t mode, dev_t dev)
{
	mode_t type = mode & S_IFMT ? mode & S_IFMT : S_IFREG;
	bool device = type == S_IFCHR || type == S_IFBLK;
	struct inode *i;
	struct place p;
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(mknodat)(dirfd, path, mode, dev);
	sched_point();
	if (type == S_IFDIR)
		return ends(-EPERM);
	if (!device && type != S_IFREG && type != S_IFIFO && type != S_IFSOCK)
		return ends(-EINVAL);
	r = find_free(dirfd, path, false, &p);
	if (r == 0 && device && caller_may(p.dir, W_OK | X_OK) && !caller_is_root())
		r = -EPERM;
	return ends(r < 0 ? r : names_make(&p, type | (mode & 07777), device ? dev : 0, &i));
}

int symlinkat(const char *target, int dirfd, const char *path)
{
	struct inode *i;
	struct place p;
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(symlinkat)(target, dirfd, path);
	sched_point();
	if (!*target)
		return ends(-ENOENT);
	if (strlen(target) >= INODE_BLOCK)
		return ends(-ENAMETOOLONG);
	r = find_free(dirfd, path, false, &p);
	if (r == 0)
		r = names_make(&p, S_IFLNK | 0777, 0, &i);
	if (r < 0)
		return ends(r);
	i->target = strdup(target);
	i->a.size = (off_t)strlen(target);
	return 0;
}

int symlink(const char *target, const char *path)
{
	return paths_ours(AT_FDCWD, path) ? symlinkat(target, AT_FDCWD, path)
					  : REAL(symlink)(target, path);
}

/* As with fs.protected_hardlinks, which is usual. */
static bool may_link(const struct inode *i)
{
	return caller_owns(i) || (S_ISREG(i->a.mode) && !(i->a.mode & S_ISUID) &&
					 (i->a.mode & (S_ISGID | S_IXGRP)) != (S_ISGID | S_IXGRP) &&
					 caller_may(i, R_OK | W_OK));
}

static int make_link(struct place *from, struct place *to)
{
	if (!may_link(from->at))
		return -EPERM;
	if (to->dir->a.nlink == 0)
		return -ENOENT;
	if (!caller_may(to->dir, W_OK | X_OK))
		return -EACCES;
	if (S_ISDIR(from->at->a.mode))
		return -EPERM;
	if (from->at->a.nlink == 0 && !from->at->linkable)
		return -ENOENT;
	if (from->at->a.nlink >= LINKS_MOST)
		return -EMLINK;
	from->at->linkable = false;
	journal_begin();
	paths_add(to, from->at);
	return 0;
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	int how = (flags & AT_SYMLINK_FOLLOW ? PATHS_FOLLOW : 0) |
		  (flags & AT_EMPTY_PATH ? PATHS_EMPTY : 0);
	struct place f, t;
	int r;

	if (!paths_ours(from_fd, from) && !paths_ours(to_fd, to))
		return REAL(linkat)(from_fd, from, to_fd, to, flags);
	if (!paths_ours(from_fd, from) || !paths_ours(to_fd, to))
		return ends(-EXDEV);
	sched_point();
	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return ends(-EINVAL);
	if (!*from && !caller_is_root())
		return ends(-ENOENT);
	r = paths_find(from_fd, from, how, &f);
	if (r == 0 && f.magic && *from && !(flags & AT_SYMLINK_FOLLOW))
		r = -EXDEV; /* the link in /proc itself */
	if (r == 0 && !f.at)
		r = -ENOENT;
	if (r == 0)
		r = find_free(to_fd, to, false, &t);
	return ends(r < 0 ? r : make_link(&f, &t));
}

int link(const char *from, const char *to)
{
	if (!paths_ours(AT_FDCWD, from) && !paths_ours(AT_FDCWD, to))
		return REAL(link)(from, to);
	return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* --- removing --------------------------------------------------------------------------------- */

static int may_remove(const struct inode *dir, const struct inode *i)
{
	if (!caller_may(dir, W_OK | X_OK))
		return -EACCES;
	if (dir->a.mode & S_ISVTX && !caller_is_root() && caller_uid() != dir->a.uid &&
		caller_uid() != i->a.uid)
		return -EPERM;
	return 0;
}

/* i has one link fewer: a name of i was removed, or is about to be. */
static void lose_link(struct inode *i, struct timespec now)
{
	journal_attrs(i);
	i->a.nlink -= S_ISDIR(i->a.mode) ? 2 : 1;
	i->a.ctime = now;
}

static void remove_name(const struct place *p)
{
	struct inode *dir = p->dir, *i = inode_use(p->at);
	struct timespec now = disk_now();

	journal_begin();
	journal_attrs(dir);
	journal_name(dir, p->name);
	lose_link(i, now);
	inode_set_name(dir, p->name, NULL);
	sched_event("the disk removes %s from inode %llu", p->name, (unsigned long long)dir->ino);
	dir->a.nlink -= S_ISDIR(i->a.mode);
	dir->a.mtime = dir->a.ctime = now;
	inode_drop(i);
}

static int find_to_remove(int dirfd, const char *path, bool dir, struct place *p)
{
	int r = paths_find(dirfd, path, PATHS_NEW, p);

	if (r < 0)
		return r;
	if (p->at && !p->dir) {
		if (!dir)
			return -EISDIR;
		return !p->dots ? -EBUSY : strcmp(p->name, ".") == 0 ? -EINVAL : -ENOTEMPTY;
	}
	if (!p->at)
		return -ENOENT;
	if (p->slash && !dir)
		return S_ISDIR(p->at->a.mode) ? -EISDIR : -ENOTDIR;
	r = may_remove(p->dir, p->at);
	if (r < 0)
		return r;
	if (S_ISDIR(p->at->a.mode) != dir)
		return dir ? -ENOTDIR : -EISDIR;
	return dir && p->at->nentries ? -ENOTEMPTY : 0;
}

int unlinkat(int dirfd, const char *path, int flags)
{
	struct place p;
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(unlinkat)(dirfd, path, flags);
	sched_point();
	if (flags & ~AT_REMOVEDIR)
		return ends(-EINVAL);
	r = find_to_remove(dirfd, path, flags & AT_REMOVEDIR, &p);
	if (r == 0)
		remove_name(&p);
	return ends(r);
}

int unlink(const char *path)
{
	return paths_ours(AT_FDCWD, path) ? unlinkat(AT_FDCWD, path, 0) : REAL(unlink)(path);
}

int rmdir(const char *path)
{
	return paths_ours(AT_FDCWD, path) ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR)
					  : REAL(rmdir)(path);
}

int remove(const char *path)
{
	if (!paths_ours(AT_FDCWD, path))
		return REAL(remove)(path);
	if (unlink(path) == 0)
		return 0;
	return errno == EISDIR ? rmdir(path) : -1;
}

/* --- moving ----------------------------------------------------------------------------------- */

/* Is a the directory b, or one above it? */
static bool is_above(const struct inode *a, const struct inode *b)
{
	for (;; b = b->a.parent) {
		if (a == b)
			return true;
		if (b->ino == INODE_ROOT || b->a.nlink == 0)
			return false;
	}
}

static int may_rename(const struct place *f, const struct place *t, unsigned flags)
{
	bool dir = S_ISDIR(f->at->a.mode), exchange = flags & RENAME_EXCHANGE;
	int r = may_remove(f->dir, f->at);

	if (r == 0 && t->at)
		r = may_remove(t->dir, t->at);
	else if (r == 0 && !caller_may(t->dir, W_OK | X_OK))
		r = -EACCES;
	if (r < 0)
		return r;
	if (!t->at && t->dir->a.nlink == 0)
		return -ENOENT;
	if (t->at && !exchange && dir != S_ISDIR(t->at->a.mode))
		return dir ? -ENOTDIR : -EISDIR;
	if (dir && f->dir != t->dir && !caller_may(f->at, W_OK))
		return -EACCES;
	if (exchange && S_ISDIR(t->at->a.mode) && f->dir != t->dir && !caller_may(t->at, W_OK))
		return -EACCES;
	if (t->at && !exchange && S_ISDIR(t->at->a.mode) && t->at->nentries)
		return -ENOTEMPTY;
	return 0;
}

/* i is in `to` from now on, and no more in `from`. */
static void change_parent(struct inode *i, struct inode *from, struct inode *to)
{
	if (!S_ISDIR(i->a.mode) || from == to)
		return;
	i->a.parent = to;
	from->a.nlink--;
	to->a.nlink++;
}

static void move(const struct place *f, const struct place *t, unsigned flags)
{
	struct inode *i = inode_use(f->at), *old = t->at ? inode_use(t->at) : NULL;
	struct timespec now = disk_now();

	journal_begin();
	journal_attrs(f->dir);
	journal_attrs(t->dir);
	journal_attrs(i);
	journal_name(f->dir, f->name);
	journal_name(t->dir, t->name);
	sched_event("the disk moves %s of inode %llu to %s of inode %llu", f->name,
		(unsigned long long)f->dir->ino, t->name, (unsigned long long)t->dir->ino);
	i->a.ctime = now;
	if (flags & RENAME_EXCHANGE) {
		journal_attrs(old);
		old->a.ctime = now;
		inode_set_name(f->dir, f->name, old);
		change_parent(old, t->dir, f->dir);
	} else {
		if (old) {
			lose_link(old, now);
			t->dir->a.nlink -= S_ISDIR(old->a.mode);
		}
		inode_set_name(f->dir, f->name, NULL);
	}
	inode_set_name(t->dir, t->name, i);
	change_parent(i, f->dir, t->dir);
	f->dir->a.mtime = f->dir->a.ctime = t->dir->a.mtime = t->dir->a.ctime = now;
	inode_drop(old);
	inode_drop(i);
}

static int rename_found(const struct place *f, const struct place *t, unsigned flags)
{
	int r;

	if (!f->dir)
		return -EBUSY;
	if (!t->dir)
		return flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	if (!f->at)
		return -ENOENT;
	if (t->at && flags & RENAME_NOREPLACE)
		return -EEXIST;
	if (!t->at && flags & RENAME_EXCHANGE)
		return -ENOENT;
	if (flags & RENAME_EXCHANGE && t->slash && !S_ISDIR(t->at->a.mode))
		return -ENOTDIR;
	if (!S_ISDIR(f->at->a.mode) && (f->slash || (t->slash && !(flags & RENAME_EXCHANGE))))
		return -ENOTDIR;
	if (S_ISDIR(f->at->a.mode) && is_above(f->at, t->dir))
		return -EINVAL;
	if (t->at && S_ISDIR(t->at->a.mode) && is_above(t->at, f->dir))
		return flags & RENAME_EXCHANGE ? -EINVAL : -ENOTEMPTY;
	if (f->at == t->at)
		return 0;
	r = may_rename(f, t, flags);
	if (r == 0)
		move(f, t, flags);
	return r;
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	struct place f, t;
	int r;

	if (!paths_ours(from_fd, from) && !paths_ours(to_fd, to))
		return REAL(renameat2)(from_fd, from, to_fd, to, flags);
	if (!paths_ours(from_fd, from) || !paths_ours(to_fd, to))
		return ends(-EXDEV);
	sched_point();
	if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE) ||
		flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
		return ends(-EINVAL);
	r = paths_find(from_fd, from, PATHS_NEW, &f);
	if (r == 0)
		r = paths_find(to_fd, to, PATHS_NEW, &t);
	return ends(r < 0 ? r : rename_found(&f, &t, flags));
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (!paths_ours(from_fd, from) && !paths_ours(to_fd, to))
		return REAL(renameat)(from_fd, from, to_fd, to);
	return renameat2(from_fd, from, to_fd, to, 0);
}

int rename(const char *from, const char *to)
{
	if (!paths_ours(AT_FDCWD, from) && !paths_ours(AT_FDCWD, to))
		return REAL(rename)(from, to);
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* --- links that are read ---------------------------------------------------------------------- */

static ssize_t read_link(int dirfd, const char *path, char *buf, size_t size)
{
	char name[PATH_MAX];
	const char *target;
	struct place p;
	int r = paths_find(dirfd, path, PATHS_EMPTY, &p);
	size_t n;

	if (r == 0 && !p.at)
		r = -ENOENT;
	if (r == 0 && p.magic && *path)
		r = paths_name(p.at, name, sizeof(name));
	else if (r == 0 && !p.at->target)
		r = *path ? -EINVAL : -ENOENT;
	if (r < 0)
		return r;
	target = p.magic && *path ? name : p.at->target;
	n = strlen(target);
	n = n < size ? n : size;
	memcpy(buf, target, n);
	return (ssize_t)n;
}

ssize_t readlinkat(int dirfd, const char *path, char *buf, size_t size)
{
	if (!paths_ours(dirfd, path))
		return REAL(readlinkat)(dirfd, path, buf, size);
	sched_point();
	return ends(read_link(dirfd, path, buf, size));
}

ssize_t readlink(const char *path, char *buf, size_t size)
{
	return paths_ours(AT_FDCWD, path) ? readlinkat(AT_FDCWD, path, buf, size)
					  : REAL(readlink)(path, buf, size);
}

char *realpath(const char *path, char *resolved)
{
	char *buf = resolved;
	struct place p;
	int r;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(realpath)(path, resolved);
	sched_point();
	r = paths_find(AT_FDCWD, path, PATHS_FOLLOW, &p);
	if (r == 0 && !p.at)
		r = -ENOENT;
	if (r == 0 && !buf)
		buf = malloc(PATH_MAX);
	if (r == 0)
		r = buf ? paths_name(p.at, buf, PATH_MAX) : -ENOMEM;
	if (r < 0) {
		if (!resolved)
			free(buf);
		ends(r);
		return NULL;
	}
	return buf;
}

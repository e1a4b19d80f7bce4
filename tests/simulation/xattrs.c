/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * xattrs: the calls of libc on extended attributes of the simulated disk. libacl's functions come
 * here, too: they call these, and a symbol of the program goes before one of libc.
 */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/simulation/acls.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/paths.h"
#include "tests/simulation/sched.h"

#define REAL(fn)   ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))
#define NAME_MOST  255
#define VALUE_MOST 65536
#define ROOM	   65536 /* of an inode's */

static ssize_t ends(ssize_t res)
{
	if (res >= 0)
		return res;
	errno = (int)-res;
	return -1;
}

static int find(const char *path, int flags, struct inode **i)
{
	struct place p;
	int r;

	sched_point();
	r = paths_find(AT_FDCWD, path, flags, &p);
	if (r == 0 && !p.at)
		r = -ENOENT;
	*i = p.at;
	return r;
}

static int find_open(int fd, struct inode **i)
{
	const struct file *f = paths_file(fd);

	sched_point();
	if (!f || f->flags & O_PATH)
		return -EBADF;
	*i = f->inode;
	return 0;
}

static bool begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_acl(const char *name)
{
	return strcmp(name, ACLS_ACCESS) == 0 || strcmp(name, ACLS_DEFAULT) == 0;
}

/* 0, or why the caller cannot have it. */
static int may(const struct inode *i, const char *name, bool write)
{
	size_t len = strlen(name);

	if (len == 0 || len > NAME_MOST)
		return -ERANGE;
	if (is_acl(name)) /* acls_set() looks at the owner */
		return S_ISLNK(i->a.mode) ? -EOPNOTSUPP : 0;
	if (begins(name, "trusted."))
		return caller_is_root() ? 0 : write ? -EPERM : -ENODATA;
	if (begins(name, "security."))
		return write && !caller_is_root() ? -EPERM : 0;
	if (!begins(name, "user."))
		return -EOPNOTSUPP;
	if (!S_ISREG(i->a.mode) && !S_ISDIR(i->a.mode))
		return write ? -EPERM : -ENODATA;
	if (!name[5])
		return -EINVAL;
	if (write && S_ISDIR(i->a.mode) && i->a.mode & S_ISVTX && !caller_owns(i))
		return -EPERM;
	return caller_may(i, write ? W_OK : R_OK) ? 0 : -EACCES;
}

static ssize_t get(int r, struct inode *const *at, const char *name, void *value, size_t size)
{
	const struct inode *i = *at;
	const struct xattr *x;

	if (r == 0)
		r = may(i, name, false);
	if (r < 0)
		return r;
	x = inode_xattr(i, name);
	if (!x)
		return -ENODATA;
	if (size && size < x->len)
		return -ERANGE;
	if (size)
		memcpy(value, x->value, x->len);
	return (ssize_t)x->len;
}

static size_t used(const struct inode *i)
{
	size_t n = 0;

	for (size_t k = 0; k < i->nxattrs; k++)
		n += strlen(i->xattr[k].name) + i->xattr[k].len + 16;
	return n;
}

static int set(
	int r, struct inode *const *at, const char *name, const void *value, size_t len, int flags)
{
	struct inode *i = *at;
	const struct xattr *x;

	if (r == 0 && flags & ~(XATTR_CREATE | XATTR_REPLACE))
		r = -EINVAL;
	if (r == 0 && (strlen(name) == 0 || strlen(name) > NAME_MOST))
		r = -ERANGE;
	if (r == 0 && len > VALUE_MOST)
		r = -E2BIG;
	if (r == 0)
		r = may(i, name, true);
	if (r < 0)
		return r;
	x = inode_xattr(i, name);
	if (!is_acl(name) && x && flags & XATTR_CREATE)
		return -EEXIST;
	if (!is_acl(name) && !x && flags & XATTR_REPLACE)
		return -ENODATA;
	if (used(i) - (x ? x->len : 0) + strlen(name) + len + 16 > ROOM || (inode_free == 0 && !x))
		return -ENOSPC;
	journal_begin();
	journal_attrs(i);
	journal_xattr(i, name);
	if (is_acl(name))
		r = acls_set(i, name, value, len);
	else
		inode_set_xattr(i, name, len ? value : "", len);
	if (r == 0)
		i->a.ctime = disk_now();
	return r;
}

static ssize_t list(int r, struct inode *const *at, char *names, size_t size)
{
	const struct inode *i = *at;
	size_t len = 0;

	if (r < 0)
		return r;
	for (size_t k = 0; k < i->nxattrs; k++) {
		size_t n = strlen(i->xattr[k].name) + 1;

		if (begins(i->xattr[k].name, "trusted.") && !caller_is_root())
			continue;
		if (size && len + n > size)
			return -ERANGE;
		if (size)
			memcpy(names + len, i->xattr[k].name, n);
		len += n;
	}
	return (ssize_t)len;
}

static int unset(int r, struct inode *const *at, const char *name)
{
	struct inode *i = *at;

	if (r == 0)
		r = may(i, name, true);
	if (r < 0)
		return r;
	if (is_acl(name))
		return set(0, &i, name, NULL, 0, 0);
	if (!inode_xattr(i, name))
		return -ENODATA;
	journal_begin();
	journal_attrs(i);
	journal_xattr(i, name);
	inode_set_xattr(i, name, NULL, 0);
	i->a.ctime = disk_now();
	return 0;
}

/* --- by path, by a link itself, by descriptor ------------------------------------------------- */

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	struct inode *i = NULL;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(getxattr)(path, name, value, size);
	return ends(get(find(path, PATHS_FOLLOW, &i), &i, name, value, size));
}

ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	struct inode *i = NULL;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(lgetxattr)(path, name, value, size);
	return ends(get(find(path, 0, &i), &i, name, value, size));
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
	struct inode *i = NULL;

	if (!descriptor_is_ours(fd))
		return REAL(fgetxattr)(fd, name, value, size);
	return ends(get(find_open(fd, &i), &i, name, value, size));
}

int setxattr(const char *path, const char *name, const void *value, size_t len, int flags)
{
	struct inode *i = NULL;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(setxattr)(path, name, value, len, flags);
	return (int)ends(set(find(path, PATHS_FOLLOW, &i), &i, name, value, len, flags));
}

int lsetxattr(const char *path, const char *name, const void *value, size_t len, int flags)
{
	struct inode *i = NULL;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(lsetxattr)(path, name, value, len, flags);
	return (int)ends(set(find(path, 0, &i), &i, name, value, len, flags));
}

int fsetxattr(int fd, const char *name, const void *value, size_t len, int flags)
{
	struct inode *i = NULL;

	if (!descriptor_is_ours(fd))
		return REAL(fsetxattr)(fd, name, value, len, flags);
	return (int)ends(set(find_open(fd, &i), &i, name, value, len, flags));
}

ssize_t listxattr(const char *path, char *names, size_t size)
{
	struct inode *i = NULL;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(listxattr)(path, names, size);
	return ends(list(find(path, PATHS_FOLLOW, &i), &i, names, size));
}

ssize_t llistxattr(const char *path, char *names, size_t size)
{
	struct inode *i = NULL;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(llistxattr)(path, names, size);
	return ends(list(find(path, 0, &i), &i, names, size));
}

ssize_t flistxattr(int fd, char *names, size_t size)
{
	struct inode *i = NULL;

	if (!descriptor_is_ours(fd))
		return REAL(flistxattr)(fd, names, size);
	return ends(list(find_open(fd, &i), &i, names, size));
}

int removexattr(const char *path, const char *name)
{
	struct inode *i = NULL;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(removexattr)(path, name);
	return (int)ends(unset(find(path, PATHS_FOLLOW, &i), &i, name));
}

int lremovexattr(const char *path, const char *name)
{
	struct inode *i = NULL;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(lremovexattr)(path, name);
	return (int)ends(unset(find(path, 0, &i), &i, name));
}

int fremovexattr(int fd, const char *name)
{
	struct inode *i = NULL;

	if (!descriptor_is_ours(fd))
		return REAL(fremovexattr)(fd, name);
	return (int)ends(unset(find_open(fd, &i), &i, name));
}

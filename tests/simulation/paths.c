/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * paths: see paths.h.
 */
#include "tests/simulation/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/disk.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/sched.h"

#define LINKS_MAX 40

struct file *paths_file(int fd)
{
	const struct description *d = descriptor_get(fd);

	return d && d->ops == &paths_file_ops ? d->of : NULL;
}

/* The rest of path behind prefix, or NULL. */
static const char *behind(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(path, prefix, n) == 0 && (!path[n] || path[n] == '/') ? path + n : NULL;
}

/* Paths of the machine that are the disk's below /sim, in a run. The disk has none of those that
 * tell of memory: else the memory of the real machine would have a part in runs. */
static bool is_taken(const char *path)
{
	static const char *const all[] = {"/var/lib/rnfs", DISK_BOOT_ID, "/proc/self/cgroup",
		"/proc/pressure", "/proc/meminfo", "/sys/fs/cgroup"};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (behind(path, all[i]))
			return sched_on();
	return false;
}

/* A number of a simulated descriptor at s; *rest: behind it. -1: there is none. */
static int number(const char *s, const char **rest)
{
	char *end;
	long n;

	if (*s < '0' || *s > '9')
		return -1;
	n = strtol(s, &end, 10);
	if ((*end && *end != '/') || n > INT_MAX || !descriptor_is_ours((int)n))
		return -1;
	*rest = end;
	return (int)n;
}

/* The same of "/proc/self/fd/2000" and "/proc/17/fd/2000". */
static int proc_number(const char *path, const char **rest)
{
	const char *s = behind(path, "/proc");

	if (!s || !*s)
		return -1;
	s++;
	s += strcspn(s, "/");
	s = behind(s, "/fd");
	return s && *s ? number(s + 1, rest) : -1;
}

bool paths_ours(int dirfd, const char *path)
{
	const char *rest;

	if (!path || !*path)
		return descriptor_is_ours(dirfd);
	if (*path == '/')
		return behind(path, DISK_PREFIX) || proc_number(path, &rest) >= 0 || is_taken(path);
	if (dirfd != AT_FDCWD && !descriptor_is_ours(dirfd))
		return number(path, &rest) >= 0; /* dirfd is that of /proc/self/fd */
	return descriptor_is_ours(dirfd);
}

/* Where the path begins: *path is moved behind that. */
static int begin(int dirfd, const char **path, struct place *p)
{
	const char *rest = *path;
	const struct file *f;
	int fd = dirfd;

	*p = (struct place){0};
	if (*rest == '/' && behind(rest, DISK_PREFIX)) {
		p->at = inode_get(INODE_ROOT);
		*path = behind(rest, DISK_PREFIX);
		return p->at ? 0 : -ENOENT;
	}
	if (*rest == '/' && is_taken(rest)) {
		p->at = inode_get(INODE_ROOT);
		return p->at ? 0 : -ENOENT;
	}
	if (*rest == '/')
		fd = proc_number(rest, path);
	else if (dirfd != AT_FDCWD && !descriptor_is_ours(dirfd))
		fd = number(rest, path);
	p->magic = fd != dirfd || *rest == '/';
	if (!descriptor_get(fd))
		return p->magic ? -ENOENT : -EBADF;
	f = paths_file(fd);
	if (!f)
		return -ENOTDIR;
	p->at = f->inode;
	return 0;
}

static int step(struct place *p, const char *name, size_t len, bool as_root)
{
	struct inode *dir = p->at;
	const struct entry *e;

	if (!S_ISDIR(dir->a.mode))
		return -ENOTDIR;
	if (!as_root && !caller_may(dir, X_OK))
		return -EACCES;
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(p->name, name, len);
	p->name[len] = '\0';
	p->magic = false;
	p->dots = !strcmp(p->name, ".") || !strcmp(p->name, "..");
	if (p->dots) {
		if (dir->a.nlink == 0 && len == 2)
			return -ENOENT;
		p->at = len == 2 ? dir->a.parent : dir;
		p->dir = NULL;
		return 0;
	}
	e = inode_entry(dir, p->name);
	p->dir = dir;
	p->at = e ? e->inode : NULL;
	return 0;
}

static int walk(struct place *p, const char *path, int flags, unsigned *links);

static int follow(struct place *p, int flags, unsigned *links)
{
	const char *target = p->at->target;

	if (++*links > LINKS_MAX)
		return -ELOOP;
	if (target[0] == '/') {
		if (!behind(target, DISK_PREFIX))
			return -ENOENT; /* it leaves the disk */
		target = behind(target, DISK_PREFIX);
		p->at = inode_get(INODE_ROOT);
	} else {
		p->at = p->dir;
	}
	return walk(p, target, flags | PATHS_FOLLOW, links);
}

static int walk(struct place *p, const char *path, int flags, unsigned *links)
{
	p->slash = false;
	for (;;) {
		size_t n = strspn(path, "/"), len;
		bool last;
		int r;

		path += n;
		p->slash = n > 0;
		if (!*path)
			return 0;
		if (!p->at)
			return -ENOENT;
		len = strcspn(path, "/");
		last = !path[len + strspn(path + len, "/")];
		r = step(p, path, len, flags & PATHS_AS_ROOT);
		if (r < 0)
			return r;
		path += len;
		if (p->at && S_ISLNK(p->at->a.mode) && (!last || flags & PATHS_FOLLOW)) {
			r = follow(p, flags, links);
			if (r < 0)
				return r;
			if (last) {
				p->slash = p->slash || path[0];
				return 0;
			}
		}
	}
}

int paths_find(int dirfd, const char *path, int flags, struct place *p)
{
	const char *rest = path ? path : "";
	unsigned links = 0;
	int r;

	if (!*rest && !(flags & PATHS_EMPTY) && path)
		return -ENOENT;
	if (strlen(rest) >= PATH_MAX)
		return -ENAMETOOLONG;
	r = begin(dirfd, &rest, p);
	if (r < 0)
		return r;
	if (!*rest) {
		p->slash = false;
		return 0;
	}
	r = walk(p, rest, flags, &links);
	if (r == 0 && p->slash && p->at && !S_ISDIR(p->at->a.mode) && !(flags & PATHS_NEW)) {
		if (S_ISLNK(p->at->a.mode))
			r = follow(p, flags, &links);
		if (r == 0 && p->at && !S_ISDIR(p->at->a.mode))
			r = -ENOTDIR;
		p->slash = true;
	}
	return r;
}

void paths_add(const struct place *p, struct inode *i)
{
	struct timespec now = disk_now();

	journal_attrs(p->dir);
	journal_attrs(i);
	journal_name(p->dir, p->name);
	inode_set_name(p->dir, p->name, i);
	sched_event("the disk has %s in inode %llu: inode %llu", p->name,
		(unsigned long long)p->dir->ino, (unsigned long long)i->ino);
	if (S_ISDIR(i->a.mode)) {
		i->a.nlink = 2;
		i->a.parent = p->dir;
		p->dir->a.nlink++;
	} else {
		i->a.nlink++;
		i->a.ctime = now;
	}
	p->dir->a.mtime = p->dir->a.ctime = now;
}

/* The name of a directory, by its parent; of a file, by a search of all. */
static const struct inode *named, *holder;
static const char *found;

static void look(struct inode *dir)
{
	for (size_t k = 0; !found && k < dir->nentries; k++)
		if (dir->entry[k].inode == named) {
			found = dir->entry[k].name;
			holder = dir;
		}
}

int paths_name(const struct inode *i, char *buf, size_t size)
{
	char path[PATH_MAX] = "", longer[PATH_MAX + NAME_MAX + 2];
	bool gone = false;

	while (i->ino != INODE_ROOT) {
		named = i;
		found = NULL;
		inode_each(look);
		gone |= !found;
		if (!found)
			break;
		snprintf(longer, sizeof(longer), "/%s%s", found, path);
		if (strlen(longer) >= sizeof(path))
			return -ENAMETOOLONG;
		strcpy(path, longer);
		i = holder;
	}
	if ((size_t)snprintf(longer, sizeof(longer), DISK_PREFIX "%s%s", path,
		    gone ? "/#gone (deleted)" : "") >= size)
		return -ENAMETOOLONG;
	strcpy(buf, longer);
	return 0;
}

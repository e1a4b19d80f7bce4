/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel_names: names and attributes, and how long the kernel believes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/kernel_impl.h"
#include "tests/simulation/sched.h"

#define SECOND 1000000000ull

static uint64_t until(uint64_t s, uint32_t ns)
{
	uint64_t now = sched_now();

	return s > (UINT64_MAX - now) / SECOND - 1 ? UINT64_MAX : now + s * SECOND + ns;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static struct node *find(struct kernel *k, uint64_t id)
{
	struct node *n;

	LIST_FOREACH (n, &k->nodes, all)
		if (n->id == id)
			return n;
	return NULL;
}

static struct node *get(struct kernel *k, uint64_t id)
{
	struct node *n = find(k, id);

	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			abort();
		n->id = id;
		LIST_INSERT_HEAD(&k->nodes, n, all);
	}
	n->refs++;
	return n;
}

struct node *kernel_node_ref(struct node *n)
{
	n->refs++;
	return n;
}

void kernel_node_unref(struct kernel *k, struct node *n)
{
	if (!n || --n->refs)
		return;
	if (n->lookups && !k->gone)
		kernel_forget(k, n->id, n->lookups);
	LIST_REMOVE(n, all);
	free(n);
}

uint64_t kernel_lookups(const struct kernel *k)
{
	const struct node *n;
	uint64_t sum = 0;

	LIST_FOREACH (n, &k->nodes, all)
		sum += n->lookups;
	return sum;
}

/* --- attributes ------------------------------------------------------------------------------- */

uint64_t kernel_stamp(struct kernel *k)
{
	return k->stamp;
}

void kernel_take_attr(struct kernel *k, struct node *n, const struct fuse_attr *attr,
	uint64_t valid_s, uint32_t valid_ns, uint64_t asked)
{
	sched_event("kernel: node %llu: size %llu, %s", (unsigned long long)n->id,
		(unsigned long long)attr->size, n->attr_stamp > asked ? "too old" : "taken");
	if (n->attr_stamp > asked) /* fuse: attr_version, all versions */
		return;
	n->attr_stamp = ++k->stamp;
	n->attr = *attr;
	n->attr_until = until(valid_s, valid_ns);
}

/* --- names ------------------------------------------------------------------------------------ */

static struct dentry *known(struct kernel *k, uint64_t dir, const char *name)
{
	struct dentry *d;

	LIST_FOREACH (d, &k->dentries, all)
		if (d->dir == dir && !strcmp(d->name, name))
			return d;
	return NULL;
}

static void drop(struct kernel *k, struct dentry *d)
{
	LIST_REMOVE(d, all);
	kernel_node_unref(k, d->node);
	free(d);
}

void kernel_drop_name(struct kernel *k, uint64_t dir, const char *name)
{
	struct dentry *d = known(k, dir, name);

	if (d)
		drop(k, d);
}

static void believe(
	struct kernel *k, uint64_t dir, const char *name, struct node *n, uint64_t until_ns)
{
	struct dentry *d;

	kernel_drop_name(k, dir, name);
	d = calloc(1, sizeof(*d));
	if (!d)
		abort();
	d->dir = dir;
	d->until = until_ns;
	d->node = n ? kernel_node_ref(n) : NULL;
	strncpy(d->name, name, KERNEL_NAME_MAX);
	LIST_INSERT_HEAD(&k->dentries, d, all);
}

struct node *kernel_entry(struct kernel *k, uint64_t dir, const char *name,
	const struct fuse_entry_out *e, uint64_t asked)
{
	struct node *n = get(k, e->nodeid);

	n->lookups++;
	kernel_take_attr(k, n, &e->attr, e->attr_valid, e->attr_valid_nsec, asked);
	believe(k, dir, name, n, until(e->entry_valid, e->entry_valid_nsec));
	return n;
}

int kernel_lookup(struct kernel *k, struct node *dir, const char *name, struct node **out)
{
	struct iovec in = {(void *)name, strlen(name) + 1};
	struct dentry *d = known(k, dir->id, name);
	uint64_t asked = kernel_stamp(k);
	struct fuse_entry_out e;
	int error;

	sched_point();
	d = known(k, dir->id, name);
	if (d && d->until > sched_now()) {
		*out = d->node ? kernel_node_ref(d->node) : NULL;
		return d->node ? 0 : -ENOENT;
	}
	error = kernel_ask(k, FUSE_LOOKUP, dir->id, &in, 1, &e, sizeof(e), NULL);
	if (error || !e.nodeid) {
		if (!error)
			believe(k, dir->id, name, NULL, until(e.entry_valid, e.entry_valid_nsec));
		else
			kernel_drop_name(k, dir->id, name);
		return error ? error : -ENOENT;
	}
	*out = kernel_entry(k, dir->id, name, &e, asked);
	return 0;
}

int kernel_walk_to_dir(struct kernel *k, const char *path, struct node **dir, const char **last)
{
	struct node *at = get(k, FUSE_ROOT_ID), *next;
	char name[KERNEL_NAME_MAX + 1];
	const char *slash;
	int error;

	while ((slash = strchr(path, '/'))) {
		memcpy(name, path, (size_t)(slash - path));
		name[slash - path] = 0;
		error = kernel_lookup(k, at, name, &next);
		kernel_node_unref(k, at);
		if (error)
			return error;
		at = next;
		path = slash + 1;
	}
	*dir = at;
	*last = path;
	return 0;
}

int kernel_walk(struct kernel *k, const char *path, struct node **out)
{
	struct node *dir;
	const char *last;
	int error = kernel_walk_to_dir(k, path, &dir, &last);

	if (error)
		return error;
	if (!*last) {
		*out = dir;
		return 0;
	}
	error = kernel_lookup(k, dir, last, out);
	kernel_node_unref(k, dir);
	return error;
}

void kernel_drop_names(struct kernel *k)
{
	struct dentry *d;

	while ((d = LIST_FIRST(&k->dentries)))
		drop(k, d);
}

void kernel_free_names(struct kernel *k)
{
	struct node *n;

	while ((n = LIST_FIRST(&k->nodes))) {
		LIST_REMOVE(n, all);
		free(n);
	}
}

/* --- notifications ---------------------------------------------------------------------------- */

static ssize_t inval_inode(struct kernel *k, const struct fuse_notify_inval_inode_out *out)
{
	struct node *n = find(k, out->ino);

	if (!n)
		return -ENOENT;
	n->attr_until = 0;
	n->attr_stamp = ++k->stamp;
	return 0;
}

static ssize_t inval_entry(struct kernel *k, uint64_t dir, const char *name)
{
	if (!find(k, dir))
		return -ENOENT;
	if (!known(k, dir, name))
		return -ENOENT;
	kernel_drop_name(k, dir, name);
	return 0;
}

ssize_t kernel_notified(struct kernel *k, int code, const char *body, size_t len)
{
	const struct fuse_notify_inval_entry_out *entry = (const void *)body;
	ssize_t res = -EINVAL;

	sched_event("kernel: notification %d", code);
	if (code == FUSE_NOTIFY_INVAL_INODE && len == sizeof(struct fuse_notify_inval_inode_out))
		res = inval_inode(k, (const void *)body);
	else if (code == FUSE_NOTIFY_INVAL_ENTRY && len > sizeof(*entry) && !body[len - 1])
		res = inval_entry(k, entry->parent, body + sizeof(*entry));
	return res ? res : (ssize_t)(len + sizeof(struct fuse_out_header));
}

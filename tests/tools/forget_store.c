/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * forget_store: the objects of forgetfs.c.
 */
#include "forget_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUCKETS	 4096
#define ROOT_INO 1

struct store store = {.lock = PTHREAD_MUTEX_INITIALIZER};
static LIST_HEAD(, node) buckets[BUCKETS];
static uint64_t last_ino;
static off_t last_off;

/* --- contents ------------------------------------------------------------------------------------
 */

static void block_unref(struct block *b)
{
	if (b && --b->refs == 0) {
		free(b);
		store.nblocks--;
	}
}

static void content_resize(struct content *c, uint32_t n)
{
	for (uint32_t i = n; i < c->n; i++)
		block_unref(c->blocks[i]);
	c->blocks = reallocarray(c->blocks, n ? n : 1, sizeof(struct block *));
	if (!c->blocks)
		abort();
	for (uint32_t i = c->n; i < n; i++)
		c->blocks[i] = NULL;
	c->n = n;
}

/* Makes `to` equal to `from`; if sync, lost blocks keep their old content in `to`. */
static void content_copy(struct content *to, const struct content *from, bool sync)
{
	content_resize(to, from->n);
	for (uint32_t i = 0; i < from->n; i++) {
		struct block *b = from->blocks[i];

		if (sync && b && b->lost)
			continue;
		if (b)
			b->refs++;
		block_unref(to->blocks[i]);
		to->blocks[i] = b;
	}
}

size_t piece_at(off_t off, size_t size)
{
	size_t left = BLOCK - (size_t)off % BLOCK;

	return left < size ? left : size;
}

struct block *content_own(struct content *c, uint32_t i)
{
	struct block *old = c->blocks[i], *b;

	if (old && old->refs == 1) {
		old->lost = false;
		return old;
	}
	b = store.max_blocks && store.nblocks >= store.max_blocks ? NULL : calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	store.nblocks++;
	b->refs = 1;
	if (old)
		memcpy(b->data, old->data, BLOCK);
	block_unref(old);
	c->blocks[i] = b;
	return b;
}

int resize(struct node *n, off_t size)
{
	struct content *c = &n->content[LIVE];
	uint32_t want;
	struct block *b;

	if (size > (off_t)MAX_BLOCKS * BLOCK)
		return EFBIG;
	want = (uint32_t)((size + BLOCK - 1) / BLOCK);
	if (size < n->is[LIVE].st_size && size % BLOCK && want <= c->n && c->blocks[want - 1]) {
		b = content_own(c, want - 1);
		if (!b)
			return ENOSPC;
		memset(b->data + size % BLOCK, 0, BLOCK - size % BLOCK);
	}
	content_resize(c, want);
	n->is[LIVE].st_size = size;
	return 0;
}

/* --- nodes ---------------------------------------------------------------------------------------
 */

struct node *node_find(uint64_t ino)
{
	struct node *n;

	LIST_FOREACH (n, &buckets[ino % BUCKETS], hash)
		if (n->ino == ino)
			return n->gone ? NULL : n;
	return NULL;
}

void touch(struct node *n, bool data)
{
	clock_gettime(CLOCK_REALTIME, &n->is[LIVE].st_ctim);
	if (data)
		n->is[LIVE].st_mtim = n->is[LIVE].st_ctim;
}

struct node *node_new(struct node *parent, mode_t mode, uid_t uid, gid_t gid)
{
	struct node *n = calloc(1, sizeof(*n));
	struct stat *st;

	if (!n)
		abort();
	n->ino = ++last_ino;
	n->parent = parent;
	TAILQ_INIT(&n->entries);
	LIST_INIT(&n->xattrs);
	LIST_INSERT_HEAD(&buckets[n->ino % BUCKETS], n, hash);
	st = &n->is[LIVE];
	*st = (struct stat){.st_ino = n->ino, .st_mode = mode, .st_uid = uid, .st_gid = gid};
	st->st_blksize = BLOCK;
	if (parent && parent->is[LIVE].st_mode & S_ISGID) {
		st->st_gid = parent->is[LIVE].st_gid;
		st->st_mode |= S_ISDIR(mode) ? S_ISGID : 0;
	}
	st->st_nlink = S_ISDIR(mode) ? 1 : 0;
	touch(n, true);
	st->st_atim = st->st_mtim;
	return n;
}

void xattr_value(struct value *v, bool there, const void *data, size_t len)
{
	free(v->data);
	*v = (struct value){.there = there, .len = len, .data = malloc(len + 1)};
	if (!v->data)
		abort();
	memcpy(v->data, data ? data : "", len);
}

/* Frees a node that neither a name nor the kernel leads to. */
static void node_settle(struct node *n)
{
	struct xattr *x;

	if (n->nlookup || n->names || !n->parent || !TAILQ_EMPTY(&n->entries))
		return;
	while ((x = LIST_FIRST(&n->xattrs)) != NULL) {
		LIST_REMOVE(x, link);
		free(x->is[LIVE].data);
		free(x->is[KEPT].data);
		free(x);
	}
	for (int i = LIVE; i <= KEPT; i++) {
		content_resize(&n->content[i], 0);
		free(n->content[i].blocks);
	}
	LIST_REMOVE(n, hash);
	free(n->target);
	free(n);
}

struct entry *entry_find(struct node *dir, const char *name)
{
	struct entry *e;

	TAILQ_FOREACH (e, &dir->entries, link)
		if (e->is[LIVE] && strcmp(e->name, name) == 0)
			return e;
	return NULL;
}

void entry_add(struct node *dir, const char *name, struct node *n)
{
	struct entry *e = calloc(1, sizeof(*e) + strlen(name) + 1);

	if (!e)
		abort();
	strcpy(e->name, name);
	e->off = ++last_off;
	e->is[LIVE] = true;
	e->node = n;
	n->names++;
	n->is[LIVE].st_nlink++;
	if (S_ISDIR(n->is[LIVE].st_mode)) {
		n->parent = dir;
		dir->is[LIVE].st_nlink++;
	}
	TAILQ_INSERT_TAIL(&dir->entries, e, link);
	touch(dir, true);
	if (!n->lasts)
		n->is[KEPT] = n->is[LIVE]; /* for when the directory is synced */
}

/* Frees an entry that is neither live nor kept. */
static void entry_settle(struct node *dir, struct entry *e)
{
	struct node *n = e->node;

	if (e->is[LIVE] || e->is[KEPT])
		return;
	TAILQ_REMOVE(&dir->entries, e, link);
	free(e);
	n->names--;
	node_settle(n);
}

void entry_drop(struct node *dir, struct entry *e)
{
	e->is[LIVE] = false;
	e->node->is[LIVE].st_nlink--;
	if (S_ISDIR(e->node->is[LIVE].st_mode))
		dir->is[LIVE].st_nlink--;
	touch(e->node, false);
	touch(dir, true);
	entry_settle(dir, e);
}

bool is_empty(const struct node *dir)
{
	const struct entry *e;

	TAILQ_FOREACH (e, &dir->entries, link)
		if (e->is[LIVE])
			return false;
	return true;
}

/* --- syncs and cuts ------------------------------------------------------------------------------
 */

void keep_attributes(struct node *n)
{
	struct xattr *x;

	n->is[KEPT] = n->is[LIVE];
	LIST_FOREACH (x, &n->xattrs, link)
		xattr_value(&x->is[KEPT], x->is[LIVE].there, x->is[LIVE].data, x->is[LIVE].len);
	n->lasts = true;
}

int sync_file(struct node *n, bool datasync)
{
	struct content *c = &n->content[LIVE];

	store.syncs_of_files++;
	if (store.fail) {
		int err = store.fail;

		store.fail = 0;
		for (uint32_t i = 0; i < c->n; i++)
			if (c->blocks[i] && (i >= n->content[KEPT].n ||
						    c->blocks[i] != n->content[KEPT].blocks[i]))
				c->blocks[i]->lost = true;
		return err;
	}
	if (!datasync || !n->lasts)
		keep_attributes(n);
	n->is[KEPT].st_size = n->is[LIVE].st_size;
	content_copy(&n->content[KEPT], c, true);
	return 0;
}

int sync_dir(struct node *dir)
{
	struct entry *e, *next;

	store.syncs_of_dirs++;
	keep_attributes(dir);
	for (e = TAILQ_FIRST(&dir->entries); e; e = next) {
		next = TAILQ_NEXT(e, link);
		e->is[KEPT] = e->is[LIVE];
		if (e->is[KEPT] && !e->node->lasts) {
			e->node->lasts = true;
			e->node->is[KEPT].st_size =
				S_ISLNK(e->node->is[KEPT].st_mode) ? e->node->is[KEPT].st_size : 0;
		}
		entry_settle(dir, e);
	}
	return 0;
}

/* The kept names below dir are the live ones again; links are counted anew. */
static void cut_dir(struct node *dir)
{
	struct entry *e, *next;

	for (e = TAILQ_FIRST(&dir->entries); e; e = next) {
		struct node *n = e->node;

		next = TAILQ_NEXT(e, link);
		e->is[LIVE] = e->is[KEPT];
		if (e->is[LIVE] && S_ISDIR(n->is[LIVE].st_mode) && !n->gone)
			e->is[LIVE] = e->is[KEPT] = false; /* half a rename: one name is enough */
		if (e->is[LIVE]) {
			n->is[LIVE].st_nlink++;
			n->gone = false;
			if (S_ISDIR(n->is[LIVE].st_mode)) {
				dir->is[LIVE].st_nlink++;
				n->parent = dir;
				cut_dir(n);
			}
		} else {
			entry_settle(dir, e);
		}
	}
}

void cut(void)
{
	struct node *n, *root = NULL, *next;
	struct xattr *x;

	for (int b = 0; b < BUCKETS; b++)
		LIST_FOREACH (n, &buckets[b], hash) {
			n->gone = true;
			root = n->ino == ROOT_INO ? n : root;
			if (n->lasts)
				n->is[LIVE] = n->is[KEPT];
			n->is[LIVE].st_nlink = S_ISDIR(n->is[LIVE].st_mode);
			content_copy(&n->content[LIVE], &n->content[KEPT], false);
			LIST_FOREACH (x, &n->xattrs, link)
				xattr_value(&x->is[LIVE], x->is[KEPT].there, x->is[KEPT].data,
					x->is[KEPT].len);
		}
	root->gone = false;
	root->is[LIVE].st_nlink = 2;
	cut_dir(root);
	/* directories that no name leads to any more */
	for (int b = 0; b < BUCKETS; b++)
		LIST_FOREACH (n, &buckets[b], hash) {
			struct entry *e;

			TAILQ_FOREACH (e, &n->entries, link)
				if (n->gone)
					e->is[LIVE] = false;
		}
	for (int b = 0; b < BUCKETS; b++)
		for (n = LIST_FIRST(&buckets[b]); n; n = next) {
			next = LIST_NEXT(n, hash);
			node_settle(n);
		}
}

void node_forget(uint64_t ino, uint64_t count)
{
	struct node *n;

	pthread_mutex_lock(&store.lock);
	LIST_FOREACH (n, &buckets[ino % BUCKETS], hash)
		if (n->ino == ino)
			break;
	if (n) {
		n->nlookup -= count < n->nlookup ? count : n->nlookup;
		node_settle(n);
	}
	pthread_mutex_unlock(&store.lock);
}

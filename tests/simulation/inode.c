/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode: the table of inodes, names in directories, and xattrs.
 */
#include "tests/simulation/inode.h"

#include <stdlib.h>
#include <string.h>

#include "tests/simulation/disk.h"

/* Numbers below are the root's and reserved, as in ext4. */
#define FIRST 12

static struct inode *table[INODE_MOST];
static uint32_t generation[INODE_MOST]; /* of the last inode of that number */
static unsigned top = FIRST;		/* no number from here on has been used */

uint64_t inode_changes;

void inode_changing(struct inode *i)
{
	i->changes = ++inode_changes;
}

static void *need(void *p)
{
	if (!p)
		abort();
	return p;
}

/* --- the table -------------------------------------------------------------------------------- */

static unsigned free_number(void)
{
	if (!table[INODE_ROOT])
		return INODE_ROOT;
	for (unsigned n = FIRST; n < top; n++)
		if (!table[n])
			return n;
	return top < INODE_MOST ? top++ : 0;
}

struct inode *inode_new(mode_t mode, uid_t uid, gid_t gid)
{
	unsigned n = free_number();
	struct inode *i;

	if (!n)
		return NULL;
	i = need(calloc(1, sizeof(*i)));
	table[n] = i;
	i->ino = n;
	i->generation = ++generation[n] + 7000;
	i->btime = disk_now();
	i->a = (struct attrs){.mode = mode,
		.uid = uid,
		.gid = gid,
		.atime = i->btime,
		.mtime = i->btime,
		.ctime = i->btime};
	return i;
}

struct inode *inode_get(uint64_t ino)
{
	return ino < INODE_MOST ? table[ino] : NULL;
}

struct inode *inode_use(struct inode *i)
{
	i->uses++;
	return i;
}

static void destroy(struct inode *i)
{
	table[i->ino] = NULL;
	inode_free_blocks(&i->data);
	for (size_t k = 0; k < i->nentries; k++)
		free(i->entry[k].name);
	free(i->entry);
	free(i->target);
	for (size_t k = 0; k < i->nxattrs; k++) {
		free(i->xattr[k].name);
		free(i->xattr[k].value);
	}
	free(i->xattr);
	free(i); /* but not its map: a process that was killed may have left the memory in use */
}

void inode_drop(struct inode *i)
{
	if (i && --i->uses == 0 && i->a.nlink == 0)
		destroy(i);
}

void inode_each(void (*fn)(struct inode *i))
{
	for (unsigned n = 0; n < top; n++)
		if (table[n])
			fn(table[n]);
}

void inode_reset(void)
{
	inode_each(destroy);
	memset(generation, 0, sizeof(generation));
	top = FIRST;
}

/* --- names ------------------------------------------------------------------------------------ */

/* As ext4: 62 bits, and never the places of "." and "..". */
static uint64_t hash_of(const char *name)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3ull;
	h ^= h >> 29;
	return (h >> 2) + 16;
}

/* The first place that is not before hash. */
static size_t place(const struct inode *dir, uint64_t hash)
{
	size_t low = 0, high = dir->nentries;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (dir->entry[mid].hash < hash)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct entry *inode_entry(const struct inode *dir, const char *name)
{
	size_t k = place(dir, hash_of(name));

	/* two names of one hash take neighbouring numbers */
	for (unsigned tries = 0; k < dir->nentries && tries < 2; k++, tries++)
		if (strcmp(dir->entry[k].name, name) == 0)
			return &dir->entry[k];
	return NULL;
}

struct entry *inode_after(const struct inode *dir, uint64_t hash)
{
	size_t k = place(dir, hash + 1);

	return k < dir->nentries ? &dir->entry[k] : NULL;
}

static void insert(struct inode *dir, const char *name, struct inode *to)
{
	uint64_t hash = hash_of(name);
	size_t k = place(dir, hash);

	if (k < dir->nentries && dir->entry[k].hash == hash) {
		hash++;
		k++;
	}
	if (dir->nentries == dir->entries_room) {
		dir->entries_room = dir->entries_room ? 2 * dir->entries_room : 8;
		dir->entry = need(realloc(dir->entry, dir->entries_room * sizeof(*dir->entry)));
	}
	memmove(dir->entry + k + 1, dir->entry + k, (dir->nentries - k) * sizeof(*dir->entry));
	dir->entry[k] = (struct entry){hash, to, need(strdup(name))};
	dir->nentries++;
}

void inode_set_name(struct inode *dir, const char *name, struct inode *to)
{
	struct entry *e = inode_entry(dir, name);
	size_t k;

	if (e && to) {
		e->inode = to;
	} else if (e) {
		k = (size_t)(e - dir->entry);
		free(e->name);
		dir->nentries--;
		memmove(e, e + 1, (dir->nentries - k) * sizeof(*e));
	} else if (to) {
		insert(dir, name, to);
	}
}

/* --- xattrs ----------------------------------------------------------------------------------- */

struct xattr *inode_xattr(const struct inode *i, const char *name)
{
	for (size_t k = 0; k < i->nxattrs; k++)
		if (strcmp(i->xattr[k].name, name) == 0)
			return &i->xattr[k];
	return NULL;
}

void inode_set_xattr(struct inode *i, const char *name, const void *value, size_t len)
{
	struct xattr *x = inode_xattr(i, name);

	if (x) {
		free(x->value);
		if (!value) {
			free(x->name);
			*x = i->xattr[--i->nxattrs];
			return;
		}
	} else {
		if (!value)
			return;
		i->xattr = need(realloc(i->xattr, (i->nxattrs + 1) * sizeof(*i->xattr)));
		x = &i->xattr[i->nxattrs++];
		x->name = need(strdup(name));
	}
	x->value = need(malloc(len + 1));
	memcpy(x->value, value, len);
	x->len = len;
}

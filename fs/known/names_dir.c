/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names_dir: notes about all names in a directory together (complete.h), under the lock of the
 * names.
 */
#include <stdlib.h>
#include <string.h>

#include "fs/known/names.h"
#include "fs/known/names_impl.h"
#include "transport/clock.h"

/* The notes of dir, made if need be. NULL: dir has left the table, or there is no memory. */
static struct complete *complete_locked(struct inode *dir)
{
	if (!dir->complete && !dir->left)
		dir->complete = calloc(1, sizeof(*dir->complete));
	return dir->complete;
}

void names_made_dir(struct names *n, struct inode *dir, uint64_t since)
{
	struct complete *c;

	mutex_lock(&n->lock);
	c = complete_locked(dir);
	if (c)
		complete_made(&n->completes, c, since);
	mutex_unlock(&n->lock);
}

void names_making(struct names *n, struct inode *dir, const char *name)
{
	uint64_t from, seen = dirnames_seen(&dir->dirnames, &dir->attrs, &from);
	struct complete *c;

	mutex_lock(&n->lock);
	c = dir->complete;
	/* the last moment that dir was known to be unchanged, before the change */
	if (c && c->is && c->since >= from && c->since < seen)
		c->since = seen;
	if (c)
		complete_add(&n->completes, c, names_hash_of(n, dir, name));
	mutex_unlock(&n->lock);
}

void names_incomplete(struct names *n, struct inode *dir)
{
	mutex_lock(&n->lock);
	if (dir->complete)
		complete_end(&n->completes, dir->complete);
	mutex_unlock(&n->lock);
}

/* Does a listing show every name like this? Servers have directories of their own in each
 * directory, which no listing shows. */
static bool is_listed(const char *name)
{
	static const char *const hidden[] = {".snap", "~snap", ".zfs", ".ckpt"};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (!strncmp(name, hidden[i], strlen(hidden[i])))
			return false;
	for (; *name; name++) /* Unicode has several spellings of one name */
		if (*name & 0x80)
			return false;
	return true;
}

bool names_lacks(
	struct names *n, struct inode *dir, const char *name, uint32_t uid, uint64_t *since)
{
	bool lacks;

	if (!is_listed(name))
		return false;
	mutex_lock(&n->lock);
	lacks = dir->complete && complete_lacks(&n->completes, dir->complete,
					 names_hash_of(n, dir, name), uid, since);
	mutex_unlock(&n->lock);
	return lacks;
}

uint32_t names_list(struct names *n, struct inode *dir, uint64_t since, uint32_t uid, uint32_t max)
{
	struct complete *c;
	uint32_t token = 0;

	mutex_lock(&n->lock);
	c = complete_locked(dir);
	if (c)
		token = complete_list(&n->completes, c, since, uid, max);
	mutex_unlock(&n->lock);
	return token;
}

bool names_listed(struct names *n, struct inode *dir, uint32_t token, const char *name, size_t len)
{
	uint64_t hash = names_hash(n, dir, name, len);
	bool goes_on;

	mutex_lock(&n->lock);
	goes_on = dir->complete && complete_listed(&n->completes, dir->complete, token, hash);
	mutex_unlock(&n->lock);
	return goes_on;
}

void names_list_end(struct names *n, struct inode *dir, uint32_t token, bool whole)
{
	mutex_lock(&n->lock);
	if (dir->complete)
		complete_list_end(&n->completes, dir->complete, token, whole);
	mutex_unlock(&n->lock);
}

void names_watch(struct names *n, struct inode *dir, uint64_t since)
{
	struct complete *c;

	mutex_lock(&n->lock);
	c = complete_locked(dir);
	if (c)
		complete_watch(&n->completes, c, since);
	mutex_unlock(&n->lock);
}

bool names_unchanged(struct names *n, struct inode *dir, const char *name, uint64_t since)
{
	const struct complete *c;
	bool unchanged;

	mutex_lock(&n->lock);
	c = dir->complete;
	if (name)
		unchanged = c && complete_unchanged(c, names_hash_of(n, dir, name), since);
	else
		unchanged = c && c->watched && since >= c->watched;
	mutex_unlock(&n->lock);
	return unchanged;
}

bool names_made_here(struct names *n, struct inode *dir, uint64_t *since)
{
	bool made;

	mutex_lock(&n->lock);
	made = dir->complete && dir->complete->is && dir->complete->by_anybody;
	*since = made ? dir->complete->since : 0;
	mutex_unlock(&n->lock);
	return made;
}

bool names_missed(struct names *n, struct inode *dir, uint64_t time)
{
	struct complete *c;
	bool worth;

	mutex_lock(&n->lock);
	c = complete_locked(dir);
	worth = c && complete_missed(c, clock_ns(), time);
	mutex_unlock(&n->lock);
	return worth;
}

void names_too_large(struct names *n, struct inode *dir, uint64_t time)
{
	mutex_lock(&n->lock);
	if (dir->complete)
		complete_too_large(dir->complete, clock_ns() + time);
	mutex_unlock(&n->lock);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode_names: names in a directory: until when answers about them are believed.
 */
#include "fs/known/inode.h"

#include "transport/clock.h"

#define LOOKS_NS UINT64_C(5000000000) /* looks count together within that time */

void inode_naming_begin(struct inode *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->naming++;
	pthread_mutex_unlock(&dir->lock);
}

void inode_naming_end(struct inode *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->naming--;
	inode_touch_data(dir);
	pthread_mutex_unlock(&dir->lock);
}

bool inode_is_naming(struct inode *dir)
{
	bool naming;

	pthread_mutex_lock(&dir->lock);
	naming = dir->naming > 0;
	pthread_mutex_unlock(&dir->lock);
	return naming;
}

static unsigned looks_locked(struct inode *dir)
{
	return clock_ns() < dir->unlisted_until ? 0 : dir->looks;
}

unsigned inode_looked(struct inode *dir, const char *name)
{
	uint64_t now = clock_ns();
	uint32_t hash = 0;
	unsigned looks;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 0x01000193u;
	pthread_mutex_lock(&dir->lock);
	if (clock_age(now, dir->looks_at) > LOOKS_NS) {
		dir->looks_at = now;
		dir->looks = 0;
	}
	dir->looks += !dir->looks || dir->looked_for != hash;
	dir->looked_for = hash;
	looks = looks_locked(dir);
	pthread_mutex_unlock(&dir->lock);
	return looks;
}

unsigned inode_looks(struct inode *dir, bool less)
{
	unsigned looks;

	pthread_mutex_lock(&dir->lock);
	dir->looks -= less && dir->looks;
	looks = looks_locked(dir);
	pthread_mutex_unlock(&dir->lock);
	return looks;
}

void inode_leave_unlisted(struct inode *dir, uint64_t time)
{
	pthread_mutex_lock(&dir->lock);
	dir->unlisted_until = clock_ns() + time;
	pthread_mutex_unlock(&dir->lock);
}

uint64_t inode_version(struct inode *dir)
{
	uint64_t version;

	pthread_mutex_lock(&dir->lock);
	version = dir->version;
	pthread_mutex_unlock(&dir->lock);
	return version;
}

bool inode_names_taken(struct inode *dir, uint64_t seen)
{
	bool taken;

	pthread_mutex_lock(&dir->lock);
	taken = seen < dir->names_taken;
	pthread_mutex_unlock(&dir->lock);
	return taken;
}

void inode_doubt_names(struct inode *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->names_from = clock_ns();
	pthread_mutex_unlock(&dir->lock);
}

void inode_note_foreign(struct inode *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->foreign_at = clock_ns();
	pthread_mutex_unlock(&dir->lock);
}

bool inode_is_shared(struct inode *dir, uint64_t time)
{
	uint64_t now = clock_ns();
	bool shared;

	pthread_mutex_lock(&dir->lock);
	shared = dir->foreign_at && clock_age(now, dir->foreign_at) < time;
	pthread_mutex_unlock(&dir->lock);
	return shared;
}

uint64_t inode_names_seen(struct inode *dir, uint64_t *from)
{
	uint64_t touched = atomic_load_explicit(&dir->touched, memory_order_relaxed), seen;

	pthread_mutex_lock(&dir->lock);
	*from = touched + 1 > dir->names_from ? touched + 1 : dir->names_from;
	seen = dir->names_seen;
	pthread_mutex_unlock(&dir->lock);
	return seen;
}

uint64_t inode_name_until(struct inode *dir, uint64_t seen, unsigned min, unsigned max)
{
	uint64_t touched = atomic_load_explicit(&dir->touched, memory_order_relaxed);
	uint64_t until = 0, timeout = inode_timeout(dir, min, max);

	pthread_mutex_lock(&dir->lock);
	if (seen && seen >= dir->names_from && seen > touched) {
		until = seen > dir->names_seen ? seen : dir->names_seen;
		until += timeout * UINT64_C(1000000000);
	}
	pthread_mutex_unlock(&dir->lock);
	return until;
}

uint64_t inode_name_seen(struct inode *dir, uint64_t change, uint64_t seen)
{
	uint64_t touched = atomic_load_explicit(&dir->touched, memory_order_relaxed);

	pthread_mutex_lock(&dir->lock);
	if (dir->version == change && !dir->naming && seen > touched && seen < dir->names_from)
		seen = dir->names_from;
	pthread_mutex_unlock(&dir->lock);
	return seen;
}

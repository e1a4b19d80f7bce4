/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names_impl: definitions that only names.c, names_dir.c and names_record.c share.
 */
#ifndef RNFS_FS_KNOWN_NAMES_IMPL_H
#define RNFS_FS_KNOWN_NAMES_IMPL_H

#include <string.h>

#include "fs/known/complete.h"
#include "transport/hash.h"
#include "transport/lock.h"

struct inode;

LIST_HEAD(name_chain, name);

struct name {
	LIST_ENTRY(name) hash, in_dir, of_ino; /* of_ino: unless the name is absent */
	TAILQ_ENTRY(name) absent;	       /* if the name is absent */
	struct inode *dir, *ino;	       /* ino NULL: absent */
	uint64_t hashed, seen, until;
	uint64_t put; /* when the kernel was last told a time */
	bool unsure;  /* names_unsure(): names_of() passes over the name */
	size_t len;
	char s[];
};

struct names {
	struct mutex lock;
	struct name_chain *chains GUARDED_BY(lock);
	size_t nchains GUARDED_BY(lock); /* a power of two */
	size_t count GUARDED_BY(lock);
	size_t nabsent GUARDED_BY(lock);
	GUARDED_BY(lock) TAILQ_HEAD(, name) absent; /* the oldest first */
	struct completes completes GUARDED_BY(lock);
	uint64_t seed;
};

/* The hash of a name in dir; no lock is needed. */
static inline uint64_t names_hash(
	const struct names *n, const struct inode *dir, const char *s, size_t len)
{
	return hash_bytes(n->seed ^ ((uintptr_t)dir * 0x9e3779b97f4a7c15ull), s, len);
}

static inline uint64_t names_hash_of(const struct names *n, const struct inode *dir, const char *s)
{
	return names_hash(n, dir, s, strlen(s));
}

/* Makes a name that is not there yet. ino NULL: absent. NULL: no memory. */
struct name *names_add_locked(struct names *n, struct inode *dir, const char *s, size_t len,
	struct inode *ino) REQUIRES(n->lock);

#endif

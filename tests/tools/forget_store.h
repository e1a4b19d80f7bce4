/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * forget_store: the objects of forgetfs.c, each with its live and its lasting state.
 *
 * Lasting state, the least that a file system may keep:
 *
 *   fsync of a file         its data and attributes, but not its name
 *   fdatasync of a file     its data and size
 *   fsync of a directory    its entries and attributes; an entry's object, if it was never synced
 *                           itself, with the attributes that it had when it was made and no data
 *   nothing else            neither a rename nor a close; syncfs() never gets here
 *
 * Each attribute, block, entry and xattr exists twice: live, and kept. A sync makes the kept one
 * the live one, a cut the other way around. One lock guards all of it; a held sync waits outside
 * the lock.
 */
#ifndef RNFS_TESTS_FORGET_STORE_H
#define RNFS_TESTS_FORGET_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>

#define BLOCK	   16384u
#define MAX_BLOCKS (1u << 18) /* of a file: 4 GiB */

enum { LIVE, KEPT };

struct block {
	unsigned refs; /* by LIVE, by KEPT */
	bool lost;     /* the sync failed: the block counts as written, and is not */
	uint8_t data[BLOCK];
};

struct content {
	uint32_t n; /* blocks; NULL is a hole */
	struct block **blocks;
};

struct value {
	bool there;
	size_t len;
	void *data;
};

struct xattr {
	LIST_ENTRY(xattr) link;
	struct value is[2];
	char name[];
};

struct entry {
	TAILQ_ENTRY(entry) link; /* of the directory, in the order of off */
	off_t off;
	bool is[2];
	struct node *node;
	char name[];
};

struct node {
	LIST_ENTRY(node) hash;
	uint64_t ino;
	uint64_t nlookup; /* the kernel's references */
	unsigned names;	  /* entries, live or kept */
	bool lasts;	  /* the node or one of its names was synced: is[KEPT] is valid */
	bool gone;	  /* a cut has taken the node */
	struct stat is[2];
	struct content content[2];
	char *target; /* of a symbolic link */
	struct node *parent;
	TAILQ_HEAD(, entry) entries;
	LIST_HEAD(, xattr) xattrs;
};

extern struct store {
	pthread_mutex_t lock;
	uint64_t nblocks, max_blocks; /* in use; 0: any number */
	unsigned syncs_of_files, syncs_of_dirs;
	int fail; /* the next sync of a file, with this errno; 0: none */
} store;

/* Returns how many of size bytes from off on lie in the block of off. */
size_t piece_at(off_t off, size_t size);
/* Block i of the live content, for writing; NULL: the disk is full. */
struct block *content_own(struct content *c, uint32_t i);
/* Returns 0 or an errno. */
int resize(struct node *n, off_t size);
/* NULL: there is no such node, or a cut has taken it. */
struct node *node_find(uint64_t ino);
/* The kernel lets go of count references. Takes the lock. */
void node_forget(uint64_t ino, uint64_t count);
/* Sets ctime, and with data mtime, to now. */
void touch(struct node *n, bool data);
/* Makes a node without a name, in parent (NULL: the root). */
struct node *node_new(struct node *parent, mode_t mode, uid_t uid, gid_t gid);
/* v becomes a copy of data. */
void xattr_value(struct value *v, bool there, const void *data, size_t len);
/* Returns a live entry, or NULL. */
struct entry *entry_find(struct node *dir, const char *name);
/* name is new, and valid. */
void entry_add(struct node *dir, const char *name, struct node *n);
/* e is no longer live. */
void entry_drop(struct node *dir, struct entry *e);
bool is_empty(const struct node *dir);
/* Makes the attributes of n lasting, and n itself. */
void keep_attributes(struct node *n);
/* Returns 0 or an errno. */
int sync_file(struct node *n, bool datasync);
int sync_dir(struct node *dir);
/* The lasting state becomes the live one. */
void cut(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode: the inodes of the simulated disk, with the data of files and the entries of directories.
 *
 * The inodes are the state in the memory of the server's kernel. A block that was changed since the
 * last sync also keeps the bytes that the disk itself has. The journal (journal.h) keeps the names
 * and attributes from before each change.
 */
#ifndef RNFS_SIMULATION_INODE_H
#define RNFS_SIMULATION_INODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#define INODE_BLOCK 4096u
#define INODE_ROOT  2
#define INODE_MOST  65536
#define INODE_END   ((off_t)16 << 40) /* the largest size of a file, as ext4's */

struct block {
	uint64_t at;	/* number in the file */
	uint8_t *now;	/* NULL: a hole */
	uint8_t *was;	/* on the disk, while dirty; NULL: a hole */
	bool dirty;	/* no sync has covered the change */
	bool lost;	/* a sync has failed: later ones do not write the block */
	bool unwritten; /* reserved, reads as zeros */
	bool copied;	/* a copy in the journal: takes no room on the disk */
};

struct blocks {
	struct block *block; /* by their numbers */
	size_t n, room;
};

struct entry {
	uint64_t hash; /* unique in the directory; its place there */
	struct inode *inode;
	char *name;
};

struct xattr {
	char *name;
	uint8_t *value;
	size_t len;
};

/* The attributes that stat(2) tells and the journal restores. */
struct attrs {
	mode_t mode;
	uid_t uid;
	gid_t gid;
	unsigned nlink;
	off_t size;
	struct timespec atime, mtime, ctime;
	struct inode *parent; /* of a directory */
};

struct inode {
	uint64_t ino;
	uint32_t generation;
	dev_t rdev;
	struct timespec btime;
	struct attrs a;
	struct blocks data;
	struct entry *entry; /* by their hashes */
	size_t nentries, entries_room;
	char *target;  /* of a symbolic link */
	bool linkable; /* made without a name, to be given one */
	struct xattr *xattr;
	size_t nxattrs;
	unsigned opens;	  /* descriptors */
	uint64_t changes; /* inode_changes at the last change of the inode or of its data */
	unsigned uses;	  /* descriptors, calls under way, the journal's records */
	uint8_t *map;	  /* memory that a process shares with the file */
	size_t map_len;
	unsigned maps;
	const void *locked; /* the description that has flock(2)ed it */
};

/* --- the table -------------------------------------------------------------------------------- */

/* A new one without a name, of the calling thread's time. NULL: there are too many. */
struct inode *inode_new(mode_t mode, uid_t uid, gid_t gid);
/* NULL: there is no inode with the number. */
struct inode *inode_get(uint64_t ino);
struct inode *inode_use(struct inode *i);
/* Frees an inode without a name at the end of its last use. Accepts NULL. */
void inode_drop(struct inode *i);
/* Calls fn for each, in the order of their numbers. */
void inode_each(void (*fn)(struct inode *i));
/* All go, used or not. */
void inode_reset(void);

/* --- names ------------------------------------------------------------------------------------ */

/* The place of name in dir's order, or of the next that is not before hash. */
struct entry *inode_entry(const struct inode *dir, const char *name);
struct entry *inode_after(const struct inode *dir, uint64_t hash); /* the first above hash */
/* Makes name stand for `to` (NULL: removes the name). The caller changes the link counts. */
void inode_set_name(struct inode *dir, const char *name, struct inode *to);

/* --- data ------------------------------------------------------------------------------------- */

size_t inode_read(struct inode *i, uint8_t *buf, size_t n, off_t off);
/* The same, as a cut of the power leaves the data if no block happens to be written. */
size_t inode_read_safe(struct inode *i, uint8_t *buf, size_t n, off_t off);
/* Bytes written, or -ENOSPC if there is no room for any. The size is the caller's. */
ssize_t inode_write(struct inode *i, const uint8_t *buf, size_t n, off_t off);
/* Moves the blocks behind size to *cut, with a copy of the block that size lies in. */
void inode_cut(struct inode *i, off_t size, struct blocks *cut);
/* Undoes inode_cut(). */
void inode_uncut(struct inode *i, off_t size, struct blocks *cut);
void inode_free_blocks(struct blocks *b);
/* Zeros from off to end: whole blocks become holes. */
void inode_punch(struct inode *i, off_t off, off_t end);
/* 0 or -ENOSPC. */
int inode_reserve(struct inode *i, off_t off, off_t end);
/* The next data or hole from off; -1: no data up to the end. */
off_t inode_seek(const struct inode *i, off_t off, bool hole);
uint64_t inode_blocks(const struct inode *i);

/* The data is on the disk now, except blocks that a failed sync has lost. */
void inode_sync(struct inode *i);
/* A sync of the data has failed. */
void inode_lose(struct inode *i);
/* A power cut: chance decides for each unsynced block if its new or its old bytes are on the disk.
 */
void inode_cut_power(struct inode *i);

/* Memory that is the file's data, as mmap(2) with MAP_SHARED. NULL: no memory, or the
 * file is mapped with another length. */
void *inode_map(struct inode *i, size_t len);
/* The inode that the memory belongs to; NULL: none of this disk. */
struct inode *inode_of_map(const void *p);
void inode_unmap(struct inode *i);

/* Changes of all inodes so far, those of a power cut too. */
extern uint64_t inode_changes;
/* The inode is about to change. */
void inode_changing(struct inode *i);

/* Blocks that can still be allocated on the disk. */
extern uint64_t inode_free;

/* --- xattrs ----------------------------------------------------------------------------------- */

struct xattr *inode_xattr(const struct inode *i, const char *name);
/* value NULL: removes it. */
void inode_set_xattr(struct inode *i, const char *name, const void *value, size_t len);

#endif

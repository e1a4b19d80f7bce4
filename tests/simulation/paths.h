/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * paths: the inode that a path of the simulated disk leads to.
 */
#ifndef RNFS_SIMULATION_PATHS_H
#define RNFS_SIMULATION_PATHS_H

#include <limits.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/inode.h"

/* flags of paths_find() */
#define PATHS_FOLLOW  1 /* a symbolic link at the end */
#define PATHS_EMPTY   2 /* "" is the descriptor itself */
#define PATHS_AS_ROOT 4 /* without a look at permissions */
#define PATHS_NEW     8 /* "name/" may be there without being a directory */

struct place {
	struct inode *dir;	 /* that has the name; NULL: at is there without one */
	char name[NAME_MAX + 1]; /* "": of the former */
	struct inode *at;	 /* NULL: the name is free */
	bool slash;		 /* the path ends in one */
	bool dots;		 /* its last component is "." or ".." */
	bool magic;		 /* the path is a number in /proc/self/fd */
};

/* Is it the disk's? Else the call is the system's. path NULL or "": is dirfd? */
bool paths_ours(int dirfd, const char *path);
/* 0, or a negative errno. For a path that is ours. */
int paths_find(int dirfd, const char *path, int flags, struct place *p);
/* i gets the free name of p: link count, parent and times are seen to, the journal has all. */
void paths_add(const struct place *p, struct inode *i);
/* The path of i as /proc/self/fd would show it. 0 or -ENAMETOOLONG. */
int paths_name(const struct inode *i, char *buf, size_t size);

/* An open file. The description's own. */
struct file {
	struct inode *inode;
	int flags; /* of open(2) */
};
extern const struct description_ops paths_file_ops;
/* The file of a descriptor; NULL: it is none of the disk's. */
struct file *paths_file(int fd);

/* --- the caller's identity (callers.c) -------------------------------------------------------- */

uid_t caller_uid(void);
gid_t caller_gid(void);
bool caller_is_root(void);
bool caller_in_group(gid_t gid);
mode_t caller_umask(void);
/* mask: R_OK and so on. By the mode and the access ACL. */
bool caller_may(const struct inode *i, int mask);
bool caller_owns(const struct inode *i);
/* The bits of i's mode that a change of the owner clears, and a user's change of the data. */
mode_t caller_takes(const struct inode *i);

#endif

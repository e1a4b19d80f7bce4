/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names: names that programs make and remove on the simulated disk; and the functions of files.c
 * and names.c for the other parts of the disk.
 */
#ifndef RNFS_SIMULATION_NAMES_H
#define RNFS_SIMULATION_NAMES_H

#include "tests/simulation/paths.h"

/* A new inode of the caller's in dir, without a name as yet. 0 or a negative errno. */
int names_inode(struct inode *dir, mode_t mode, struct inode **out);
/* The same, as the free name of p. */
int names_make(struct place *p, mode_t mode, dev_t rdev, struct inode **out);

/* openat(2): a descriptor or a negative errno. Not a point. */
int files_open(int dirfd, const char *path, int flags, mode_t mode);
/* A descriptor of i, opened with flags, or -EMFILE. */
int files_descriptor(struct inode *i, int flags);
/* 0, if fd is open for writing: *i is its inode; or -EBADF. */
int files_writable(int fd, struct inode **i);
/* 0 or a negative errno. */
int files_resize(struct inode *i, off_t size);

#endif

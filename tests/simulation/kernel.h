/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel: the kernel's side of one mount, and the system calls of the processes that use the mount.
 *
 * The model (vfs.h) keeps names, attributes and pages as Linux 6.1 or 6.12 does, by the seed.
 * System calls return a count, a number or 0, or a negative errno. Paths begin at the mount's root,
 * without a slash in front; "" is the root. Any thread of the run.
 */
#ifndef RNFS_SIMULATION_KERNEL_H
#define RNFS_SIMULATION_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct kernel;

/* A device that no daemon has read yet. */
struct kernel *kernel_new(void);
/* The device as a new simulated descriptor, for the daemon. Once. */
int kernel_device(struct kernel *k);
/* umount(8): nothing may be open. Names are forgotten, then the daemon reads ENODEV. */
void kernel_unmount(struct kernel *k);
/* The daemon has gone. How many lookups the kernel had not given back: must be 0. */
uint64_t kernel_free(struct kernel *k);

/* Opens a file with open(2)'s flags. Returns a descriptor of this kernel. */
int kernel_open(struct kernel *k, const char *path, int flags, mode_t mode);
int kernel_close(struct kernel *k, int fd);
ssize_t kernel_read(struct kernel *k, int fd, void *buf, size_t size, off_t off);
/* With O_APPEND off counts for nothing. */
ssize_t kernel_write(struct kernel *k, int fd, const void *buf, size_t size, off_t off);
int kernel_fsync(struct kernel *k, int fd);
int kernel_fstat(struct kernel *k, int fd, struct stat *st);
int kernel_ftruncate(struct kernel *k, int fd, off_t size);
/* fcntl(F_SETLKW) of the whole file: F_RDLCK, F_WRLCK, F_UNLCK. */
int kernel_lock(struct kernel *k, int fd, int type);
int kernel_stat(struct kernel *k, const char *path, struct stat *st);
int kernel_mkdir(struct kernel *k, const char *path, mode_t mode);
int kernel_unlink(struct kernel *k, const char *path);
int kernel_rmdir(struct kernel *k, const char *path);
int kernel_rename(struct kernel *k, const char *from, const char *to);
int kernel_link(struct kernel *k, const char *from, const char *to);
/* Calls fn for each name but "." and "..". */
int kernel_list(
	struct kernel *k, const char *path, void (*fn)(const char *name, void *), void *ctx);

#endif

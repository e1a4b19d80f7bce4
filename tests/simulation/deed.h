/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deed: one system call of a schedule, for the model of the kernel (deed_model.c) and for Linux
 * (deed_real.c).
 */
#ifndef RNFS_SIMULATION_DEED_H
#define RNFS_SIMULATION_DEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#define DEED_PROCESSES 3 /* the first is root's, the others belong to one user */
#define DEED_BYTES     (1u << 18)

enum deed_call {
	DEED_OPEN,
	DEED_CLOSE,
	DEED_READ,
	DEED_PREAD,
	DEED_PWRITE,
	DEED_SEEK,
	DEED_FSYNC,
	DEED_FDATASYNC,
	DEED_FTRUNCATE,
	DEED_TRUNCATE,
	DEED_FALLOCATE,
	DEED_STAT,
	DEED_LSTAT,
	DEED_FSTAT,
	DEED_ACCESS,
	DEED_CHMOD,
	DEED_CHOWN,
	DEED_TIMES,
	DEED_FCHMOD,
	DEED_GETXATTR,
	DEED_DUP,
	DEED_MKDIR,
	DEED_RMDIR,
	DEED_UNLINK,
	DEED_RENAME,
	DEED_LINK,
	DEED_SYMLINK,
	DEED_READLINK,
	DEED_LIST,
	DEED_FLOCK,
	DEED_LOCK,
	DEED_SETFL,
	DEED_MMAP,
	DEED_MUNMAP,
	DEED_MSYNC,
	DEED_LOAD,
	DEED_STORE,
	DEED_CALLS
};

struct deed {
	enum deed_call call;
	unsigned process;
	const char *path, *other;
	int fd, flags, map;
	off_t off;
	size_t len;
	bool shared, writable;
	uint8_t *bytes; /* DEED_BYTES */
	struct stat st;
	struct timespec times[2];
	FILE *names; /* of DEED_LIST: a line for each name */
};

/* A player of deeds. */
struct deeds {
	/* A count or 0, or a negative errno. Of DEED_MMAP: the mapping. */
	long (*play)(struct deed *d);
	/* The kernel drops each page and each name that is not in use. */
	void (*shrink)(void);
	/* The kernel writes pages that mappings have changed to the daemon. */
	void (*flush)(void);
};

#endif

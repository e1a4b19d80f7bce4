/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * record: a file that the server has mapped, for what outlives its process.
 *
 * What is stored in the mapping outlives the process at once, also one that is killed, at no cost
 * of a system call. It does not outlive the machine, as nothing is synced: what an earlier boot has
 * left is thrown away. One process at a time has the file, by flock(2).
 */
#ifndef RNFS_SERVE_STATE_RECORD_H
#define RNFS_SERVE_STATE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What every such file begins with. Only processes of one machine under one boot share it, so it
 * has no byte order. */
struct record_head {
	char magic[32], boot[40];
	uint32_t running; /* the process that has the file has not closed it */
};

struct record {
	void *map; /* struct record_head, then what the caller keeps; page-aligned */
	size_t size;
	int fd;		 /* which has the lock of the file */
	bool fresh;	 /* the rest of the map is zeros: nothing of use was there */
	bool was_killed; /* the process that had it last did not close it */
};

/* Maps the file at path, which need not exist, with size bytes and its head. magic: of the content
 * and its layout, at most 31 bytes; a file of another is made anew. 0, or -errno, also when another
 * process has the file. */
int record_open(struct record *r, const char *path, const char *magic, size_t size);
/* The process ends as it should. */
void record_close(struct record *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * record: a file that the server has mapped, for data that must outlive the process.
 *
 * Data in the mapping outlives the process at once, even if it is killed, without a system call.
 * The data does not outlive the machine, for the file is not synced: data from an earlier boot is
 * dropped. One process at a time has the file, by flock(2).
 */
#ifndef RNFS_SERVE_STATE_RECORD_H
#define RNFS_SERVE_STATE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of every such file. No byte order is needed: only processes under one boot of one
 * machine share the file. */
struct record_head {
	char magic[32], boot[40];
	uint32_t running; /* the process with the file has not closed it yet */
};

struct record {
	void *map; /* struct record_head, then the caller's data; page-aligned */
	size_t size;
	int fd;		 /* has the lock on the file */
	bool fresh;	 /* the rest of the map is zeros: the file had no usable data */
	bool was_killed; /* the last process with the file did not close it */
};

/* Maps the file at path, which need not exist, with size bytes and its head. magic: names the
 * content and its layout, at most 31 bytes; a file with another one is made anew. 0, or -errno,
 * also if another process has the file. */
int record_open(struct record *r, const char *path, const char *magic, size_t size);
/* The process ends normally. */
void record_close(struct record *r);

#endif

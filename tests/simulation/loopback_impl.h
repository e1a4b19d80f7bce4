/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * loopback_impl: the parts of the daemon: requests (loopback.c), the tree (loopback_tree.c), and
 * events that do not begin with a program (loopback_behind.c).
 */
#ifndef RNFS_SIMULATION_LOOPBACK_IMPL_H
#define RNFS_SIMULATION_LOOPBACK_IMPL_H

#include <linux/fuse.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "tests/simulation/loopback.h"

#define NODES	 400
#define NAMES	 64
#define BUFFER	 ((1u << 20) + 8192)
#define ROOT	 1
#define FILE_MAX (1u << 18)

struct entry {
	char name[64];
	unsigned node;
};

struct node {
	bool used;
	uint64_t generation, lookups, mtime;
	uint64_t forgotten; /* since the last loopback_tell() */
	unsigned nlink, opens;
	uint32_t uid, gid;
	bool direct; /* opened with FOPEN_DIRECT_IO: the name began with "x" */
	mode_t mode;
	uint8_t *bytes; /* of FILE_MAX */
	size_t size;
	struct entry names[NAMES];
};

extern struct node nodes[NODES];
extern struct loopback_params params;
extern bool loopback_ends;

/* --- the tree --------------------------------------------------------------------------------- */

unsigned node_new(mode_t mode);
void node_maybe_free(unsigned i);
void node_set_size(struct node *n, size_t size);
void node_touch(struct node *n);
struct entry *entry_find(unsigned dir, const char *name);
void entry_add(unsigned dir, const char *name, unsigned node);
void entry_drop(unsigned dir, struct entry *e);
bool node_is_empty(unsigned dir);

/* --- requests, and events that do not begin with a program ------------------------------------ */

/* Of a READ or WRITE that is to be answered in part: fewer bytes. */
uint32_t loopback_part(uint32_t opcode, uint32_t size);
void loopback_serve(const struct fuse_in_header *h);
/* Of a daemon that is not ordered: notifications at random until loopback_ends. */
void *loopback_notify(void *ctx);
/* The thread of an ordered daemon. */
void *loopback_run_ordered(void *ctx);

#endif

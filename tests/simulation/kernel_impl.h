/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel_impl: the parts of the kernel's model: requests (kernel.c), names and attributes
 * (kernel_names.c), system calls (kernel_calls.c).
 */
#ifndef RNFS_SIMULATION_KERNEL_IMPL_H
#define RNFS_SIMULATION_KERNEL_IMPL_H

#include <linux/fuse.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "tests/simulation/kernel.h"

#define KERNEL_MESSAGE	(2u << 20)
#define KERNEL_FILES	256
#define KERNEL_NAME_MAX 255

/* A request, from its making to its answer. */
struct question {
	STAILQ_ENTRY(question) next;
	LIST_ENTRY(question) in_open;
	uint64_t unique;
	uint32_t opcode;
	size_t len;
	bool answered;
	int error;
	void *out;
	size_t room, got;
	char bytes[];
};

/* An inode. */
struct node {
	LIST_ENTRY(node) all;
	uint64_t id, lookups;
	unsigned refs;	     /* of names, open files and calls under way */
	uint64_t attr_until; /* simulated time; 0: the attributes are not believed */
	uint64_t attr_stamp; /* which change of the attributes these are */
	struct fuse_attr attr;
};

/* A name that the kernel believes in; node NULL: that there is no such name. */
struct dentry {
	LIST_ENTRY(dentry) all;
	uint64_t dir, until;
	struct node *node;
	char name[KERNEL_NAME_MAX + 1];
};

struct open_file {
	struct node *node;
	uint64_t fh;
	int flags;
	uint64_t owner; /* of locks */
};

struct kernel {
	STAILQ_HEAD(, question) asked;
	LIST_HEAD(, question) open;
	LIST_HEAD(, dentry) dentries;
	LIST_HEAD(, node) nodes;
	struct open_file file[KERNEL_FILES];
	uint64_t unique, stamp, owner;
	bool gone;
	struct question *first;
	struct fuse_init_out init;
	char message[KERNEL_MESSAGE];
};

/* Sends a request and waits for the answer, of room bytes; with got, of room at most. 0 or a
 * negative errno. */
int kernel_ask(struct kernel *k, uint32_t opcode, uint64_t node, const struct iovec *in, int n,
	void *out, size_t room, size_t *got);
void kernel_forget(struct kernel *k, uint64_t node, uint64_t count);
/* A notification (FUSE_NOTIFY_*). Returns as the device's write does. */
ssize_t kernel_notified(struct kernel *k, int code, const char *body, size_t len);

/* --- names ------------------------------------------------------------------------------------ */

/* The node of an entry that an answer has brought, with one reference for the caller. */
struct node *kernel_entry(struct kernel *k, uint64_t dir, const char *name,
	const struct fuse_entry_out *e, uint64_t asked);
struct node *kernel_node_ref(struct node *n);
void kernel_node_unref(struct kernel *k, struct node *n);
/* The number of the present state of attributes; an answer asked for before a later one is not
 * taken in. */
uint64_t kernel_stamp(struct kernel *k);
void kernel_take_attr(struct kernel *k, struct node *n, const struct fuse_attr *attr,
	uint64_t valid_s, uint32_t valid_ns, uint64_t asked);
/* Walks to the node of path, or, parent: of its directory, and *last is the last name. 0 or a
 * negative errno. */
int kernel_walk(struct kernel *k, const char *path, struct node **out);
int kernel_walk_to_dir(struct kernel *k, const char *path, struct node **dir, const char **last);
int kernel_lookup(struct kernel *k, struct node *dir, const char *name, struct node **out);
/* The name is not believed any more. */
void kernel_drop_name(struct kernel *k, uint64_t dir, const char *name);
void kernel_drop_names(struct kernel *k);
void kernel_free_names(struct kernel *k);
uint64_t kernel_lookups(const struct kernel *k);

#endif

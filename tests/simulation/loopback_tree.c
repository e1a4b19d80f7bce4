/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * loopback_tree: the daemon's files and names, in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/loopback_impl.h"
#include "tests/simulation/sched.h"

struct node nodes[NODES];
static uint64_t clock_ticks;

/* Of an ordered daemon a file's mtime does not hang on other files: these may be written in any
 * order. */
void node_touch(struct node *n)
{
	n->mtime = params.ordered ? n->mtime + 1 : ++clock_ticks;
}

unsigned node_new(mode_t mode)
{
	static unsigned last = ROOT;

	for (unsigned left = NODES; left > 0; left--) {
		unsigned i = params.ordered ? last + 1 : ROOT + 1 + NODES - left;
		struct node *n = &nodes[i = i < NODES ? i : ROOT + 1];

		last = i;
		if (n->used)
			continue;
		n->used = true;
		n->generation++;
		n->mode = mode;
		n->nlink = S_ISDIR(mode) ? 2 : 1;
		n->size = 0;
		n->direct = false;
		n->mtime = ++clock_ticks;
		if (!n->bytes)
			n->bytes = malloc(FILE_MAX);
		memset(n->names, 0, sizeof(n->names));
		return i;
	}
	sched_fail("loopback: too many nodes");
}

void node_maybe_free(unsigned i)
{
	struct node *n = &nodes[i];

	if (i != ROOT && !n->nlink && !n->lookups && !n->opens)
		n->used = false;
}

struct entry *entry_find(unsigned dir, const char *name)
{
	for (unsigned i = 0; i < NAMES; i++)
		if (nodes[dir].names[i].node && !strcmp(nodes[dir].names[i].name, name))
			return &nodes[dir].names[i];
	return NULL;
}

void entry_add(unsigned dir, const char *name, unsigned node)
{
	for (unsigned i = 0; i < NAMES; i++)
		if (!nodes[dir].names[i].node) {
			strncpy(nodes[dir].names[i].name, name, 63);
			nodes[dir].names[i].node = node;
			node_touch(&nodes[dir]);
			return;
		}
	sched_fail("loopback: too many names");
}

bool node_is_empty(unsigned dir)
{
	for (unsigned i = 0; i < NAMES; i++)
		if (nodes[dir].names[i].node)
			return false;
	return true;
}

void entry_drop(unsigned dir, struct entry *e)
{
	struct node *n = &nodes[e->node];
	unsigned i = e->node;

	e->node = 0;
	node_touch(&nodes[dir]);
	n->nlink = S_ISDIR(n->mode) ? 0 : n->nlink - 1;
	node_maybe_free(i);
}

void node_set_size(struct node *n, size_t size)
{
	if (size > FILE_MAX)
		sched_fail("loopback: a file of %zu bytes", size);
	if (size > n->size)
		memset(n->bytes + n->size, 0, size - n->size);
	n->size = size;
	node_touch(n);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * journal: see journal.h. A queue of records, the oldest first.
 */
#include "tests/simulation/journal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* The kernel commits the oldest by itself when there are more. */
#define CALLS_MOST 4096

struct record {
	TAILQ_ENTRY(record) link;
	uint64_t call;
	enum { ATTRS, NAME, XATTR, CUT } kind;
	struct inode *i;     /* used; of a name: the directory */
	struct inode *other; /* used; the inode that the name stood for, or the parent */
	struct attrs attrs;
	char *name;
	bool present; /* of an xattr: there was one */
	uint8_t *value;
	size_t len;
	off_t size;
	struct blocks cut;
};

static TAILQ_HEAD(record_list, record) records = TAILQ_HEAD_INITIALIZER(records);
static uint64_t last_call; /* begun */

static void destroy(struct record *r)
{
	TAILQ_REMOVE(&records, r, link);
	inode_free_blocks(&r->cut);
	free(r->name);
	free(r->value);
	inode_drop(r->other);
	inode_drop(r->i);
	free(r);
}

static void commit_until(uint64_t call)
{
	struct record *r;

	while ((r = TAILQ_FIRST(&records)) != NULL && r->call <= call)
		destroy(r);
}

unsigned journal_calls(void)
{
	const struct record *r = TAILQ_FIRST(&records);

	return r ? (unsigned)(last_call - r->call + 1) : 0;
}

void journal_begin(void)
{
	if (journal_calls() > CALLS_MOST)
		commit_until(TAILQ_FIRST(&records)->call + CALLS_MOST / 2);
	last_call++;
}

static struct record *add(int kind, struct inode *i, struct inode *other)
{
	struct record *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	r->call = last_call;
	r->kind = kind;
	r->i = inode_use(i);
	r->other = other ? inode_use(other) : NULL;
	TAILQ_INSERT_TAIL(&records, r, link);
	return r;
}

static char *copy_name(const char *name)
{
	char *s = strdup(name);

	if (!s)
		abort();
	return s;
}

void journal_attrs(struct inode *i)
{
	inode_changing(i);
	add(ATTRS, i, i->a.parent)->attrs = i->a;
}

void journal_name(struct inode *dir, const char *name)
{
	const struct entry *e = inode_entry(dir, name);

	add(NAME, dir, e ? e->inode : NULL)->name = copy_name(name);
}

void journal_xattr(struct inode *i, const char *name)
{
	const struct xattr *x = inode_xattr(i, name);
	struct record *r = add(XATTR, i, NULL);

	r->name = copy_name(name);
	if (!x)
		return;
	r->present = true;
	r->value = malloc(x->len + 1);
	if (!r->value)
		abort();
	memcpy(r->value, x->value, x->len);
	r->len = x->len;
}

struct blocks *journal_cut(struct inode *i, off_t size)
{
	struct record *r = add(CUT, i, NULL);

	r->size = size;
	return &r->cut;
}

void journal_commit(const struct inode *i)
{
	const struct record *r;
	uint64_t until = i ? 0 : last_call;

	TAILQ_FOREACH (r, &records, link)
		if (i && (r->i == i || r->other == i))
			until = r->call;
	commit_until(until);
}

bool journal_makes_room(void)
{
	journal_commit(NULL);
	return inode_free > 0;
}

static void undo(struct record *r)
{
	switch (r->kind) {
	case ATTRS:
		r->i->a = r->attrs;
		break;
	case NAME:
		inode_set_name(r->i, r->name, r->other);
		break;
	case XATTR:
		inode_set_xattr(r->i, r->name, r->present ? r->value : NULL, r->len);
		break;
	case CUT:
		inode_uncut(r->i, r->size, &r->cut);
		break;
	}
	destroy(r);
}

void journal_undo(unsigned calls)
{
	struct record *r;

	while ((r = TAILQ_LAST(&records, record_list)) != NULL && r->call + calls > last_call)
		undo(r);
}

void journal_reset(void)
{
	struct record *r;

	while ((r = TAILQ_FIRST(&records)) != NULL) {
		TAILQ_REMOVE(&records, r, link);
		inode_free_blocks(&r->cut);
		free(r->name);
		free(r->value);
		free(r);
	}
}

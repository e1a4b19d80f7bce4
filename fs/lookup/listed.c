/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * listed: LOOKUPs that are answered from a listing.
 */
#include "fs/lookup/listed.h"

#include <stdlib.h>
#include <string.h>

#include "fs/lookup/entry.h"
#include "fs/known/grant.h"
#include "fs/lookup/listing.h"
#include "fs/known/names.h"
#include "fs/kernel/turn.h"
#include "transport/clock.h"
#include "transport/hash.h"

#define FIRST_CHAINS 64u

/* An entry of a listing. */
struct listed {
	struct nfs_fh fh;
	struct nfs_attr attr;
	uint64_t asked; /* when the server was asked for the entry */
};

/* --- finding a name --------------------------------------------------------------------------- */

static struct listing_entry *entry_at(const struct page *p, size_t pos)
{
	return (struct listing_entry *)(p->mem + pos);
}

static struct listing_entry **chain_of(const struct listing *l, const char *name, size_t len)
	REQUIRES(l->lock)
{
	return &l->chains[hash_bytes(l->seed, name, len) & (l->nchains - 1)];
}

static void index_page_locked(struct listing *l, const struct page *p) REQUIRES(l->lock)
{
	for (size_t pos = 0; pos < p->len; pos += entry_at(p, pos)->len) {
		struct listing_entry *rec = entry_at(p, pos);
		struct listing_entry **chain = chain_of(l, rec->text + rec->fhlen, rec->namelen);

		rec->page = p;
		rec->next = *chain;
		*chain = rec;
		l->nrecords++;
	}
	l->indexed = p;
}

/* Indexes the pages that came since the last call; if there are too few chains, all pages anew. */
static void index_locked(struct listing *l) REQUIRES(l->lock)
{
	struct page *p = l->indexed ? TAILQ_NEXT(l->indexed, link) : TAILQ_FIRST(&l->pages);
	uint32_t n = l->nrecords, chains = l->nchains ? l->nchains : FIRST_CHAINS;

	if (!p)
		return;
	for (const struct page *q = p; q; q = TAILQ_NEXT(q, link))
		n += q->count;
	while (chains < n)
		chains *= 2;
	if (chains > l->nchains) {
		listing_unindex_locked(l);
		l->chains = calloc(chains, sizeof(struct listing_entry *));
		l->nchains = chains;
		p = TAILQ_FIRST(&l->pages);
	}
	for (; p && l->chains; p = TAILQ_NEXT(p, link))
		index_page_locked(l, p);
	if (!l->chains)
		l->nchains = 0;
}

static const struct listing_entry *find_locked(struct listing *l, const char *name)
	REQUIRES(l->lock)
{
	size_t len = strlen(name);
	const struct listing_entry *rec;

	index_locked(l);
	if (!l->chains)
		return NULL;
	rec = *chain_of(l, name, len);
	while (rec && (rec->namelen != len || memcmp(rec->text + rec->fhlen, name, len) != 0))
		rec = rec->next;
	return rec;
}

/* Finds the entry of name in l. False: none, or one without attributes. */
static bool find(struct listing *l, const char *name, struct listed *out)
{
	const struct listing_entry *rec;
	bool found;

	mutex_lock(&l->lock);
	rec = find_locked(l, name);
	found = rec && listing_entry_fh(rec, &out->fh);
	if (found) {
		out->attr = rec->attr;
		out->asked = rec->page->asked;
	}
	mutex_unlock(&l->lock);
	return found;
}

/* find() in the listings of r->dir that belong to the caller's credential. Of several, the one that
 * was begun beside counts: it is younger. */
static bool look(struct request *r, struct listed *out)
{
	const struct rpc_cred *cred = &r->batch.cred;
	struct listing *l[2];
	bool found = false;

	listings_kept(r->fs, r->dir, l);
	for (unsigned i = 0; i < 2; i++) {
		if (l[i] && !found && rpc_same_cred(&l[i]->cred, cred))
			found = find(l[i], r->name, out);
		listing_unref(r->fs, r->dir, l[i]);
	}
	return found;
}

/* --- believing an entry ----------------------------------------------------------------------- */

/* Are attributes from a call sent at `asked` young enough to be believed? */
static bool is_young(const struct fs *fs, uint64_t asked)
{
	const struct options *o = fs->opt;
	uint64_t s = o->acregmin < o->acdirmin ? o->acregmin : o->acdirmin;

	return clock_age(clock_ns(), asked) < s * NSEC_PER_SEC;
}

/* Is the name of an entry from a call sent at `asked` young enough to be believed? */
static bool name_is_young(const struct fs *fs, struct inode *dir, uint64_t asked)
{
	const struct options *o = fs->opt;

	return clock_age(clock_ns(), asked) <
	       attrs_timeout(&dir->attrs, o->acdirmin, o->acdirmax) * NSEC_PER_SEC;
}

bool listed_is_of_use(struct fs *fs, struct inode *dir, uint64_t asked)
{
	return asked && is_young(fs, asked) && names_unchanged(fs->names, dir, NULL, asked);
}

/* The inode of e, with a lookup for the kernel. NULL: no inode exists, and e is too old to make
 * one. */
static struct inode *inode_for(struct fs *fs, const struct listed *e)
{
	struct inode *ino = inode_find(fs->inodes, &e->fh);
	bool held;

	if (!ino) {
		if (!is_young(fs, e->asked) || inode_left_since(fs->inodes, &e->fh, e->asked))
			return NULL;
		return inode_lookup(fs->inodes, &e->fh, &e->attr);
	}
	held = inode_hold(fs->inodes, ino);
	inode_unref(ino); /* the kernel has a lookup */
	return held ? ino : NULL;
}

/* Known and believed attributes of ino or, if e has believed ones, the attributes of e: *attr, as
 * of *asked. */
static bool attr_of(struct fs *fs, struct inode *ino, const struct listed *e, struct nfs_attr *attr,
	uint64_t *asked)
{
	if (!entry_may_tell(ino))
		return false;
	if (entry_known_attr(fs, ino, &e->attr, e->asked, attr, asked))
		return true;
	if (!is_young(fs, e->asked) || !inode_is_older(ino, e->asked))
		return false;
	*attr = e->attr;
	*asked = e->asked;
	entry_note_attr(fs, ino, attr, *asked);
	return entry_may_tell(ino);
}

bool listed_lookup(struct request *r, uint64_t asked)
{
	struct fs *fs = r->fs;
	struct nfs_attr attr;
	struct told told = {.attr = &attr, .born = r->born, .tid = r->pid};
	struct fuse_entry_param entry;
	struct inode *ino;
	struct listed e;

	if (!entry_wants_dir(fs) || !look(r, &e) || e.asked <= asked ||
		!name_is_young(fs, r->dir, e.asked) ||
		!names_unchanged(fs->names, r->dir, r->name, e.asked))
		return false;
	ino = inode_for(fs, &e);
	if (!ino)
		return false;
	if (!attr_of(fs, ino, &e, &attr, &told.asked) || turn_forbids(ino, r->pid, attr.size)) {
		inode_forget(fs->inodes, ino, 1);
		return false;
	}
	listings_earn(fs, LISTED_EARNS);
	told.name_asked = e.asked;
	entry_fill_known(fs, r->dir, r->name, ino, &told, &entry);
	entry_reply(r, ino, &entry);
	return true;
}

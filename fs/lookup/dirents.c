/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirents: entries of a directory, as the kernel gets them.
 */
#include "fs/lookup/dirents.h"

#include <string.h>

#include "fs/known/attr.h"
#include "fs/lookup/entry.h"
#include "fs/known/inode.h"
#include "fs/kernel/turn.h"
#include "transport/clock.h"

#define SAMPLE 64u /* entries that are looked at for the age of attributes */

/* The inode of rec, which is in p, with a reference, if its attributes are known and believed, and
 * no older than rec; else NULL. */
static struct inode *known(struct fs *fs, const struct page *p, const struct listing_entry *rec,
	struct nfs_attr *attr, uint64_t *asked)
{
	struct nfs_fh fh;
	struct inode *ino;

	if (!listing_entry_fh(rec, &fh))
		return NULL;
	ino = inode_find(fs->inodes, &fh);
	if (ino && entry_known_attr(fs, ino, &rec->attr, p->asked, attr, asked))
		return ino;
	return inode_unref(ino);
}

/* Are attributes that the server was asked for `age` ns ago young enough to be believed? */
static bool is_young(const struct fs *fs, uint64_t age)
{
	const struct options *o = fs->opt;
	uint64_t s = o->acregmin < o->acdirmin ? o->acregmin : o->acdirmin;

	return age <= s * NSEC_PER_SEC || age <= 20000000;
}

/* The thread that asks. */
static pid_t tid_of(const struct dirents *out)
{
	return fuse_req_ctx(out->fuse)->pid;
}

/* The inode of rec, with a lookup for the kernel, if the kernel may believe the attributes of rec;
 * else NULL. */
static struct inode *believe(
	struct dirents *out, const struct page *p, const struct listing_entry *rec, uint64_t now)
{
	struct fs *fs = out->fs;
	struct nfs_fh fh;
	struct inode *ino;

	if (!listing_entry_fh(rec, &fh) || !is_young(fs, clock_age(now, p->asked)))
		return NULL;
	/* the name may have been removed since, or given to another file */
	if (atomic_load_explicit(&out->dir->attrs.touched, memory_order_relaxed) >= p->asked)
		return NULL;
	ino = inode_lookup(fs->inodes, &fh, &rec->attr);
	/* the kernel may have been told newer attributes by now */
	if (ino && (atomic_load_explicit(&ino->attrs.touched, memory_order_relaxed) >= p->asked ||
			   attrs_is_past(&ino->attrs, p->asked) || !entry_may_tell(ino) ||
			   turn_forbids(ino, tid_of(out), rec->attr.size))) {
		inode_forget(fs->inodes, ino, 1);
		return NULL;
	}
	return ino;
}

bool dirents_put(
	struct dirents *out, const char *name, uint64_t off, const struct fuse_entry_param *e)
{
	size_t room = out->cap - out->len, n;

	if (out->plus)
		n = fuse_add_direntry_plus(out->fuse, out->mem + out->len, room, name, e, off);
	else
		n = fuse_add_direntry(out->fuse, out->mem + out->len, room, name, &e->attr, off);
	if (n > room)
		return false;
	out->len += n;
	return true;
}

/* The entry of rec with attributes, if the kernel may believe any; else NULL. The inode then has a
 * lookup for the kernel. */
static struct inode *fill(struct dirents *out, const struct page *p,
	const struct listing_entry *rec, uint64_t now, struct fuse_entry_param *e)
{
	struct fs *fs = out->fs;
	struct inode *dir = out->dir;
	const char *name = rec->text + rec->fhlen;
	struct inode *ino = believe(out, p, rec, now);
	struct nfs_attr attr;
	struct told told = {
		.attr = &rec->attr,
		.asked = p->asked,
		.name_asked = p->asked,
		.born = now,
		.tid = tid_of(out),
	};

	if (ino) {
		entry_note_attr(fs, ino, &rec->attr, p->asked);
		if (entry_may_tell(ino)) {
			entry_fill(fs, dir, name, ino, &told, e);
			return ino;
		}
		inode_forget(fs->inodes, ino, 1);
		return NULL;
	}
	told.attr = &attr;
	ino = known(fs, p, rec, &attr, &told.asked);
	if (!ino || !entry_believed(fs, dir, p->asked) || !entry_may_tell(ino) ||
		turn_forbids(ino, told.tid, attr.size) || !inode_hold(fs->inodes, ino)) {
		inode_unref(ino);
		return NULL;
	}
	entry_fill_known(fs, dir, name, ino, &told, e);
	inode_unref(ino); /* the kernel has a lookup */
	return ino;
}

bool dirents_put_record(
	struct dirents *out, const struct page *p, const struct listing_entry *rec, uint64_t now)
{
	struct fuse_entry_param e = {0};
	struct inode *ino = NULL;

	if (out->plus && out->may_search && out->nserved < DIRENTS_SERVED_MAX)
		ino = fill(out, p, rec, now, &e);
	if (ino) {
		turn_told(out->fs, ino, tid_of(out), (uint64_t)e.attr.st_size);
	} else {
		e.attr.st_ino = rec->number;
		e.attr.st_mode = attr_type_mode(rec->attr.type);
	}
	if (!dirents_put(out, rec->text + rec->fhlen, rec->cookie, &e)) {
		if (ino)
			inode_forget(out->fs->inodes, ino, 1);
		return false;
	}
	if (ino)
		out->served[out->nserved++] = ino;
	return true;
}

void dirents_untaken(struct dirents *out)
{
	while (out->nserved)
		inode_forget(out->fs->inodes, out->served[--out->nserved], 1);
}

bool dirents_have_attr(struct fs *fs, const struct listing *l)
{
	unsigned n = 0, good = 0;
	const struct page *p;
	struct nfs_attr attr;
	uint64_t asked;

	mutex_alone(&l->lock); /* l is whole: the pages do not change */
	p = TAILQ_FIRST(&l->pages);
	if (is_young(fs, clock_age(clock_ns(), l->asked)))
		return true;
	for (size_t pos = 0; pos < p->len && n < SAMPLE; n++) {
		const struct listing_entry *rec = (struct listing_entry *)(p->mem + pos);
		struct inode *ino = known(fs, p, rec, &attr, &asked);

		good += ino != NULL;
		inode_unref(ino);
		pos += rec->len;
	}
	return good >= n - n / 8;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * silly: names under which unlinked files live on until their last close.
 */
#include "fs/silly.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fs/deleg.h"
#include "fs/fs.h"
#include "fs/names.h"
#include "fs/opening.h"
#include "transport/log.h"

#define DROP_ALL_WAIT_MS 3000

struct silly_names {
	uint32_t tag;	      /* constant */
	atomic_uint next;     /* number of the next name */
	atomic_uint removing; /* REMOVEs under way */
	pthread_mutex_t lock; /* what follows */
	unsigned ending;      /* last closes of files with a silly name, and REMOVEs, under way */
	uint64_t ended;	      /* how many of those have ended so far */
	struct request_list waiting; /* rmdirs, by request.free; next goes on */
};

struct silly_names *silly_names_new(uint32_t tag)
{
	struct silly_names *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->tag = tag;
	pthread_mutex_init(&s->lock, NULL);
	SLIST_INIT(&s->waiting);
	return s;
}

struct silly_names *silly_names_free(struct silly_names *s)
{
	if (!s)
		return NULL;
	pthread_mutex_destroy(&s->lock);
	free(s);
	return NULL;
}

static struct nfs_name name_of(const struct silly *s)
{
	return (struct nfs_name){s->name, (uint32_t)strlen(s->name)};
}

/* --- who waits for them to go ----------------------------------------------------------------- */

static void ending(struct fs *fs)
{
	pthread_mutex_lock(&fs->silly->lock);
	fs->silly->ending++;
	pthread_mutex_unlock(&fs->silly->lock);
}

static void ended(struct fs *fs)
{
	struct request_list list;
	struct request *r;

	pthread_mutex_lock(&fs->silly->lock);
	fs->silly->ending--;
	fs->silly->ended++;
	list = fs->silly->waiting;
	SLIST_INIT(&fs->silly->waiting);
	pthread_mutex_unlock(&fs->silly->lock);
	while ((r = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, free);
		r->next(r);
	}
}

uint64_t silly_count_ended(struct fs *fs)
{
	uint64_t n;

	pthread_mutex_lock(&fs->silly->lock);
	n = fs->silly->ended;
	pthread_mutex_unlock(&fs->silly->lock);
	return n;
}

bool silly_wait(struct request *r, uint64_t seen, request_step_fn *next)
{
	struct silly_names *s = r->fs->silly;
	bool again, waits;

	pthread_mutex_lock(&s->lock);
	again = seen != s->ended;
	waits = !again && s->ending;
	r->next = next;
	if (waits)
		SLIST_INSERT_HEAD(&s->waiting, r, free);
	pthread_mutex_unlock(&s->lock);
	if (again)
		next(r);
	return again || waits;
}

void silly_take_gone(struct fs *fs, struct request_list *gone)
{
	pthread_mutex_lock(&fs->silly->lock);
	request_list_take_gone(&fs->silly->waiting, gone);
	pthread_mutex_unlock(&fs->silly->lock);
}

/* --- removing them ---------------------------------------------------------------------------- */

static void removed(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct silly *s = r->u.unlink.silly;
	struct fs *fs = r->fs;

	if (op->error && op->error != -ENOENT)
		log_warn("%s of an unlinked file that was open could not be removed: %s", s->name,
			strerror(-op->error));
	free(s);
	ended(fs);
	atomic_fetch_sub(&fs->silly->removing, 1);
	request_free(r);
}

/* Removes it on the server and frees s. ino: whose it is, if nobody has that open. */
static void remove_name(struct fs *fs, struct silly *s, struct inode *ino)
{
	struct request *r = request_new_cred(fs, NULL, &s->cred);
	struct nfs_op *op;

	if (!r) {
		log_warn("%s of an unlinked file stays: out of memory", s->name);
		free(s);
		return;
	}
	atomic_fetch_add(&fs->silly->removing, 1);
	ending(fs);
	r->u.unlink.silly = s;
	r->dir = inode_find(fs->inodes, &s->dir);
	if (r->dir)
		request_naming_begin(r);
	op = request_op(r, NFS_REMOVE, remove);
	op->u.remove.dir = s->dir;
	op->u.remove.name = name_of(s);
	op->u.remove.deleg = ino ? deleg_leaves(fs, ino) : 0;
	op->u.remove.deleg_fh = ino ? &ino->fh : NULL;
	request_submit(r, removed);
}

void silly_drop(struct fs *fs, struct inode *ino)
{
	struct silly *s = NULL;

	pthread_mutex_lock(&ino->lock);
	if (!ino->nopen) {
		s = ino->silly;
		ino->silly = NULL;
	}
	pthread_mutex_unlock(&ino->lock);
	if (s)
		remove_name(fs, s, ino);
}

void silly_drop_all(struct fs *fs)
{
	struct inode *ino;
	struct silly *s;

	while ((ino = inode_next_silly(fs->inodes, &s))) {
		remove_name(fs, s, NULL);
		inode_unref(ino);
	}
	for (int ms = 0; atomic_load(&fs->silly->removing) && ms < DROP_ALL_WAIT_MS; ms++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

bool silly_close_begin(struct fs *fs, struct inode *ino)
{
	bool last;

	pthread_mutex_lock(&ino->lock);
	last = ino->silly && ino->nopen == 1;
	pthread_mutex_unlock(&ino->lock);
	if (last)
		ending(fs);
	return last;
}

void silly_close_end(struct fs *fs)
{
	ended(fs);
}

/* --- giving them ------------------------------------------------------------------------------ */

/* r needs r->inode, which it has found open, no longer. Only for a rename does it count as open. */
static void let_go(struct request *r)
{
	if (r->to_dir) {
		opening_end(r->fs, r->inode);
		silly_drop(r->fs, r->inode);
	}
	r->inode = inode_unref(r->inode);
}

static void renamed(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct silly *s = r->u.unlink.silly;
	struct inode *ino = r->inode;

	r->u.unlink.silly = NULL;
	if (op->error) {
		free(s);
		r->u.unlink.error = op->error;
		let_go(r);
		r->next(r);
		return;
	}
	pthread_mutex_lock(&ino->lock);
	if (!ino->silly) {
		ino->silly = s;
		s = NULL;
	}
	pthread_mutex_unlock(&ino->lock);
	atomic_store(&ino->is_silly, true);
	inode_touch(ino);
	/* If the file was closed in the meantime, or had another silly name (a server that counts
	 * links wrongly), nobody would remove this one. */
	if (s)
		remove_name(r->fs, s, NULL);
	else
		silly_drop(r->fs, ino);
	r->u.unlink.renamed = true;
	r->next(r);
}

/* Is name in dir the silly one of ino already? */
static bool is_silly_name(struct inode *ino, const struct nfs_fh *dir, const struct nfs_name *name)
{
	const struct silly *s;
	bool is;

	pthread_mutex_lock(&ino->lock);
	s = ino->silly;
	is = s && nfs_fh_equal(&s->dir, dir) && strlen(s->name) == name->len &&
	     !memcmp(s->name, name->s, name->len);
	pthread_mutex_unlock(&ino->lock);
	return is;
}

static struct silly *make_name(struct request *r, const struct nfs_fh *dir)
{
	struct silly *s = calloc(1, sizeof(*s));
	struct fs *fs = r->fs;

	if (!s)
		return NULL;
	s->dir = *dir;
	s->cred = r->batch.cred;
	snprintf(s->name, sizeof(s->name), ".nfs%016llx%08x%04x",
		(unsigned long long)r->inode->fileid, fs->silly->tag,
		atomic_fetch_add(&fs->silly->next, 1) & 0xffff);
	return s;
}

static void looked_up(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct nfs_fh dir = op->u.lookup.dir;
	struct nfs_name name = op->u.lookup.name;
	bool last = !op->error && op->u.lookup.attr.type == NFS_REG && op->u.lookup.attr.nlink <= 1;
	struct silly *s;

	if (last)
		r->inode = inode_find(r->fs->inodes, &op->u.lookup.fh);
	/* a rename may have to give it its name back */
	if (r->inode && opening_claim(r, r->inode, r->to_dir != NULL))
		r->inode = NULL;
	if (!r->inode) {
		r->next(r);
		return;
	}
	r->u.unlink.error = is_silly_name(r->inode, &dir, &name) ? -EBUSY : 0;
	s = r->u.unlink.error ? NULL : make_name(r, &dir);
	if (!s) {
		r->u.unlink.error = r->u.unlink.error ? r->u.unlink.error : -ENOMEM;
		let_go(r);
		r->next(r);
		return;
	}
	r->u.unlink.silly = s;
	names_making(r->fs->names, r->to_dir ? r->to_dir : r->dir, s->name);
	op = request_op(r, NFS_RENAME, rename);
	op->u.rename.from_dir = op->u.rename.to_dir = dir;
	op->u.rename.from = name;
	op->u.rename.to = name_of(s);
	op->u.rename.moved = &r->inode->fh;
	request_submit(r, renamed);
}

/* True: no file of the mount is open, so name needs no silly one. Until opening_claim_end() opens
 * of the file that it stands for wait. */
static bool none_open(struct request *r, const char *name)
{
	struct names *names = r->fs->names;
	struct name_info info;

	if (atomic_load(&r->fs->open_files))
		return false;
	if (!names_get(names, r->to_dir ? r->to_dir : r->dir, name, &info) ||
		opening_claim(r, info.ino, false))
		return true;
	inode_unref(info.ino);
	return false;
}

/* True: name stood for a file that is not open when it was last asked for. If it still does so it
 * needs no silly one, and over NFSv4 REMOVE itself can see to that. Opens wait as above. */
static bool known_closed(struct request *r, const char *name)
{
	struct name_info info;

	if (r->u.unlink.ask || r->fs->info.vers_major < 4 ||
		!names_get(r->fs->names, r->to_dir ? r->to_dir : r->dir, name, &info))
		return false;
	r->u.unlink.only = info.ino->type != NFS_DIR && opening_claim(r, info.ino, false);
	if (!r->u.unlink.only)
		inode_unref(info.ino);
	return r->u.unlink.only;
}

void silly_check(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next)
{
	struct nfs_op *op;

	r->u.unlink.error = 0;
	r->u.unlink.renamed = r->u.unlink.only = false;
	if (r->u.unlink.none || none_open(r, name->s) || known_closed(r, name->s)) {
		next(r);
		return;
	}
	r->next = next;
	op = request_op(r, NFS_LOOKUP, lookup);
	op->u.lookup.dir = *dir;
	op->u.lookup.name = *name;
	request_submit(r, looked_up);
}

void silly_replaced(struct request *r)
{
	if (r->inode)
		let_go(r);
}

static void undone(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct silly *s = r->u.unlink.silly;

	if (op->error)
		log_warn("a file that a failed rename was to replace is left as %s: %s", s->name,
			strerror(-op->error));
	free(s);
	let_go(r);
	r->next(r);
}

void silly_undo(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next)
{
	struct inode *ino = r->inode;
	struct silly *s = NULL;
	struct nfs_op *op;

	if (ino) {
		pthread_mutex_lock(&ino->lock);
		s = ino->silly;
		ino->silly = NULL;
		pthread_mutex_unlock(&ino->lock);
	}
	if (!s) {
		silly_replaced(r);
		next(r);
		return;
	}
	atomic_store(&ino->is_silly, false);
	request_keep_going(r);
	r->u.unlink.silly = s;
	r->next = next;
	op = request_op(r, NFS_RENAME, rename);
	op->u.rename.from_dir = op->u.rename.to_dir = *dir;
	op->u.rename.from = name_of(s);
	op->u.rename.to = *name;
	op->u.rename.moved = &ino->fh;
	request_submit(r, undone);
}

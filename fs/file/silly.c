/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * silly: names that keep unlinked files alive until their last close.
 */
#include "fs/file/silly.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fs/coherence/deleg.h"
#include "fs/kernel/ending.h"
#include "fs/kernel/underway.h"
#include "fs/known/fs.h"
#include "nfsproto/common/nfs_record.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define DROP_ALL_NS	(3 * NSEC_PER_SEC)
#define NO_ID		0u /* no inode has these node IDs in a record */
#define LEFT_ID		UINT64_MAX
#define NOTED_NUMBERS	0xfffffffu			       /* seven hexadecimal digits */
#define NOTE_MAX	(NFS_FH_MAX + 4u * RPC_MAX_GIDS + 128) /* bytes of a note */
#define RETRY_DOUBLINGS 6 /* a REMOVE that failed is sent again after 1, 2, 4 ... 64 s */

struct silly_names {
	uint32_t tag;	      /* constant while requests are served */
	atomic_uint next;     /* number of the next name */
	atomic_uint removing; /* REMOVEs in flight */
	struct mutex lock;
	/* last closes of files with a silly name, and REMOVEs, in flight */
	unsigned ending GUARDED_BY(lock);
	/* number of such closes and REMOVEs that have ended so far */
	uint64_t ended GUARDED_BY(lock);
	struct request_list waiting GUARDED_BY(lock); /* rmdirs, by request.free; next goes on */
	/* names to remove again: their REMOVE has failed */
	GUARDED_BY(lock) SLIST_HEAD(, silly) left;
	/* names that requests of the former daemon were giving; without notes of their own */
	GUARDED_BY(lock) SLIST_HEAD(silly_begun, silly) begun;
	bool last GUARDED_BY(lock); /* the mount ends: no REMOVE is sent again */
	/* a successor has files with silly names, and their RELEASE may still come again */
	bool unsettled GUARDED_BY(lock);
};

struct silly_names *silly_names_new(uint32_t tag)
{
	struct silly_names *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->tag = tag;
	mutex_init(&s->lock);
	SLIST_INIT(&s->waiting);
	SLIST_INIT(&s->left);
	SLIST_INIT(&s->begun);
	return s;
}

struct silly_names *silly_names_free(struct silly_names *s)
{
	struct silly *left;

	if (!s)
		return NULL;
	mutex_destroy(&s->lock);
	while ((left = SLIST_FIRST(&s->left))) {
		SLIST_REMOVE_HEAD(&s->left, link);
		free(left);
	}
	while ((left = SLIST_FIRST(&s->begun))) {
		SLIST_REMOVE_HEAD(&s->begun, link);
		free(left);
	}
	free(s);
	return NULL;
}

static struct nfs_name name_of(const struct silly *s)
{
	return (struct nfs_name){s->name, (uint32_t)strlen(s->name)};
}

/* --- waiting for the removal of silly names --------------------------------------------------- */

static void go_on(struct request_list *list)
{
	struct request *r;

	while ((r = SLIST_FIRST(list))) {
		SLIST_REMOVE_HEAD(list, free);
		r->next(r);
	}
}

static void ending(struct fs *fs)
{
	mutex_lock(&fs->silly->lock);
	fs->silly->ending++;
	mutex_unlock(&fs->silly->lock);
}

static void ended(struct fs *fs)
{
	struct request_list list;

	mutex_lock(&fs->silly->lock);
	fs->silly->ending--;
	fs->silly->ended++;
	list = fs->silly->waiting;
	SLIST_INIT(&fs->silly->waiting);
	mutex_unlock(&fs->silly->lock);
	go_on(&list);
}

void silly_settle(struct fs *fs)
{
	struct request_list list;

	mutex_lock(&fs->silly->lock);
	fs->silly->unsettled = false;
	list = fs->silly->waiting;
	SLIST_INIT(&fs->silly->waiting);
	mutex_unlock(&fs->silly->lock);
	go_on(&list);
}

uint64_t silly_count_ended(struct fs *fs)
{
	uint64_t n;

	mutex_lock(&fs->silly->lock);
	n = fs->silly->ended;
	mutex_unlock(&fs->silly->lock);
	return n;
}

bool silly_wait(struct request *r, uint64_t seen, request_step_fn *next)
{
	struct silly_names *s = r->fs->silly;
	bool again, waits;

	mutex_lock(&s->lock);
	again = seen != s->ended;
	waits = !again && (s->ending || s->unsettled);
	r->next = next;
	if (waits)
		SLIST_INSERT_HEAD(&s->waiting, r, free);
	mutex_unlock(&s->lock);
	if (again)
		next(r);
	return again || waits;
}

void silly_take_gone(struct fs *fs, struct request_list *gone)
{
	mutex_lock(&fs->silly->lock);
	request_list_take_gone(&fs->silly->waiting, gone);
	mutex_unlock(&fs->silly->lock);
}

bool silly_refused(int error)
{
	switch (-error) {
	case EPERM:
	case EACCES:
	case EEXIST:
	case EXDEV:
	case ENOTDIR:
	case EISDIR:
	case EINVAL:
	case ENOSPC:
	case EROFS:
	case EMLINK:
	case ENAMETOOLONG:
	case ENOTEMPTY:
	case EDQUOT:
	case ESTALE:
		return true;
	default:
		return false;
	}
}

/* --- removing silly names --------------------------------------------------------------------- */

/* s could not be removed. The REMOVE is sent again later, unless the server refuses or the mount
 * ends. */
static void put_off(struct fs *fs, struct silly *s, int error)
{
	unsigned seconds = s->tries < RETRY_DOUBLINGS ? 1u << s->tries : 1u << RETRY_DOUBLINGS;
	bool later;

	mutex_lock(&fs->silly->lock);
	later = !silly_refused(error) && !fs->silly->last;
	if (!later || !s->tries)
		log_warn("%s of an unlinked file that was open could not be removed%s: %s", s->name,
			later ? " yet" : "", strerror(-error));
	if (later) {
		s->due = clock_ns() + seconds * 1000000000ull;
		s->tries++;
		SLIST_INSERT_HEAD(&fs->silly->left, s, link);
	}
	mutex_unlock(&fs->silly->lock);
	if (!later)
		silly_free(fs, s);
}

/* The removal of a silly name of ino, which silly_drop() began, has ended. */
static void gone(struct inode *ino)
{
	inode_touch(ino);
	atomic_fetch_sub(&ino->silly.going, 1);
}

static void removed(struct request *r)
{
	int error = r->batch.first.op.error;
	struct silly *s = unlink_of(r)->silly;
	struct fs *fs = r->fs;

	if (error && error != -ENOENT)
		put_off(fs, s, error);
	else
		silly_free(fs, s);
	if (r->inode)
		gone(r->inode);
	ended(fs);
	atomic_fetch_sub(&fs->silly->removing, 1);
	request_free(r);
}

void silly_remove(struct fs *fs, struct silly *s, struct inode *ino)
{
	struct request *r = request_new_cred(fs, NULL, &s->cred);
	struct nfs_op *op;

	if (!r) {
		log_warn("%s of an unlinked file stays: out of memory", s->name);
		silly_free(fs, s);
		if (ino)
			gone(ino);
		return;
	}
	atomic_fetch_add(&fs->silly->removing, 1);
	ending(fs);
	unlink_of(r)->silly = s;
	r->dir = inode_find(fs->inodes, &s->dir);
	if (r->dir)
		request_naming_begin(r);
	op = request_op(r, NFS_REMOVE, remove);
	op->u.remove.dir = s->dir;
	op->u.remove.name = name_of(s);
	op->u.remove.deleg = ino ? deleg_leaves(fs, ino) : 0;
	op->u.remove.deleg_fh = ino ? &ino->fh : NULL;
	if (ino)
		r->inode = inode_ref(ino);
	request_submit(r, removed);
}

void silly_drop(struct fs *fs, struct inode *ino)
{
	struct silly *s = NULL;

	mutex_lock(&ino->lock);
	if (!ino->opens.count) {
		s = ino->silly.name;
		ino->silly.name = NULL;
	}
	if (s) {
		atomic_store(&ino->silly.is, false);
		atomic_fetch_add(&ino->silly.going, 1);
	}
	mutex_unlock(&ino->lock);
	if (s)
		silly_remove(fs, s, ino);
}

/* Removes the names that are left and due, or all that are left. */
static void remove_left(struct fs *fs, bool all)
{
	SLIST_HEAD(, silly) due = SLIST_HEAD_INITIALIZER(due), stay = SLIST_HEAD_INITIALIZER(stay);
	uint64_t now = clock_ns();
	struct silly *s;

	mutex_lock(&fs->silly->lock);
	fs->silly->last |= all;
	while ((s = SLIST_FIRST(&fs->silly->left))) {
		SLIST_REMOVE_HEAD(&fs->silly->left, link);
		if (all || now >= s->due)
			SLIST_INSERT_HEAD(&due, s, link);
		else
			SLIST_INSERT_HEAD(&stay, s, link);
	}
	SLIST_FIRST(&fs->silly->left) = SLIST_FIRST(&stay);
	mutex_unlock(&fs->silly->lock);
	while ((s = SLIST_FIRST(&due))) {
		SLIST_REMOVE_HEAD(&due, link);
		silly_remove(fs, s, NULL);
	}
}

void silly_tick(struct fs *fs)
{
	remove_left(fs, false);
}

void silly_drop_all(struct fs *fs)
{
	struct inode *ino;
	uint64_t until;
	struct silly *s;
	unsigned n;

	silly_settle(fs);
	while ((ino = inode_next_silly(fs->inodes, &s))) {
		silly_remove(fs, s, NULL);
		inode_unref(ino);
	}
	remove_left(fs, true);
	until = ending_until(fs, DROP_ALL_NS);
	while (atomic_load(&fs->silly->removing) && clock_ns() < until)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	n = atomic_load(&fs->silly->removing);
	if (n)
		log_warn("the server does not answer: %u files named .nfs... that are unlinked may "
			 "stay there",
			n);
}

bool silly_close_begin(struct fs *fs, struct inode *ino)
{
	bool last;

	mutex_lock(&ino->lock);
	last = ino->silly.name && ino->opens.count == 1;
	mutex_unlock(&ino->lock);
	if (last)
		ending(fs);
	return last;
}

void silly_close_end(struct fs *fs)
{
	ended(fs);
}

unsigned silly_number(struct fs *fs, uint64_t noted, uint32_t *tag)
{
	struct silly_names *s = fs->silly;

	*tag = s->tag;
	if (noted)
		return (unsigned)(noted >> 1) & NOTED_NUMBERS;
	return atomic_fetch_add(&s->next, 1) & 0xffff;
}

/* --- for a successor -------------------------------------------------------------------------- */

static void put_silly(uint64_t id, const struct silly *s, struct xdr_out *x)
{
	xdr_put_u64(x, id);
	nfs_record_put_fh(x, &s->dir);
	nfs_record_put_cred(x, &s->cred);
	nfs_record_put_text(x, s->name);
	xdr_put_bool(x, s->sure);
}

static void put_of(struct inode *ino, void *ctx)
{
	mutex_lock(&ino->lock);
	if (ino->silly.name)
		put_silly(ino->id, ino->silly.name, ctx);
	mutex_unlock(&ino->lock);
}

/* The names of inodes, each with its node ID; those to be removed again, with LEFT_ID; and the end,
 * NO_ID. */
void silly_put_record(struct fs *fs, struct inode *const forgotten[], uint32_t n, struct xdr_out *x)
{
	const struct silly *s;

	xdr_put_u32(x, fs->silly->tag);
	xdr_put_u32(x, atomic_load(&fs->silly->next));
	inode_table_each(fs->inodes, put_of, x);
	for (uint32_t i = 0; i < n; i++)
		put_of(forgotten[i], x);
	mutex_lock(&fs->silly->lock);
	SLIST_FOREACH(s, &fs->silly->left, link)
	put_silly(LEFT_ID, s, x);
	mutex_unlock(&fs->silly->lock);
	xdr_put_u64(x, NO_ID);
}

static void read_silly(struct silly *s, struct xdr_in *x)
{
	nfs_record_get_fh(x, &s->dir);
	nfs_record_get_cred(x, &s->cred);
	nfs_record_get_text(x, s->name, sizeof(s->name));
	s->sure = xdr_get_bool(x);
}

/* False: no memory, unless x is bad. */
static bool get_silly(struct fs *fs, uint64_t id, struct xdr_in *x)
{
	struct inode *ino = id == LEFT_ID ? NULL : inode_inherited(fs->inodes, id);
	struct silly *s = calloc(1, sizeof(*s));

	if (!s)
		return false;
	read_silly(s, x);
	if (id != LEFT_ID && (!ino || ino->silly.is))
		xdr_in_fail(x);
	if (!xdr_in_ok(x)) {
		free(s);
		return false;
	}
	if (ino) {
		mutex_lock(&ino->lock);
		ino->silly.name = s;
		atomic_store(&ino->silly.is, true);
		mutex_unlock(&ino->lock);
	} else {
		mutex_lock(&fs->silly->lock);
		SLIST_INSERT_HEAD(&fs->silly->left, s, link);
		mutex_unlock(&fs->silly->lock);
	}
	return true;
}

bool silly_get_record(struct fs *fs, struct xdr_in *x)
{
	uint64_t id;

	fs->silly->tag = xdr_get_u32(x);
	atomic_store(&fs->silly->next, xdr_get_u32(x));
	while ((id = xdr_get_u64(x)) != NO_ID && xdr_in_ok(x))
		if (!get_silly(fs, id, x))
			return false;
	return true;
}

/* --- notes ------------------------------------------------------------------------------------ */

void silly_note(struct fs *fs, struct silly *s, uint64_t id)
{
	uint8_t bytes[NOTE_MAX];
	struct xdr_out x;

	if (!fs->ledger)
		return;
	xdr_out_init(&x, bytes, sizeof(bytes));
	put_silly(id, s, &x);
	xdr_put_u64(&x, s->request);
	if (xdr_out_ok(&x))
		ledger_put(fs->ledger, &s->note, NOTE_SILLY, bytes, x.len);
	else
		ledger_give_up(fs->ledger);
}

void silly_free(struct fs *fs, struct silly *s)
{
	if (s)
		ledger_drop(fs->ledger, &s->note);
	free(s);
}

uint32_t silly_tag(const struct fs *fs)
{
	return fs->silly->tag;
}

/* Gives the inode with that node ID the name s, or has the name removed. */
static void take_over(struct fs *fs, uint64_t id, struct silly *s)
{
	struct inode *ino = inode_inherited(fs->inodes, id);
	bool keeps = false;

	silly_note(fs, s, id);
	if (ino) {
		mutex_lock(&ino->lock);
		keeps = ino->opens.count && !ino->silly.name;
		if (keeps) {
			ino->silly.name = s;
			atomic_store(&ino->silly.is, s->sure);
		}
		mutex_unlock(&ino->lock);
	}
	mutex_lock(&fs->silly->lock);
	if (keeps)
		fs->silly->unsettled = true;
	else
		SLIST_INSERT_HEAD(&fs->silly->left, s, link);
	mutex_unlock(&fs->silly->lock);
}

/* If the request that gives the name s comes again, the request goes on with that name. False: no
 * memory. */
static bool note_begun(struct fs *fs, uint64_t id, const struct silly *s)
{
	struct silly *begun;

	if (!s->request || !inode_inherited(fs->inodes, id) ||
		underway_has_answer(fs, s->request) ||
		!nfs_client_has_changes(fs->client, s->request))
		return true;
	begun = malloc(sizeof(*begun));
	if (!begun)
		return false;
	*begun = *s;
	begun->id = id;
	mutex_lock(&fs->silly->lock);
	SLIST_INSERT_HEAD(&fs->silly->begun, begun, link);
	mutex_unlock(&fs->silly->lock);
	return true;
}

int silly_former(struct fs *fs, uint32_t tag, const struct former *former, struct err *e)
{
	fs->silly->tag = tag;
	for (uint32_t i = 0; i < former_count(former, NOTE_SILLY); i++) {
		struct silly *s = calloc(1, sizeof(*s));
		struct xdr_in x;
		uint64_t id;
		uint32_t len;
		const void *data = former_note(former, NOTE_SILLY, i, &len);

		if (!s)
			return err_set(
				e, ERR_INTERNAL, "out of memory for names of unlinked files");
		xdr_in_init(&x, data, len);
		id = xdr_get_u64(&x);
		read_silly(s, &x);
		s->request = xdr_get_u64(&x);
		if (!xdr_in_done(&x)) {
			free(s);
			return err_set(e, ERR_INTERNAL,
				"a note of the former daemon's silly names is damaged");
		}
		if (!note_begun(fs, id, s)) {
			free(s);
			return err_set(
				e, ERR_INTERNAL, "out of memory for names of unlinked files");
		}
		take_over(fs, id, s);
	}
	return 0;
}

struct silly *silly_take_begun(struct request *r, struct inode **ino)
{
	struct silly_names *all = r->fs->silly;
	struct silly *s;

	mutex_lock(&all->lock);
	SLIST_FOREACH(s, &all->begun, link)
	if (s->request == request_number(r))
		break;
	if (s)
		SLIST_REMOVE(&all->begun, s, silly, link);
	mutex_unlock(&all->lock);
	if (s)
		*ino = inode_ref(inode_inherited(r->fs->inodes, s->id));
	return s;
}

void silly_end_begun(struct fs *fs)
{
	struct silly *s;

	mutex_lock(&fs->silly->lock);
	while ((s = SLIST_FIRST(&fs->silly->begun))) {
		SLIST_REMOVE_HEAD(&fs->silly->begun, link);
		free(s);
	}
	mutex_unlock(&fs->silly->lock);
}

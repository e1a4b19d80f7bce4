/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: the names and attributes that the kernel is told, and the daemon's notes about them.
 */
#include "fs/lookup/entry.h"

#include <errno.h>

#include "fs/known/attr.h"
#include "fs/coherence/change.h"
#include "fs/coherence/deleg.h"
#include "fs/file/flush.h"
#include "fs/coherence/inval.h"
#include "fs/known/names.h"
#include "fs/coherence/notify.h"
#include "fs/file/opening.h"
#include "fs/kernel/turn.h"
#include "transport/clock.h"

#define SHARED_S 600u /* how long a directory is not complete after another client's change */

void entry_set_mode(fuse_req_t req, struct nfs_sattr *set, mode_t mode, bool is_link)
{
	set->mask = NFS_SET_MODE;
	set->mode = mode & 07777;
	if (!fs_of(req)->sends_umask || is_link)
		return;
	set->mask |= NFS_SET_UMASK;
	set->umask = fuse_req_ctx(req)->umask & 0777;
}

/* *now: the newest attributes known. False: the kernel must not believe them for any time. */
static bool tell(struct fs *fs, struct inode *ino, const struct told *told, bool may_last,
	struct nfs_attr *now)
{
	uint64_t asked = told->asked, size = told->attr->size;
	struct told newest = *told;
	bool lasts;

	*now = *told->attr;
	newest.attr = now;
	do {
		newest.writes = atomic_load(&ino->view.writes);
		now->size = size;
		/* The thread that noted the attributes may not have handled the data yet. The
		 * attributes may be from before told->asked. */
		if (attrs_newer(&ino->attrs, now, &newest.asked))
			change_told(ino, now, asked < newest.asked ? asked : newest.asked);
		size = now->size;
		now->size = flush_size(ino, size, asked);
		if (change_goes_astray(fs, ino, told))
			return false;
		lasts = may_last;
	} while (!inode_told(ino, &newest, &lasts));
	return lasts;
}

void entry_stat(
	struct fs *fs, struct inode *ino, const struct told *told, double *timeout, struct stat *st)
{
	struct nfs_attr now;

	if (!tell(fs, ino, told, *timeout > 0, &now) || atomic_load(&ino->silly.going))
		*timeout = 0;
	if (opening_settling(ino)) /* the times are not set yet */
		now.atime = now.mtime = now.ctime;
	attr_to_stat(&now, st);
	st->st_ino = ino->number;
	if (atomic_load_explicit(&ino->silly.is, memory_order_relaxed) && st->st_nlink)
		st->st_nlink--;
}

void entry_note_attr(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t asked)
{
	struct told told = {.attr = a, .asked = asked, .alone = deleg_alone_since(fs, ino)};

	if (!inode_note_attr(ino, &told))
		return;
	names_incomplete(fs->names, ino);
	notify_take_back(fs, ino);
}

uint64_t entry_attr_since(const struct fs *fs, struct inode *ino)
{
	const struct options *o = fs->opt;
	bool dir = ino->type == NFS_DIR;
	unsigned s = attrs_timeout(
		&ino->attrs, dir ? o->acdirmin : o->acregmin, dir ? o->acdirmax : o->acregmax);
	uint64_t since = clock_ns() - s * NSEC_PER_SEC, deleg = deleg_since(fs, ino);

	return deleg && deleg <= since ? deleg - 1 : since;
}

bool entry_known_attr(struct fs *fs, struct inode *ino, const struct nfs_attr *listed,
	uint64_t listed_asked, struct nfs_attr *attr, uint64_t *asked)
{
	return inode_known_attr(ino, entry_attr_since(fs, ino), attr, asked) &&
	       (*asked >= listed_asked ||
		       (attr->change == listed->change && attr->size == listed->size));
}

/* Were names in dir invalidated in the kernel after the kernel asked, at `born`, and after the
 * server was asked, at `asked`, for the name that the kernel is about to be told? That name may
 * have been among them, and the kernel would believe the name again. To be called after names.c has
 * noted that the kernel believes the name: a later invalidation then finds the name there. */
static bool taken_back(struct inode *dir, uint64_t born, uint64_t asked)
{
	return dirnames_recalled(&dir->dirnames, born > asked ? born : asked);
}

/* For how long, in ns, the kernel may believe a name in dir that is believed here until `until`.
 * The kernel lets every user walk through a name that it believes. Where some users may not search,
 * the kernel must ask at each walk, and the server decides. */
static uint64_t time_until(const struct fs *fs, struct inode *dir, uint64_t until)
{
	uint64_t mode_seen;

	if (!fs->opt->cache_names ||
		(fs->shared && (attrs_mode(&dir->attrs, &mode_seen) & 0111) != 0111))
		return 0;
	return clock_age(until, clock_ns());
}

/* time_until() for an answer about a name in dir that the server was asked for at `asked`. */
static uint64_t entry_time(const struct fs *fs, struct inode *dir, uint64_t asked)
{
	const struct options *o = fs->opt;

	return time_until(fs, dir, inode_name_until(dir, asked, o->acdirmin, o->acdirmax));
}

static double seconds(uint64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

bool entry_may_tell(struct inode *ino)
{
	return !notify_pending(ino) && !atomic_load(&ino->attrs.relinked);
}

bool entry_believed(const struct fs *fs, struct inode *dir, uint64_t asked)
{
	const struct options *o = fs->opt;

	return o->cache_names &&
	       inode_name_until(dir, asked, o->acdirmin, o->acdirmax) > clock_ns();
}

/* The kernel does not look a directory up again while a process works in it, and the root never. */
bool entry_wants_dir(const struct fs *fs)
{
	return fs->opt->cache_names && fs->opt->acdirmax;
}

/* For how many seconds the kernel may believe a, attributes of ino, from now on. */
static double attr_timeout(const struct fs *fs, struct inode *ino, const struct nfs_attr *a)
{
	const struct options *o = fs->opt;
	bool dir = ino->type == NFS_DIR;

	/* the times are not right before the server has all written data */
	if (written_dirty(&ino->written) || change_is_shared(ino))
		return 0;
	if (deleg_since(fs, ino))
		return o->acregmax;
	return attrs_next_timeout(&ino->attrs, a->change, dir ? o->acdirmin : o->acregmin,
		dir ? o->acdirmax : o->acregmax);
}

void entry_note_dir(struct fs *fs, struct inode *dir, const struct nfs_dir_attr *a, uint64_t asked)
{
	uint64_t was = dirnames_version(&dir->dirnames);

	if (!a->have || a->attr.type != NFS_DIR)
		return;
	attr_timeout(fs, dir, &a->attr);
	entry_note_attr(fs, dir, &a->attr, asked);
	/* a name that came before the attributes may be from before the change */
	if (!a->before && dirnames_version(&dir->dirnames) != was)
		dirnames_doubt(&dir->dirnames);
}

uint64_t entry_name_asked(struct inode *dir, const struct nfs_dir_attr *a, uint64_t asked)
{
	return a->have && a->before
		       ? dirnames_as_of(&dir->dirnames, &dir->attrs, a->attr.change, asked)
		       : asked;
}

double entry_attr_left(
	const struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t asked)
{
	double left = attr_timeout(fs, ino, a);

	if (!deleg_since(fs, ino))
		left -= seconds(clock_age(clock_ns(), asked));
	return left > 0 ? left : 0;
}

/* Does this mount set the times of ino just now, has it changed ino since `asked`, or does another
 * client change ino? Then the kernel may be told the answer that the server was asked for
 * at `asked`, but must not believe the answer. */
static bool is_passing(struct inode *ino, uint64_t asked)
{
	return opening_settling(ino) || change_is_shared(ino) ||
	       atomic_load_explicit(&ino->attrs.touched, memory_order_relaxed) > asked;
}

/* Fills the attributes of e. The kernel follows a believed symbolic link without asking. So the
 * kernel may believe the name no longer than the attributes, which show a change of the link. */
static void fill_stat(
	struct fs *fs, struct inode *ino, const struct told *told, struct fuse_entry_param *e)
{
	entry_stat(fs, ino, told, &e->attr_timeout, &e->attr);
	if (ino->type == NFS_LNK && e->entry_timeout > e->attr_timeout)
		e->entry_timeout = e->attr_timeout;
}

void entry_fill(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct told *told, struct fuse_entry_param *e)
{
	uint64_t asked = told->asked, name_asked = told->name_asked;
	uint64_t time = entry_time(fs, dir, name_asked);

	change_told(ino, told->attr, asked);
	*e = (struct fuse_entry_param){
		.ino = inode_id(fs->inodes, ino),
		.generation = ino->generation,
		.attr_timeout =
			is_passing(ino, asked) ? 0 : entry_attr_left(fs, ino, told->attr, asked),
	};
	if (names_put(fs->names, dir, name, ino, name_asked, time) &&
		!taken_back(dir, asked, name_asked))
		e->entry_timeout = seconds(time);
	fill_stat(fs, ino, told, e);
}

void entry_fill_known(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct told *told, struct fuse_entry_param *e)
{
	uint64_t asked = told->asked, name_asked = told->name_asked;
	uint64_t time = entry_time(fs, dir, name_asked), since = entry_attr_since(fs, ino);

	change_told(ino, told->attr, asked);
	*e = (struct fuse_entry_param){
		.ino = inode_id(fs->inodes, ino),
		.generation = ino->generation,
		.attr_timeout = is_passing(ino, asked) ? 0
				: deleg_since(fs, ino) ? fs->opt->acregmax
						       : seconds(clock_age(asked, since)),
	};
	if (names_put(fs->names, dir, name, ino, name_asked, time) &&
		!taken_back(dir, told->born, name_asked))
		e->entry_timeout = seconds(time);
	fill_stat(fs, ino, told, e);
}

void entry_reply(struct request *r, struct inode *ino, const struct fuse_entry_param *e)
{
	fuse_req_t fuse = request_take_fuse(r);
	struct fs *fs = r->fs;

	turn_told(fs, ino, r->pid, (uint64_t)e->attr.st_size);
	request_free(r);
	if (fuse_reply_entry(fuse, e))
		inode_forget(fs->inodes, ino, 1); /* the kernel did not take the answer */
}

static void reply(struct request *r)
{
	struct inode *ino = entry_of(r)->inode;
	struct fuse_entry_param e;

	entry_fill(r->fs, r->dir, r->name, ino, &entry_of(r)->told, &e);
	entry_reply(r, ino, &e);
}

static void end_with(struct request *r, struct inode *ino, const struct told *told)
{
	entry_of(r)->inode = ino;
	entry_of(r)->told = *told;
	entry_note_attr(r->fs, ino, told->attr, told->asked);
	if (atomic_exchange(&ino->attrs.relinked, false)) {
		if (!r->inode)
			r->inode = inode_ref(ino);
		inval_then(r->fs->inval, r, reply);
	} else if (!notify_pending(ino) || !notify_then(r->fs, r, reply)) {
		reply(r);
	}
}

void entry_end(struct request *r, int error, const struct nfs_fh *fh, const struct told *told)
{
	struct inode *ino = error ? NULL : inode_lookup(r->fs->inodes, fh, told->attr);

	if (ino)
		end_with(r, ino, told);
	else
		request_end(r, error ? error : -ENOMEM);
}

/* Ends r: r->name in r->dir is absent, and the kernel may believe the absence for `time` ns. */
static void end_absent(struct request *r, uint64_t time)
{
	struct fuse_entry_param none = {.ino = 0};
	fuse_req_t fuse;

	if (!time) {
		request_end(r, -ENOENT);
		return;
	}
	none.entry_timeout = seconds(time);
	fuse = request_take_fuse(r);
	request_free(r);
	fuse_reply_entry(fuse, &none);
}

void entry_end_absent(struct request *r, uint64_t asked)
{
	uint64_t time = entry_time(r->fs, r->dir, asked);

	/* a program may make a name in other letters that is the same name */
	if (!r->fs->opt->cache_absent || r->fs->info.features & NFS_FOLDS_CASE ||
		!names_put_absent(r->fs->names, r->dir, r->name, asked, time) ||
		taken_back(r->dir, r->born, asked))
		time = 0;
	end_absent(r, time);
}

bool entry_keeps_names(const struct fs *fs, struct inode *dir)
{
	const struct options *o = fs->opt;

	return o->cache_names && o->cache_absent && o->acdirmax &&
	       !(fs->info.features & NFS_FOLDS_CASE) &&
	       inode_same_fs(dir, inode_table_root(fs->inodes)) &&
	       !dirnames_is_shared(&dir->dirnames, SHARED_S * NSEC_PER_SEC);
}

uint32_t entry_list_names(
	struct fs *fs, struct inode *dir, uint64_t since, uint32_t uid, uint32_t max)
{
	uint32_t token = names_list(fs->names, dir, since, uid, max);

	if (!dirnames_is_naming(&dir->dirnames))
		return token;
	names_list_end(fs->names, dir, token, false);
	return 0;
}

/* Until when the list of all names of dir, complete at `since`, is believed. */
static uint64_t complete_until(const struct fs *fs, struct inode *dir, uint64_t since)
{
	const struct options *o = fs->opt;
	uint64_t time = attrs_timeout(&dir->attrs, o->acdirmin, o->acdirmax) * NSEC_PER_SEC;
	uint64_t until = inode_name_until(dir, since, o->acdirmin, o->acdirmax);

	/* changes by this mount since then are known */
	return until > since + time ? until : since + time;
}

bool entry_made_here(const struct fs *fs, struct inode *dir)
{
	uint64_t since;

	return names_made_here(fs->names, dir, &since) &&
	       complete_until(fs, dir, since) > clock_ns();
}

bool entry_knows_none(
	struct fs *fs, struct inode *dir, const char *name, uint32_t uid, uint64_t *until)
{
	uint64_t since;

	if (!fs->opt->cache_complete || !entry_keeps_names(fs, dir) ||
		!names_lacks(fs->names, dir, name, uid, &since))
		return false;
	*until = complete_until(fs, dir, since);
	return *until > clock_ns();
}

bool entry_believes_none(struct fs *fs, struct inode *dir, const char *name, uint32_t uid)
{
	struct name_info info;
	uint64_t until;

	if (!fs->opt->cache_absent)
		return false;
	if (names_find(fs->names, dir, name, &info)) {
		inode_unref(info.ino);
		if (info.ino || info.until > clock_ns() || entry_believed(fs, dir, info.seen))
			return !info.ino;
	}
	return entry_knows_none(fs, dir, name, uid, &until);
}

bool entry_end_none(struct request *r, uint64_t until)
{
	uint64_t time = time_until(r->fs, r->dir, until);

	/* for entry_not_made() */
	if (!names_put_absent(r->fs->names, r->dir, r->name, 0, time))
		return false;
	end_absent(r, taken_back(r->dir, r->born, 0) ? 0 : time);
	return true;
}

void entry_making(struct request *r)
{
	struct inode *dir = r->to_dir ? r->to_dir : r->dir;

	request_naming_begin(r); /* first: dirnames_is_naming() */
	names_making(r->fs->names, dir, r->to_dir ? r->to_name : r->name);
	if (r->fs->opt->cache_complete) /* a listing may answer for the next name */
		dirnames_looked(&dir->dirnames, r->to_dir ? r->to_name : r->name);
}

/* After EINTR, EIO, ETIMEDOUT, ENOTCONN and EREMOTEIO the server may still carry out the
 * operation. */
void entry_named(struct fs *fs, struct inode *dir, int error)
{
	if (error == -ENOENT || error == -EEXIST || error == -ESTALE)
		dirnames_note_foreign(&dir->dirnames);
	if (error == -EINTR || error == -EIO || error == -ETIMEDOUT || error == -ENOTCONN ||
		error == -EREMOTEIO)
		names_incomplete(fs->names, dir);
}

/* After this error of making a name, may the name exist by now, or have existed before? */
static bool may_be_there(int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
	case -EROFS:
	case -ENOSPC:
	case -EDQUOT:
	case -ENAMETOOLONG:
		return false;
	default:
		return true;
	}
}

bool entry_not_made(struct request *r, int error)
{
	struct name_info was;
	bool absent;

	request_naming_end(r);
	entry_named(r->fs, r->dir, error);
	if (!may_be_there(error) || !names_find(r->fs->names, r->dir, r->name, &was))
		return false;
	absent = !was.ino;
	if (was.ino) {
		inode_unref(was.ino);
		names_doubt(r->fs->names, r->dir, r->name);
		return false;
	}
	names_forget(r->fs->names, r->dir, r->name);
	if (absent)
		notify_take_back_name(r->fs, r->dir, r->name);
	return absent;
}

void entry_removed(struct request *r, int error)
{
	struct names *names = r->fs->names;
	struct name_info was;

	request_naming_end(r);
	entry_named(r->fs, r->dir, error);
	if (names_get(names, r->dir, r->name, &was)) {
		if (error)
			inode_touch(was.ino); /* the number of links and the change time may have
						 changed */
		else
			inode_note_removed(was.ino);
		inode_unref(was.ino);
	}
	if (error)
		names_doubt(names, r->dir, r->name);
	else
		names_drop(names, r->dir, r->name);
}

/* r has made ino, which is empty. But another client may have made a name in ino before the
 * attributes were read. So the attributes are no version of the empty directory. */
static void made_dir(struct request *r, struct inode *ino, const struct nfs_attr *attr)
{
	const struct nfs_op *op = &r->batch.first.op;

	entry_note_attr(r->fs, ino, attr, clock_ns());
	dirnames_doubt(&ino->dirnames);
	names_made_dir(r->fs->names, ino, r->born);
	if (op->u.create.have_access)
		attrs_note_access(&ino->attrs, &r->batch.cred, op->u.create.want,
			op->u.create.allowed, r->born);
}

void entry_end_made(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr)
{
	struct inode *ino = error ? NULL : inode_lookup(r->fs->inodes, fh, attr);
	struct told told;

	if (error)
		entry_not_made(r, error);
	request_naming_end(r);
	if (!ino) {
		request_end(r, error ? error : -ENOMEM);
		return;
	}
	if (attr->type == NFS_DIR && entry_keeps_names(r->fs, ino))
		made_dir(r, ino, attr);
	told = told_now(attr, r->pid);
	end_with(r, ino, &told);
}

uint32_t entry_access_bits(const struct inode *ino)
{
	return ino->type == NFS_DIR ? ENTRY_DIR_RIGHTS : ENTRY_FILE_RIGHTS;
}

void entry_ask_access(struct request *r, struct part *p)
{
	struct nfs_op *op = part_op(p, NFS_ACCESS, access);

	op->u.access.fh = r->inode->fh;
	op->u.access.want = entry_access_bits(r->inode);
}

int entry_note_access(struct request *r, const struct nfs_op *op)
{
	if (op->error)
		return op->error;
	entry_note_attr(r->fs, r->inode, &op->u.access.attr, r->born);
	attrs_note_access(
		&r->inode->attrs, &r->batch.cred, op->u.access.want, op->u.access.allowed, r->born);
	return 0;
}

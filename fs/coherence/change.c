/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * change: changes of a file's data by other clients, as the server's answers show them.
 */
#include "fs/coherence/change.h"

#include "fs/coherence/deleg.h"
#include "fs/known/file.h"
#include "transport/clock.h"
#include "transport/log.h"

#define ATTR_AGE_S 1u
#define SHARED_NS  (2 * NSEC_PER_SEC)

static struct filechange *of(struct inode *ino)
{
	return &ino->data.change;
}

/* The notification makes the kernel discard the answer to a GETATTR in flight, and so the reason to
 * drop pages before the read that asked. So no notification is sent where the kernel asks before
 * each read anyway. Elsewhere the next read asks again. */
void change_doubt(struct fs *fs, struct inode *ino)
{
	attrs_doubt_rights(&ino->attrs);
	change_forget(fs, ino, view_times(&ino->view));
}

bool change_is_shared(struct inode *ino)
{
	return filechange_was_foreign(of(ino), clock_ns() - SHARED_NS);
}

void change_forget(const struct fs *fs, struct inode *ino, unsigned times)
{
	/* one caller after the other: the second finds the kernel's attributes invalid, and must
	 * not make the kernel discard attributes that it asked for since */
	mutex_lock(&ino->view.notifying);
	if (view_still_believes(&ino->view, times))
		change_notify(fs, ino, -1);
	mutex_unlock(&ino->view.notifying);
}

void change_renew(const struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t asked)
{
	struct nfs_attr now = *a;
	bool passed, believed;

	attrs_newer(&ino->attrs, &now, &asked); /* an answer that was overtaken changes nothing */
	mutex_lock(&ino->view.notifying);
	do { /* attributes that the kernel is told were noted before */
		passed = view_told_size(&ino->view, now.size);
		believed = inode_told_this(ino, &now);
	} while (attrs_newer(&ino->attrs, &now, &asked));
	if (!believed || !passed) {
		atomic_store(&ino->view.renewed, true);
		if (!passed || view_believes(&ino->view))
			change_notify(fs, ino, -1);
	}
	mutex_unlock(&ino->view.notifying);
}

int change_notify(const struct fs *fs, struct inode *ino, off_t from)
{
	return change_notify_range(fs, ino, from, 0);
}

int change_notify_range(const struct fs *fs, struct inode *ino, off_t from, off_t len)
{
	uint64_t began = clock_ns();
	unsigned times = view_notifies(&ino->view);
	int rc;

	rc = fuse_lowlevel_notify_inval_inode(fs->se, inode_id(fs->inodes, ino), from, len);
	view_notified(&ino->view, times, rc ? 0 : began);
	return rc;
}

void change_await_notices(struct inode *ino)
{
	mutex_lock(&ino->view.notifying);
	mutex_unlock(&ino->view.notifying);
}

void change_doubt_set_id(const struct fs *fs, struct inode *ino)
{
	uint64_t seen;

	if (attrs_mode(&ino->attrs, &seen) & (S_ISUID | S_ISGID))
		change_notify(fs, ino, -1);
}

bool change_goes_astray(const struct fs *fs, struct inode *ino, const struct told *told)
{
	uint64_t at;

	if (!atomic_load(&ino->append.astray) && told->asked > atomic_load(&ino->append.astray_at))
		return false;
	/* The kernel itself discards attributes that it asked for before the last such append was
	 * answered. A notification now would also discard the attributes that the appender asks
	 * for. */
	mutex_lock(&ino->view.notifying);
	at = atomic_load(&ino->append.astray_at);
	if (atomic_load(&ino->append.astray) || told->born > at)
		change_notify(fs, ino, -1);
	mutex_unlock(&ino->view.notifying);
	return true;
}

void change_astray_end(const struct fs *fs, struct inode *ino)
{
	mutex_lock(&ino->view.notifying);
	atomic_store(&ino->append.astray_at, clock_ns());
	atomic_fetch_sub(&ino->append.astray, 1);
	change_notify(fs, ino, -1);
	mutex_unlock(&ino->view.notifying);
}

/* After a change, or a possible one, by another client: this thread has just learned of the change,
 * or another thread has, and has not come to this point. The kernel sees the change at its next
 * look. Data read after the look must not come from before the change. */
static void drop_stale(struct inode *ino)
{
	uint64_t dropping = filechange_to_drop(of(ino));

	if (!dropping)
		return;
	cache_drop_all(&ino->cache);
	filechange_cleared(of(ino), dropping);
}

/* Makes data safe that is on the server but may still be lost. If the data were sent again later,
 * it would replace another client's. */
static void commit_foreign(struct inode *ino, enum filechange_by by)
{
	if (by == FILECHANGE_FOREIGN)
		writeback_commit(&ino->written);
}

static void judged(
	struct fs *fs, struct inode *ino, const struct nfs_data_attr *a, enum filechange_by by)
{
	drop_stale(ino);
	commit_foreign(ino, by);
	if (by != FILECHANGE_FOREIGN)
		return;
	log_ctrl("file %llu was changed by somebody else", (unsigned long long)ino->fileid);
	stats_add(&fs->stats.foreign, 1);
	atomic_store_explicit(&ino->attrs.end, a->size, memory_order_relaxed);
	/* the first thread to learn of this version may not have come here yet: another thread may
	 * have told the kernel, which may be about to read accordingly */
	if (view_told_from(&ino->view, a->change, a->size))
		attrs_doubt_rights(&ino->attrs);
	else
		change_doubt(fs, ino);
}

void change_begin(struct inode *ino)
{
	filechange_begin(of(ino));
}

void change_end(struct fs *fs, struct inode *ino, const struct nfs_op *op)
{
	const struct nfs_data_attr *a = op->error ? NULL : &op->u.write.attr;

	/* an append may be at any offset from the believed end on */
	cache_drop(&ino->cache, op->u.write.offset,
		op->u.write.append ? UINT64_MAX : op->u.write.from.len);
	judged(fs, ino, a, filechange_end(of(ino), a, deleg_alone_since(fs, ino)));
}

void change_look(struct fs *fs, struct inode *ino, const struct nfs_data_attr *a, uint64_t asked)
{
	const struct fileversion v = {a->change, a->size};

	if (a->have)
		judged(fs, ino, a, filechange_look(of(ino), &v, asked));
}

void change_told(struct inode *ino, const struct nfs_attr *a, uint64_t asked)
{
	const struct fileversion v = {a->change, a->size};
	enum filechange_by by;

	if (ino->type == NFS_REG) {
		by = filechange_look(of(ino), &v, asked);
		/* the change may be another client's; in either case the kernel will take the data
		 * that it reads next as this version */
		if (by == FILECHANGE_PENDING)
			cache_drop_all(&ino->cache);
		drop_stale(ino);
		commit_foreign(ino, by);
	}
}

bool change_keeps_pages(struct file *f, const struct nfs_attr *a, uint64_t asked)
{
	const struct fileversion v = {a->change, a->size};
	uint64_t dropping = filechange_open(of(f->inode), &v, asked);

	if (filechange_was_foreign(of(f->inode), asked))
		writeback_commit(&f->inode->written);
	if (dropping) {
		cache_drop_all(&f->inode->cache); /* once: cached_open_end() */
		filechange_cleared(of(f->inode), dropping);
	}
	atomic_store(&f->dropping, dropping);
	/* appended data may stand at a wrong place in the pages (append.c) */
	return !dropping && !atomic_load(&f->inode->append.displaced);
}

bool change_keeps_own_pages(struct file *f)
{
	uint64_t dropping = filechange_open_alone(of(f->inode));

	atomic_store(&f->dropping, dropping);
	return !dropping && !atomic_load(&f->inode->append.displaced);
}

void change_file_used(struct file *f)
{
	uint64_t dropping = atomic_load_explicit(&f->dropping, memory_order_relaxed);

	if (!dropping)
		return;
	filechange_dropped(of(f->inode), dropping);
	atomic_store(&f->dropping, 0);
}

bool change_wants_attr(const struct fs *fs, struct inode *ino, uint64_t now)
{
	unsigned age_s = fs->opt->acregmin < ATTR_AGE_S ? fs->opt->acregmin : ATTR_AGE_S;

	return filechange_is_old(of(ino), now - age_s * NSEC_PER_SEC);
}

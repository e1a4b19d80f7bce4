/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sys_lock: locks of files, which the daemon keeps. Locks that the kernel keeps for a daemon that
 * does not want them are not in the model.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

static int ask_lock(struct vfs_file *f, struct process *p, uint32_t opcode, uint64_t owner,
	struct fuse_file_lock lk, uint32_t flags, struct fuse_lk_out *out)
{
	struct fuse_lk_in in = {.fh = f->handle->fh, .owner = owner, .lk = lk, .lk_flags = flags};
	struct vfs_call c = {.opcode = opcode,
		.node = f->inode->node,
		.out = out,
		.room = out ? sizeof(*out) : 0};
	ssize_t res;

	if (f->inode->bad)
		return -EIO;
	in.lk.pid = lk.type == F_UNLCK ? 0 : (uint32_t)p->pid;
	vfs_add_in(&c, &in, sizeof(in));
	res = vfs_ask(f->v, &c);
	return res < 0 ? (int)res : 0;
}

/* opcode: FUSE_SETLK or FUSE_SETLKW. */
static int take_lock(struct vfs_file *f, struct process *p, uint32_t opcode, uint64_t owner,
	struct fuse_file_lock lk, uint32_t flags)
{
	int res;

	if (opcode == FUSE_SETLKW && lk.type != F_UNLCK)
		p->awaits_lock = f->inode->a.ino;
	res = ask_lock(f, p, opcode, owner, lk, flags, NULL);
	p->awaits_lock = 0;
	if (!res && lk.type != F_UNLCK)
		p->locked = f->inode->a.ino;
	return res;
}

/* --- flock(2) --------------------------------------------------------------------------------- */

/* RELEASE gives the lock up. */
static int flock_file(struct vfs_file *f, struct process *p, int op)
{
	struct fuse_file_lock lk = {.end = (uint64_t)VFS_EOF};
	int res;

	switch (op & ~LOCK_NB) {
	case LOCK_SH:
		lk.type = F_RDLCK;
		break;
	case LOCK_EX:
		lk.type = F_WRLCK;
		break;
	case LOCK_UN:
		lk.type = F_UNLCK;
		break;
	default:
		return -EINVAL;
	}
	if (!vfs_has(f->v, FUSE_FLOCK_LOCKS))
		sched_fail("flock(2), which the kernel keeps here, is not in the model");
	f->handle->flock_owner = vfs_owner(f->number);
	res = take_lock(f, p, op & LOCK_NB ? FUSE_SETLK : FUSE_SETLKW, vfs_owner(f->number), lk,
		FUSE_LK_FLOCK);
	return res;
}

int sys_flock(struct process *p, int fd, int op)
{
	struct vfs_file *f;
	int res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		res = flock_file(f, p, op);
		vfs_funref(f);
	}
	sched_event("%d: flock %d %d: %d", (int)p->pid, fd, op, res);
	return (int)proc_leave(p, res);
}

/* --- fcntl(2) --------------------------------------------------------------------------------- */

static int range(struct vfs_file *f, const struct flock *l, struct fuse_file_lock *lk)
{
	off_t at = l->l_start;

	if (l->l_whence == SEEK_CUR)
		at += f->pos;
	else if (l->l_whence == SEEK_END)
		at += (off_t)f->inode->size;
	lk->end = (uint64_t)VFS_EOF;
	if (l->l_len > 0) {
		lk->end = (uint64_t)(at + l->l_len - 1);
	} else if (l->l_len < 0) {
		lk->end = (uint64_t)(at - 1);
		at += l->l_len;
	}
	lk->start = (uint64_t)at;
	lk->type = (uint32_t)l->l_type;
	return at < 0 ? -EINVAL : 0;
}

static void found(struct flock *l, const struct fuse_file_lock *lk)
{
	l->l_type = (short)lk->type;
	if (lk->type == F_UNLCK)
		return;
	l->l_whence = SEEK_SET;
	l->l_start = (off_t)lk->start;
	l->l_len = lk->end == (uint64_t)VFS_EOF ? 0 : (off_t)(lk->end - lk->start + 1);
	l->l_pid = (pid_t)lk->pid;
}

static int lock_file(struct vfs_file *f, struct process *p, int cmd, struct flock *l)
{
	bool ofd = cmd == F_OFD_GETLK || cmd == F_OFD_SETLK || cmd == F_OFD_SETLKW;
	bool waits = cmd == F_SETLKW || cmd == F_OFD_SETLKW;
	uint64_t owner = vfs_owner(ofd ? f->number : p->number);
	int access = f->flags & O_ACCMODE;
	struct fuse_file_lock lk = {0};
	struct fuse_lk_out out;
	int res = range(f, l, &lk);

	if (res)
		return res;
	if (!vfs_has(f->v, FUSE_POSIX_LOCKS))
		sched_fail("record locks, which the kernel keeps here, are not in the model");
	if (cmd == F_GETLK || cmd == F_OFD_GETLK) {
		/* 6.6 and later let F_OFD_GETLK ask for any lock (fcntl_getlk) */
		if (lk.type == F_UNLCK && (cmd == F_GETLK || f->v->p.version < 606))
			return -EINVAL;
		res = ask_lock(f, p, FUSE_GETLK, owner, lk, 0, &out);
		if (!res)
			found(l, &out.lk);
		return res;
	}
	if ((lk.type == F_RDLCK && access == O_WRONLY) ||
		(lk.type == F_WRLCK && access == O_RDONLY))
		return -EBADF;
	return take_lock(f, p, waits ? FUSE_SETLKW : FUSE_SETLK, owner, lk, 0);
}

int sys_fcntl_lock(struct process *p, int fd, int cmd, struct flock *l)
{
	struct vfs_file *f;
	int res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		res = lock_file(f, p, cmd, l);
		vfs_funref(f);
	}
	sched_event("%d: lock %d %d %d: %d", (int)p->pid, fd, cmd, l->l_type, res);
	return (int)proc_leave(p, res);
}

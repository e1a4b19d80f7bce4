/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops: the operations that the kernel asks for, spread over ops_*.c by what they work on. Each
 * begins on a worker, as libfuse calls it, and ends where its last answer from the server is seen.
 */
#ifndef RNFS_FS_OPS_H
#define RNFS_FS_OPS_H

#include <sys/stat.h>

#include "fs/fs.h"

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* ops_meta.c */
void ops_init(void *userdata, struct fuse_conn_info *conn);
void ops_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void ops_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup);
void ops_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void ops_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void ops_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi);
void ops_access(fuse_req_t req, fuse_ino_t ino, int mask);
void ops_readlink(fuse_req_t req, fuse_ino_t ino);
void ops_statfs(fuse_req_t req, fuse_ino_t ino);

/* ops_name.c */
void ops_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev);
void ops_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void ops_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void ops_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent, const char *newname);
void ops_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void ops_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void ops_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
	const char *newname, unsigned flags);

/* ops_file.c */
void ops_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void ops_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	struct fuse_file_info *fi);
void ops_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void ops_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void ops_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);

/* ops_data.c */
void ops_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void ops_write_buf(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *in, off_t off,
	struct fuse_file_info *fi);

/* ops_lock.c */
void ops_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock);
void ops_setlk(
	fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleep);
void ops_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op);

/* ops_space.c */
void ops_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi);
void ops_fallocate(
	fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len, struct fuse_file_info *fi);
void ops_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
	struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
	struct fuse_file_info *fi_out, size_t len, int flags);

/* ops_xattr.c */
void ops_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void ops_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void ops_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
	int flags);
void ops_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);

/* ops_dir.c */
void ops_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void ops_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void ops_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void ops_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void ops_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);

/* --- shared by them --------------------------------------------------------------------------- */

/* An open file: what fi->fh points to. */
struct file {
	struct handle handle;  /* first */
	struct inode *inode;   /* a reference */
	struct nfs_open *open; /* the server's open state */
	struct rpc_cred cred;  /* the opener's: reads and writes are done with it */
	int flags;
	uint64_t flock_owner;	   /* of its flock; the kernel's number may be used again early */
	bool silly_leaves;	   /* it is being closed, and a silly name goes with it */
	bool locks_leave;	   /* and locks */
	_Atomic uint32_t err_seen; /* the inode's err_seq that the user has been told of */
};

static inline struct file *file_of(const struct fuse_file_info *fi)
{
	return (struct file *)(uintptr_t)fi->fh;
}

/* A name under which an unlinked file lives on until its last close. */
struct silly {
	struct nfs_fh dir;
	struct rpc_cred cred;
	char name[40];
};

/* The kernel is about to be told a as the attributes of ino: for how many seconds. */
double ops_attr_timeout(const struct fs *fs, struct inode *ino, const struct nfs_attr *a);
/* The mode of what is to be made, with the caller's umask beside it where the server wants to know
 * that (RFC 8275), but for symbolic links, which have none. */
void ops_set_mode(fuse_req_t req, struct nfs_sattr *set, mode_t mode, bool is_link);
/* Attributes of ino as stat(2) shows them, for telling the kernel. */
void ops_stat(struct inode *ino, const struct nfs_attr *a, struct stat *st);
/* The server was asked for attributes of ino at `seen`: notes them, and has the kernel doubt what
 * they make doubtful. */
void ops_note(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t seen);
/* Data of ino was changed, by which the server may have taken its set-ID bits away: has the kernel,
 * which leaves that to us, ask for the mode. Any thread; does not wait. To be called before the
 * kernel is answered. */
void ops_doubt_set_id(const struct fs *fs, struct inode *ino);
/* Fills e for name in dir, an inode that inode_lookup() gave; the server was asked at `seen`, and
 * has let the caller search dir. */
void ops_entry(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, struct fuse_entry_param *e);
/* Ends r with an entry for r->name in r->inode2, whose handle is fh, or with error if that is not
 * 0. attr: in an op of r, as of `seen`. */
void ops_end_entry(struct request *r, int error, const struct nfs_fh *fh,
	const struct nfs_attr *attr, uint64_t seen);
/* The same for a name that r has just made. */
void ops_end_made(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr);
/* The server was asked to make (made) or remove name in dir, with this result. */
void ops_changed(struct fs *fs, struct inode *dir, const char *name, bool made, int error);
/* Since when what the server has said about attributes and rights is believed. */
uint64_t ops_attr_since(const struct fs *fs);
/* All that ACCESS can ask about ino. */
uint32_t ops_access_bits(const struct inode *ino);

/* Sends a COMMIT of r->file, step follows; and evaluates it: 0 or a negative errno. r->gen is
 * inode_dirty()'s. */
void ops_commit_submit(struct request *r, request_step_fn *step);
int ops_commit_result(struct request *r);

/* A process closes f: may its owner hold locks of the file? They are not looked after any more: the
 * caller must lock_clear(). */
bool lock_leave_owner(struct file *f, uint64_t owner);
/* Clears all locks that r->owner holds on r->file, then next. */
void lock_clear(struct request *r, request_step_fn *next);
/* f is about to be released. To be called at once, before anything is waited for. */
void lock_leaving_file(struct file *f);
/* Clears the locks of all owners that came through r->file, which is being released, then next. */
void lock_leave_file(struct request *r, request_step_fn *next);

/* Renames dir/name to a silly name if that is the last name of a file that is open, then calls
 * next with r->error: 1 if it was renamed (r->inode2 is the file), 0 if there was nothing to do, or
 * a negative errno. */
void silly_check(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next);
/* Takes the silly name off ino if it is not open any more. The caller gives it to silly_remove().
 */
struct silly *silly_take(struct inode *ino);
/* Removes a silly name on the server and frees s; does not wait. */
void silly_remove(struct fs *fs, struct silly *s);
/* A silly name is about to go (the last close of its file has begun, or its removal), and that has
 * ended: an rmdir that finds its directory not empty waits for it. */
void silly_leave(struct fs *fs);
void silly_left(struct fs *fs);

#endif

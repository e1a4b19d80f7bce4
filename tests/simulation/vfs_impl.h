/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_impl: the parts of the model of Linux's FUSE client. A thread that waits holds a reference of
 * each object that the thread uses afterwards. Rules without a version hold for Linux 6.1 and 6.12.
 */
#ifndef RNFS_SIMULATION_VFS_IMPL_H
#define RNFS_SIMULATION_VFS_IMPL_H

#include <linux/fuse.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "tests/simulation/vfs.h"

#define VFS_PIECES   260 /* of memory in one request: 256 pages and the head */
#define VFS_BATCH    15	 /* pages that one step of read(2) copies */
#define VFS_NAME_MAX 255
#define VFS_FILES    64
#define VFS_MAPS     32
#define VFS_GROUPS   16
#define VFS_EOF	     INT64_MAX

/* Bits of attributes that are not believed (STATX_*). */
#define VFS_ALL	    0x7ffu
#define VFS_TYPE    0x1u
#define VFS_MODE    0x2u
#define VFS_NLINK   0x4u
#define VFS_UID	    0x8u
#define VFS_GID	    0x10u
#define VFS_ATIME   0x20u
#define VFS_MTIME   0x40u
#define VFS_CTIME   0x80u
#define VFS_SIZE    0x200u
#define VFS_BLOCKS  0x400u
#define VFS_MODIFY  (VFS_MTIME | VFS_CTIME | VFS_BLOCKS)
#define VFS_MODSIZE (VFS_MODIFY | VFS_SIZE)

/* --- locks of the kernel ---------------------------------------------------------------------- */

/* A read-write semaphore: a writer that waits keeps new readers out. */
struct vfs_sem {
	unsigned readers, writers_waiting;
	bool writer;
};
void vfs_lock(struct vfs_sem *s);
void vfs_unlock(struct vfs_sem *s);
void vfs_lock_shared(struct vfs_sem *s);
void vfs_unlock_shared(struct vfs_sem *s);

/* --- requests (vfs_request.c) ----------------------------------------------------------------- */

struct vfs_inode;
struct vfs_device;

struct vfs_call {
	uint32_t opcode;
	uint64_t node;
	struct iovec in[VFS_PIECES]; /* behind the header; read when the daemon reads the request */
	unsigned n;
	void *out;
	size_t room;
	bool var;    /* the answer may be shorter than room */
	bool force;  /* is sent and waited for even if the process is killed */
	bool nobody; /* uid, gid and pid are 0: the kernel's own */
};

struct vfs_request {
	STAILQ_ENTRY(vfs_request) next;	    /* queued: pending or in the background's queue */
	LIST_ENTRY(vfs_request) of_device;  /* read by the daemon, not answered */
	LIST_ENTRY(vfs_request) of_process; /* waited for */
	struct fuse_in_header head;
	struct vfs_call c;
	struct process *process;
	struct vfs_device *device; /* that has read the request */
	bool queued, sent, finished, interrupted, background, waited;
	bool interrupt_queued;
	STAILQ_ENTRY(vfs_request) next_interrupt;
	unsigned signals; /* the process's, when the call began */
	int error;
	size_t got;
	void (*end)(struct vfs *v, struct vfs_request *r); /* of the background */
	void *ctx;
	void *own; /* freed with the request */
};

STAILQ_HEAD(vfs_queue, vfs_request);

/* Sends c for the calling process and waits. The length of the answer, or a negative errno. */
ssize_t vfs_ask(struct vfs *v, struct vfs_call *c);
/* Sends c without waiting; then end(), which may look at r->error, r->got. own: freed afterwards,
 * NULL: nothing. Waits first while the queue of the background is full, unless c->force. 0, or a
 * negative errno, and then end() is not called, and own is the caller's. */
int vfs_ask_later(struct vfs *v, const struct vfs_call *c,
	void (*end)(struct vfs *, struct vfs_request *), void *ctx, void *own);
void vfs_add_in(struct vfs_call *c, const void *data, size_t len);
void vfs_add_name(struct vfs_call *c, const char *name);
void vfs_end_request(struct vfs *v, struct vfs_request *r, int error);
/* The connection ends: all requests do, too. */
void vfs_end_requests(struct vfs *v);
void vfs_forget(struct vfs *v, uint64_t node, uint64_t n);
/* Signals of p have come. */
void vfs_signalled(struct vfs *v, struct process *p);

/* --- words for the trace (vfs_words.c) -------------------------------------------------------- */

/* Valid until the fourth call from now. */
const char *vfs_name(const struct vfs_inode *i);
const char *vfs_node_name(struct vfs *v, uint64_t node);
void vfs_tell(struct vfs *v, const struct vfs_request *r);
void vfs_tell_answer(struct vfs *v, const struct vfs_request *r, int error, size_t bytes);

/* --- inodes and attributes (vfs_inode.c) ------------------------------------------------------ */

struct vfs_page {
	uint64_t index;
	unsigned refs;			     /* one for the cache, one for each of maps */
	unsigned maps;			     /* private mappings that have loaded the page */
	struct vfs_inode *inode;	     /* NULL: not in the cache any more */
	bool uptodate, locked, dirty, ahead; /* ahead: its reading begins the next read-ahead */
	uint8_t bytes[VFS_PAGE];
};

/* WRITEs of mapped pages, from the copy of the pages until the answer. */
struct vfs_back {
	LIST_ENTRY(vfs_back) next;
	struct vfs_inode *inode;
	struct vfs_handle *handle;
	struct vfs *v;
	uint64_t index;
	unsigned n;
	bool gathers; /* is not sent yet, and may take more pages */
	bool held;    /* waits for the end of a truncation */
	struct fuse_write_in in;
	struct fuse_write_out out;
	uint8_t *bytes;
};

/* The daemon's open file: RELEASE follows the last reference. */
struct vfs_handle {
	unsigned refs;
	uint64_t node, fh;
	uint32_t flags, open_flags; /* O_*, FOPEN_* */
	uint64_t flock_owner;	    /* 0: no flock(2) was asked for */
	struct vfs_inode *inode;
	bool dir, none; /* none: the daemon has no open files of this kind */
};

struct vfs_file {
	unsigned refs; /* descriptors, mappings, and system calls */
	struct vfs *v;
	struct vfs_dentry *dentry;
	struct vfs_inode *inode;
	struct vfs_handle *handle;
	int flags;
	off_t pos;
	struct vfs_sem pos_lock;
	uint64_t number;			       /* owner of its locks */
	uint64_t ra_start, ra_size, ra_async, ra_prev; /* pages */
	LIST_ENTRY(vfs_file) of_inode;		       /* may write mapped pages back */
	bool in_inode;
};

/* Bytes of a WRITE through pages, from write(2)'s copy to the daemon's answer. */
struct vfs_span {
	LIST_ENTRY(vfs_span) next;
	uint64_t off, end;
};

struct vfs_inode {
	LIST_ENTRY(vfs_inode) all;
	struct vfs *v;
	uint64_t node, generation, nlookup;
	unsigned number;    /* for the trace: numbers of nodes are addresses in the daemon */
	unsigned refs;	    /* dentries, and calls under way */
	struct fuse_attr a; /* but the size */
	uint64_t size;
	uint64_t attr_version, attr_until;
	uint32_t stale; /* VFS_* */
	bool size_unstable, bad, hashed, dead, nosec, init_rdplus, advise_rdplus;
	struct vfs_sem lock; /* i_rwsem */
	struct vfs_page **pages;
	unsigned npages, room;
	LIST_HEAD(, vfs_back) backs;
	LIST_HEAD(, vfs_file) writers;
	LIST_HEAD(, vfs_span) spans;
	bool nowrite; /* write-back waits */
	int back_error;
	LIST_HEAD(, vfs_dentry) aliases;
	char *link; /* a symlink's text */
};

struct vfs_inode *vfs_iref(struct vfs_inode *i);
void vfs_iunref(struct vfs_inode *i);
struct vfs_inode *vfs_ifind(struct vfs *v, uint64_t node);
/* The inode of an answer; NULL: the answer makes no sense. Counts a lookup. version: 0, or the
 * attributes' version when the request began. */
struct vfs_inode *vfs_iget(struct vfs *v, const struct fuse_entry_out *e, uint64_t version);
/* evicted: v->evicted when the request began */
struct vfs_inode *vfs_iget_since(
	struct vfs *v, const struct fuse_entry_out *e, uint64_t version, uint64_t evicted);
uint64_t vfs_version(const struct vfs *v);
void vfs_new_version(struct vfs_inode *i);
/* Takes attributes of an answer, unless those of the inode are newer. May wait. */
void vfs_take_attr(struct vfs_inode *i, const struct fuse_attr *a, uint64_t valid,
	uint32_t valid_ns, uint64_t version);
void vfs_take_attr_anyway(
	struct vfs_inode *i, const struct fuse_attr *a, uint64_t valid, uint32_t valid_ns);
void vfs_doubt(struct vfs_inode *i, uint32_t bits);
bool vfs_is_fresh(const struct vfs_inode *i, uint32_t bits);
/* GETATTR if attributes of bits are not fresh. st: NULL, or for the result */
int vfs_getattr(struct vfs_inode *i, struct vfs_file *f, uint32_t bits, struct stat *st);
int vfs_getattr_anyway(struct vfs_inode *i, struct vfs_file *f, struct stat *st);
void vfs_make_bad(struct vfs_inode *i);
bool vfs_is_sane(const struct fuse_attr *a);
bool vfs_is_stale_inode(const struct vfs_inode *i, uint64_t generation, const struct fuse_attr *a);
uint64_t vfs_until(uint64_t s, uint32_t ns);
/* access of the calling process (mask: R_OK, W_OK, X_OK), by mode bits where the kernel checks
 * these */
int vfs_permission(struct vfs_inode *i, int mask);
bool vfs_may_use(const struct vfs *v);
/* SETATTR. The inode is locked. */
int vfs_setattr(struct vfs_inode *i, const struct fuse_setattr_in *in, struct vfs_file *f,
	bool size_of_open);

static inline bool vfs_is_dir(const struct vfs_inode *i)
{
	return S_ISDIR(i->a.mode);
}

static inline bool vfs_is_reg(const struct vfs_inode *i)
{
	return S_ISREG(i->a.mode);
}

/* --- names (vfs_dentry.c, vfs_walk.c) --------------------------------------------------------- */

struct vfs_dentry {
	LIST_ENTRY(vfs_dentry) sibling, alias;
	LIST_HEAD(, vfs_dentry) children;
	struct vfs_dentry *parent; /* a reference; NULL: the root, or none any more */
	struct vfs_inode *inode;   /* a reference; NULL: negative */
	struct vfs *v;
	uint64_t until;
	unsigned refs;
	bool hashed, looked_up; /* looked_up: a lookup is under way, which others join */
	char name[VFS_NAME_MAX + 1];
};

struct vfs_dentry *vfs_dnew(struct vfs *v, struct vfs_dentry *parent, const char *name);
struct vfs_dentry *vfs_dref(struct vfs_dentry *d);
void vfs_dunref(struct vfs_dentry *d);
/* With a reference; NULL: none. */
struct vfs_dentry *vfs_dfind(struct vfs_dentry *parent, const char *name);
void vfs_dunhash(struct vfs_dentry *d);
/* Unhashes, and drops unused names below. */
void vfs_dinvalidate(struct vfs_dentry *d);
/* The name of d has no inode any more. */
void vfs_ddelete(struct vfs_dentry *d);
/* Gives d an inode (NULL: negative) and hashes d. The caller's reference of the inode becomes d's.
 * If the inode is a directory that already has a dentry, that dentry takes d's place: the result,
 * with a reference. NULL: d itself, or *error is -ELOOP or -ESTALE. */
struct vfs_dentry *vfs_dsplice(struct vfs_dentry *d, struct vfs_inode *i, int *error);
void vfs_dset(struct vfs_dentry *d, struct vfs_inode *i);
void vfs_dmove(struct vfs_dentry *d, struct vfs_dentry *to);
void vfs_dexchange(struct vfs_dentry *a, struct vfs_dentry *b);
void vfs_dtimeout(struct vfs_dentry *d, const struct fuse_entry_out *e);
bool vfs_is_below(const struct vfs_dentry *d, const struct vfs_dentry *top);
/* Drops unused dentries, once in once_in. */
void vfs_dshrink(struct vfs *v, struct vfs_dentry *d, unsigned once_in);

#define VFS_FOLLOW 1u
#define VFS_REVAL  2u /* ask for each name */
#define VFS_EXCL   4u /* ask for the last name */

/* The dentry of a name, maybe a negative one; the daemon is asked if need be. fast: the caller does
 * not hold the directory's lock, only cached dentries are found, and *out may be NULL. slow: the
 * caller holds the lock, shared or alone. locked: the caller holds the lock alone. */
int vfs_lookup_fast(
	struct vfs_dentry *dir, const char *name, unsigned flags, struct vfs_dentry **out);
int vfs_lookup_slow(
	struct vfs_dentry *dir, const char *name, unsigned flags, struct vfs_dentry **out);
int vfs_lookup_locked(
	struct vfs_dentry *dir, const char *name, unsigned flags, struct vfs_dentry **out);
/* Sends LOOKUP for d: a new dentry, or one with its lookup under way. *out: d, or the dentry that
 * takes d's place, with a reference. */
int vfs_lookup_ask(struct vfs_dentry *dir, struct vfs_dentry *d, struct vfs_dentry **out);
int vfs_revalidate(struct vfs_dentry *d, unsigned flags);

struct vfs_walk {
	struct vfs *v;
	unsigned flags, links;
	struct vfs_dentry *dir;	     /* a reference */
	char last[VFS_NAME_MAX + 1]; /* "": the path ends at dir */
	bool slash;		     /* behind the last name */
	char rest[4096];
};

/* Walks to the directory of path's last name. */
int vfs_walk_begin(struct vfs_walk *w, struct vfs *v, const char *path, unsigned flags);
int vfs_walk_begin_once(struct vfs_walk *w, struct vfs *v, const char *path, unsigned flags);
/* d, which is w's last name, is a symlink: walks on. */
int vfs_walk_link(struct vfs_walk *w, struct vfs_dentry *d);
void vfs_walk_end(struct vfs_walk *w);
/* To the inode, with VFS_FOLLOW or not. */
int vfs_walk(struct vfs *v, const char *path, unsigned flags, struct vfs_dentry **out);
/* A symlink's text. */
int vfs_readlink(struct vfs_inode *i, char **text);

/* --- pages (vfs_page.c) and data -------------------------------------------------------------- */

struct vfs_page *vfs_pfind(struct vfs_inode *i, uint64_t index); /* with a reference */
/* A new page in the cache, locked, with a reference for the caller; NULL: there is one. */
struct vfs_page *vfs_padd(struct vfs_inode *i, uint64_t index);
void vfs_punref(struct vfs_page *p);
/* A private mapping has the page at *at from now on; no page any more. */
void vfs_pmap(struct vfs_page **at, struct vfs_page *p);
void vfs_punmap(struct vfs_page **at);
/* False: killed, if killable. */
bool vfs_plock(struct vfs_page *p, bool killable);
void vfs_punlock(struct vfs_page *p);
void vfs_pdrop(struct vfs_page *p); /* out of the cache; locked by the caller */
/* The first page from index on, with a reference. */
struct vfs_page *vfs_pnext(struct vfs_inode *i, uint64_t index);
void vfs_ptruncate(struct vfs_inode *i, uint64_t size);
void vfs_ppunch(struct vfs_inode *i, uint64_t from, uint64_t end);
void vfs_pinvalidate(struct vfs_inode *i, uint64_t first, uint64_t last);
void vfs_pdrop_all(struct vfs_inode *i); /* the inode goes */
void vfs_pshrink(struct vfs_inode *i, unsigned once_in);

/* Reads through the cache. */
ssize_t vfs_read_cached(struct vfs_file *f, void *buf, size_t len, off_t off);
ssize_t vfs_read_direct(struct vfs_file *f, void *buf, size_t len, off_t off, bool at_once);
/* The page, up to date, with a reference (a fault of a mapping). */
int vfs_read_page(struct vfs_file *f, uint64_t index, struct vfs_page **out);
void vfs_short_read(struct vfs_inode *i, uint64_t version, uint64_t end);

/* *off: of O_APPEND, set by the call, and moved on. */
ssize_t vfs_write_file(struct vfs_file *f, const void *buf, size_t len, off_t *off);
void vfs_ask_rights(struct vfs_inode *i);
int vfs_drop_rights(struct vfs_inode *i);
void vfs_write_update(struct vfs_inode *i, uint64_t end, ssize_t written);

/* Sends dirty pages of a range. */
int vfs_write_back(struct vfs_inode *i, uint64_t first, uint64_t last);
void vfs_wait_back(struct vfs_inode *i, uint64_t first, uint64_t last);
/* Both, for the whole file, and no more is under way afterwards. */
int vfs_sync_pages(struct vfs_inode *i);
void vfs_nowrite(struct vfs_inode *i);
void vfs_writes(struct vfs_inode *i);
int vfs_launder(struct vfs_page *p); /* locked */

/* --- open files (vfs_open.c) ------------------------------------------------------------------ */

int vfs_open(struct process *p, const char *path, int flags, mode_t mode, struct vfs_file **out);
struct vfs_file *vfs_fref(struct vfs_file *f);
void vfs_funref(struct vfs_file *f);
int vfs_flush_file(struct vfs_file *f, struct process *p);
struct vfs_handle *vfs_href(struct vfs_handle *h);
void vfs_hunref(struct vfs *v, struct vfs_handle *h);
int vfs_fsync(struct vfs_file *f, bool data);
/* msync(2): of pages first to last. */
int vfs_fsync_range(struct vfs_file *f, uint64_t first, uint64_t last, bool data);
uint64_t vfs_owner(uint64_t number);

/* --- notifications (vfs_notify.c) ------------------------------------------------------------- */

int vfs_notified(struct vfs *v, int code, const void *body, size_t len);

/* --- processes (proc.c) ----------------------------------------------------------------------- */

struct vfs_map {
	struct vfs_file *file;
	off_t off;
	size_t len;
	bool shared, writable;
	struct vfs_page **own;	  /* of a private mapping that stores */
	struct vfs_page **loaded; /* of a private mapping: the file's pages, from loads */
};

struct process {
	LIST_ENTRY(process) all;
	struct vfs *v;
	pid_t pid, ppid;
	uid_t uid;
	gid_t gid, groups[VFS_GROUPS];
	unsigned ngroups;
	mode_t umask;
	uint64_t number; /* owner of its record locks */
	bool killed, exiting;
	uint64_t awaits_lock; /* of this inode of the server, in a call; 0: of none */
	uint64_t locked;      /* the last inode of which the process got a lock; 0: none */
	unsigned signals, busy;
	uint64_t since; /* when busy was 0, for the last time */
	void (*rest)(void);
	LIST_HEAD(, vfs_request) waits;
	struct vfs_file *file[VFS_FILES];
	struct vfs_map map[VFS_MAPS];
};

/* The process that has the calling thread in a system call; NULL: none. */
struct process *proc_self(void);
/* Begins and ends a system call. The mount. */
struct vfs *proc_enter(struct process *p);
ssize_t proc_leave(struct process *p, ssize_t res);
bool proc_must_end(void);
/* With a reference; NULL: EBADF. */
/* A truncation also drops the private mappings' own pages from `first` on (truncate_pagecache). */
void proc_cut_maps(const struct vfs_inode *i, uint64_t first);
struct vfs_file *proc_file(struct process *p, int fd);

/* --- the mount (vfs.c), the device (vfs_device.c) --------------------------------------------- */

struct vfs_forget {
	STAILQ_ENTRY(vfs_forget) next;
	uint64_t node, n;
};

struct vfs_device {
	struct vfs *v; /* NULL: no mount yet */
	LIST_ENTRY(vfs_device) next;
	LIST_HEAD(, vfs_request) sent;
};

struct vfs {
	struct vfs_params p;
	unsigned number;	   /* for the trace */
	struct description *first; /* of the device that mounted */
	LIST_HEAD(, vfs_device) devices;
	struct vfs_queue pending, interrupts, waiting; /* waiting: in the background's queue */
	STAILQ_HEAD(, vfs_forget) forgets;
	int forget_batch;
	uint64_t unique;
	unsigned active, background, max_background, congestion; /* requests of the background */
	bool ready, ended, aborted;
	struct fuse_init_out init;
	struct vfs_request *first_request;
	uint32_t max_write, max_pages, max_read;
	bool no_interrupt, no_flush, no_fsync, no_fsyncdir, no_lseek, no_fallocate, no_copy,
		no_open, no_opendir, no_access, no_getxattr, no_setxattr, no_create, no_rename2;
	uint64_t version; /* attr_version */
	uint64_t evicted; /* inodes with names that have gone */
	LIST_HEAD(, vfs_inode) inodes;
	struct vfs_dentry *root;
	struct vfs_sem renames;
	unsigned files;
	struct vfs_counts counts;
	char message[(1 << 20) + 8192];
};

static inline bool vfs_has(const struct vfs *v, uint32_t flag)
{
	return v->init.flags & flag;
}

int vfs_device_new(struct vfs *v);
void vfs_init_answered(struct vfs *v, int error);

#endif

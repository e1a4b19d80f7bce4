/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode: a file of the server. The kernel names the file by a node ID, the server by a file handle.
 *
 * A handle has at most one inode, so hard links share the inode. The node ID is a number of
 * numbers.h (the root's is FUSE_ROOT_ID). Numbers are used again, so each inode also has a
 * generation that no other inode had.
 *
 * Life. nlookup counts the lookups that the kernel holds: each entry in a reply adds one, FORGET
 * subtracts some. While nlookup is above zero the inode is in the table, and the table holds one
 * reference. Requests and open files hold references of their own. The root stays as long as the
 * table.
 *
 * Three values say which answers are possible without the server, and which the kernel gives
 * without the daemon. Each has an owner and a lock of its own:
 *
 *     attrs     attributes and rights as the server told them (attrs.h)
 *     view      the attributes that the kernel was told, and may believe (view.h)
 *     dirnames  until when answers about names in a directory are believed (dirnames.h)
 *
 * The functions here join two of the three. Other members belong to the modules that their comments
 * name.
 */
#ifndef RNFS_FS_KNOWN_INODE_H
#define RNFS_FS_KNOWN_INODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cache/cache.h"
#include "cache/filedata.h"
#include "cache/writeback.h"
#include "fs/known/attrs.h"
#include "fs/known/dirnames.h"
#include "fs/known/view.h"
#include "transport/ledger.h"
#include "transport/lock.h"

struct complete;
struct inode_table;
struct file;
struct listing;
struct name;
struct silly;

/* A lock owner that may hold locks on an inode, through an open file. */
struct locker {
	LIST_ENTRY(locker) link;
	uint64_t owner; /* the kernel's number */
	const struct file *file;
	pid_t pid;	  /* the process that asked for the lock */
	uint64_t flushed; /* when a process last closed file, on clock_ns(); 0: never */
	/* since when the server knows of none of the owner's locks: deleg_alone_since() at the time
	 * of the lock; 0: the server knows of some */
	uint64_t local_since;
	/* From the first to the last byte that the owner has locked alone through file; first >
	 * last: none. */
	uint64_t first, last;
	struct note note; /* of locker.c, under the inode's lock */
};

struct inode {
	struct nfs_fh fh; /* constant */
	enum nfs_type type;
	uint64_t fileid;		 /* constant: the server's number of the file */
	uint64_t fsid_major, fsid_minor; /* constant: the file system on the server */
	uint64_t number;		 /* constant: inode_number() */
	uint64_t id;			 /* constant: the node ID */
	uint64_t generation;

	LIST_ENTRY(inode) hash; /* the table's lock; or in the list of forgotten inodes */
	uint64_t nlookup;	/* the table's lock */
	/* inode_note.h; the table's lock. Stays while the inode is referenced, as by an open
	 * file that the kernel releases after it has forgotten the inode */
	struct note note;
	struct ledger *ledger; /* constant: of the note; NULL: none */
	atomic_uint refs;

	struct attrs attrs; /* as the server told them; attrs, view and dirnames each have a lock */
	struct view view;   /* the kernel's view */
	struct dirnames dirnames; /* of a directory */

	_Atomic uint64_t written_at; /* when a gathered write last ended, on clock_ns() */
	struct filedata data;	     /* under its own lock */
	struct written written;	     /* under its own lock */
	struct cache_file cache;     /* under its own lock */

	/* names.c, under its lock. names_in: the names in this directory. names_of: the names of
	 * this inode. complete: whether all names in this directory are known. left: the inode has
	 * left the table, and gets no more names. */
	LIST_HEAD(, name) names_in, names_of;
	struct complete *complete; /* NULL: nothing is known */
	bool left;

	struct mutex lock;
	struct {		     /* open files; opening.c */
		atomic_uint writers; /* files that are open for writing */
		/* files with pages that a program may map and store to; a mapping keeps its file
		 * open */
		atomic_uint mappers;
		/* open files, and opens and replacements in flight */
		unsigned count GUARDED_BY(lock);
		/* removals of the last name in flight: opens wait */
		unsigned unlinking GUARDED_BY(lock);
		/* requests that set the times after the file was made */
		unsigned settling GUARDED_BY(lock);
		/* the parked request that is to set the times; under the lock of opening.c */
		struct request *settler;
	} opens;
	struct { /* the silly name, which stands for the removed name until the last close; silly.c
		  */
		struct silly *name GUARDED_BY(lock); /* to be removed at the last close */
		atomic_bool is;	   /* the last name is a silly name: stat(2) shows one link less */
		atomic_uint going; /* removals in flight: the kernel must not believe st_nlink */
	} silly;
	struct {			      /* the delegation; deleg.c */
		_Atomic uint64_t id;	      /* its number, 0: none; set together with `at` */
		uint64_t at GUARDED_BY(lock); /* answers to calls sent later are covered */
		bool writes GUARDED_BY(lock); /* the delegation is one to write */
		/* `at` when a lock last invalidated the daemon's cached data */
		uint64_t dropped GUARDED_BY(lock);
	} deleg;
	struct {						    /* locker.c */
		GUARDED_BY(lock) LIST_HEAD(lockers, locker) owners; /* that may hold locks */
		/* owners with notes whose locks are being cleared */
		GUARDED_BY(lock) struct lockers leaving;
		unsigned pending GUARDED_BY(lock); /* releases in flight that clear locks */
		unsigned ended GUARDED_BY(lock);   /* such releases that have ended so far */
	} locks;
	struct { /* READs and WRITEs of the file; under the lock of order.c */
		LIST_HEAD(, request) under_way;
		LIST_HEAD(, order_gather) gathering; /* WRITEs that are being gathered */
		atomic_uint writes;		     /* the number of WRITEs */
	} order;
	struct {		     /* turn.c */
		_Atomic pid_t pid;   /* the process that may be about to write, 0: none */
		_Atomic uint64_t at; /* since when */
		atomic_uint waits;   /* requests that wait for the end of the turn */
	} turn;
	struct {	   /* append.c */
		bool busy; /* a request appends to the file; under the lock of append.c */
		/* Appended data stands elsewhere in the file than in the kernel's pages.
		 * kernel_end: where the file then ended for the kernel. */
		atomic_bool displaced;
		_Atomic uint64_t kernel_end;
		atomic_uint astray; /* appends in flight that the kernel has in the wrong place */
		_Atomic uint64_t astray_at; /* when the last astray append was answered */
	} append;
	struct { /* listings of the directory that are kept; under the lock of listing.c */
		struct listing *whole, *beside; /* beside: begun beside the program's requests */
	} listings;
	atomic_uint late; /* LATE requests that change the data; late.c */
};

/* root: the root directory of the mount. NULL when out of memory. */
struct inode_table *inode_table_new(const struct nfs_fh *root, const struct nfs_attr *attr);
/* No request may be pending. Accepts NULL, returns NULL. */
struct inode_table *inode_table_free(struct inode_table *t);
/* Sets the one function that is called for each inode that leaves the table; NULL: none. fn is
 * called with no lock held, while there is still a reference on the inode. To be set while no inode
 * can leave. */
typedef void inode_left_fn(void *ctx, struct inode *ino);
void inode_table_on_left(struct inode_table *t, inode_left_fn *fn, void *ctx);

/* Inodes that are made from now on have notes in l (inode_note.h); NULL: none have. Before requests
 * are served. */
void inode_table_keep_notes(struct inode_table *t, struct ledger *l);

struct inode *inode_table_root(struct inode_table *t);
unsigned inode_table_count(struct inode_table *t); /* for statistics and tests */

/* The inode number that programs see. All file systems of the server below the mount's root share
 * the mount's one st_dev, so the server's numbers may collide. Outside the root's file system the
 * number is mixed with the fsid, always in the same way. Never 0. */
uint64_t inode_number(const struct inode_table *t, const struct nfs_attr *attr);
/* Are both in one file system of the server? */
bool inode_same_fs(const struct inode *a, const struct inode *b);

/* The inode of fh, made if there is none, with one more lookup. The caller must give the lookup to
 * the kernel, or return it by inode_forget(). NULL when out of memory. Any thread. */
struct inode *inode_lookup(
	struct inode_table *t, const struct nfs_fh *fh, const struct nfs_attr *attr);
/* One more lookup for an inode that the caller has a reference on. False: the inode has left the
 * table. */
bool inode_hold(struct inode_table *t, struct inode *ino);
/* Has the kernel a lookup of ino? */
bool inode_is_known(struct inode_table *t, struct inode *ino);
/* The inode of fh with one more reference, or NULL if there is none. Any thread. */
struct inode *inode_find(struct inode_table *t, const struct nfs_fh *fh);
/* Subtracts n lookups; at the last one the inode leaves the table. Any thread. */
void inode_forget(struct inode_table *t, struct inode *ino, uint64_t n);
/* The next inode that has a silly name, with a reference; NULL at the end. *silly is taken off the
 * inode. For the end of the mount. */
struct inode *inode_next_silly(struct inode_table *t, struct silly **silly);

struct inode *inode_ref(struct inode *ino);
/* Accepts NULL, returns NULL. */
struct inode *inode_unref(struct inode *ino);

/* --- a successor's table (inode_record.h), before requests are served --------------------------
 */

/* The table of a successor, which is the daemon's run `run` and inherits n inodes; generations
 * begin at `generation`. False: no memory. */
bool inode_table_inherit(struct inode_table *t, unsigned run, size_t n, uint64_t generation);
uint64_t inode_table_generation(struct inode_table *t);
/* Makes the inode that the kernel knows by node ID id, with nlookup lookups. attr: type and numbers
 * of the file. The root is there already, and is returned. NULL: no memory; or two inodes have the
 * ID or the handle, or nlookup is 0. */
struct inode *inode_inherit(struct inode_table *t, const struct nfs_fh *fh,
	const struct nfs_attr *attr, uint64_t id, uint64_t nlookup);
/* Makes an inode that the kernel knew by node ID id, and has forgotten. The inode is not in the
 * table, which has a reference until inode_table_settle(). NULL: no memory, or another inode has
 * the ID. */
struct inode *inode_inherit_forgotten(
	struct inode_table *t, const struct nfs_fh *fh, const struct nfs_attr *attr, uint64_t id);
/* Drops these references; inodes without another one go. */
void inode_table_settle_all(struct inode_table *t);
/* The same, if all these inodes have another reference. False: nothing else refers to one of the
 * inodes. */
bool inode_table_settle(struct inode_table *t);
/* Node ID or generation of ino, which is not the root, have changed: the note tells of both. */
void inode_renumbered(struct inode_table *t, struct inode *ino);
/* The inode of an inherited node ID, or the root. NULL: there is none. */
struct inode *inode_inherited(struct inode_table *t, uint64_t id);
/* Calls fn for each inode in the table. The table does not change meanwhile. */
void inode_table_each(struct inode_table *t, void (*fn)(struct inode *ino, void *ctx), void *ctx);

/* Node ID to inode, for any ID that the kernel may still use. NULL: an inherited ID without an
 * inode. */
struct inode *inode_of(struct inode_table *t, uint64_t nodeid);
uint64_t inode_id(struct inode_table *t, const struct inode *ino);

/* This mount changes ino, but not by a WRITE, which tells of the change in its answer (change.h).
 * inode_touch(): by an operation that has ended. inode_touch_begin(), inode_touch_end(): by an
 * operation that is about to be sent, or has ended. */
void inode_touch(struct inode *ino);
void inode_touch_begin(struct inode *ino);
void inode_touch_end(struct inode *ino);
/* A name of ino was removed, or given to another file. A directory has only one name. */
void inode_note_removed(struct inode *ino);

/* Notes attributes: attrs_note(), dirnames_note(). True: names in the directory must be invalidated
 * in the kernel. If this mount changes rights, the caller uses attrs_doubt_rights(). */
bool inode_note_attr(struct inode *ino, const struct told *told);
/* attrs_known(), attrs_known_dir() and attrs_is_older(), but false while data waits to be
 * written. */
bool inode_known_attr(struct inode *ino, uint64_t since, struct nfs_attr *attr, uint64_t *seen);
bool inode_known_dir(struct inode *dir, uint64_t since, struct nfs_attr *attr, uint64_t *seen);
bool inode_is_older(struct inode *ino, uint64_t since);
/* May inode_is_older() be false for a file with handle fh that has left the table since? True may
 * be wrong: handles share slots. */
bool inode_left_since(struct inode_table *t, const struct nfs_fh *fh, uint64_t since);
/* Until when, on clock_ns(), to believe an answer about a name in dir that the server was asked for
 * at `seen`: dirnames_until() with the time-out of dir's attributes. */
uint64_t inode_name_until(struct inode *dir, uint64_t seen, unsigned min, unsigned max);

/* The kernel is about to be told attributes: view_told(). */
bool inode_told(struct inode *ino, const struct told *told, bool *lasts);
/* The server has told attr at an open: view_told_this(). */
bool inode_told_this(struct inode *ino, const struct nfs_attr *attr);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode: what the kernel knows by a node ID, the server by a file handle.
 *
 * A handle has at most one inode, so hard links share it. The node ID is the inode's address (the
 * root's is FUSE_ROOT_ID); since addresses are used again, each inode also has a generation that no
 * other one had.
 *
 * Life. nlookup counts what the kernel holds (each entry in a reply adds one, FORGET subtracts).
 * While it is above zero the inode is in the table and the table holds one reference. Requests and
 * open files hold references of their own. The root stays as long as the table.
 *
 *     inode.c        the table, and handles
 *     inode_attr.c   attributes and rights
 *     inode_names.c  names in a directory
 */
#ifndef RNFS_FS_INODE_H
#define RNFS_FS_INODE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cache/cache.h"
#include "cache/filedata.h"
#include "cache/writeback.h"
#include "fs/grant.h"
#include "nfsproto/nfs_client.h"

struct complete;
struct inode_table;
struct file;
struct listing;
struct name;
struct silly;

/* Somebody who may hold locks on an inode, through an open file. */
struct locker {
	LIST_ENTRY(locker) link;
	uint64_t owner; /* the kernel's number */
	const struct file *file;
	pid_t pid;	  /* the process that asked */
	uint64_t flushed; /* when a process last closed file, on clock_ns(); 0: never */
	/* What its locks are known from to be local: deleg_alone_since() then; 0: they are not */
	uint64_t local_since;
};

struct inode {
	struct nfs_fh fh; /* constant */
	enum nfs_type type;
	uint64_t fileid;		 /* constant: the server's number of it */
	uint64_t fsid_major, fsid_minor; /* constant: the server's file system that it is in */
	uint64_t number;		 /* constant: inode_number() */
	uint64_t generation;

	LIST_ENTRY(inode) hash; /* the table's lock */
	uint64_t nlookup;	/* the table's lock */
	atomic_uint refs;

	/* When attributes last changed through this mount, on clock_ns(): attributes that the
	 * server was asked for earlier (a listing's) must not be believed. */
	_Atomic uint64_t touched;
	_Atomic uint64_t told;	    /* the change attribute of what the kernel was told last */
	_Atomic uint64_t told_size; /* the size that the kernel believes in, its writes included */
	atomic_uint told_count;	    /* how often the kernel was told attributes */
	atomic_uint told_writes;    /* how often a write of its own has told it */
	_Atomic uint64_t end;	    /* the newest size that the server told, or an append made */
	bool appending;		    /* a request appends to it; append.c, under its lock */
	/* append.c: appended data stands elsewhere in the file than in the kernel's pages; where
	 * the kernel took the file to end then; appends under way that it has in the wrong place;
	 * and when the last of them was answered, on clock_ns() */
	atomic_bool displaced;
	_Atomic uint64_t displaced_end;
	atomic_uint astray;
	_Atomic uint64_t astray_at;
	/* READs and WRITEs of it, and how many of the latter; order.c, under its lock */
	LIST_HEAD(, request) under_way;
	LIST_HEAD(, order_gather) gathering; /* WRITEs that are being gathered */
	atomic_uint writes;
	atomic_uint late; /* LATE requests that change its data; late.c */
	/* turn.c: the process that may be about to write to it, 0: none; since when, on clock_ns();
	 * and requests that wait for that */
	_Atomic pid_t turn;
	_Atomic uint64_t turn_at;
	atomic_uint turn_waits;
	/* the kernel has read of it, and may have pages, since an open last had it drop them */
	atomic_bool given;
	/* the kernel has been made to ask for attributes that an open, or the last WRITE before a
	 * close, has brought */
	atomic_bool renewed;
	_Atomic uint64_t deleg; /* the number of its delegation (deleg.h), 0: none; with deleg_at */
	atomic_uint writers;	/* open files that may be written to */
	/* Open files through which pages may be mapped and stored to; a mapping keeps its file open
	 */
	atomic_uint mappers;
	/* a symbolic link that has changed: the kernel has read what it said before, perhaps */
	atomic_bool relinked;
	atomic_bool is_silly;	 /* its last name is a silly one: stat(2) shows one link less */
	atomic_bool removed;	 /* a directory whose name this mount has removed or replaced */
	atomic_uint taking_back; /* jobs of the notifier for names in this directory */

	_Atomic uint64_t written_at; /* when a gathered write last ended, on clock_ns() */
	struct filedata data;	     /* under its own lock */
	struct written written;	     /* likewise */
	struct cache_file cache;     /* likewise */

	/* names.c, under its lock: the names in this directory, the names of this inode, whether
	 * those in this directory are all known, and whether it has left the table, after which it
	 * gets no more of any */
	LIST_HEAD(, name) names_in, names_of;
	struct complete *complete; /* NULL: nothing is known */
	bool left;

	/* listings that are kept of it: a whole one, and one that was begun beside; listing.c,
	 * under its lock */
	struct listing *listing, *beside;

	/* held while the kernel is made to forget attributes, if there is need; before lock */
	pthread_mutex_t forgetting;
	pthread_mutex_t lock; /* what follows */
	uint64_t attr_seen;   /* when the server was asked for attr; 0: never, or it may be wrong */
	struct nfs_attr attr; /* the newest known */
	uint64_t attr_asked;  /* attr_seen, also if it may be wrong */
	uint64_t attr_came;   /* when that came */
	/* How often the kernel was told attributes: in all, until it was last told some to believe
	 * for a while, and until it last forgot them; were those since then not all the same, and
	 * the change attribute of the oldest to believe */
	unsigned told_times, told_lasting, told_forgot;
	bool told_more;
	uint64_t told_oldest;
	/* Of attributes that it was told not to believe, the size that was told last, told_times
	 * then, and told_times when another was last told */
	uint64_t passing_size;
	unsigned passing_at, passing_other_at;
	uint64_t notified_at; /* when the kernel was last to be made to forget them */
	/* The largest size that the kernel may believe in; the largest of the smaller ones that it
	 * was told since size_less_at, 0: it was told none; and when it last threw away answers
	 * that were on their way */
	uint64_t size_most, size_less, size_less_at, size_thrown_at;
	/* GETATTRs of the kernel's that are not answered, and when one last was that was asked
	 * after notified_at */
	unsigned asking;
	uint64_t answered_at;
	uint64_t attr_from; /* what was asked for before is known to be wrong */
	struct grant_list grants;
	uint64_t deleg_at; /* what the server was asked from then on counts by the delegation */
	bool deleg_writes; /* it is one to write */
	uint64_t dropped_since; /* deleg_at when a lock last had what is cached dropped */
	uint64_t rights_seen;	/* answers of ACCESS to what was asked before are not used */
	/* what inode_attr_timeout() returned last, in seconds; when it began to return that (0:
	 * never called); and for which change attribute */
	unsigned timeout;
	uint64_t timeout_at;
	uint64_t timeout_of;
	/* A directory: the change attribute that the server told last; when it was asked for that;
	 * when it was asked last while the names were those of version; what the server said of
	 * names before names_from may not be so any more (names.h) */
	uint64_t version, version_at, names_seen, names_from;
	/* what the server said before then of names in it the kernel is not told to believe */
	uint64_t names_taken;
	uint64_t foreign_at; /* when somebody else was last seen to have changed it; 0: never */
	uint64_t listed;     /* when the server was last asked for entries of it */
	unsigned naming;     /* requests that make, move or remove names in it, under way */
	/* how much it was lately asked for names in it, since when that counts, and until when it
	 * is not to be listed beside (lister.h) */
	unsigned looks;
	uint32_t looked_for; /* the hash of the last name */
	uint64_t looks_at, unlisted_until;
	unsigned nopen;	    /* open files, and opens and replacements under way */
	unsigned unlinking; /* removals of its last name under way: opens wait (opening.h) */
	unsigned settling;  /* its times are being set after it was made (opening.h) */
	/* the process that was last told to look the name up again, and told_count then */
	int renamed_for;
	unsigned renamed_at;
	struct silly *silly;	     /* to be removed at the last close */
	struct request *settler;     /* who is parked to set its times (opening.h) */
	LIST_HEAD(, locker) lockers; /* who may hold locks (locker.h) */
	unsigned unlocks_pending;    /* releases under way that clear locks (locker.h) */
	unsigned unlocks_ended;	     /* how many of those have ended so far */
};

/* root: the mount's. NULL when out of memory. */
struct inode_table *inode_table_new(const struct nfs_fh *root, const struct nfs_attr *attr);
/* No request may be under way. Accepts NULL, returns NULL. */
struct inode_table *inode_table_free(struct inode_table *t);
/* fn is called for each inode that leaves the table, while there is still a reference on it and
 * with no lock held. One function; NULL: none. To be set while no inode can leave. */
typedef void inode_left_fn(void *ctx, struct inode *ino);
void inode_table_on_left(struct inode_table *t, inode_left_fn *fn, void *ctx);

struct inode *inode_table_root(struct inode_table *t);
unsigned inode_table_count(struct inode_table *t); /* for statistics and tests */

/* The inode number that programs see. All file systems of the server that are below the mount's
 * root share the mount's one st_dev, so the server's numbers cannot stand as they are: outside the
 * root's file system they are mixed with the fsid, always in the same way. Never 0. */
uint64_t inode_number(const struct inode_table *t, const struct nfs_attr *attr);
/* Are both in one file system of the server? */
bool inode_same_fs(const struct inode *a, const struct inode *b);

/* The inode of fh, made if there is none, with one more lookup. The caller must give that lookup to
 * the kernel or take it back with inode_forget(). NULL when out of memory. Any thread. */
struct inode *inode_lookup(
	struct inode_table *t, const struct nfs_fh *fh, const struct nfs_attr *attr);
/* One more lookup for an inode that the caller has a reference on. False: it has left the table. */
bool inode_hold(struct inode_table *t, struct inode *ino);
/* The inode of fh with one more reference, or NULL if there is none. Any thread. */
struct inode *inode_find(struct inode_table *t, const struct nfs_fh *fh);
/* Takes n lookups back; at the last one the inode leaves the table. Any thread. */
void inode_forget(struct inode_table *t, struct inode *ino, uint64_t n);
/* The next inode that has a silly name, with a reference and its silly taken off; NULL at the end.
 * For the end of the mount. */
struct inode *inode_next_silly(struct inode_table *t, struct silly **silly);

struct inode *inode_ref(struct inode *ino);
/* Accepts NULL, returns NULL. */
struct inode *inode_unref(struct inode *ino);

/* Node ID to inode: any ID that the kernel may still use. */
struct inode *inode_of(struct inode_table *t, uint64_t nodeid);
uint64_t inode_id(struct inode_table *t, const struct inode *ino);

/* This mount changes ino: by WRITE, of which the answers tell (change.h), or otherwise. */
void inode_touch_data(struct inode *ino);
void inode_touch(struct inode *ino);

/* The server was asked for attr at `seen`. True if names in a directory must not be believed any
 * more: somebody else has changed it, or somebody may have lost the right to search it: its mode
 * lets fewer in, it has another owner, or it was changed otherwise than by a name made or removed
 * in it (an ACL), and not by this mount. alone: since when nobody else can have changed it, or 0:
 * what this mount changes about who may do what it doubts itself (inode_doubt()). */
bool inode_note_attr(struct inode *ino, const struct nfs_attr *attr, uint64_t seen, uint64_t alone);

/* This mount is about to make, move or remove a name in dir, and has done so or failed to. What it
 * changes itself it knows; but somebody else's change in between would not be seen, so names are
 * believed no longer than they are already, and what is said of them later is. */
void inode_naming_begin(struct inode *dir);
void inode_naming_end(struct inode *dir);
/* Is that under way? Such a change is noted elsewhere after it was begun here. */
bool inode_is_naming(struct inode *dir);
/* A name in dir is asked for or made; the same one again does not count. Returns how often that was
 * lately; 0: it is not to be listed beside. */
unsigned inode_looked(struct inode *dir, const char *name);
/* The same without another name; or the last one did not count. */
unsigned inode_looks(struct inode *dir, bool less);
/* dir is not to be listed beside for `time` ns. */
void inode_leave_unlisted(struct inode *dir, uint64_t time);
/* An answer shows that somebody else has changed names in dir. */
void inode_note_foreign(struct inode *dir);
/* Until when, on clock_ns(), what the server said at `seen` of a name in dir is believed: for
 * inode_timeout() from when the directory was last known to be as it was then. 0: no longer. */
uint64_t inode_name_until(struct inode *dir, uint64_t seen, unsigned min, unsigned max);
/* The server said at `seen` what a name in dir stands for, and with it, in front, that the change
 * attribute of dir was `change`. As of when is that, given what is known of dir by now? If those
 * attributes were the first to show somebody else's change, the name is as of after it. */
uint64_t inode_name_seen(struct inode *dir, uint64_t change, uint64_t seen);
/* Has anybody else been seen to change dir in the last `time` ns? */
bool inode_is_shared(struct inode *dir, uint64_t time);
/* When dir was last known to be as it was at any time from *from on. */
uint64_t inode_names_seen(struct inode *dir, uint64_t *from);
/* The newest change attribute of dir that is known to be none of this mount's alone. */
uint64_t inode_version(struct inode *dir);
/* Have the names in dir that the kernel believes been taken back since `seen`? (inode_note_attr()
 * has said that they must be.) */
bool inode_names_taken(struct inode *dir, uint64_t seen);
/* Names in dir, or what is known of them, may be wrong: none said so far is believed. */
void inode_doubt_names(struct inode *dir);
/* The server, asked at *asked, has told *a: the newest that is known instead, if that is newer
 * although it came earlier, and when the server was asked for that. Of one change attribute what
 * was asked for later is the newer: a server may tell the time of a change a moment before the size
 * that comes of it. True: it is another version. */
bool inode_newer_attr(struct inode *ino, struct nfs_attr *a, uint64_t *asked);
/* Are attributes known that the server was asked for after `asked`, or is it known that what it
 * said of them then is wrong? */
bool inode_attr_is_past(struct inode *ino, uint64_t asked);
/* What the server said after `since`, if nothing was changed through this mount meanwhile. *seen:
 * when. */
bool inode_known_attr(struct inode *ino, uint64_t since, struct nfs_attr *attr, uint64_t *seen);
/* The same of a directory, with the time of access that listing it has left. */
bool inode_known_dir(struct inode *dir, uint64_t since, struct nfs_attr *attr, uint64_t *seen);
/* Has the server told nothing of ino since `since`, and was nothing changed through this mount? */
bool inode_is_older(struct inode *ino, uint64_t since);
/* May that be otherwise, of a file of that handle, which has left the table since? */
bool inode_left_since(struct inode_table *t, const struct nfs_fh *fh, uint64_t since);
/* The server is about to be asked for entries of dir. */
void inode_listing(struct inode *dir);
/* A name of ino was removed, or given to something else. A directory has only the one. */
void inode_note_removed(struct inode *ino);
/* The server has answered ESTALE for ino. True: it is a directory that this mount has removed;
 * *attr are the attributes that it had last, with no links, which those who have it open are to
 * see, as on a local file system. */
bool inode_removed_attr(struct inode *ino, struct nfs_attr *attr);
/* The mode that the server told last, which it may have changed since, and when it was asked. */
uint32_t inode_mode(struct inode *ino, uint64_t *seen);
/* How many names it has, as far as is known; 1 at least. */
uint32_t inode_links(struct inode *ino);
/* Attributes must be asked for again; attributes and rights (the handle is stale). */
void inode_doubt_attr(struct inode *ino);
void inode_doubt(struct inode *ino);
/* What the server lets cred do, see grant.h. */
void inode_note_access(struct inode *ino, const struct rpc_cred *cred, uint32_t known,
	uint32_t allowed, uint64_t seen);
bool inode_known_access(struct inode *ino, const struct rpc_cred *cred, uint32_t want,
	uint64_t since, uint32_t *allowed);
/* For how many seconds attributes with this change attribute, told to the kernel now, may be
 * believed: min at first and after each change, then twice as long each time that they were asked
 * for again and had not changed, at most max (acregmin etc. in nfs(5)). */
unsigned inode_attr_timeout(struct inode *ino, uint64_t change, unsigned min, unsigned max);
/* What it returned last; min before that. */
unsigned inode_timeout(struct inode *ino, unsigned min, unsigned max);

/* Process pid opens ino, and the server has told attr: must the kernel look the name up again
 * first? It opens what the name stood for when it was looked up, and another client may have given
 * the name to another file since; attr shows that a name of ino may have gone. The answer is not
 * true twice in a row for one process: it may open the file without a name (/proc/self/fd). */
bool inode_renew_name(struct inode *ino, const struct nfs_attr *attr, int pid);
/* Process pid is told to look the name up again for another reason: that counts as true above. */
void inode_renewing_name(struct inode *ino, int pid);
/* The kernel, which has asked at `born`, is told attr, which the server was asked for at `asked`,
 * and may believe it for a while (lasts, which becomes false if it has been doubted since) or not:
 * false, and it must not be, if a newer version is known by now (inode_newer_attr()); or it has
 * itself written up to end, and knows the size from that. False, too, if it has written since
 * told_writes was `writes`: attr may have a size from before that. What it has asked for before it
 * was made to forget it throws away, if it has the file open, and so the inode: that does not
 * count. */
bool inode_told(struct inode *ino, const struct nfs_attr *attr, uint64_t asked, uint64_t born,
	unsigned writes, bool *lasts);
void inode_told_end(struct inode *ino, uint64_t end);
/* The kernel has cut the file to `size` bytes itself, or made it as long, and knows that. */
void inode_told_cut(struct inode *ino, uint64_t size);
/* May the kernel believe in a larger size? The kernel takes a smaller one when the process that has
 * asked handles the answer, and discards the answer if a write has ended meanwhile, or if the
 * kernel was made to forget attributes. So until a smaller size was told a while ago the kernel may
 * still believe in the larger one. Any thread. */
bool inode_shrinks(struct inode *ino, uint64_t size);
/* Was the kernel told nothing older than this change attribute and size since it last forgot? */
bool inode_told_from(struct inode *ino, uint64_t change, uint64_t size);
/* May the kernel believe attributes that it was told? Then it can be made to forget them, with
 * which it throws away what it has asked for until then; and has been, after `began`, if
 * inode_must_forget() said `times`. It is not to be done in vain: whoever has asked reads on with
 * what was before. */
bool inode_must_forget(struct inode *ino, unsigned *times);
void inode_forgot(struct inode *ino, unsigned times, uint64_t began);
/* The kernel asks for attributes; and is about to get the answer to what it asked at `born`, or an
 * error. */
void inode_attr_asked(struct inode *ino);
/* The answer to one of these questions waits here, and is not on its way; until inode_attr_asked().
 */
void inode_attr_waits(struct inode *ino);
void inode_attr_answered(struct inode *ino, uint64_t born);
/* The kernel has sent a READ at `born`, which begins behind the end of the file, as the server says
 * that was last asked at `sent`. Would the answer have the kernel throw away attributes that are on
 * their way? Not if the kernel was made to forget attributes since `born`, or has got some that it
 * asked for since it was: the answer changes nothing then. Attributes count as got if the kernel
 * was answered before `sent`: the process that asked has had a round trip's time to handle them. */
bool inode_end_spoils(struct inode *ino, uint64_t born, uint64_t sent);
/* The server has told attr at an open: does the kernel believe in that change attribute and size?
 * It takes the first of several answers that are under way to it, and not the last, so it does if
 * it was told nothing else since it last forgot. */
bool inode_told_this(struct inode *ino, const struct nfs_attr *attr);
/* Whoever asked for what the kernel is not to believe may handle the answer at any time after it,
 * and the kernel then takes that size, and none that it has asked for meanwhile. Had all of those
 * since it last forgot this size? */
bool inode_told_size(struct inode *ino, uint64_t size);

#endif

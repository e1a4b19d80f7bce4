/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode: a file of the server. The kernel names the file by a node ID, the server by a file handle.
 *
 * A handle has at most one inode, so hard links share the inode. The node ID is the address of the
 * inode (the root's is FUSE_ROOT_ID). Addresses are used again, so each inode also has a generation
 * that no other inode had.
 *
 * Life. nlookup counts the lookups that the kernel holds: each entry in a reply adds one, FORGET
 * subtracts some. While nlookup is above zero the inode is in the table, and the table holds one
 * reference. Requests and open files hold references of their own. The root stays as long as the
 * table.
 *
 *     inode.c        the table, and handles
 *     inode_attr.c   attributes and rights
 *     inode_names.c  names in a directory
 */
#ifndef RNFS_FS_KNOWN_INODE_H
#define RNFS_FS_KNOWN_INODE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cache/cache.h"
#include "cache/filedata.h"
#include "cache/writeback.h"
#include "fs/known/believed.h"
#include "fs/known/grant.h"
#include "nfsproto/nfs_client.h"

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
	/* Since when the server knows of none of the owner's locks: deleg_alone_since() at the time
	 * of the lock; 0: the server knows of some */
	uint64_t local_since;
};

struct inode {
	struct nfs_fh fh; /* constant */
	enum nfs_type type;
	uint64_t fileid;		 /* constant: the server's number of the file */
	uint64_t fsid_major, fsid_minor; /* constant: the file system on the server */
	uint64_t number;		 /* constant: inode_number() */
	uint64_t generation;

	LIST_ENTRY(inode) hash; /* the table's lock */
	uint64_t nlookup;	/* the table's lock */
	atomic_uint refs;

	/* When attributes last changed through this mount, on clock_ns(). Attributes that the
	 * server was asked for earlier (by a listing, for example) must not be believed. */
	_Atomic uint64_t touched;
	_Atomic uint64_t told;	    /* the change attribute that the kernel was told last */
	_Atomic uint64_t told_size; /* the size that the kernel believes, with its own writes */
	atomic_uint told_count;	    /* how often the kernel was told attributes */
	/* how often the kernel learned a size from a write of its own */
	atomic_uint told_writes;
	/* the newest size that the server told, or that an append made */
	_Atomic uint64_t end;
	bool appending; /* a request appends to the file; append.c, under its lock */
	/* append.c: appended data stands elsewhere in the file than in the kernel's pages.
	 * displaced_end: where the kernel then took the file to end. astray: appends under way that
	 * the kernel has in the wrong place. astray_at: when the last of the astray appends was
	 * answered, on clock_ns() */
	atomic_bool displaced;
	_Atomic uint64_t displaced_end;
	atomic_uint astray;
	_Atomic uint64_t astray_at;
	/* READs and WRITEs of the file, and the number of WRITEs; order.c, under its lock */
	LIST_HEAD(, request) under_way;
	LIST_HEAD(, order_gather) gathering; /* WRITEs that are being gathered */
	atomic_uint writes;
	atomic_uint late; /* LATE requests that change its data; late.c */
	/* turn.c: the process that may be about to write to the file, 0: none; since when, on
	 * clock_ns(); and the number of requests that wait for the end of the turn */
	_Atomic pid_t turn;
	_Atomic uint64_t turn_at;
	atomic_uint turn_waits;
	/* the kernel has read from the file, and may have pages, since an open last made the kernel
	 * drop them */
	atomic_bool given;
	/* a lock made the kernel forget the attributes and the pages, and since then the daemon has
	 * read no READ or WRITE, and has told no attributes */
	atomic_bool blank;
	/* the kernel was made to ask for the attributes that an open, or the last WRITE before a
	 * close, has brought */
	atomic_bool renewed;
	_Atomic uint64_t deleg; /* the number of the delegation (deleg.h), 0: none; with deleg_at */
	atomic_uint writers;	/* open files that allow writing */
	/* Open files whose pages a program may map and store to. A mapping keeps its file open. */
	atomic_uint mappers;
	/* a symbolic link has changed, and the kernel may have read the old target */
	atomic_bool relinked;
	atomic_bool is_silly;	 /* the last name is a silly name: stat(2) shows one link less */
	atomic_uint silly_going; /* removals of silly names under way: st_nlink lasts for no time */
	atomic_bool removed;	 /* a directory whose name this mount has removed or replaced */
	atomic_uint taking_back; /* jobs of the notifier for names in this directory */

	_Atomic uint64_t written_at; /* when a gathered write last ended, on clock_ns() */
	struct filedata data;	     /* under its own lock */
	struct written written;	     /* likewise */
	struct cache_file cache;     /* likewise */

	/* names.c, under its lock. names_in: the names in this directory. names_of: the names of
	 * this inode. complete: whether all names in this directory are known. left: the inode has
	 * left the table, and gets no more names. */
	LIST_HEAD(, name) names_in, names_of;
	struct complete *complete; /* NULL: nothing is known */
	bool left;

	/* the listings of the directory that are kept: a whole one, and one that was begun beside;
	 * listing.c, under its lock */
	struct listing *listing, *beside;

	/* held while the kernel is made to forget attributes, if there is need; taken before
	 * lock */
	pthread_mutex_t forgetting;
	pthread_mutex_t lock; /* guards the members below */
	/* when the server was asked for attr; 0: never, or attr may be wrong */
	uint64_t attr_seen;
	struct nfs_attr attr; /* the newest known */
	uint64_t attr_asked;  /* attr_seen, also if attr may be wrong */
	uint64_t attr_came;   /* when attr came */
	/* told_times: how often the kernel was told attributes. told_lasting: told_times when the
	 * kernel was last told attributes with a time-out. told_forgot: told_times when the kernel
	 * last forgot attributes. told_more: the attributes told since told_forgot were not all the
	 * same. told_oldest: the oldest change attribute among those that the kernel may
	 * believe. */
	unsigned told_times, told_lasting, told_forgot;
	bool told_more;
	uint64_t told_oldest;
	uint64_t told_rest; /* of told_other(), at the last answer */
	/* Of attributes that the kernel was told with time-out 0: the last size, told_times at that
	 * time, and told_times when another size was last told */
	uint64_t passing_size;
	unsigned passing_at, passing_other_at;
	uint64_t notified_at;	  /* when the kernel was last to be made to forget attributes */
	struct believed believed; /* the size */
	atomic_int listener;	  /* the thread that was last told something, until it is heard */
	/* asking: the kernel's GETATTRs that are not answered. answered_at: when a GETATTR that the
	 * kernel sent after notified_at was last answered. */
	unsigned asking;
	uint64_t answered_at;
	uint64_t attr_from; /* attributes that were asked for before are known to be wrong */
	struct grant_list grants;
	uint64_t deleg_at; /* answers to calls sent from then on are covered by the delegation */
	bool deleg_writes; /* the delegation is one to write */
	uint64_t dropped_since; /* deleg_at when a lock last made the daemon drop cached data */
	uint64_t rights_seen;	/* ACCESS answers to calls sent before are not used */
	/* The last result of inode_attr_timeout(), in seconds; when the function began to return
	 * that result (0: never called); and the change attribute that the result belongs to */
	unsigned timeout;
	uint64_t timeout_at;
	uint64_t timeout_of;
	/* Of a directory. version: the change attribute that the server told last. version_at: when
	 * the server was asked for version. names_seen: when the server was last asked while the
	 * directory had that version. names_from: answers about names to calls sent before may be
	 * out of date (names.h). */
	uint64_t version, version_at, names_seen, names_from;
	/* the kernel is not told to believe names that the server told before */
	uint64_t names_taken;
	/* when another client was last seen to change the directory; 0: never */
	uint64_t foreign_at;
	uint64_t listed; /* when the server was last asked for entries of the directory */
	/* requests under way that make, move or remove names in the directory */
	unsigned naming;
	/* looks: how often names in the directory were lately asked for. looks_at: since when looks
	 * counts. unlisted_until: until then the directory is not listed beside (lister.h). */
	unsigned looks;
	uint32_t looked_for; /* the hash of the last name asked for */
	uint64_t looks_at, unlisted_until;
	unsigned nopen;	    /* open files, and opens and replacements under way */
	unsigned unlinking; /* removals of the last name under way: opens wait (opening.h) */
	unsigned settling;  /* requests that set the times after the file was made (opening.h) */
	/* the process that was last told to look the name up again, and told_count at that time */
	int renamed_for;
	unsigned renamed_at;
	struct silly *silly;	     /* to be removed at the last close */
	struct request *settler;     /* the parked request that is to set the times (opening.h) */
	LIST_HEAD(, locker) lockers; /* owners that may hold locks (locker.h) */
	unsigned unlocks_pending;    /* releases under way that clear locks (locker.h) */
	unsigned unlocks_ended;	     /* such releases that have ended so far */
};

/* root: the root directory of the mount. NULL when out of memory. */
struct inode_table *inode_table_new(const struct nfs_fh *root, const struct nfs_attr *attr);
/* No request may be under way. Accepts NULL, returns NULL. */
struct inode_table *inode_table_free(struct inode_table *t);
/* Calls fn for each inode that leaves the table, while there is still a reference on the inode, and
 * with no lock held. There is one function; NULL: none. To be set while no inode can leave. */
typedef void inode_left_fn(void *ctx, struct inode *ino);
void inode_table_on_left(struct inode_table *t, inode_left_fn *fn, void *ctx);

struct inode *inode_table_root(struct inode_table *t);
unsigned inode_table_count(struct inode_table *t); /* for statistics and tests */

/* The inode number that programs see. All file systems of the server below the mount's root share
 * the mount's one st_dev, so the server's numbers may collide. Outside the root's file system the
 * number is mixed with the fsid, always in the same way. Never 0. */
uint64_t inode_number(const struct inode_table *t, const struct nfs_attr *attr);
/* Are both in one file system of the server? */
bool inode_same_fs(const struct inode *a, const struct inode *b);

/* The inode of fh, made if there is none, with one more lookup. The caller must give the lookup to
 * the kernel or take the lookup back with inode_forget(). NULL when out of memory. Any thread. */
struct inode *inode_lookup(
	struct inode_table *t, const struct nfs_fh *fh, const struct nfs_attr *attr);
/* One more lookup for an inode that the caller has a reference on. False: the inode has left the
 * table. */
bool inode_hold(struct inode_table *t, struct inode *ino);
/* The inode of fh with one more reference, or NULL if there is none. Any thread. */
struct inode *inode_find(struct inode_table *t, const struct nfs_fh *fh);
/* Takes n lookups back; at the last one the inode leaves the table. Any thread. */
void inode_forget(struct inode_table *t, struct inode *ino, uint64_t n);
/* The next inode that has a silly name, with a reference; NULL at the end. *silly is taken off the
 * inode. For the end of the mount. */
struct inode *inode_next_silly(struct inode_table *t, struct silly **silly);

struct inode *inode_ref(struct inode *ino);
/* Accepts NULL, returns NULL. */
struct inode *inode_unref(struct inode *ino);

/* Node ID to inode, for any ID that the kernel may still use. */
struct inode *inode_of(struct inode_table *t, uint64_t nodeid);
uint64_t inode_id(struct inode_table *t, const struct inode *ino);

/* This mount changes ino. inode_touch_data(): by a WRITE, whose answer tells of the change
 * (change.h). inode_touch(): in another way, by an operation that has ended. inode_touch_begin(),
 * inode_touch_end(): by one that is about to be sent, or has ended. */
void inode_touch_data(struct inode *ino);
void inode_touch(struct inode *ino);
void inode_touch_begin(struct inode *ino);
void inode_touch_end(struct inode *ino);

/* Notes attr, which the server was asked for at `seen`. True if names in a directory must not be
 * believed any more, because
 *
 *   - another client has changed the directory, or
 *   - a user may have lost the right to search: the mode lets fewer users in, the owner or group
 *     is another, or the directory changed, not through this mount, without a name made or
 *     removed (an ACL, for example).
 *
 * alone: since when no other client can have changed ino, or 0. If this mount changes rights, the
 * caller uses inode_doubt(). */
bool inode_note_attr(struct inode *ino, const struct nfs_attr *attr, uint64_t seen, uint64_t alone);

/* This mount is about to make, move or remove a name in dir; and has done so, or failed to. This
 * mount knows its own changes, but does not see a change by another client in between. So names
 * told before keep the time-out that they have, and names told later get a new one. */
void inode_naming_begin(struct inode *dir);
void inode_naming_end(struct inode *dir);
/* Is such a change under way? inode_naming_begin() comes first, before the change is noted
 * elsewhere. */
bool inode_is_naming(struct inode *dir);
/* A program asks for, or makes, a name in dir; the same name again does not count. Returns how
 * often a program lately did so; 0: the directory is not to be listed beside. */
unsigned inode_looked(struct inode *dir, const char *name);
/* Returns the same number without counting a name. less: the last name did not count. */
unsigned inode_looks(struct inode *dir, bool less);
/* dir is not to be listed beside for `time` ns. */
void inode_leave_unlisted(struct inode *dir, uint64_t time);
/* An answer shows that another client has changed names in dir. */
void inode_note_foreign(struct inode *dir);
/* Until when, on clock_ns(), to believe an answer about a name in dir that the server was asked for
 * at `seen`. The time is inode_timeout() after the directory was last known to be unchanged. 0: the
 * answer is not believed any more. */
uint64_t inode_name_until(struct inode *dir, uint64_t seen, unsigned min, unsigned max);
/* An answer to a call sent at `seen` tells the inode of a name in dir, and, earlier in the same
 * COMPOUND, that the change attribute of dir was `change`. Returns the time from which the name
 * counts, given all that is known of dir by now. If the answer was the first to show another
 * client's change, the name counts from after that change. */
uint64_t inode_name_seen(struct inode *dir, uint64_t change, uint64_t seen);
/* Has another client been seen to change dir in the last `time` ns? */
bool inode_is_shared(struct inode *dir, uint64_t time);
/* When dir was last known to be unchanged since any time from *from on. */
uint64_t inode_names_seen(struct inode *dir, uint64_t *from);
/* The newest change attribute of dir that is known not to come from this mount alone. */
uint64_t inode_version(struct inode *dir);
/* Have names in dir been taken back from the kernel since `seen`? (inode_note_attr() has said that
 * they must be.) */
bool inode_names_taken(struct inode *dir, uint64_t seen);
/* Names in dir, or notes about them, may be wrong: no name told so far is believed. */
void inode_doubt_names(struct inode *dir);
/* The server, asked at *asked, has told *a. If newer attributes are known, stores those, and the
 * time at which the server was asked for them, although they came earlier. Of two answers with one
 * change attribute the one asked for later is newer: a server may tell the time of a change a
 * moment before the size. True: the stored attributes are another version. */
bool inode_newer_attr(struct inode *ino, struct nfs_attr *a, uint64_t *asked);
/* Was the server asked after `asked` for attributes that are known now, or are the attributes of
 * that time known to be wrong? */
bool inode_attr_is_past(struct inode *ino, uint64_t asked);
/* Has the server ever told attributes of ino? Any thread. */
bool inode_has_attr(struct inode *ino);
/* The attributes that the server was asked for after `since`, if this mount has not changed the
 * file meanwhile. *seen: when the server was asked. */
bool inode_known_attr(struct inode *ino, uint64_t since, struct nfs_attr *attr, uint64_t *seen);
/* The same of a directory, with the access time that a listing of the directory has left. */
bool inode_known_dir(struct inode *dir, uint64_t since, struct nfs_attr *attr, uint64_t *seen);
/* Has the server told nothing of ino since `since`, and has this mount not changed ino? */
bool inode_is_older(struct inode *ino, uint64_t since);
/* May inode_is_older() be false for a file with handle fh that has left the table since? True may
 * be wrong: handles share slots. */
bool inode_left_since(struct inode_table *t, const struct nfs_fh *fh, uint64_t since);
/* The server is about to be asked for entries of dir. */
void inode_listing(struct inode *dir);
/* A name of ino was removed, or given to another file. A directory has only the one name. */
void inode_note_removed(struct inode *ino);
/* The server has answered ESTALE for ino. True: ino is a directory that this mount has removed.
 * *attr are then the last attributes, with no links, as a local file system shows them to processes
 * that have the directory open. */
bool inode_removed_attr(struct inode *ino, struct nfs_attr *attr);
/* The mode that the server told last, and when the server was asked. Another client may have
 * changed the mode since. */
uint32_t inode_mode(struct inode *ino, uint64_t *seen);
/* How many names the file has, as far as is known; at least 1. */
uint32_t inode_links(struct inode *ino);
/* The server must be asked again: for attributes; for attributes and rights (the handle is
 * stale). */
void inode_doubt_attr(struct inode *ino);
void inode_doubt(struct inode *ino);
/* The rights that the server gives cred, see grant.h. */
void inode_note_access(struct inode *ino, const struct rpc_cred *cred, uint32_t known,
	uint32_t allowed, uint64_t seen);
bool inode_known_access(struct inode *ino, const struct rpc_cred *cred, uint32_t want,
	uint64_t since, uint32_t *allowed);
/* For how many seconds the kernel may believe attributes with this change attribute that the kernel
 * is told now: min at first and after each change. The time doubles each time that the server was
 * asked again and the file had not changed, up to max (acregmin etc. in nfs(5)). */
unsigned inode_attr_timeout(struct inode *ino, uint64_t change, unsigned min, unsigned max);
/* The last result of inode_attr_timeout(); min before that. */
unsigned inode_timeout(struct inode *ino, unsigned min, unsigned max);

/* Process pid opens ino, and the server has told attr. True: the kernel must look the name up again
 * before the open. The kernel opens the file that the name stood for at its lookup, but another
 * client may have given the name to another file since. attr shows whether a name of ino may have
 * gone. The result is not true twice in a row for one process: the process may open the file
 * without a name (/proc/self/fd). */
bool inode_renew_name(struct inode *ino, const struct nfs_attr *attr, int pid);
/* Process pid is told to look the name up again for another reason; counts as a true result of
 * inode_renew_name(). */
void inode_renewing_name(struct inode *ino, int pid);
/* Thread tid (0: not known), which has asked at `born`, is about to be told attr, which the server
 * was asked for at `asked`. *lasts: the kernel may believe attr for a while; becomes false if attr
 * has been doubted since.
 *
 * False: the kernel must not be told attr. Either a newer version is known by now
 * (inode_newer_attr()), or the kernel has written since told_writes was `writes`: the size in attr
 * may be from before that write.
 *
 * An answer to a question from before the last notification does not count if the file is open, and
 * the inode so in use: the kernel throws such an answer away.
 *
 * inode_told_end(): the kernel has written up to end itself, and knows the size from that write. */
bool inode_told(struct inode *ino, const struct nfs_attr *attr, uint64_t asked, uint64_t born,
	pid_t tid, unsigned writes, bool *lasts);
void inode_told_end(struct inode *ino, uint64_t end, pid_t tid);
/* The same for mapped pages that the kernel has written back: neither the size that the kernel
 * believes changes, nor does the kernel ignore attributes that it has asked for before. */
void inode_told_back(struct inode *ino);
/* The kernel has cut or extended the file to `size` bytes itself, and knows that size. */
void inode_told_cut(struct inode *ino, uint64_t size, pid_t tid);
/* May the kernel believe a larger size? The kernel takes a smaller size when the process that asked
 * handles the answer. The kernel discards the answer if a write has ended meanwhile, or if the
 * kernel was made to forget attributes. So the kernel may still believe the larger size until a
 * smaller one was told a while ago. Any thread. */
bool inode_shrinks(struct inode *ino, uint64_t size);
/* Is no attribute of ino on its way to a thread: neither asked for nor told but not handled yet? */
bool inode_attr_quiet(struct inode *ino);
/* The daemon has read a request of thread tid for ino at `born`. */
void inode_heard(struct inode *ino, pid_t tid, uint64_t born);
/* A SETATTR that sets the size of ino begins, and is about to be answered to thread tid. */
void inode_cut_begin(struct inode *ino);
void inode_cut_end(struct inode *ino, pid_t tid);
/* The answer to the READ ends at `end`, where the file ends: believed_ignores(). Any thread. */
bool inode_ignores_end(
	struct inode *ino, uint64_t end, const struct believed_read *read, uint64_t *until);
/* Was the kernel told nothing older than this change attribute and size since it last forgot
 * attributes? */
bool inode_told_from(struct inode *ino, uint64_t change, uint64_t size);
/* May the kernel believe attributes? Then a notification can make the kernel forget them. A
 * notification also makes the kernel throw away answers on their way, and a reader that waits for
 * such an answer goes on with the old attributes. So no needless notification is sent. */
bool inode_must_forget(struct inode *ino);
/* The kernel is about to be notified. Returns `times` for inode_forgot(). */
unsigned inode_forgets(struct inode *ino);
/* The kernel has been notified, after `began`; 0: the kernel has no such inode. */
void inode_forgot(struct inode *ino, unsigned times, uint64_t began);
/* The kernel asks for attributes; and is about to get an error, or the answer to the GETATTR that
 * it sent at `born`. */
void inode_attr_asked(struct inode *ino);
/* The answer to a GETATTR waits in the daemon, and is not on its way to the kernel; until
 * inode_attr_asked(). */
void inode_attr_waits(struct inode *ino);
void inode_attr_answered(struct inode *ino, uint64_t born);
/* The kernel has sent a READ at `born` that begins behind the end of the file, according to the
 * server, last asked at `sent`. Would the empty answer make the kernel throw away attributes on
 * their way? Not if the kernel was made to forget attributes since `born`, or has got attributes
 * that it asked for afterwards: the empty answer then changes nothing. The kernel has got
 * attributes if it was answered before `sent`: the process that asked has had a round trip's time
 * to handle the answer. */
bool inode_end_spoils(struct inode *ino, uint64_t born, uint64_t sent);
/* The server has told attr at an open: does the kernel believe that change attribute, size, mode,
 * owner and time of change? Of
 * several answers on their way the kernel takes the first one, not the last. So the result is true
 * only if all answers since the kernel last forgot attributes were the same. */
bool inode_told_this(struct inode *ino, const struct nfs_attr *attr);
/* A process may handle attributes with time-out 0 at any time after the answer. The kernel then
 * takes that size, and throws away attributes that it asked for meanwhile. Did all such answers
 * since the kernel last forgot attributes have this size? */
bool inode_told_size(struct inode *ino, uint64_t size);

#endif

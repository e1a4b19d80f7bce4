/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * object: the files of the exported directory that clients know, and the walls around the export.
 *
 * Confinement. An object is an O_PATH file descriptor. The server gets one in two ways only. The
 * first way is one name in a directory that is itself an object (openat() with O_NOFOLLOW, the name
 * checked by obj_name_ok()). The second way is a handle that carries the server's seal. The server
 * never gives the kernel a path with a '/', nor follows a symbolic link, on a client's behalf. Only
 * obj_parent() asks for "..", and proves that the answer still lies below the root.
 *
 * Life. obj_lookup(), obj_by_handle() and obj_parent() return a counted reference. While a
 * reference exists, obj->fd stays open and stays the same. Unreferenced objects are kept for later.
 * Descriptors of unreferenced objects are closed when there are too many, least recently used
 * first, or when they have been idle. Such a descriptor is opened again by kernel handle (with the
 * privilege for it), or by the parent and name under which the object was last seen. That name must
 * then still lead to the same inode. If both ways fail, after a restart for example, the server
 * searches the exported directory for the object (seek.h). A removed object is forgotten with its
 * last reference, so that the disk space becomes free.
 *
 * The table is cut into shards. Each shard has its own lock, held only for look-ups.
 */
#ifndef RNFS_SERVE_EXPORT_OBJECT_H
#define RNFS_SERVE_EXPORT_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "contrib/serve/export/handle.h"
#include "transport/err.h"
#include "transport/lock.h"

#define OBJ_NAME_MAX 255
#define OBJ_STATX    (STATX_BASIC_STATS | STATX_BTIME)

struct obj_table;
struct referral;
struct st;	 /* state.h: an open, lock owner or delegation */
struct unstable; /* stable.c: data that is not stable yet */

struct obj {
	int fd;	     /* O_PATH; valid while the caller holds a reference */
	mode_t type; /* S_IFREG, ... */
	struct handle_id id;
	struct handle_trail trail; /* for its handle; never changes */
	/* the handle, once known: under the shard's lock first the bytes, then the length, once */
	uint8_t sealed[HANDLE_MAX];
	_Atomic uint8_t sealed_len;	 /* 0: not known */
	uint64_t st_dev;		 /* as stat reports it */
	const struct referral *referral; /* constant while clients are served; NULL: none */

	struct mutex lock;
	GUARDED_BY(lock) LIST_HEAD(, st) states; /* opens and lock owners of this file */
	_Atomic uint64_t bumps;			 /* changes made through this server */

	/* of delegations (state/deleg.h) */
	/* changes under way: meanwhile no delegation is given */
	unsigned changing GUARDED_BY(lock);
	uint64_t undelegated_ns GUARDED_BY(lock); /* until then no delegation is given */

	_Atomic uint64_t fenced_ns; /* when this server fenced it last (fence.h); 0: never */

	/* of layouts (state/layout.h) */
	unsigned rights_changing GUARDED_BY(lock); /* meanwhile no layout is given */
	uint64_t unlaid_ns GUARDED_BY(lock);	   /* until then no layout is given */
	/* until then no layout is to be asked for: a change of rights waits */
	uint64_t wanted_ns GUARDED_BY(lock);
	_Atomic uint64_t write_here_ns; /* until then no layout to write is given */

	/* stable.c's, guarded by stable.c's lock */
	struct unstable *unstable; /* NULL: no data to be committed. Holds a reference */
	bool syncing;		   /* a sync of the object runs */
	bool synced;		   /* the last sync of this run has succeeded */
	uint32_t failed; /* failed syncs of the data; if not 0, stable.c keeps the object */

	_Atomic unsigned refs; /* from and to 0 under the shard's lock */
	/* object.c's, guarded by the shard's lock */
	bool hashed;
	bool doomed;		     /* removed: forget at the last unref */
	uint64_t idle_ns;	     /* when refs fell to 0 */
	uint64_t hint_dev, hint_ino; /* the directory in which the object was last seen */
	char *hint_name;
	LIST_ENTRY(obj) hash;
	TAILQ_ENTRY(obj) lru;
};

/* A name that may be given to openat(): 1..OBJ_NAME_MAX bytes, no '/', no NUL, not "." or "..". */
bool obj_name_ok(const void *name, size_t len);

/* Makes dir the root of a new table. secret: HANDLE_KEY bytes that seal handles. max_fds bounds the
 * descriptors kept for unreferenced objects (0: from RLIMIT_NOFILE). NULL with *e set. */
struct obj_table *obj_table_new(
	const char *dir, const uint8_t *secret, size_t max_fds, struct err *e);
/* All references must be back. Accepts NULL, returns NULL. */
struct obj_table *obj_table_free(struct obj_table *t);
/* How many files may be held open, each with a descriptor, beside the table's own descriptors. */
size_t obj_table_opens(const struct obj_table *t);
/* Closes descriptors that have been idle for longer than idle_ns. Call now and then. */
void obj_table_age(struct obj_table *t, uint64_t idle_ns);

/* A new reference to the root. */
struct obj *obj_root(struct obj_table *t);
bool obj_is_root(const struct obj_table *t, const struct obj *o);
struct obj *obj_ref(struct obj_table *t, struct obj *o);
/* Accepts NULL, returns NULL. */
struct obj *obj_unref(struct obj_table *t, struct obj *o);

/* Looks up name (not terminated, checked by obj_name_ok(): -EINVAL) in dir. 0 with a reference, or
 * -ENOENT, -ENOTDIR, -EACCES, ... *st (may be NULL) receives the object's attributes. */
int obj_lookup(struct obj_table *t, struct obj *dir, const void *name, size_t len, struct obj **out,
	struct statx *st);
/* The same, with an open descriptor (O_PATH or other) of name in dir. The descriptor stays the
 * caller's. */
int obj_adopt(struct obj_table *t, struct obj *dir, const void *name, size_t len, int fd,
	struct obj **out, struct statx *st);
/* -ENOENT for the root, -ESTALE when o has left the exported directory. */
int obj_parent(struct obj_table *t, struct obj *o, struct obj **out);

/* Writes o's handle (HANDLE_MAX bytes of room) and returns its length. */
uint32_t obj_handle(struct obj_table *t, struct obj *o, uint8_t *buf);
/* Will o's handle lead to o as long as o exists, also in later runs? Only on a file system that
 * distinguishes a re-used inode number, by file handles or the time of birth. */
bool obj_handle_lasts(const struct obj_table *t, const struct obj *o);
/* Do all handles of an object have the same bytes, also after a move? Only with the privilege to
 * open by handle. */
bool obj_handles_unique(const struct obj_table *t);
/* Finds the object of a handle. -EBADMSG: not this server's handle. -ESTALE: the object is gone, or
 * cannot be found again. -EAGAIN: the server is looking for the object. */
int obj_by_handle(struct obj_table *t, const uint8_t *buf, size_t len, struct obj **out);

/* A name of o was removed. True: o has no other name; the last obj_unref() forgets o. */
bool obj_removed(struct obj_table *t, struct obj *o);
/* o now is name in dir. */
void obj_moved(struct obj_table *t, struct obj *o, struct obj *dir, const void *name, size_t len);

/* All attributes of o that the server reports: statx() with OBJ_STATX. 0 or -errno. */
int obj_stat(const struct obj *o, struct statx *st);
/* Opens o itself for I/O (flags as for open(2), O_CLOEXEC is added). A descriptor, or -errno.
 * -EINVAL: o is neither a regular file nor a directory. */
int obj_open(const struct obj *o, int flags);
/* obj_stat() for an open fd. */
int obj_stat_fd(int fd, struct statx *st);
/* Opens the file that fd leads to anew (O_CLOEXEC is added): a descriptor, or -errno. */
int obj_open_fd(int fd, int flags);
/* Writes "/proc/self/fd/N" of the descriptor fd, or of o, into buf, for calls that take only a
 * path. */
#define OBJ_PATH_SIZE 32
const char *obj_fd_path(int fd, char *buf);
const char *obj_path(const struct obj *o, char *buf);
/* Would the kernel let the caller do mode (R_OK, ...)? */
bool obj_allowed(const struct obj *o, int mode);

#endif

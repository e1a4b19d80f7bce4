/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * object: the files of the exported directory that clients know, and the walls around it.
 *
 * Confinement. An object is an O_PATH file descriptor, got in one of two ways only: by one name in
 * a directory that is itself an object (openat with O_NOFOLLOW, the name checked by obj_name_ok()),
 * or by a handle that carries our seal. No path with a '/' and no symbolic link is ever given to
 * the kernel on a client's behalf; ".." is only asked for by obj_parent(), which proves that the
 * answer still lies below the root.
 *
 * Life. obj_lookup(), obj_by_handle() and obj_parent() return a counted reference; while a
 * reference exists, obj->fd stays open and stays the same. Unreferenced objects are kept for later,
 * the least recently used descriptors are closed when there are too many or when they have been
 * idle, and come back by kernel handle (with the privilege for it) or by the parent and name they
 * were last seen under, which must then still lead to the same inode. What cannot be found so,
 * after a restart for example, is looked for in the exported directory (seek.h). An object that was
 * removed is forgotten with its last reference, so that it gives its disk space back.
 *
 * The table is cut into shards, each with its own lock, held only for look-ups.
 */
#ifndef RNFS_SERVE_EXPORT_OBJECT_H
#define RNFS_SERVE_EXPORT_OBJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "contrib/serve/export/handle.h"
#include "transport/err.h"

#define OBJ_NAME_MAX 255
#define OBJ_STATX    (STATX_BASIC_STATS | STATX_BTIME)

struct obj_table;
struct st;	 /* state.h: an open, lock owner or delegation */
struct unstable; /* stable.c: data that is not stable yet */

struct obj {
	int fd;	     /* O_PATH; valid while the caller holds a reference */
	mode_t type; /* S_IFREG, ... */
	struct handle_id id;
	struct handle_trail trail; /* for its handle; never changes */
	bool id_full;		   /* kernel handle was asked for; shard lock */
	/* its handle, once it is known: written with the shard's lock, then the length, once */
	uint8_t sealed[HANDLE_MAX];
	_Atomic uint8_t sealed_len; /* 0: it is not */
	uint64_t st_dev;	    /* as stat reports it */

	pthread_mutex_t lock;
	LIST_HEAD(, st) states; /* opens and lock owners of this file; lock */
	_Atomic uint64_t bumps; /* changes made through this server */

	/* of delegations (state/deleg.h); lock */
	unsigned changing;	 /* changes under way that no delegation may be given beside */
	uint64_t undelegated_ns; /* until then none is given */

	/* stable.c's, guarded by its lock */
	struct unstable *unstable; /* NULL: nothing to be committed. It holds a reference */
	bool syncing;		   /* a sync of it runs */
	bool synced;		   /* the last one of this run has succeeded */
	uint32_t failed;	   /* syncs of its data; stable.c keeps it if there are any */

	_Atomic unsigned refs; /* from and to 0 under the shard's lock */
	/* object.c's, guarded by the shard's lock */
	bool hashed;
	bool doomed;		     /* removed: forget at the last unref */
	uint64_t idle_ns;	     /* when refs fell to 0 */
	uint64_t hint_dev, hint_ino; /* the directory it was last seen in */
	char *hint_name;
	LIST_ENTRY(obj) hash;
	TAILQ_ENTRY(obj) lru;
};

struct obj_stats {
	size_t known, open;	  /* objects in the table, descriptors held for unused ones */
	size_t reopened, evicted; /* since the start */
};

/* A name that may be given to openat(): 1..OBJ_NAME_MAX bytes, no '/', no NUL, not "." or "..". */
bool obj_name_ok(const void *name, size_t len);

/* Makes dir the root of a new table. secret: HANDLE_KEY bytes that seal handles. max_fds bounds the
 * descriptors kept for objects that nobody uses (0: from RLIMIT_NOFILE). NULL with *e set. */
struct obj_table *obj_table_new(
	const char *dir, const uint8_t *secret, size_t max_fds, struct err *e);
/* All references must be back. Accepts NULL, returns NULL. */
struct obj_table *obj_table_free(struct obj_table *t);
/* How many files may be held open, each with a descriptor, beside what the table keeps. */
size_t obj_table_opens(const struct obj_table *t);
void obj_table_stats(struct obj_table *t, struct obj_stats *out);
/* Closes what has been idle for longer than idle_ns; call now and then. */
void obj_table_age(struct obj_table *t, uint64_t idle_ns);

/* A new reference to the root. */
struct obj *obj_root(struct obj_table *t);
bool obj_is_root(const struct obj_table *t, const struct obj *o);
struct obj *obj_ref(struct obj_table *t, struct obj *o);
/* Accepts NULL, returns NULL. */
struct obj *obj_unref(struct obj_table *t, struct obj *o);

/* name (not terminated, checked by obj_name_ok(): -EINVAL) in dir. 0 with a reference, or -ENOENT,
 * -ENOTDIR, -EACCES, ... *st (may be NULL) receives what the object looked like. */
int obj_lookup(struct obj_table *t, struct obj *dir, const void *name, size_t len, struct obj **out,
	struct statx *st);
/* Takes an open O_PATH or other descriptor of name in dir; the descriptor stays the caller's. */
int obj_adopt(struct obj_table *t, struct obj *dir, const void *name, size_t len, int fd,
	struct obj **out, struct statx *st);
/* -ENOENT for the root, -ESTALE when o has left the exported directory. */
int obj_parent(struct obj_table *t, struct obj *o, struct obj **out);

/* Writes o's handle (HANDLE_MAX bytes of room) and returns its length. */
uint32_t obj_handle(struct obj_table *t, struct obj *o, uint8_t *buf);
/* Will o's handle lead to it as long as it exists, also in later runs? It needs a file system that
 * tells a re-used inode number from the former: by handles of its own or the time of birth. */
bool obj_handle_lasts(const struct obj_table *t, const struct obj *o);
/* Do all handles of an object have the same bytes, wherever it is moved? It needs the privilege to
 * open by handle. */
bool obj_handles_unique(const struct obj_table *t);
/* The object of a handle: -EBADMSG (not ours), -ESTALE (gone, or cannot be found again), -EAGAIN
 * (it is being looked for). */
int obj_by_handle(struct obj_table *t, const uint8_t *buf, size_t len, struct obj **out);

/* A name of o was removed: it is forgotten at its last unref if it has no other. *before (may be
 * NULL) is what o looked like shortly before. */
void obj_removed(struct obj_table *t, struct obj *o, const struct statx *before);
/* o now is name in dir. */
void obj_moved(struct obj_table *t, struct obj *o, struct obj *dir, const void *name, size_t len);

/* What stat says about o (statx() with OBJ_STATX); all that the server reports. 0 or -errno. */
int obj_stat(const struct obj *o, struct statx *st);
/* Opens o itself for I/O (flags as for open(2), O_CLOEXEC is added): a descriptor, or -errno.
 * Only regular files and directories: others are -EINVAL. */
int obj_open(const struct obj *o, int flags);
/* The same of what the descriptor fd leads to. */
int obj_stat_fd(int fd, struct statx *st);
/* Opens anew what the descriptor fd leads to (O_CLOEXEC is added): a descriptor, or -errno. */
int obj_open_fd(int fd, int flags);
/* "/proc/self/fd/N" of o, or of the descriptor fd, into buf, for calls that take only a path. */
#define OBJ_PATH_SIZE 32
const char *obj_fd_path(int fd, char *buf);
const char *obj_path(const struct obj *o, char *buf);
/* Would the kernel let the caller do mode (R_OK, ...)? */
bool obj_allowed(const struct obj *o, int mode);

#endif

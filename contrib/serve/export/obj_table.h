/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * obj_table: the table of objects, for the other files of this folder only.
 */
#ifndef RNFS_SERVE_EXPORT_OBJ_TABLE_H
#define RNFS_SERVE_EXPORT_OBJ_TABLE_H

#include "contrib/serve/export/gone.h"
#include "contrib/serve/export/object.h"
#include "transport/lock.h"

#define OBJ_SHARDS  16
#define OBJ_BUCKETS 1024
#define OBJ_MOUNTS  32 /* file systems below the root that handles can be opened on */

LIST_HEAD(obj_bucket, obj);
TAILQ_HEAD(obj_list, obj);

struct obj_shard {
	struct mutex lock;
	struct obj_bucket bucket[OBJ_BUCKETS] GUARDED_BY(lock);
	/* idle objects with a descriptor, least recently used first */
	struct obj_list warm GUARDED_BY(lock);
	struct obj_list cold GUARDED_BY(lock); /* idle objects without */
	struct obj_list dead GUARDED_BY(lock); /* idle and pushed out, to be destroyed by bury() */
	size_t known GUARDED_BY(lock);	       /* hashed */
	size_t nwarm GUARDED_BY(lock), ncold GUARDED_BY(lock);
};

struct obj_table {
	uint8_t key[HANDLE_KEY];
	int root_fd; /* that of mount[0]: the exported directory, open for reading */
	struct obj *root;
	uint64_t root_dev;
	size_t max_fds, max_opens;
	bool by_handle;	   /* open_by_handle_at() is allowed to us */
	struct seek *seek; /* seek.h */
	struct gone gone;
	struct mutex mounts_lock;
	unsigned nmounts GUARDED_BY(mounts_lock);
	struct {
		uint64_t dev;
		int fd;
	} mount[OBJ_MOUNTS] GUARDED_BY(mounts_lock);
	struct obj_shard shard[OBJ_SHARDS];
};

/* Where an object was seen: as name in the directory dev/ino (as in handle_id), and the trail for
 * its handle. An empty name: unknown. */
struct obj_hint {
	uint64_t dev, ino;
	struct handle_trail trail;
	char name[OBJ_NAME_MAX + 1];
};

static inline uint64_t obj_makedev(const struct statx *st)
{
	return (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
}

void obj_shards_init(struct obj_table *t);
void obj_shards_finish(struct obj_table *t);
/* A reference to a known object (its fd may be -1), or NULL. */
struct obj *obj_find(struct obj_table *t, uint64_t dev, uint64_t ino);
/* The same, for the object with identity id, if its descriptor is open. */
struct obj *obj_find_open(struct obj_table *t, const struct handle_id *id);
/* The same, for the object with this handle, set by obj_keep_handle(). */
struct obj *obj_find_sealed(
	struct obj_table *t, uint64_t dev, uint64_t ino, const uint8_t *handle, size_t len);
/* Keeps the bytes of o's handle. The first call sets them for good. */
void obj_keep_handle(struct obj_table *t, struct obj *o, const uint8_t *handle, size_t len);
/* o->fd, read under the lock. For references from obj_find(). */
int obj_fd(struct obj_table *t, struct obj *o);
/* Gives o the descriptor fd, which leads to o. Closes fd if o has a descriptor by now. */
void obj_give_fd(struct obj_table *t, struct obj *o, int fd);
/* Copies o's hint. False: o has no hint. */
bool obj_get_hint(struct obj_table *t, struct obj *o, struct obj_hint *h);
/* Does *st, seen at the place of hint, describe an object with a descriptor? Then *out is a
 * reference to the object. While an inode is held open, no other object gets its number. */
bool obj_find_held(
	struct obj_table *t, const struct statx *st, const struct obj_hint *hint, struct obj **out);
/* A reference to the object that the O_PATH descriptor fd (consumed) and *st describe. */
int obj_intern(struct obj_table *t, int fd, const struct statx *st, const struct obj_hint *hint,
	struct obj **out);

void obj_make_hint(struct obj_table *t, struct obj_hint *h, const struct obj *dir, const void *name,
	size_t len);
/* Does fd lead to the object want? *st receives its attributes. */
bool obj_is(struct obj_table *t, int fd, const struct handle_id *want, struct statx *st);
/* Sets all of id. fd is only read. */
void obj_full_id(struct obj_table *t, int fd, const struct statx *st, struct handle_id *id);

#endif

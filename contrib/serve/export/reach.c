/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * reach: how descriptors of objects are come by. This file holds every system call that turns a
 * client's words (a name, a handle) into a descriptor; the walls of object.h stand here.
 *
 * A descriptor that was found again (by handle, or by parent and name) counts only if it leads to
 * the inode it is wanted for: same device, inode and generation.
 */
#include "contrib/serve/export/object_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "transport/log.h"

#define STATX_WANT     (STATX_BASIC_STATS | STATX_BTIME)
#define DEPTH_MAX      4096 /* directories between the root and an object */
#define REOPEN_DEPTH   64   /* parents re-opened to re-open an object */
#define FD_RESERVE     256  /* descriptors for connections and directory streams */
#define FD_DEFAULT_MAX 65536
#define OPENS_MAX      1048576

bool obj_name_ok(const void *name, size_t len)
{
	const char *s = name;

	if (len == 0 || len > OBJ_NAME_MAX)
		return false;
	if (memchr(s, '/', len) || memchr(s, '\0', len))
		return false;
	return !(s[0] == '.' && (len == 1 || (len == 2 && s[1] == '.')));
}

const char *obj_path(const struct obj *o, char *buf)
{
	snprintf(buf, OBJ_PATH_SIZE, "/proc/self/fd/%d", o->fd);
	return buf;
}

static int stat_fd(int fd, struct statx *st)
{
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_SYNC_AS_STAT, STATX_WANT, st) != 0)
		return -errno;
	return 0;
}

int obj_stat(const struct obj *o, struct statx *st)
{
	return stat_fd(o->fd, st);
}

int obj_open(const struct obj *o, int flags)
{
	char path[OBJ_PATH_SIZE];
	int fd;

	/* a FIFO would block and a device would act: only what holds data is opened */
	if (!S_ISREG(o->type) && !S_ISDIR(o->type))
		return -EINVAL;
	fd = open(obj_path(o, path), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void obj_make_hint(struct obj_table *t, struct obj_hint *h, const struct obj *dir, const void *name,
	size_t len)
{
	h->trail = dir->trail;
	if (dir != t->root && t->root)
		handle_trail_add(&h->trail, dir->id.ino);
	h->dev = dir->id.dev;
	h->ino = dir->id.ino;
	memcpy(h->name, name, len);
	h->name[len] = '\0';
}

void obj_short_id(struct obj_table *t, const struct statx *st, struct handle_id *id)
{
	uint64_t dev = obj_makedev(st);

	memset(id, 0, sizeof(*id));
	id->dev = dev == t->root_dev ? 0 : dev;
	id->ino = st->stx_ino;
	if (st->stx_mask & STATX_BTIME)
		id->birth = (uint64_t)st->stx_btime.tv_sec * 1000000000u + st->stx_btime.tv_nsec;
}

void obj_full_id(struct obj_table *t, int fd, const struct statx *st, struct handle_id *id)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u;
	int mount_id;

	obj_short_id(t, st, id);
	u.h.handle_bytes = HANDLE_KH_MAX;
	if (name_to_handle_at(fd, "", &u.h, &mount_id, AT_EMPTY_PATH) != 0)
		return;
	if (u.h.handle_bytes == 0 || u.h.handle_bytes > HANDLE_KH_MAX || u.h.handle_type < 0 ||
		u.h.handle_type > UINT16_MAX)
		return;
	id->kh_type = (uint16_t)u.h.handle_type;
	id->kh_len = (uint8_t)u.h.handle_bytes;
	memcpy(id->kh, u.h.f_handle, u.h.handle_bytes);
	if (!t->by_handle &&
		id->kh_len > HANDLE_KH_FIT) { /* only compared: leave room for the trail */
		uint64_t sum = handle_siphash(t->key, u.h.f_handle, u.h.handle_bytes);

		memset(id->kh, 0, sizeof(id->kh));
		memcpy(id->kh, &sum, sizeof(sum));
		id->kh_len = sizeof(sum);
	}
}

int obj_adopt(struct obj_table *t, struct obj *dir, const void *name, size_t len, int fd,
	struct obj **out, struct statx *st)
{
	struct statx local;
	struct obj_hint h;
	char path[OBJ_PATH_SIZE];
	int r, own;

	if (!obj_name_ok(name, len))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_PATH | O_CLOEXEC);
	if (own < 0)
		return -errno;
	if (!st)
		st = &local;
	r = stat_fd(own, st);
	if (r < 0) {
		close(own);
		return r;
	}
	obj_make_hint(t, &h, dir, name, len);
	return obj_intern(t, own, st, &h, out);
}

int obj_lookup(struct obj_table *t, struct obj *dir, const void *name, size_t len, struct obj **out,
	struct statx *st)
{
	struct statx local;
	struct obj_hint h;
	int fd, r;

	if (!obj_name_ok(name, len))
		return -EINVAL;
	if (!S_ISDIR(dir->type))
		return -ENOTDIR;
	obj_make_hint(t, &h, dir, name, len);
	if (!st)
		st = &local;
	if (statx(dir->fd, h.name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_SYNC_AS_STAT,
		    STATX_WANT, st) != 0)
		return -errno;
	if (obj_find_held(t, st, &h, out))
		return 0;
	fd = openat(dir->fd, h.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = stat_fd(fd, st); /* of what was opened: it may be another by now */
	if (r < 0) {
		close(fd);
		return r;
	}
	if (S_ISDIR(st->stx_mode) && obj_makedev(st) != t->root_dev)
		submount_note(t, obj_makedev(st), fd);
	return obj_intern(t, fd, st, &h, out);
}

/* Does the directory fd (not consumed) lie below the root, or is it the root? Walks up. The trail
 * is that of the directory. */
static int below_root(struct obj_table *t, int fd, struct handle_trail *trail)
{
	uint64_t above[HANDLE_TRAIL]; /* the last ones passed on the way up */
	unsigned passed = 0;
	struct statx st, up;
	int r, dir = fd;

	memset(trail, 0, sizeof(*trail));
	r = stat_fd(fd, &st);
	for (int depth = 0; r == 0; depth++) {
		int parent;

		if (obj_makedev(&st) == t->root_dev && st.stx_ino == t->root->id.ino)
			break;
		if (depth > 0)
			above[passed++ % HANDLE_TRAIL] = st.stx_ino;
		parent = depth < DEPTH_MAX ? openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC)
					   : -1;
		if (dir != fd)
			close(dir);
		if (parent < 0)
			return -ESTALE;
		dir = parent;
		r = stat_fd(parent, &up);
		if (r == 0 && up.stx_ino == st.stx_ino && obj_makedev(&up) == obj_makedev(&st))
			r = -ESTALE; /* the machine's root: not through here */
		st = up;
	}
	if (dir != fd)
		close(dir);
	for (unsigned i = 0; i < HANDLE_TRAIL && passed > 0; i++)
		handle_trail_add(trail, above[--passed % HANDLE_TRAIL]);
	return r;
}

int obj_parent(struct obj_table *t, struct obj *o, struct obj **out)
{
	struct obj_hint h = {0};
	struct statx st;
	int fd, r;

	if (!S_ISDIR(o->type))
		return -ENOTDIR;
	if (obj_is_root(t, o))
		return -ENOENT;
	fd = openat(o->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ident_suspend(); /* ancestors need not be searchable for the caller */
	r = below_root(t, fd, &h.trail);
	ident_resume();
	if (r == 0)
		r = stat_fd(fd, &st);
	if (r < 0) {
		close(fd);
		return r;
	}
	return obj_intern(t, fd, &st, &h, out);
}

/* The kernel finds it again by its handle. */
static bool kernel_finds(const struct obj_table *t, const struct obj *o)
{
	return t->by_handle && o->id.kh_len;
}

uint32_t obj_handle(struct obj_table *t, struct obj *o, uint8_t *buf)
{
	return handle_seal(buf, &o->id, kernel_finds(t, o) ? NULL : &o->trail, t->key);
}

bool obj_handle_lasts(const struct obj_table *t, const struct obj *o)
{
	return kernel_finds(t, o) || seek_can(&o->id);
}

bool obj_handles_unique(const struct obj_table *t)
{
	return t->by_handle;
}

bool obj_is(struct obj_table *t, int fd, const struct handle_id *want, struct statx *st)
{
	struct handle_id id;

	if (stat_fd(fd, st) < 0)
		return false;
	obj_full_id(t, fd, st, &id);
	return handle_id_equal(&id, want);
}

/* A descriptor by kernel handle, or -1. */
static int open_kh(struct obj_table *t, const struct handle_id *id)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u;
	int at = submount_fd(t, id->dev);

	if (!t->by_handle || !id->kh_len || at < 0)
		return -1;
	u.h.handle_bytes = id->kh_len;
	u.h.handle_type = id->kh_type;
	memcpy(u.h.f_handle, id->kh, id->kh_len);
	return open_by_handle_at(at, &u.h, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

static int reopen(struct obj_table *t, struct obj *o, int depth);

/* A descriptor by the parent and name that o was last seen under, or -1. */
static int open_hint(struct obj_table *t, struct obj *o, int depth)
{
	struct obj_hint h;
	struct obj *dir;
	int fd = -1;

	if (depth >= REOPEN_DEPTH || !obj_get_hint(t, o, &h))
		return -1;
	dir = obj_find(t, h.dev, h.ino);
	if (!dir)
		return -1;
	if (reopen(t, dir, depth + 1) == 0)
		fd = openat(obj_fd(t, dir), h.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	obj_unref(t, dir);
	return fd;
}

/* Gives the referenced object a descriptor if it has none. 0 or -ESTALE. */
static int reopen(struct obj_table *t, struct obj *o, int depth)
{
	struct statx st;
	int fd;

	if (obj_fd(t, o) >= 0)
		return 0;
	fd = open_kh(t, &o->id);
	if (fd < 0)
		fd = open_hint(t, o, depth);
	if (fd < 0)
		return -ESTALE;
	if (!obj_is(t, fd, &o->id, &st)) {
		close(fd);
		return -ESTALE;
	}
	obj_give_fd(t, o, fd);
	return 0;
}

static int by_id(struct obj_table *t, const struct handle_id *id, const struct handle_trail *trail,
	struct obj **out)
{
	struct obj *o = obj_find(t, id->dev, id->ino);
	struct statx st;
	int fd;

	if (o && handle_id_equal(&o->id, id) && reopen(t, o, 0) == 0) {
		*out = o;
		return 0;
	}
	obj_unref(t, o);
	if (!t->by_handle || !id->kh_len)
		return seek_find(t->seek, id, trail, out);
	fd = open_kh(t, id);
	if (fd < 0)
		return -ESTALE;
	if (!obj_is(t, fd, id, &st) || st.stx_nlink == 0) {
		close(fd);
		return -ESTALE;
	}
	return obj_intern(t, fd, &st, NULL, out);
}

int obj_by_handle(struct obj_table *t, const uint8_t *buf, size_t len, struct obj **out)
{
	struct handle_trail trail;
	struct handle_id id;
	struct obj *o;
	int r = handle_open(&id, &trail, buf, len, t->key);

	if (r < 0)
		return r;
	o = obj_find(t, id.dev, id.ino);
	if (o && obj_fd(t, o) >= 0 && handle_id_equal(&o->id, &id)) {
		*out = o;
		return 0;
	}
	obj_unref(t, o);
	ident_suspend(); /* the handle was earned before; what may be done with it is checked later
			  */
	r = by_id(t, &id, &trail, out);
	ident_resume();
	return r;
}

struct obj *obj_root(struct obj_table *t)
{
	return obj_ref(t, t->root);
}

bool obj_is_root(const struct obj_table *t, const struct obj *o)
{
	return o == t->root;
}

/* Does this process have what open_by_handle_at() asks for? */
static bool may_open_by_handle(struct obj_table *t, const struct handle_id *root)
{
	int fd;

	fd = open_kh(t, root);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* RLIMIT_NOFILE, raised as far as it goes. */
static size_t fd_limit(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) != 0)
		return 1024;
	if (rl.rlim_cur < rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &rl) != 0)
			getrlimit(RLIMIT_NOFILE, &rl);
	}
	return rl.rlim_cur;
}

/* A quarter for unused objects, the rest without the reserve in pairs: an open takes the object's
 * descriptor and one of its own. */
static void share_fds(struct obj_table *t, size_t max_fds)
{
	size_t limit = fd_limit(), reserve = FD_RESERVE < limit / 4 ? FD_RESERVE : limit / 4;

	t->max_fds = limit / 4 < FD_DEFAULT_MAX ? limit / 4 : FD_DEFAULT_MAX;
	if (max_fds)
		t->max_fds = max_fds;
	t->max_opens = limit > t->max_fds + reserve ? (limit - t->max_fds - reserve) / 2 : 1;
	if (t->max_opens > OPENS_MAX)
		t->max_opens = OPENS_MAX;
}

size_t obj_table_opens(const struct obj_table *t)
{
	return t->max_opens;
}

struct obj_table *obj_table_new(
	const char *dir, const uint8_t *secret, size_t max_fds, struct err *e)
{
	struct obj_table *t = calloc(1, sizeof(*t));
	struct handle_id id;
	struct statx st;
	uint64_t k[2];
	int fd;

	if (!t) {
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		err_set(e, ERR_USAGE, "cannot open the directory %s: %s", dir, strerror(errno));
		free(t);
		return NULL;
	}
	obj_shards_init(t);
	pthread_mutex_init(&t->mounts_lock, NULL);
	share_fds(t, max_fds);
	t->mount[0].fd = fd; /* kept: open_by_handle_at() on the root's file system */
	t->nmounts = 1;
	if (stat_fd(fd, &st) == 0) {
		uint64_t seed[3] = {st.stx_ino, 0, 0};

		t->root_dev = obj_makedev(&st);
		for (int i = 0; i < 2; i++) {
			seed[1] = (uint64_t)i;
			k[i] = handle_siphash(secret, seed, sizeof(seed));
		}
		memcpy(t->key, k, sizeof(k));
		t->by_handle = true; /* whole kernel handles, to try one */
		obj_full_id(t, fd, &st, &id);
		t->by_handle = id.kh_len && may_open_by_handle(t, &id);
		obj_full_id(t, fd, &st, &id);
		fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && obj_is(t, fd, &id, &st) &&
			obj_intern(t, fd, &st, NULL, &t->root) == 0 &&
			(t->seek = seek_new(t)) != NULL)
			return t;
	}
	err_set(e, ERR_INTERNAL, "cannot use the directory %s: %s", dir, strerror(errno));
	return obj_table_free(t);
}

struct obj_table *obj_table_free(struct obj_table *t)
{
	if (!t)
		return NULL;
	t->seek = seek_free(t->seek);
	obj_unref(t, t->root);
	obj_shards_finish(t);
	for (unsigned i = 0; i < t->nmounts; i++)
		close(t->mount[i].fd);
	pthread_mutex_destroy(&t->mounts_lock);
	free(t);
	return NULL;
}

bool obj_allowed(const struct obj *o, int mode)
{
	char path[OBJ_PATH_SIZE];

	if (S_ISLNK(o->type))
		return mode == R_OK;
	if (faccessat(o->fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0)
		return true;
	if (errno != EINVAL && errno != ENOENT)
		return false;
	/* a kernel without AT_EMPTY_PATH here */
	return faccessat(AT_FDCWD, obj_path(o, path), mode, AT_EACCESS) == 0;
}

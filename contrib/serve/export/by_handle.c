/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * by_handle: descriptors of objects by a client's handle.
 *
 * A descriptor that was opened again (by kernel handle, or by parent and name) must lead to the
 * right inode: same device, inode and generation.
 */
#include "contrib/serve/export/by_handle.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/export/mountinfo.h"
#include "contrib/serve/export/seek.h"

#define REOPEN_DEPTH 64 /* parents re-opened to re-open an object */

/* Can the kernel find o by its handle? */
static bool kernel_finds(const struct obj_table *t, const struct obj *o)
{
	return t->by_handle && o->id.kh_len;
}

uint32_t obj_handle(struct obj_table *t, struct obj *o, uint8_t *buf)
{
	uint32_t len = atomic_load_explicit(&o->sealed_len, memory_order_acquire);

	if (len) {
		memcpy(buf, o->sealed, len);
		return len;
	}
	len = handle_seal(buf, &o->id, kernel_finds(t, o) ? NULL : &o->trail, t->key);
	obj_keep_handle(t, o, buf, len);
	return len;
}

bool obj_handle_lasts(const struct obj_table *t, const struct obj *o)
{
	return kernel_finds(t, o) || handle_id_lasts(&o->id);
}

bool obj_handles_unique(const struct obj_table *t)
{
	return t->by_handle;
}

/* A descriptor by kernel handle, or -1. */
static int open_kh(struct obj_table *t, const struct handle_id *id)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u;
	int at = mountinfo_fd(t, id->dev);

	if (!t->by_handle || !id->kh_len || at < 0)
		return -1;
	u.h.handle_bytes = id->kh_len;
	u.h.handle_type = id->kh_type;
	memcpy(u.h.f_handle, id->kh, id->kh_len);
	return open_by_handle_at(at, &u.h, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

static int reopen(struct obj_table *t, struct obj *o, int depth);

/* Opens o by the parent and name under which it was last seen: a descriptor, or -1. */
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
	uint8_t sealed[HANDLE_MAX];
	struct handle_trail trail;
	struct handle_id id;
	uint64_t dev, ino;
	int r;

	/* a comparison of all bytes takes a tenth of the time for the seal */
	*out = handle_names(buf, len, &dev, &ino) ? obj_find_sealed(t, dev, ino, buf, len) : NULL;
	if (*out)
		return 0;
	r = handle_open(&id, &trail, buf, len, t->key);
	if (r < 0)
		return r;
	*out = obj_find_open(t, &id);
	if (*out) {
		obj_handle(t, *out, sealed); /* keeps the bytes for the next call */
		return 0;
	}
	/* The client had permission when it got the handle. The operations on the object are
	 * checked later. */
	ident_suspend();
	r = by_id(t, &id, &trail, out);
	ident_resume();
	return r;
}

bool by_handle_allowed(struct obj_table *t, const struct handle_id *root)
{
	int fd;

	fd = open_kh(t, root);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

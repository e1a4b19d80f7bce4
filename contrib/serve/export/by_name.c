/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * by_name: descriptors of objects by a name in a directory, by "..", or from the caller. The walls
 * of object.h stand around the first two ways.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/export/obj_table.h"
#include "contrib/serve/export/submount.h"

#define DEPTH_MAX 4096 /* directories between the root and an object */

int obj_adopt(struct obj_table *t, struct obj *dir, const void *name, size_t len, int fd,
	struct obj **out, struct statx *st)
{
	struct statx local;
	struct obj_hint h;
	int r, own;

	if (!obj_name_ok(name, len))
		return -EINVAL;
	own = obj_open_fd(fd, O_PATH);
	if (own < 0)
		return own;
	if (!st)
		st = &local;
	r = obj_stat_fd(own, st);
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
		    OBJ_STATX, st) != 0)
		return -errno;
	if (obj_find_held(t, st, &h, out))
		return 0;
	fd = openat(dir->fd, h.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = obj_stat_fd(fd, st); /* of the opened object: the name may lead to another one by now */
	if (r < 0) {
		close(fd);
		return r;
	}
	if (S_ISDIR(st->stx_mode) && obj_makedev(st) != t->root_dev)
		submount_note(t, obj_makedev(st), fd);
	return obj_intern(t, fd, st, &h, out);
}

/* Does the directory fd (not consumed) lie below the root, or is it the root? Walks up. The trail
 * is the directory's. */
static int below_root(struct obj_table *t, int fd, struct handle_trail *trail)
{
	uint64_t above[HANDLE_TRAIL]; /* the last directories on the way up */
	unsigned passed = 0;
	struct statx st, up;
	int r, dir = fd;

	memset(trail, 0, sizeof(*trail));
	r = obj_stat_fd(fd, &st);
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
		r = obj_stat_fd(parent, &up);
		if (r == 0 && up.stx_ino == st.stx_ino && obj_makedev(&up) == obj_makedev(&st))
			r = -ESTALE; /* the machine's root: the export's was not on the way */
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
	ident_suspend(); /* the caller need not have permission to search the ancestors */
	r = below_root(t, fd, &h.trail);
	ident_resume();
	if (r == 0)
		r = obj_stat_fd(fd, &st);
	if (r < 0) {
		close(fd);
		return r;
	}
	return obj_intern(t, fd, &st, &h, out);
}

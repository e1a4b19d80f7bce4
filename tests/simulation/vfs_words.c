/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_words: inodes and requests in words, for the trace.
 */
#include <stdio.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

#define NAMES 4 /* the texts of so many names are valid at a time */

static const char *const opcodes[] = {
	[FUSE_LOOKUP] = "LOOKUP",
	[FUSE_FORGET] = "FORGET",
	[FUSE_GETATTR] = "GETATTR",
	[FUSE_SETATTR] = "SETATTR",
	[FUSE_READLINK] = "READLINK",
	[FUSE_SYMLINK] = "SYMLINK",
	[FUSE_MKNOD] = "MKNOD",
	[FUSE_MKDIR] = "MKDIR",
	[FUSE_UNLINK] = "UNLINK",
	[FUSE_RMDIR] = "RMDIR",
	[FUSE_RENAME] = "RENAME",
	[FUSE_LINK] = "LINK",
	[FUSE_OPEN] = "OPEN",
	[FUSE_READ] = "READ",
	[FUSE_WRITE] = "WRITE",
	[FUSE_STATFS] = "STATFS",
	[FUSE_RELEASE] = "RELEASE",
	[FUSE_FSYNC] = "FSYNC",
	[FUSE_SETXATTR] = "SETXATTR",
	[FUSE_GETXATTR] = "GETXATTR",
	[FUSE_LISTXATTR] = "LISTXATTR",
	[FUSE_REMOVEXATTR] = "REMOVEXATTR",
	[FUSE_FLUSH] = "FLUSH",
	[FUSE_INIT] = "INIT",
	[FUSE_OPENDIR] = "OPENDIR",
	[FUSE_READDIR] = "READDIR",
	[FUSE_RELEASEDIR] = "RELEASEDIR",
	[FUSE_FSYNCDIR] = "FSYNCDIR",
	[FUSE_GETLK] = "GETLK",
	[FUSE_SETLK] = "SETLK",
	[FUSE_SETLKW] = "SETLKW",
	[FUSE_ACCESS] = "ACCESS",
	[FUSE_CREATE] = "CREATE",
	[FUSE_INTERRUPT] = "INTERRUPT",
	[FUSE_FALLOCATE] = "FALLOCATE",
	[FUSE_READDIRPLUS] = "READDIRPLUS",
	[FUSE_RENAME2] = "RENAME2",
	[FUSE_LSEEK] = "LSEEK",
	[FUSE_COPY_FILE_RANGE] = "COPY_FILE_RANGE",
};

const char *vfs_name(const struct vfs_inode *i)
{
	static char text[NAMES][VFS_NAME_MAX + 40];
	static unsigned last;
	char *own = text[last++ % NAMES];
	const struct vfs_dentry *d = LIST_FIRST(&i->aliases);

	if (i->node == FUSE_ROOT_ID)
		return "the root";
	snprintf(own, sizeof(text[0]), "%s (inode %u)", d ? d->name : "a file without a name",
		i->number);
	return own;
}

const char *vfs_node_name(struct vfs *v, uint64_t node)
{
	const struct vfs_inode *i = vfs_ifind(v, node);

	return i ? vfs_name(i) : node ? "an inode that the kernel does not have" : "no inode";
}

/* Sizes, offsets, names. */
static void add_arguments(char *to, size_t room, const struct vfs_call *c)
{
	const void *in = c->n ? c->in[0].iov_base : NULL;
	const struct fuse_read_in *r = in;
	const struct fuse_write_in *w = in;
	const struct fuse_setattr_in *s = in;
	const struct fuse_lk_in *l = in;

	*to = 0;
	switch (c->opcode) {
	case FUSE_LOOKUP:
	case FUSE_UNLINK:
	case FUSE_RMDIR:
		snprintf(to, room, ": %.*s", (int)c->in[0].iov_len, (const char *)in);
		break;
	case FUSE_CREATE:
	case FUSE_MKDIR:
	case FUSE_LINK:
	case FUSE_MKNOD:
		if (c->n > 1)
			snprintf(to, room, ": %.*s", (int)c->in[1].iov_len,
				(const char *)c->in[1].iov_base);
		break;
	case FUSE_RENAME:
	case FUSE_RENAME2:
		if (c->n > 2)
			snprintf(to, room, ": %.*s to %.*s", (int)c->in[1].iov_len,
				(const char *)c->in[1].iov_base, (int)c->in[2].iov_len,
				(const char *)c->in[2].iov_base);
		break;
	case FUSE_READ:
		snprintf(to, room, ": %llu+%u", (unsigned long long)r->offset, r->size);
		break;
	case FUSE_WRITE:
		snprintf(to, room, ": %llu+%u%s", (unsigned long long)w->offset, w->size,
			w->write_flags & FUSE_WRITE_CACHE ? ", of mapped pages" : "");
		break;
	case FUSE_SETATTR:
		if (s->valid & FATTR_SIZE)
			snprintf(to, room, ": size %llu", (unsigned long long)s->size);
		break;
	case FUSE_SETLK:
	case FUSE_SETLKW:
		snprintf(to, room, ": type %u, %llu to %llu, of %llx", l->lk.type,
			(unsigned long long)l->lk.start, (unsigned long long)l->lk.end,
			(unsigned long long)l->owner);
		break;
	}
}

void vfs_tell(struct vfs *v, const struct vfs_request *r)
{
	char arguments[2 * VFS_NAME_MAX + 20];
	const char *name =
		r->c.opcode < sizeof(opcodes) / sizeof(*opcodes) ? opcodes[r->c.opcode] : NULL;

	add_arguments(arguments, sizeof(arguments), &r->c);
	sched_event("kernel %u: %llu is %s of %s%s", v->number, (unsigned long long)r->head.unique,
		name ? name : "an unknown request", vfs_node_name(v, r->c.node), arguments);
}

void vfs_tell_answer(struct vfs *v, const struct vfs_request *r, int error, size_t bytes)
{
	if (error)
		sched_event("kernel %u: %llu is answered: %s", v->number,
			(unsigned long long)r->head.unique, strerror(-error));
	else
		sched_event("kernel %u: %llu is answered: %zu bytes", v->number,
			(unsigned long long)r->head.unique, bytes);
}

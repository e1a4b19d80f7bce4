/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_route: which client of a mount, the mount itself or a submount, executes an operation.
 */
#include "nfsproto/nfs_route.h"

#include <errno.h>
#include <stddef.h>

#include "nfsproto/nfs_submount.h"

struct nfs_client *nfs_route_fh(struct nfs_client *c, const struct nfs_fh *fh)
{
	if (!fh->server)
		return c;
	return c->submounts ? nfs_submounts_find(c->submounts, fh->server) : NULL;
}

struct nfs_client *nfs_route_each(struct nfs_client *c, unsigned *i)
{
	unsigned at;

	if ((*i)++ == 0)
		return c;
	if (!c->submounts)
		return NULL;
	at = *i - 2;
	c = nfs_submounts_each(c->submounts, &at);
	*i = at + 1;
	return c;
}

#define AT(member) offsetof(struct nfs_op, u.member)

/* Where an operation has the handles that it starts from; 0: no such one. CLOSE has none: its open
 * knows the client. */
static const struct {
	size_t first, second;
} handles[NFS_OP_TYPES] = {
	[NFS_LOOKUP] = {.first = AT(lookup.dir)},
	[NFS_GETATTR] = {.first = AT(getattr.fh)},
	[NFS_SETATTR] = {.first = AT(setattr.fh)},
	[NFS_ACCESS] = {.first = AT(access.fh)},
	[NFS_READLINK] = {.first = AT(readlink.fh)},
	[NFS_OPEN] = {.first = AT(open.dir)},
	[NFS_READ] = {.first = AT(read.fh)},
	[NFS_WRITE] = {.first = AT(write.fh)},
	[NFS_COMMIT] = {.first = AT(commit.fh)},
	[NFS_CREATE] = {.first = AT(create.dir)},
	[NFS_REMOVE] = {.first = AT(remove.dir)},
	[NFS_RENAME] = {AT(rename.from_dir), AT(rename.to_dir)},
	[NFS_LINK] = {AT(link.fh), AT(link.dir)},
	[NFS_READDIR] = {.first = AT(readdir.dir)},
	[NFS_STATFS] = {.first = AT(statfs.fh)},
	[NFS_LOCK] = {.first = AT(lock.fh)},
	[NFS_LOCKT] = {.first = AT(lockt.fh)},
	[NFS_SEEK] = {.first = AT(seek.fh)},
	[NFS_ALLOCATE] = {.first = AT(allocate.fh)},
	[NFS_COPY] = {AT(copy.from_fh), AT(copy.to_fh)},
	[NFS_GETXATTR] = {.first = AT(getxattr.fh)},
	[NFS_SETXATTR] = {.first = AT(setxattr.fh)},
	[NFS_LISTXATTR] = {.first = AT(listxattr.fh)},
	[NFS_REMOVEXATTR] = {.first = AT(removexattr.fh)},
	[NFS_GETACL] = {.first = AT(getacl.fh)},
	[NFS_SETACL] = {.first = AT(setacl.fh)},
};

static const struct nfs_fh *handle_at(const struct nfs_op *op, size_t offset)
{
	return offset ? (const struct nfs_fh *)((const char *)op + offset) : NULL;
}

/* Cuts op to the sizes of a submount. The results then are as those of a short READ or WRITE. */
static void cut(const struct nfs_client *c, struct nfs_op *op)
{
	struct seg_list *l = op->type == NFS_READ    ? &op->u.read.to
			     : op->type == NFS_WRITE ? &op->u.write.from
			     : op->type == NFS_OPEN  ? &op->u.open.to
						     : NULL;
	uint32_t most = op->type == NFS_WRITE ? c->info.wsize : c->info.rsize;

	if (l && l->len > most)
		*l = seg_list_cut(l, 0, most);
	if (op->type == NFS_READDIR && c->info.dtsize && op->u.readdir.max_bytes > c->info.dtsize)
		op->u.readdir.max_bytes = c->info.dtsize;
}

/* The other server does not apply the umask itself. */
static void apply_umask(struct nfs_op *op)
{
	struct nfs_sattr *set = op->type == NFS_OPEN	 ? &op->u.open.set
				: op->type == NFS_CREATE ? &op->u.create.set
							 : NULL;

	if (!set || !(set->mask & NFS_SET_UMASK))
		return;
	set->mode &= ~set->umask;
	set->mask &= ~NFS_SET_UMASK;
}

/* The attributes among the results of op; NULL: none. */
static struct nfs_attr *attr_of(struct nfs_op *op)
{
	switch (op->type) {
	case NFS_LOOKUP:
		return &op->u.lookup.attr;
	case NFS_GETATTR:
		return &op->u.getattr.attr;
	case NFS_SETATTR:
		return &op->u.setattr.attr;
	case NFS_ACCESS:
		return &op->u.access.attr;
	case NFS_OPEN:
		return &op->u.open.attr;
	case NFS_CREATE:
		return &op->u.create.attr;
	case NFS_LINK:
		return &op->u.link.attr;
	default:
		return NULL;
	}
}

struct nfs_client *nfs_route(struct nfs_client *c, struct nfs_op *op)
{
	const struct nfs_fh *fh = handle_at(op, handles[op->type].first);

	if (op->type == NFS_CLOSE && op->u.close.open)
		return nfs_open_client(op->u.close.open);
	if (!fh || !fh->server)
		return c;
	c = nfs_route_fh(c, fh);
	if (c)
		cut(c, op);
	if (c && !(c->info.features & NFS_HAS_UMASK))
		apply_umask(op);
	return c;
}

/* Is fh, if it is known, of another server than dir? */
static bool is_foreign(const struct nfs_fh *fh, const struct nfs_fh *dir)
{
	return fh && fh->len && fh->server != dir->server;
}

int nfs_route_check(const struct nfs_op *op)
{
	const struct nfs_fh *first = handle_at(op, handles[op->type].first);
	const struct nfs_fh *second = handle_at(op, handles[op->type].second);

	if (second && first->server != second->server)
		return -EXDEV;
	if (op->type == NFS_REMOVE && is_foreign(op->u.remove.only, &op->u.remove.dir))
		return -EBUSY;
	if (op->type == NFS_RENAME && (is_foreign(op->u.rename.moved, &op->u.rename.from_dir) ||
					      is_foreign(op->u.rename.only, &op->u.rename.to_dir)))
		return -EBUSY;
	return 0;
}

void nfs_route_results(struct nfs_op *op)
{
	const struct nfs_client *c = op->client;
	struct nfs_attr *attr = attr_of(op);

	if (op->type == NFS_LOOKUP)
		op->u.lookup.fh.server = c->number;
	else if (op->type == NFS_OPEN)
		op->u.open.fh.server = c->number;
	else if (op->type == NFS_CREATE)
		op->u.create.fh.server = c->number;
	if (attr)
		nfs_own_attr(c, attr);
}

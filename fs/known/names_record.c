/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names_record: the names of a mount for a successor.
 */
#include "fs/known/names_record.h"

#include "fs/known/inode_record.h"
#include "fs/known/names_impl.h"
#include "nfsproto/common/nfs_record.h"
#include "transport/rpc/fields.h"

#define NAME_BYTES 32u /* the least that a name takes in a record */

static const struct field name_fields[] = {
	FIELD(struct name, seen),
	FIELD(struct name, until),
	FIELD(struct name, put),
	FIELD(struct name, unsure),
};

static void put_name(const struct name *e, struct xdr_out *x)
{
	xdr_put_u64(x, e->dir->id);
	xdr_put_bool(x, e->ino);
	if (e->ino)
		xdr_put_u64(x, e->ino->id);
	xdr_put_opaque(x, e->s, (uint32_t)e->len);
	fields_put(x, e, FIELDS(name_fields));
}

void names_put_record(struct names *n, struct xdr_out *x)
{
	const struct name *e;

	mutex_lock(&n->lock);
	xdr_put_u32(x, (uint32_t)n->count);
	TAILQ_FOREACH (e, &n->absent, absent) /* the oldest first */
		put_name(e, x);
	for (size_t i = 0; i < n->nchains; i++)
		LIST_FOREACH (e, &n->chains[i], hash)
			if (e->ino)
				put_name(e, x);
	mutex_unlock(&n->lock);
}

/* False: no memory, unless x is bad. */
static bool get_name(struct names *n, struct inode_table *t, struct xdr_in *x)
{
	struct inode *dir = inode_get_id(t, x), *ino = NULL;
	char name[NFS_NAME_MAX + 1];
	struct name read, *e;

	if (xdr_get_bool(x))
		ino = inode_get_id(t, x);
	nfs_record_get_text(x, name, sizeof(name));
	fields_get(x, &read, FIELDS(name_fields));
	if (xdr_in_ok(x) && (dir->left || (ino && ino->left)))
		xdr_in_fail(x); /* the kernel has forgotten the inode: it has no names */
	if (!xdr_in_ok(x))
		return false;
	mutex_lock(&n->lock);
	e = names_add_locked(n, dir, name, strlen(name), ino);
	if (e) {
		e->seen = read.seen;
		e->until = read.until;
		e->put = read.put;
		e->unsure = read.unsure;
	}
	mutex_unlock(&n->lock);
	return e;
}

bool names_get_record(struct names *n, struct inode_table *t, struct xdr_in *x)
{
	uint32_t count = xdr_get_count(x, UINT32_MAX, NAME_BYTES);

	for (uint32_t i = 0; i < count; i++)
		if (!get_name(n, t, x))
			return false;
	return true;
}

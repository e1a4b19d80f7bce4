/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_walk: the kinds of op of the walk to the export, and of its limits.
 */
#include "nfsproto/v4/ops/nfs4_walk.h"

#include <string.h>

/* --- the walk to the export ---------------------------------------------------------------- */

/* Calls fn for each name of path, which begin after separators. Returns how many. */
static unsigned each_name(
	const char *path, void (*fn)(void *ctx, const struct nfs_name *n), void *ctx)
{
	unsigned count = 0;

	while (*path) {
		struct nfs_name n = {.s = path, .len = (uint32_t)strcspn(path, "/")};

		if (n.len > 0) {
			if (fn)
				fn(ctx, &n);
			count++;
		}
		path += n.len;
		while (*path == '/')
			path++;
	}
	return count;
}

static void put_walk_name(void *ctx, const struct nfs_name *n)
{
	nfs4_comp_lookup(ctx, n);
}

void nfs4_put_walk_path(struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);

	if (s->u.walk.from_len)
		nfs4_comp_putfh(k, &s->u.walk.fh);
	else
		nfs4_comp_op(k, OP_PUTROOTFH);
	each_name(s->u.walk.path, put_walk_name, k);
}

int nfs4_get_walk_path(struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	unsigned n = each_name(s->u.walk.path, NULL, NULL);
	int rc = nfs4_reply_op(r, s->u.walk.from_len ? OP_PUTFH : OP_PUTROOTFH);

	while (!rc && n-- > 0)
		rc = nfs4_reply_op(r, OP_LOOKUP);
	return rc;
}

void nfs4_put_op_walk(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_bitmap want = nfs4_bits_stat();

	nfs4_put_walk_path(op, k);
	nfs4_comp_op(k, OP_GETFH);
	nfs4_comp_getattr(k, &want);
}

enum nfs_outcome nfs4_get_op_walk(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	int rc = nfs4_get_walk_path(op, r);

	if (!rc)
		rc = nfs4_reply_getfh(r, &s->u.walk.fh);
	return nfs4_outcome(op, rc ? rc : nfs4_reply_stat(r, &s->u.walk.attr));
}

void nfs4_put_op_fsinfo(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_bitmap want = s->u.fsinfo.mask;

	nfs4_comp_putfh(k, &c->base.root);
	nfs4_comp_getattr(k, &want);
}

enum nfs_outcome nfs4_get_op_fsinfo(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	int rc = nfs4_reply_op(r, OP_PUTFH);

	return nfs4_outcome(op, rc ? rc : nfs4_reply_getattr(r, &s->u.fsinfo));
}

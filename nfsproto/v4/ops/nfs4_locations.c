/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_locations: the other places of a file system, and NFS4ERR_MOVED.
 */
#include "nfsproto/v4/ops/nfs4_locations.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nfsproto/v4/ops/nfs4_walk.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"
#include "transport/quote.h"

#define LIST_MAX 256u		 /* servers of a location, names of a path, locations */
#define AGAIN_NS (60 * NFS4_SEC) /* before the same is said again */

/* --- the attribute ------------------------------------------------------------------------- */

struct text {
	char *buf;
	size_t size, len;
};

static void put_char(struct text *t, char ch)
{
	if (t->len + 1 < t->size)
		t->buf[t->len] = ch;
	t->len++;
}

static void put_text(struct text *t, const char *s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		put_char(t, s[i] > 0x20 && s[i] < 0x7f ? s[i] : '?');
}

static void end_text(struct text *t)
{
	if (t->size == 0)
		return;
	if (t->len >= t->size && t->size > 3)
		memcpy(t->buf + t->size - 4, "...", 3);
	t->buf[t->len < t->size ? t->len : t->size - 1] = '\0';
}

static void put_path(struct text *t, struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, LIST_MAX, 4);
	struct nfs_name name;

	if (n == 0)
		put_char(t, '/');
	while (n-- > 0 && !nfs4_get_name(x, &name)) {
		put_char(t, '/');
		put_text(t, name.s, name.len);
	}
}

/* One fs_location4. The first server stands for all, because all have the same file system. */
static void put_location(struct text *t, struct xdr_in *x)
{
	uint32_t servers = xdr_get_count(x, LIST_MAX, 4);
	struct nfs_name name;

	for (uint32_t i = 0; i < servers && !nfs4_get_name(x, &name); i++)
		if (i == 0)
			put_text(t, name.s, name.len);
	put_char(t, ':');
	put_path(t, x);
}

int nfs4_locations_format(const struct nfs4_opaque *raw, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size}, none = {.size = 0};
	struct xdr_in x;
	uint32_t n;

	xdr_in_init(&x, raw->data, raw->len);
	put_path(&none, &x); /* fs_root: the place on this server, now or before */
	n = xdr_get_count(&x, LIST_MAX, 8);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0) {
			put_char(&t, ' ');
			put_char(&t, 'o');
			put_char(&t, 'r');
			put_char(&t, ' ');
		}
		put_location(&t, &x);
	}
	if (!xdr_in_done(&x)) {
		if (size)
			buf[0] = '\0';
		return -EBADMSG;
	}
	end_text(&t);
	return (int)n;
}

/* --- asking for the place ------------------------------------------------------------------ */

/* The target of op: an object, or a name in a directory. */
static bool target_of(const struct nfs_op *op, const struct nfs_fh **fh, struct nfs_name *name)
{
	name->len = 0;
	switch (op->type) {
	case NFS_LOOKUP:
		*fh = &op->u.lookup.dir;
		*name = op->u.lookup.name;
		return true;
	case NFS_GETATTR:
		*fh = &op->u.getattr.fh;
		return true;
	case NFS_ACCESS:
		*fh = &op->u.access.fh;
		return true;
	case NFS_READDIR:
		*fh = &op->u.readdir.dir;
		return true;
	case NFS_STATFS:
		*fh = &op->u.statfs.fh;
		return true;
	case NFS_READ:
		*fh = &op->u.read.fh;
		return true;
	case NFS_WRITE:
		*fh = &op->u.write.fh;
		return true;
	case NFS_OPEN:
		*fh = &op->u.open.dir;
		return true;
	default:
		return false;
	}
}

void nfs4_put_op_locations(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_bitmap want = nfs4_bits(FATTR4_FS_LOCATIONS, -1);
	const struct nfs_fh *fh;
	struct nfs_name name;

	if (op->be.v4.flags & NFS4_F_PRIV) {
		nfs4_put_walk_path(op, k);
	} else if (target_of(op, &fh, &name)) {
		nfs4_comp_putfh(k, fh);
		if (name.len)
			nfs4_comp_lookup(k, &name);
	}
	nfs4_comp_getattr(k, &want);
}

/* Results up to the attribute's. */
static int get_target(struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs_fh *fh;
	struct nfs_name name;
	int rc;

	if (op->be.v4.flags & NFS4_F_PRIV)
		return nfs4_get_walk_path(op, r);
	target_of(op, &fh, &name);
	rc = nfs4_reply_op(r, OP_PUTFH);
	return !rc && name.len ? nfs4_reply_op(r, OP_LOOKUP) : rc;
}

/* Writes to the log, unless the last message was just the same. where: the locations, or empty. */
static void moved_tell(struct nfs4_client *c, const struct nfs_op *op, const char *where)
{
	const struct nfs_fh *fh;
	struct nfs_name name = {.len = 0};
	uint64_t now = clock_ns();
	bool again;

	mutex_lock(&c->lock);
	again = c->moved_ns && clock_age(now, c->moved_ns) < AGAIN_NS && !strcmp(where, c->moved);
	if (!again) {
		c->moved_ns = now;
		snprintf(c->moved, sizeof(c->moved), "%s", where);
	}
	mutex_unlock(&c->lock);
	if (again)
		return;
	target_of(op, &fh, &name);
	log_warn("%s: the file system %s%s%s is on another server, which is not followed: %s%s",
		c->srv->name, name.len ? "at \"" : "of a file in use", QUOTE(name.s, name.len),
		name.len ? "\"" : "",
		where[0] ? "mount it from " : "this one does not say on which", where);
}

enum nfs_outcome nfs4_get_op_locations(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	char buf[sizeof(c->moved)] = "", *where = buf;
	struct nfs4_attrs a;
	int rc = get_target(op, r);

	if (!rc)
		rc = nfs4_reply_getattr(r, &a);
	if (rc)
		return nfs4_outcome(op, rc);
	if (op->be.v4.flags & NFS4_F_PRIV)
		where = container_of(op, struct nfs4_sync, op)->u.walk.where;
	if (!nfs4_bit(&a.mask, FATTR4_FS_LOCATIONS) ||
		nfs4_locations_format(&a.fs_locations, where, sizeof(buf)) <= 0)
		where[0] = '\0';
	if (op->be.v4.flags & NFS4_F_PRIV)
		return NFS_DONE;
	moved_tell(c, op, where);
	return nfs_failed(op, -EREMOTE);
}

bool nfs4_moved_ask(struct nfs4_client *c, struct nfs_op *op)
{
	const struct nfs_fh *fh;
	struct nfs_name name;

	if (op->be.v4.kind == NFS4_K_LOCATIONS || !target_of(op, &fh, &name)) {
		moved_tell(c, op, "");
		return false;
	}
	op->be.v4.kind = NFS4_K_LOCATIONS;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_locations: the other places of a file system, and NFS4ERR_MOVED.
 */
#include "nfsproto/v4/ops/nfs4_locations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/ops/nfs4_walk.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"
#include "transport/quote.h"

#define AGAIN_NS (60 * NFS4_SEC) /* before the same is said again */

/* --- the attribute ------------------------------------------------------------------------- */

/* The text of all places, but for `here`, is no longer than the XDR: a name has its length word
 * there, which is longer than a slash and a NUL. */
struct reader {
	struct xdr_in x;
	struct nfs_name here; /* the server that tells, or empty */
	struct nfs_places *places;
	char *at; /* free memory for text */
};

/* A name of a server or a directory as text without separators. */
static bool is_plain(const struct nfs_name *n)
{
	for (uint32_t i = 0; i < n->len; i++)
		if ((unsigned char)n->s[i] <= ' ' || n->s[i] == '/')
			return false;
	return n->len > 0;
}

static bool is_dots(const struct nfs_name *n)
{
	return n->s[0] == '.' && (n->len == 1 || (n->len == 2 && n->s[1] == '.'));
}

static void put_name(struct reader *r, const struct nfs_name *n)
{
	memcpy(r->at, n->s, n->len);
	r->at += n->len;
}

/* A path; NULL: no path of a directory. */
static char *get_path(struct reader *r)
{
	uint32_t n = xdr_get_count(&r->x, NFS4_LOCATIONS_MAX, 4);
	char *path = r->at;
	struct nfs_name name;
	bool good = true;

	if (n == 0)
		*r->at++ = '/';
	while (n-- > 0 && !nfs4_get_name(&r->x, &name)) {
		good = good && memchr(name.s, '/', name.len) == NULL &&
		       memchr(name.s, '\0', name.len) == NULL && name.len && !is_dots(&name);
		*r->at++ = '/';
		put_name(r, &name);
	}
	*r->at++ = '\0';
	return good && xdr_in_ok(&r->x) ? path : NULL;
}

/* One fs_location4: a place for each of its servers. */
static void get_location(struct reader *r)
{
	uint32_t servers = xdr_get_count(&r->x, NFS4_LOCATIONS_MAX, 4);
	unsigned before = r->places->n;
	struct nfs_name name;
	char *text = r->at, *path;

	for (uint32_t i = 0; i < servers && !nfs4_get_name(&r->x, &name); i++) {
		if (!name.len)
			name = r->here;
		if (!is_plain(&name) || r->places->n == NFS_PLACES_MAX)
			continue;
		r->places->place[r->places->n++].server = r->at;
		put_name(r, &name);
		*r->at++ = '\0';
	}
	path = get_path(r);
	for (unsigned i = before; i < r->places->n; i++)
		r->places->place[i].path = path;
	if (!path) {
		r->places->n = before;
		r->at = text; /* the room for `here` is for NFS_PLACES_MAX places */
	}
}

int nfs4_locations_get(const struct nfs4_opaque *raw, const char *here, struct nfs_places **out)
{
	size_t len = here ? strlen(here) : 0;
	/* a path without names takes two bytes of text */
	struct nfs_places *p = calloc(1, sizeof(*p) + raw->len + NFS_PLACES_MAX * len + 2);
	struct reader r = {.here = {here, (uint32_t)len}, .places = p};
	uint32_t n;
	int rc;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	r.at = (char *)(p + 1);
	xdr_in_init(&r.x, raw->data, raw->len);
	p->root = get_path(&r);
	n = xdr_get_count(&r.x, NFS4_LOCATIONS_MAX, 8);
	for (uint32_t i = 0; i < n && xdr_in_ok(&r.x); i++)
		get_location(&r);
	rc = xdr_in_done(&r.x) ? (int)p->n : -EBADMSG;
	if (rc > 0)
		*out = p;
	else
		free(p);
	return rc;
}

/* --- replicas ------------------------------------------------------------------------------ */

#define CLASSES                                                                                    \
	(1u << FSLI4BX_CLSIMUL | 1u << FSLI4BX_CLHANDLE | 1u << FSLI4BX_CLFILEID |                 \
		1u << FSLI4BX_CLWRITEVER | 1u << FSLI4BX_CLCHANGE | 1u << FSLI4BX_CLREADDIR)
/* of a copy that is never changed, and never written */
#define CLASSES_FIXED (1u << FSLI4BX_CLHANDLE | 1u << FSLI4BX_CLFILEID | 1u << FSLI4BX_CLREADDIR)

static void take_replica(struct reader *r, struct nfs4_replicas *to, const struct nfs4_replica *one)
{
	uint8_t flags = one->info[FSLI4BX_GFLAGS];

	if (one->ninfo <= FSLI4BX_CLREADDIR)
		return;
	if (flags & FSLI4GF_CUR_REQ) {
		to->have_here = true;
		memcpy(to->here, one->info, sizeof(to->here));
		return;
	}
	if (flags & (FSLI4GF_ABSENT | FSLI4GF_GOING) || !is_plain(&one->server) ||
		to->n == NFS_PLACES_MAX)
		return;
	memcpy(to->of[to->n].info, one->info, sizeof(one->info));
	to->of[to->n++].at.server = r->at;
	put_name(r, &one->server);
	*r->at++ = '\0';
}

/* One fs_locations_item4. */
static void get_item(struct reader *r, struct nfs4_replicas *to, bool substitutes)
{
	uint32_t servers = xdr_get_count(&r->x, NFS4_LOCATIONS_MAX, 12);
	unsigned before = to->n;
	struct nfs4_replica one;
	char *path;

	for (uint32_t i = 0; i < servers && !nfs4_get_replica(&r->x, &one); i++)
		take_replica(r, to, &one);
	path = get_path(r);
	for (unsigned i = before; i < to->n; i++)
		to->of[i].at.path = path;
	if (!path || (substitutes && strstr(path, "${")))
		to->n = before;
}

int nfs4_replicas_get(const struct nfs4_opaque *raw, struct nfs4_replicas **out)
{
	struct nfs4_replicas *to = calloc(1, sizeof(*to) + raw->len + 2);
	struct reader r = {.places = NULL};
	uint32_t n, flags;
	int32_t valid;

	*out = NULL;
	if (!to)
		return -ENOMEM;
	r.at = (char *)(to + 1);
	xdr_in_init(&r.x, raw->data, raw->len);
	flags = xdr_get_u32(&r.x);
	valid = (int32_t)xdr_get_u32(&r.x);
	to->valid_s = valid > 0 ? (uint32_t)valid : 0;
	get_path(&r);
	n = xdr_get_count(&r.x, NFS4_LOCATIONS_MAX, 8);
	for (uint32_t i = 0; i < n && xdr_in_ok(&r.x); i++)
		get_item(&r, to, flags & FSLI4IF_VAR_SUB);
	if (!xdr_in_done(&r.x)) {
		free(to);
		return -EBADMSG;
	}
	*out = to;
	return 0;
}

bool nfs4_replica_suits(const struct nfs4_replicas *r, unsigned i, bool read_only)
{
	bool fixed = read_only && r->status == STATUS4_FIXED;
	unsigned classes = fixed ? CLASSES_FIXED : CLASSES;

	if (!r->have_here || (!read_only && !(r->of[i].info[FSLI4BX_GFLAGS] & FSLI4GF_WRITABLE)))
		return false;
	for (unsigned at = FSLI4BX_CLSIMUL; at <= FSLI4BX_CLREADDIR; at++)
		if (classes >> at & 1 && r->of[i].info[at] != r->here[at])
			return false;
	return true;
}

/* Lower is better: first the rank, then the order within the rank. */
static unsigned preference(const struct nfs4_replicas *r, unsigned i, bool read_only)
{
	const uint8_t *info = r->of[i].info;

	return read_only ? info[FSLI4BX_READRANK] << 8 | info[FSLI4BX_READORDER]
			 : info[FSLI4BX_WRITERANK] << 8 | info[FSLI4BX_WRITEORDER];
}

unsigned nfs4_replicas_order(
	const struct nfs4_replicas *r, bool read_only, unsigned order[NFS_PLACES_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->n; i++) {
		unsigned at = n;

		if (!nfs4_replica_suits(r, i, read_only))
			continue;
		for (; at > 0 &&
			preference(r, order[at - 1], read_only) > preference(r, i, read_only);
			at--)
			order[at] = order[at - 1];
		order[at] = i;
		n++;
	}
	return n;
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
	case NFS_REMOVE:
		*fh = &op->u.remove.dir;
		*name = op->u.remove.name;
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

void nfs4_put_op_replicas(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_bitmap want =
		nfs4_bits(FATTR4_LEASE_TIME, FATTR4_FS_STATUS, FATTR4_FS_LOCATIONS_INFO, -1);

	nfs4_comp_putfh(k, &c->base.root);
	nfs4_comp_getattr(k, &want);
}

enum nfs_outcome nfs4_get_op_replicas(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_sync *s = container_of(op, struct nfs4_sync, op);
	struct nfs4_attrs a;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_getattr(r, &a);
	if (!rc)
		rc = nfs4_reply_end(r); /* a bad reply leaves no list to be freed */
	if (rc)
		return nfs4_outcome(op, rc);
	s->u.replicas.lease_s = nfs4_bit(&a.mask, FATTR4_LEASE_TIME) ? a.lease_time : 0;
	s->u.replicas.list = NULL;
	if (nfs4_bit(&a.mask, FATTR4_FS_LOCATIONS_INFO))
		nfs4_replicas_get(&a.fs_locations_info, &s->u.replicas.list);
	if (s->u.replicas.list && nfs4_bit(&a.mask, FATTR4_FS_STATUS))
		s->u.replicas.list->status = a.fs_status.type;
	return NFS_DONE;
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
	struct nfs_places *places = NULL;
	char where[sizeof(c->moved)] = "", here[NFS_PLACE_ADDRESS_MAX];
	struct nfs4_attrs a;
	int rc = get_target(op, r);

	if (!rc)
		rc = nfs4_reply_getattr(r, &a);
	if (!rc)
		rc = nfs4_reply_end(r); /* a bad reply leaves no places to be freed */
	if (rc)
		return nfs4_outcome(op, rc);
	/* not the connection that has carried the answer: one place must have one name */
	mutex_lock(&c->srv->slots.lock);
	nfs_place_name(&c->srv->conn[0].to, here);
	mutex_unlock(&c->srv->slots.lock);
	if (nfs4_bit(&a.mask, FATTR4_FS_LOCATIONS))
		nfs4_locations_get(&a.fs_locations, here, &places);
	if (op->be.v4.flags & NFS4_F_PRIV) {
		container_of(op, struct nfs4_sync, op)->u.walk.places = places;
		return NFS_DONE;
	}
	if (places && op->type == NFS_REMOVE) { /* as the removal of a mount point */
		free(places);
		return nfs_failed(op, -EBUSY);
	}
	if (places && op->type == NFS_LOOKUP && c->base.submounts) {
		op->places = places;
		return nfs_failed(op, -EREMOTE);
	}
	if (places)
		nfs_places_text(places, where, sizeof(where));
	free(places);
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

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_ops_open: opening. The server knows nothing of opens; open(2) is put together from calls:
 *
 *     by handle         ACCESS, with O_TRUNC then SETATTR size 0
 *     by name           LOOKUP, and on as by handle
 *     O_CREAT           CREATE guarded: made; or, if the file exists, LOOKUP and on as by handle,
 *                       but for the truncation
 *     O_CREAT|O_EXCL    CREATE exclusive with a verifier of this open, so that a CREATE sent twice
 *                       makes one file; then SETATTR of everything, also of both times, as a server
 *                       may keep the verifier in the times (RFC 1813 3.3.8)
 *
 * An op that has just made a file opens the file with any mode of the file. CREATE is guarded and
 * not unchecked, so that the op knows whether it has made the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v3/nfs3_client.h"

struct nfs_open *nfs3_open_ref(struct nfs_open *o)
{
	if (o)
		atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
	return o;
}

struct nfs_open *nfs3_open_unref(struct nfs_open *o)
{
	if (o && atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1)
		free(o);
	return NULL;
}

struct nfs_open *nfs3_open_new(struct nfs3_client *c)
{
	struct nfs_open *o = calloc(1, sizeof(*o));
	uint64_t verf;

	if (!o)
		return NULL;
	o->head.client = &c->base;
	verf = c->verf + atomic_fetch_add_explicit(&c->next_verf, 1, memory_order_relaxed);
	memcpy(o->verf, &verf, sizeof(o->verf));
	atomic_init(&o->refs, 1);
	atomic_init(&o->locks, 0);
	atomic_init(&o->locks_lost, 0);
	return o;
}

int nfs3_open_begin(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs_open *o = nfs3_open_new(c);

	if (!o)
		return -ENOMEM;
	op->be.v3.open = o;
	if (op->u.open.name.len == 0) {
		op->u.open.fh = op->u.open.dir;
		op->be.v3.kind = NFS3_K_OPEN_ACCESS;
	} else if (op->u.open.flags & O_CREAT) {
		op->be.v3.kind = NFS3_K_OPEN_CREATE;
	} else {
		op->be.v3.kind = NFS3_K_OPEN_LOOKUP;
	}
	return 0;
}

void nfs3_open_end(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs_open *o = op->be.v3.open;

	op->be.v3.open = NULL;
	if (op->error) {
		nfs3_open_unref(o);
		return;
	}
	mutex_lock(&c->lock);
	LIST_INSERT_HEAD(&c->opens, o, link);
	mutex_unlock(&c->lock);
	op->u.open.open = o;
}

void nfs3_open_close(struct nfs3_client *c, struct nfs_open *o)
{
	mutex_lock(&c->lock);
	LIST_REMOVE(o, link);
	mutex_unlock(&c->lock);
	nfs3_open_unref(o);
}

void nfs3_open_close_all(struct nfs3_client *c)
{
	struct nfs_open *o;

	mutex_alone(&c->lock); /* the mount ends, and no op is left */
	while ((o = LIST_FIRST(&c->opens)))
		nfs3_open_close(c, o);
}

static enum nfs_outcome go_on(struct nfs_op *op, enum nfs3_kind_id kind)
{
	op->be.v3.kind = (uint8_t)kind;
	return NFS_AGAIN;
}

/* --- CREATE -------------------------------------------------------------------------------- */

static bool is_exclusive(const struct nfs3_client *c, const struct nfs_op *op)
{
	return (op->u.open.flags & O_EXCL) &&
	       !atomic_load_explicit(&c->no_exclusive, memory_order_relaxed);
}

void nfs3_put_op_open_create(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_CREATE;
	a->u.create = (struct nfs3_create_args){
		.where = {op->u.open.dir, op->u.open.name},
		.mode = NFS3_GUARDED,
		.set = op->u.open.set,
	};
	op->be.v3.flags &= (uint8_t)~NFS3_F_EXCLUSIVE;
	if (is_exclusive(c, op)) {
		op->be.v3.flags |= NFS3_F_EXCLUSIVE;
		a->u.create.mode = NFS3_EXCLUSIVE;
		memcpy(a->u.create.verf, op->be.v3.open->verf, NFS3_CREATEVERFSIZE);
	}
}

/* The file exists and its handle is known. */
static enum nfs_outcome created(struct nfs_op *op, const struct nfs3_post_op *attr)
{
	if (op->be.v3.flags & NFS3_F_EXCLUSIVE)
		return go_on(op, NFS3_K_OPEN_SETATTR);
	return nfs3_take_attr(op, attr, &op->u.open.attr);
}

enum nfs_outcome nfs3_get_op_open_create(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	op->be.v3.flags |= NFS3_F_CREATED;
	if (!r->u.create.have_fh)
		return go_on(op, NFS3_K_OPEN_LOOKUP);
	op->u.open.fh = r->u.create.fh;
	return created(op, &r->u.create.obj);
}

enum nfs_outcome nfs3_fail_op_open_create(struct nfs3_client *c, struct nfs_op *op, uint32_t status)
{
	if (status == NFS3ERR_NOTSUPP && (op->be.v3.flags & NFS3_F_EXCLUSIVE)) {
		atomic_store_explicit(&c->no_exclusive, true, memory_order_relaxed);
		return NFS_AGAIN;
	}
	if (status == NFS3ERR_EXIST && !(op->u.open.flags & O_EXCL))
		return go_on(op, NFS3_K_OPEN_LOOKUP);
	return NFS_STATUS;
}

void nfs3_put_op_open_setattr(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	struct nfs_sattr set = op->u.open.set;

	if (!(set.mask & NFS_SET_ATIME))
		set.mask |= NFS_SET_ATIME_NOW;
	if (!(set.mask & NFS_SET_MTIME))
		set.mask |= NFS_SET_MTIME_NOW;
	a->proc = NFS3PROC_SETATTR;
	a->u.setattr = (struct nfs3_setattr_args){.fh = op->u.open.fh, .set = set};
}

enum nfs_outcome nfs3_get_op_open_setattr(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	return nfs3_take_attr(op, &r->u.wcc.wcc.after, &op->u.open.attr);
}

/* --- existing files ------------------------------------------------------------------------ */

void nfs3_put_op_open_lookup(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_LOOKUP;
	a->u.dirop = (struct nfs3_dirop){op->u.open.dir, op->u.open.name};
}

enum nfs_outcome nfs3_get_op_open_lookup(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	op->u.open.fh = r->u.lookup.fh;
	if (op->be.v3.flags & NFS3_F_CREATED)
		return created(op, &r->u.lookup.obj);
	return go_on(op, NFS3_K_OPEN_ACCESS);
}

enum nfs_outcome nfs3_fail_op_open_lookup(struct nfs3_client *c, struct nfs_op *op, uint32_t status)
{
	bool create = (op->u.open.flags & O_CREAT) && !(op->be.v3.flags & NFS3_F_CREATED);

	/* the file existed a moment ago */
	if (status == NFS3ERR_NOENT && create && op->be.v3.races++ < NFS3_RACES_MAX)
		return go_on(op, NFS3_K_OPEN_CREATE);
	return NFS_STATUS;
}

/* Asks for either of two permissions to change a file, as servers understand them differently: both
 * must be granted. */
static uint32_t wanted(const struct nfs_op *op)
{
	int mode = op->u.open.flags & O_ACCMODE;
	uint32_t want = 0;

	if (mode != O_WRONLY)
		want |= op->u.open.flags & NFS_O_EXEC ? NFS_ACCESS_EXECUTE : NFS_ACCESS_READ;
	if (mode != O_RDONLY || (op->u.open.flags & O_TRUNC))
		want |= NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND;
	return want;
}

void nfs3_put_op_open_access(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_ACCESS;
	a->u.access = (struct nfs3_access_args){.fh = op->u.open.fh, .access = wanted(op)};
}

/* May an object of this type be opened in this way? */
static int check_type(enum nfs_type type)
{
	switch (type) {
	case NFS_REG:
		return 0;
	case NFS_DIR:
		return -EISDIR;
	case NFS_LNK:
		return -ELOOP;
	default:
		return -EINVAL;
	}
}

enum nfs_outcome nfs3_get_op_open_access(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	const struct nfs3_post_op *obj = &r->u.access.obj;
	int rc = obj->have ? check_type(obj->attr.type) : 0;

	if (rc)
		return nfs_failed(op, rc);
	if ((r->u.access.access & wanted(op)) != wanted(op))
		return nfs_failed(op, -EACCES);
	if (nfs_op_changes_data(op))
		return go_on(op, NFS3_K_OPEN_TRUNCATE);
	return nfs3_take_attr(op, obj, &op->u.open.attr);
}

void nfs3_put_op_open_truncate(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_SETATTR;
	a->u.setattr = (struct nfs3_setattr_args){
		.fh = op->u.open.fh,
		.set = {.mask = NFS_SET_SIZE},
	};
}

enum nfs_outcome nfs3_get_op_open_truncate(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	return nfs3_take_attr(op, &r->u.wcc.wcc.after, &op->u.open.attr);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v3_dir: LOOKUP, and CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, LINK, the changes of
 * directories (entry.h, file.h), with weak cache consistency data around them.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/ops/file.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/v3/v3.h"

static bool is_name(const struct nfs_name *n, const char *s)
{
	return n->len == strlen(s) && memcmp(n->s, s, n->len) == 0;
}

/* Section 3.3.3: "." and ".." are names here. Above the root is the root. */
static uint32_t find(struct v3_call *c, const struct nfs_name *name, struct obj **o)
{
	int r;

	if (is_name(name, ".") || (is_name(name, "..") && obj_is_root(c->sv->objs, c->o))) {
		*o = obj_ref(c->sv->objs, c->o);
		return NFS4_OK;
	}
	if (!is_name(name, ".."))
		return entry_lookup(c->sv, c->o, name, o, NULL);
	r = obj_allowed(c->o, X_OK) ? obj_parent(c->sv->objs, c->o, o) : -EACCES;
	return r < 0 ? entry_status(r) : (uint32_t)NFS4_OK;
}

uint32_t v3_lookup(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_lookup_res *r = &c->res.u.lookup;
	struct obj *o;
	uint32_t status = find(c, &a->u.dirop.name, &o);

	v3_post_op(c->o, &r->dir);
	if (status != NFS4_OK)
		return status;
	r->fh.len = obj_handle(c->sv->objs, o, r->fh.data);
	if (!deleg_hides(&c->sv->state, o, NULL)) /* otherwise the client has to ask by GETATTR */
		v3_post_op(o, &r->obj);
	obj_unref(c->sv->objs, o);
	return NFS4_OK;
}

/* Puts the results about o, which was made or found. Drops the reference to o. */
static void made(struct v3_call *c, struct obj *o)
{
	struct nfs3_create_res *r = &c->res.u.create;

	r->have_fh = true;
	r->fh.len = obj_handle(c->sv->objs, o, r->fh.data);
	v3_post_op(o, &r->obj);
	obj_unref(c->sv->objs, o);
}

/* The status for a new name: "." and ".." always exist. */
static uint32_t new_status(uint32_t status)
{
	return status == NFS4ERR_BADNAME ? (uint32_t)NFS4ERR_EXIST : status;
}

/* CREATE of an existing file: truncates the file if the client asks. */
static uint32_t truncate_found(struct v3_call *c, const struct file_open *f)
{
	struct fdcache_use *use = NULL;
	uint32_t status, done;
	int fd;

	if (f->created || !(f->set.mask & NFS_SET_SIZE))
		return NFS4_OK;
	status = v3_open(c, f->o, true, &use, &fd);
	if (status == NFS4_OK)
		status = attr_apply(f->o, fd, &f->set, &done);
	if (status == NFS4_OK)
		stable_want(c->sv->stable, &c->last.set, f->o);
	fdcache_put(c->sv->fds, use);
	return status;
}

static uint32_t create(struct v3_call *c, const struct nfs3_create_args *a)
{
	static const enum file_how how[] = {[NFS3_UNCHECKED] = FILE_UNCHECKED,
		[NFS3_GUARDED] = FILE_GUARDED,
		[NFS3_EXCLUSIVE] = FILE_EXCLUSIVE};
	struct file_open f = {.how = how[a->mode], .set = a->set};
	uint32_t status;

	memcpy(f.verf, a->verf, sizeof(f.verf));
	status = new_status(file_open_name(c->sv, c->o, &a->where.name, &f));
	if (status == NFS4_OK)
		status = truncate_found(c, &f);
	/* the mode may forbid the server to open the file again for the WRITEs that follow */
	if (f.fd >= 0 && status == NFS4_OK)
		fdcache_put(c->sv->fds, fdcache_add(c->sv->fds, f.o, f.fd, true, true));
	else if (f.fd >= 0)
		close(f.fd);
	if (f.created)
		attr_touch(c->o);
	if (status == NFS4_OK && f.changed)
		stable_want(c->sv->stable, &c->last.set, f.o);
	if (status == NFS4_OK && f.dir_changed)
		stable_want(c->sv->stable, &c->last.set, c->o);
	if (status == NFS4_OK)
		made(c, f.o);
	else
		obj_unref(c->sv->objs, f.o);
	return status;
}

uint32_t v3_create(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_wcc *w = &c->res.u.create.dir;
	uint32_t status;

	v3_wcc_before(c->o, w);
	status = create(c, &a->u.create);
	v3_wcc_after(c->o, w);
	return status;
}

static uint32_t make(struct v3_call *c, const struct nfs_name *name, struct entry_new *n)
{
	struct nfs3_wcc *w = &c->res.u.create.dir;
	uint32_t status;

	v3_wcc_before(c->o, w);
	status = new_status(entry_make(c->sv, c->o, name, n));
	if (status == NFS4_OK) {
		attr_touch(c->o);
		if (n->unstable)
			stable_want(c->sv->stable, &c->last.set, n->o);
		stable_want(c->sv->stable, &c->last.set, c->o);
		made(c, n->o);
	}
	v3_wcc_after(c->o, w);
	return status;
}

uint32_t v3_mkdir(struct v3_call *c, const struct nfs3_args *a)
{
	struct entry_new n = {.type = NFS_DIR, .set = a->u.mkdir.set};

	return make(c, &a->u.mkdir.where.name, &n);
}

uint32_t v3_symlink(struct v3_call *c, const struct nfs3_args *a)
{
	struct entry_new n = {
		.type = NFS_LNK, .set = a->u.symlink.set, .target = a->u.symlink.target};

	return make(c, &a->u.symlink.where.name, &n);
}

uint32_t v3_mknod(struct v3_call *c, const struct nfs3_args *args)
{
	const struct nfs3_mknod_args *a = &args->u.mknod;
	struct entry_new n = {.type = a->type,
		.set = a->set,
		.rdev_major = a->rdev_major,
		.rdev_minor = a->rdev_minor};

	if (a->type == NFS_DIR || a->type == NFS_LNK)
		return NFS4ERR_BADTYPE; /* for MKDIR and SYMLINK */
	return make(c, &a->where.name, &n);
}

static uint32_t remove_name(struct v3_call *c, const struct nfs_name *name, enum entry_kind kind)
{
	struct nfs3_wcc *w = &c->res.u.wcc.wcc;
	uint32_t status;

	v3_wcc_before(c->o, w);
	status = entry_remove(c->sv, NULL, c->o, name, kind);
	if (status == NFS4_OK) {
		attr_touch(c->o);
		stable_want(c->sv->stable, &c->last.set, c->o);
	}
	v3_wcc_after(c->o, w);
	return status;
}

uint32_t v3_remove(struct v3_call *c, const struct nfs3_args *a)
{
	return remove_name(c, &a->u.dirop.name, ENTRY_OTHER);
}

uint32_t v3_rmdir(struct v3_call *c, const struct nfs3_args *a)
{
	return remove_name(c, &a->u.dirop.name, ENTRY_DIR);
}

uint32_t v3_rename(struct v3_call *c, const struct nfs3_args *args)
{
	const struct nfs3_rename_args *a = &args->u.rename;
	struct nfs3_rename_res *r = &c->res.u.rename;
	uint32_t status;
	bool changed;

	v3_wcc_before(c->o, &r->from);
	v3_wcc_before(c->o2, &r->to);
	status = entry_rename(c->sv, NULL, c->o, &a->from.name, c->o2, &a->to.name, &changed);
	if (status == NFS4_OK && changed) {
		attr_touch(c->o);
		attr_touch(c->o2);
		stable_want(c->sv->stable, &c->last.set, c->o2); /* the new name first */
		stable_want(c->sv->stable, &c->last.set, c->o);
	}
	v3_wcc_after(c->o, &r->from);
	v3_wcc_after(c->o2, &r->to);
	return status;
}

uint32_t v3_link(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_link_res *r = &c->res.u.link;
	uint32_t status;

	v3_wcc_before(c->o2, &r->dir);
	status = new_status(entry_link(c->sv, NULL, c->o, c->o2, &a->u.link.where.name));
	if (status == NFS4_OK) {
		attr_touch(c->o2);
		stable_want(c->sv->stable, &c->last.set, c->o2);
	}
	v3_post_op(c->o, &r->obj);
	v3_wcc_after(c->o2, &r->dir);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_ops_dir: the kinds of call about names and directories. Conventions: nfs3_ops.c.
 *
 * Programs trust names from a server. So a name with a slash, a NUL or no byte at all is refused
 * here with the whole reply. "." and "..", which READDIR sends, are left out.
 */
#include <errno.h>
#include <string.h>

#include "nfsproto/common/nfs_unsure.h"
#include "nfsproto/v3/nfs3_client.h"
#include "transport/log.h"

/* --- LOOKUP -------------------------------------------------------------------------------- */

static void take_dir_attr(struct nfs_dir_attr *to, const struct nfs3_post_op *dir)
{
	to->have = dir->have;
	to->before = false;
	if (dir->have)
		to->attr = dir->attr;
}

void nfs3_put_op_lookup(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_LOOKUP;
	a->u.dirop = (struct nfs3_dirop){op->u.lookup.dir, op->u.lookup.name};
}

enum nfs_outcome nfs3_get_op_lookup(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	take_dir_attr(&op->u.lookup.dir_attr, &r->u.lookup.dir);
	op->u.lookup.fh = r->u.lookup.fh;
	return nfs3_take_attr(op, &r->u.lookup.obj, &op->u.lookup.attr);
}

void nfs3_failed_op_lookup(struct nfs_op *op, const struct nfs3_res *r)
{
	take_dir_attr(&op->u.lookup.dir_attr, &r->u.lookup.dir);
}

/* --- READLINK ------------------------------------------------------------------------------ */

void nfs3_put_op_readlink(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_READLINK;
	a->u.fh = op->u.readlink.fh;
}

enum nfs_outcome nfs3_get_op_readlink(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	const struct nfs_name *target = &r->u.readlink.target;

	if (target->len == 0 || memchr(target->s, '\0', target->len)) {
		log_warn("%s: a symbolic link's target is empty or has a NUL in it: server bug",
			c->server);
		return nfs_failed(op, -EBADMSG);
	}
	if (target->len >= op->u.readlink.size)
		return nfs_failed(op, -ENAMETOOLONG);
	memcpy(op->u.readlink.buf, target->s, target->len);
	op->u.readlink.buf[target->len] = '\0';
	op->u.readlink.len = target->len;
	return NFS_DONE;
}

/* --- MKDIR, SYMLINK, MKNOD ----------------------------------------------------------------- */

void nfs3_put_op_create(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	const struct nfs3_dirop where = {op->u.create.dir, op->u.create.name};

	switch (op->u.create.type) {
	case NFS_DIR:
		a->proc = NFS3PROC_MKDIR;
		a->u.mkdir = (struct nfs3_mkdir_args){.where = where, .set = op->u.create.set};
		break;
	case NFS_LNK:
		a->proc = NFS3PROC_SYMLINK;
		a->u.symlink = (struct nfs3_symlink_args){
			.where = where,
			.set = op->u.create.set,
			.target = {op->u.create.target, op->u.create.target_len},
		};
		break;
	default:
		a->proc = NFS3PROC_MKNOD;
		a->u.mknod = (struct nfs3_mknod_args){
			.where = where,
			.type = (uint32_t)op->u.create.type,
			.set = op->u.create.set,
			.rdev_major = op->u.create.rdev_major,
			.rdev_minor = op->u.create.rdev_minor,
		};
		break;
	}
}

enum nfs_outcome nfs3_get_op_create(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	if (!r->u.create.have_fh) {
		op->be.v3.kind = NFS3_K_LOOKUP_AFTER;
		return NFS_AGAIN;
	}
	op->u.create.fh = r->u.create.fh;
	return nfs3_take_attr(op, &r->u.create.obj, &op->u.create.attr);
}

void nfs3_put_op_lookup_after(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_LOOKUP;
	a->u.dirop = (struct nfs3_dirop){op->u.create.dir, op->u.create.name};
}

enum nfs_outcome nfs3_get_op_lookup_after(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	op->u.create.fh = r->u.lookup.fh;
	return nfs3_take_attr(op, &r->u.lookup.obj, &op->u.create.attr);
}

/* --- after a lost answer --------------------------------------------------------------------- */

void nfs3_put_op_look(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	const struct nfs_name *name;
	const struct nfs_fh *dir;

	nfs_unsure_place(op, &dir, &name);
	a->proc = NFS3PROC_LOOKUP;
	a->u.dirop = (struct nfs3_dirop){*dir, *name};
}

/* Without attributes no mark can be seen, and the error stands. */
enum nfs_outcome nfs3_get_op_look(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	bool seen =
		r->u.lookup.obj.have && nfs_unsure_seen(op, &r->u.lookup.fh, &r->u.lookup.obj.attr);

	return nfs_failed(op, seen ? 0 : op->be.v3.first_error);
}

enum nfs_outcome nfs3_fail_op_look(struct nfs3_client *c, struct nfs_op *op, uint32_t status)
{
	return nfs_failed(op, op->be.v3.first_error);
}

/* --- REMOVE, RMDIR, RENAME, LINK ----------------------------------------------------------- */

void nfs3_put_op_remove(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = op->u.remove.is_dir ? NFS3PROC_RMDIR : NFS3PROC_REMOVE;
	a->u.dirop = (struct nfs3_dirop){op->u.remove.dir, op->u.remove.name};
}

enum nfs_outcome nfs3_get_op_remove(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	return NFS_DONE;
}

enum nfs_outcome nfs3_fail_op_remove(struct nfs3_client *c, struct nfs_op *op, uint32_t status)
{
	/* some servers have one errno for both */
	if (op->u.remove.is_dir && status == NFS3ERR_EXIST)
		return nfs_failed(op, -ENOTEMPTY);
	return NFS_STATUS;
}

void nfs3_put_op_rename(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_RENAME;
	a->u.rename = (struct nfs3_rename_args){
		.from = {op->u.rename.from_dir, op->u.rename.from},
		.to = {op->u.rename.to_dir, op->u.rename.to},
	};
}

enum nfs_outcome nfs3_get_op_rename(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	return NFS_DONE;
}

void nfs3_put_op_link(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_LINK;
	a->u.link = (struct nfs3_link_args){
		.fh = op->u.link.fh,
		.where = {op->u.link.dir, op->u.link.name},
	};
}

enum nfs_outcome nfs3_get_op_link(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	return nfs3_take_attr(op, &r->u.link.obj, &op->u.link.attr);
}

/* --- READDIR, READDIRPLUS ------------------------------------------------------------------ */

#define READDIR_MIN 4096u

/* The users of nfs_client.h keep cookies 1 and 2 for "." and "..", as NFSv4 does; NFSv3 lets a
 * server use them for any entry. Such a cookie is replaced by a number that no file system is known
 * to use. */
#define COOKIE_ALIAS UINT64_C(0x7ffffffffff3a5f0)

static uint64_t cookie_to_user(uint64_t cookie)
{
	return cookie == 1 || cookie == 2 ? COOKIE_ALIAS + cookie : cookie;
}

static uint64_t cookie_to_server(uint64_t cookie)
{
	return cookie == COOKIE_ALIAS + 1 || cookie == COOKIE_ALIAS + 2 ? cookie - COOKIE_ALIAS
									: cookie;
}

static bool readdir_plus(const struct nfs3_client *c, const struct nfs_op *op)
{
	return op->u.readdir.plus && !atomic_load_explicit(&c->no_plus, memory_order_relaxed);
}

/* The cookie for this call: behind the entries from earlier calls of the op. */
static uint64_t readdir_from(const struct nfs_op *op)
{
	return op->be.v3.cookie ? op->be.v3.cookie : cookie_to_server(op->u.readdir.cookie);
}

void nfs3_put_op_readdir(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	uint32_t max = op->u.readdir.max_bytes;
	uint64_t cookie = readdir_from(op);

	if (max > c->base.info.dtsize)
		max = c->base.info.dtsize;
	if (max < READDIR_MIN)
		max = READDIR_MIN;
	a->proc = readdir_plus(c, op) ? NFS3PROC_READDIRPLUS : NFS3PROC_READDIR;
	a->u.readdir = (struct nfs3_readdir_args){
		.dir = op->u.readdir.dir,
		.cookie = cookie,
		.dircount = max,
		.maxcount = max,
	};
	if (cookie)
		memcpy(a->u.readdir.verf, op->u.readdir.verf, NFS_VERF_SIZE);
}

enum nfs_outcome nfs3_fail_op_readdir(struct nfs3_client *c, struct nfs_op *op, uint32_t status)
{
	if (status != NFS3ERR_NOTSUPP || op->be.v3.proc != NFS3PROC_READDIRPLUS)
		return NFS_STATUS;
	atomic_store_explicit(&c->no_plus, true, memory_order_relaxed);
	return NFS_AGAIN;
}

static bool is_dots(const struct nfs_name *n)
{
	return n->len > 0 && n->s[0] == '.' && (n->len == 1 || (n->len == 2 && n->s[1] == '.'));
}

static bool name_is_sane(const struct nfs_name *n)
{
	return n->len > 0 && n->len <= NFS_NAME_MAX && !memchr(n->s, '/', n->len) &&
	       !memchr(n->s, '\0', n->len);
}

/* Converts a wire entry to the terms of nfs_client.h. */
static void readdir_entry(const struct nfs3_entry *ent, struct nfs_dirent *out)
{
	*out = (struct nfs_dirent){
		.name = ent->name.s,
		.namelen = ent->name.len,
		.fileid = ent->fileid,
		.cookie = cookie_to_user(ent->cookie),
		.have_attr = ent->obj.have,
		.have_fh = ent->have_fh,
	};
	if (ent->obj.have)
		out->attr = ent->obj.attr;
	if (ent->have_fh)
		out->fh = ent->fh;
}

enum nfs_outcome nfs3_get_op_readdir(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	bool plus = op->be.v3.proc == NFS3PROC_READDIRPLUS, eof = false, more = true;
	uint64_t last = readdir_from(op);
	struct nfs3_entry ent;
	struct nfs_dirent out;
	unsigned n = 0, told = 0;
	int rc;

	memcpy(op->u.readdir.verf, r->u.readdir.verf, NFS_VERF_SIZE);
	take_dir_attr(&op->u.readdir.dir_attr, &r->u.readdir.dir);
	while ((rc = nfs3_get_entry(x, plus, &ent, &eof)) == 1) {
		if (ent.cookie == last || !name_is_sane(&ent.name)) {
			log_warn("%s: READDIR entry %u has %s: server bug", c->server, n,
				ent.cookie == last ? "a cookie that does not advance"
						   : "an impossible name");
			return nfs_failed(op, -EBADMSG);
		}
		last = ent.cookie;
		n++;
		if (!more || is_dots(&ent.name))
			continue;
		readdir_entry(&ent, &out);
		more = nfs_tell_entry(op, &out);
		told++;
	}
	if (rc < 0)
		return nfs_failed(op, rc);
	if (n == 0 && !eof) {
		log_warn("%s: READDIR gave no entry, and not the end: server bug", c->server);
		return nfs_failed(op, -EBADMSG);
	}
	if (told == 0 && !eof) { /* only the dots so far */
		op->be.v3.cookie = last;
		return NFS_AGAIN;
	}
	op->u.readdir.eof = eof && more;
	return NFS_DONE;
}

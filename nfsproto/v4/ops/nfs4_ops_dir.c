/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_dir: the kinds of op about names and directories.
 */
#include "nfsproto/v4/ops/nfs4_ops_dir.h"

#include <errno.h>
#include <string.h>

#include "nfsproto/common/nfs_unsure.h"
#include "nfsproto/v4/mount/nfs4_deleg_along.h"
#include "transport/log.h"

/* --- LOOKUP -------------------------------------------------------------------------------- */

static bool is_dots(const struct nfs_name *n)
{
	return n->s[0] == '.' && (n->len == 1 || (n->len == 2 && n->s[1] == '.'));
}

/* GETATTR of the directory stands before LOOKUP, because LOOKUP may fail. If the directory changes
 * in between, the next look at the attributes finds out. In the other order an old name would seem
 * to be as new as the attributes. If the server refuses the attributes, *out says to ask again
 * without GETATTR. */
static int get_lookup_dir(struct nfs_op *op, struct nfs4_reply *r, enum nfs_outcome *out)
{
	struct nfs_dir_attr *dir = &op->u.lookup.dir_attr;
	int rc = op->u.lookup.want_dir ? nfs4_reply_stat(r, &dir->attr) : 0;

	*out = nfs4_outcome(op, rc);
	dir->have = dir->before = op->u.lookup.want_dir && !rc;
	if (rc > 0 && rc != NFS4ERR_DELAY) {
		op->u.lookup.want_dir = false;
		*out = NFS_AGAIN;
	}
	return rc;
}

void nfs4_put_op_lookup(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	nfs4_comp_putfh(k, &op->u.lookup.dir);
	op->u.lookup.dir_attr.have = false;
	if (op->u.lookup.want_dir)
		nfs4_comp_getattr(k, &c->stat_want);
	if (!is_dots(&op->u.lookup.name))
		nfs4_comp_lookup(k, &op->u.lookup.name);
	else if (op->u.lookup.name.len == 2)
		nfs4_comp_op(k, OP_LOOKUPP);
	nfs4_comp_op(k, OP_GETFH);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_lookup(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);
	enum nfs_outcome out;

	if (!rc && get_lookup_dir(op, r, &out))
		return out;
	if (!rc && !is_dots(&op->u.lookup.name))
		rc = nfs4_reply_op(r, OP_LOOKUP);
	else if (!rc && op->u.lookup.name.len == 2)
		rc = nfs4_reply_op(r, OP_LOOKUPP);
	if (!rc)
		rc = nfs4_reply_getfh(r, &op->u.lookup.fh);
	return nfs4_outcome(op, rc ? rc : nfs4_reply_stat(r, &op->u.lookup.attr));
}

/* --- READLINK ------------------------------------------------------------------------------ */

void nfs4_put_op_readlink(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	nfs4_comp_putfh(k, &op->u.readlink.fh);
	nfs4_put_op(k->x, OP_READLINK);
	nfs4_comp_count(k, OP_READLINK, NFS_PATH_MAX);
}

enum nfs_outcome nfs4_get_op_readlink(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_readlink_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_READLINK);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_readlink_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	if (res.link.len == 0 || memchr(res.link.s, '\0', res.link.len)) {
		log_warn("%s: a symbolic link's target is empty or has a NUL in it: server bug",
			c->srv->name);
		return nfs_failed(op, -EBADMSG);
	}
	if (res.link.len >= op->u.readlink.size)
		return nfs_failed(op, -ENAMETOOLONG);
	memcpy(op->u.readlink.buf, res.link.s, res.link.len);
	op->u.readlink.buf[res.link.len] = '\0';
	op->u.readlink.len = res.link.len;
	return NFS_DONE;
}

/* --- CREATE -------------------------------------------------------------------------------- */

void nfs4_put_op_create(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	uint8_t vals[NFS4_SATTR_MAX];
	struct nfs4_create_args a = {
		.type = (uint32_t)op->u.create.type,
		.target = {.s = op->u.create.target, .len = op->u.create.target_len},
		.rdev_major = op->u.create.rdev_major,
		.rdev_minor = op->u.create.rdev_minor,
		.name = op->u.create.name,
	};

	nfs4_sattr_encode(&op->u.create.set, vals, &a.attrs, k->owners);
	nfs4_comp_putfh(k, &op->u.create.dir);
	nfs4_put_create_args(k->x, &a);
	nfs4_comp_count(k, OP_CREATE, 0);
	nfs4_comp_op(k, OP_GETFH);
	op->u.create.have_access = false;
	if (op->u.create.want)
		nfs4_comp_access(k, op->u.create.want);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_create(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_create_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_CREATE);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_create_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	rc = nfs4_reply_getfh(r, &op->u.create.fh);
	if (!rc && op->u.create.want) {
		rc = nfs4_reply_access(r, op->u.create.want, &op->u.create.allowed);
		op->u.create.have_access = !rc;
	}
	if (!rc)
		rc = nfs4_reply_stat(r, &op->u.create.attr);
	if (rc <= 0)
		return nfs4_outcome(op, rc);
	/* The object exists now; only the object's handle and attributes are still unknown. */
	op->be.v4.kind = NFS4_K_LOOKUP_AFTER;
	return NFS_AGAIN;
}

void nfs4_put_op_lookup_after(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	nfs4_comp_putfh(k, &op->u.create.dir);
	nfs4_comp_lookup(k, &op->u.create.name);
	nfs4_comp_op(k, OP_GETFH);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_lookup_after(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_LOOKUP);
	if (!rc)
		rc = nfs4_reply_getfh(r, &op->u.create.fh);
	return nfs4_outcome(op, rc ? rc : nfs4_reply_stat(r, &op->u.create.attr));
}

/* --- after a lost answer --------------------------------------------------------------------- */

void nfs4_put_op_look(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs_name *name;
	const struct nfs_fh *dir;

	nfs_unsure_place(op, &dir, &name);
	nfs4_comp_putfh(k, dir);
	nfs4_comp_lookup(k, name);
	nfs4_comp_op(k, OP_GETFH);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_look(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs_attr attr;
	struct nfs_fh fh;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_LOOKUP);
	if (!rc)
		rc = nfs4_reply_getfh(r, &fh);
	if (!rc)
		rc = nfs4_reply_stat(r, &attr);
	if (rc)
		return nfs4_outcome(op, rc);
	return nfs_failed(op, nfs_unsure_seen(op, &fh, &attr) ? 0 : op->be.v4.first_error);
}

/* --- REMOVE, RENAME, LINK ------------------------------------------------------------------ */

/* REMOVE takes any type. So the same COMPOUND verifies the type just before: a directory for rmdir,
 * no directory for unlink. */
/* The COMPOUND ends here unless the current object is a directory, or with is_dir false: is none.
 */
static void put_is_dir(struct nfs4_comp *k, bool is_dir)
{
	static const uint8_t dir_type[4] = {0, 0, 0, NF4DIR};
	struct nfs4_verify_args v = {.attrs = {.mask = nfs4_bits(FATTR4_TYPE, -1),
					     .vals = {.data = dir_type, .len = sizeof(dir_type)}}};
	uint32_t op = is_dir ? OP_VERIFY : OP_NVERIFY;

	nfs4_put_verify_args(k->x, op, &v);
	nfs4_comp_count(k, op, 0);
}

void nfs4_put_is_file(struct nfs4_comp *k, const struct nfs_fh *fh)
{
	struct nfs4_verify_args v = {.attrs = {.mask = nfs4_bits(FATTR4_FILEHANDLE, -1)}};
	uint8_t vals[4 + NFS_FH_MAX];
	struct xdr_out x;

	xdr_out_init(&x, vals, sizeof(vals));
	xdr_put_opaque(&x, fh->data, fh->len);
	v.attrs.vals = (struct nfs4_opaque){.data = vals, .len = (uint32_t)x.len};
	nfs4_put_verify_args(k->x, OP_VERIFY, &v);
	nfs4_comp_count(k, OP_VERIFY, 0);
}

void nfs4_put_op_remove(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_name_args a = {.name = op->u.remove.name};

	nfs4_deleg_put_along(c, op, k);
	nfs4_comp_putfh(k, &op->u.remove.dir);
	nfs4_comp_lookup(k, &op->u.remove.name);
	if (op->u.remove.only)
		nfs4_put_is_file(k, op->u.remove.only);
	else
		put_is_dir(k, op->u.remove.is_dir);
	nfs4_comp_putfh(k, &op->u.remove.dir);
	nfs4_put_name_args(k->x, OP_REMOVE, &a);
	nfs4_comp_count(k, OP_REMOVE, 0);
}

enum nfs_outcome nfs4_get_op_remove(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	bool only = op->u.remove.only;
	struct nfs4_change_res res;
	enum nfs_outcome out;
	int rc;

	if (!nfs4_deleg_get_along(c, op, r, &out))
		return out;
	rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_LOOKUP);
	if (rc)
		return nfs4_outcome(op, rc);
	rc = nfs4_reply_op(r, op->u.remove.is_dir || only ? OP_VERIFY : OP_NVERIFY);
	if (only && (rc == NFS4ERR_NOT_SAME || rc == NFS4ERR_ATTRNOTSUPP || rc == NFS4ERR_INVAL))
		return nfs_failed(op, -ESTALE);
	if (rc == NFS4ERR_NOT_SAME)
		return nfs_failed(op, -ENOTDIR);
	if (rc == NFS4ERR_SAME)
		return nfs_failed(op, -EISDIR);
	if (!rc)
		rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_REMOVE);
	return nfs4_outcome(op, rc ? rc : nfs4_get_change_res(r->x, NFS4_OK, &res));
}

void nfs4_put_op_rename(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_rename_args a = {.from = op->u.rename.from, .to = op->u.rename.to};

	nfs4_deleg_put_along(c, op, k);
	nfs4_comp_putfh(k, &op->u.rename.from_dir);
	nfs4_comp_op(k, OP_SAVEFH);
	nfs4_comp_putfh(k, &op->u.rename.to_dir);
	if (op->u.rename.only) {
		nfs4_comp_lookup(k, &op->u.rename.to);
		nfs4_put_is_file(k, op->u.rename.only);
		nfs4_comp_putfh(k, &op->u.rename.to_dir);
	}
	nfs4_put_rename_args(k->x, &a);
	nfs4_comp_count(k, OP_RENAME, 0);
}

/* Does the walk go on behind the operations that verify the file to be replaced? If not, *out is
 * the outcome of the op. */
static bool get_rename_only(struct nfs_op *op, struct nfs4_reply *r, enum nfs_outcome *out)
{
	int rc = nfs4_reply_op(r, OP_LOOKUP);

	if (!rc)
		rc = nfs4_reply_op(r, OP_VERIFY);
	else if (rc == NFS4ERR_NOENT)
		rc = NFS4ERR_NOT_SAME;
	if (rc == NFS4ERR_NOT_SAME || rc == NFS4ERR_ATTRNOTSUPP || rc == NFS4ERR_INVAL)
		*out = nfs_failed(op, -ESTALE);
	else if (rc || (rc = nfs4_reply_op(r, OP_PUTFH)))
		*out = nfs4_outcome(op, rc);
	else
		return true;
	return false;
}

enum nfs_outcome nfs4_get_op_rename(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	enum nfs_outcome out;
	struct nfs4_rename_res res;
	int rc;

	if (!nfs4_deleg_get_along(c, op, r, &out))
		return out;
	rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_SAVEFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc && op->u.rename.only && !get_rename_only(op, r, &out))
		return out;
	if (!rc)
		rc = nfs4_reply_op(r, OP_RENAME);
	return nfs4_outcome(op, rc ? rc : nfs4_get_rename_res(r->x, NFS4_OK, &res));
}

void nfs4_put_op_link(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_name_args a = {.name = op->u.link.name};

	nfs4_comp_putfh(k, &op->u.link.fh);
	nfs4_comp_op(k, OP_SAVEFH);
	nfs4_comp_putfh(k, &op->u.link.dir);
	nfs4_put_name_args(k->x, OP_LINK, &a);
	nfs4_comp_count(k, OP_LINK, 0);
	nfs4_comp_op(k, OP_RESTOREFH);
	nfs4_comp_getattr(k, &c->stat_want);
}

enum nfs_outcome nfs4_get_op_link(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_change_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_SAVEFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_LINK);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_change_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	rc = nfs4_reply_op(r, OP_RESTOREFH);
	if (!rc)
		rc = nfs4_reply_stat(r, &op->u.link.attr);
	if (rc <= 0)
		return nfs4_outcome(op, rc);
	op->be.v4.kind = NFS4_K_GETATTR_AFTER;
	return NFS_AGAIN;
}

/* --- READDIR ------------------------------------------------------------------------------- */

#define READDIR_MIN 1024u

static struct nfs4_bitmap readdir_want(struct nfs4_client *c, bool plus)
{
	struct nfs4_bitmap want =
		nfs4_bits(FATTR4_RDATTR_ERROR, FATTR4_FILEID, FATTR4_MOUNTED_ON_FILEID, -1);

	if (plus) {
		want = nfs4_bits_or(&want, &c->stat_want);
		nfs4_bit_set(&want, FATTR4_FILEHANDLE);
	}
	return want;
}

void nfs4_put_op_readdir(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	uint32_t max = op->u.readdir.max_bytes;
	struct nfs4_readdir_args a = {
		.cookie = op->u.readdir.cookie,
		.want = readdir_want(c, op->u.readdir.plus),
	};

	if (max > c->base.info.dtsize)
		max = c->base.info.dtsize;
	if (max < READDIR_MIN)
		max = READDIR_MIN;
	a.maxcount = max;
	a.dircount = op->u.readdir.plus ? max / 4 : max;
	if (op->u.readdir.cookie)
		memcpy(a.verf, op->u.readdir.verf, NFS_VERF_SIZE);
	nfs4_comp_putfh(k, &op->u.readdir.dir);
	nfs4_put_readdir_args(k->x, &a);
	nfs4_comp_count(k, OP_READDIR, max);
	op->u.readdir.dir_attr.have = false;
	if (op->u.readdir.want_dir) /* with the time of access that READDIR leaves */
		nfs4_comp_getattr(k, &c->stat_want);
}

static bool name_is_sane(const struct nfs_name *n)
{
	if (n->len == 0 || n->len > NFS_NAME_MAX || is_dots(n))
		return false;
	return !memchr(n->s, '/', n->len) && !memchr(n->s, '\0', n->len);
}

/* Has the decoder met an owner's name that is not known yet since the last call? */
static bool names_pending(struct nfs4_owners *owners)
{
	bool was = owners && owners->not_yet;

	if (owners)
		owners->not_yet = false;
	return was;
}

/* A wire entry in the terms of nfs_client.h. 0 or -EBADMSG. */
static int readdir_entry(
	const struct nfs4_entry *ent, struct nfs4_owners *owners, bool plus, struct nfs_dirent *out)
{
	struct nfs4_attrs a;

	if (!name_is_sane(&ent->name) || nfs4_attrs_decode(&ent->attrs, &a, owners))
		return -EBADMSG;
	*out = (struct nfs_dirent){
		.name = ent->name.s,
		.namelen = ent->name.len,
		.cookie = ent->cookie,
	};
	if (nfs4_bit(&a.mask, FATTR4_MOUNTED_ON_FILEID))
		out->fileid = a.mounted_on_fileid;
	else if (nfs4_bit(&a.mask, FATTR4_FILEID))
		out->fileid = a.attr.fileid;
	/* With rdattr_error the entry is a name and no more (RFC 8881 5.8.1.12). */
	if (!plus || (nfs4_bit(&a.mask, FATTR4_RDATTR_ERROR) && a.rdattr_error != NFS4_OK))
		return 0;
	if (!names_pending(owners) && nfs4_attrs_complete(&a)) {
		out->have_attr = true;
		out->attr = a.attr;
	}
	if (nfs4_bit(&a.mask, FATTR4_FILEHANDLE) && a.fh.len > 0) {
		out->have_fh = true;
		out->fh = a.fh;
	}
	return 0;
}

/* GETATTR is the last operation. Its failure does not fail READDIR. 0 or -EBADMSG. */
static int get_readdir_dir(struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs_dir_attr *dir = &op->u.readdir.dir_attr;
	int rc = op->u.readdir.want_dir ? nfs4_reply_stat(r, &dir->attr) : 0;

	if (rc < 0)
		return rc;
	if (rc > 0)
		r->status = NFS4_OK;
	dir->before = false;
	dir->have = op->u.readdir.want_dir && !rc && !names_pending(r->owners);
	return 0;
}

enum nfs_outcome nfs4_get_op_readdir(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	uint64_t last = op->u.readdir.cookie;
	struct nfs4_readdir_res head;
	struct nfs4_entry ent;
	struct nfs_dirent out;
	bool eof = false, more = true;
	unsigned n = 0;
	int rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_READDIR);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_readdir_res(r->x, NFS4_OK, &head))
		return nfs_failed(op, -EBADMSG);
	memcpy(op->u.readdir.verf, head.verf, NFS_VERF_SIZE);
	while ((rc = nfs4_get_entry(r->x, &ent, &eof)) == 1) {
		if (ent.cookie == last ||
			readdir_entry(&ent, r->owners, op->u.readdir.plus, &out)) {
			log_warn("%s: READDIR entry %u has %s: server bug", c->srv->name, n,
				ent.cookie == last ? "a cookie that does not advance"
						   : "an impossible name or attributes");
			return nfs_failed(op, -EBADMSG);
		}
		last = ent.cookie;
		n++;
		if (more)
			more = nfs_tell_entry(op, &out);
	}
	if (rc < 0)
		return nfs4_outcome(op, rc);
	if (n == 0 && !eof) {
		log_warn("%s: READDIR gave no entry, and not the end: server bug", c->srv->name);
		return nfs_failed(op, -EBADMSG);
	}
	op->u.readdir.eof = eof && more;
	return nfs4_outcome(op, get_readdir_dir(op, r));
}

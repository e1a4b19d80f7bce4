/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_xattr: the kinds of op about user extended attributes (RFC 8276) and ACLs.
 *
 * On the wire the names of extended attributes have no "user." in front; programs use names with
 * "user.".
 */
#include "nfsproto/v4/ops/nfs4_ops_xattr.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "transport/log.h"

#define LIST_MAX     65536u /* bytes of names, as listxattr(2) gives at most */
#define PREFIX	     "user."
#define PREFIX_LEN   5u
#define REP_OVERHEAD 512u /* RPC header and the results around a value */

/* Most bytes of XDR of one result. */
static uint32_t result_room(const struct nfs4_client *c)
{
	uint32_t max = c->srv->fore.maxresponsesize - REP_OVERHEAD;

	return max < NFS4_XATTR_MAX ? max : NFS4_XATTR_MAX;
}

int nfs4_xattr_check(const struct nfs4_client *c, const struct nfs_op *op)
{
	uint32_t room = c->srv->request_max - REP_OVERHEAD - NFS_NAME_MAX;

	switch (op->type) {
	case NFS_SETXATTR:
		if (op->u.setxattr.len > NFS4_XATTR_MAX || op->u.setxattr.len > room)
			return -E2BIG;
		/* fallthrough */
	case NFS_GETXATTR:
	case NFS_LISTXATTR:
	case NFS_REMOVEXATTR:
		return c->base.info.features & NFS_HAS_XATTR ? 0 : -EOPNOTSUPP;
	case NFS_SETACL:
		if (!(c->base.info.features & NFS_HAS_ACL))
			return -EOPNOTSUPP;
		if (op->u.setacl.len > NFS4_XATTR_MAX || op->u.setacl.len > room)
			return -E2BIG;
		return nfs4_acl_valid(op->u.setacl.value, op->u.setacl.len) ? 0 : -EINVAL;
	case NFS_GETACL:
		return c->base.info.features & NFS_HAS_ACL ? 0 : -EOPNOTSUPP;
	default:
		return 0;
	}
}

/* Hands a value out as getxattr(2) does. */
static int give(const struct nfs4_opaque *v, void *buf, uint32_t size, uint32_t *len)
{
	if (v->len > NFS4_XATTR_MAX)
		return -E2BIG;
	*len = v->len;
	if (size == 0)
		return 0;
	if (v->len > size)
		return -ERANGE;
	if (v->len > 0)
		memcpy(buf, v->data, v->len);
	return 0;
}

/* A result that no message can hold. */
static int too_big(int rc)
{
	return rc == NFS4ERR_REP_TOO_BIG || rc == NFS4ERR_REQ_TOO_BIG ? -E2BIG : rc;
}

/* --- extended attributes --------------------------------------------------------------------- */

void nfs4_put_op_getxattr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_name_args a = {.name = op->u.getxattr.name};

	nfs4_comp_putfh(k, &op->u.getxattr.fh);
	nfs4_put_name_args(k->x, OP_GETXATTR, &a);
	nfs4_comp_count(k, OP_GETXATTR, result_room(c));
}

enum nfs_outcome nfs4_get_op_getxattr(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_getxattr_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_GETXATTR);
	if (rc)
		return nfs4_outcome(op, too_big(rc));
	if (nfs4_get_getxattr_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	return nfs4_outcome(
		op, give(&res.value, op->u.getxattr.buf, op->u.getxattr.size, &op->u.getxattr.len));
}

void nfs4_put_op_setxattr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_setxattr_args a = {
		.option = op->u.setxattr.flags & XATTR_CREATE	 ? SETXATTR4_CREATE
			  : op->u.setxattr.flags & XATTR_REPLACE ? SETXATTR4_REPLACE
								 : SETXATTR4_EITHER,
		.name = op->u.setxattr.name,
		.value = {.data = op->u.setxattr.value, .len = op->u.setxattr.len},
	};

	nfs4_comp_putfh(k, &op->u.setxattr.fh);
	nfs4_put_setxattr_args(k->x, &a);
	nfs4_comp_count(k, OP_SETXATTR, 0);
}

enum nfs_outcome nfs4_get_op_setxattr(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_change_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_SETXATTR);
	return nfs4_outcome(op, rc ? too_big(rc) : nfs4_get_change_res(r->x, NFS4_OK, &res));
}

void nfs4_put_op_removexattr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_name_args a = {.name = op->u.removexattr.name};

	nfs4_comp_putfh(k, &op->u.removexattr.fh);
	nfs4_put_name_args(k->x, OP_REMOVEXATTR, &a);
	nfs4_comp_count(k, OP_REMOVEXATTR, 0);
}

enum nfs_outcome nfs4_get_op_removexattr(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_change_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_REMOVEXATTR);
	return nfs4_outcome(op, rc ? rc : nfs4_get_change_res(r->x, NFS4_OK, &res));
}

/* One COMPOUND for each page of names; be.v4.more[0] is the cookie to go on with, and
 * u.listxattr.len the length of the list so far. */
void nfs4_put_op_listxattr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_listxattrs_args a = {
		.cookie = op->be.v4.more[0],
		.maxcount = result_room(c),
	};

	nfs4_comp_putfh(k, &op->u.listxattr.fh);
	nfs4_put_listxattrs_args(k->x, &a);
	nfs4_comp_count(k, OP_LISTXATTRS, a.maxcount);
}

/* Adds a name to the list for listxattr(2). */
static int list_add(struct nfs_op *op, const struct nfs_name *n)
{
	uint32_t need = PREFIX_LEN + n->len + 1, at = op->u.listxattr.len;

	/* a name that no program could ask for is left out */
	if (n->len == 0 || PREFIX_LEN + n->len > NFS_NAME_MAX || memchr(n->s, '\0', n->len))
		return 0;
	if (need > LIST_MAX - at)
		return -E2BIG;
	op->u.listxattr.len += need;
	if (op->u.listxattr.size == 0)
		return 0;
	if (op->u.listxattr.len > op->u.listxattr.size)
		return -ERANGE;
	memcpy(op->u.listxattr.buf + at, PREFIX, PREFIX_LEN);
	memcpy(op->u.listxattr.buf + at + PREFIX_LEN, n->s, n->len);
	op->u.listxattr.buf[at + need - 1] = '\0';
	return 0;
}

enum nfs_outcome nfs4_get_op_listxattr(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_listxattrs_res res;
	struct nfs_name name;
	uint32_t pos = 0;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_LISTXATTRS);
	if (rc == NFS4ERR_TOOSMALL)
		return nfs_failed(op, -E2BIG); /* a name that no reply can hold */
	if (rc)
		return nfs4_outcome(op, too_big(rc));
	if (nfs4_get_listxattrs_res(r->x, NFS4_OK, &res) || nfs4_reply_end(r))
		return nfs_failed(op, -EBADMSG);
	if (!res.eof && (res.n == 0 || res.cookie == op->be.v4.more[0])) {
		log_warn("%s: LISTXATTRS gave %u names, a cookie that does not advance, and not "
			 "the end: server bug",
			c->srv->name, res.n);
		return nfs_failed(op, -EBADMSG);
	}
	while (nfs4_xattr_names_next(&res, &pos, &name)) {
		rc = list_add(op, &name);
		if (rc)
			return nfs4_outcome(op, rc);
	}
	if (res.eof)
		return NFS_DONE;
	op->be.v4.more[0] = res.cookie;
	/* an endless list of left-out names must end as well */
	return ++op->be.v4.more[1] < LIST_MAX ? NFS_AGAIN : nfs_failed(op, -E2BIG);
}

/* --- ACLs ------------------------------------------------------------------------------------ */

void nfs4_put_op_getacl(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_getattr_args a = {.want = nfs4_bits(FATTR4_ACL, -1)};

	nfs4_comp_putfh(k, &op->u.getacl.fh);
	nfs4_put_getattr_args(k->x, &a);
	nfs4_comp_count(k, OP_GETATTR, result_room(c));
}

enum nfs_outcome nfs4_get_op_getacl(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_attrs a;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_getattr(r, &a);
	if (rc)
		return nfs4_outcome(op, too_big(rc));
	if (!nfs4_bit(&a.mask, FATTR4_ACL))
		return nfs_failed(op, -EOPNOTSUPP); /* this object's file system has no ACLs */
	return nfs4_outcome(
		op, give(&a.acl, op->u.getacl.buf, op->u.getacl.size, &op->u.getacl.len));
}

void nfs4_put_op_setacl(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_setattr_args a = {
		.stateid = nfs4_stateid_anonymous,
		.attrs = {.mask = nfs4_bits(FATTR4_ACL, -1),
			.vals = {.data = op->u.setacl.value, .len = op->u.setacl.len}},
	};

	nfs4_comp_putfh(k, &op->u.setacl.fh);
	nfs4_put_setattr_args(k->x, &a);
	nfs4_comp_count(k, OP_SETATTR, 0);
}

enum nfs_outcome nfs4_get_op_setacl(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_setattr_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (rc)
		return nfs4_outcome(op, rc);
	rc = nfs4_reply_op(r, OP_SETATTR);
	if (rc < 0 || nfs4_get_setattr_res(r->x, (uint32_t)rc, &res))
		return nfs_failed(op, -EBADMSG);
	return nfs4_outcome(op, too_big(rc));
}

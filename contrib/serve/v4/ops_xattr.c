/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_xattr: GETXATTR, SETXATTR, LISTXATTRS, REMOVEXATTR (RFC 8276; xattr.h gets and sets the
 * attributes).
 *
 * The cookie of LISTXATTRS counts the names that were sent before.
 */
#include <string.h>
#include <sys/xattr.h>

#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/v4/ops.h"
#include "contrib/serve/ops/xattr.h"
#include "contrib/serve/v4/ops_io.h"

#define VALUE_HEAD 12u /* operation, status, length */

/* Puts a value, if there is room. A long value is sent from the buffer into which it was read. No
 * value goes into a Write chunk. */
static uint32_t put_value(struct compound *c, struct mem_buf *buf, uint32_t len)
{
	struct nfs4_getxattr_res res = {.value = {buf->data, len}};
	struct seg seg = {mem_buf_sge(buf, 0, len), buf};
	struct seg_list data;

	if (len > io_inline_room(c, VALUE_HEAD))
		return c->cachethis ? NFS4ERR_REP_TOO_BIG_TO_CACHE : NFS4ERR_REP_TOO_BIG;
	/* a slot keeps no reply with payload, so a reply to be kept must not have any */
	if (len < 4096 || c->cachethis || rpc_req_room(c->req) || !io_payload_ok(c)) {
		nfs4_put_getxattr_res(c->out, NFS4_OK, &res);
		return NFS4_OK;
	}
	nfs4_put_op_res(c->out, OP_GETXATTR, NFS4_OK);
	mem_buf_ref(buf);
	rpc_req_hold(c->req, &seg, 1, &data); /* there is room: io_payload_ok() */
	xdr_put_payload_list(c->out, &data);
	c->inline_max -= len;
	return NFS4_OK;
}

uint32_t op_getxattr(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs_name *name = &args->u.name.name;
	uint32_t status = xattr_name_status(name);
	struct mem_buf *buf;
	ssize_t n;

	if (status != NFS4_OK)
		return status;
	buf = mem_buf_get(c->sv->pool, XATTR_VALUE_MAX);
	if (!buf)
		return NFS4ERR_DELAY;
	n = xattr_get(c->cur, name, buf->data);
	status = n < 0 ? nfs4_errno_status((int)n) : put_value(c, buf, (uint32_t)n);
	mem_buf_unref(buf);
	return status;
}

uint32_t op_setxattr(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_setxattr_args *a = &args->u.setxattr;
	struct nfs4_change_res res;
	uint32_t status = xattr_name_status(&a->name);
	int flags = a->option == SETXATTR4_CREATE    ? XATTR_CREATE
		    : a->option == SETXATTR4_REPLACE ? XATTR_REPLACE
						     : 0;

	if (status == NFS4_OK)
		status = use_begin(c, c->cur, DELEG_CHANGE);
	if (status != NFS4_OK)
		return status;
	cinfo_before(c->cur, &res.cinfo);
	status = nfs4_errno_status(xattr_set(c->cur, &a->name, a->value.data, a->value.len, flags));
	if (status != NFS4_OK)
		return status;
	cinfo_after(c->cur, &res.cinfo);
	stable_want(c->sv->stable, &c->last.set, c->cur);
	nfs4_put_change_res(c->out, OP_SETXATTR, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_removexattr(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs_name *name = &args->u.name.name;
	struct nfs4_change_res res;
	uint32_t status = xattr_name_status(name);

	if (status == NFS4_OK)
		status = use_begin(c, c->cur, DELEG_CHANGE);
	if (status != NFS4_OK)
		return status;
	cinfo_before(c->cur, &res.cinfo);
	status = nfs4_errno_status(xattr_remove(c->cur, name));
	if (status != NFS4_OK)
		return status;
	cinfo_after(c->cur, &res.cinfo);
	stable_want(c->sv->stable, &c->last.set, c->cur);
	nfs4_put_change_res(c->out, OP_REMOVEXATTR, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_listxattrs(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_listxattrs_args *a = &args->u.listxattrs;
	struct nfs4_xattrs list;
	struct xattr_list l;
	struct nfs_name name;
	uint64_t at = 0;
	bool eof = true;
	int r = xattr_list(c->cur, &l);

	if (r < 0) {
		xattr_list_finish(&l);
		return nfs4_errno_status(r);
	}
	nfs4_xattrs_begin(&list, c->out, a->maxcount, c->out->cap - c->res_max);
	while (xattr_next(&l, &name)) {
		if (at++ < a->cookie)
			continue;
		if (!nfs4_xattrs_add(&list, &name)) {
			eof = false;
			at--;
			break;
		}
	}
	xattr_list_finish(&l);
	c->put = true;
	return nfs4_xattrs_end(&list, at, eof);
}

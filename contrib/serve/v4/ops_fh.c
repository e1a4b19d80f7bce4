/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_fh: operations on the current and the saved file handle, and on names.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/ops/entry.h"
#include "contrib/serve/v4/ops.h"

uint32_t op_putfh(struct compound *c, const struct nfs4_args *a)
{
	const struct nfs_fh *fh = &a->u.putfh.fh;
	struct obj *o;
	int r = obj_by_handle(c->sv->objs, fh->data, fh->len, &o);

	if (r < 0)
		return entry_status(r);
	set_current(c, o);
	nfs4_put_op_res(c->out, OP_PUTFH, NFS4_OK);
	return NFS4_OK;
}

uint32_t op_putrootfh(struct compound *c, const struct nfs4_args *a)
{
	set_current(c, obj_root(c->sv->objs));
	nfs4_put_op_res(c->out, a->op, NFS4_OK);
	return NFS4_OK;
}

uint32_t op_savefh(struct compound *c, const struct nfs4_args *a)
{
	obj_unref(c->sv->objs, c->saved);
	c->saved = obj_ref(c->sv->objs, c->cur);
	c->saved_sid = c->cur_sid;
	nfs4_put_op_res(c->out, OP_SAVEFH, NFS4_OK);
	return NFS4_OK;
}

uint32_t op_restorefh(struct compound *c, const struct nfs4_args *a)
{
	if (!c->saved)
		return NFS4ERR_NOFILEHANDLE; /* NFS4ERR_RESTOREFH was 4.0's */
	set_current(c, obj_ref(c->sv->objs, c->saved));
	c->cur_sid = c->saved_sid;
	nfs4_put_op_res(c->out, OP_RESTOREFH, NFS4_OK);
	return NFS4_OK;
}

uint32_t op_getfh(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_getfh_res r;

	r.fh.len = obj_handle(c->sv->objs, c->cur, r.fh.data);
	nfs4_put_getfh_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

uint32_t op_lookup(struct compound *c, const struct nfs4_args *a)
{
	struct statx st;
	struct obj *o;
	uint32_t status = entry_lookup(c->sv, c->cur, &a->u.name.name, &o, &st);

	if (status != NFS4_OK)
		return status;
	set_current(c, o);
	remember_stat(c, o, &st);
	nfs4_put_op_res(c->out, OP_LOOKUP, NFS4_OK);
	return NFS4_OK;
}

static uint32_t parent(struct compound *c, struct obj **out)
{
	uint32_t status = need_dir(c->cur);
	int r;

	if (status != NFS4_OK)
		return status;
	r = obj_parent(c->sv->objs, c->cur, out);
	return r < 0 ? entry_status(r) : (uint32_t)NFS4_OK;
}

uint32_t op_lookupp(struct compound *c, const struct nfs4_args *a)
{
	struct obj *o;
	uint32_t status = parent(c, &o);

	if (status != NFS4_OK)
		return status;
	set_current(c, o);
	nfs4_put_op_res(c->out, OP_LOOKUPP, NFS4_OK);
	return NFS4_OK;
}

static void fill_flavors(struct nfs4_secinfo_res *r)
{
	memset(r, 0, sizeof(*r));
	r->n = 2;
	r->flavor[0].flavor = NFS4_AUTH_SYS;
	r->flavor[1].flavor = NFS4_AUTH_NONE;
}

uint32_t op_secinfo(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_secinfo_res r;
	struct obj *o;
	uint32_t status = entry_lookup(c->sv, c->cur, &a->u.name.name, &o, NULL);

	if (status != NFS4_OK)
		return status;
	obj_unref(c->sv->objs, o);
	fill_flavors(&r);
	nfs4_put_secinfo_res(c->out, OP_SECINFO, NFS4_OK, &r);
	set_current(c, NULL); /* section 2.6.3.1.1.8: SECINFO consumes the file handle */
	return NFS4_OK;
}

uint32_t op_secinfo_no_name(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_secinfo_res r;
	struct obj *o;
	uint32_t status;

	if (a->u.secinfo_no_name.style == SECINFO_STYLE4_PARENT) {
		status = parent(c, &o);
		if (status != NFS4_OK)
			return status;
		obj_unref(c->sv->objs, o);
	}
	fill_flavors(&r);
	nfs4_put_secinfo_res(c->out, OP_SECINFO_NO_NAME, NFS4_OK, &r);
	set_current(c, NULL);
	return NFS4_OK;
}

uint32_t op_readlink(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_readlink_res r = {0};
	char buf[PATH_MAX];
	ssize_t n;

	if (!S_ISLNK(c->cur->type))
		return S_ISDIR(c->cur->type) ? NFS4ERR_INVAL : NFS4ERR_WRONG_TYPE;
	n = readlinkat(c->cur->fd, "", buf, sizeof(buf));
	if (n < 0)
		return nfs4_errno_status(errno);
	r.link.s = buf;
	r.link.len = (uint32_t)n;
	nfs4_put_readlink_res(c->out, NFS4_OK, &r);
	xdr_note_item(c->out);
	return NFS4_OK;
}

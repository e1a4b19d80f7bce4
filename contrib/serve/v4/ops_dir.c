/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_dir: CREATE, REMOVE, RENAME, LINK: changes of directories (entry.h), with the change_info
 * that NFSv4 adds.
 */
#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/v4/ops.h"

uint32_t op_create(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_create_args *a = &args->u.create;
	struct entry_new n = {
		.type = a->type,
		.target = a->target,
		.rdev_major = a->rdev_major,
		.rdev_minor = a->rdev_minor,
	};
	struct nfs4_create_res res;
	uint32_t status = attr_decode(c->sv->idmap, c->minor, c->cur, &a->attrs, &n.set, NULL);
	bool masked;

	if (status != NFS4_OK)
		return status;
	cinfo_before(c->cur, &res.cinfo);
	masked = attr_umask_begin(c->cur, &n.set);
	status = entry_make(c->sv, c->cur, &a->name, &n);
	attr_umask_end(masked);
	if (status != NFS4_OK)
		return status;
	cinfo_after(c->cur, &res.cinfo);
	if (n.unstable)
		stable_want(c->sv->stable, &c->last.set, n.o);
	stable_want(c->sv->stable, &c->last.set, c->cur);
	res.attrset = nfs4_sattr_bits(n.done);
	set_current(c, n.o);
	if (n.st.stx_mask)
		remember_stat(c, n.o, &n.st);
	nfs4_put_create_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_remove(struct compound *c, const struct nfs4_args *args)
{
	struct nfs4_change_res res;
	uint32_t status;

	cinfo_before(c->cur, &res.cinfo);
	status = entry_remove(c->sv, c->client, c->cur, &args->u.name.name, ENTRY_ANY);
	if (status != NFS4_OK)
		return status;
	cinfo_after(c->cur, &res.cinfo);
	stable_want(c->sv->stable, &c->last.set, c->cur);
	nfs4_put_change_res(c->out, OP_REMOVE, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_rename(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_rename_args *a = &args->u.rename;
	struct nfs4_rename_res res;
	uint32_t status;
	bool changed;

	if (!c->saved)
		return NFS4ERR_NOFILEHANDLE;
	cinfo_before(c->saved, &res.from);
	cinfo_before(c->cur, &res.to);
	status = entry_rename(c->sv, c->client, c->saved, &a->from, c->cur, &a->to, &changed);
	if (status != NFS4_OK)
		return status;
	res.from.after = res.from.before;
	res.to.after = res.to.before;
	if (changed) {
		cinfo_after(c->saved, &res.from);
		cinfo_after(c->cur, &res.to);
		stable_want(c->sv->stable, &c->last.set, c->cur); /* the new name first */
		stable_want(c->sv->stable, &c->last.set, c->saved);
	}
	nfs4_put_rename_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_link(struct compound *c, const struct nfs4_args *args)
{
	struct nfs4_change_res res;
	uint32_t status;

	if (!c->saved)
		return NFS4ERR_NOFILEHANDLE;
	cinfo_before(c->cur, &res.cinfo);
	status = entry_link(c->sv, c->client, c->saved, c->cur, &args->u.name.name);
	if (status != NFS4_OK)
		return status;
	cinfo_after(c->cur, &res.cinfo);
	stable_want(c->sv->stable, &c->last.set, c->cur);
	nfs4_put_change_res(c->out, OP_LINK, NFS4_OK, &res);
	return NFS4_OK;
}

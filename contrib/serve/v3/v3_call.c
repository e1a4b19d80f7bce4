/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v3_call: statuses, attributes and the use of an object, for the procedures of NFSv3.
 */
#include <errno.h>

#include "contrib/serve/ops/attr.h"
#include "contrib/serve/v3/v3.h"

uint32_t v3_status(uint32_t status)
{
	switch (status) {
	case NFS4ERR_SYMLINK:
	case NFS4ERR_WRONG_TYPE:
	case NFS4ERR_BADNAME:
	case NFS4ERR_BADCHAR:
	case NFS4ERR_BADOWNER:
		return NFS3ERR_INVAL;
	case NFS4ERR_LOCKED:
	case NFS4ERR_SHARE_DENIED:
	case NFS4ERR_OPENMODE:
	case NFS4ERR_FILE_OPEN:
		return NFS3ERR_ACCES;
	case NFS4ERR_FHEXPIRED:
		return NFS3ERR_STALE;
	case NFS4ERR_RESOURCE:
	case NFS4ERR_GRACE:
		return NFS3ERR_JUKEBOX;
	case NFS4ERR_REP_TOO_BIG:
		return NFS3ERR_TOOSMALL;
	case NFS4ERR_ATTRNOTSUPP:
		return NFS3ERR_NOTSUPP;
	case NFS3ERR_TOOSMALL:
		return status;
	default: /* most statuses have the same number in both versions */
		return nfs3_status_errno(status) == -EREMOTEIO ? NFS3ERR_SERVERFAULT : status;
	}
}

void v3_attr(const struct obj *o, const struct statx *st, struct nfs_attr *a)
{
	attr_stat(o, st, a);
	if (o->id.dev) /* NFSv3 has one word for both parts */
		a->fsid_major = a->fsid_major << 32 | a->fsid_minor;
}

void v3_post_op(const struct obj *o, struct nfs3_post_op *p)
{
	struct statx st;

	p->have = obj_stat(o, &st) == 0;
	if (p->have)
		v3_attr(o, &st, &p->attr);
}

void v3_wcc_before(const struct obj *o, struct nfs3_wcc *w)
{
	struct nfs3_post_op p;

	v3_post_op(o, &p);
	w->have_before = p.have;
	if (!p.have)
		return;
	w->before.size = p.attr.size;
	w->before.mtime = p.attr.mtime;
	w->before.ctime = p.attr.ctime;
}

void v3_wcc_after(const struct obj *o, struct nfs3_wcc *w)
{
	v3_post_op(o, &w->after);
}

uint32_t v3_use(struct v3_call *c, struct obj *o, enum deleg_use use)
{
	uint32_t status;

	if (c->used)
		return NFS4_OK;
	status = deleg_begin_use(&c->sv->state, o, NULL, use);
	if (status != NFS4_OK)
		return status;
	c->used = obj_ref(c->sv->objs, o);
	c->use = use;
	return NFS4_OK;
}

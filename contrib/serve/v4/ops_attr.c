/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_attr: GETATTR, SETATTR, ACCESS, VERIFY, NVERIFY.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "contrib/serve/export/referral.h"
#include "contrib/serve/ops/acl.h"
#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/layout_use.h"
#include "contrib/serve/state/open.h"
#include "contrib/serve/v4/ops.h"
#include "contrib/serve/v4/ops_io.h"

/* Does any attribute of want depend on changes by the holder of a write delegation? */
static bool wants_changing(const struct nfs4_bitmap *want)
{
	return nfs4_bit(want, FATTR4_SIZE) || nfs4_bit(want, FATTR4_CHANGE) ||
	       nfs4_bit(want, FATTR4_TIME_MODIFY) || nfs4_bit(want, FATTR4_TIME_METADATA) ||
	       nfs4_bit(want, FATTR4_SPACE_USED);
}

/* Sets c->seen_st to the current object's attributes, as far as want needs them. A status. */
static uint32_t see(struct compound *c, const struct nfs4_bitmap *want)
{
	struct statx st;
	int r;

	if (c->asked && c->inquiry.status != NFS4_OK)
		return c->inquiry.status;
	if (!c->asked && wants_changing(want) && deleg_hides(&c->sv->state, c->cur, c->client)) {
		c->asks = true;
		return NFS4ERR_DELAY;
	}
	if (c->seen == c->cur)
		return NFS4_OK;
	r = obj_stat(c->cur, &st);
	if (r < 0)
		return nfs4_errno_status(r);
	remember_stat(c, c->cur, &st);
	return NFS4_OK;
}

/* Is there an attribute that can only be set? (section 18.7.3, RFC 8275 section 5) */
static bool only_set(const struct compound *c, const struct nfs4_bitmap *want)
{
	return nfs4_bit(want, FATTR4_TIME_ACCESS_SET) || nfs4_bit(want, FATTR4_TIME_MODIFY_SET) ||
	       (c->minor >= 2 && nfs4_bit(want, FATTR4_MODE_UMASK));
}

/* Adds the holder's answer to the inquiry of this operation: section 10.4.3. The holder has changed
 * the file in two cases: the change attribute differs from the attribute at the grant of the
 * delegation, or the size differs from the size on disk. */
static void add_said(struct compound *c, struct nfs4_attrs *attrs)
{
	const struct inquiry *q = &c->inquiry;

	if (!c->asked || !q->said ||
		(q->size == attrs->attr.size &&
			(q->change == q->base || q->change == attrs->attr.change)))
		return;
	attr_touch(c->cur); /* each time: the holder may have changed the file again */
	attrs->attr.change = attr_change(c->cur, &c->seen_st);
	attrs->attr.size = q->size;
	clock_gettime(CLOCK_REALTIME, &attrs->attr.mtime);
	attrs->attr.ctime = attrs->attr.mtime;
}

/* GETATTR of an absent file system: RFC 8881 section 11.4.1. */
static uint32_t getattr_absent(struct compound *c, const struct nfs4_bitmap *want)
{
	struct nfs4_attrs attrs;

	if (!nfs4_bit(want, FATTR4_FS_LOCATIONS))
		return NFS4ERR_MOVED;
	referral_attrs(c->cur, want, &attrs);
	nfs4_bit_clear(&attrs.mask, FATTR4_RDATTR_ERROR);
	nfs4_put_op_res(c->out, OP_GETATTR, NFS4_OK);
	nfs4_put_attrs(c->out, want, &attrs);
	return NFS4_OK;
}

uint32_t op_getattr(struct compound *c, const struct nfs4_args *a)
{
	const struct nfs4_bitmap *want = &a->u.getattr.want;
	struct nfs4_attrs attrs;
	uint32_t status;

	if (only_set(c, want))
		return NFS4ERR_INVAL;
	if (c->cur->referral)
		return getattr_absent(c, want);
	status = see(c, want);
	if (status != NFS4_OK)
		return status;
	attr_fill(c->sv, c->minor, c->cur, &c->seen_st, want, &attrs);
	add_said(c, &attrs);
	nfs4_put_op_res(c->out, OP_GETATTR, NFS4_OK);
	nfs4_put_attrs(c->out, want, &attrs);
	attr_fill_done(&attrs);
	return NFS4_OK;
}

static bool is_special(const struct nfs4_stateid *sid)
{
	return nfs4_stateid_same(sid, &nfs4_stateid_anonymous) ||
	       nfs4_stateid_same(sid, &nfs4_stateid_bypass);
}

/* A change of size uses the open of the stateid, or the caller's delegation if the stateid is
 * special. */
static uint32_t size_fd(struct compound *c, const struct nfs4_stateid *given, struct io *io)
{
	struct nfs4_stateid sid = *given;
	uint32_t status;

	current_stateid(c, &sid);
	if (!S_ISREG(c->cur->type))
		return NFS4_OK; /* attr_apply() has the right answer */
	if (!is_special(&sid))
		return st_io(c->client, c->cur, &sid, true, &io->st, &io->fd);
	status = st_anonymous_ok(&c->sv->state, c->cur, true);
	if (status == NFS4_OK)
		io->fd = deleg_dup(&c->sv->state, c->cur, c->client, W_OK);
	io->own = io->fd >= 0;
	return status;
}

uint32_t op_setattr(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_setattr_args *a = &args->u.setattr;
	struct nfs4_setattr_res r = {0};
	struct nfs_sattr set;
	struct io io = {.fd = -1};
	struct nfs4_opaque acl = {NULL, 0};
	struct rights_change rights = {false, false};
	uint32_t status = attr_decode(c->sv->idmap, c->minor, c->cur, &a->attrs, &set, &acl),
		 done = 0;

	if (status == NFS4_OK && c->sv->devices && (acl.data || attr_is_access(&set)))
		status = rights_begin(&c->sv->state, c->cur, c->client, &rights);
	if (status == NFS4_OK)
		status =
			use_begin(c, c->cur, set.mask & NFS_SET_SIZE ? DELEG_MODIFY : DELEG_CHANGE);
	if (status == NFS4_OK && set.mask & NFS_SET_SIZE)
		status = size_fd(c, &a->stateid, &io);
	if (status == NFS4_OK)
		status = attr_apply(c->cur, io.fd, &set, &done);
	if (done)
		stable_want(c->sv->stable, &c->last.set, c->cur);
	io_end(c, &io);
	r.attrset = nfs4_sattr_bits(done);
	if (status == NFS4_OK && acl.data) { /* behind the mode: section 6.4.1.3 */
		status = acl_set(c->sv->idmap, c->cur, &acl);
		if (status == NFS4_OK)
			nfs4_bit_set(&r.attrset, FATTR4_ACL);
		attr_touch(c->cur);
		stable_want(c->sv->stable, &c->last.set, c->cur);
	}
	rights_end(&c->sv->state, c->cur, &rights,
		done & ATTR_ACCESS || nfs4_bit(&r.attrset, FATTR4_ACL));
	nfs4_put_setattr_res(c->out, status, &r);
	c->put = true;
	return status;
}

uint32_t op_access(struct compound *c, const struct nfs4_args *a)
{
	const uint32_t known = 0x3f, xattrs = ACCESS4_XAREAD | ACCESS4_XAWRITE | ACCESS4_XALIST;
	uint32_t want = a->u.access.access;
	struct nfs4_access_res r;

	if (want & ~(c->minor >= 2 ? known | xattrs : known))
		return NFS4ERR_INVAL;
	r.access = attr_access(c->cur, c->sv->read_only, want, &r.supported);
	nfs4_put_access_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

/* NFS4ERR_SAME or NFS4ERR_NOT_SAME, or another status on a failure. Compares the encoded values. */
static uint32_t compare(struct compound *c, const struct nfs4_fattr *given)
{
	struct nfs4_bitmap supported = attr_supported(c->sv, c->minor), known;
	struct nfs4_attrs attrs;
	struct nfs4_fattr ours;
	struct xdr_out out;
	struct xdr_in in;
	uint32_t status;
	const size_t cap = 65536; /* an ACL can be long */
	uint8_t *buf;

	known = nfs4_bits_and(&given->mask, &supported);
	if (given->mask.more || memcmp(known.w, given->mask.w, sizeof(known.w)) != 0)
		return NFS4ERR_ATTRNOTSUPP;
	if (nfs4_bit(&known, FATTR4_RDATTR_ERROR) || only_set(c, &known))
		return NFS4ERR_INVAL;
	status = see(c, &known);
	if (status != NFS4_OK)
		return status;
	buf = malloc(cap);
	if (!buf)
		return NFS4ERR_DELAY;
	status = NFS4ERR_SERVERFAULT;
	attr_fill(c->sv, c->minor, c->cur, &c->seen_st, &known, &attrs);
	add_said(c, &attrs);
	xdr_out_init(&out, buf, cap);
	nfs4_put_attrs(&out, &known, &attrs);
	attr_fill_done(&attrs);
	xdr_in_init(&in, buf, out.len);
	if (xdr_out_ok(&out) && nfs4_get_fattr(&in, &ours) == 0)
		status =
			ours.vals.len == given->vals.len &&
					memcmp(ours.vals.data, given->vals.data, ours.vals.len) == 0
				? NFS4ERR_SAME
				: NFS4ERR_NOT_SAME;
	free(buf);
	return status;
}

uint32_t op_verify(struct compound *c, const struct nfs4_args *a)
{
	uint32_t status = compare(c, &a->u.verify.attrs);

	if (status != NFS4ERR_SAME)
		return status;
	nfs4_put_op_res(c->out, OP_VERIFY, NFS4_OK);
	return NFS4_OK;
}

uint32_t op_nverify(struct compound *c, const struct nfs4_args *a)
{
	uint32_t status = compare(c, &a->u.verify.attrs);

	if (status != NFS4ERR_NOT_SAME)
		return status;
	nfs4_put_op_res(c->out, OP_NVERIFY, NFS4_OK);
	return NFS4_OK;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr: the frame of a COMPOUND, and the dispatch by operation number.
 */
#include "nfsproto/wire/nfs4_xdr.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* --- COMPOUND ------------------------------------------------------------------------------- */

size_t nfs4_put_compound_args(struct xdr_out *x, const char *tag, uint32_t minor)
{
	xdr_put_opaque(x, tag, (uint32_t)strlen(tag));
	xdr_put_u32(x, minor);
	return xdr_skip_u32(x);
}

size_t nfs4_put_cb_compound_args(
	struct xdr_out *x, const char *tag, uint32_t minor, uint32_t cb_ident)
{
	xdr_put_opaque(x, tag, (uint32_t)strlen(tag));
	xdr_put_u32(x, minor);
	xdr_put_u32(x, cb_ident);
	return xdr_skip_u32(x);
}

int nfs4_get_compound_args(struct xdr_in *x, struct nfs4_compound_args *c)
{
	nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &c->tag);
	c->minor = xdr_get_u32(x);
	c->cb_ident = 0;
	c->nops = xdr_get_count(x, UINT32_MAX, 4);
	return nfs4_got(x);
}

int nfs4_get_cb_compound_args(struct xdr_in *x, struct nfs4_compound_args *c)
{
	nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &c->tag);
	c->minor = xdr_get_u32(x);
	c->cb_ident = xdr_get_u32(x);
	c->nops = xdr_get_count(x, UINT32_MAX, 4);
	return nfs4_got(x);
}

size_t nfs4_begin_compound_res(struct xdr_out *x, const struct nfs4_opaque *tag)
{
	size_t at = xdr_skip_u32(x);

	nfs4_put_opaque(x, tag);
	xdr_skip_u32(x);
	return at;
}

void nfs4_end_compound_res(struct xdr_out *x, size_t at, uint32_t status, uint32_t nops)
{
	uint32_t taglen;

	if (!xdr_out_ok(x))
		return;
	/* the count stands behind the tag; the tag's length word stands behind the status */
	memcpy(&taglen, x->base + at + 4, 4);
	taglen = be32toh(taglen);
	xdr_patch_u32(x, at, status);
	xdr_patch_u32(x, at + 8 + taglen + xdr_pad(taglen), nops);
}

int nfs4_get_compound_res(struct xdr_in *x, struct nfs4_compound_res *c)
{
	c->status = xdr_get_u32(x);
	nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &c->tag);
	c->nops = xdr_get_count(x, UINT32_MAX, 8);
	return nfs4_got(x);
}

/* --- dispatch ------------------------------------------------------------------------------- */

/* Operations on files, names and locks: those of minor version 0. */
static int get_file_op(struct xdr_in *x, struct nfs4_args *a)
{
	switch (a->op) {
	case OP_GETFH:
	case OP_LOOKUPP:
	case OP_PUTPUBFH:
	case OP_PUTROOTFH:
	case OP_READLINK:
	case OP_RESTOREFH:
	case OP_SAVEFH:
		return 0;
	case OP_ACCESS:
		return nfs4_get_access_args(x, &a->u.access);
	case OP_CLOSE:
		return nfs4_get_close_args(x, &a->u.close);
	case OP_COMMIT:
		return nfs4_get_commit_args(x, &a->u.commit);
	case OP_CREATE:
		return nfs4_get_create_args(x, &a->u.create);
	case OP_DELEGRETURN:
		return nfs4_get_delegreturn_args(x, &a->u.delegreturn);
	case OP_GETATTR:
		return nfs4_get_getattr_args(x, &a->u.getattr);
	case OP_LINK:
		return nfs4_get_link_args(x, &a->u.link);
	case OP_LOCK:
		return nfs4_get_lock_args(x, &a->u.lock);
	case OP_LOCKT:
		return nfs4_get_lockt_args(x, &a->u.lockt);
	case OP_LOCKU:
		return nfs4_get_locku_args(x, &a->u.locku);
	case OP_LOOKUP:
		return nfs4_get_lookup_args(x, &a->u.lookup);
	case OP_NVERIFY:
	case OP_VERIFY:
		return nfs4_get_verify_args(x, &a->u.verify);
	case OP_OPEN:
		return nfs4_get_open_args(x, &a->u.open);
	case OP_OPEN_DOWNGRADE:
		return nfs4_get_open_downgrade_args(x, &a->u.open_downgrade);
	case OP_PUTFH:
		return nfs4_get_putfh_args(x, &a->u.putfh);
	case OP_READ:
		return nfs4_get_read_args(x, &a->u.read);
	case OP_READDIR:
		return nfs4_get_readdir_args(x, &a->u.readdir);
	case OP_REMOVE:
		return nfs4_get_remove_args(x, &a->u.remove);
	case OP_RENAME:
		return nfs4_get_rename_args(x, &a->u.rename);
	case OP_SECINFO:
		return nfs4_get_secinfo_args(x, &a->u.secinfo);
	case OP_SETATTR:
		return nfs4_get_setattr_args(x, &a->u.setattr);
	case OP_WRITE:
		return nfs4_get_write_args(x, &a->u.write);
	default:
		return -EOPNOTSUPP;
	}
}

/* Operations on clients, sessions and stateids: those that minor version 1 has brought. */
static int get_session_op(struct xdr_in *x, struct nfs4_args *a)
{
	switch (a->op) {
	case OP_BACKCHANNEL_CTL:
		return nfs4_get_backchannel_ctl_args(x, &a->u.backchannel_ctl);
	case OP_BIND_CONN_TO_SESSION:
		return nfs4_get_bind_conn_to_session_args(x, &a->u.bind_conn_to_session);
	case OP_EXCHANGE_ID:
		return nfs4_get_exchange_id_args(x, &a->u.exchange_id);
	case OP_CREATE_SESSION:
		return nfs4_get_create_session_args(x, &a->u.create_session);
	case OP_DESTROY_SESSION:
		return nfs4_get_destroy_session_args(x, &a->u.destroy_session);
	case OP_DESTROY_CLIENTID:
		return nfs4_get_destroy_clientid_args(x, &a->u.destroy_clientid);
	case OP_FREE_STATEID:
		return nfs4_get_free_stateid_args(x, &a->u.free_stateid);
	case OP_SECINFO_NO_NAME:
		return nfs4_get_secinfo_no_name_args(x, &a->u.secinfo_no_name);
	case OP_SEQUENCE:
		return nfs4_get_sequence_args(x, &a->u.sequence);
	case OP_TEST_STATEID:
		return nfs4_get_test_stateid_args(x, &a->u.test_stateid);
	case OP_RECLAIM_COMPLETE:
		return nfs4_get_reclaim_complete_args(x, &a->u.reclaim_complete);
	default:
		return -EOPNOTSUPP;
	}
}

/* Operations that minor version 2 has brought. */
static int get_op_42(struct xdr_in *x, struct nfs4_args *a)
{
	switch (a->op) {
	case OP_ALLOCATE:
	case OP_DEALLOCATE:
		return nfs4_get_allocate_args(x, &a->u.allocate);
	case OP_CLONE:
		return nfs4_get_clone_args(x, &a->u.clone);
	case OP_COPY:
		return nfs4_get_copy_args(x, &a->u.copy);
	case OP_IO_ADVISE:
		return nfs4_get_io_advise_args(x, &a->u.io_advise);
	case OP_OFFLOAD_CANCEL:
	case OP_OFFLOAD_STATUS:
		return nfs4_get_offload_args(x, &a->u.offload);
	case OP_READ_PLUS:
		return nfs4_get_read_plus_args(x, &a->u.read_plus);
	case OP_SEEK:
		return nfs4_get_seek_args(x, &a->u.seek);
	case OP_GETXATTR:
	case OP_REMOVEXATTR:
		return nfs4_get_xattr_name_args(x, &a->u.xattr_name);
	case OP_SETXATTR:
		return nfs4_get_setxattr_args(x, &a->u.setxattr);
	case OP_LISTXATTRS:
		return nfs4_get_listxattrs_args(x, &a->u.listxattrs);
	default:
		return -EOPNOTSUPP;
	}
}

int nfs4_get_args(struct xdr_in *x, struct nfs4_args *a)
{
	a->op = xdr_get_u32(x);
	if (!xdr_in_ok(x))
		return -EBADMSG;
	if (a->op < OP_BACKCHANNEL_CTL)
		return get_file_op(x, a);
	return a->op < OP_ALLOCATE ? get_session_op(x, a) : get_op_42(x, a);
}

/* Walks past one result that may stand before a READ. False: no such result, or cut short. */
static bool peek_skip(struct xdr_in *x, uint32_t op)
{
	union {
		struct nfs4_sequence_res sequence;
		struct nfs4_access_res access;
		struct nfs4_getfh_res getfh;
		struct nfs4_getattr_res getattr;
		struct nfs4_stateid_res close;
		struct nfs4_open_res open;
	} u;

	switch (op) {
	case OP_PUTFH:
	case OP_PUTROOTFH:
	case OP_SAVEFH:
	case OP_RESTOREFH:
	case OP_LOOKUP:
		return true;
	case OP_SEQUENCE:
		return nfs4_get_sequence_res(x, NFS4_OK, &u.sequence) == 0;
	case OP_ACCESS:
		return nfs4_get_access_res(x, NFS4_OK, &u.access) == 0;
	case OP_GETFH:
		return nfs4_get_getfh_res(x, NFS4_OK, &u.getfh) == 0;
	case OP_GETATTR:
		return nfs4_get_getattr_res(x, NFS4_OK, &u.getattr) == 0;
	case OP_CLOSE:
		return nfs4_get_close_res(x, NFS4_OK, &u.close) == 0;
	case OP_OPEN:
		return nfs4_get_open_res(x, NFS4_OK, &u.open) == 0;
	default:
		return false;
	}
}

size_t nfs4_peek_read(const void *res, size_t n)
{
	struct nfs4_opaque tag;
	struct xdr_in x;
	uint32_t nops;

	xdr_in_init(&x, res, n);
	xdr_get_u32(&x); /* the status of the last operation, which may come after the READ */
	nfs4_get_opaque(&x, NFS4_OPAQUE_LIMIT, &tag);
	nops = xdr_get_u32(&x); /* not xdr_get_count(): the rest of the stream is still to come */
	while (xdr_in_ok(&x) && nops-- > 0) {
		uint32_t op = xdr_get_u32(&x), status = xdr_get_u32(&x);

		if (!xdr_in_ok(&x) || status != NFS4_OK)
			return 0;
		if (op == OP_READ) {
			xdr_get_bool(&x);
			xdr_get_u32(&x);
			return xdr_in_ok(&x) ? x.pos : 0;
		}
		if (!peek_skip(&x, op))
			return 0;
	}
	return 0;
}

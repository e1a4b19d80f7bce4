/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4-any: any NFSv4 operation's coder by its number, for tests that go through all operations.
 * The
 * decoder of arguments is the library's nfs4_get_args(); the other three are here.
 */
#ifndef RNFS_TESTS_NFS4_ANY_H
#define RNFS_TESTS_NFS4_ANY_H

#include <errno.h>
#include <string.h>

#include "nfsproto/wire/nfs4_xdr.h"

/* Decoded elements are re-encoded through these arrays. */
#define ANY_STATEIDS 64
#define ANY_CONTENTS XDR_MAX_PAYLOADS

static inline void any_put_args(struct xdr_out *x, const struct nfs4_args *a)
{
	struct nfs4_test_stateid_args ts;
	struct nfs4_stateid ids[ANY_STATEIDS];

#define PUT(OP, name)                                                                              \
	case OP:                                                                                   \
		nfs4_put_##name##_args(x, &a->u.name);                                             \
		break;

#define PUT_LIKE(OP, name)                                                                         \
	case OP:                                                                                   \
		nfs4_put_##name##_args(x, OP, &a->u.name);                                         \
		break;

	switch (a->op) {
		PUT(OP_ACCESS, access)
		PUT(OP_CLOSE, close)
		PUT(OP_COMMIT, commit)
		PUT(OP_CREATE, create)
		PUT(OP_GETATTR, getattr)
		PUT(OP_LOCK, lock)
		PUT(OP_LOCKT, lockt)
		PUT(OP_LOCKU, locku)
		PUT(OP_OPEN, open)
		PUT(OP_OPEN_DOWNGRADE, open_downgrade)
		PUT(OP_PUTFH, putfh)
		PUT(OP_READDIR, readdir)
		PUT(OP_RENAME, rename)
		PUT(OP_SETATTR, setattr)
		PUT(OP_WRITE, write)
		PUT(OP_BACKCHANNEL_CTL, backchannel_ctl)
		PUT(OP_BIND_CONN_TO_SESSION, bind_conn_to_session)
		PUT(OP_EXCHANGE_ID, exchange_id)
		PUT(OP_CREATE_SESSION, create_session)
		PUT(OP_DESTROY_SESSION, destroy_session)
		PUT(OP_DESTROY_CLIENTID, destroy_clientid)
		PUT(OP_SECINFO_NO_NAME, secinfo_no_name)
		PUT(OP_SEQUENCE, sequence)
		PUT(OP_RECLAIM_COMPLETE, reclaim_complete)
		PUT(OP_CLONE, clone)
		PUT(OP_COPY, copy)
		PUT(OP_GETDEVICEINFO, getdeviceinfo)
		PUT(OP_LAYOUTCOMMIT, layoutcommit)
		PUT(OP_LAYOUTGET, layoutget)
		PUT(OP_LAYOUTRETURN, layoutreturn)
		PUT(OP_LAYOUTERROR, layouterror)
		PUT(OP_LAYOUTSTATS, layoutstats)
		PUT(OP_IO_ADVISE, io_advise)
		PUT(OP_SEEK, seek)
		PUT(OP_SETXATTR, setxattr)
		PUT(OP_LISTXATTRS, listxattrs)
		PUT_LIKE(OP_LOOKUP, name)
		PUT_LIKE(OP_LINK, name)
		PUT_LIKE(OP_REMOVE, name)
		PUT_LIKE(OP_SECINFO, name)
		PUT_LIKE(OP_GETXATTR, name)
		PUT_LIKE(OP_REMOVEXATTR, name)
		PUT_LIKE(OP_DELEGRETURN, stateid)
		PUT_LIKE(OP_FREE_STATEID, stateid)
		PUT_LIKE(OP_OFFLOAD_CANCEL, stateid)
		PUT_LIKE(OP_OFFLOAD_STATUS, stateid)
		PUT_LIKE(OP_ALLOCATE, range)
		PUT_LIKE(OP_DEALLOCATE, range)
		PUT_LIKE(OP_VERIFY, verify)
		PUT_LIKE(OP_NVERIFY, verify)
		PUT_LIKE(OP_READ, read)
		PUT_LIKE(OP_READ_PLUS, read)
	case OP_TEST_STATEID:
		ts = a->u.test_stateid;
		if (!ts.ids) {
			if (ts.n > ANY_STATEIDS)
				ts.n = ANY_STATEIDS;
			for (uint32_t i = 0; i < ts.n; i++)
				ids[i] = nfs4_test_stateid_at(&a->u.test_stateid, i);
			ts.ids = ids;
		}
		nfs4_put_test_stateid_args(x, &ts);
		break;
	default:
		nfs4_put_op(x, a->op);
		break;
	}
#undef PUT
#undef PUT_LIKE
}

struct any_res {
	uint32_t op, status;
	union {
		struct nfs4_access_res access;
		struct nfs4_stateid_res stateid;
		struct nfs4_commit_res commit;
		struct nfs4_create_res create;
		struct nfs4_getattr_res getattr;
		struct nfs4_getfh_res getfh;
		struct nfs4_change_res change;
		struct nfs4_lock_res lock;
		struct nfs4_lockt_res lockt;
		struct nfs4_open_res open;
		struct nfs4_read_res read;
		struct nfs4_readdir_res readdir;
		struct nfs4_readlink_res readlink;
		struct nfs4_rename_res rename;
		struct nfs4_secinfo_res secinfo;
		struct nfs4_setattr_res setattr;
		struct nfs4_write_res write;
		struct nfs4_bind_conn_to_session_res bind_conn_to_session;
		struct nfs4_exchange_id_res exchange_id;
		struct nfs4_create_session_res create_session;
		struct nfs4_sequence_res sequence;
		struct nfs4_test_stateid_res test_stateid;
		struct nfs4_getdeviceinfo_res getdeviceinfo;
		struct nfs4_layoutcommit_res layoutcommit;
		struct nfs4_layoutget_res layoutget;
		struct nfs4_layoutreturn_res layoutreturn;
		struct nfs4_copy_res copy;
		struct nfs4_io_advise_res io_advise;
		struct nfs4_offload_status_res offload_status;
		struct {
			struct nfs4_read_plus_res head;
			struct nfs4_content content[ANY_CONTENTS];
		} read_plus;
		struct nfs4_seek_res seek;
		struct nfs4_getxattr_res getxattr;
		struct nfs4_listxattrs_res listxattrs;
	} u;
};

static inline int any_get_entries(struct xdr_in *x)
{
	struct nfs4_entry ent;
	bool eof;
	int r;

	while ((r = nfs4_get_entry(x, &ent, &eof)) == 1)
		;
	return r;
}

/* Decodes all pieces, and keeps as many as there is room for. */
static inline int any_get_read_plus(struct xdr_in *x, struct any_res *r)
{
	uint32_t n, kept = 0;

	if (nfs4_get_read_plus_res(x, r->status, &r->u.read_plus.head) || r->status != NFS4_OK)
		return nfs4_got(x);
	n = r->u.read_plus.head.n;
	for (uint32_t i = 0; i < n && xdr_in_ok(x); i++) {
		struct nfs4_content c;

		if (nfs4_get_content(x, &c) == 0 && kept < ANY_CONTENTS)
			r->u.read_plus.content[kept++] = c;
	}
	r->u.read_plus.head.n = kept;
	return nfs4_got(x);
}

/* Reads number and status too. */
static inline int any_get_res(struct xdr_in *x, struct any_res *r)
{
	bool placed;

	r->op = xdr_get_u32(x);
	r->status = xdr_get_u32(x);
	if (!xdr_in_ok(x))
		return -EBADMSG;

#define GET(OP, name)                                                                              \
	case OP:                                                                                   \
		return nfs4_get_##name##_res(x, r->status, &r->u.name);

	switch (r->op) {
		GET(OP_ACCESS, access)
		GET(OP_CLOSE, stateid)
		GET(OP_LOCKU, stateid)
		GET(OP_OPEN_DOWNGRADE, stateid)
		GET(OP_COMMIT, commit)
		GET(OP_CREATE, create)
		GET(OP_GETATTR, getattr)
		GET(OP_GETFH, getfh)
		GET(OP_LINK, change)
		GET(OP_LOCK, lock)
		GET(OP_LOCKT, lockt)
		GET(OP_OPEN, open)
		GET(OP_READLINK, readlink)
		GET(OP_REMOVE, change)
		GET(OP_RENAME, rename)
		GET(OP_SECINFO, secinfo)
		GET(OP_SECINFO_NO_NAME, secinfo)
		GET(OP_SETATTR, setattr)
		GET(OP_WRITE, write)
		GET(OP_BIND_CONN_TO_SESSION, bind_conn_to_session)
		GET(OP_EXCHANGE_ID, exchange_id)
		GET(OP_CREATE_SESSION, create_session)
		GET(OP_SEQUENCE, sequence)
		GET(OP_TEST_STATEID, test_stateid)
		GET(OP_GETDEVICEINFO, getdeviceinfo)
		GET(OP_LAYOUTCOMMIT, layoutcommit)
		GET(OP_LAYOUTGET, layoutget)
		GET(OP_LAYOUTRETURN, layoutreturn)
		GET(OP_COPY, copy)
		GET(OP_IO_ADVISE, io_advise)
		GET(OP_OFFLOAD_STATUS, offload_status)
		GET(OP_SEEK, seek)
		GET(OP_GETXATTR, getxattr)
		GET(OP_SETXATTR, change)
		GET(OP_LISTXATTRS, listxattrs)
		GET(OP_REMOVEXATTR, change)
	case OP_READ_PLUS:
		return any_get_read_plus(x, r);
	case OP_READ:
		if (nfs4_get_read_res(x, r->status, &r->u.read) || r->status != NFS4_OK)
			return nfs4_got(x);
		xdr_get_payload_list(x, NFS4_IO_MAX, &r->u.read.data, &placed);
		return nfs4_got(x);
	case OP_READDIR:
		if (nfs4_get_readdir_res(x, r->status, &r->u.readdir) || r->status != NFS4_OK)
			return nfs4_got(x);
		return any_get_entries(x);
	default:
		return 0;
	}
#undef GET
}

/* All but READDIR: any_get_res() does not keep the entries of READDIR. */
static inline void any_put_res(struct xdr_out *x, const struct any_res *r)
{
	struct nfs4_test_stateid_res ts;
	uint32_t codes[ANY_STATEIDS];

#define PUT(OP, name)                                                                              \
	case OP:                                                                                   \
		nfs4_put_##name##_res(x, r->status, &r->u.name);                                   \
		break;
#define PUT_LIKE(OP, name)                                                                         \
	case OP:                                                                                   \
		nfs4_put_##name##_res(x, OP, r->status, &r->u.name);                               \
		break;

	switch (r->op) {
		PUT(OP_ACCESS, access)
		PUT_LIKE(OP_CLOSE, stateid)
		PUT_LIKE(OP_LOCKU, stateid)
		PUT_LIKE(OP_OPEN_DOWNGRADE, stateid)
		PUT(OP_COMMIT, commit)
		PUT(OP_CREATE, create)
		PUT(OP_GETATTR, getattr)
		PUT(OP_GETFH, getfh)
		PUT_LIKE(OP_LINK, change)
		PUT(OP_LOCK, lock)
		PUT(OP_LOCKT, lockt)
		PUT(OP_OPEN, open)
		PUT(OP_READ, read)
		PUT(OP_READLINK, readlink)
		PUT_LIKE(OP_REMOVE, change)
		PUT(OP_RENAME, rename)
		PUT_LIKE(OP_SECINFO, secinfo)
		PUT_LIKE(OP_SECINFO_NO_NAME, secinfo)
		PUT(OP_SETATTR, setattr)
		PUT(OP_WRITE, write)
		PUT(OP_BIND_CONN_TO_SESSION, bind_conn_to_session)
		PUT(OP_EXCHANGE_ID, exchange_id)
		PUT(OP_CREATE_SESSION, create_session)
		PUT(OP_SEQUENCE, sequence)
		PUT(OP_GETDEVICEINFO, getdeviceinfo)
		PUT(OP_LAYOUTCOMMIT, layoutcommit)
		PUT(OP_LAYOUTGET, layoutget)
		PUT(OP_LAYOUTRETURN, layoutreturn)
		PUT(OP_COPY, copy)
		PUT(OP_IO_ADVISE, io_advise)
		PUT(OP_OFFLOAD_STATUS, offload_status)
		PUT(OP_SEEK, seek)
		PUT(OP_GETXATTR, getxattr)
		PUT_LIKE(OP_SETXATTR, change)
		PUT(OP_LISTXATTRS, listxattrs)
		PUT_LIKE(OP_REMOVEXATTR, change)
	case OP_READ_PLUS:
		nfs4_put_read_plus_res(x, r->status, &r->u.read_plus.head);
		for (uint32_t i = 0; r->status == NFS4_OK && i < r->u.read_plus.head.n; i++)
			nfs4_put_content(x, &r->u.read_plus.content[i]);
		break;
	case OP_TEST_STATEID:
		ts = r->u.test_stateid;
		if (!ts.codes) {
			if (ts.n > ANY_STATEIDS)
				ts.n = ANY_STATEIDS;
			for (uint32_t i = 0; i < ts.n; i++)
				codes[i] = nfs4_test_stateid_code(&r->u.test_stateid, i);
			ts.codes = codes;
		}
		nfs4_put_test_stateid_res(x, r->status, &ts);
		break;
	default:
		nfs4_put_op_res(x, r->op, r->status);
		break;
	}
#undef PUT
#undef PUT_LIKE
}

/* The stream with the payloads spliced in, as a transport sends the stream inline. Returns the
 * length. */
static inline size_t any_splice(const struct xdr_out *x, uint8_t *to)
{
	size_t from = 0, n = 0;

	for (unsigned i = 0; i < x->npayloads; i++) {
		const struct xdr_payload *p = &x->payload[i];

		memcpy(to + n, x->base + from, p->pos - from);
		n += p->pos - from;
		from = p->pos;
		seg_list_gather(&p->data, to + n);
		n += p->data.len;
		memset(to + n, 0, xdr_pad(p->data.len));
		n += xdr_pad(p->data.len);
	}
	memcpy(to + n, x->base + from, x->len - from);
	return n + x->len - from;
}

#endif

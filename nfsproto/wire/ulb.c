/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ulb: the upper-layer binding of NFS to RPC-over-RDMA (RFC 8267, in the terms of RFC 8166).
 *
 * The bounds are sums of the items of RFC 5662 and RFC 1813 at their largest, written as such. An
 * error result is never larger than the success (LOCK and LOCKT count their denied arm, which is
 * the larger).
 */
#include "nfsproto/wire/ulb.h"

#include "nfsproto/wire/nfs3_xdr.h"
#include "nfsproto/wire/nfs4_attr.h"

enum {
	W = 4,	      /* a word */
	H = 8,	      /* a hyper */
	HEAD = 2 * W, /* operation number and status */
	BITMAP = W + W * NFS4_BITMAP_WIRE,
	STATEID = W + NFS4_STATEID_OTHER,
	OPAQUE = W + NFS4_OPAQUE_LIMIT,
	CINFO = W + 2 * H,
	OWNER = H + OPAQUE,
	/* no limit in the protocol; see nfs4_attr_max() */
	ACE = 3 * W + W + NFS4_OWNER_EXPECT,
	IMPL_ID = W + 2 * OPAQUE + H + W,
	CHANNEL = 6 * W + 2 * W,
	SEC_FLAVOR = W + OPAQUE + 2 * W,
	DENIED = 2 * H + W + OWNER,
	WRITE_RESPONSE = W + STATEID + H + W + NFS4_VERIFIER_SIZE,
	CONTENT = W + 2 * H, /* a hole; of data all but the bytes and the round-up */
	/* spi_ops, four words and the handles of SP4_SSV: never asked for, so never answered */
	PROTECT = W + 2 * BITMAP,
};

enum ulb_ddp ulb_nfs4_op(uint32_t op)
{
	switch (op) {
	case OP_READ: /* READ4resok.data */
		return ULB_DDP_RES;
	case OP_WRITE:	/* WRITE4args.data */
	case OP_CREATE: /* createtype4.linkdata */
		return ULB_DDP_ARG;
	default: /* READLINK among them: see the header */
		return ULB_DDP_NONE;
	}
}

enum ulb_ddp ulb_nfs3_proc(uint32_t proc)
{
	switch (proc) {
	case NFS3PROC_READLINK:
	case NFS3PROC_READ:
		return ULB_DDP_RES;
	case NFS3PROC_WRITE:
	case NFS3PROC_SYMLINK:
		return ULB_DDP_ARG;
	default:
		return ULB_DDP_NONE;
	}
}

size_t ulb_nfs4_begin(uint32_t taglen)
{
	return (size_t)W + W + taglen + xdr_pad(taglen) + W;
}

size_t ulb_nfs4_attrs_max(const struct nfs4_bitmap *want)
{
	/* A server answers with no more bits, and so no more words, than the client asked for. */
	size_t n = W + W * NFS4_BITMAP_WORDS + W;

	NFS4_FOREACH_BIT (bit, want) {
		size_t max = nfs4_attr_max(bit);

		n += max ? max : ULB_ATTR_UNBOUNDED;
	}
	return n;
}

/* Results that the protocol itself bounds, HEAD not counted; SIZE_MAX: any other result. */
static size_t fixed_res(uint32_t op)
{
	switch (op) {
	case OP_DELEGRETURN:
	case OP_LOOKUP:
	case OP_LOOKUPP:
	case OP_NVERIFY:
	case OP_VERIFY:
	case OP_PUTFH:
	case OP_PUTPUBFH:
	case OP_PUTROOTFH:
	case OP_RESTOREFH:
	case OP_SAVEFH:
	case OP_BACKCHANNEL_CTL:
	case OP_DESTROY_SESSION:
	case OP_DESTROY_CLIENTID:
	case OP_FREE_STATEID:
	case OP_RECLAIM_COMPLETE:
	case OP_ALLOCATE:
	case OP_DEALLOCATE:
	case OP_CLONE:
	case OP_OFFLOAD_CANCEL:
		return 0;
	case OP_ACCESS:
		return 2 * W;
	case OP_CLOSE:
	case OP_LOCKU:
	case OP_OPEN_DOWNGRADE:
		return STATEID;
	case OP_COMMIT:
		return NFS4_VERIFIER_SIZE;
	case OP_WRITE:
		return 2 * W + NFS4_VERIFIER_SIZE;
	case OP_CREATE:
		return CINFO + BITMAP;
	case OP_LINK:
	case OP_REMOVE:
	case OP_SETXATTR:
	case OP_REMOVEXATTR:
		return CINFO;
	case OP_RENAME:
		return 2 * CINFO;
	case OP_GETFH:
		return W + NFS4_FHSIZE;
	case OP_LOCK:
	case OP_LOCKT:
		return DENIED;
	case OP_OPEN: /* the largest delegation: for writing, limited by blocks */
		return STATEID + CINFO + W + BITMAP + W + STATEID + W + 3 * W + ACE;
	case OP_SETATTR:
		return BITMAP;
	case OP_SECINFO:
	case OP_SECINFO_NO_NAME:
		return W + NFS4_FLAVORS_MAX * SEC_FLAVOR;
	case OP_BIND_CONN_TO_SESSION:
		return NFS4_SESSIONID_SIZE + 2 * W;
	case OP_EXCHANGE_ID:
		return H + 2 * W + PROTECT + H + 2 * OPAQUE + IMPL_ID;
	case OP_CREATE_SESSION:
		return NFS4_SESSIONID_SIZE + 2 * W + 2 * CHANNEL;
	case OP_COPY:
		return WRITE_RESPONSE + 2 * W;
	case OP_IO_ADVISE:
		return BITMAP;
	case OP_OFFLOAD_STATUS:
		return H + 2 * W;
	case OP_SEEK:
		return W + H;
	case OP_SEQUENCE:
		return NFS4_SESSIONID_SIZE + 5 * W;
	default:
		return SIZE_MAX;
	}
}

size_t ulb_nfs4_res_max(uint32_t op, size_t var)
{
	size_t n;

	switch (op) {
	case OP_GETATTR:    /* RFC 8267 6.2: attrlist4 */
	case OP_READDIR:    /* maxcount is the bound of READDIR4resok: RFC 8881 18.23.3 */
	case OP_LISTXATTRS: /* likewise: RFC 8276 8.4.3.3 */
		return HEAD + var;
	case OP_READLINK:
	case OP_GETXATTR:
		return HEAD + W + var + xdr_pad((uint32_t)var);
	case OP_READ: /* eof and the length word; data only if inline */
		return HEAD + 2 * W + var + xdr_pad((uint32_t)var);
	case OP_READ_PLUS: /* no piece is smaller than a page, but for both ends */
		return HEAD + 2 * W + (var / 4096 + 2) * CONTENT + var + xdr_pad((uint32_t)var);
	case OP_TEST_STATEID:
		return HEAD + W + W * var;
	default:
		n = fixed_res(op);
		return n == SIZE_MAX ? SIZE_MAX / 64 : HEAD + n;
	}
}

enum { /* RFC 1813 */
	FATTR3 = 5 * W + 2 * H + 2 * W + 2 * H + 3 * H,
	POST_OP = W + FATTR3,
	WCC = W + 3 * H + POST_OP,
	POST_OP_FH = W + W + NFS3_FHSIZE,
};

/* Behind the status; an error's arm is never larger. */
static size_t nfs3_res(uint32_t proc, size_t var)
{
	switch (proc) {
	case NFS3PROC_GETATTR:
		return FATTR3;
	case NFS3PROC_SETATTR:
	case NFS3PROC_REMOVE:
	case NFS3PROC_RMDIR:
		return WCC;
	case NFS3PROC_LOOKUP:
		return W + NFS3_FHSIZE + 2 * POST_OP;
	case NFS3PROC_ACCESS:
		return POST_OP + W;
	case NFS3PROC_READLINK:
		return POST_OP + W + var + xdr_pad((uint32_t)var);
	case NFS3PROC_READ: /* count, eof and the length word; data only if inline */
		return POST_OP + 3 * W + var + xdr_pad((uint32_t)var);
	case NFS3PROC_WRITE:
		return WCC + 2 * W + NFS3_WRITEVERFSIZE;
	case NFS3PROC_CREATE:
	case NFS3PROC_MKDIR:
	case NFS3PROC_SYMLINK:
	case NFS3PROC_MKNOD:
		return POST_OP_FH + POST_OP + WCC;
	case NFS3PROC_RENAME:
		return 2 * WCC;
	case NFS3PROC_LINK:
		return POST_OP + WCC;
	case NFS3PROC_READDIR:
	case NFS3PROC_READDIRPLUS:
		/* count and maxcount include all of this, but not every server counts more than the
		 * entries */
		return POST_OP + NFS3_COOKIEVERFSIZE + var + 2 * W;
	case NFS3PROC_FSSTAT:
		return POST_OP + 6 * H + W;
	case NFS3PROC_FSINFO:
		return POST_OP + 7 * W + H + H + W;
	case NFS3PROC_PATHCONF:
		return POST_OP + 6 * W;
	case NFS3PROC_COMMIT:
		return WCC + NFS3_WRITEVERFSIZE;
	default:
		return SIZE_MAX;
	}
}

size_t ulb_nfs3_res_max(uint32_t proc, size_t var)
{
	size_t n;

	if (proc == NFS3PROC_NULL)
		return 0;
	n = nfs3_res(proc, var);
	return n == SIZE_MAX ? SIZE_MAX / 64 : W + n;
}

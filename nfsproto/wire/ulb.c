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
	/* the largest: for writing, limited by blocks */
	DELEGATION = W + STATEID + W + 3 * W + ACE,
	WRITE_RESPONSE = W + STATEID + H + W + NFS4_VERIFIER_SIZE,
	LAYOUTS = NFS4_LAYOUTS_MAX * (2 * H + 3 * W), /* all but the bytes of the bodies */
	CONTENT = W + 2 * H, /* a hole; of data all but the bytes and the round-up */
	/* spi_ops, four words and the handles of SP4_SSV: never asked for, so never answered */
	PROTECT = W + 2 * BITMAP,
};

enum ulb_ddp ulb_nfs4_op(uint32_t op)
{
#define PLACED(op, number, args, bound, item) [op] = ULB_DDP_##item,
	static const uint8_t placed[] = {NFS4_OPS(PLACED, PLACED, NFS4_SKIP)};
#undef PLACED

	return op < sizeof(placed) ? placed[op] : ULB_DDP_NONE;
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

static size_t padded(size_t n)
{
	return n + xdr_pad((uint32_t)n);
}

/* The heads of the pieces of n bytes: no piece is smaller than a page, but for both ends. */
static size_t pieces(size_t n)
{
	return (n / 4096 + 2) * CONTENT;
}

size_t ulb_nfs4_res_max(uint32_t op, size_t var)
{
	switch (op) {
#define BOUND(op, number, args, bound, item)                                                       \
	case op:                                                                                   \
		return HEAD + (bound);
		NFS4_OPS(BOUND, BOUND, NFS4_SKIP)
#undef BOUND
	default:
		return SIZE_MAX / 64;
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
		return POST_OP + W + padded(var);
	case NFS3PROC_READ: /* count, eof and the length word; data only if inline */
		return POST_OP + 3 * W + padded(var);
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

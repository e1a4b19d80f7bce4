/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_item: items that the operations of NFSv4.1 are composed of (RFC 5662), and the caps on
 * counts. Conventions: nfs4_xdr.h, which is the header to include.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_ITEM_H
#define RNFS_NFSPROTO_WIRE_NFS4_ITEM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsproto/wire/nfs4.h"
#include "nfsproto/wire/nfs_file.h"
#include "transport/rpc/xdr.h"

#define NFS4_BITMAP_WORDS   3	 /* attributes 0..95 */
#define NFS4_BITMAP_WIRE    16	 /* words accepted; words beyond NFS4_BITMAP_WORDS are not kept */
#define NFS4_STRING_MAX	    4096 /* names and links accepted; longer is malformed */
#define NFS4_ATTRLIST_MAX   65536
#define NFS4_IO_MAX	    (1u << 20) /* most bytes of READ and WRITE data */
#define NFS4_FLAVORS_MAX    16
#define NFS4_CB_SEC_MAX	    8
#define NFS4_REFERRING_KEPT 16

struct nfs4_opaque {
	const uint8_t *data;
	uint32_t len;
};

struct nfs4_bitmap {
	uint32_t w[NFS4_BITMAP_WORDS];
	bool more; /* get: bits beyond the last word were set */
};

static inline bool nfs4_bit(const struct nfs4_bitmap *b, unsigned n)
{
	return n / 32 < NFS4_BITMAP_WORDS && (b->w[n / 32] >> (n % 32) & 1);
}

#define NFS4_BITS (32u * NFS4_BITMAP_WORDS)

/* The first bit that is set, from n on; NFS4_BITS: none. */
static inline unsigned nfs4_bit_next(const struct nfs4_bitmap *b, unsigned n)
{
	uint32_t w;

	for (unsigned i = n / 32; i < NFS4_BITMAP_WORDS; i++) {
		w = b->w[i] & (i == n / 32 ? UINT32_MAX << (n % 32) : UINT32_MAX);
		if (w)
			return 32 * i + (unsigned)__builtin_ctz(w);
	}
	return NFS4_BITS;
}

/* The bits that are set, one after the other. */
#define NFS4_FOREACH_BIT(bit, b)                                                                   \
	for (unsigned bit = nfs4_bit_next(b, 0); bit < NFS4_BITS; bit = nfs4_bit_next(b, bit + 1))

static inline void nfs4_bit_set(struct nfs4_bitmap *b, unsigned n)
{
	if (n / 32 < NFS4_BITMAP_WORDS)
		b->w[n / 32] |= 1u << (n % 32);
}

static inline void nfs4_bit_clear(struct nfs4_bitmap *b, unsigned n)
{
	if (n / 32 < NFS4_BITMAP_WORDS)
		b->w[n / 32] &= ~(1u << (n % 32));
}

/* fattr4 in wire form; nfs4_attr.h gives the bytes a meaning. */
struct nfs4_fattr {
	struct nfs4_bitmap mask;
	struct nfs4_opaque vals;
};

/* Results of GETATTR and CB_GETATTR. */
struct nfs4_getattr_res {
	struct nfs4_fattr attrs;
};

struct nfs4_stateid {
	uint32_t seqid;
	uint8_t other[NFS4_STATEID_OTHER];
};

/* RFC 8881 8.2.3: the special stateids */
extern const struct nfs4_stateid nfs4_stateid_anonymous; /* 0, all zeros */
extern const struct nfs4_stateid nfs4_stateid_bypass;	 /* READ bypass: all ones */
extern const struct nfs4_stateid nfs4_stateid_current; /* 1, zeros: left by an earlier operation */
extern const struct nfs4_stateid nfs4_stateid_invalid; /* 0xffffffff, zeros */
bool nfs4_stateid_same(const struct nfs4_stateid *a, const struct nfs4_stateid *b);

struct nfs4_owner { /* open_owner4, lock_owner4 */
	uint64_t clientid;
	struct nfs4_opaque owner; /* at most NFS4_OPAQUE_LIMIT */
};

struct nfs4_change_info {
	bool atomic;
	uint64_t before, after;
};

struct nfs4_sessionid {
	uint8_t id[NFS4_SESSIONID_SIZE];
};

/* The result of every get function. */
static inline int nfs4_got(const struct xdr_in *x)
{
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

/* A word outside min..max is malformed and reads as min. */
uint32_t nfs4_get_enum(struct xdr_in *x, uint32_t min, uint32_t max);
void nfs4_put_opaque(struct xdr_out *x, const struct nfs4_opaque *o);
int nfs4_get_opaque(struct xdr_in *x, uint32_t max, struct nfs4_opaque *o);
void nfs4_put_bitmap(struct xdr_out *x, const struct nfs4_bitmap *b);
int nfs4_get_bitmap(struct xdr_in *x, struct nfs4_bitmap *b);
void nfs4_put_fattr(struct xdr_out *x, const struct nfs4_fattr *f);
int nfs4_get_fattr(struct xdr_in *x, struct nfs4_fattr *f);
void nfs4_put_stateid(struct xdr_out *x, const struct nfs4_stateid *s);
int nfs4_get_stateid(struct xdr_in *x, struct nfs4_stateid *s);
void nfs4_put_sessionid(struct xdr_out *x, const struct nfs4_sessionid *s);
int nfs4_get_sessionid(struct xdr_in *x, struct nfs4_sessionid *s);
void nfs4_put_fh(struct xdr_out *x, const struct nfs_fh *fh);
/* Length 1..NFS_FH_MAX. */
int nfs4_get_fh(struct xdr_in *x, struct nfs_fh *fh);
int nfs4_get_any_fh(struct xdr_in *x, struct nfs_fh *fh); /* 0..NFS_FH_MAX */
void nfs4_put_name(struct xdr_out *x, const struct nfs_name *n);
/* Length 0..NFS4_STRING_MAX, any bytes. */
int nfs4_get_name(struct xdr_in *x, struct nfs_name *n);
void nfs4_put_owner(struct xdr_out *x, const struct nfs4_owner *o);
int nfs4_get_owner(struct xdr_in *x, struct nfs4_owner *o);
void nfs4_put_change_info(struct xdr_out *x, const struct nfs4_change_info *c);
int nfs4_get_change_info(struct xdr_in *x, struct nfs4_change_info *c);
void nfs4_put_time(struct xdr_out *x, const struct timespec *t);
/* nanoseconds beyond 999999999 are malformed. */
int nfs4_get_time(struct xdr_in *x, struct timespec *t);

/* An operation without arguments (GETFH, LOOKUPP, PUTPUBFH, PUTROOTFH, READLINK, RESTOREFH,
 * SAVEFH). */
void nfs4_put_op(struct xdr_out *x, uint32_t op);
/* A result that is only a status: any operation in error, but SETATTR (and LOCK, LOCKT if denied).
 */
void nfs4_put_op_res(struct xdr_out *x, uint32_t op, uint32_t status);
/* Reads operation number and status. 0, or -EBADMSG if the number is not op; but an operation that
 * the peer does not know comes back as OP_ILLEGAL, NFS4ERR_OP_ILLEGAL (RFC 8881 16.2.3). */
int nfs4_get_op_res(struct xdr_in *x, uint32_t op, uint32_t *status);

#endif

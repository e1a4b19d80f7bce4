/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * libnfs-codec: NFSv4.0 COMPOUNDs through the coders of libnfs.
 */
#include <string.h>
#include <nfsc/libnfs-zdr.h>
#include <nfsc/libnfs-raw-nfs4.h>

#include "tests/unit/nfsproto/wire/libnfs-codec.h"

extern uint32_t zdr_COMPOUND4args(ZDR *, COMPOUND4args *);
extern uint32_t zdr_COMPOUND4res(ZDR *, COMPOUND4res *);

/* One coder for both directions, as in libnfs. in is only read when decoding. */
static ZDR *start(ZDR *z, const uint8_t *buf, size_t n, enum zdr_op op)
{
	memset(z, 0, sizeof(*z));
	libnfs_zdrmem_create(z, (caddr_t)(uintptr_t)buf, (uint32_t)n, op);
	return z;
}

size_t libnfs_args_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	COMPOUND4args a;
	size_t len = 0;
	ZDR d, e;

	memset(&a, 0, sizeof(a));
	start(&d, in, n, ZDR_DECODE);
	start(&e, out, cap, ZDR_ENCODE);
	if (zdr_COMPOUND4args(&d, &a) && libnfs_zdr_getpos(&d) == n && zdr_COMPOUND4args(&e, &a))
		len = libnfs_zdr_getpos(&e);
	libnfs_zdr_destroy(&e);
	libnfs_zdr_destroy(&d);
	return len;
}

size_t libnfs_res_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	COMPOUND4res r;
	size_t len = 0;
	ZDR d, e;

	memset(&r, 0, sizeof(r));
	start(&d, in, n, ZDR_DECODE);
	start(&e, out, cap, ZDR_ENCODE);
	if (zdr_COMPOUND4res(&d, &r) && libnfs_zdr_getpos(&d) == n && zdr_COMPOUND4res(&e, &r))
		len = libnfs_zdr_getpos(&e);
	libnfs_zdr_destroy(&e);
	libnfs_zdr_destroy(&d);
	return len;
}

/* libnfs places decoded arrays at addresses that do not suit the element type: copied out before
 * use. */
static nfs_argop4 first_arg(const COMPOUND4args *a)
{
	nfs_argop4 op;

	memcpy(&op, (const void *)a->argarray.argarray_val, sizeof(op));
	return op;
}

static nfs_resop4 first_res(const COMPOUND4res *r)
{
	nfs_resop4 op;

	memcpy(&op, (const void *)r->resarray.resarray_val, sizeof(op));
	return op;
}

int libnfs_get_open(const uint8_t *in, size_t n, struct libnfs_open *o)
{
	const component4 *name;
	nfs_argop4 op = {0};
	COMPOUND4args a;
	int ok = 0;
	ZDR d;

	memset(&a, 0, sizeof(a));
	memset(o, 0, sizeof(*o));
	if (zdr_COMPOUND4args(start(&d, in, n, ZDR_DECODE), &a) && a.argarray.argarray_len >= 1)
		op = first_arg(&a);
	if (op.argop == OP_OPEN) {
		const OPEN4args *open = &op.nfs_argop4_u.opopen;

		name = &open->claim.open_claim4_u.file;
		o->share_access = open->share_access;
		o->share_deny = open->share_deny;
		o->clientid = open->owner.clientid;
		o->name_len = name->utf8string_len;
		ok = open->claim.claim == CLAIM_NULL && open->openhow.opentype == OPEN4_CREATE &&
		     name->utf8string_len < sizeof(o->name);
		if (ok)
			memcpy(o->name, name->utf8string_val, name->utf8string_len);
	}
	libnfs_zdr_destroy(&d);
	return ok;
}

int libnfs_get_read(const uint8_t *in, size_t n, struct libnfs_read *r)
{
	nfs_argop4 op = {0};
	COMPOUND4args a;
	ZDR d;

	memset(&a, 0, sizeof(a));
	memset(r, 0, sizeof(*r));
	if (zdr_COMPOUND4args(start(&d, in, n, ZDR_DECODE), &a) && a.argarray.argarray_len >= 1)
		op = first_arg(&a);
	if (op.argop == OP_READ) {
		r->seqid = op.nfs_argop4_u.opread.stateid.seqid;
		r->offset = op.nfs_argop4_u.opread.offset;
		r->count = op.nfs_argop4_u.opread.count;
	}
	libnfs_zdr_destroy(&d);
	return op.argop == OP_READ;
}

int libnfs_get_write_res(const uint8_t *in, size_t n, struct libnfs_write_res *w)
{
	nfs_resop4 op = {0};
	COMPOUND4res r;
	int ok = 0;
	ZDR d;

	memset(&r, 0, sizeof(r));
	memset(w, 0, sizeof(*w));
	if (zdr_COMPOUND4res(start(&d, in, n, ZDR_DECODE), &r) && r.resarray.resarray_len >= 1)
		op = first_res(&r);
	if (op.resop == OP_WRITE && op.nfs_resop4_u.opwrite.status == NFS4_OK) {
		const WRITE4resok *ok4 = &op.nfs_resop4_u.opwrite.WRITE4res_u.resok4;

		w->count = ok4->count;
		w->committed = ok4->committed;
		memcpy(w->verf, ok4->writeverf, sizeof(w->verf));
		ok = 1;
	}
	libnfs_zdr_destroy(&d);
	return ok;
}

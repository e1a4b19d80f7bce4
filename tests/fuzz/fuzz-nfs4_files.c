/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: the bodies of the file layout type. A body that decodes must encode to the same
 * bytes, round-ups aside.
 */
#include "nfsproto/wire/nfs4_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void layout(const struct nfs4_opaque *body, struct xdr_out *o)
{
	struct nfs4_files_layout l;
	uint32_t pos = 0, n = 0;
	struct nfs_fh fh;

	if (nfs4_get_files_layout(body, &l))
		return;
	while (nfs4_files_fh_next(&l, &pos, &fh))
		n++;
	nfs4_put_files_layout(o, &l);
	if (n != l.nfh || o->len != body->len)
		__builtin_trap();
}

static void device(const struct nfs4_opaque *body, struct xdr_out *o)
{
	struct nfs4_files_device d;
	struct nfs4_multipath m;
	uint32_t pos = 0, n = 0;

	if (nfs4_get_files_device(body, &d))
		return;
	for (uint32_t i = 0; i < d.nstripes; i++)
		if (nfs4_files_stripe(&d, i) >= d.nservers)
			__builtin_trap();
	while (nfs4_files_server_next(&d, &pos, &m))
		n++;
	nfs4_put_files_device(o, &d);
	if (n != d.nservers || o->len != body->len)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[256 << 10];
	struct nfs4_opaque body = {data, (uint32_t)size};
	struct xdr_out o;

	xdr_out_init(&o, buf, sizeof(buf));
	layout(&body, &o);
	xdr_out_init(&o, buf, sizeof(buf));
	device(&body, &o);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: the bodies of the file layout type. A body that decodes must encode to the same
 * bytes, round-ups aside. Each byte of a segment that fits its device lies in a stripe of it.
 */
#include "nfsproto/v4/pnfs/nfs4_device.h"

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

static void look_around(const struct nfs4_segment *s)
{
	static const uint64_t at[] = {
		0, 1, 4095, 1 << 20, 1ull << 40, UINT64_MAX - 4096, UINT64_MAX};

	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		uint32_t len = 1 << 20;

		if (!nfs4_segment_has(s, at[i]))
			continue;
		if (nfs4_segment_piece(s, at[i], &len) >= s->nstripes || len == 0)
			__builtin_trap();
		if (nfs4_segment_place(s, at[i]) > at[i])
			__builtin_trap();
	}
}

static void segment(const struct nfs4_opaque *body)
{
	static const uint8_t stripe[] = {1, 0, 2, 0, 1};
	const struct nfs4_layout l = {.offset = 1 << 20,
		.length = NFS4_LENGTH_EOF,
		.type = LAYOUT4_NFSV4_1_FILES,
		.body = *body};
	const struct nfs_fh fh = {.len = 1};
	struct nfs4_segment s;

	for (unsigned n = 1; n <= sizeof(stripe); n++) {
		if (nfs4_segment_init(&s, &l, l.type))
			return;
		if (!nfs4_segment_spread(&s, &fh, stripe, n, 3))
			look_around(&s);
		nfs4_segment_finish(&s);
	}
}

static void device_info(const struct nfs4_opaque *body)
{
	static struct nfs4_device_info i = {.type = LAYOUT4_NFSV4_1_FILES, .files_minor = 1};

	nfs4_device_told(&i, body);
	if (i.error)
		return;
	if (i.nservers > NFS4_DS_MAX || i.nstripes > NFS4_STRIPES)
		__builtin_trap();
	for (unsigned n = 0; n < i.nstripes; n++)
		if (i.stripe[n] >= i.nservers)
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
	segment(&body);
	device_info(&body);
	return 0;
}

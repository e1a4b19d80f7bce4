/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: the bodies of the flexible file layout type, and the addresses in them. A layout
 * that decodes must encode to as many bytes.
 */
#include "nfsproto/wire/nfs4_flexfiles.h"
#include "nfsproto/wire/nfs4_netaddr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t buf[256 << 10];

static void layout(const struct nfs4_opaque *body)
{
	struct nfs4_ff_walk w = {0};
	struct nfs4_ff_server s;
	struct nfs4_ff_layout l;
	struct xdr_out o;

	if (nfs4_get_ff_layout(body, &l))
		return;
	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_ff_head(&o, &l);
	while (nfs4_ff_next(&l, &w, &s)) {
		if (w.stripe == 0)
			nfs4_put_ff_mirror(&o, l.nstripes);
		nfs4_put_ff_server(&o, &s);
	}
	nfs4_put_ff_tail(&o, &l);
	if (w.next != l.nmirrors * l.nstripes || o.len != body->len)
		__builtin_trap();
}

static void device(const struct nfs4_opaque *body)
{
	struct sockaddr_storage sa;
	char text[NFS4_UADDR_MAX];
	struct nfs4_ff_device d;
	struct nfs4_netaddr n;
	struct xdr_out o;
	bool rdma;

	if (nfs4_get_ff_device(body, &d))
		return;
	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_ff_device(&o, &d);
	for (uint32_t i = 0; i < d.addrs.n; i++)
		if (nfs4_netaddr_parse(&d.addrs.addr[i], &sa, &rdma) &&
			!nfs4_netaddr_format((const struct sockaddr *)&sa, rdma, text, &n))
			__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs4_opaque body = {data, (uint32_t)size};
	struct nfs4_ff_return r;
	struct nfs4_ff_update u;
	struct xdr_out o;

	layout(&body);
	device(&body);
	xdr_out_init(&o, buf, sizeof(buf));
	if (nfs4_get_ff_return(&body, &r) == 0)
		nfs4_put_ff_return(&o, &r);
	if (nfs4_get_ff_update(&body, &u) == 0)
		nfs4_put_ff_update(&o, &u);
	return 0;
}

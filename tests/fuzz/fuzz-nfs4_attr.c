/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: fattr4, as attributes and as attributes to be set. Attributes that decode must
 * encode to bytes that decode.
 */
#include "nfsproto/wire/nfs4_attr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[256 << 10];
	struct nfs4_attrs a, b;
	struct nfs_sattr s;
	struct nfs4_fattr f;
	struct xdr_out o;
	struct xdr_in x;

	xdr_in_init(&x, data, size);
	if (nfs4_get_fattr(&x, &f))
		return 0;
	nfs4_sattr_decode(&f, &s, NULL, NULL);
	if (nfs4_attrs_decode(&f, &a, NULL))
		return 0;
	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_attrs(&o, &a.mask, &a);
	xdr_in_init(&x, buf, o.len);
	if (!xdr_out_ok(&o) || nfs4_get_attrs(&x, &b, NULL) || !xdr_in_done(&x))
		__builtin_trap();
	return 0;
}

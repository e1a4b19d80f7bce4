/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: a client's view of the results of a COMPOUND.
 */
#include "../unit/nfsproto/wire/nfs4-any.h"
#include "nfsproto/wire/nfs4_attr.h"

static void walk_names(const struct nfs4_listxattrs_res *r)
{
	struct nfs_name name;
	uint32_t pos = 0, n = 0;

	while (nfs4_xattr_names_next(r, &pos, &name))
		n++;
	if (n != r->n)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[256 << 10];
	struct nfs4_compound_res c;
	struct nfs4_attrs attrs;
	struct xdr_out o;
	struct any_res r;
	struct xdr_in x;
	size_t at = nfs4_peek_read(data, size);

	if (at > size)
		__builtin_trap();
	xdr_in_init(&x, data, size);
	if (nfs4_get_compound_res(&x, &c))
		return 0;
	while (c.nops-- > 0 && any_get_res(&x, &r) == 0) {
		xdr_out_init(&o, buf, sizeof(buf));
		any_put_res(&o, &r);
		if (r.op == OP_GETATTR)
			nfs4_attrs_decode(&r.u.getattr.attrs, &attrs, NULL);
		else if (r.op == OP_LISTXATTRS && r.status == NFS4_OK)
			walk_names(&r.u.listxattrs);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: a server's view of a COMPOUND. Arguments that decode are encoded again, so that
 * every
 * decoded pointer and length is followed.
 */
#include "../unit/nfsproto/wire/nfs4-any.h"
#include "nfsproto/wire/nfs4_attr.h"

static void use(const struct nfs4_args *a)
{
	static uint8_t buf[256 << 10];
	struct nfs4_attrs attrs;
	struct nfs_sattr set;
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	any_put_args(&x, a);
	if (a->op == OP_SETATTR)
		nfs4_sattr_decode(&a->u.setattr.attrs, &set, NULL, NULL);
	else if (a->op == OP_OPEN && a->u.open.create)
		nfs4_sattr_decode(&a->u.open.attrs, &set, NULL, NULL);
	else if (a->op == OP_VERIFY || a->op == OP_NVERIFY)
		nfs4_attrs_decode(&a->u.verify.attrs, &attrs, NULL);
	else if (a->op == OP_SETXATTR)
		nfs4_acl_valid(a->u.setxattr.value.data, a->u.setxattr.value.len);
	else if (a->op == OP_WRITE && a->u.write.data.len)
		buf[0] = ((uint8_t *)a->u.write.data.one.at.addr)[a->u.write.data.len - 1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs4_compound_args c;
	struct nfs4_args a;
	struct xdr_in x;

	xdr_in_init(&x, data, size);
	if (nfs4_get_compound_args(&x, &c))
		return 0;
	while (c.nops-- > 0 && nfs4_get_args(&x, &a) == 0)
		use(&a);
	return 0;
}

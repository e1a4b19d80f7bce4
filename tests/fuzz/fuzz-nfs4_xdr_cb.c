/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: a client's view of a CB_COMPOUND.
 */
#include "nfsproto/wire/nfs4_xdr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs4_compound_args c;
	struct nfs4_cb_args a;
	struct xdr_in x;

	xdr_in_init(&x, data, size);
	if (nfs4_get_cb_compound_args(&x, &c))
		return 0;
	while (c.nops-- > 0 && nfs4_get_cb_args(&x, &a) == 0)
		if (a.op == OP_CB_SEQUENCE && a.u.sequence.nrefs > NFS4_REFERRING_KEPT)
			__builtin_trap();
	return 0;
}

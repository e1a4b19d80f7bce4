/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: a client's view of the results of NFSv3's procedures. The first byte chooses one.
 */
#include "nfsproto/wire/nfs3_xdr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[256 << 10];
	struct nfs3_entry ent;
	struct nfs3_res r;
	struct xdr_out o;
	struct xdr_in x;
	bool eof;

	if (size == 0)
		return 0;
	if (nfs3_peek_read(data + 1, size - 1) > size - 1)
		__builtin_trap();
	xdr_in_init(&x, data + 1, size - 1);
	if (nfs3_get_res(&x, data[0] % (NFS3_PROCS + 1), &r))
		return 0;
	xdr_out_init(&o, buf, sizeof(buf));
	nfs3_put_res(&o, &r);
	if (r.proc != NFS3PROC_READDIR && r.proc != NFS3PROC_READDIRPLUS)
		return 0;
	while (nfs3_get_entry(&x, r.proc == NFS3PROC_READDIRPLUS, &ent, &eof) == 1)
		nfs3_put_name(&o, &ent.name);
	return 0;
}

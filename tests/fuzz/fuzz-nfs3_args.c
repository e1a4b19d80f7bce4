/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: a server's view of NFSv3's procedures. The first byte chooses the procedure.
 * Arguments that decode are encoded again, so that every decoded pointer and length is followed.
 */
#include "nfsproto/wire/nfs3_xdr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[256 << 10];
	struct nfs3_args a;
	struct xdr_out o;
	struct xdr_in x;

	if (size == 0)
		return 0;
	xdr_in_init(&x, data + 1, size - 1);
	if (nfs3_get_args(&x, data[0] % (NFS3_PROCS + 1), &a))
		return 0;
	xdr_out_init(&o, buf, sizeof(buf));
	nfs3_put_args(&o, &a);
	if (a.proc == NFS3PROC_WRITE && a.u.write.data.len)
		buf[0] = ((uint8_t *)a.u.write.data.one.at.addr)[a.u.write.data.len - 1];
	return 0;
}

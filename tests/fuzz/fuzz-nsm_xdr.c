/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: SM_NOTIFY from any sender. A message that decodes is encoded again.
 */
#include "nfsproto/wire/nsm_xdr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[4 << 10];
	struct nsm_notify_args a;
	struct xdr_out o;
	struct xdr_in x;

	xdr_in_init(&x, data, size);
	xdr_out_init(&o, buf, sizeof(buf));
	if (nsm_get_notify_args(&x, &a) == 0)
		nsm_put_notify_args(&o, &a);
	return 0;
}

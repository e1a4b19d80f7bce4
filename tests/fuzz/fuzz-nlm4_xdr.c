/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: both sides' view of NLM v4. The first byte chooses the message type to decode. A
 * message that decodes is encoded again.
 */
#include "nfsproto/wire/nlm4_xdr.h"

#define AGAIN(name)                                                                                \
	{                                                                                          \
		struct nlm4_##name m;                                                              \
                                                                                                   \
		if (nlm4_get_##name(&x, &m) == 0)                                                  \
			nlm4_put_##name(&o, &m);                                                   \
		break;                                                                             \
	}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[16 << 10];
	struct xdr_out o;
	struct xdr_in x;

	if (size == 0)
		return 0;
	xdr_in_init(&x, data + 1, size - 1);
	xdr_out_init(&o, buf, sizeof(buf));
	switch (data[0] % 7) {
	case 0:
		AGAIN(test_args)
	case 1:
		AGAIN(test_res)
	case 2:
		AGAIN(lock_args)
	case 3:
		AGAIN(cancel_args)
	case 4:
		AGAIN(unlock_args)
	case 5:
		AGAIN(res)
	default:
		AGAIN(free_all_args)
	}
	return 0;
}

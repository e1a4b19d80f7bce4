/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any bytes as an MPA frame. A frame that decodes must encode to the same words.
 */
#include <stdlib.h>
#include <string.h>

#include "transport/iwarp/mpa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t out[MPA_MAX_FRAME];
	struct mpa_frame f, g;
	bool reply;

	if (size < MPA_HDR_LEN)
		return 0;
	reply = data[9] == 'p';
	if (mpa_decode(data, reply, &f) || f.pd_len > size - MPA_HDR_LEN ||
		mpa_decode_pd(&f, data + MPA_HDR_LEN))
		return 0;
	if (mpa_encode(&f, out) != (size_t)MPA_HDR_LEN + f.pd_len || mpa_decode(out, reply, &g) ||
		mpa_decode_pd(&g, out + MPA_HDR_LEN) || g.ird != f.ird || g.ord != f.ord ||
		g.priv_len != f.priv_len || memcmp(g.priv, f.priv, f.priv_len) != 0)
		abort();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any bytes as a DDP header and as a Terminate.
 */
#include <stdlib.h>
#include <string.h>

#include "transport/iwarp/ddp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t out[DDP_TERM_MAX];
	struct ddp_term t, u;
	struct ddp_hdr h;
	size_t n = ddp_get(data, size, &h);

	if (n > size)
		abort();
	if (n && ddp_check(&h) == DDP_OK && (h.op > DDP_OP_TERMINATE || h.dv != 1 || h.rv != 1))
		abort();
	if (ddp_get_term(data, size, &t))
		return 0;
	if (!*ddp_err_text(t.err))
		abort();
	n = ddp_put_term(out, &t);
	if (n > size || ddp_get_term(out, n, &u) || u.err != t.err || u.ddp_len != t.ddp_len)
		abort();
	return 0;
}

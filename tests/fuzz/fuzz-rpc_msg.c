/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target of transport/rpc_msg: both readers, and what a reader accepts can be written again.
 */
#include <stdlib.h>

#include "transport/rpc_msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_call_hdr call, again;
	struct rpc_reply_hdr reply;
	uint8_t buf[RPC_HEADROOM];
	enum rpc_deny deny;
	struct xdr_in x;
	uint32_t off;

	xdr_in_init(&x, data, size);
	if (rpc_msg_get_call(&x, &call, &deny) == 0 && deny == RPC_DENY_NOT) {
		off = rpc_msg_put_call(buf, sizeof(buf), &call);
		xdr_in_init(&x, buf + off, sizeof(buf) - off);
		if (rpc_msg_get_call(&x, &again, &deny) < 0 || deny || !xdr_in_done(&x) ||
			again.proc != call.proc || again.cred.ngids != call.cred.ngids)
			abort();
	}
	xdr_in_init(&x, data, size);
	if (rpc_msg_get_reply(&x, &reply) == 0 && (reply.stat != RPC_OK || !xdr_in_ok(&x)))
		abort();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target of transport/rpc/rpc_msg and rpc_auth_sys: both readers. A message that a reader
 * accepts can be written again.
 */
#include <stdlib.h>

#include "transport/rpc/rpc_auth.h"

static void again(const struct rpc_call_hdr *h)
{
	struct rpc_call call = {.xid = h->xid, .proc = h->proc};
	uint8_t buf[RPC_HEADROOM];
	struct rpc_call_hdr got;
	struct rpc_cred cred;
	enum rpc_deny deny;
	struct xdr_in x;
	int len;

	if (h->cred.flavor == RPC_AUTH_SYS && !rpc_auth_sys_get(&h->cred, &call.cred))
		return;
	len = rpc_auth_put_call(&call, h->prog, h->vers, buf + sizeof(buf), RPC_MSG_MAX_CALL);
	if (len < 0)
		abort();
	xdr_in_init(&x, buf + sizeof(buf) - len, len);
	if (rpc_msg_get_call(&x, &got, &deny) < 0 || deny || !xdr_in_done(&x) ||
		got.proc != h->proc)
		abort();
	if (call.cred.flavor == RPC_AUTH_SYS &&
		(!rpc_auth_sys_get(&got.cred, &cred) || cred.ngids != call.cred.ngids))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_reply_hdr reply;
	struct rpc_call_hdr call;
	enum rpc_deny deny;
	struct xdr_in x;

	xdr_in_init(&x, data, size);
	if (rpc_msg_get_call(&x, &call, &deny) == 0 && deny == RPC_DENY_NOT)
		again(&call);
	xdr_in_init(&x, data, size);
	if (rpc_msg_get_reply(&x, &reply) == 0 && (reply.stat != RPC_OK || !xdr_in_ok(&x)))
		abort();
	return 0;
}

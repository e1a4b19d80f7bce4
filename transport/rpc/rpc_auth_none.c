/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_auth_none: AUTH_NONE (RFC 5531 section 10.1), a caller without a name.
 */
#include "transport/rpc/rpc_auth.h"

static const struct rpc_opaque_auth nothing = {.flavor = RPC_AUTH_NONE};

static uint32_t none_room(const struct rpc_auth *a, const struct rpc_call *call)
{
	return 8 + 8;
}

static int none_marshal(struct rpc_auth *a, struct rpc_call *call, struct xdr_out *x)
{
	rpc_msg_put_auth(x, &nothing);
	rpc_msg_put_auth(x, &nothing);
	return 0;
}

static enum rpc_verdict none_accept(
	struct rpc_auth *a, struct rpc_req *req, const struct rpc_call_hdr *h, const uint8_t *msg)
{
	req->cred.flavor = RPC_AUTH_NONE; /* a body means nothing, nor does the verifier */
	return RPC_VERDICT_ACCEPT;
}

static const struct rpc_auth_ops none_ops = {
	.flavor = RPC_AUTH_NONE,
	.room = none_room,
	.marshal = none_marshal,
	.accept = none_accept,
};

struct rpc_auth rpc_auth_none = {.ops = &none_ops};

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_call: what a call needs whichever side makes it.
 */
#include "transport/rpc_call.h"

#include <errno.h>
#include <string.h>

#include "transport/rpc_msg.h"

int rpc_call_setup(struct rpc_call *call, struct mem_pool *pool, size_t args_max)
{
	memset(call, 0, sizeof(*call));
	if (args_max > MEM_MAX_SIZE - RPC_HEADROOM)
		return -EMSGSIZE;
	call->msg = mem_buf_get(pool, RPC_HEADROOM + args_max);
	if (!call->msg)
		return -ENOMEM;
	xdr_out_init(&call->args, call->msg->data + RPC_HEADROOM, call->msg->size - RPC_HEADROOM);
	return 0;
}

void rpc_call_finish(struct rpc_call *call)
{
	call->msg = mem_buf_unref(call->msg);
}

void rpc_call_hold(struct rpc_call *call)
{
	for (unsigned i = 0; i < call->nsinks; i++)
		if (call->sink[i].hold)
			mem_buf_ref(call->sink[i].hold);
}

void rpc_call_unhold(struct rpc_call *call)
{
	for (unsigned i = 0; i < call->nsinks; i++)
		mem_buf_unref(call->sink[i].hold);
}

void rpc_call_put_header(struct rpc_call *call, uint32_t prog, uint32_t vers)
{
	struct rpc_call_hdr h = {.xid = call->xid,
		.prog = prog,
		.vers = vers,
		.proc = call->proc,
		.cred = call->cred};

	call->off = rpc_msg_put_call(call->msg->data, RPC_HEADROOM, &h);
}

void rpc_call_end(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct mem_buf *hold[RPC_MAX_SINKS] = {NULL};
	unsigned n = call->nsinks;
	struct xdr_in none;

	/* done may free the call, and what the sinks lie in must outlive done */
	for (unsigned i = 0; i < n; i++)
		hold[i] = call->sink[i].hold;
	if (!res) {
		xdr_in_init(&none, "", 0);
		xdr_in_fail(&none);
		res = &none;
	}
	call->done(call, error, res);
	for (unsigned i = 0; i < n; i++)
		mem_buf_unref(hold[i]);
}

void rpc_call_end_reply(struct rpc_call *call, struct xdr_in *msg)
{
	struct rpc_reply_hdr h;
	int rc = rpc_msg_get_reply(msg, &h);

	call->rpc_stat = h.stat;
	call->mismatch_low = h.mismatch_low;
	call->mismatch_high = h.mismatch_high;
	call->auth_stat = h.auth_stat;
	rpc_call_end(call, rc, rc == 0 ? msg : NULL);
}

unsigned rpc_call_arm(struct rpc_call *call, uint64_t now, unsigned default_ms)
{
	unsigned ms = call->timeout_ms ? call->timeout_ms : default_ms;

	call->sent_ns = now;
	call->deadline_ns = ms ? now + ms * UINT64_C(1000000) : UINT64_MAX;
	return ms;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_call: the common part of calls by either side.
 */
#include "transport/rpc/rpc_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void rpc_cred_own(struct rpc_cred *cred)
{
	int n = getgroups(0, NULL); /* with less room than this the kernel gives none */
	gid_t *gids = n > 0 ? malloc((size_t)n * sizeof(*gids)) : NULL;

	n = gids ? getgroups(n, gids) : 0;
	*cred = (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = geteuid(), .gid = getegid()};
	for (int i = 0; i < n && i < RPC_MAX_GIDS; i++)
		cred->gids[cred->ngids++] = gids[i];
	free(gids);
}

bool rpc_same_cred(const struct rpc_cred *a, const struct rpc_cred *b)
{
	return a->flavor == b->flavor && a->uid == b->uid && a->gid == b->gid &&
	       a->ngids == b->ngids && !memcmp(a->gids, b->gids, a->ngids * sizeof(a->gids[0]));
}

void rpc_call_hold(struct rpc_call *call)
{
	for (unsigned i = 0; i < call->nsinks; i++)
		seg_list_ref(&call->sink[i]);
}

void rpc_call_unhold(struct rpc_call *call)
{
	for (unsigned i = 0; i < call->nsinks; i++)
		seg_list_unref(&call->sink[i]);
}

/* Calls done, then drops the references on the blocks of the sinks. hold has room for the blocks:
 * done may free the call and its lists, and the memory of the sinks must outlive done. */
static void end(struct rpc_call *call, int error, struct xdr_in *res, struct mem_buf **hold)
{
	struct xdr_in none;
	unsigned n = 0;

	for (unsigned i = 0; i < call->nsinks; i++)
		n += seg_list_holds(&call->sink[i], hold + n);
	if (!res) {
		xdr_in_init(&none, "", 0);
		xdr_in_fail(&none);
		res = &none;
	}
	call->done(call, error, res);
	for (unsigned i = 0; i < n; i++)
		mem_buf_unref(hold[i]);
}

/* As rpc_call_end(), with sinks in many pieces. */
__attribute__((noinline)) static void end_many(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct mem_buf *hold[RPC_MAX_SINKS * SEG_LIST_MAX];

	end(call, error, res, hold);
}

void rpc_call_end(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct mem_buf *hold[RPC_MAX_SINKS];
	bool many = false;

	rpc_auth_end(call);
	for (unsigned i = 0; i < call->nsinks; i++)
		many |= call->sink[i].n > 1;
	if (many)
		end_many(call, error, res);
	else
		end(call, error, res, hold);
}

void rpc_call_end_reply(
	struct rpc_call *call, int rc, const struct rpc_reply_hdr *h, struct xdr_in *msg)
{
	struct mem_buf *plain = NULL;

	call->rpc_stat = h->stat;
	call->mismatch_low = h->mismatch_low;
	call->mismatch_high = h->mismatch_high;
	call->auth_stat = h->auth_stat;
	if (rc == 0) {
		rc = rpc_auth_unwrap(call, msg, &plain);
		if (rc < 0)
			call->rpc_stat = RPC_BAD_REPLY;
	}
	rpc_call_end(call, rc, rc == 0 ? msg : NULL);
	mem_buf_unref(plain);
}

unsigned rpc_call_arm(struct rpc_call *call, uint64_t now, unsigned default_ms)
{
	unsigned ms = call->timeout_ms ? call->timeout_ms : default_ms;

	call->sent_ns = now;
	call->deadline_ns = ms ? now + ms * UINT64_C(1000000) : UINT64_MAX;
	return ms;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client_hello: the first call on a connection. Model: rpc_client_hello.h.
 */
#include "transport/rpc/rpc_client_hello.h"

#include "transport/rpc/rpc_client_calls.h"

#define NULL_PROC 0

static void hello_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct rpc_client *c = call->ctx;

	rpc_call_finish(call);
	c->greeting = false;
}

void client_hello(struct rpc_client *c)
{
	struct rpc_call *call = &c->hello;

	if (!c->p.hello || c->greeting || rpc_call_setup(call, c->p.pool, 0) < 0)
		return;
	call->client = c;
	call->auth = c->p.auth;
	call->proc = NULL_PROC;
	call->stays = true;
	call->done = hello_done;
	call->ctx = c;
	rpc_count(&c->stats.calls, 1);
	c->greeting = true;
	if (client_enter(c, call) < 0)
		hello_done(call, 0, NULL);
}

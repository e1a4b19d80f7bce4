/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_msg: the header of an ONC RPC message.
 */
#include "transport/rpc/rpc_msg.h"

#include <errno.h>
#include <string.h>

void rpc_msg_put_auth(struct xdr_out *x, const struct rpc_opaque_auth *a)
{
	xdr_put_u32(x, a->flavor);
	xdr_put_opaque(x, a->body, a->len);
}

void rpc_msg_put_call(struct xdr_out *x, uint32_t xid, uint32_t prog, uint32_t vers, uint32_t proc)
{
	xdr_put_u32(x, xid);
	xdr_put_u32(x, RPC_MSG_CALL);
	xdr_put_u32(x, RPC_MSG_VERSION);
	xdr_put_u32(x, prog);
	xdr_put_u32(x, vers);
	xdr_put_u32(x, proc);
}

/* False if the body is too long; x then stands behind the length word. */
static bool get_auth(struct xdr_in *x, struct rpc_opaque_auth *a)
{
	a->flavor = xdr_get_u32(x);
	a->len = xdr_get_u32(x);
	if (xdr_in_ok(x) && a->len > RPC_MSG_MAX_AUTH)
		return false;
	xdr_skip_padding(x, a->len);
	a->body = xdr_consume(x, a->len);
	return true;
}

int rpc_msg_get_call(struct xdr_in *x, struct rpc_call_hdr *h, enum rpc_deny *deny)
{
	memset(h, 0, sizeof(*h));
	*deny = RPC_DENY_NOT;
	h->xid = xdr_get_u32(x);
	if (xdr_get_u32(x) != RPC_MSG_CALL || !xdr_in_ok(x))
		return -EBADMSG;
	if (xdr_get_u32(x) != RPC_MSG_VERSION && xdr_in_ok(x)) {
		*deny = RPC_DENY_VERSION;
		return 0;
	}
	h->prog = xdr_get_u32(x);
	h->vers = xdr_get_u32(x);
	h->proc = xdr_get_u32(x);
	if (!get_auth(x, &h->cred))
		*deny = RPC_DENY_BADCRED;
	else if (!get_auth(x, &h->verf))
		*deny = RPC_DENY_BADVERF;
	else if (!xdr_in_ok(x))
		*deny = RPC_DENY_GARBAGE;
	return 0;
}

uint32_t rpc_msg_put_accepted(uint8_t *msg, uint32_t end, uint32_t xid,
	const struct rpc_opaque_auth *verf, enum rpc_accept stat)
{
	static const struct rpc_opaque_auth empty = {.flavor = RPC_AUTH_NONE};
	uint32_t len = RPC_MSG_MIN_REPLY;
	struct xdr_out x;

	if (!verf)
		verf = &empty;
	len += verf->len + xdr_pad(verf->len);
	xdr_out_init(&x, msg + end - len, len);
	xdr_put_u32(&x, xid);
	xdr_put_u32(&x, RPC_MSG_REPLY);
	xdr_put_u32(&x, 0); /* MSG_ACCEPTED */
	rpc_msg_put_auth(&x, verf);
	xdr_put_u32(&x, stat);
	return end - len;
}

/* A denied reply with the words after MSG_DENIED. */
static uint32_t put_denied(
	uint8_t *msg, uint32_t end, uint32_t xid, const uint32_t *words, uint32_t n)
{
	uint32_t len = 12 + 4 * n;
	struct xdr_out x;

	xdr_out_init(&x, msg + end - len, len);
	xdr_put_u32(&x, xid);
	xdr_put_u32(&x, RPC_MSG_REPLY);
	xdr_put_u32(&x, 1); /* MSG_DENIED */
	for (uint32_t i = 0; i < n; i++)
		xdr_put_u32(&x, words[i]);
	return end - len;
}

uint32_t rpc_msg_put_mismatch(uint8_t *msg, uint32_t end, uint32_t xid)
{
	const uint32_t words[] = {0 /* RPC_MISMATCH */, RPC_MSG_VERSION, RPC_MSG_VERSION};

	return put_denied(msg, end, xid, words, 3);
}

uint32_t rpc_msg_put_auth_error(uint8_t *msg, uint32_t end, uint32_t xid, uint32_t auth_stat)
{
	const uint32_t words[] = {1 /* AUTH_ERROR */, auth_stat};

	return put_denied(msg, end, xid, words, 2);
}

static int get_denied(struct xdr_in *x, struct rpc_reply_hdr *h)
{
	uint32_t why = xdr_get_u32(x);

	if (why == 0) { /* RPC_MISMATCH */
		h->mismatch_low = xdr_get_u32(x);
		h->mismatch_high = xdr_get_u32(x);
		h->stat = xdr_in_ok(x) ? RPC_VERS_MISMATCH : RPC_BAD_REPLY;
		return -EPROTO;
	}
	h->auth_stat = xdr_get_u32(x);
	if (why != 1 || !xdr_in_ok(x)) {
		h->stat = RPC_BAD_REPLY;
		return -EPROTO;
	}
	return -EACCES;
}

int rpc_msg_get_reply(struct xdr_in *x, struct rpc_reply_hdr *h)
{
	static const enum rpc_stat stats[] = {
		[RPC_ACCEPT_SUCCESS] = RPC_OK,
		[RPC_ACCEPT_PROG_UNAVAIL] = RPC_PROG_UNAVAIL,
		[RPC_ACCEPT_PROG_MISMATCH] = RPC_PROG_MISMATCH,
		[RPC_ACCEPT_PROC_UNAVAIL] = RPC_PROC_UNAVAIL,
		[RPC_ACCEPT_GARBAGE_ARGS] = RPC_GARBAGE_ARGS,
		[RPC_ACCEPT_SYSTEM_ERR] = RPC_SYSTEM_ERR,
	};
	uint32_t type, reply_stat, accept;

	memset(h, 0, sizeof(*h));
	h->stat = RPC_BAD_REPLY;
	h->xid = xdr_get_u32(x);
	type = xdr_get_u32(x);
	reply_stat = xdr_get_u32(x);
	if (!xdr_in_ok(x) || type != RPC_MSG_REPLY || reply_stat > 1)
		return -EPROTO;
	if (reply_stat == 1)
		return get_denied(x, h);
	if (!get_auth(x, &h->verf))
		xdr_in_fail(x);
	accept = xdr_get_u32(x);
	if (accept == RPC_ACCEPT_PROG_MISMATCH) {
		h->mismatch_low = xdr_get_u32(x);
		h->mismatch_high = xdr_get_u32(x);
	}
	if (!xdr_in_ok(x) || accept >= sizeof(stats) / sizeof(stats[0]))
		return -EPROTO;
	h->accepted = true;
	h->stat = stats[accept];
	return accept == RPC_ACCEPT_SUCCESS ? 0 : -EPROTO;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_msg: the header of an ONC RPC message.
 */
#include "transport/rpc_msg.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define MACHINE_MAX 63 /* bytes of our own machinename; keeps the header below RPC_MSG_MAX_CALL */

_Static_assert(24 + 8 + 4 + 4 + MACHINE_MAX + 1 + 8 + 4 + 4 * RPC_MAX_GIDS + 8 <= RPC_MSG_MAX_CALL,
	"the largest call header fits its bound");
_Static_assert(RPC_MSG_MAX_CALL + 512 <= RPC_HEADROOM, "headroom is left for the transport");

static char own_name[MACHINE_MAX + 1];
static pthread_once_t own_name_once = PTHREAD_ONCE_INIT;

static void find_own_name(void)
{
	if (gethostname(own_name, sizeof(own_name) - 1) < 0 || !own_name[0])
		strcpy(own_name, "localhost");
}

static const char *machine_name(const struct rpc_call_hdr *h)
{
	if (h->machine)
		return h->machine;
	pthread_once(&own_name_once, find_own_name);
	return own_name;
}

uint32_t rpc_msg_put_call(uint8_t *msg, uint32_t end, const struct rpc_call_hdr *h)
{
	uint32_t body = 0, len, ngids = 0, name_len = 0;
	const char *name = NULL;
	struct xdr_out x;

	if (h->cred.flavor == RPC_AUTH_SYS) {
		name = machine_name(h);
		name_len = strnlen(name, MACHINE_MAX);
		ngids = h->cred.ngids < RPC_MAX_GIDS ? h->cred.ngids : RPC_MAX_GIDS;
		body = 4 + 4 + name_len + xdr_pad(name_len) + 4 + 4 + 4 + 4 * ngids;
	}
	len = 24 + 8 + body + 8;
	xdr_out_init(&x, msg + end - len, len);
	xdr_put_u32(&x, h->xid);
	xdr_put_u32(&x, RPC_MSG_CALL);
	xdr_put_u32(&x, RPC_MSG_VERSION);
	xdr_put_u32(&x, h->prog);
	xdr_put_u32(&x, h->vers);
	xdr_put_u32(&x, h->proc);
	xdr_put_u32(&x, h->cred.flavor == RPC_AUTH_SYS ? RPC_AUTH_SYS : RPC_AUTH_NONE);
	xdr_put_u32(&x, body);
	if (body) {
		xdr_put_u32(&x, 0); /* stamp: means nothing to anyone */
		xdr_put_opaque(&x, name, name_len);
		xdr_put_u32(&x, h->cred.uid);
		xdr_put_u32(&x, h->cred.gid);
		xdr_put_u32(&x, ngids);
		for (uint32_t i = 0; i < ngids; i++)
			xdr_put_u32(&x, h->cred.gids[i]);
	}
	xdr_put_u32(&x, RPC_AUTH_NONE);
	xdr_put_u32(&x, 0);
	return end - len;
}

/* The body of an AUTH_SYS credential (RFC 5531 appendix A); nothing may follow it. */
static bool get_auth_sys(const uint8_t *body, uint32_t len, struct rpc_cred *cred)
{
	struct xdr_in x;
	uint32_t n;

	xdr_in_init(&x, body, len);
	xdr_get_u32(&x); /* stamp */
	xdr_get_opaque(&x, RPC_MSG_MAX_NAME, &n);
	cred->uid = xdr_get_u32(&x);
	cred->gid = xdr_get_u32(&x);
	cred->ngids = xdr_get_count(&x, RPC_MAX_GIDS, 4);
	for (uint32_t i = 0; i < cred->ngids; i++)
		cred->gids[i] = xdr_get_u32(&x);
	return xdr_in_done(&x);
}

int rpc_msg_get_call(struct xdr_in *x, struct rpc_call_hdr *h, enum rpc_deny *deny)
{
	uint32_t flavor, len, verf_len;
	const uint8_t *body;

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
	flavor = xdr_get_u32(x);
	len = xdr_get_u32(x);
	if (xdr_in_ok(x) && len > RPC_MSG_MAX_AUTH) {
		*deny = RPC_DENY_BADCRED;
		return 0;
	}
	body = xdr_consume(x, len);
	xdr_get_u32(x); /* the verifier's flavor: nothing to verify by it */
	verf_len = xdr_get_u32(x);
	if (xdr_in_ok(x) && verf_len > RPC_MSG_MAX_AUTH) {
		*deny = RPC_DENY_BADVERF;
		return 0;
	}
	xdr_consume(x, verf_len);
	if (!xdr_in_ok(x)) {
		*deny = RPC_DENY_GARBAGE;
	} else if (flavor == RPC_AUTH_SYS) {
		h->cred.flavor = RPC_AUTH_SYS;
		if (!get_auth_sys(body, len, &h->cred))
			*deny = RPC_DENY_BADCRED;
	} else if (flavor != RPC_AUTH_NONE) {
		*deny = RPC_DENY_REJECTEDCRED;
	}
	return 0;
}

uint32_t rpc_msg_put_accepted(uint8_t *msg, uint32_t end, uint32_t xid, enum rpc_accept stat)
{
	struct xdr_out x;

	xdr_out_init(&x, msg + end - RPC_MSG_MIN_REPLY, RPC_MSG_MIN_REPLY);
	xdr_put_u32(&x, xid);
	xdr_put_u32(&x, RPC_MSG_REPLY);
	xdr_put_u32(&x, 0); /* MSG_ACCEPTED */
	xdr_put_u32(&x, RPC_AUTH_NONE);
	xdr_put_u32(&x, 0);
	xdr_put_u32(&x, stat);
	return end - RPC_MSG_MIN_REPLY;
}

uint32_t rpc_msg_put_denied(uint8_t *msg, uint32_t end, uint32_t xid, enum rpc_deny deny)
{
	uint32_t len = deny == RPC_DENY_VERSION ? 24 : 20;
	struct xdr_out x;

	xdr_out_init(&x, msg + end - len, len);
	xdr_put_u32(&x, xid);
	xdr_put_u32(&x, RPC_MSG_REPLY);
	xdr_put_u32(&x, 1); /* MSG_DENIED */
	if (deny == RPC_DENY_VERSION) {
		xdr_put_u32(&x, 0); /* RPC_MISMATCH */
		xdr_put_u32(&x, RPC_MSG_VERSION);
		xdr_put_u32(&x, RPC_MSG_VERSION);
	} else {
		xdr_put_u32(&x, 1); /* AUTH_ERROR */
		xdr_put_u32(&x, deny == RPC_DENY_BADVERF	? RPC_AUTH_BADVERF
				: deny == RPC_DENY_REJECTEDCRED ? RPC_AUTH_REJECTEDCRED
								: RPC_AUTH_BADCRED);
	}
	return end - len;
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
	uint32_t type, reply_stat, accept, n;

	memset(h, 0, sizeof(*h));
	h->stat = RPC_BAD_REPLY;
	h->xid = xdr_get_u32(x);
	type = xdr_get_u32(x);
	reply_stat = xdr_get_u32(x);
	if (!xdr_in_ok(x) || type != RPC_MSG_REPLY || reply_stat > 1)
		return -EPROTO;
	if (reply_stat == 1)
		return get_denied(x, h);
	xdr_get_u32(x); /* the verifier: AUTH_NONE and AUTH_SYS prove nothing by it */
	xdr_get_opaque(x, RPC_MSG_MAX_AUTH, &n);
	accept = xdr_get_u32(x);
	if (accept == RPC_ACCEPT_PROG_MISMATCH) {
		h->mismatch_low = xdr_get_u32(x);
		h->mismatch_high = xdr_get_u32(x);
	}
	if (!xdr_in_ok(x) || accept >= sizeof(stats) / sizeof(stats[0]))
		return -EPROTO;
	h->stat = stats[accept];
	return accept == RPC_ACCEPT_SUCCESS ? 0 : -EPROTO;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_auth_sys: AUTH_SYS (RFC 5531 appendix A): the caller names itself, without proof. So neither
 * side looks at a verifier.
 */
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "transport/rpc/rpc_auth.h"

#define MACHINE_MAX 63 /* bytes of our own machinename; keeps the header below RPC_MSG_MAX_CALL */

_Static_assert(RPC_MSG_CALL_HEAD + 8 + 4 + 4 + MACHINE_MAX + 1 + 8 + 4 + 4 * RPC_MAX_GIDS + 8 <=
		       RPC_MSG_MAX_CALL,
	"the largest call header fits its bound");

static char own_name[HOST_NAME_MAX + 1]; /* of which MACHINE_MAX bytes are sent */
static pthread_once_t own_name_once = PTHREAD_ONCE_INIT;

static void find_own_name(void)
{
	if (gethostname(own_name, sizeof(own_name)) < 0 || !own_name[0])
		strcpy(own_name, "localhost");
}

static const char *machine_name(const char *given, uint32_t *len)
{
	if (!given) {
		pthread_once(&own_name_once, find_own_name);
		given = own_name;
	}
	*len = strnlen(given, MACHINE_MAX);
	return given;
}

static uint32_t groups_of(const struct rpc_cred *cred)
{
	return cred->ngids < RPC_MAX_GIDS ? cred->ngids : RPC_MAX_GIDS;
}

uint32_t rpc_auth_sys_size(const struct rpc_cred *cred, const char *machine)
{
	uint32_t n;

	machine_name(machine, &n);
	return 4 + 4 + n + xdr_pad(n) + 4 + 4 + 4 + 4 * groups_of(cred);
}

void rpc_auth_sys_put_parms(
	struct xdr_out *x, const struct rpc_cred *cred, const char *machine, uint32_t len)
{
	uint32_t n = groups_of(cred);

	xdr_put_u32(x, 0); /* stamp: without meaning */
	xdr_put_opaque(x, machine, len);
	xdr_put_u32(x, cred->uid);
	xdr_put_u32(x, cred->gid);
	xdr_put_u32(x, n);
	for (uint32_t i = 0; i < n; i++)
		xdr_put_u32(x, cred->gids[i]);
}

void rpc_auth_sys_get_parms(
	struct xdr_in *x, struct rpc_cred *cred, const char **machine, uint32_t *len)
{
	xdr_get_u32(x); /* stamp */
	*machine = (const char *)xdr_get_opaque(x, RPC_MSG_MAX_NAME, len);
	cred->flavor = RPC_AUTH_SYS;
	cred->uid = xdr_get_u32(x);
	cred->gid = xdr_get_u32(x);
	cred->ngids = xdr_get_count(x, RPC_MAX_GIDS, 4);
	for (uint32_t i = 0; i < cred->ngids; i++)
		cred->gids[i] = xdr_get_u32(x);
}

void rpc_auth_sys_put(struct xdr_out *x, const struct rpc_cred *cred, const char *machine)
{
	uint32_t n;

	machine = machine_name(machine, &n);
	rpc_auth_sys_put_parms(x, cred, machine, n);
}

bool rpc_auth_sys_get(const struct rpc_opaque_auth *body, struct rpc_cred *cred)
{
	const char *machine;
	struct xdr_in x;
	uint32_t n;

	xdr_in_init(&x, body->body, body->len);
	rpc_auth_sys_get_parms(&x, cred, &machine, &n);
	return xdr_in_done(&x);
}

static uint32_t sys_room(const struct rpc_auth *a, const struct rpc_call *call)
{
	return 8 + rpc_auth_sys_size(&call->cred, NULL) + 8;
}

static int sys_marshal(struct rpc_auth *a, struct rpc_call *call, struct xdr_out *x)
{
	static const struct rpc_opaque_auth verf = {.flavor = RPC_AUTH_NONE};

	xdr_put_u32(x, RPC_AUTH_SYS);
	xdr_put_u32(x, rpc_auth_sys_size(&call->cred, NULL));
	rpc_auth_sys_put(x, &call->cred, NULL);
	rpc_msg_put_auth(x, &verf);
	return 0;
}

static enum rpc_verdict sys_accept(
	struct rpc_auth *a, struct rpc_req *req, const struct rpc_call_hdr *h, const uint8_t *msg)
{
	if (rpc_auth_sys_get(&h->cred, &req->cred))
		return RPC_VERDICT_ACCEPT;
	req->auth_stat = RPC_AUTH_BADCRED;
	return RPC_VERDICT_REJECT;
}

static const struct rpc_auth_ops sys_ops = {
	.flavor = RPC_AUTH_SYS,
	.room = sys_room,
	.marshal = sys_marshal,
	.accept = sys_accept,
};

struct rpc_auth rpc_auth_sys = {.ops = &sys_ops};

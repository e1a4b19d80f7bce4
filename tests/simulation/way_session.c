/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * way_session: small limits of sessions, servers that forget answers, and servers that ask for more
 * or fewer slots.
 */
#include "contrib/serve/state/answers.h"
#include "contrib/serve/state/session_create.h"
#include "nfsproto/wire/nfs4_xdr.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"

uint32_t __real_session_create(struct state *s, struct rpc_xprt *x, const struct rpc_cred *cred,
	const struct nfs4_create_session_args *a, struct nfs4_create_session_res *r,
	struct session **out);
void __real_nfs4_put_sequence_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_sequence_res *r);

struct answers *__real_answers_new(const char *path);

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Other servers keep no answers over a restart. */
struct answers *__wrap_answers_new(const char *path)
{
	return ways.forgets ? NULL : __real_answers_new(path);
}

uint32_t __wrap_session_create(struct state *s, struct rpc_xprt *x, const struct rpc_cred *cred,
	const struct nfs4_create_session_args *args, struct nfs4_create_session_res *r,
	struct session **out)
{
	struct nfs4_create_session_args a = *args;

	a.fore.maxrequests = least(a.fore.maxrequests, ways.slots);
	a.fore.maxoperations = least(a.fore.maxoperations, ways.ops);
	a.fore.maxrequestsize = least(a.fore.maxrequestsize, ways.message);
	a.fore.maxresponsesize = least(a.fore.maxresponsesize, ways.message);
	return __real_session_create(s, x, cred, &a, r, out);
}

/* The target is a wish only, and all slots stay. */
void __wrap_nfs4_put_sequence_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_sequence_res *r)
{
	static uint32_t target = UINT32_MAX;
	struct nfs4_sequence_res res = *r;

	if (ways.resize_one_in && sched_once_in(ways.resize_one_in)) {
		target = sched_choose(ways.slots);
		sched_event("the server wants %u as the highest slot", target);
	}
	res.target_highest_slotid = least(res.highest_slotid, target);
	__real_nfs4_put_sequence_res(x, status, &res);
}

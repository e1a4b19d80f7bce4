/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_left: locks at the server that no process here knows any more. A former daemon of this
 * mount was killed, or a call was never answered. For the thread of nfs3_nlm.h.
 *
 * A server with a status monitor on the NFS port is told by SM_NOTIFY, and frees all locks of that
 * host. For any server, each owner in nfs3_held's slots has its whole file unlocked, under the
 * owner's number, name and opaque handle. No living process has the same owner. The lock on the
 * mount's file shows that the former daemon has ended. Numbers begin at random, and no LEFT number
 * is used again. No other mount has the name. A server that knows hosts by address (Linux) goes by
 * address, number and file, so other mounts of this machine keep their locks.
 *
 * A LOCK may still be under way when the former daemon is killed. If the LOCK reaches the server
 * after the UNLOCK, on another connection, the lock stays.
 */
#include "nfsproto/v3/nfs3_nlm_left.h"

#include "nfsproto/v3/nfs3_nlm_call.h"
#include "transport/clock.h"
#include "transport/log.h"

#define AGAIN_NS  UINT64_C(1000000000) /* doubled each time */
#define TRIES_MAX 4u		       /* attempts */

enum verdict { FREED, REFUSED, LATER, NO_ANSWER };

bool nfs3_nlm_has_left(const struct nfs3_nlm *n)
{
	return n->nsm.former || n->held.left;
}

static enum verdict unlock_all(struct nfs3_client *c, const struct nfs3_held_owner *o)
{
	struct nfs3_lock_ctx ctx = {.fh = o->fh, .svid = o->svid, .cred = o->cred};
	struct nfs3_nlm_answer a;

	if (nfs3_nlm_connect(c) != NFS3_NLM_DONE)
		return NO_ANSWER;
	a = nfs3_nlm_unlock(c, &ctx, 0, UINT64_MAX);
	switch (a.what) {
	case NFS3_NLM_DONE:
		return FREED;
	case NFS3_NLM_GRACE:
		return LATER;
	case NFS3_NLM_REFUSED:
		if (a.status == NLM4_DENIED_NOLOCKS)
			return LATER;
		if (a.status == NLM4_STALE_FH) /* no client can hold a lock on a deleted file */
			return FREED;
		break;
	case NFS3_NLM_ABSENT:
	case NFS3_NLM_UNREACHABLE:
	case NFS3_NLM_SILENT:
	case NFS3_NLM_STOPPED:
		return NO_ANSWER;
	case NFS3_NLM_DENIED:
	case NFS3_NLM_BROKEN:
		break;
	}
	log_warn("%s: a lock that an earlier daemon of this mount, or a call without an answer, "
		 "left there cannot be freed: %s",
		c->server, nfs3_nlm_why(&a));
	return REFUSED;
}

/* False: some were not decided. */
static bool unlock_left(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	struct nfs3_held_owner o;
	enum verdict v;
	unsigned freed = 0;
	uint32_t i = 0;
	bool all = true;

	while ((i = nfs3_held_next_left(&n->held, i, &o))) {
		v = unlock_all(c, &o);
		if (v == NO_ANSWER || nfs3_nlm_gave_up(n)) {
			all = false;
			break;
		}
		freed += v == FREED;
		all &= v != LATER;
		if (v != LATER)
			nfs3_held_strike(&n->held, i);
	}
	if (freed)
		log_info("%s: freed what was left locked there (owners: %u)", c->server, freed);
	return all;
}

void nfs3_nlm_free_left(struct nfs3_client *c)
{
	struct nfs3_nlm *n = c->nlm;
	enum nfs3_nlm_what told = n->nsm.former ? nfs3_nlm_notify(c) : NFS3_NLM_DONE;
	bool all;

	if (told == NFS3_NLM_DONE || told == NFS3_NLM_ABSENT)
		n->nsm.former = false;
	all = unlock_left(c);
	if (all && !n->nsm.former) {
		n->left_tries = 0;
		n->left_ns = 0;
		return;
	}
	n->left_ns = clock_ns() + (AGAIN_NS << n->left_tries);
	n->left_tries += n->left_tries < TRIES_MAX;
}

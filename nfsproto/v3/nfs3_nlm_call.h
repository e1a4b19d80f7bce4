/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_call: finding a server's lock manager, and calls to it. For the thread of nfs3_nlm.h;
 * all block, until c->nlm->stop is set at the longest.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_CALL_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_CALL_H

#include "nfsproto/v3/nfs3_nlm_state.h"
#include "nfsproto/wire/nlm4_xdr.h"

#define NFS3_NLM_OH_SIZE 24

/* What a call came to. */
enum nfs3_nlm_what {
	NFS3_NLM_DONE,	      /* it was granted, or there was nothing to grant */
	NFS3_NLM_DENIED,      /* somebody else's lock is in the way */
	NFS3_NLM_GRACE,	      /* the lock manager takes nothing but reclaims now */
	NFS3_NLM_REFUSED,     /* it says no for another reason: status */
	NFS3_NLM_ABSENT,      /* there is no lock manager: nothing was carried out */
	NFS3_NLM_UNREACHABLE, /* there is no connection, and none can be made now: likewise */
	NFS3_NLM_SILENT,      /* no answer in time: it may have been carried out */
	NFS3_NLM_STOPPED,     /* c->nlm->stop was set: likewise */
	NFS3_NLM_BROKEN,      /* an answer that is none, or no memory: nobody knows */
};

struct nfs3_nlm_answer {
	enum nfs3_nlm_what what;
	int error;	 /* what whoever asked hears: 0 or a negative errno */
	uint32_t status; /* enum nlm4_status, if the lock manager has answered */
};

/* For the log. */
const char *nfs3_nlm_why(const struct nfs3_nlm_answer *a);
/* Has the lock manager said neither yes nor no? */
static inline bool nfs3_nlm_undecided(const struct nfs3_nlm_answer *a)
{
	return a->what == NFS3_NLM_GRACE || a->what > NFS3_NLM_ABSENT;
}
/* May it have been carried out without an answer? */
static inline bool nfs3_nlm_unknown(const struct nfs3_nlm_answer *a)
{
	return a->what == NFS3_NLM_SILENT || a->what == NFS3_NLM_STOPPED;
}

struct nfs3_nlm_holder {
	struct nlm4_holder h;
	uint8_t oh[NFS3_NLM_OH_SIZE]; /* h.oh, if it fits; else of length 0 */
};

/* Connects unless there is a connection. The lock manager is looked for on the NFS port if MOUNT
 * was found there, else at the portmapper. DONE; ABSENT: none can be reached, which is logged;
 * STOPPED, also when somebody who waits was cancelled meanwhile. */
enum nfs3_nlm_what nfs3_nlm_connect(struct nfs3_client *c);

/* Both note in ctx, and the first in nfs3_held, what the server may hold. */
struct nfs3_nlm_answer nfs3_nlm_lock(struct nfs3_client *c, struct nfs3_lock_ctx *ctx,
	uint64_t start, uint64_t end, bool write, bool reclaim);
struct nfs3_nlm_answer nfs3_nlm_unlock(
	struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end);
/* *holder is set with DENIED. */
struct nfs3_nlm_answer nfs3_nlm_test(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx,
	uint64_t start, uint64_t end, bool write, struct nfs3_nlm_holder *holder);
/* Is it there and answers? DONE, or why not. */
enum nfs3_nlm_what nfs3_nlm_ping(struct nfs3_client *c);

/* Tells the server that the former daemon of this mount has ended (SM_NOTIFY). Only one that has a
 * status monitor on the NFS port: others know hosts by their address alone, and would free the
 * locks of all that live at it. DONE; ABSENT: it cannot be told; or another. */
enum nfs3_nlm_what nfs3_nlm_notify(struct nfs3_client *c);

/* The opaque handle of ctx's owner, without a NUL; its length. */
uint32_t nfs3_nlm_oh(
	const struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, char buf[NFS3_NLM_OH_SIZE]);

#endif

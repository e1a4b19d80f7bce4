/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_call: finds a server's lock manager, and calls it. For the thread of nfs3_nlm.h. All
 * functions block, until c->nlm->stop is set at the longest.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_CALL_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_CALL_H

#include "nfsproto/v3/nfs3_nlm_state.h"
#include "nfsproto/wire/nlm4_xdr.h"

#define NFS3_NLM_OH_SIZE 24

/* The outcome of a call. */
enum nfs3_nlm_what {
	NFS3_NLM_DONE,	      /* granted, or nothing to grant */
	NFS3_NLM_DENIED,      /* another owner's lock conflicts */
	NFS3_NLM_GRACE,	      /* the lock manager accepts only reclaims now */
	NFS3_NLM_REFUSED,     /* the lock manager refuses for another reason: status */
	NFS3_NLM_ABSENT,      /* there is no lock manager: the call was not executed */
	NFS3_NLM_UNREACHABLE, /* there is no connection, and none can be made now: not executed */
	NFS3_NLM_SILENT,      /* no answer in time: the call may have been executed */
	NFS3_NLM_STOPPED,     /* c->nlm->stop was set: the call may have been executed */
	NFS3_NLM_BROKEN,      /* an invalid answer, or no memory: the effect is unknown */
};

struct nfs3_nlm_answer {
	enum nfs3_nlm_what what;
	int error;	 /* for the caller: 0 or a negative errno */
	uint32_t status; /* enum nlm4_status, if the lock manager has answered */
};

/* For the log. */
const char *nfs3_nlm_why(const struct nfs3_nlm_answer *a);
/* Is the lock manager's decision still open? */
static inline bool nfs3_nlm_undecided(const struct nfs3_nlm_answer *a)
{
	return a->what == NFS3_NLM_GRACE || a->what > NFS3_NLM_ABSENT;
}
/* May the call have been executed without an answer? */
static inline bool nfs3_nlm_unknown(const struct nfs3_nlm_answer *a)
{
	return a->what == NFS3_NLM_SILENT || a->what == NFS3_NLM_STOPPED;
}

struct nfs3_nlm_holder {
	struct nlm4_holder h;
	uint8_t oh[NFS3_NLM_OH_SIZE]; /* h.oh, if there is room; otherwise h.oh has length 0 */
};

/* Connects unless there is a connection. Looks for the lock manager on the NFS port if MOUNT was
 * found there, otherwise at the portmapper. DONE; ABSENT: none can be reached, which is logged;
 * UNREACHABLE: none was reached yet, and the server does not answer; STOPPED, also if a waiting op
 * was cancelled meanwhile. */
enum nfs3_nlm_what nfs3_nlm_connect(struct nfs3_client *c);

/* Both note in ctx which locks the server may hold. The first also notes the owner in nfs3_held. */
struct nfs3_nlm_answer nfs3_nlm_lock(struct nfs3_client *c, struct nfs3_lock_ctx *ctx,
	uint64_t start, uint64_t end, bool write, bool reclaim);
struct nfs3_nlm_answer nfs3_nlm_unlock(
	struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end);
/* *holder is set with DENIED. */
struct nfs3_nlm_answer nfs3_nlm_test(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx,
	uint64_t start, uint64_t end, bool write, struct nfs3_nlm_holder *holder);
/* Does the lock manager answer? DONE, or the reason. */
enum nfs3_nlm_what nfs3_nlm_ping(struct nfs3_client *c);

/* Tells the server that the former daemon of this mount has ended (SM_NOTIFY), if the status
 * monitor is on the NFS port. Other servers are not told: such a server knows hosts by address
 * alone, and would free all locks of this address. DONE; ABSENT: the server cannot be told; or
 * another. */
enum nfs3_nlm_what nfs3_nlm_notify(struct nfs3_client *c);

/* The opaque handle of ctx's owner, without a NUL; its length. */
uint32_t nfs3_nlm_oh(
	const struct nfs3_client *c, const struct nfs3_lock_ctx *ctx, char buf[NFS3_NLM_OH_SIZE]);

#endif

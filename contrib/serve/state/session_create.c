/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * session_create: CREATE_SESSION: limits the new session, and makes room for it.
 */
#include "contrib/serve/state/session_create.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/client_id.h"
#include "transport/clock.h"

#define RES_MIN	 256u /* least maxrequestsize and maxresponsesize, in bytes */
#define BACK_MIN 512u /* least bytes of a callback, and of its reply */

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t cached_max(const struct nfs4_channel_attrs *f)
{
	return f->maxresponsesize_cached > STATE_MIN_CACHED ? f->maxresponsesize_cached
							    : STATE_MIN_CACHED;
}

static uint32_t slot_bytes(const struct nfs4_channel_attrs *f)
{
	return cached_max(f) + (uint32_t)sizeof(struct slot);
}

/* Limits the slots of a new session to an eighth of the holder's remaining memory for replies. One
 * slot is always given as long as there is room. */
static void limit_cache(struct state *s, struct client *c, struct nfs4_channel_attrs *f)
{
	uint32_t used = atomic_load_explicit(&s->cache_used, memory_order_relaxed);
	uint32_t all = used < STATE_MAX_CACHE ? STATE_MAX_CACHE - used : 0;
	uint32_t left = min32(all, (uint32_t)share_room(&s->share, c->holder, SHARE_CACHE));
	uint32_t most = left / 8 / slot_bytes(f);

	if (most == 0)
		most = left >= slot_bytes(f);
	f->maxrequests = min32(f->maxrequests, most);
}

/* Are the requested limits large enough to be useful? */
static uint32_t check_channels(const struct nfs4_create_session_args *a)
{
	const struct nfs4_channel_attrs *f = &a->fore, *b = &a->back;

	if (f->maxoperations == 0 || f->maxrequests == 0)
		return NFS4ERR_INVAL;
	if (f->maxrequestsize < RES_MIN || f->maxresponsesize < RES_MIN)
		return NFS4ERR_TOOSMALL;
	/* a backchannel needs room for CB_SEQUENCE and one operation */
	if (b->maxrequests && (b->maxrequestsize < BACK_MIN || b->maxresponsesize < BACK_MIN ||
				      b->maxoperations < 2))
		return NFS4ERR_TOOSMALL;
	return NFS4_OK;
}

static uint32_t clamp_channels(struct state *s, struct client *c,
	const struct nfs4_create_session_args *a, struct nfs4_create_session_res *r)
{
	const struct nfs4_channel_attrs *f = &a->fore;

	r->fore = (struct nfs4_channel_attrs){
		.maxrequestsize = min32(f->maxrequestsize, STATE_MAX_MSG),
		.maxresponsesize = min32(f->maxresponsesize, STATE_MAX_MSG),
		.maxresponsesize_cached = min32(f->maxresponsesize_cached, STATE_MAX_CACHED),
		.maxoperations = min32(f->maxoperations, STATE_MAX_OPS),
		.maxrequests = min32(f->maxrequests, STATE_MAX_SLOTS),
	};
	limit_cache(s, c, &r->fore);
	if (r->fore.maxrequests == 0)
		return NFS4ERR_NOSPC;
	r->back = a->back;
	r->back.headerpadsize = 0;
	r->back.have_rdma_ird = false;
	r->back.maxrequestsize = min32(a->back.maxrequestsize, 4096);
	r->back.maxresponsesize = min32(a->back.maxresponsesize, 4096);
	r->back.maxresponsesize_cached = min32(a->back.maxresponsesize_cached, 4096);
	r->back.maxrequests = min32(a->back.maxrequests, 1);
	r->back.maxoperations = min32(a->back.maxoperations, 2);
	return NFS4_OK;
}

static struct session *session_new(struct client *c, const struct nfs4_create_session_args *a,
	const struct nfs4_create_session_res *r)
{
	struct session *ses = calloc(1, sizeof(*ses));

	if (!ses)
		return NULL;
	mutex_init(&ses->lock);
	ses->slots = calloc(r->fore.maxrequests, sizeof(*ses->slots));
	if (!ses->slots) {
		free(ses);
		return NULL;
	}
	ses->id = r->session;
	ses->client = c;
	ses->fore = r->fore;
	ses->back = r->back;
	ses->cached_max = cached_max(&r->fore);
	ses->reserved = slot_bytes(&r->fore) * r->fore.maxrequests;
	ses->refs = 1;
	ses->minor = 1;
	STAILQ_INIT(&ses->notices);
	ses->cb_prog = a->cb_program;
	for (uint32_t i = 0; i < a->nsec; i++) {
		if (a->sec[i].flavor == NFS4_AUTH_SYS) {
			ses->cb_cred = a->sec[i].sys;
			ses->cb_cred.flavor = RPC_AUTH_SYS;
			break;
		}
	}
	return ses;
}

/* A peer that knows a session's ID can use the session (SP4_NONE), so the whole ID is random. */
static bool make_id(struct nfs4_sessionid *id)
{
	return getrandom(id->id, sizeof(id->id), 0) == (ssize_t)sizeof(id->id);
}

/* Section 18.36.4: is the sequence ID of a new request, of a replay, or wrong? */
static uint32_t check_seq(struct client *c, const struct nfs4_create_session_args *a,
	struct nfs4_create_session_res *r, bool *replay)
{
	*replay = false;
	if (a->sequence == c->seq)
		return NFS4_OK;
	if (a->sequence + 1 != c->seq || c->seq == 1)
		return NFS4ERR_SEQ_MISORDERED;
	*replay = true;
	*r = c->cs_res;
	return c->cs_status;
}

static uint32_t create_locked(struct state *s, struct client *c,
	const struct nfs4_create_session_args *a, struct nfs4_create_session_res *r,
	struct session **out) REQUIRES(s->lock)
{
	uint32_t status = clamp_channels(s, c, a, r);
	struct session *ses;

	if (status != NFS4_OK)
		return status;
	if (c->nsessions >= STATE_MAX_SESSIONS || s->nsessions >= STATE_MAX_ALL)
		return NFS4ERR_NOSPC;
	ses = make_id(&r->session) ? session_new(c, a, r) : NULL;
	if (!ses)
		return NFS4ERR_SERVERFAULT;
	atomic_fetch_add_explicit(&s->cache_used, ses->reserved, memory_order_relaxed);
	share_force(&s->share, c->holder, SHARE_CACHE, ses->reserved);
	session_link_locked(s, c, ses);
	*out = ses;
	return NFS4_OK;
}

/* Is less than 1/64 of the memory for replies left in the share of the client's holder? Then a
 * session would get few slots. */
static bool own_cache_is_short(struct state *s, uint64_t clientid)
{
	struct client *c;
	bool is_short = false;

	mutex_lock(&s->lock);
	c = client_find_locked(s, clientid);
	if (c) {
		is_short = share_room(&s->share, c->holder, SHARE_CACHE) < STATE_MAX_CACHE / 64;
		c->refs--; /* not the last reference: the table has one */
	}
	mutex_unlock(&s->lock);
	return is_short;
}

uint32_t session_create(struct state *s, struct rpc_xprt *x, const struct rpc_cred *cred,
	const struct nfs4_create_session_args *a, struct nfs4_create_session_res *r,
	struct session **out)
{
	struct session *ses = NULL;
	struct client *c, *old = NULL;
	bool replay = false;
	uint32_t status;

	*out = NULL;
	if (a->flags & ~(CREATE_SESSION4_FLAG_PERSIST | CREATE_SESSION4_FLAG_CONN_BACK_CHAN |
			       CREATE_SESSION4_FLAG_CONN_RDMA))
		return NFS4ERR_INVAL;
	status = check_channels(a); /* before the sequence ID: the client may send a better request
				       with the same one */
	if (status != NFS4_OK)
		return status;
	while (atomic_load_explicit(&s->cache_used, memory_order_relaxed) > STATE_MAX_CACHE / 2 &&
		client_evict_one(s, a->clientid))
		; /* expired clients make room */
	while (own_cache_is_short(s, a->clientid) && client_evict_own(s, a->clientid))
		; /* so do clients of the same holder without state */
	mutex_lock(&s->lock);
	c = client_find_locked(s, a->clientid);
	if (!c) {
		mutex_unlock(&s->lock);
		return NFS4ERR_STALE_CLIENTID;
	}
	/* before the sequence ID, so that only the same principal gets a replay */
	status = client_same_principal(&c->cred, cred) ? check_seq(c, a, r, &replay)
						       : NFS4ERR_CLID_INUSE;
	if (status == NFS4_OK && !replay) {
		memset(r, 0, sizeof(*r));
		status = create_locked(s, c, a, r, &ses);
		r->sequence = a->sequence;
		r->flags = x ? a->flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN : 0;
		if (status == NFS4_OK)
			old = client_confirm_locked(s, c);
		c->seq++;
		c->cs_status = status;
		c->cs_res = *r;
		atomic_store_explicit(&c->seen_ns, clock_coarse_ns(), memory_order_relaxed);
	}
	if (ses)
		session_ref(ses);
	mutex_unlock(&s->lock);
	if (old)
		client_dispose(s, old);
	if (ses && r->flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN) {
		mutex_lock(&ses->lock);
		ses->cb_wanted = true;
		mutex_unlock(&ses->lock);
		session_set_back(ses, x);
	}
	client_unref(s, c);
	*out = ses;
	return status;
}

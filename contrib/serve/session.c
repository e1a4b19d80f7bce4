/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * session: sessions and their slots (RFC 8881 sections 2.10, 18.36, 18.37, 18.46).
 *
 * A slot holds the sequence number of its last request and, unless that was large or carried
 * payload, the whole answer: a request that arrives again (after a reconnect) is answered from
 * there and not carried out again. The slot also holds a print of the request, which tells another
 * request under the same number (NFS4ERR_SEQ_FALSE_RETRY, section 2.10.6.1.3.1).
 */
#include "contrib/serve/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "contrib/serve/serve.h"
#include "transport/log.h"

#define RES_MIN	 256u /* bytes of a reply that we insist on being allowed */
#define BACK_MIN 512u /* bytes of a callback, and of its reply */

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

/* A session gets at most an eighth of what is left for replies, but a slot as long as there is
 * room for one. state->lock. */
static void limit_cache(struct state *s, struct nfs4_channel_attrs *f)
{
	uint32_t used = __atomic_load_n(&s->cache_used, __ATOMIC_RELAXED);
	uint32_t left = used < STATE_MAX_CACHE ? STATE_MAX_CACHE - used : 0;
	uint32_t most = left / 8 / slot_bytes(f);

	if (most == 0)
		most = left >= slot_bytes(f);
	f->maxrequests = min32(f->maxrequests, most);
}

/* What is asked for may be too little to be of use. */
static uint32_t check_channels(const struct nfs4_create_session_args *a)
{
	const struct nfs4_channel_attrs *f = &a->fore, *b = &a->back;

	if (f->maxoperations == 0 || f->maxrequests == 0)
		return NFS4ERR_INVAL;
	if (f->maxrequestsize < RES_MIN || f->maxresponsesize < RES_MIN)
		return NFS4ERR_TOOSMALL;
	/* CB_SEQUENCE and one operation must fit, or it is no backchannel */
	if (b->maxrequests && (b->maxrequestsize < BACK_MIN || b->maxresponsesize < BACK_MIN ||
				      b->maxoperations < 2))
		return NFS4ERR_TOOSMALL;
	return NFS4_OK;
}

static uint32_t clamp_channels(struct state *s, const struct nfs4_create_session_args *a,
	struct nfs4_create_session_res *r)
{
	const struct nfs4_channel_attrs *f = &a->fore;

	r->fore = (struct nfs4_channel_attrs){
		.maxrequestsize = min32(f->maxrequestsize, SERVE_MSG_MAX),
		.maxresponsesize = min32(f->maxresponsesize, SERVE_MSG_MAX),
		.maxresponsesize_cached = min32(f->maxresponsesize_cached, STATE_MAX_CACHED),
		.maxoperations = min32(f->maxoperations, STATE_MAX_OPS),
		.maxrequests = min32(f->maxrequests, STATE_MAX_SLOTS),
	};
	limit_cache(s, &r->fore);
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
	ses->slots = calloc(r->fore.maxrequests, sizeof(*ses->slots));
	if (!ses->slots) {
		free(ses);
		return NULL;
	}
	pthread_mutex_init(&ses->lock, NULL);
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

static void session_free(struct session *ses)
{
	struct notice *n;

	while ((n = STAILQ_FIRST(&ses->notices)) != NULL) {
		STAILQ_REMOVE_HEAD(&ses->notices, link);
		free(n);
	}
	for (uint32_t i = 0; i < ses->fore.maxrequests; i++)
		free(ses->slots[i].reply);
	rpc_xprt_unref(ses->cb_xprt); /* bound while the session was being destroyed */
	free(ses->slots);
	pthread_mutex_destroy(&ses->lock);
	free(ses);
}

/* Whoever knows a session's ID can use it (SP4_NONE): all of it is beyond guessing. */
static bool make_id(struct nfs4_sessionid *id)
{
	return getrandom(id->id, sizeof(id->id), 0) == (ssize_t)sizeof(id->id);
}

static unsigned bucket(const struct nfs4_sessionid *id)
{
	uint32_t n;

	memcpy(&n, id->id + 12, 4);
	return n % STATE_BUCKETS;
}

static void session_ref(struct session *ses)
{
	__atomic_add_fetch(&ses->refs, 1, __ATOMIC_RELAXED);
}

void session_unlink_locked(struct state *s, struct session *ses)
{
	TAILQ_REMOVE(&s->sessions, ses, link);
	s->nsessions--;
	ses->dead = true;
	pthread_rwlock_wrlock(&s->index_lock);
	LIST_REMOVE(ses, index_link);
	pthread_rwlock_unlock(&s->index_lock);
}

/* Section 18.36.4: the sequence ID decides whether this is new, a replay, or wrong. state->lock. */
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
	struct session **out)
{
	uint32_t status = clamp_channels(s, a, r);
	struct session *ses;

	if (status != NFS4_OK)
		return status;
	if (c->nsessions >= STATE_MAX_SESSIONS || s->nsessions >= STATE_MAX_ALL)
		return NFS4ERR_NOSPC;
	ses = make_id(&r->session) ? session_new(c, a, r) : NULL;
	if (!ses)
		return NFS4ERR_SERVERFAULT;
	__atomic_add_fetch(&s->cache_used, ses->reserved, __ATOMIC_RELAXED);
	c->refs++;
	TAILQ_INSERT_HEAD(&s->sessions, ses, link);
	pthread_rwlock_wrlock(&s->index_lock);
	LIST_INSERT_HEAD(&s->index[bucket(&ses->id)], ses, index_link);
	pthread_rwlock_unlock(&s->index_lock);
	TAILQ_INSERT_TAIL(&c->sessions, ses, client_link);
	c->nsessions++;
	s->nsessions++;
	*out = ses;
	return NFS4_OK;
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
	status = check_channels(a); /* before the sequence ID: it can be asked for again, better */
	if (status != NFS4_OK)
		return status;
	while (__atomic_load_n(&s->cache_used, __ATOMIC_RELAXED) > STATE_MAX_CACHE / 2 &&
		client_evict_one(s, a->clientid))
		; /* those that have gone make room */
	pthread_mutex_lock(&s->lock);
	c = client_find_locked(s, a->clientid);
	if (!c) {
		pthread_mutex_unlock(&s->lock);
		return NFS4ERR_STALE_CLIENTID;
	}
	/* before the sequence ID, so that a replay too is only told to whom it was told before */
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
		__atomic_store_n(&c->seen_ns, state_now_ns(), __ATOMIC_RELAXED);
	}
	if (ses)
		session_ref(ses);
	pthread_mutex_unlock(&s->lock);
	if (old)
		client_dispose(s, old);
	if (ses && r->flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN) {
		ses->cb_wanted = true;
		session_set_back(ses, x);
	}
	client_unref(s, c);
	*out = ses;
	return status;
}

struct session *session_get(struct state *s, const struct nfs4_sessionid *id)
{
	struct session *ses;

	pthread_rwlock_rdlock(&s->index_lock);
	LIST_FOREACH (ses, &s->index[bucket(id)], index_link)
		if (memcmp(&ses->id, id, sizeof(*id)) == 0)
			break;
	if (ses)
		session_ref(ses); /* the table has one: it is not 0 */
	pthread_rwlock_unlock(&s->index_lock);
	return ses;
}

void session_put(struct state *s, struct session *ses)
{
	if (!ses || __atomic_sub_fetch(&ses->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	client_unref(s, ses->client);
	__atomic_sub_fetch(&s->cache_used, ses->reserved, __ATOMIC_RELAXED);
	session_free(ses);
}

uint32_t session_destroy(
	struct state *s, const struct rpc_cred *cred, const struct nfs4_sessionid *id)
{
	uint32_t status = NFS4ERR_BADSESSION;
	struct session *ses;

	pthread_mutex_lock(&s->lock);
	TAILQ_FOREACH (ses, &s->sessions, link)
		if (memcmp(&ses->id, id, sizeof(*id)) == 0)
			break;
	if (ses && !client_same_principal(&ses->client->cred, cred)) {
		status = NFS4ERR_WRONG_CRED;
		ses = NULL;
	}
	if (ses) {
		session_unlink_locked(s, ses);
		TAILQ_REMOVE(&ses->client->sessions, ses, client_link);
		ses->client->nsessions--;
	}
	pthread_mutex_unlock(&s->lock);
	if (!ses)
		return status;
	session_set_back(ses, NULL);
	session_put(s, ses);
	return NFS4_OK;
}

void session_set_back(struct session *ses, struct rpc_xprt *x)
{
	struct rpc_xprt *old;

	pthread_mutex_lock(&ses->lock);
	old = ses->cb_xprt;
	ses->cb_xprt = x ? rpc_xprt_ref(x) : NULL;
	ses->cb_down = !x;
	pthread_mutex_unlock(&ses->lock);
	if (old)
		rpc_xprt_unref(old);
}

void state_conn_down(struct state *s, struct rpc_xprt *x)
{
	struct session *ses, *hit;

	do {
		hit = NULL;
		pthread_mutex_lock(&s->lock);
		TAILQ_FOREACH (ses, &s->sessions, link) {
			pthread_mutex_lock(&ses->lock);
			if (ses->cb_xprt == x)
				hit = ses;
			pthread_mutex_unlock(&ses->lock);
			if (hit) {
				session_ref(hit);
				break;
			}
		}
		pthread_mutex_unlock(&s->lock);
		if (hit) {
			session_set_back(hit, NULL);
			session_put(s, hit);
		}
	} while (hit);
}

enum slot_verdict slot_begin(struct session *ses, const struct nfs4_sequence_args *a,
	uint32_t *status, struct slot_replay *rep)
{
	enum slot_verdict v = SLOT_ERROR;
	struct slot *sl;

	if (a->slotid >= ses->fore.maxrequests) {
		*status = NFS4ERR_BADSLOT;
		return SLOT_ERROR;
	}
	if (a->highest_slotid >= ses->fore.maxrequests || a->highest_slotid < a->slotid) {
		*status = NFS4ERR_BAD_HIGH_SLOT;
		return SLOT_ERROR;
	}
	pthread_mutex_lock(&ses->lock);
	sl = &ses->slots[a->slotid];
	if (a->sequenceid == sl->seq + 1) {
		if (sl->busy) {
			*status = NFS4ERR_DELAY;
		} else {
			sl->busy = sl->used = true;
			sl->have_reply = false;
			sl->seq = a->sequenceid;
			v = SLOT_RUN;
		}
	} else if (a->sequenceid != sl->seq || !sl->used) {
		*status = NFS4ERR_SEQ_MISORDERED;
	} else if (sl->busy) {
		*status = NFS4ERR_DELAY; /* the first one is still being carried out */
	} else if (!sl->have_reply) {
		*status = NFS4ERR_RETRY_UNCACHED_REP;
	} else {
		rep->reply = malloc(sl->len);
		if (rep->reply) {
			memcpy(rep->reply, sl->reply, sl->len);
			rep->len = sl->len;
			rep->print = sl->print;
			rep->printed = sl->printed;
			v = SLOT_REPLAY;
		} else {
			*status = NFS4ERR_DELAY;
		}
	}
	pthread_mutex_unlock(&ses->lock);
	return v;
}

void slot_done(struct session *ses, uint32_t slotid, const void *reply, uint32_t len,
	uint64_t print, uint32_t printed)
{
	struct slot *sl = &ses->slots[slotid];

	pthread_mutex_lock(&ses->lock);
	sl->busy = false;
	sl->print = print;
	sl->printed = printed;
	if (len > ses->cached_max)
		reply = NULL;
	if (reply && len > sl->cap) {
		uint32_t cap = min32((len + 255) & ~255u, ses->cached_max);
		uint8_t *p = realloc(sl->reply, cap);

		if (p) {
			sl->reply = p;
			sl->cap = cap;
		}
	}
	if (reply && len <= sl->cap) {
		memcpy(sl->reply, reply, len);
		sl->len = len;
		sl->have_reply = true;
	}
	pthread_mutex_unlock(&ses->lock);
}

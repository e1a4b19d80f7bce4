/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * session: sessions and their slots (RFC 8881 sections 2.10, 18.37, 18.46).
 *
 * A slot holds the sequence ID of the last request and, unless the answer was large or had payload,
 * the whole answer. A request that arrives again (after a reconnect) gets the answer from the slot,
 * and is not carried out again. The slot also holds a checksum of the request. So the server
 * recognizes a different request with the same sequence ID (NFS4ERR_SEQ_FALSE_RETRY, section
 * 2.10.6.1.3.1).
 */
#include "contrib/serve/state/session.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"

static unsigned bucket(const struct nfs4_sessionid *id)
{
	uint32_t n;

	memcpy(&n, id->id + 12, 4);
	return n % STATE_BUCKETS;
}

void session_link_locked(struct state *s, struct client *c, struct session *ses) REQUIRES(s->lock)
{
	c->refs++;
	TAILQ_INSERT_HEAD(&s->sessions, ses, link);
	rwlock_wrlock(&s->index_lock);
	LIST_INSERT_HEAD(&s->index[bucket(&ses->id)], ses, index_link);
	rwlock_unlock(&s->index_lock);
	TAILQ_INSERT_TAIL(&c->sessions, ses, client_link);
	c->nsessions++;
	s->nsessions++;
}

void session_ref(struct session *ses)
{
	atomic_fetch_add_explicit(&ses->refs, 1, memory_order_relaxed);
}

void session_unlink_locked(struct state *s, struct session *ses) REQUIRES(s->lock)
{
	TAILQ_REMOVE(&s->sessions, ses, link);
	s->nsessions--;
	ses->dead = true;
	rwlock_wrlock(&s->index_lock);
	LIST_REMOVE(ses, index_link);
	rwlock_unlock(&s->index_lock);
}

static void session_free(struct session *ses)
{
	struct notice *n;

	mutex_destroy(&ses->lock);
	while ((n = STAILQ_FIRST(&ses->notices)) != NULL) {
		STAILQ_REMOVE_HEAD(&ses->notices, link);
		free(n);
	}
	for (uint32_t i = 0; i < ses->fore.maxrequests; i++)
		free(ses->slots[i].reply);
	rpc_xprt_unref(ses->cb_xprt); /* bound during session_destroy() */
	free(ses->slots);
	free(ses);
}

struct session *session_get(struct state *s, const struct nfs4_sessionid *id)
{
	struct session *ses;

	rwlock_rdlock(&s->index_lock);
	LIST_FOREACH (ses, &s->index[bucket(id)], index_link)
		if (memcmp(&ses->id, id, sizeof(*id)) == 0)
			break;
	if (ses)
		session_ref(ses); /* the table has one: the count is not 0 */
	rwlock_unlock(&s->index_lock);
	return ses;
}

struct session *session_with_back(struct state *s, uint64_t clientid)
{
	struct session *ses = NULL;
	struct client *c;
	bool back = false;

	mutex_lock(&s->lock);
	c = client_find_locked(s, clientid);
	if (c) {
		TAILQ_FOREACH (ses, &c->sessions, client_link) {
			mutex_lock(&ses->lock);
			back = ses->cb_xprt && ses->back.maxrequests;
			mutex_unlock(&ses->lock);
			if (back)
				break;
		}
	}
	if (ses)
		session_ref(ses);
	mutex_unlock(&s->lock);
	client_unref(s, c);
	return ses;
}

void session_put(struct state *s, struct session *ses)
{
	if (!ses || atomic_fetch_sub_explicit(&ses->refs, 1, memory_order_acq_rel) > 1)
		return;
	atomic_fetch_sub_explicit(&s->cache_used, ses->reserved, memory_order_relaxed);
	share_give(&s->share, ses->client->holder, SHARE_CACHE, ses->reserved);
	client_unref(s, ses->client);
	session_free(ses);
}

uint32_t session_destroy(
	struct state *s, const struct rpc_cred *cred, const struct nfs4_sessionid *id)
{
	uint32_t status = NFS4ERR_BADSESSION;
	struct session *ses;

	mutex_lock(&s->lock);
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
	mutex_unlock(&s->lock);
	if (!ses)
		return status;
	session_set_back(ses, NULL);
	session_put(s, ses);
	return NFS4_OK;
}

void session_set_back(struct session *ses, struct rpc_xprt *x)
{
	struct rpc_xprt *old;

	mutex_lock(&ses->lock);
	old = ses->cb_xprt;
	ses->cb_xprt = x ? rpc_xprt_ref(x) : NULL;
	ses->cb_down = !x;
	ses->cb_proved = false;
	mutex_unlock(&ses->lock);
	if (old)
		rpc_xprt_unref(old);
}

bool session_try_back(struct session *ses)
{
	uint64_t now = clock_coarse_ns();
	bool again;

	mutex_lock(&ses->lock);
	again = ses->cb_wanted && ses->cb_xprt && !ses->cb_down && !ses->cb_proved &&
		!ses->cb_busy && clock_age(now, ses->cb_again_ns) > NSEC_PER_SEC;
	if (again)
		ses->cb_again_ns = now;
	mutex_unlock(&ses->lock);
	return again;
}

void session_conn_down(struct state *s, struct rpc_xprt *x)
{
	struct session *ses, *hit;

	do {
		hit = NULL;
		mutex_lock(&s->lock);
		TAILQ_FOREACH (ses, &s->sessions, link) {
			mutex_lock(&ses->lock);
			if (ses->cb_xprt == x)
				hit = ses;
			mutex_unlock(&ses->lock);
			if (hit) {
				session_ref(hit);
				break;
			}
		}
		mutex_unlock(&s->lock);
		if (hit) {
			session_set_back(hit, NULL);
			session_put(s, hit);
		}
	} while (hit);
}

static uint32_t flags_locked(const struct session *ses) REQUIRES(ses->lock)
{
	if (!ses->cb_wanted || !ses->cb_down)
		return 0;
	return ses->cb_xprt ? SEQ4_STATUS_CB_PATH_DOWN
			    : SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION;
}

enum slot_verdict slot_begin(struct session *ses, const struct nfs4_sequence_args *a,
	uint32_t *status, uint32_t *flags, struct slot_replay *rep)
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
	mutex_lock(&ses->lock);
	sl = &ses->slots[a->slotid];
	if (a->sequenceid == sl->seq + 1) {
		/* allocated before the request runs, so that the reply can be kept */
		if (!sl->reply)
			sl->reply = malloc(ses->cached_max);
		if (sl->busy || !sl->reply) {
			*status = NFS4ERR_DELAY;
		} else {
			sl->busy = sl->used = true;
			sl->have_reply = false;
			sl->seq = a->sequenceid;
			*flags = flags_locked(ses);
			v = SLOT_RUN;
		}
	} else if (a->sequenceid != sl->seq || !sl->used) {
		*status = NFS4ERR_SEQ_MISORDERED;
	} else if (sl->busy) {
		*status = NFS4ERR_DELAY; /* the first request is still running */
	} else if (!sl->have_reply) {
		*status = NFS4ERR_RETRY_UNCACHED_REP;
	} else {
		rep->reply = malloc(sl->len);
		if (rep->reply) {
			memcpy(rep->reply, sl->reply, sl->len);
			rep->len = sl->len;
			rep->sum = sl->sum;
			rep->summed = sl->summed;
			v = SLOT_REPLAY;
		} else {
			*status = NFS4ERR_DELAY;
		}
	}
	mutex_unlock(&ses->lock);
	return v;
}

void slot_done(struct session *ses, uint32_t slotid, const void *reply, uint32_t len, uint64_t sum,
	uint32_t summed)
{
	struct slot *sl;

	mutex_lock(&ses->lock);
	sl = &ses->slots[slotid];
	sl->busy = false;
	sl->sum = sum;
	sl->summed = summed;
	if (reply && len <= ses->cached_max) {
		memcpy(sl->reply, reply, len);
		sl->len = len;
		sl->have_reply = true;
	}
	mutex_unlock(&ses->lock);
}

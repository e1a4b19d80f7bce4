/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * client: client IDs (RFC 8881 sections 2.4, 18.35, 18.50).
 *
 * One owner string has at most two records: a confirmed one, and an unconfirmed one that replaces
 * it when its first session is made (the client restarted, or came back as another principal).
 */
#include "contrib/serve/state.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "contrib/serve/grace.h"
#include "transport/log.h"

#define NS	   1000000000ull
#define COURTESY_S (24 * 3600ull) /* expired clients with opens are kept for so long */

uint64_t state_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

int state_init(struct state *s, struct obj_table *objs, uint32_t lease_s)
{
	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	pthread_rwlock_init(&s->index_lock, NULL);
	TAILQ_INIT(&s->clients);
	TAILQ_INIT(&s->sessions);
	waits_init(&s->waits);
	s->objs = objs;
	s->lease_s = lease_s;
	s->max_opens = (uint32_t)obj_table_opens(objs);
	if (getrandom(&s->boot, sizeof(s->boot), 0) != sizeof(s->boot))
		return -1;
	return 0;
}

void state_finish(struct state *s)
{
	struct client *c;

	for (;;) {
		pthread_mutex_lock(&s->lock);
		c = TAILQ_FIRST(&s->clients);
		if (c)
			client_remove_locked(s, c);
		pthread_mutex_unlock(&s->lock);
		if (!c)
			break;
		client_dispose(s, c);
	}
	waits_finish(&s->waits);
	pthread_rwlock_destroy(&s->index_lock);
	pthread_mutex_destroy(&s->lock);
}

bool client_expired(struct state *s, struct client *c)
{
	uint64_t seen = __atomic_load_n(&c->seen_ns, __ATOMIC_RELAXED);

	return !c->nlm && state_now_ns() > seen + s->lease_s * NS;
}

static struct grace_who who_of(const struct client *c)
{
	return (struct grace_who){c->owner, c->owner_len, &c->cred};
}

uint32_t client_may_claim(struct state *s, struct client *c, bool reclaim)
{
	enum grace_phase phase = grace_phase(s->grace);
	struct grace_who who = who_of(c);
	bool done = __atomic_load_n(&c->reclaim_done, __ATOMIC_ACQUIRE);

	if (!reclaim) /* section 18.51.3: not before its own RECLAIM_COMPLETE either */
		return phase == GRACE_OVER && done ? NFS4_OK : NFS4ERR_GRACE;
	if (phase == GRACE_STARTING)
		return NFS4ERR_DELAY;
	return !done && grace_may_reclaim(s->grace, &who) ? NFS4_OK : NFS4ERR_NO_GRACE;
}

bool client_reclaimed(struct state *s, struct client *c)
{
	struct grace_who who = who_of(c);

	if (__atomic_exchange_n(&c->reclaim_done, true, __ATOMIC_ACQ_REL))
		return false;
	grace_reclaimed(s->grace, &who);
	return true;
}

void client_note(struct state *s, struct client *c)
{
	struct grace_who who = who_of(c);
	bool gone;

	if (__atomic_load_n(&c->noted, __ATOMIC_ACQUIRE))
		return;
	/* two at once: both wait until it is written, the second entry does no harm */
	grace_note(s->grace, &who, c->id);
	__atomic_store_n(&c->noted, true, __ATOMIC_RELEASE);
	pthread_mutex_lock(&s->lock);
	gone = c->gone;
	pthread_mutex_unlock(&s->lock);
	if (gone) /* client_dispose() may have come before the note */
		grace_forget(s->grace, c->id);
}

struct client *client_find_locked(struct state *s, uint64_t clientid)
{
	struct client *c;

	TAILQ_FOREACH (c, &s->clients, link) {
		if (c->id == clientid) {
			c->refs++;
			return c;
		}
	}
	return NULL;
}

void client_unref(struct state *s, struct client *c)
{
	bool last;

	if (!c)
		return;
	pthread_mutex_lock(&s->lock);
	last = --c->refs == 0;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&c->lock);
	free(c->tab);
	free(c->owner);
	free(c);
}

void client_remove_locked(struct state *s, struct client *c)
{
	struct session *ses;

	TAILQ_REMOVE(&s->clients, c, link);
	s->nclients--;
	c->gone = true;
	TAILQ_FOREACH (ses, &c->sessions, client_link) {
		if (!ses->dead)
			session_unlink_locked(s, ses);
	}
}

void client_dispose(struct state *s, struct client *c)
{
	struct session *ses;

	log_ctrl("client %s is forgotten", c->who);
	for (;;) {
		pthread_mutex_lock(&s->lock);
		ses = TAILQ_FIRST(&c->sessions);
		if (ses) {
			TAILQ_REMOVE(&c->sessions, ses, client_link);
			c->nsessions--;
		}
		pthread_mutex_unlock(&s->lock);
		if (!ses)
			break;
		session_set_back(ses, NULL);
		session_put(s, ses);
	}
	pthread_mutex_lock(&c->lock);
	c->ended = true;
	pthread_mutex_unlock(&c->lock);
	st_drop_all(s, c);
	grace_forget(s->grace, c->id);
	client_unref(s, c);
}

static struct client *find_owner(struct state *s, const struct nfs4_opaque *owner, bool confirmed)
{
	struct client *c;

	TAILQ_FOREACH (c, &s->clients, link)
		if (!c->nlm && c->confirmed == confirmed && c->owner_len == owner->len &&
			memcmp(c->owner, owner->data, owner->len) == 0)
			return c;
	return NULL;
}

struct client *client_confirm_locked(struct state *s, struct client *c)
{
	struct nfs4_opaque owner = {c->owner, c->owner_len};
	struct client *old;

	if (c->confirmed)
		return NULL;
	old = find_owner(s, &owner, true);
	if (old)
		client_remove_locked(s, old);
	c->confirmed = true;
	return old;
}

bool client_same_principal(const struct rpc_cred *a, const struct rpc_cred *b)
{
	return a->flavor == b->flavor && (a->flavor != RPC_AUTH_SYS || a->uid == b->uid);
}

static void describe(struct client *c, const char *peer)
{
	int n = snprintf(c->who, sizeof(c->who), "%.40s \"", peer);

	for (uint32_t i = 0; i < c->owner_len && n < (int)sizeof(c->who) - 2; i++)
		c->who[n++] = isprint(c->owner[i]) ? (char)c->owner[i] : '.';
	c->who[n++] = '"';
	c->who[n] = '\0';
}

static struct client *client_new_locked(struct state *s, const struct rpc_cred *cred,
	const char *peer, const struct nfs4_exchange_id_args *a)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->owner = malloc(a->ownerid.len ? a->ownerid.len : 1);
	if (!c->owner) {
		free(c);
		return NULL;
	}
	pthread_mutex_init(&c->lock, NULL);
	memcpy(c->owner, a->ownerid.data, a->ownerid.len);
	c->owner_len = a->ownerid.len;
	memcpy(c->verf, a->verf, sizeof(c->verf));
	c->cred = *cred;
	c->id = (uint64_t)s->boot << 32 | ++s->next_client;
	c->seq = 1;
	c->refs = 1;
	c->seen_ns = state_now_ns();
	TAILQ_INIT(&c->sessions);
	describe(c, peer);
	TAILQ_INSERT_TAIL(&s->clients, c, link);
	s->nclients++;
	log_ctrl("client %s gets ID %016llx", c->who, (unsigned long long)c->id);
	return c;
}

/* The record that can best be spared, if any: expired, oldest first. */
static struct client *victim_locked(struct state *s, uint64_t spare)
{
	struct client *c, *best = NULL;

	TAILQ_FOREACH (c, &s->clients, link)
		if (c->id != spare && client_expired(s, c) && (!best || c->seen_ns < best->seen_ns))
			best = c;
	return best;
}

/* The confirmed record without state that has been silent for longest, if any. */
static struct client *idle_locked(struct state *s)
{
	struct client *c, *best = NULL;

	TAILQ_FOREACH (c, &s->clients, link)
		if (c->confirmed && (!best || c->seen_ns < best->seen_ns) && !st_holds_any(c))
			best = c;
	return best;
}

/* The table is full for one more unconfirmed record: who goes? NULL: nobody can. */
static struct client *make_way_locked(struct state *s)
{
	struct client *c, *oldest = NULL;
	unsigned n = 0;

	TAILQ_FOREACH (c, &s->clients, link) {
		if (c->confirmed)
			continue;
		if (n++ == 0)
			oldest = c; /* the list is in the order of birth */
	}
	if (n >= STATE_MAX_UNCONF)
		return oldest;
	c = victim_locked(s, 0);
	if (!c)
		c = oldest;
	return c ? c : idle_locked(s);
}

static bool full_locked(struct state *s)
{
	struct client *c;
	unsigned n = 0;

	if (s->nclients >= STATE_MAX_CLIENTS)
		return true;
	if (s->nclients < STATE_MAX_UNCONF)
		return false;
	TAILQ_FOREACH (c, &s->clients, link)
		n += !c->confirmed;
	return n >= STATE_MAX_UNCONF;
}

static uint32_t check_flags(const struct nfs4_exchange_id_args *a)
{
	const uint32_t known = EXCHGID4_FLAG_SUPP_MOVED_REFER | EXCHGID4_FLAG_SUPP_MOVED_MIGR |
			       EXCHGID4_FLAG_BIND_PRINC_STATEID | EXCHGID4_FLAG_MASK_PNFS |
			       EXCHGID4_FLAG_UPD_CONFIRMED_REC_A;

	if (a->flags & ~known)
		return NFS4ERR_INVAL;
	if (a->protect == SP4_SSV)
		return NFS4ERR_ENCR_ALG_UNSUPP; /* section 18.35.3: none of the algorithms */
	if (a->protect == SP4_MACH_CRED)
		return NFS4ERR_INVAL; /* needs RPCSEC_GSS */
	return NFS4_OK;
}

/* Records that make way for a new one: a confirmed and an unconfirmed one. */
struct replaced {
	struct client *c[2];
	unsigned n;
};

static void replace_locked(struct state *s, struct client *c, struct replaced *gone)
{
	client_remove_locked(s, c);
	gone->c[gone->n++] = c;
}

/* The cases of section 18.35.4, in its order. */
static uint32_t choose_record(struct state *s, const struct rpc_cred *cred, const char *peer,
	const struct nfs4_exchange_id_args *a, struct client **out, struct replaced *gone)
{
	struct client *conf = find_owner(s, &a->ownerid, true);
	struct client *unconf = find_owner(s, &a->ownerid, false);
	bool same_verf = conf && memcmp(conf->verf, a->verf, sizeof(conf->verf)) == 0;

	if (a->flags & EXCHGID4_FLAG_UPD_CONFIRMED_REC_A) {
		if (!conf)
			return NFS4ERR_NOENT; /* case 7 */
		if (!client_same_principal(&conf->cred, cred))
			return NFS4ERR_PERM; /* case 9 */
		if (!same_verf)
			return NFS4ERR_NOT_SAME; /* case 8 */
		*out = conf;			 /* case 6 */
		return NFS4_OK;
	}
	if (conf && !client_same_principal(&conf->cred, cred)) {
		if (!client_expired(s, conf) && (st_holds_any(conf) || conf->nsessions))
			return NFS4ERR_CLID_INUSE; /* case 3 */
		replace_locked(s, conf, gone);
	} else if (same_verf) {
		*out = conf; /* case 2 */
		return NFS4_OK;
	}
	if (unconf) { /* case 4 */
		replace_locked(s, unconf, gone);
	} else if (full_locked(s)) {
		unconf = make_way_locked(s);
		if (!unconf)
			return NFS4ERR_DELAY;
		replace_locked(s, unconf, gone);
	}
	*out = client_new_locked(s, cred, peer, a); /* cases 1 and 5 */
	return *out ? NFS4_OK : NFS4ERR_DELAY;
}

static struct client *find_nlm_locked(struct state *s, const struct nfs4_opaque *owner)
{
	struct client *c;

	TAILQ_FOREACH (c, &s->clients, link)
		if (c->nlm && c->owner_len == owner->len &&
			memcmp(c->owner, owner->data, owner->len) == 0)
			return c;
	return NULL;
}

struct client *client_nlm(
	struct state *s, const char *peer, const struct nfs4_opaque *owner, bool make)
{
	const struct nfs4_exchange_id_args a = {.ownerid = *owner};
	/* nobody's: it cannot be managed as a client of NFSv4 */
	const struct rpc_cred cred = {.flavor = (enum rpc_flavor)INT_MAX};
	struct client *c, *gone = NULL;

	pthread_mutex_lock(&s->lock);
	c = find_nlm_locked(s, owner);
	if (!c && make && full_locked(s)) {
		gone = make_way_locked(s);
		if (gone)
			client_remove_locked(s, gone);
		else
			make = false;
	}
	if (!c && make)
		c = client_new_locked(s, &cred, peer, &a);
	if (c) {
		c->nlm = c->confirmed = c->reclaim_done = true;
		c->refs++;
		__atomic_store_n(&c->seen_ns, state_now_ns(), __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&s->lock);
	if (gone)
		client_dispose(s, gone);
	return c;
}

uint32_t client_exchange_id(struct state *s, const struct rpc_cred *cred, const char *peer,
	const struct nfs4_exchange_id_args *a, struct nfs4_exchange_id_res *r)
{
	struct replaced gone = {.n = 0};
	struct client *c = NULL;
	uint32_t status = check_flags(a);

	if (status != NFS4_OK)
		return status;
	pthread_mutex_lock(&s->lock);
	status = choose_record(s, cred, peer, a, &c, &gone);
	if (status == NFS4_OK) {
		r->clientid = c->id;
		r->sequenceid = c->seq;
		r->flags = EXCHGID4_FLAG_USE_NON_PNFS;
		if (c->confirmed)
			r->flags |= EXCHGID4_FLAG_CONFIRMED_R;
		r->protect = SP4_NONE;
	}
	pthread_mutex_unlock(&s->lock);
	while (gone.n)
		client_dispose(s, gone.c[--gone.n]);
	return status;
}

uint32_t client_destroy(struct state *s, const struct rpc_cred *cred, uint64_t clientid)
{
	uint32_t status = NFS4_OK;
	struct client *c;

	pthread_mutex_lock(&s->lock);
	c = client_find_locked(s, clientid);
	if (!c)
		status = NFS4ERR_STALE_CLIENTID;
	else if (!client_same_principal(&c->cred, cred))
		status = NFS4ERR_WRONG_CRED;
	else if (c->nsessions || st_holds_any(c))
		status = NFS4ERR_CLIENTID_BUSY;
	else
		client_remove_locked(s, c);
	pthread_mutex_unlock(&s->lock);
	if (status == NFS4_OK)
		client_dispose(s, c);
	client_unref(s, c);
	return status;
}

void state_tick(struct state *s)
{
	uint64_t now = state_now_ns();
	struct client *c;

	grace_tick(s->grace, now);
	for (;;) {
		pthread_mutex_lock(&s->lock);
		TAILQ_FOREACH (c, &s->clients, link) {
			uint64_t idle = now - __atomic_load_n(&c->seen_ns, __ATOMIC_RELAXED);

			if (idle > INT64_MAX || idle < (c->confirmed ? 2ull : 1) * s->lease_s * NS)
				continue;
			if (!c->confirmed || (idle > COURTESY_S * NS && !c->nlm) ||
				!st_holds_any(c))
				break;
		}
		if (c)
			client_remove_locked(s, c);
		pthread_mutex_unlock(&s->lock);
		if (!c)
			return;
		client_dispose(s, c);
	}
}

void state_report(struct state *s)
{
	struct client *c;

	pthread_mutex_lock(&s->lock);
	log_info("clients: %u", s->nclients);
	TAILQ_FOREACH (c, &s->clients, link) {
		pthread_mutex_lock(&c->lock);
		if (c->nlm)
			log_info("NLM host %s: locks on %u files by its owners", c->who, c->nused);
		else
			log_info("client %016" PRIx64 " (%s): %u sessions, %u stateids", c->id,
				c->who, c->nsessions, c->nused);
		pthread_mutex_unlock(&c->lock);
	}
	pthread_mutex_unlock(&s->lock);
}

bool client_evict_expired(struct state *s, uint64_t clientid)
{
	struct client *c;
	bool removed = false;

	pthread_mutex_lock(&s->lock);
	c = client_find_locked(s, clientid);
	if (c && client_expired(s, c)) {
		client_remove_locked(s, c);
		removed = true;
	}
	pthread_mutex_unlock(&s->lock);
	if (removed)
		client_dispose(s, c);
	client_unref(s, c);
	return removed;
}

bool client_evict_one(struct state *s, uint64_t clientid)
{
	struct client *c;

	pthread_mutex_lock(&s->lock);
	c = victim_locked(s, clientid);
	if (c)
		client_remove_locked(s, c);
	pthread_mutex_unlock(&s->lock);
	if (c)
		client_dispose(s, c);
	return c != NULL;
}

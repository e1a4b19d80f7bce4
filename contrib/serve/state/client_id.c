/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * client_id: makes the records of clients.
 *
 * One owner string has at most two records: a confirmed one, and an unconfirmed one. The
 * unconfirmed one replaces the other when its first session is made (the client has restarted, or
 * came back as another principal).
 */
#include "contrib/serve/state/client_id.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/state/stateid.h"
#include "transport/clock.h"
#include "transport/log.h"

static struct client *find_owner(struct state *s, const struct nfs4_opaque *owner, bool confirmed)
	REQUIRES(s->lock)
{
	struct client *c;

	TAILQ_FOREACH (c, &s->clients, link)
		if (!c->nlm && c->confirmed == confirmed && c->owner_len == owner->len &&
			memcmp(c->owner, owner->data, owner->len) == 0)
			return c;
	return NULL;
}

struct client *client_confirm_locked(struct state *s, struct client *c) REQUIRES(s->lock)
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

static void describe(struct client *c, const char *peer)
{
	snprintf(c->who, sizeof(c->who), "%.40s \"%s\"", peer, QUOTE(c->owner, c->owner_len));
}

static struct client *client_new_locked(struct state *s, const struct rpc_cred *cred,
	const char *peer, struct share_holder *h, const struct nfs4_exchange_id_args *a)
	REQUIRES(s->lock)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->owner = malloc(a->ownerid.len ? a->ownerid.len : 1);
	if (!c->owner) {
		free(c);
		return NULL;
	}
	mutex_init(&c->lock);
	mutex_init(&c->nlm_lock);
	memcpy(c->owner, a->ownerid.data, a->ownerid.len);
	c->owner_len = a->ownerid.len;
	memcpy(c->verf, a->verf, sizeof(c->verf));
	c->cred = *cred;
	c->share = &s->share;
	c->holder = share_ref(&s->share, h);
	share_force(&s->share, h, SHARE_CLIENTS, 1);
	c->id = (uint64_t)s->boot << 32 | ++s->next_client;
	c->seq = 1;
	c->refs = 1;
	c->seen_ns = clock_coarse_ns();
	TAILQ_INIT(&c->sessions);
	describe(c, peer);
	TAILQ_INSERT_TAIL(&s->clients, c, link);
	s->nclients++;
	log_ctrl("client %s gets ID %016llx", c->who, (unsigned long long)c->id);
	return c;
}

/* The oldest unconfirmed record, and the number of unconfirmed records (of h, if not NULL). */
static struct client *unconfirmed_locked(struct state *s, const struct share_holder *h, unsigned *n)
	REQUIRES(s->lock)
{
	struct client *c, *oldest = NULL;

	*n = 0;
	TAILQ_FOREACH (c, &s->clients, link) {
		if (c->confirmed || (h && c->holder != h))
			continue;
		if ((*n)++ == 0)
			oldest = c; /* the oldest is first in the list */
	}
	return oldest;
}

/* The NLM host that has been silent for longest, and at least for a lease, at an address without an
 * NFSv4 client: no sign shows that the host still exists. The host is one of h's own or, if h has
 * not its full share, one of a holder with at least as many hosts. So a peer cannot take other
 * hosts' locks by making up hosts. */
static struct client *vanished_locked(struct state *s, const struct share_holder *h)
	REQUIRES(s->lock)
{
	bool own = share_is_full(&s->share, h, SHARE_NLM, 1);
	uint64_t now = clock_coarse_ns(), held = share_held(&s->share, h, SHARE_NLM);
	struct client *c, *best = NULL;

	TAILQ_FOREACH (c, &s->clients, link) {
		uint64_t hosts = c->nlm ? share_held(&s->share, c->holder, SHARE_NLM) : 0;

		if (!c->nlm || (c->holder != h && (own || hosts < held)))
			continue;
		if (clock_age(now, c->seen_ns) > s->lease_s * NSEC_PER_SEC &&
			(!best || c->seen_ns < best->seen_ns) &&
			share_held(&s->share, c->holder, SHARE_CLIENTS) == hosts)
			best = c;
	}
	return best;
}

/* Must a record go before h can have one more? The last argument receives the record to go; NULL:
 * none may go, and h gets no record. */
static bool full_locked(struct state *s, const struct share_holder *h, struct client **who)
	REQUIRES(s->lock)
{
	bool own = share_is_full(&s->share, h, SHARE_CLIENTS, 1);
	bool room = share_room(&s->share, h, SHARE_CLIENTS) > 0;
	struct client *all_oldest, *own_oldest;
	unsigned all, mine;

	if (s->nclients < STATE_MAX_UNCONF / 2 && room)
		return false;
	all_oldest = unconfirmed_locked(s, NULL, &all);
	own_oldest = unconfirmed_locked(s, h, &mine);
	if (room && all < STATE_MAX_UNCONF && mine < STATE_MAX_UNCONF / 2)
		return false;
	*who = own_oldest;
	if (mine >= STATE_MAX_UNCONF / 2)
		return true;
	if (all >= STATE_MAX_UNCONF) {
		*who = all_oldest;
		return true;
	}
	/* first h's own, if h has its share; otherwise any */
	*who = client_victim_locked(s, own ? h : NULL, 0);
	if (!*who)
		*who = own ? own_oldest : all_oldest;
	if (!*who)
		*who = client_idle_locked(s, own ? h : NULL, 0);
	if (!*who && !own)
		*who = vanished_locked(s, h);
	return true;
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

/* Records that a new record replaces: a confirmed and an unconfirmed one. */
struct replaced {
	struct client *c[2];
	unsigned n;
};

static void replace_locked(struct state *s, struct client *c, struct replaced *gone)
	REQUIRES(s->lock)
{
	client_remove_locked(s, c);
	gone->c[gone->n++] = c;
}

/* The cases of section 18.35.4, in its order. */
static uint32_t choose_record(struct state *s, const struct rpc_cred *cred, const char *peer,
	struct share_holder *h, const struct nfs4_exchange_id_args *a, struct client **out,
	struct replaced *gone) REQUIRES(s->lock)
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
	} else if (full_locked(s, h, &unconf)) {
		if (!unconf)
			return NFS4ERR_DELAY;
		replace_locked(s, unconf, gone);
	}
	*out = client_new_locked(s, cred, peer, h, a); /* cases 1 and 5 */
	return *out ? NFS4_OK : NFS4ERR_DELAY;
}

static struct client *find_nlm_locked(struct state *s, const struct nfs4_opaque *owner)
	REQUIRES(s->lock)
{
	struct client *c;

	TAILQ_FOREACH (c, &s->clients, link)
		if (c->nlm && c->owner_len == owner->len &&
			memcmp(c->owner, owner->data, owner->len) == 0)
			return c;
	return NULL;
}

struct client *client_nlm(struct state *s, const char *peer, const struct share_key *who,
	const struct nfs4_opaque *owner, bool make)
{
	const struct nfs4_exchange_id_args a = {.ownerid = *owner};
	/* no principal: the record cannot be managed as a client of NFSv4 */
	const struct rpc_cred cred = {.flavor = GRACE_NLM};
	struct client *c, *gone = NULL;
	struct share_holder *h = share_get(&s->share, who);

	mutex_lock(&s->lock);
	c = find_nlm_locked(s, owner);
	make = make && h && !c;
	if (make && share_room(&s->share, h, SHARE_NLM) == 0) {
		gone = vanished_locked(s, h);
		make = gone;
	} else if (make && full_locked(s, h, &gone)) {
		make = gone;
	}
	if (gone)
		client_remove_locked(s, gone);
	if (make)
		c = client_new_locked(s, &cred, peer, h, &a);
	if (make && c) {
		c->nlm = true;
		share_force(&s->share, h, SHARE_NLM, 1);
	}
	if (c) {
		c->confirmed = true;
		c->reclaim_done = true;
		c->refs++;
		atomic_store_explicit(&c->seen_ns, clock_coarse_ns(), memory_order_relaxed);
	}
	share_put(&s->share, h);
	mutex_unlock(&s->lock);
	if (gone)
		client_dispose(s, gone);
	return c;
}

uint32_t client_exchange_id(struct state *s, const struct rpc_cred *cred, const char *peer,
	const struct share_key *who, const struct nfs4_exchange_id_args *a,
	struct nfs4_exchange_id_res *r)
{
	struct replaced gone = {.n = 0};
	struct client *c = NULL;
	uint32_t status = check_flags(a);
	struct share_holder *h;

	if (status != NFS4_OK)
		return status;
	h = share_get(&s->share, who);
	if (!h)
		return NFS4ERR_DELAY;
	mutex_lock(&s->lock);
	status = choose_record(s, cred, peer, h, a, &c, &gone);
	if (status == NFS4_OK) {
		r->clientid = c->id;
		r->sequenceid = c->seq;
		r->flags = EXCHGID4_FLAG_USE_NON_PNFS;
		if (c->confirmed)
			r->flags |= EXCHGID4_FLAG_CONFIRMED_R;
		r->protect = SP4_NONE;
	}
	share_put(&s->share, h);
	mutex_unlock(&s->lock);
	while (gone.n)
		client_dispose(s, gone.c[--gone.n]);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * drc: the duplicate request cache of NFSv3.
 *
 * One lock guards everything. An entry under way belongs to the thread that got DRC_RUN for it and
 * is not reclaimed; it becomes one of the kept, newest last, when it is done.
 */
#include "contrib/serve/drc.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>
#include <time.h>

#include "contrib/serve/handle.h"
#include "contrib/serve/state.h"

#define BUCKETS	 1024
#define SUM_MAX	 512 /* bytes of arguments and of a payload that are looked at */
#define WAIT_S	 10  /* for a call that is being carried out */
#define HOST_MAX 64

struct drc_key {
	char host[HOST_MAX];
	uint32_t xid, prog, vers, proc;
	uint64_t sum;
};

struct drc_entry {
	struct drc_key key;
	bool done;
	bool undone;	  /* with done: nothing was carried out; the next to come does */
	unsigned waiters; /* threads that wait for it to be done: it stays */
	uint64_t at_ns;
	uint32_t len;
	uint8_t *reply; /* NULL: not kept */
	TAILQ_ENTRY(drc_entry) link;
	LIST_ENTRY(drc_entry) hash;
};

struct drc {
	pthread_mutex_t lock;
	pthread_cond_t cond; /* an entry is done */
	uint8_t secret[HANDLE_KEY];
	unsigned n, max;
	uint64_t hits, waits;
	TAILQ_HEAD(, drc_entry) kept; /* done, the oldest first */
	LIST_HEAD(, drc_entry) bucket[BUCKETS];
};

struct drc *drc_new(unsigned max_entries)
{
	struct drc *d = calloc(1, sizeof(*d));
	pthread_condattr_t attr;

	if (!d)
		return NULL;
	if (getrandom(d->secret, sizeof(d->secret), 0) != (ssize_t)sizeof(d->secret)) {
		free(d);
		return NULL;
	}
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->cond, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&d->lock, NULL);
	TAILQ_INIT(&d->kept);
	d->max = max_entries;
	return d;
}

static void entry_free(struct drc_entry *e)
{
	free(e->reply);
	free(e);
}

static void forget_locked(struct drc *d, struct drc_entry *e)
{
	TAILQ_REMOVE(&d->kept, e, link);
	LIST_REMOVE(e, hash);
	d->n--;
	entry_free(e);
}

struct drc *drc_free(struct drc *d)
{
	struct drc_entry *e;

	if (!d)
		return NULL;
	while ((e = TAILQ_FIRST(&d->kept)) != NULL)
		forget_locked(d, e);
	pthread_cond_destroy(&d->cond);
	pthread_mutex_destroy(&d->lock);
	free(d);
	return NULL;
}

void drc_host(const struct rpc_req *req, char *buf, size_t size)
{
	const char *peer = req->xprt ? rpc_xprt_peer(req->xprt) : "local";
	const char *colon = strrchr(peer, ':');

	snprintf(buf, size, "%.*s", colon ? (int)(colon - peer) : (int)strlen(peer), peer);
}

static uint64_t mix(const struct drc *d, uint64_t sum, const void *data, size_t n)
{
	uint64_t part[2] = {sum, handle_siphash(d->secret, data, n < SUM_MAX ? n : SUM_MAX)};

	return handle_siphash(d->secret, part, sizeof(part)) + n;
}

static void make_key(const struct drc *d, const struct rpc_req *req, struct drc_key *k)
{
	const struct xdr_in *a = &req->args;

	memset(k, 0, sizeof(*k)); /* compared with memcmp() */
	drc_host(req, k->host, sizeof(k->host));
	k->xid = req->xid;
	k->prog = req->prog;
	k->vers = req->vers;
	k->proc = req->proc;
	k->sum = (uint64_t)req->cred.flavor << 32 | req->cred.uid;
	/* what comes inline one time and by a chunk another is one and the same */
	if (a->npayloads == 0) {
		k->sum = mix(d, k->sum, a->base + a->pos, a->len - a->pos);
		return;
	}
	k->sum = mix(d, k->sum, a->base + a->pos, a->payload[0].pos - a->pos);
	k->sum = mix(d, k->sum, a->payload[0].data.addr, a->payload[0].data.len);
}

static struct drc_entry *find_locked(struct drc *d, const struct drc_key *k)
{
	struct drc_entry *e;

	LIST_FOREACH (e, &d->bucket[k->xid % BUCKETS], hash)
		if (memcmp(&e->key, k, sizeof(*k)) == 0)
			return e;
	return NULL;
}

/* Lets go what is old or too much. */
static void trim_locked(struct drc *d)
{
	uint64_t now = state_now_ns();
	struct drc_entry *e, *next;

	for (e = TAILQ_FIRST(&d->kept); e; e = next) {
		next = TAILQ_NEXT(e, link);
		if (d->n <= d->max && now - e->at_ns <= DRC_AGE_S * 1000000000ull)
			return;
		if (!e->waiters)
			forget_locked(d, e);
	}
}

/* Waits until e is done. False: it took too long. */
static bool wait_locked(struct drc *d, struct drc_entry *e)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += WAIT_S;
	d->waits++;
	e->waiters++;
	while (!e->done && pthread_cond_timedwait(&d->cond, &d->lock, &until) == 0)
		;
	e->waiters--;
	return e->done;
}

static struct drc_entry *add_locked(struct drc *d, const struct drc_key *k)
{
	struct drc_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->key = *k;
	LIST_INSERT_HEAD(&d->bucket[k->xid % BUCKETS], e, hash);
	d->n++;
	return e;
}

enum drc_verdict drc_begin(
	struct drc *d, const struct rpc_req *req, struct xdr_out *out, struct drc_entry **entry)
{
	enum drc_verdict verdict = DRC_DROP;
	struct drc_entry *e;
	struct drc_key k;

	make_key(d, req, &k);
	pthread_mutex_lock(&d->lock);
	trim_locked(d);
	e = find_locked(d, &k);
	if (e && (e->done || wait_locked(d, e)) && e->reply) {
		d->hits++;
		xdr_put_fixed(out, e->reply, e->len);
		verdict = DRC_REPLAY;
	} else if (e && e->done && e->undone) {
		TAILQ_REMOVE(&d->kept, e, link);
		e->done = e->undone = false;
		*entry = e;
		verdict = DRC_RUN;
	} else if (!e) {
		*entry = add_locked(d, &k);
		if (*entry)
			verdict = DRC_RUN;
	}
	pthread_mutex_unlock(&d->lock);
	return verdict;
}

/* A copy of reply, if it can be kept. */
static uint8_t *copy_of(const struct xdr_out *reply)
{
	uint8_t *copy;

	if (!reply || reply->overflow || reply->npayloads || reply->len > DRC_REPLY_MAX)
		return NULL;
	copy = malloc(reply->len ? reply->len : 1);
	if (copy)
		memcpy(copy, reply->base, reply->len);
	return copy;
}

void drc_done(struct drc *d, struct drc_entry *e, const struct xdr_out *reply)
{
	uint8_t *copy = copy_of(reply);

	pthread_mutex_lock(&d->lock);
	e->reply = copy;
	e->len = copy ? (uint32_t)reply->len : 0;
	e->done = true;
	e->undone = !reply;
	e->at_ns = state_now_ns();
	TAILQ_INSERT_TAIL(&d->kept, e, link);
	if (e->waiters) /* if there is no answer, one of them takes the call over */
		pthread_cond_broadcast(&d->cond);
	else if (!reply)
		forget_locked(d, e);
	trim_locked(d);
	pthread_mutex_unlock(&d->lock);
}

void drc_stats(struct drc *d, struct drc_stats *out)
{
	pthread_mutex_lock(&d->lock);
	*out = (struct drc_stats){d->n, d->hits, d->waits};
	pthread_mutex_unlock(&d->lock);
}

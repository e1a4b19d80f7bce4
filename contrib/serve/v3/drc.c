/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * drc: the duplicate request cache of NFSv3.
 *
 * An entry under way belongs to the thread that got DRC_RUN, and is not
 * reclaimed. When done, the entry becomes the last of the kept ones.
 */
#include "contrib/serve/v3/drc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>
#include <time.h>

#include "contrib/serve/export/handle.h"
#include "contrib/serve/state/answers.h"
#include "contrib/serve/state/state.h"
#include "transport/clock.h"
#include "transport/crc32c.h"
#include "transport/lock.h"

#define BUCKETS	 1024
#define SUM_ALL	 8192 /* the checksum takes so many first bytes of the arguments */
#define SUM_STEP 1024 /* and then the first SUM_PART of each SUM_STEP */
#define SUM_PART 64
#define WAIT_S	 10 /* longest wait for a call under way */
#define HOST_MAX 80

struct drc_key {
	char host[HOST_MAX];
	uint32_t xid, prog, vers, proc;
	uint32_t args_len, args_sum;
	uint64_t cred;
};

struct drc_entry {
	struct drc_key key;
	bool done;
	bool undone; /* with done: the call was not carried out; the next thread carries it out */
	unsigned waiters; /* threads that wait for the entry, and so keep the entry */
	uint64_t at_ns;
	uint32_t len;	/* 0: no answer */
	uint8_t *reply; /* allocated before the call, so that the answer can be kept */
	TAILQ_ENTRY(drc_entry) link;
	LIST_ENTRY(drc_entry) hash;
};

struct drc {
	struct mutex lock;
	pthread_cond_t cond; /* an entry is done */
	uint8_t secret[HANDLE_KEY];
	unsigned n GUARDED_BY(lock), max;
	uint64_t hits GUARDED_BY(lock), waits GUARDED_BY(lock);
	struct answers *answers;		       /* of earlier runs too, or NULL */
	GUARDED_BY(lock) TAILQ_HEAD(, drc_entry) kept; /* done entries, oldest first */
	GUARDED_BY(lock) LIST_HEAD(, drc_entry) bucket[BUCKETS];
};

struct drc *drc_new(unsigned max_entries)
{
	struct drc *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	if (getrandom(d->secret, sizeof(d->secret), 0) != (ssize_t)sizeof(d->secret)) {
		free(d);
		return NULL;
	}
	clock_cond_init(&d->cond);
	mutex_init(&d->lock);
	TAILQ_INIT(&d->kept);
	d->max = max_entries;
	return d;
}

void drc_share(struct drc *d, struct answers *a)
{
	if (a)
		answers_secret(a, d->secret);
	d->answers = a;
}

static void entry_free(struct drc_entry *e)
{
	free(e->reply);
	free(e);
}

static void forget_locked(struct drc *d, struct drc_entry *e) REQUIRES(d->lock)
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
	mutex_destroy(&d->lock);
	while ((e = TAILQ_FIRST(&d->kept)) != NULL)
		forget_locked(d, e);
	pthread_cond_destroy(&d->cond);
	free(d);
	return NULL;
}

void drc_host(const struct rpc_req *req, char *buf, size_t size)
{
	const char *peer = req->xprt ? rpc_xprt_peer(req->xprt) : "local";
	const char *colon = strrchr(peer, ':');

	snprintf(buf, size, "%.*s", colon ? (int)(colon - peer) : (int)strlen(peer), peer);
}

/* Length and checksum of the bytes fed so far. */
struct sum {
	uint32_t len, crc;
};

static void feed(struct sum *s, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n > 0) {
		uint32_t in = s->len < SUM_ALL ? 0 : s->len % SUM_STEP;
		size_t part = s->len < SUM_ALL ? SUM_ALL - s->len
			      : in < SUM_PART  ? SUM_PART - in
					       : SUM_STEP - in;

		if (part > n)
			part = n;
		if (in < SUM_PART)
			s->crc = crc32c(s->crc, p, part);
		s->len += (uint32_t)part;
		p += part;
		n -= part;
	}
}

static uint64_t sum_cred(const struct drc *d, const struct rpc_cred *c)
{
	uint32_t words[4 + RPC_MAX_GIDS] = {c->flavor, c->uid, c->gid, c->ngids};
	uint32_t n = c->ngids < RPC_MAX_GIDS ? c->ngids : RPC_MAX_GIDS;

	memcpy(words + 4, c->gids, n * sizeof(words[0]));
	return handle_siphash(d->secret, words, (4 + n) * sizeof(words[0]));
}

static void make_key(const struct drc *d, const struct rpc_req *req, struct drc_key *k)
{
	static const uint8_t padding[4];
	const struct xdr_in *a = &req->args;
	struct sum s = {0};

	memset(k, 0, sizeof(*k)); /* compared with memcmp() */
	if (req->xprt && rpc_xprt_keeps_port(req->xprt))
		snprintf(k->host, sizeof(k->host), "%s", rpc_xprt_peer(req->xprt));
	else
		drc_host(req, k->host, sizeof(k->host));
	k->xid = req->xid;
	k->prog = req->prog;
	k->vers = req->vers;
	k->proc = req->proc;
	k->cred = sum_cred(d, &req->cred);
	/* data inline and the same data by a chunk give the same key */
	if (a->npayloads == 0) {
		feed(&s, a->base + a->pos, a->len - a->pos);
	} else {
		struct seg_iter it = seg_iter_of(&a->payload[0].data);
		struct mem_sge at;

		feed(&s, a->base + a->pos, a->payload[0].pos - a->pos);
		while (seg_next(&it, UINT32_MAX, &at, NULL))
			feed(&s, at.addr, at.len);
		feed(&s, padding, xdr_pad(a->payload[0].data.len));
	}
	k->args_len = s.len;
	k->args_sum = s.crc;
}

static struct drc_entry *find_locked(struct drc *d, const struct drc_key *k) REQUIRES(d->lock)
{
	struct drc_entry *e;

	LIST_FOREACH (e, &d->bucket[k->xid % BUCKETS], hash)
		if (memcmp(&e->key, k, sizeof(*k)) == 0)
			return e;
	return NULL;
}

/* Frees entries that are too old or too many. */
static void trim_locked(struct drc *d) REQUIRES(d->lock)
{
	uint64_t now = clock_coarse_ns();
	struct drc_entry *e, *next;

	for (e = TAILQ_FIRST(&d->kept); e; e = next) {
		next = TAILQ_NEXT(e, link);
		if (d->n <= d->max && clock_age(now, e->at_ns) <= DRC_AGE_S * 1000000000ull)
			return;
		if (!e->waiters)
			forget_locked(d, e);
	}
}

/* Waits until e is done. False: timed out. */
static bool wait_locked(struct drc *d, struct drc_entry *e) REQUIRES(d->lock)
{
	struct timespec until = clock_timespec(clock_ns() + WAIT_S * NSEC_PER_SEC);

	d->waits++;
	e->waiters++;
	while (!e->done && cond_timedwait(&d->cond, &d->lock, &until) == 0)
		;
	e->waiters--;
	return e->done;
}

static struct drc_entry *add_locked(struct drc *d, const struct drc_key *k) REQUIRES(d->lock)
{
	struct drc_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->reply = malloc(DRC_REPLY_MAX);
	if (!e->reply) {
		free(e);
		return NULL;
	}
	e->key = *k;
	LIST_INSERT_HEAD(&d->bucket[k->xid % BUCKETS], e, hash);
	d->n++;
	return e;
}

enum drc_verdict drc_begin(
	struct drc *d, const struct rpc_req *req, struct xdr_out *out, struct drc_entry **entry)
{
	enum drc_verdict verdict = DRC_DROP;
	struct answer before;
	struct drc_entry *e;
	struct drc_key k;

	make_key(d, req, &k);
	mutex_lock(&d->lock);
	trim_locked(d);
	e = find_locked(d, &k);
	if (e && (e->done || wait_locked(d, e)) && e->len) {
		d->hits++;
		xdr_put_fixed(out, e->reply, e->len);
		verdict = DRC_REPLAY;
	} else if (e && e->done && e->undone) {
		TAILQ_REMOVE(&d->kept, e, link);
		e->done = e->undone = false;
		*entry = e;
		verdict = DRC_RUN;
	} else if (!e && answers_find(d->answers, &k, sizeof(k), &before)) {
		d->hits++;
		xdr_put_fixed(out, before.reply, before.len);
		verdict = DRC_REPLAY;
	} else if (!e) {
		*entry = add_locked(d, &k);
		verdict = *entry ? DRC_RUN : DRC_LATER;
	}
	mutex_unlock(&d->lock);
	return verdict;
}

static void keep_locked(struct drc_entry *e, const struct xdr_out *reply)
{
	uint8_t *less;

	if (!reply || reply->overflow || reply->npayloads || reply->len == 0 ||
		reply->len > DRC_REPLY_MAX)
		return;
	e->len = (uint32_t)reply->len;
	memcpy(e->reply, reply->base, e->len);
	less = realloc(e->reply, e->len);
	if (less)
		e->reply = less;
}

void drc_keep(struct drc *d, const struct drc_entry *e, const struct xdr_out *reply)
{
	if (!reply->overflow && !reply->npayloads)
		answers_keep(d->answers, &e->key, sizeof(e->key), 0, 0, reply->base, reply->len);
}

void drc_done(struct drc *d, struct drc_entry *e, const struct xdr_out *reply)
{
	mutex_lock(&d->lock);
	keep_locked(e, reply);
	e->done = true;
	e->undone = !reply;
	e->at_ns = clock_coarse_ns();
	TAILQ_INSERT_TAIL(&d->kept, e, link);
	if (e->waiters) /* without an answer, one waiter takes the call over */
		pthread_cond_broadcast(&d->cond);
	else if (!reply)
		forget_locked(d, e);
	trim_locked(d);
	mutex_unlock(&d->lock);
}

void drc_stats(struct drc *d, struct drc_stats *out)
{
	mutex_lock(&d->lock);
	*out = (struct drc_stats){d->n, d->hits, d->waits};
	mutex_unlock(&d->lock);
}

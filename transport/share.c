/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * share: how much of a server's resources one peer may have.
 */
#include "transport/share.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NET6	 8   /* bytes of an IPv6 address that tell holders apart */
#define SITE6	 6   /* and sites */
#define RESERVE	 8   /* the last 1/RESERVE of a kind is for newcomers */
#define OWNERS	 256 /* and of that the last 1/OWNERS of the kind for owners of the server */
#define NEWCOMER 64  /* a newcomer has no more than 1/NEWCOMER of all */

/* Does an IPv6 address lie behind a prefix that was given out? */
static bool is_net6(const struct in6_addr *a)
{
	return !IN6_IS_ADDR_V4MAPPED(a) && !IN6_IS_ADDR_LOOPBACK(a);
}

struct share_key share_key(const struct sockaddr *addr, const struct sock_user *user)
{
	struct share_key k = {.local = user && user->local};

	if (k.local) {
		k.uid = user->known ? user->uid : UINT32_MAX;
	} else if (addr && addr->sa_family == AF_INET) {
		k.net[10] = k.net[11] = 0xff;
		memcpy(k.net + 12, &((const struct sockaddr_in *)addr)->sin_addr, 4);
	} else if (addr && addr->sa_family == AF_INET6) {
		const struct in6_addr *in = &((const struct sockaddr_in6 *)addr)->sin6_addr;

		memcpy(k.net, in, is_net6(in) ? NET6 : sizeof(k.net));
	}
	return k;
}

bool share_key_site(const struct share_key *k, struct share_key *site)
{
	struct in6_addr in;

	memcpy(&in, k->net, sizeof(in));
	if (k->local || k->site || !is_net6(&in) || IN6_IS_ADDR_LINKLOCAL(&in) ||
		IN6_IS_ADDR_UNSPECIFIED(&in))
		return false;
	*site = (struct share_key){.site = 1};
	memcpy(site->net, k->net, SITE6);
	return true;
}

bool share_key_owns(const struct share_key *k)
{
	return k->local && k->uid != UINT32_MAX && (k->uid == 0 || k->uid == geteuid());
}

bool share_key_same(const struct share_key *a, const struct share_key *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

void share_init(struct share *s)
{
	memset(s, 0, sizeof(*s));
	mutex_init(&s->lock);
	LIST_INIT(&s->holders);
	for (unsigned i = 0; i < SHARE_BUCKETS; i++)
		LIST_INIT(&s->parts[i]);
	for (unsigned i = 0; i < SHARE_KINDS; i++)
		s->kind[i].max = s->kind[i].most = UINT64_MAX;
}

void share_finish(struct share *s)
{
	mutex_destroy(&s->lock);
}

void share_limit(struct share *s, unsigned kind, uint64_t max, uint64_t most)
{
	s->kind[kind].max = max;
	s->kind[kind].most = most < max ? most : max;
}

static struct share_holder *find_locked(struct share *s, const struct share_key *key)
	REQUIRES(s->lock)
{
	struct share_holder *h;

	LIST_FOREACH (h, &s->holders, link)
		if (share_key_same(&h->key, key))
			return h;
	h = calloc(1, sizeof(*h));
	if (h) {
		h->key = *key;
		h->owns = share_key_owns(key);
		LIST_INSERT_HEAD(&s->holders, h, link);
	}
	return h;
}

static void put_locked(struct share_holder *h)
{
	struct share_holder *site = h->site;

	if (--h->refs)
		return;
	for (unsigned i = 0; i < SHARE_KINDS; i++)
		assert(!h->held[i]);
	LIST_REMOVE(h, link);
	free(h);
	if (site)
		put_locked(site);
}

struct share_holder *share_get(struct share *s, const struct share_key *key)
{
	struct share_holder *h;
	struct share_key site;

	mutex_lock(&s->lock);
	h = find_locked(s, key);
	if (h && h->refs++ == 0 && share_key_site(key, &site)) {
		h->site = find_locked(s, &site);
		if (h->site)
			h->site->refs++;
	}
	if (h && !h->site && share_key_site(key, &site)) { /* out of memory */
		put_locked(h);
		h = NULL;
	}
	mutex_unlock(&s->lock);
	return h;
}

struct share_holder *share_ref(struct share *s, struct share_holder *h)
{
	mutex_lock(&s->lock);
	h->refs++;
	mutex_unlock(&s->lock);
	return h;
}

struct share_holder *share_put(struct share *s, struct share_holder *h)
{
	if (!h)
		return NULL;
	mutex_lock(&s->lock);
	put_locked(h);
	mutex_unlock(&s->lock);
	return NULL;
}

static uint64_t less(uint64_t most, uint64_t held)
{
	return held < most ? most - held : 0;
}

/* The rest of h's own share, and of its site's. */
static uint64_t own_locked(const struct share *s, const struct share_holder *h, unsigned kind)
	REQUIRES(s->lock)
{
	uint64_t most = s->kind[kind].most, own = less(most, h->held[kind]), site;

	if (!h->site)
		return own;
	site = less(most, h->site->held[kind]);
	return own < site ? own : site;
}

static uint64_t room_locked(const struct share *s, const struct share_holder *h, unsigned kind)
	REQUIRES(s->lock)
{
	const struct share_kind *k = &s->kind[kind];
	uint64_t own = own_locked(s, h, kind), end = k->max, common;

	if (h->held[kind] > k->max / NEWCOMER)
		end -= k->max / RESERVE;
	else if (!h->owns)
		end -= k->max / OWNERS;
	common = less(end, k->used);
	return own < common ? own : common;
}

bool share_is_full(struct share *s, const struct share_holder *h, unsigned kind, uint64_t n)
{
	uint64_t own;

	mutex_lock(&s->lock);
	own = own_locked(s, h, kind);
	mutex_unlock(&s->lock);
	return n > own;
}

uint64_t share_room(struct share *s, const struct share_holder *h, unsigned kind)
{
	uint64_t room;

	mutex_lock(&s->lock);
	room = room_locked(s, h, kind);
	mutex_unlock(&s->lock);
	return room;
}

static void add_locked(struct share *s, struct share_holder *h, unsigned kind, uint64_t n)
	REQUIRES(s->lock)
{
	h->held[kind] += n;
	if (h->site)
		h->site->held[kind] += n;
	s->kind[kind].used += n;
}

static void subtract_locked(struct share *s, struct share_holder *h, unsigned kind, uint64_t n)
	REQUIRES(s->lock)
{
	assert(h->held[kind] >= n && s->kind[kind].used >= n);
	h->held[kind] -= n;
	if (h->site)
		h->site->held[kind] -= n;
	s->kind[kind].used -= n;
}

bool share_take(struct share *s, struct share_holder *h, unsigned kind, uint64_t n)
{
	bool ok;

	mutex_lock(&s->lock);
	ok = n <= room_locked(s, h, kind);
	if (ok)
		add_locked(s, h, kind, n);
	mutex_unlock(&s->lock);
	return ok;
}

void share_force(struct share *s, struct share_holder *h, unsigned kind, uint64_t n)
{
	mutex_lock(&s->lock);
	add_locked(s, h, kind, n);
	mutex_unlock(&s->lock);
}

void share_give(struct share *s, struct share_holder *h, unsigned kind, uint64_t n)
{
	mutex_lock(&s->lock);
	subtract_locked(s, h, kind, n);
	mutex_unlock(&s->lock);
}

uint64_t share_held(struct share *s, const struct share_holder *h, unsigned kind)
{
	uint64_t held;

	mutex_lock(&s->lock);
	held = h->held[kind];
	mutex_unlock(&s->lock);
	return held;
}

struct share_part *share_part_get(
	struct share *s, struct share_holder *h, uint32_t flavor, uint32_t uid)
{
	struct share_part *p;

	mutex_lock(&s->lock);
	LIST_FOREACH (p, &s->parts[uid % SHARE_BUCKETS], link)
		if (p->holder == h && p->flavor == flavor && p->uid == uid)
			break;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (p) {
			p->holder = h;
			h->refs++;
			p->flavor = flavor;
			p->uid = uid;
			LIST_INSERT_HEAD(&s->parts[uid % SHARE_BUCKETS], p, link);
		}
	}
	if (p)
		p->refs++;
	mutex_unlock(&s->lock);
	return p;
}

struct share_part *share_part_put(struct share *s, struct share_part *p)
{
	if (!p)
		return NULL;
	mutex_lock(&s->lock);
	if (--p->refs == 0) {
		for (unsigned i = 0; i < SHARE_KINDS; i++)
			assert(!p->held[i]);
		LIST_REMOVE(p, link);
		put_locked(p->holder);
		free(p);
	}
	mutex_unlock(&s->lock);
	return NULL;
}

static uint64_t part_end_locked(const struct share_part *p, unsigned kind, uint64_t all)
{
	return p->held[kind] > all / NEWCOMER ? all - all / RESERVE : all;
}

static uint64_t part_room_locked(const struct share *s, const struct share_part *p, unsigned kind)
	REQUIRES(s->lock)
{
	uint64_t end = part_end_locked(p, kind, s->kind[kind].most), held = p->holder->held[kind];
	uint64_t room = room_locked(s, p->holder, kind), own = held < end ? end - held : 0;

	return own < room ? own : room;
}

uint64_t share_part_end(struct share *s, const struct share_part *p, unsigned kind, uint64_t all)
{
	uint64_t end;

	mutex_lock(&s->lock);
	end = part_end_locked(p, kind, all);
	mutex_unlock(&s->lock);
	return end;
}

bool share_part_is_full(struct share *s, const struct share_part *p, unsigned kind)
{
	uint64_t most = s->kind[kind].most, end = share_part_end(s, p, kind, most);

	return end < most && share_held(s, p->holder, kind) >= end;
}

uint64_t share_part_room(struct share *s, const struct share_part *p, unsigned kind)
{
	uint64_t room;

	mutex_lock(&s->lock);
	room = part_room_locked(s, p, kind);
	mutex_unlock(&s->lock);
	return room;
}

bool share_part_take(struct share *s, struct share_part *p, unsigned kind, uint64_t n)
{
	bool ok;

	mutex_lock(&s->lock);
	ok = n <= part_room_locked(s, p, kind);
	if (ok) {
		p->held[kind] += n;
		add_locked(s, p->holder, kind, n);
	}
	mutex_unlock(&s->lock);
	return ok;
}

void share_part_force(struct share *s, struct share_part *p, unsigned kind, uint64_t n)
{
	mutex_lock(&s->lock);
	p->held[kind] += n;
	add_locked(s, p->holder, kind, n);
	mutex_unlock(&s->lock);
}

void share_part_give(struct share *s, struct share_part *p, unsigned kind, uint64_t n)
{
	mutex_lock(&s->lock);
	assert(p->held[kind] >= n);
	p->held[kind] -= n;
	subtract_locked(s, p->holder, kind, n);
	mutex_unlock(&s->lock);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * share: how much of what a server has may be one peer's.
 *
 * A holder is one peer as a server tells peers apart:
 *
 *   - a user of this machine, whichever address a call of that user comes from: a local user calls
 *     from all of 127.0.0.0/8. All local users that the kernel does not name are one holder;
 *   - an IPv4 address of another machine;
 *   - the first 64 bits of an IPv6 address of another machine, for a host has all addresses of its
 *     link. One site usually has a /48: all holders of the same first 48 bits are a site.
 *
 * What a holder has is counted by kind; of each kind a server has so much (`max`). Four rules
 * decide about more:
 *
 *   - one holder has at most its share, `most`;
 *   - all holders of one site together have at most that share, too;
 *   - the last eighth of everything is for newcomers: a holder with more than a sixty-fourth of all
 *     gets nothing of the last eighth;
 *   - the last 1/256 of everything is for the owners of the server: root and the server's own user.
 *
 * A peer may be a mount that many use. What each of its principals (flavor and user of the calls)
 * has of it is a part, and the second rule holds among them too: the last eighth of a peer's share
 * is for principals that have no more than a sixty-fourth of it.
 *
 * A holder, or part, lives as long as somebody has a reference or it holds anything. Threads: any;
 * the table's lock is a leaf.
 */
#ifndef RNFS_TRANSPORT_SHARE_H
#define RNFS_TRANSPORT_SHARE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "transport/sock_user.h"

#define SHARE_KINDS 8

/* Compared with memcmp(): made by share_key() only, or all zeros. */
struct share_key {
	uint8_t net[16]; /* an IPv4 address is mapped; of a local peer zeros */
	uint32_t local;	 /* 1: uid counts */
	uint32_t site;	 /* 1: a site's */
	uint32_t uid;	 /* UINT32_MAX: not known */
};

/* addr or user may be NULL: nobody in particular. */
struct share_key share_key(const struct sockaddr *addr, const struct sock_user *user);
bool share_key_same(const struct share_key *a, const struct share_key *b);
/* The site that a holder belongs to: true, and *site is its key, which is no holder's. False: the
 * holder stands for itself alone. */
bool share_key_site(const struct share_key *k, struct share_key *site);
/* Is it root or this process's own user, on this machine? */
bool share_key_owns(const struct share_key *k);

struct share_holder {
	struct share_key key;
	bool owns;		   /* share_key_owns(); constant */
	struct share_holder *site; /* referenced; counts what its holders have; or NULL; constant */
	unsigned refs;		   /* lock */
	uint64_t held[SHARE_KINDS]; /* lock */
	LIST_ENTRY(share_holder) link;
};

/* What one principal has of its holder's, which counts it too. */
struct share_part {
	struct share_holder *holder; /* referenced */
	uint32_t flavor, uid;
	unsigned refs;		    /* lock */
	uint64_t held[SHARE_KINDS]; /* lock */
	LIST_ENTRY(share_part) link;
};

#define SHARE_BUCKETS 256

struct share {
	pthread_mutex_t lock;
	LIST_HEAD(, share_holder) holders;	      /* lock */
	LIST_HEAD(, share_part) parts[SHARE_BUCKETS]; /* lock; by user */
	struct share_kind {
		uint64_t max, most; /* constant */
		uint64_t used;	    /* lock: by all holders */
	} kind[SHARE_KINDS];
};

/* No kind has a limit before share_limit(). */
void share_init(struct share *s);
/* Nobody holds anything or has a reference. */
void share_finish(struct share *s);
/* There are max of this kind, and one holder has most of them. Before the first use. */
void share_limit(struct share *s, unsigned kind, uint64_t max, uint64_t most);

/* The holder of key, referenced; NULL when out of memory. */
struct share_holder *share_get(struct share *s, const struct share_key *key);
struct share_holder *share_ref(struct share *s, struct share_holder *h);
/* Accepts NULL, returns NULL. */
struct share_holder *share_put(struct share *s, struct share_holder *h);

/* Has h got its share, so that it may not take n more? Whatever others hold. */
bool share_is_full(struct share *s, const struct share_holder *h, unsigned kind, uint64_t n);
/* How much more h may take now. */
uint64_t share_room(struct share *s, const struct share_holder *h, unsigned kind);
/* Counts n for h if it may have them. */
bool share_take(struct share *s, struct share_holder *h, unsigned kind, uint64_t n);
/* Counts n for h in any case. */
void share_force(struct share *s, struct share_holder *h, unsigned kind, uint64_t n);
void share_give(struct share *s, struct share_holder *h, unsigned kind, uint64_t n);
uint64_t share_held(struct share *s, const struct share_holder *h, unsigned kind);

/* The part of a principal of h, referenced; NULL when out of memory. */
struct share_part *share_part_get(
	struct share *s, struct share_holder *h, uint32_t flavor, uint32_t uid);
/* Accepts NULL, returns NULL. */
struct share_part *share_part_put(struct share *s, struct share_part *p);
/* How far p may go on filling what several principals have `all` of: a peer's share, or a smaller
 * limit within it. */
uint64_t share_part_end(struct share *s, const struct share_part *p, unsigned kind, uint64_t all);
/* Is what is left of its peer's share for other principals? Whatever other peers hold. */
bool share_part_is_full(struct share *s, const struct share_part *p, unsigned kind);
/* The same for a part, and its holder, as above. */
uint64_t share_part_room(struct share *s, const struct share_part *p, unsigned kind);
bool share_part_take(struct share *s, struct share_part *p, unsigned kind, uint64_t n);
void share_part_force(struct share *s, struct share_part *p, unsigned kind, uint64_t n);
void share_part_give(struct share *s, struct share_part *p, unsigned kind, uint64_t n);

#endif

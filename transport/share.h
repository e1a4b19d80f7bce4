/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * share: how much of a server's resources one peer may have.
 *
 * A holder is one peer as a server tells peers apart:
 *
 *   - a user of this machine, with any of its addresses: a local user calls from all of
 * 127.0.0.0/8. All local users that the kernel does not name are one holder;
 *   - an IPv4 address of another machine;
 *   - the first 64 bits of an IPv6 address of another machine, for a host has all addresses of its
 *     link. One site usually has a /48: all holders of the same first 48 bits are a site.
 *
 * A holder's resources are counted by kind; of each kind a server has `max`. Four rules decide
 * about more:
 *
 *   - one holder has at most its share, `most`;
 *   - all holders of one site together have at most one such share, too;
 *   - the last eighth of everything is for newcomers: a holder with more than a sixty-fourth of all
 *     gets nothing of the last eighth;
 *   - the last 1/256 of everything is for the owners of the server: root and the server's own user.
 *
 * A peer may be a mount with many users. A part counts the resources of one of the peer's
 * principals (flavor and user of the calls). The third rule holds among principals too: the last
 * eighth of a peer's share is for principals that have no more than a sixty-fourth of the share.
 *
 * A holder, or part, lives as long as it is referenced; it must hold nothing when the last
 * reference goes. Threads: any; the table's lock is a leaf.
 */
#ifndef RNFS_TRANSPORT_SHARE_H
#define RNFS_TRANSPORT_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "transport/lock.h"
#include "transport/sock_user.h"

#define SHARE_KINDS 8

/* Compared with memcmp(): made by share_key() only, or all zeros. */
struct share_key {
	uint8_t net[16]; /* an IPv4 address is mapped; of a local peer zeros */
	uint32_t local;	 /* 1: uid counts */
	uint32_t site;	 /* 1: a site's */
	uint32_t uid;	 /* UINT32_MAX: not known */
};

/* addr or user may be NULL: not known. */
struct share_key share_key(const struct sockaddr *addr, const struct sock_user *user);
bool share_key_same(const struct share_key *a, const struct share_key *b);
/* The site of a holder: true, and *site is the site's key, which is no holder's. False: the holder
 * stands for itself alone. */
bool share_key_site(const struct share_key *k, struct share_key *site);
/* Is the holder root or this process's own user, on this machine? */
bool share_key_owns(const struct share_key *k);

struct share_holder {
	struct share_key key;
	bool owns;		    /* share_key_owns(); constant */
	struct share_holder *site;  /* referenced; counts the resources of its holders; or NULL;
				     * constant */
	unsigned refs;		    /* lock */
	uint64_t held[SHARE_KINDS]; /* lock */
	LIST_ENTRY(share_holder) link;
};

/* The resources of one principal of a holder; the holder counts them too. */
struct share_part {
	struct share_holder *holder; /* referenced */
	uint32_t flavor, uid;
	unsigned refs;		    /* lock */
	uint64_t held[SHARE_KINDS]; /* lock */
	LIST_ENTRY(share_part) link;
};

#define SHARE_BUCKETS 256

struct share {
	struct mutex lock;
	GUARDED_BY(lock) LIST_HEAD(, share_holder) holders;
	GUARDED_BY(lock) LIST_HEAD(, share_part) parts[SHARE_BUCKETS]; /* by user */
	struct share_kind {
		uint64_t max, most; /* constant */
		uint64_t used;	    /* lock: by all holders */
	} kind[SHARE_KINDS];
};

/* No kind has a limit before share_limit(). */
void share_init(struct share *s);
/* No holder or part holds anything or is referenced. */
void share_finish(struct share *s);
/* There are max of this kind, and one holder may have at most `most`. Before the first use. */
void share_limit(struct share *s, unsigned kind, uint64_t max, uint64_t most);

/* The holder of key, referenced; NULL when out of memory. */
struct share_holder *share_get(struct share *s, const struct share_key *key);
struct share_holder *share_ref(struct share *s, struct share_holder *h);
/* Accepts NULL, returns NULL. */
struct share_holder *share_put(struct share *s, struct share_holder *h);

/* Has h used up its share, so that it may not take n more? Other holders do not matter. */
bool share_is_full(struct share *s, const struct share_holder *h, unsigned kind, uint64_t n);
/* How much more h may take now. */
uint64_t share_room(struct share *s, const struct share_holder *h, unsigned kind);
/* Counts n for h if h may have n more. */
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
/* The limit for p, when several principals fill `all`: a peer's share, or a smaller limit within
 * it. */
uint64_t share_part_end(struct share *s, const struct share_part *p, unsigned kind, uint64_t all);
/* Is the rest of its peer's share for other principals? Other peers do not matter. */
bool share_part_is_full(struct share *s, const struct share_part *p, unsigned kind);
/* The same for a part, and its holder, as above. */
uint64_t share_part_room(struct share *s, const struct share_part *p, unsigned kind);
bool share_part_take(struct share *s, struct share_part *p, unsigned kind, uint64_t n);
void share_part_force(struct share *s, struct share_part *p, unsigned kind, uint64_t n);
void share_part_give(struct share *s, struct share_part *p, unsigned kind, uint64_t n);

#endif

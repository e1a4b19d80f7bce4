/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stateid: opens, lock owners, delegations and layouts, and a client's table of them (RFC 8881
 * section 8.2).
 */
#ifndef RNFS_SERVE_STATE_STATEID_H
#define RNFS_SERVE_STATE_STATEID_H

#include "contrib/serve/state/client.h"
#include "nfsproto/common/lock_ranges.h"
#include "nfsproto/wire/nfs4_xdr_cb.h"

enum st_kind { ST_OPEN, ST_LOCK, ST_DELEG, ST_LAYOUT };

/* A request for the attributes of a file with a write delegation (inquiry.h). */
struct inquiry {
	/* Set by the maker. inquiry_end_all() calls done, on any thread. */
	void (*done)(struct inquiry *q);
	/* The answer: NFS4_OK, or NFS4ERR_DELAY while the delegation is being recalled. */
	uint32_t status;
	bool said;	       /* the holder has sent: */
	uint64_t change, size; /* ... both; otherwise the attributes on disk are right */
	uint64_t base;	       /* the change attribute when the delegation was given */
	/* inquiry.c's */
	uint64_t made_ns;
	TAILQ_ENTRY(inquiry) link;
};
TAILQ_HEAD(inquiries, inquiry);

/* Members for a delegation only (deleg.h); obj->lock. */
struct st_deleg {
	struct nfs4_referring_call given; /* the request that got the delegation */
	uint64_t given_ns, again_ns;	  /* when given; when to recall again */
	uint64_t recalled_ns;		  /* 0: not recalled; delegs.lock, too, to change */
	uint64_t ticked_ns;		  /* delegs.lock */
	uint64_t change;		  /* the file's change attribute at given_ns */
	struct inquiries asked, made; /* inquiries with the holder, and to be sent; delegs.lock */
	int wd;			      /* deleg_watch.h; -1: none */
	TAILQ_ENTRY(st) link;	      /* delegs.lock */
};

/* Members for a layout only (layout.h); obj->lock to change. */
struct st_layout {
	_Atomic uint8_t modes;		  /* 1 << layoutiomode4 each */
	atomic_bool doubted;		  /* layout_doubt() */
	struct nfs4_referring_call given; /* the request that got the layout last */
	uint64_t given_ns, again_ns;	  /* when given; when to recall again */
	uint64_t recalled_ns;		  /* 0: not recalled */
	uint64_t ticked_ns;		  /* layouts.lock */
	TAILQ_ENTRY(st) link;		  /* layouts.lock */
};

struct st {
	enum st_kind kind;
	struct nfs4_stateid sid; /* seqid: obj->lock and client->lock to change */
	struct client *client;
	struct share_part *part; /* referenced: share of the principal with the state */
	struct obj *obj;	 /* referenced */
	uint32_t owner_len;
	uint8_t *owner;
	_Atomic unsigned refs; /* at 0 no thread can find it any more */
	bool closed;	       /* obj->lock and client->lock to change */
	bool revoked;	 /* ST_DELEG: likewise; the file does not list the delegation any more */
	uint8_t counted; /* weight in nopens; obj->lock to change */
	/* ST_OPEN and ST_DELEG: the access of the holder; also, a lease is on fd_r. obj->lock, to
	 * change (descriptors: set once and before access, closed at the last reference) */
	_Atomic uint32_t access;
	uint32_t deny;
	_Atomic int fd_r, fd_w;
	/* ST_LOCK */
	struct st *open; /* referenced */
	struct lock_ranges ranges GUARDED_BY(obj->lock);
	union {
		struct st_deleg deleg;	 /* ST_DELEG */
		struct st_layout layout; /* ST_LAYOUT */
	};
	LIST_ENTRY(st) obj_link; /* obj->lock */
};

/* Makes a state in the share of `by`. NULL: out of memory. */
struct st *st_alloc(struct client *c, const struct rpc_cred *by, struct obj *o, enum st_kind kind,
	const void *owner, uint32_t owner_len);
/* Gives st a place and a stateid. client->lock is taken. NFS4_OK; NFS4ERR_DELAY: no room;
 * NFS4ERR_DEADSESSION: the client was removed while its request ran. */
uint32_t st_insert(struct client *c, struct st *st);
/* Takes st out of the client's table; the caller gets the table's reference. False: another thread
 * was faster. */
bool st_remove(struct client *c, struct st *st);
/* Looks sid up for file o (NULL: any). A status. */
uint32_t st_find_locked(struct client *c, const struct obj *o, const struct nfs4_stateid *sid,
	struct st **out) REQUIRES(c->lock);
/* The same, but also finds a revoked delegation (otherwise NFS4ERR_DELEG_REVOKED). */
uint32_t st_find_any_locked(struct client *c, const struct obj *o, const struct nfs4_stateid *sid,
	struct st **out) REQUIRES(c->lock);
/* st_find_locked() for one kind: with NFS4_OK *out is a reference, otherwise NULL. No client's lock
 * held. */
uint32_t st_get(struct client *c, struct obj *o, const struct nfs4_stateid *sid, enum st_kind kind,
	struct st **out);
/* Takes another reference. */
void st_ref(struct st *st);
void st_put(struct state *s, struct st *st);
/* Counts st as one more open, until its last reference is gone. False: there are too many. */
bool st_count_open(struct state *s, struct st *st);
/* st has changed: gives its stateid the next seqid, and copies the stateid to *out. obj->lock is
 * held. */
void st_bump_locked(struct st *st, struct nfs4_stateid *out);
/* Does the owner hold st? */
bool st_is_of(const struct st *st, uint64_t clientid, const struct nfs4_opaque *owner);
uint32_t st_test(struct client *c, const struct nfs4_stateid *sid);
/* Has c any state that is still usable? */
bool st_holds_any(struct client *c);
/* Has c any revoked delegation without an acknowledgement? */
bool st_any_revoked(struct client *c);

#endif

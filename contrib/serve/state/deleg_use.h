/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg_use: who may use a file while it is delegated to somebody else (RFC 8881 section 10.4), and
 * to whom it is delegated.
 *
 * A change of a file (by other ways than an open, which shows among its states) is announced while
 * it lasts: no delegation is given meanwhile that would not know of it.
 */
#ifndef RNFS_SERVE_STATE_DELEG_USE_H
#define RNFS_SERVE_STATE_DELEG_USE_H

#include "contrib/serve/state/deleg.h"
#include "nfsproto/wire/nfs4_xdr.h"

enum deleg_use {
	DELEG_LOOK,   /* reads data, or asks for size and times: in the way are those to write */
	DELEG_CHANGE, /* changes attributes or names: all are */
	DELEG_MODIFY, /* changes data: likewise, and a lease of the client's own ends */
};

/* by (NULL: somebody without a client record) is about to use o. NFS4_OK: deleg_end_use() with the
 * same use must follow. NFS4ERR_DELAY: delegations of others are being recalled. No lock held. */
uint32_t deleg_begin_use(
	struct state *s, struct obj *o, const struct client *by, enum deleg_use use);
void deleg_end_use(struct state *s, struct obj *o, enum deleg_use use);
/* Is o delegated to somebody other than by, to write? Then only its holder knows what it looks
 * like.
 */
bool deleg_hides(struct state *s, struct obj *o, const struct client *by);
/* by opens o with that share access and deny; obj->lock is held. NFS4_OK, or NFS4ERR_DELAY with
 * *holder (else 0): the client that is in the way, which may have expired. */
uint32_t deleg_open_locked(struct state *s, struct obj *o, const struct client *by, uint32_t access,
	uint32_t deny, uint64_t *holder);

/* What an OPEN says about delegations. */
struct deleg_ask {
	uint32_t access;  /* what was opened */
	uint32_t want;	  /* OPEN4_SHARE_ACCESS_WANT_*, with the bits beside the mask */
	bool reclaim;	  /* CLAIM_PREVIOUS, of ... */
	uint32_t claimed; /* ... an open_delegation_type4 */
	bool cur;	  /* by a claim that names a delegation: no further one is wanted */
	uint64_t change;  /* the file's change attribute */
	struct nfs4_referring_call by; /* the request */
};
/* o was opened by ses's client under the stateid open: does it get a delegation, too? *d is what
 * the answer says of it. */
void deleg_grant(struct state *s, struct session *ses, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_stateid *open, const struct deleg_ask *ask, struct nfs4_delegation *d);

#endif

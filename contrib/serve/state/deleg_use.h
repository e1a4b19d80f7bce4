/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg_use: decides whether a client may use a file while another client has a delegation of it
 * (RFC 8881 section 10.4), and grants delegations.
 *
 * A change of a file by other ways than an open is announced while it lasts. (An open shows among
 * the file's states.) Meanwhile no delegation is given that would not know of the change.
 */
#ifndef RNFS_SERVE_STATE_DELEG_USE_H
#define RNFS_SERVE_STATE_DELEG_USE_H

#include "contrib/serve/state/deleg.h"
#include "nfsproto/wire/nfs4_xdr.h"

enum deleg_use {
	DELEG_LOOK,   /* reads data, or asks for size and times: conflicts with write delegations */
	DELEG_CHANGE, /* changes attributes or names: conflicts with all delegations */
	DELEG_MODIFY, /* changes data: conflicts with all, and a lease of the client's own ends */
};

/* The client `by` (NULL: a caller without a client record) is about to use o. NFS4_OK:
 * deleg_end_use() with the same use must follow. NFS4ERR_DELAY: other clients' delegations are
 * being recalled. No lock held. */
uint32_t deleg_begin_use(
	struct state *s, struct obj *o, const struct client *by, enum deleg_use use);
void deleg_end_use(struct state *s, struct obj *o, enum deleg_use use);
/* Has another client than `by` a write delegation of o? If so, only that client knows the file's
 * size and times. */
bool deleg_hides(struct state *s, struct obj *o, const struct client *by);
/* The client `by` opens o with that share access and deny. NFS4_OK, or
 * NFS4ERR_DELAY with *holder (otherwise 0): the conflicting client, which may have expired. */
uint32_t deleg_open_locked(struct state *s, struct obj *o, const struct client *by, uint32_t access,
	uint32_t deny, uint64_t *holder) REQUIRES(o->lock);

/* The delegation that an OPEN asks for. */
struct deleg_ask {
	uint32_t access;  /* as opened */
	uint32_t want;	  /* OPEN4_SHARE_ACCESS_WANT_*, with the bits beside the mask */
	bool reclaim;	  /* CLAIM_PREVIOUS, of ... */
	uint32_t claimed; /* ... an open_delegation_type4 */
	bool cur;	  /* the claim names a delegation: no further one is wanted */
	uint64_t change;  /* the file's change attribute */
	struct nfs4_referring_call by; /* the request */
};
/* ses's client has opened o under the stateid open. Gives the client a delegation, too, if
 * possible. *d is set for the answer. */
void deleg_grant(struct state *s, struct session *ses, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_stateid *open, const struct deleg_ask *ask, struct nfs4_delegation *d);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lock: the operations on byte-range locks (RFC 8881 sections 9.1 to 9.3, 18.10 to 18.12), and
 * NLM's.
 */
#ifndef RNFS_SERVE_STATE_LOCK_H
#define RNFS_SERVE_STATE_LOCK_H

#include "contrib/serve/state/ranges.h"
#include "contrib/serve/state/session.h"

/* by: the caller's credential; the ranges of a new lock owner count in its share. */
uint32_t lock_set(struct state *s, struct session *ses, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_lock_args *a, struct nfs4_lock_res *r, uint8_t *denied_owner);
uint32_t lock_test(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_lockt_args *a, struct nfs4_lock_denied *d, uint8_t *denied_owner);
uint32_t lock_clear(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_locku_args *a, struct nfs4_stateid *out);
/* The same for lock owners without an open, the owners of NLM. *d is filled in with NFS4ERR_DENIED.
 */
uint32_t lock_set_plain(struct state *s, struct client *c, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w, struct nfs4_lock_denied *d,
	uint8_t *denied_owner);
uint32_t lock_clear_plain(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_opaque *owner, uint64_t first, uint64_t last);
uint32_t st_free(struct state *s, struct client *c, const struct nfs4_stateid *sid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * client_id: makes records of clients: EXCHANGE_ID (RFC 8881 section 18.35), the confirmation by
 * the first session, and hosts that lock by NLM.
 */
#ifndef RNFS_SERVE_STATE_CLIENT_ID_H
#define RNFS_SERVE_STATE_CLIENT_ID_H

#include "contrib/serve/state/client.h"

uint32_t client_exchange_id(struct state *s, const struct rpc_cred *cred, const char *peer,
	const struct share_key *who, const struct nfs4_exchange_id_args *a,
	struct nfs4_exchange_id_res *r);
/* A reference to the record of a host that locks by NLM. owner: the host's name, at most
 * NFS4_OPAQUE_LIMIT bytes. make: makes the record if there is none. Such a record never expires, as
 * its locks have no lease. NULL: no record, or no room. */
struct client *client_nlm(struct state *s, const char *peer, const struct share_key *who,
	const struct nfs4_opaque *owner, bool make);
/* The client has been confirmed: removes older records of the same owner. Returns
 * a list, linked by link, of records that the caller must give to client_dispose() after
 * unlocking. */
struct client *client_confirm_locked(struct state *s, struct client *c) REQUIRES(s->lock);

#endif

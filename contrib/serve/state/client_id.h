/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * client_id: who becomes a client: EXCHANGE_ID (RFC 8881 section 18.35), the confirmation by the
 * first session, and hosts that lock by NLM.
 */
#ifndef RNFS_SERVE_STATE_CLIENT_ID_H
#define RNFS_SERVE_STATE_CLIENT_ID_H

#include "contrib/serve/state/client.h"

uint32_t client_exchange_id(struct state *s, const struct rpc_cred *cred, const char *peer,
	const struct share_key *who, const struct nfs4_exchange_id_args *a,
	struct nfs4_exchange_id_res *r);
/* A reference to the record of the host owner (its name, at most NFS4_OPAQUE_LIMIT bytes) that
 * locks by NLM; made if there is none and make. Its locks have no lease: it never expires. NULL:
 * there is none, or no room. */
struct client *client_nlm(struct state *s, const char *peer, const struct share_key *who,
	const struct nfs4_opaque *owner, bool make);
/* The client has been confirmed: older records of the same owner go. state->lock held. Those that
 * the caller must give to client_dispose() after unlocking come back as a list through link. */
struct client *client_confirm_locked(struct state *s, struct client *c);

#endif

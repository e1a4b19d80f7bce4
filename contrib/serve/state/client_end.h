/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * client_end: how a client's record comes to its end: destroyed by it, replaced, or in the way of
 * others. What it held ends with it.
 */
#ifndef RNFS_SERVE_STATE_CLIENT_END_H
#define RNFS_SERVE_STATE_CLIENT_END_H

#include "contrib/serve/state/client.h"

/* Takes c out of the table (state->lock held). The table's reference is the caller's. */
void client_remove_locked(struct state *s, struct client *c);
/* Ends sessions and states of a removed client and drops the table's reference. No lock held. */
void client_dispose(struct state *s, struct client *c);
/* Ends all opens and locks of c. No lock held. */
void client_drop_states(struct state *s, struct client *c);
uint32_t client_destroy(struct state *s, const struct rpc_cred *cred, uint64_t clientid);

/* Both look at the records of h, or at all if it is NULL, but not at spare; state->lock is held.
 * The one that can best be spared, if any: expired, oldest first. */
struct client *client_victim_locked(struct state *s, const struct share_holder *h, uint64_t spare);
/* The confirmed one without state that has been silent for longest, if any. */
struct client *client_idle_locked(struct state *s, const struct share_holder *h, uint64_t spare);

/* An expired client that is in the way of another loses everything. True if it was one. */
bool client_evict_expired(struct state *s, uint64_t clientid);
/* A client of the same holder as clientid's, other than that and without any state, is forgotten.
 * True if there was one. */
bool client_evict_own(struct state *s, uint64_t clientid);
/* The longest expired client other than clientid loses everything. True if there was one. */
bool client_evict_one(struct state *s, uint64_t clientid);

#endif

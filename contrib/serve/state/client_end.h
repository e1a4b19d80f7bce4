/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * client_end: ends a client's record: at the client's request, when it is replaced, or when other
 * clients need room. The client's state ends with it.
 */
#ifndef RNFS_SERVE_STATE_CLIENT_END_H
#define RNFS_SERVE_STATE_CLIENT_END_H

#include "contrib/serve/state/client.h"

/* Takes c out of the table. The table's reference is the caller's. */
void client_remove_locked(struct state *s, struct client *c) REQUIRES(s->lock);
/* Ends sessions and states of a removed client and drops the table's reference. No lock held. */
void client_dispose(struct state *s, struct client *c);
/* Ends all opens and locks of c. No lock held. */
void client_drop_states(struct state *s, struct client *c);
uint32_t client_destroy(struct state *s, const struct rpc_cred *cred, uint64_t clientid);

/* Both look at the records of h (NULL: at all) except spare.
 * client_victim_locked(): the expired one that can best be spared, oldest first, or NULL. */
struct client *client_victim_locked(struct state *s, const struct share_holder *h, uint64_t spare)
	REQUIRES(s->lock);
/* The confirmed one without state that has been silent for longest, or NULL. */
struct client *client_idle_locked(struct state *s, const struct share_holder *h, uint64_t spare)
	REQUIRES(s->lock);

/* Takes everything from an expired client that conflicts with another. True if the client had
 * expired. */
bool client_evict_expired(struct state *s, uint64_t clientid);
/* Forgets a client of the same holder as clientid's, other than that and without any state. True if
 * there was one. */
bool client_evict_own(struct state *s, uint64_t clientid);
/* Takes everything from the longest expired client other than clientid. True if there was one. */
bool client_evict_one(struct state *s, uint64_t clientid);

#endif

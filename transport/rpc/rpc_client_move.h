/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client_move: calls leave a path that is down for a path that is up. Model: rpc_paths.h.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CLIENT_MOVE_H
#define RNFS_TRANSPORT_RPC_RPC_CLIENT_MOVE_H

#include "transport/rpc/rpc_client_impl.h"

/* Gives the calls that wait for a connection to another path, if one is up. Progress thread of c,
 * which is down. */
void client_hand_over(struct rpc_client *c);
/* c is up: the paths that are down look at their calls again. Progress thread of c. */
void client_relieve(struct rpc_client *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client_hello: the first call on each connection of a client that asks for one
 * (rpc_client_params.hello): the null procedure. A server may close a connection that carries no
 * call, and a path among several may carry none for long.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CLIENT_HELLO_H
#define RNFS_TRANSPORT_RPC_RPC_CLIENT_HELLO_H

#include "transport/rpc/rpc_client_impl.h"

/* Starts the call, if c asks for it and none is under way. Without memory there is no call.
 * Progress thread. */
void client_hello(struct rpc_client *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client_timer: a client's actions after a time. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CLIENT_TIMER_H
#define RNFS_TRANSPORT_RPC_RPC_CLIENT_TIMER_H

#include "transport/rpc/rpc_client_impl.h"

/* Tells once, until there is an answer, that the server is silent. */
void client_not_responding(struct rpc_client *c);
/* The connector's last attempt has failed. Does the same, but first names the reason if the reason
 * is a limit of this machine: once, until there is a connection. */
void client_not_connected(struct rpc_client *c);
/* How long the thread may sleep, in ms, without missing a deadline by much. */
int client_tick_ms(struct rpc_client *c);
/* How long the thread may sleep now; a client with paths also looks for a silent peer. */
int client_sleep_ms(struct rpc_client *c);
/* Looks at all deadlines, now and then. */
void client_check_timers(struct rpc_client *c);
/* Closes the connection of a path whose peer is silent, if another path is up (rpc_paths.h). */
void client_check_silence(struct rpc_client *c);
/* The reply with header h refuses the call. A server says SYSTEM_ERR when short of memory, among
 * other things. A hard client then asks again with the same XID, as nothing was carried out. After
 * a rejected credential the client asks again with a refreshed one. True: call stays in the
 * table. */
bool client_ask_again(struct rpc_client *c, struct rpc_call *call, const struct rpc_reply_hdr *h);
/* Ends a call that was not sent, or has it marshalled again later. call->unsent holds the
 * reason. */
void client_unsent(struct rpc_client *c, struct rpc_call *call);
/* Sends the calls to be asked again whose pause is over. Only while there is a connection. Returns
 * ms until the next is due, or max. */
int client_send_again(struct rpc_client *c, int max);

#endif

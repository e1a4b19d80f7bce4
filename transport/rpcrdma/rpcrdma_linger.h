/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_linger: patient calls, without a waiting thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_LINGER_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_LINGER_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* May a call that is posted now stay until the next message leaves? True: post the call under
 * PROV_MORE, then call rpcrdma_linger(). False: the call takes all waiting calls along. Any thread
 * that is not handling completions. */
bool rpcrdma_may_linger(struct rpcrdma_conn *c, bool patient);
/* rpcrdma_linger.c: patient calls, without a waiting thread. */
void rpcrdma_linger(struct rpcrdma_conn *c);
/* Sends the waiting calls, if the oldest has waited long enough; progress thread. */
void rpcrdma_linger_look(struct rpcrdma_conn *c);
/* Sends the waiting calls at once. */
void rpcrdma_linger_end(struct rpcrdma_conn *c);
/* Does the provider's wait(), for no longer than waiting calls allow; progress thread. */
void rpcrdma_sleep(struct rpcrdma_conn *c, int kick_fd, int timeout_ms);

#endif

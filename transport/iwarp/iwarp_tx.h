/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_tx: sending.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_TX_H
#define RNFS_TRANSPORT_IWARP_IWARP_TX_H

#include "transport/iwarp/iwarp_impl.h"

/* Any thread. Queues a request; reads beyond ord wait. 0, -ENOTCONN, -ENOBUFS, -EINVAL. */
int iwarp_tx_post(struct iwarp_conn *c, const struct prov_wr *wr);
/* Bytes of a TCP segment as the kernel would send one now. */
unsigned iwarp_tx_segment(const struct iwarp_conn *c);
/* Any thread. Writes queued requests as far as the socket takes them. */
void iwarp_tx_flush(struct iwarp_conn *c);
/* Progress thread: answers a checked Read Request from memory at addr. False: the peer has more
 * reads under way than ird allows. */
bool iwarp_tx_read_resp(struct iwarp_conn *c, const struct ddp_read_req *r, uint8_t *addr);
/* Progress thread: copies the unsent bytes of the door out of it. 0 or -ENOMEM. */
int iwarp_tx_detach(struct iwarp_conn *c, uint32_t stag);
/* Progress thread: sends a Terminate instead of the waiting requests, if the socket takes it at
 * once. */
void iwarp_tx_terminate(struct iwarp_conn *c, const struct ddp_term *t);
/* Progress thread: drops all requests; no memory of the user is touched afterwards. */
void iwarp_tx_purge(struct iwarp_conn *c);
/* Progress thread, the oldest read of ours. */
bool iwarp_tx_oldest_read(struct iwarp_conn *c, struct iwarp_read *r);
void iwarp_tx_read_got(struct iwarp_conn *c, uint32_t n);
/* Takes the oldest read off and lets a waiting one go. */
void iwarp_tx_read_done(struct iwarp_conn *c);

#endif

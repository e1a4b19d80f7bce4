/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_rx: from the byte stream to FPDUs. Progress thread.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_RX_H
#define RNFS_TRANSPORT_IWARP_IWARP_RX_H

#include "transport/iwarp/iwarp_impl.h"

/* 0 or -ENOMEM. */
int iwarp_rx_init(struct iwarp_rx *rx);
/* Takes the next step with the bytes in the look-ahead buffer. */
enum iwarp_step iwarp_rx_step(struct iwarp_conn *c, struct prov_wc *wc);
/* Reads from the socket. 0, -EAGAIN, or -EIO after iwarp_fail(). */
int iwarp_rx_fill(struct iwarp_conn *c);

#endif

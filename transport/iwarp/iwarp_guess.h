/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_guess: segments placed before their headers have been read. Progress thread.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_GUESS_H
#define RNFS_TRANSPORT_IWARP_IWARP_GUESS_H

#include "transport/iwarp/iwarp_impl.h"

/* For iwarp_rx_fill(): the pieces of a recvmsg() that places foreseen segments (at
 * most IWARP_GUESS_IOV). 0: no segment can be foreseen. */
unsigned iwarp_guess_make(struct iwarp_conn *c, struct iovec *iov);
/* n bytes came into those pieces, n > 0. 0, or -EIO after the stream was terminated. */
int iwarp_guess_settle(struct iwarp_conn *c, size_t n);

#endif

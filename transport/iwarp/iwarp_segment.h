/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_segment: the rest of a segment: its payload, pad and CRC. Progress thread.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_SEGMENT_H
#define RNFS_TRANSPORT_IWARP_IWARP_SEGMENT_H

#include "transport/iwarp/iwarp_impl.h"

/* Directs the rest of this segment's payload to rx->waste. False after iwarp_fail(): out of
 * memory. */
bool iwarp_segment_waste(struct iwarp_conn *c);
/* The pieces of the next recvmsg() if no segment is foreseen. */
unsigned iwarp_segment_pieces(struct iwarp_rx *rx, struct iovec iov[2]);
/* Up to n bytes at rx->dst have come from the socket; returns how many are payload. */
size_t iwarp_segment_placed(struct iwarp_conn *c, size_t n);
/* Pad and CRC of the segment are at p. False after the stream was terminated. */
bool iwarp_segment_trailer(struct iwarp_conn *c, const uint8_t *p);
/* How far to look beyond a segment or message. last: the segment ends its message, of msg bytes. */
unsigned iwarp_segment_look_ahead(const struct iwarp_rx *rx, bool last, uint32_t msg);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_segment: the rest of a segment: its payload, pad and CRC. Progress thread only.
 *
 * How many bytes to read behind the payload is a guess, which only costs or saves copying. Inside a
 * large segment there is room just for the trailer and the next header. Behind a large message
 * there is room for a small one, otherwise the whole buffer.
 */
#include "transport/iwarp/iwarp_segment.h"

#include <stdlib.h>

#include "transport/crc32c.h"
#include "transport/iwarp/iwarp_end.h"

#define LARGE_FPDU  8192u /* payload at which copying costs more than another recvmsg() */
#define LARGE_MSG   32768u
#define SENDS_ALONE 3 /* more Sends in a row than this: large messages are over */

enum {
	AHEAD_INSIDE = 4 + 3 + 2 + DDP_TAGGED_LEN, /* trailer and next header */
	AHEAD_BEHIND = 1024,			   /* a Send and the next header */
};

bool iwarp_segment_waste(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;

	if (!rx->waste)
		rx->waste = malloc(IWARP_SEG_MAX);
	if (!rx->waste)
		iwarp_fail(c, "out of memory for what %s writes to a cancelled call", c->peer);
	rx->dst = rx->waste;
	return rx->waste;
}

unsigned iwarp_segment_look_ahead(const struct iwarp_rx *rx, bool last, uint32_t msg)
{
	if (!last)
		return rx->pay >= LARGE_FPDU ? (unsigned)AHEAD_INSIDE : IWARP_LOOKAHEAD;
	return rx->large || msg >= LARGE_MSG ? (unsigned)AHEAD_BEHIND : IWARP_LOOKAHEAD;
}

unsigned iwarp_segment_pieces(struct iwarp_rx *rx, struct iovec iov[2])
{
	unsigned n = 0, want;

	if (rx->state == IWARP_RX_PAYLOAD) {
		iov[n++] = (struct iovec){.iov_base = rx->dst, .iov_len = rx->left};
		want = iwarp_segment_look_ahead(
			rx, rx->h.last, rx->h.tagged ? rx->msg + rx->pay : 0);
	} else {
		bool inside = rx->h.tagged && !rx->h.last && rx->pay < LARGE_FPDU;

		want = (rx->large && !inside ? (unsigned)AHEAD_BEHIND : IWARP_LOOKAHEAD) - rx->wr;
	}
	iov[n++] = (struct iovec){.iov_base = rx->buf + rx->wr, .iov_len = want};
	return n;
}

size_t iwarp_segment_placed(struct iwarp_conn *c, size_t n)
{
	struct iwarp_rx *rx = &c->rx;

	if (n > rx->left)
		n = rx->left;
	if (c->crc)
		rx->crc = crc32c(rx->crc, rx->dst, n);
	rx->dst += n;
	rx->left -= (uint32_t)n;
	return n;
}

/* Learns from the segment about the next ones. */
static void learn(struct iwarp_rx *rx)
{
	if (rx->h.tagged) {
		rx->sends = 0;
		rx->msg += rx->pay;
		if (rx->h.last) {
			rx->large = rx->msg >= LARGE_MSG;
			rx->msg = 0;
		}
	} else if (++rx->sends > SENDS_ALONE) {
		rx->large = false;
	}
}

bool iwarp_segment_trailer(struct iwarp_conn *c, const uint8_t *p)
{
	struct iwarp_rx *rx = &c->rx;
	unsigned pad = mpa_pad(rx->ulpdu);

	if (c->crc) {
		uint32_t got = p[pad] | (uint32_t)p[pad + 1] << 8 | (uint32_t)p[pad + 2] << 16 |
			       (uint32_t)p[pad + 3] << 24;

		rx->crc = crc32c(rx->crc, p, pad);
		if (got != rx->crc) {
			iwarp_terminate(c, MPA_ERR_CRC,
				"CRC of a segment of %u bytes is %08x, its field says %08x",
				rx->ulpdu, rx->crc, got);
			return false;
		}
	}
	rx->state = IWARP_RX_HEADER;
	learn(rx);
	return true;
}

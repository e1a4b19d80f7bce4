/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp: from the byte stream to FPDUs. Progress thread only.
 *
 * The look-ahead buffer holds what was read and not used yet, buf[rd..wr). In state PAYLOAD what it
 * holds is moved to the target first; when that was not all, the next recvmsg() reads the rest of
 * the payload into the target and what follows into the (then empty) look-ahead buffer. How much
 * may follow is a guess that only costs or saves copying: inside a large message just the trailer
 * and the next header, behind a large message room for a small one, otherwise all that is there.
 */
#include "transport/iwarp/iwarp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/crc32c.h"

#define LARGE_FPDU  8192u /* payload from which copying costs more than another recvmsg() */
#define LARGE_MSG   32768u
#define SENDS_ALONE 3 /* more Sends in a row than this: large messages are over */

enum {
	AHEAD_INSIDE = 4 + 3 + 2 + DDP_TAGGED_LEN, /* trailer and next header */
	AHEAD_BEHIND = 1024,			   /* a Send and the next header */
};

int iwarp_rx_init(struct iwarp_rx *rx)
{
	memset(rx, 0, sizeof(*rx));
	rx->buf = malloc(IWARP_LOOKAHEAD);
	for (int i = 0; i < 3; i++)
		rx->msn[i] = 1;
	return rx->buf ? 0 : -ENOMEM;
}

bool iwarp_rx_waste(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;

	if (!rx->waste)
		rx->waste = malloc(IWARP_SEG_MAX);
	if (!rx->waste)
		iwarp_fail(c, "out of memory for what %s writes to a cancelled call", c->peer);
	rx->dst = rx->waste;
	return rx->waste;
}

/* How far to look beyond the payload that is missing. */
static unsigned look_ahead(const struct iwarp_rx *rx)
{
	if (rx->pay >= LARGE_FPDU && !rx->h.last)
		return AHEAD_INSIDE;
	if (rx->large || (rx->pay >= LARGE_FPDU && rx->msg + rx->pay >= LARGE_MSG))
		return AHEAD_BEHIND;
	return IWARP_LOOKAHEAD;
}

int iwarp_rx_fill(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	struct iovec iov[2];
	struct msghdr m = {.msg_iov = iov};
	size_t want, direct = 0;
	ssize_t n;

	if (rx->rd == rx->wr) {
		rx->rd = rx->wr = 0;
	} else if (rx->rd) {
		memmove(rx->buf, rx->buf + rx->rd, rx->wr - rx->rd);
		rx->wr -= rx->rd;
		rx->rd = 0;
	}
	if (rx->state == IWARP_RX_PAYLOAD) {
		direct = rx->left;
		iov[m.msg_iovlen++] = (struct iovec){.iov_base = rx->dst, .iov_len = direct};
		want = look_ahead(rx);
	} else {
		want = (rx->large ? (unsigned)AHEAD_BEHIND : IWARP_LOOKAHEAD) - rx->wr;
	}
	iov[m.msg_iovlen++] = (struct iovec){.iov_base = rx->buf + rx->wr, .iov_len = want};
	do {
		n = recvmsg(c->fd, &m, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
		rx->dry = true;
		return -EAGAIN;
	}
	if (n <= 0) {
		if (n < 0)
			iwarp_fail(c, "connection to %s lost: %s", c->peer, strerror(errno));
		else
			iwarp_fail(c, "%s closed the connection", c->peer);
		return -EIO;
	}
	rx->dry = (size_t)n < direct + want;
	if (direct) {
		size_t k = (size_t)n < direct ? (size_t)n : direct;

		if (c->crc)
			rx->crc = crc32c(rx->crc, rx->dst, k);
		rx->dst += k;
		rx->left -= (uint32_t)k;
		n -= (ssize_t)k;
	}
	rx->wr += (unsigned)n;
	return 0;
}

static enum iwarp_step step_header(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	const uint8_t *p = rx->buf + rx->rd;
	unsigned avail = rx->wr - rx->rd, hlen;

	if (avail < 2 + DDP_TAGGED_LEN)
		return IWARP_STEP_NEED;
	rx->ulpdu = (unsigned)p[0] << 8 | p[1];
	hlen = p[2] & 0x80 ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;
	if (rx->ulpdu < hlen) {
		unsigned n = rx->ulpdu;

		rx->ulpdu = 0; /* there is no header to send back */
		iwarp_msg_terminate(c, RDMAP_ERR_UNSPECIFIED,
			"a segment of %u bytes is shorter than its header", n);
		return IWARP_STEP_FAIL;
	}
	if (avail < 2 + hlen)
		return IWARP_STEP_NEED;
	ddp_get(p + 2, hlen, &rx->h);
	memcpy(rx->raw, p + 2, hlen);
	rx->pay = rx->left = rx->ulpdu - hlen;
	rx->dst = NULL;
	if (!iwarp_msg_begin(c))
		return IWARP_STEP_FAIL;
	if (c->crc)
		rx->crc = crc32c(0, p, 2 + hlen);
	rx->rd += 2 + hlen;
	rx->state = rx->left ? IWARP_RX_PAYLOAD : IWARP_RX_TRAILER;
	return IWARP_STEP_ON;
}

static enum iwarp_step step_payload(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	uint32_t n = rx->wr - rx->rd;

	if (n > rx->left)
		n = rx->left;
	if (n) {
		memcpy(rx->dst, rx->buf + rx->rd, n);
		if (c->crc)
			rx->crc = crc32c(rx->crc, rx->dst, n);
		rx->rd += n;
		rx->dst += n;
		rx->left -= n;
	}
	if (rx->left)
		return IWARP_STEP_NEED;
	rx->state = IWARP_RX_TRAILER;
	return IWARP_STEP_ON;
}

static enum iwarp_step step_trailer(struct iwarp_conn *c, struct prov_wc *wc)
{
	struct iwarp_rx *rx = &c->rx;
	const uint8_t *p = rx->buf + rx->rd;
	unsigned pad = mpa_pad(rx->ulpdu);

	if (rx->wr - rx->rd < pad + 4)
		return IWARP_STEP_NEED;
	if (c->crc) {
		uint32_t got = p[pad] | (uint32_t)p[pad + 1] << 8 | (uint32_t)p[pad + 2] << 16 |
			       (uint32_t)p[pad + 3] << 24;

		rx->crc = crc32c(rx->crc, p, pad);
		if (got != rx->crc) {
			iwarp_msg_terminate(c, MPA_ERR_CRC,
				"CRC of a segment of %u bytes is %08x, its field says %08x",
				rx->ulpdu, rx->crc, got);
			return IWARP_STEP_FAIL;
		}
	}
	rx->rd += pad + 4;
	rx->state = IWARP_RX_HEADER;
	if (rx->h.tagged) {
		rx->sends = 0;
		/* many small segments (an Ethernet's) are better read buffered, whatever they make
		 * up */
		if (!rx->msg)
			rx->big = rx->pay >= LARGE_FPDU;
		rx->msg += rx->pay;
		if (rx->h.last) {
			rx->large = rx->big && rx->msg >= LARGE_MSG;
			rx->msg = 0;
		}
	} else if (++rx->sends > SENDS_ALONE) {
		rx->large = false;
	}
	return iwarp_msg_end(c, wc);
}

enum iwarp_step iwarp_rx_step(struct iwarp_conn *c, struct prov_wc *wc)
{
	switch (c->rx.state) {
	case IWARP_RX_HEADER:
		return step_header(c);
	case IWARP_RX_PAYLOAD:
		return step_payload(c);
	case IWARP_RX_TRAILER:
		return step_trailer(c, wc);
	}
	return IWARP_STEP_FAIL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp: from the byte stream to FPDUs. Progress thread only.
 *
 * The look-ahead buffer holds read but unused bytes, buf[rd..wr). In state PAYLOAD these bytes are
 * moved to the target first. If more are missing, the next recvmsg() reads the rest of the payload
 * into the target. The bytes behind the payload go into the (then empty) look-ahead buffer.
 *
 * The room for the bytes behind is a guess, which only costs or saves copying. Inside a large
 * segment there is room just for the trailer and the next header. Behind a large message there is
 * room for a small one, otherwise the whole buffer. Between the two, iwarp_guess.c puts the
 * foreseen segments.
 */
#include "transport/iwarp/iwarp_rx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/crc32c.h"
#include "transport/iwarp/iwarp_end.h"
#include "transport/iwarp/iwarp_guess.h"
#include "transport/iwarp/iwarp_msg.h"
#include "transport/iwarp/iwarp_segment.h"

int iwarp_rx_init(struct iwarp_rx *rx)
{
	memset(rx, 0, sizeof(*rx));
	rx->buf = malloc(IWARP_RX_BUF);
	rx->guess.reach = IWARP_GUESS_SEGS;
	for (int i = 0; i < 3; i++)
		rx->msn[i] = 1;
	return rx->buf ? 0 : -ENOMEM;
}

int iwarp_rx_fill(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	struct iovec iov[IWARP_GUESS_IOV];
	struct msghdr m = {.msg_iov = iov};
	size_t want = 0;
	ssize_t n;

	if (rx->rd == rx->wr) {
		rx->rd = rx->wr = 0;
	} else if (rx->rd) {
		memmove(rx->buf, rx->buf + rx->rd, rx->wr - rx->rd);
		rx->wr -= rx->rd;
		rx->rd = 0;
	}
	m.msg_iovlen = iwarp_guess_make(c, iov);
	if (!m.msg_iovlen)
		m.msg_iovlen = iwarp_segment_pieces(rx, iov);
	for (size_t i = 0; i < m.msg_iovlen; i++)
		want += iov[i].iov_len;
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
	rx->dry = (size_t)n < want;
	if (rx->guess.n)
		return iwarp_guess_settle(c, (size_t)n);
	if (rx->state == IWARP_RX_PAYLOAD)
		n -= (ssize_t)iwarp_segment_placed(c, (size_t)n);
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
		iwarp_terminate(c, RDMAP_ERR_UNSPECIFIED,
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
	unsigned len = mpa_pad(rx->ulpdu) + 4;

	if (rx->wr - rx->rd < len)
		return IWARP_STEP_NEED;
	if (!iwarp_segment_trailer(c, rx->buf + rx->rd))
		return IWARP_STEP_FAIL;
	rx->rd += len;
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

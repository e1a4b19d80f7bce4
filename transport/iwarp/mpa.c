/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mpa: the frames that start an iWARP connection.
 */
#include "transport/iwarp/mpa.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
	F_MARKERS = 0x80,
	F_CRC = 0x40,
	F_REJECT = 0x20,
	F_ENHANCED = 0x10,
	/* F_LONG, reserved in RFC 5044. A software receiver can take FPDUs longer than a segment of
	 * TCP, and a sender whose kernel does the segmentation gains by long FPDUs. But a receiver
	 * need not take them (section 3), so a willing receiver has to say so. Linux's siw has
	 * defined F_LONG for this, in Requests and Replies, and does not use it. siw also repeats
	 * the bits of a Request in its Reply, so a Reply of ours has F_CONSENT beside F_LONG. */
	F_LONG = 0x08,
	F_CONSENT = 0x04,
};

/* RFC 6581 section 9: A and B lead the IRD word, C and D the ORD word. */
enum {
	W_FIRST = 0x8000,
	W_SECOND = 0x4000,
};

static const char *const request_key = "MPA ID Req Frame";
static const char *const reply_key = "MPA ID Rep Frame";

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static unsigned long_bits(bool reply)
{
	return reply ? F_LONG | F_CONSENT : F_LONG;
}

size_t mpa_encode(const struct mpa_frame *f, uint8_t *buf)
{
	uint8_t *p = buf + MPA_HDR_LEN;

	assert(f->priv_len <= MPA_MAX_PD - (f->enhanced ? MPA_WORDS_LEN : 0));
	memcpy(buf, f->reply ? reply_key : request_key, 16);
	buf[16] = (uint8_t)((f->markers ? F_MARKERS : 0) | (f->crc ? F_CRC : 0) |
			    (f->reject ? F_REJECT : 0) | (f->enhanced ? F_ENHANCED : 0) |
			    (f->long_fpdus ? long_bits(f->reply) : 0));
	buf[17] = f->rev;
	if (f->enhanced) {
		put16(p, (f->ird & MPA_DEPTH_ANY) | (f->peer_to_peer ? W_FIRST : 0) |
				 (f->rtr_send ? W_SECOND : 0));
		put16(p + 2, (f->ord & MPA_DEPTH_ANY) | (f->rtr_write ? W_FIRST : 0) |
				     (f->rtr_read ? W_SECOND : 0));
		p += MPA_WORDS_LEN;
	}
	if (f->priv_len)
		memcpy(p, f->priv, f->priv_len);
	p += f->priv_len;
	put16(buf + 18, (unsigned)(p - buf) - MPA_HDR_LEN);
	return (size_t)(p - buf);
}

int mpa_decode(const uint8_t hdr[MPA_HDR_LEN], bool reply, struct mpa_frame *f)
{
	memset(f, 0, sizeof(*f));
	if (memcmp(hdr, reply ? reply_key : request_key, 16) != 0)
		return -EPROTO;
	f->reply = reply;
	f->markers = hdr[16] & F_MARKERS;
	f->crc = hdr[16] & F_CRC;
	f->reject = reply && (hdr[16] & F_REJECT);
	f->rev = hdr[17];
	f->pd_len = get16(hdr + 18);
	if (f->rev != 1 && f->rev != 2)
		return -EPROTONOSUPPORT;
	/* These bits are reserved, and not to be checked, in revision 1. */
	f->enhanced = f->rev == 2 && (hdr[16] & F_ENHANCED);
	f->long_fpdus = f->rev == 2 && (hdr[16] & long_bits(reply)) == long_bits(reply);
	return f->pd_len > MPA_MAX_PD ? -EMSGSIZE : 0;
}

int mpa_decode_pd(struct mpa_frame *f, const uint8_t *pd)
{
	unsigned words = f->enhanced ? MPA_WORDS_LEN : 0;

	if (f->pd_len < words)
		return -EMSGSIZE;
	if (f->enhanced) {
		unsigned w0 = get16(pd), w1 = get16(pd + 2);

		f->peer_to_peer = w0 & W_FIRST;
		f->rtr_send = w0 & W_SECOND;
		f->ird = w0 & MPA_DEPTH_ANY;
		f->rtr_write = w1 & W_FIRST;
		f->rtr_read = w1 & W_SECOND;
		f->ord = w1 & MPA_DEPTH_ANY;
	}
	f->priv = pd + words;
	f->priv_len = (uint16_t)(f->pd_len - words);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mpa: the frames that start an iWARP connection and the framing of the later stream (RFC 5044, RFC
 * 6581). Pure functions: no I/O, no allocation.
 *
 * An FPDU is a 16-bit length, the ULPDU of that length, 0..3 bytes of pad and a CRC field, present
 * whether used or not. Markers are not supported: a peer that insists on markers is refused.
 */
#ifndef RNFS_TRANSPORT_IWARP_MPA_H
#define RNFS_TRANSPORT_IWARP_MPA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MPA_HDR_LEN   20  /* of a Request or Reply, before the private data */
#define MPA_MAX_PD    512 /* RFC 5044 section 7.1.1, RFC 6581's words included */
#define MPA_WORDS_LEN 4	  /* IRD and ORD in front of the private data */
#define MPA_MAX_FRAME (MPA_HDR_LEN + MPA_MAX_PD)
#define MPA_DEPTH_ANY 0x3fff /* IRD/ORD: "not negotiated here" (RFC 6581 section 9.1) */

struct mpa_frame {
	bool reply; /* Reply, else Request */
	bool markers, crc, reject;
	bool enhanced; /* ird, ord and the flags below are on the wire */
	bool peer_to_peer, rtr_send, rtr_write, rtr_read;
	bool long_fpdus; /* the sender of f takes FPDUs of any length, see mpa.c */
	uint8_t rev;	 /* 1 or 2 */
	uint16_t ird;	 /* 14 bits each */
	uint16_t ord;
	uint16_t pd_len; /* decode: bytes that follow the header on the wire */
	const uint8_t *priv;
	uint16_t priv_len; /* private data of the user, without the words */
};

/* Writes f to buf (MPA_MAX_FRAME bytes) and returns its length. priv_len is at most MPA_MAX_PD,
 * less MPA_WORDS_LEN if f is enhanced. */
size_t mpa_encode(const struct mpa_frame *f, uint8_t *buf);

/* Decodes the first MPA_HDR_LEN bytes. 0; -EPROTO: not the key of a Request (reply false) or Reply
 * (true); -EPROTONOSUPPORT: revision other than 1 and 2; -EMSGSIZE: pd_len over MPA_MAX_PD. */
int mpa_decode(const uint8_t hdr[MPA_HDR_LEN], bool reply, struct mpa_frame *f);
/* Decodes the f->pd_len bytes behind the header; f->priv points into pd. 0, or -EMSGSIZE: too short
 * for the words announced by the header. */
int mpa_decode_pd(struct mpa_frame *f, const uint8_t *pd);

/* Bytes of pad behind a ULPDU of n bytes. */
static inline unsigned mpa_pad(unsigned n)
{
	return -(n + 2) & 3;
}

#define MPA_MAX_MULPDU 64768 /* RFC 5044 section 3 */

/* The longest ULPDU with an FPDU that fits the TCP segment size emss (RFC 5044 section 4.5). */
static inline unsigned mpa_mulpdu(unsigned emss)
{
	unsigned n = emss < 128 ? 128 : emss & ~3u;

	return n - 6 > MPA_MAX_MULPDU ? MPA_MAX_MULPDU : n - 6;
}

#endif

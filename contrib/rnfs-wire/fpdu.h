/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fpdu: the ULPDUs in one direction of an MPA connection that is set up (RFC 5044 section 4).
 *
 * Bytes are given in the order of the stream, in pieces of any size. What is no whole FPDU yet is
 * kept: less than one FPDU can be long.
 */
#ifndef RNFS_CONTRIB_WIRE_FPDU_H
#define RNFS_CONTRIB_WIRE_FPDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fpdu {
	bool crc, markers;   /* as set-up has agreed on, for this direction */
	uint64_t bad_crc;    /* FPDUs whose CRC was wrong; they are taken all the same */
	uint8_t *raw;	     /* what is kept, markers among it */
	size_t len, cap, at; /* at: where the next FPDU begins in it */
	uint64_t pos;	/* raw[0]'s place in the stream: the first FPDU's, or its marker's, is 0 */
	uint8_t *clean; /* the last ULPDU without its markers */
};

void fpdu_init(struct fpdu *f, bool crc, bool markers);
void fpdu_finish(struct fpdu *f);
/* Takes the next bytes. 0, -ENOMEM. */
int fpdu_add(struct fpdu *f, const void *data, size_t len);
/* The next ULPDU; it stays valid until the next call. False: more bytes are needed. */
bool fpdu_next(struct fpdu *f, const uint8_t **ulpdu, size_t *len);

#endif

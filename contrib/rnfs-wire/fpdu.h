/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fpdu: the ULPDUs in one direction of an MPA connection after set-up (RFC 5044 section 4).
 *
 * The caller adds bytes in stream order, in pieces of any size. An incomplete FPDU is kept, so the
 * kept bytes are never more than one FPDU can have.
 */
#ifndef RNFS_CONTRIB_WIRE_FPDU_H
#define RNFS_CONTRIB_WIRE_FPDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fpdu {
	bool crc, markers;   /* as agreed in set-up for the direction */
	uint64_t bad_crc;    /* FPDUs with a wrong CRC; the ULPDUs count all the same */
	uint8_t *raw;	     /* the kept bytes, with markers */
	size_t len, cap, at; /* at: where the next FPDU begins in raw */
	uint64_t pos; /* the stream position of raw[0]; 0: the first FPDU, or the marker before that
			 FPDU */
	uint8_t *clean; /* the last ULPDU without its markers */
};

void fpdu_init(struct fpdu *f, bool crc, bool markers);
void fpdu_finish(struct fpdu *f);
/* Takes the next bytes. 0, -ENOMEM. */
int fpdu_add(struct fpdu *f, const void *data, size_t len);
/* Sets the next ULPDU, which stays valid until the next call. False: more bytes are needed. */
bool fpdu_next(struct fpdu *f, const uint8_t **ulpdu, size_t *len);

#endif

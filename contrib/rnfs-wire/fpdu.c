/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fpdu: see fpdu.h.
 */
#include "contrib/rnfs-wire/fpdu.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/crc32c.h"
#include "transport/iwarp/mpa.h"

#define MARKER	  4
#define EVERY	  512 /* bytes from one marker to the next */
#define CRC_LEN	  4
#define MAX_CLEAN (2 + UINT16_MAX + 3 + CRC_LEN)

void fpdu_init(struct fpdu *f, bool crc, bool markers)
{
	*f = (struct fpdu){.crc = crc, .markers = markers};
}

void fpdu_finish(struct fpdu *f)
{
	free(f->raw);
	free(f->clean);
	fpdu_init(f, false, false);
}

int fpdu_add(struct fpdu *f, const void *data, size_t len)
{
	uint8_t *grown;

	if (f->at) {
		memmove(f->raw, f->raw + f->at, f->len - f->at);
		f->pos += f->at;
		f->len -= f->at;
		f->at = 0;
	}
	if (f->markers && !f->clean) {
		f->clean = malloc(MAX_CLEAN);
		if (!f->clean)
			return -ENOMEM;
	}
	if (len > f->cap - f->len) {
		grown = realloc(f->raw, f->len + len);
		if (!grown)
			return -ENOMEM;
		f->raw = grown;
		f->cap = f->len + len;
	}
	if (len)
		memcpy(f->raw + f->len, data, len);
	f->len += len;
	return 0;
}

static void check_crc(struct fpdu *f, size_t begin, size_t end)
{
	uint32_t v = crc32c(0, f->raw + begin, end - begin), there;

	memcpy(&there, f->raw + end, sizeof(there));
	f->bad_crc += f->crc && v != le32toh(there);
}

/* Copies n bytes without markers from raw + *at to `to`. Moves *at behind the bytes, and behind the
 * markers before and among the bytes. False: raw has too few bytes. */
static bool copy(struct fpdu *f, size_t *at, uint8_t *to, size_t n)
{
	while (n) {
		size_t run = EVERY - (f->pos + *at) % EVERY;

		if (run == EVERY) {
			*at += MARKER;
			run -= MARKER;
		}
		if (run > n)
			run = n;
		if (*at > f->len || run > f->len - *at)
			return false;
		memcpy(to, f->raw + *at, run);
		*at += run;
		to += run;
		n -= run;
	}
	return true;
}

static bool next_marked(struct fpdu *f, const uint8_t **ulpdu, size_t *len)
{
	size_t at = f->at, end;
	uint8_t crc[CRC_LEN];

	if (!copy(f, &at, f->clean, 2))
		return false;
	*len = (size_t)f->clean[0] << 8 | f->clean[1];
	if (!copy(f, &at, f->clean + 2, *len + mpa_pad((unsigned)*len)) ||
		!copy(f, &at, crc, sizeof(crc)))
		return false;
	/* a marker between two FPDUs belongs to the later FPDU; the CRC covers an FPDU's markers */
	end = at - CRC_LEN;
	check_crc(f, f->at, end);
	*ulpdu = f->clean + 2;
	f->at = at;
	return true;
}

static bool next_plain(struct fpdu *f, const uint8_t **ulpdu, size_t *len)
{
	const uint8_t *p = f->raw + f->at;
	size_t left = f->len - f->at, end;

	if (left < 2)
		return false;
	*len = (size_t)p[0] << 8 | p[1];
	end = 2 + *len + mpa_pad((unsigned)*len);
	if (left < end + CRC_LEN)
		return false;
	check_crc(f, f->at, f->at + end);
	*ulpdu = p + 2;
	f->at += end + CRC_LEN;
	return true;
}

bool fpdu_next(struct fpdu *f, const uint8_t **ulpdu, size_t *len)
{
	if (!f->len)
		return false;
	return f->markers ? next_marked(f, ulpdu, len) : next_plain(f, ulpdu, len);
}

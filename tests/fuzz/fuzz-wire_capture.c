/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any bytes as a capture, for contrib/rnfs-wire: as a file of either format, and as the bytes that
 * both ends of a connection have sent.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/rnfs-wire/capture.h"
#include "contrib/rnfs-wire/conn.h"
#include "transport/iwarp/mpa.h"

/* The set-up that the first byte chooses, then the rest in turns. */
static void as_connection(struct sink *sink, const uint8_t *data, size_t size)
{
	uint8_t frame[MPA_MAX_FRAME];
	struct conn c;

	conn_init(&c, sink, 0);
	for (unsigned side = 0; side < 2 && size; side++) {
		struct mpa_frame m = {
			.reply = side, .rev = 1, .markers = *data & 1, .crc = *data & 2};

		conn_bytes(&c, side, frame, mpa_encode(&m, frame), 0);
	}
	for (size_t at = 1; at < size;) {
		size_t n = 1 + data[at] % 64;

		n = n < size - at ? n : size - at;
		conn_bytes(&c, data[at] >> 7, data + at, n, at);
		at += n;
	}
	conn_summary(&c);
	conn_finish(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct sink sink;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		abort();
	sink_init(&sink, nowhere);
	capture_print(&sink, data, size);
	as_connection(&sink, data, size);
	sink_finish(&sink);
	return 0;
}

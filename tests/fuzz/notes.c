/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * notes: the input of a fuzzer as the ledger of a former daemon.
 */
#include "tests/fuzz/notes.h"

#include <stdlib.h>
#include <string.h>

#define HEAD	  3u /* bytes in front of the contents */
#define UNDER_WAY (8u * (1 + 8192))

/* Returns the bytes that the note takes. */
static size_t put(struct ledger *l, const uint8_t *data, size_t size)
{
	enum note_kind kind = (enum note_kind)(1 + data[0] % (NOTE_KINDS - 1));
	size_t len = (size_t)data[1] << 8 | data[2];
	static uint8_t long_one[UNDER_WAY];
	struct note note = {0};

	if (len > size - HEAD)
		len = size - HEAD;
	if (kind == NOTE_UNDER_WAY && len < UNDER_WAY) {
		memset(long_one, 0, sizeof(long_one));
		memcpy(long_one, data + HEAD, len);
		ledger_put(l, &note, kind, long_one, sizeof(long_one));
	} else {
		ledger_put(l, &note, kind, data + HEAD, len);
	}
	return HEAD + len;
}

struct former *notes_of(struct ledger *l)
{
	struct err e = {0};
	struct former *f = former_read(ledger_fd(l), &e);

	if (!f)
		abort();
	return f;
}

struct former *notes_read(const uint8_t *data, size_t size)
{
	struct err e = {0};
	struct ledger *l = ledger_new(&e);
	struct former *f;

	if (!l)
		abort();
	while (size >= HEAD) {
		size_t took = put(l, data, size);

		data += took;
		size -= took;
	}
	f = notes_of(l);
	ledger_free(l);
	return f;
}

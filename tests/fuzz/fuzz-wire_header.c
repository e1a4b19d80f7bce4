/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any bytes as a transport header of every dialect, for contrib/rnfs-wire; and as digits.
 */
#include <stdlib.h>
#include <string.h>

#include "contrib/rnfs-wire/header.h"
#include "contrib/rnfs-wire/hex.h"

static void as_digits(const uint8_t *data, size_t size)
{
	char *string = malloc(size + 1);
	const char *at = string;
	uint8_t buf[64];

	if (!string)
		return;
	memcpy(string, data, size);
	string[size] = '\0';
	while (hex_next(&at, buf, sizeof(buf)) > 0)
		;
	free(string);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct header_talk talk = {0};
	struct header h;
	struct text t;

	text_init(&t);
	for (enum header_dialect d = HEADER_AUTO; d <= HEADER_V2_2016; d++) {
		text_clear(&t);
		header_read(&h, d, &talk, 0, data, size, &t);
		if (h.len > size || (h.verdict != HEADER_WRONG && size < 16))
			abort();
		header_title(&h, &t);
	}
	text_finish(&t);
	as_digits(data, size);
	return 0;
}

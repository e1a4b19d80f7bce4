/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: fs_locations as text.
 */
#include "nfsproto/v4/ops/nfs4_locations.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs4_opaque raw = {.data = data, .len = (uint32_t)size};
	char text[100];

	if (nfs4_locations_format(&raw, text, sizeof(text)) < 0 && text[0])
		__builtin_trap();
	if (!memchr(text, '\0', sizeof(text)))
		__builtin_trap();
	return 0;
}

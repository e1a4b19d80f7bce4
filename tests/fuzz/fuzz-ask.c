/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: the request of a command. A request that is understood is written as it is read.
 */
#include <stdint.h>
#include <string.h>

#include "cli/ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ask a, b;
	char line[ASK_MAX + 1];
	const char *why = NULL;
	size_t len;

	if (!ask_parse((const char *)data, size, &a, &why)) {
		if (!why)
			__builtin_trap();
		return 0;
	}
	len = ask_format(&a, line);
	if (!len || len > ASK_MAX || line[len - 1] != '\n')
		__builtin_trap();
	if (!ask_parse(line, len - 1, &b, &why) || memcmp(&a, &b, sizeof(a)) != 0)
		__builtin_trap();
	return 0;
}

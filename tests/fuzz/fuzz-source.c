/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any text as the source of a mount. A URL that is taken has a host and a path without control
 * characters, and only options that a link may set.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/source.h"

static void check_text(const char *s)
{
	if (!*s)
		abort();
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			abort();
}

static void check_options(char *list)
{
	static const char *const may[] = {"vers", "port", "proto", "mountport", "mountproto",
		"rsize", "wsize", "timeo", "retrans", "sec", "xprtsec"};
	char *item;

	while ((item = strsep(&list, ","))) {
		size_t i = 0, n = strcspn(item, "=");

		while (i < sizeof(may) / sizeof(may[0]) &&
			(strlen(may[i]) != n || strncmp(may[i], item, n)))
			i++;
		if (i == sizeof(may) / sizeof(may[0]) || !item[n] || !item[n + 1])
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct err e = {0};
	struct source s;

	if (!text)
		return 0;
	if (source_parse(&s, text, size & 1 ? SOURCE_EXPORT : SOURCE_MAY_BE_SERVER, &e)) {
		if (!e.msg[0])
			abort();
	} else if (!strncasecmp(text, "nfs://", 6) || !strncasecmp(text, "nfs+rdma://", 11)) {
		check_text(s.host);
		if (s.export)
			check_text(s.export);
		check_options(s.options);
	}
	source_finish(&s);
	free(text);
	return 0;
}

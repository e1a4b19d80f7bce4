/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * err: one sentence for the user beside a code for the program.
 */
#include "transport/err.h"

#include <stdarg.h>
#include <stdio.h>

#include "transport/quote.h"

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	char text[sizeof(e->msg)];
	va_list ap;

	if (!e || e->kind != ERR_NONE)
		return -1;
	e->kind = kind;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	quote_line(e->msg, sizeof(e->msg), text); /* peers have a say in it */
	return -1;
}

const char *err_kind_name(enum err_kind kind)
{
	static const char *const names[] = {
		[ERR_NONE] = "none",
		[ERR_INTERNAL] = "internal",
		[ERR_USAGE] = "usage",
		[ERR_RESOLVE] = "resolve",
		[ERR_UNREACHABLE] = "unreachable",
		[ERR_REFUSED] = "refused",
		[ERR_NOT_RDMA] = "not-rdma",
		[ERR_VERSION] = "version",
		[ERR_NO_EXPORT] = "no-export",
		[ERR_MOVED] = "moved",
		[ERR_ACCESS] = "access",
		[ERR_PROTOCOL] = "protocol",
		[ERR_NO_DEVICE] = "no-device",
		[ERR_NO_MEMLOCK] = "no-memlock",
	};

	if ((unsigned)kind >= sizeof(names) / sizeof(names[0]) || !names[kind])
		return "unknown";
	return names[kind];
}

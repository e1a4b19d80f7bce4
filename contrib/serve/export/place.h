/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * place: exports of other servers, as the options --refer and --replica name them, and as the
 * attributes fs_locations and fs_locations_info tell them. Pure functions.
 */
#ifndef RNFS_SERVE_EXPORT_PLACE_H
#define RNFS_SERVE_EXPORT_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/err.h"
#include "transport/rpc/xdr.h"

#define PLACE_MAX 1000 /* bytes of each part, with the NUL */

struct place {
	char server[PLACE_MAX]; /* a name, an address, or a universal address (RFC 5665) */
	char export[PLACE_MAX]; /* absolute */
};

/* Has text the form SERVER:/EXPORT? */
bool place_is_one(const char *text);
/* Takes SERVER:/EXPORT apart. A server is a name or an address; only behind an address, :PORT may
 * follow. value: of the option, for the message. 0, or -1 with *e set. */
int place_parse(
	const char *option, const char *value, const char *text, struct place *p, struct err *e);

/* Calls fn for each name of path until fn fails. Returns fn's last result, or 0. */
int place_each_name(
	const char *path, int (*fn)(void *ctx, const char *name, size_t len), void *ctx);
/* Puts path as a pathname4. */
void place_put_path(struct xdr_out *x, const char *path);

#endif

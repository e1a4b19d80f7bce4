/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * quote: a peer's bytes, made safe for a line of text.
 *
 * Names and paths come from peers and may be any bytes. A line feed would begin a line of the
 * peer's own in a log; an escape character is a command to the terminal that shows the log. Pure
 * functions.
 */
#ifndef RNFS_TRANSPORT_QUOTE_H
#define RNFS_TRANSPORT_QUOTE_H

#include <stddef.h>

#define QUOTE_MAX 160 /* with the NUL: longer ones are cut, and end with "..." */

struct quote {
	char text[QUOTE_MAX];
};

/* Fills q with a name: a byte that is not printable ASCII, and each % and ", becomes %XX. Returns
 * q->text. */
const char *quote(struct quote *q, const void *bytes, size_t len);

/* The same as an argument of a function; the text is there until the block ends. */
#define QUOTE(bytes, len) quote(&(struct quote){{0}}, (bytes), (len))

/* Copies a whole line to dst, cut to size (at least 1): a control character, of ASCII or of UTF-8,
 * becomes %XX. The rest stays as it is: text that is no name may be in any language. */
void quote_line(char *dst, size_t size, const char *line);

#endif

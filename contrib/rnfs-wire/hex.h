/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * hex: messages written as hexadecimal digits.
 */
#ifndef RNFS_CONTRIB_WIRE_HEX_H
#define RNFS_CONTRIB_WIRE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the next message in *text, which moves behind it, into buf of cap bytes: pairs of
 * digits, between them blanks, colons, commas and the ends of lines; 0x in front of them and what
 * follows # in a line are passed over. An empty line ends a message. The number of bytes; 0: there
 * is no message any more; -EINVAL: what *text is at is no pair of digits; -EMSGSIZE: over cap. */
long hex_next(const char **text, uint8_t *buf, size_t cap);

#endif

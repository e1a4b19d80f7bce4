/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * hex: messages written as hexadecimal digits.
 */
#ifndef RNFS_CONTRIB_WIRE_HEX_H
#define RNFS_CONTRIB_WIRE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Reads the next message in *text into buf of cap bytes, and moves *text behind the message. A
 * message is pairs of hexadecimal digits. Blanks, colons, commas and line ends may stand between
 * pairs. 0x in front of a pair is skipped, and so is # with the rest of the line. An empty line
 * ends a message. Returns the number of bytes; 0: no message is left; -EINVAL: no pair of digits at
 * *text; -EMSGSIZE: over cap. */
long hex_next(const char **text, uint8_t *buf, size_t cap);

#endif

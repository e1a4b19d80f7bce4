/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * capture: prints a whole capture file in words.
 */
#ifndef RNFS_CONTRIB_WIRE_CAPTURE_H
#define RNFS_CONTRIB_WIRE_CAPTURE_H

#include "contrib/rnfs-wire/sink.h"

/* Prints every message of the iWARP connections in a capture. Any bytes are safe. 0; -EINVAL: data
 * is no capture; -EBADMSG: the capture is malformed or cut off somewhere, and was read up to that
 * place. */
int capture_print(struct sink *sink, const void *data, size_t len);

#endif

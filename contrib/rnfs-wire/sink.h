/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sink: where the words go, and what was counted on the way.
 */
#ifndef RNFS_CONTRIB_WIRE_SINK_H
#define RNFS_CONTRIB_WIRE_SINK_H

#include <stdio.h>

#include "contrib/rnfs-wire/header.h"

struct sink {
	FILE *out;
	bool brief; /* no details */
	enum header_dialect dialect;
	uint64_t messages, unknown, wrong;
	uint64_t errors;  /* messages that report an error */
	uint64_t missing; /* bytes of connections that the capture does not have */
	struct text text; /* of the message at hand */
};

void sink_init(struct sink *s, FILE *out);
void sink_finish(struct sink *s);
/* Reads a message as header_read() does, counts it, and gathers its details in s->text. */
void sink_read(struct sink *s, struct header *h, struct header_talk *talk, unsigned side,
	const void *msg, size_t len);
/* Prints where the message was found ("" if that is not known), its line and its details. */
void sink_print(struct sink *s, const char *where, const struct header *h);

#endif

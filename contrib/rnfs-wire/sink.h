/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sink: prints messages in words, and counts them.
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
	uint64_t missing; /* sent bytes that are not in the capture */
	struct text text; /* of the current message */
};

void sink_init(struct sink *s, FILE *out);
void sink_finish(struct sink *s);
/* Reads a message as header_read() does, counts the message, and gathers the details in s->text. */
void sink_read(struct sink *s, struct header *h, struct header_talk *talk, unsigned side,
	const void *msg, size_t len);
/* Prints the place of the message ("": unknown), the title line and the details. */
void sink_print(struct sink *s, const char *where, const struct header *h);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * flow: the TCP connections of a capture, and the bytes of each in their order.
 *
 * What comes again is dropped, and what comes before its turn waits; it points into the capture,
 * which must outlive the table. A connection whose ports are used again after a SYN is a new one.
 */
#ifndef RNFS_CONTRIB_WIRE_FLOW_H
#define RNFS_CONTRIB_WIRE_FLOW_H

#include "contrib/rnfs-wire/packet.h"
#include "contrib/rnfs-wire/sink.h"

#define FLOW_BUCKETS 1024
#define FLOW_WAITING 4096 /* segments of a direction that wait for those before them */
#define FLOW_MAX     4096 /* connections; what belongs to more is passed over */

struct flow_conn;

struct flow {
	struct sink *sink;
	uint64_t start, end; /* when the first and the last packet came */
	bool begun;
	unsigned count;
	struct flow_conn *bucket[FLOW_BUCKETS];
	struct flow_conn *first, *last; /* in the order in which they were found */
};

void flow_init(struct flow *f, struct sink *sink);
/* Frees all, without a word. */
void flow_free(struct flow *f);
void flow_packet(struct flow *f, const struct packet_tcp *t, uint64_t ns);
/* The capture has ended: says what is missing and what there was. */
void flow_end(struct flow *f);

#endif

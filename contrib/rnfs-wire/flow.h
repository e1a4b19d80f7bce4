/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * flow: the TCP connections of a capture, and the bytes of each connection in order.
 *
 * Repeated bytes are dropped. A segment that comes early waits for the bytes before it; the entry
 * points into the capture, which must outlive the table. A SYN that reuses the ports of a
 * connection begins a new connection.
 */
#ifndef RNFS_CONTRIB_WIRE_FLOW_H
#define RNFS_CONTRIB_WIRE_FLOW_H

#include "contrib/rnfs-wire/packet.h"
#include "contrib/rnfs-wire/sink.h"

#define FLOW_BUCKETS 1024
#define FLOW_WAITING 4096 /* early segments of a direction that wait for earlier bytes */
#define FLOW_MAX     4096 /* connections; further ones are skipped */

struct flow_conn;

struct flow {
	struct sink *sink;
	uint64_t start, end; /* the time of the first and the last packet */
	bool begun;
	unsigned count;
	struct flow_conn *bucket[FLOW_BUCKETS];
	struct flow_conn *first, *last; /* in the order of discovery */
};

void flow_init(struct flow *f, struct sink *sink);
/* Frees all, and prints nothing. */
void flow_free(struct flow *f);
void flow_packet(struct flow *f, const struct packet_tcp *t, uint64_t ns);
/* The capture has ended: prints the missing bytes and the totals. */
void flow_end(struct flow *f);

#endif

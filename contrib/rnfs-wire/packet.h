/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * packet: the TCP segment in a captured packet.
 *
 * Links: Ethernet, with VLANs; loopback; Linux's "any" interface in both forms; bare IP. Fragments
 * of IP are passed over. Pure functions; any bytes are safe.
 */
#ifndef RNFS_CONTRIB_WIRE_PACKET_H
#define RNFS_CONTRIB_WIRE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet_end {
	bool v6;
	uint8_t addr[16]; /* four bytes and zeros for IPv4 */
	uint16_t port;
};

struct packet_tcp {
	struct packet_end from, to;
	uint32_t seq; /* of the first byte, or of the SYN */
	bool syn, ack;
	const uint8_t *data;
	size_t len;  /* bytes of captured payload */
	size_t sent; /* bytes of payload in the segment; more than len if the capture has cut the
			packet */
};

/* True: the packet has a TCP segment. */
bool packet_get_tcp(uint16_t link, const uint8_t *data, size_t len, struct packet_tcp *tcp);
/* "127.0.0.1:20049", "[::1]:20049". */
#define PACKET_END_STR 64
const char *packet_end_str(const struct packet_end *e, char buf[PACKET_END_STR]);
bool packet_end_equal(const struct packet_end *a, const struct packet_end *b);

#endif

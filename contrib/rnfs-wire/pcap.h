/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pcap: the packets of a capture, in the classic format (draft-ietf-opsawg-pcap) or in pcapng
 * (draft-ietf-opsawg-pcapng).
 *
 * The caller keeps the whole file in memory; returned pointers point into the file. Any bytes are
 * safe. No allocation.
 */
#ifndef RNFS_CONTRIB_WIRE_PCAP_H
#define RNFS_CONTRIB_WIRE_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCAP_MAX_IFACES 64 /* of a section; packets of further interfaces are skipped */

struct pcap_iface {
	uint16_t link;	 /* the link type: the first header of the packets */
	uint8_t tsresol; /* as in the file: 10 or, with the highest bit, 2 to the power of -n */
	bool known;
};

struct pcap {
	const uint8_t *data;
	size_t len, pos;
	bool ng, swapped; /* swapped: numbers are in the opposite byte order of this machine */
	unsigned nifaces;
	struct pcap_iface iface[PCAP_MAX_IFACES]; /* classic: only the first */
};

struct pcap_packet {
	uint64_t ns; /* since 1970; 0: unknown */
	uint16_t link;
	const uint8_t *data;
	size_t len;  /* bytes that were captured */
	size_t sent; /* bytes of the packet on the wire */
};

/* The caller keeps data, which must outlive p. 0, or -EINVAL: not a capture. */
int pcap_init(struct pcap *p, const void *data, size_t len);
/* 1: a packet; 0: no packet is left; -EBADMSG: the rest is malformed or cut off. */
int pcap_next(struct pcap *p, struct pcap_packet *pkt);

#endif

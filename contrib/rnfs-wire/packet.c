/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * packet: see packet.h.
 */
#include "contrib/rnfs-wire/packet.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { /* links */
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_RAW_OLD = 12,
	LINK_RAW_OPENBSD = 14,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_SLL = 113,
	LINK_IPV4 = 228,
	LINK_IPV6 = 229,
	LINK_SLL2 = 276,
};

enum {
	ETH_IPV4 = 0x0800,
	ETH_IPV6 = 0x86dd,
	ETH_VLAN = 0x8100,
	ETH_QINQ = 0x88a8,
	MAX_TAGS = 4,
	MAX_EXTENSIONS = 8,
	PROTO_TCP = 6,
};

struct bytes {
	const uint8_t *p;
	size_t len;
};

static bool drop(struct bytes *b, size_t n)
{
	if (n > b->len)
		return false;
	b->p += n;
	b->len -= n;
	return true;
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* Moves to the IP header. */
static bool skip_ethertype(struct bytes *b, uint16_t type)
{
	for (unsigned i = 0; i < MAX_TAGS && (type == ETH_VLAN || type == ETH_QINQ); i++) {
		if (b->len < 4)
			return false;
		type = get16(b->p + 2);
		drop(b, 4);
	}
	return type == ETH_IPV4 || type == ETH_IPV6;
}

static bool skip_link(uint16_t link, struct bytes *b)
{
	uint16_t type;

	switch (link) {
	case LINK_NULL:
	case LINK_LOOP:
		return drop(b, 4);
	case LINK_ETHERNET:
		type = b->len >= 14 ? get16(b->p + 12) : 0;
		return drop(b, 14) && skip_ethertype(b, type);
	case LINK_SLL:
		type = b->len >= 16 ? get16(b->p + 14) : 0;
		return drop(b, 16) && skip_ethertype(b, type);
	case LINK_SLL2:
		type = b->len >= 20 ? get16(b->p) : 0;
		return drop(b, 20) && skip_ethertype(b, type);
	case LINK_RAW:
	case LINK_RAW_OLD:
	case LINK_RAW_OPENBSD:
	case LINK_IPV4:
	case LINK_IPV6:
		return true;
	default:
		return false;
	}
}

/* Skips the IPv4 header; *sent: the segment's bytes. */
static bool skip_v4(struct bytes *b, struct packet_tcp *t, size_t *sent)
{
	size_t hdr = b->len ? (b->p[0] & 15u) * 4 : 0, total;

	if (hdr < 20 || b->len < hdr || b->p[9] != PROTO_TCP || get16(b->p + 6) & 0x3fff)
		return false;
	memcpy(t->from.addr, b->p + 12, 4);
	memcpy(t->to.addr, b->p + 16, 4);
	total = get16(b->p + 2);
	if (!total) /* segmentation offload: the device was to cut the segment into packets */
		total = b->len;
	if (total < hdr)
		return false;
	*sent = total - hdr;
	return drop(b, hdr);
}

static bool skip_v6(struct bytes *b, struct packet_tcp *t, size_t *sent)
{
	uint8_t next;
	size_t n;

	if (b->len < 40)
		return false;
	t->from.v6 = t->to.v6 = true;
	memcpy(t->from.addr, b->p + 8, 16);
	memcpy(t->to.addr, b->p + 24, 16);
	next = b->p[6];
	*sent = get16(b->p + 4);
	if (!*sent)
		*sent = b->len - 40;
	drop(b, 40);
	for (unsigned i = 0; i < MAX_EXTENSIONS && next != PROTO_TCP; i++) {
		if ((next != 0 && next != 43 && next != 60) || b->len < 8)
			return false;
		next = b->p[0];
		n = (b->p[1] + 1u) * 8;
		if (n > *sent || !drop(b, n))
			return false;
		*sent -= n;
	}
	return next == PROTO_TCP;
}

bool packet_get_tcp(uint16_t link, const uint8_t *data, size_t len, struct packet_tcp *t)
{
	struct bytes b = {data, len};
	size_t sent, hdr;

	memset(t, 0, sizeof(*t));
	if (!skip_link(link, &b) || !b.len)
		return false;
	if (b.p[0] >> 4 == 4 ? !skip_v4(&b, t, &sent) : b.p[0] >> 4 != 6 || !skip_v6(&b, t, &sent))
		return false;
	if (b.len > sent) /* Ethernet's padding */
		b.len = sent;
	if (b.len < 20)
		return false;
	hdr = (size_t)(b.p[12] >> 4) * 4;
	if (hdr < 20 || hdr > sent || hdr > b.len)
		return false;
	t->from.port = get16(b.p);
	t->to.port = get16(b.p + 2);
	t->seq = get32(b.p + 4);
	t->syn = b.p[13] & 0x02;
	t->ack = b.p[13] & 0x10;
	drop(&b, hdr);
	t->data = b.p;
	t->len = b.len;
	t->sent = sent - hdr;
	return true;
}

const char *packet_end_str(const struct packet_end *e, char buf[PACKET_END_STR])
{
	char addr[INET6_ADDRSTRLEN];

	inet_ntop(e->v6 ? AF_INET6 : AF_INET, e->addr, addr, sizeof(addr));
	snprintf(buf, PACKET_END_STR, e->v6 ? "[%s]:%u" : "%s:%u", addr, e->port);
	return buf;
}

bool packet_end_equal(const struct packet_end *a, const struct packet_end *b)
{
	return a->port == b->port && a->v6 == b->v6 && !memcmp(a->addr, b->addr, sizeof(a->addr));
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pcap: see pcap.h.
 */
#include "contrib/rnfs-wire/pcap.h"

#include <byteswap.h>
#include <errno.h>
#include <string.h>

#define MAGIC_US      0xa1b2c3d4
#define MAGIC_NS      0xa1b23c4d
#define NG_SECTION    0x0a0d0d0a /* the same in both byte orders */
#define NG_BYTE_ORDER 0x1a2b3c4d
#define NS_PER_S      1000000000

enum {
	NG_INTERFACE = 1,
	NG_PACKET = 2, /* not written any more */
	NG_SIMPLE = 3,
	NG_ENHANCED = 6,
	NG_OPT_TSRESOL = 9,
	NG_OVERHEAD = 12, /* of a block: type, length, and length again */
	CLASSIC_HDR = 24,
	CLASSIC_RECORD = 16,
};

static uint32_t raw32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t get32(const struct pcap *p, const uint8_t *at)
{
	return p->swapped ? bswap_32(raw32(at)) : raw32(at);
}

static uint16_t get16(const struct pcap *p, const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return p->swapped ? bswap_16(v) : v;
}

int pcap_init(struct pcap *p, const void *data, size_t len)
{
	uint32_t magic;

	*p = (struct pcap){.data = data, .len = len};
	if (len < CLASSIC_HDR)
		return -EINVAL;
	magic = raw32(p->data);
	if (magic == NG_SECTION) {
		p->ng = true;
		return 0;
	}
	p->swapped = magic == bswap_32(MAGIC_US) || magic == bswap_32(MAGIC_NS);
	magic = get32(p, p->data);
	if (magic != MAGIC_US && magic != MAGIC_NS)
		return -EINVAL;
	p->iface[0] = (struct pcap_iface){.known = true,
		.link = (uint16_t)get32(p, p->data + 20),
		.tsresol = magic == MAGIC_NS ? 9 : 6};
	p->pos = CLASSIC_HDR;
	return 0;
}

/* --- classic ---------------------------------------------------------------------------------- */

static int next_classic(struct pcap *p, struct pcap_packet *pkt)
{
	const uint8_t *at = p->data + p->pos;
	size_t left = p->len - p->pos;
	uint64_t fraction;

	if (!left)
		return 0;
	if (left < CLASSIC_RECORD || get32(p, at + 8) > left - CLASSIC_RECORD)
		return -EBADMSG;
	fraction = get32(p, at + 4);
	*pkt = (struct pcap_packet){
		.ns = (uint64_t)get32(p, at) * NS_PER_S +
		      fraction * (p->iface[0].tsresol == 9 ? 1 : 1000),
		.link = p->iface[0].link,
		.data = at + CLASSIC_RECORD,
		.len = get32(p, at + 8),
		.sent = get32(p, at + 12),
	};
	p->pos += CLASSIC_RECORD + pkt->len;
	return 1;
}

/* --- pcapng ----------------------------------------------------------------------------------- */

static uint64_t to_ns(uint64_t units, uint8_t resol)
{
	unsigned n = resol & 0x7f;

	if (resol & 0x80)
		return n > 63 ? 0 : (uint64_t)((unsigned __int128)units * NS_PER_S >> n);
	for (; n < 9; n++)
		units *= 10;
	for (; n > 9; n--)
		units /= 10;
	return units;
}

/* Begins a section, which sets the byte order of the later blocks. */
static int section(struct pcap *p, const uint8_t *body, size_t len)
{
	if (len < 4 || (raw32(body) != NG_BYTE_ORDER && raw32(body) != bswap_32(NG_BYTE_ORDER)))
		return -EBADMSG;
	p->nifaces = 0;
	return 0;
}

static void interface(struct pcap *p, const uint8_t *body, size_t len)
{
	struct pcap_iface *i;
	size_t pos = 8;

	if (p->nifaces == PCAP_MAX_IFACES)
		return;
	i = &p->iface[p->nifaces++];
	*i = (struct pcap_iface){.known = len >= 8, .tsresol = 6};
	if (!i->known)
		return;
	i->link = get16(p, body);
	while (len - pos >= 4) {
		size_t n = get16(p, body + pos + 2), padded = (n + 3) & ~(size_t)3;

		if (get16(p, body + pos) == NG_OPT_TSRESOL && n == 1 && len - pos > 4)
			i->tsresol = body[pos + 4];
		if (padded > len - pos - 4)
			break;
		pos += 4 + padded;
	}
}

/* Reads a packet of an interface. The packet's bytes begin at offset `data` of the block. */
static int packet(struct pcap *p, struct pcap_packet *pkt, uint32_t iface, const uint8_t *body,
	size_t len, size_t data)
{
	if (len < data || get32(p, body + data - 8) > len - data)
		return -EBADMSG;
	if (iface >= p->nifaces || !p->iface[iface].known)
		return 0;
	*pkt = (struct pcap_packet){
		.ns = to_ns((uint64_t)get32(p, body + data - 16) << 32 | get32(p, body + data - 12),
			p->iface[iface].tsresol),
		.link = p->iface[iface].link,
		.data = body + data,
		.len = get32(p, body + data - 8),
		.sent = get32(p, body + data - 4),
	};
	return 1;
}

static int simple(struct pcap *p, struct pcap_packet *pkt, const uint8_t *body, size_t len)
{
	size_t sent;

	if (len < 4)
		return -EBADMSG;
	if (!p->nifaces || !p->iface[0].known)
		return 0;
	sent = get32(p, body);
	*pkt = (struct pcap_packet){
		.link = p->iface[0].link,
		.data = body + 4,
		.len = sent < len - 4 ? sent : len - 4,
		.sent = sent,
	};
	return 1;
}

/* Reads one block. 1: a packet; 0: another block; -EBADMSG. */
static int block(
	struct pcap *p, uint32_t type, const uint8_t *body, size_t len, struct pcap_packet *pkt)
{
	switch (type) {
	case NG_SECTION:
		return section(p, body, len);
	case NG_INTERFACE:
		interface(p, body, len);
		return 0;
	case NG_PACKET:
		return len < 20 ? -EBADMSG : packet(p, pkt, get16(p, body), body, len, 20);
	case NG_ENHANCED:
		return len < 20 ? -EBADMSG : packet(p, pkt, get32(p, body), body, len, 20);
	case NG_SIMPLE:
		return simple(p, pkt, body, len);
	default:
		return 0;
	}
}

static int next_ng(struct pcap *p, struct pcap_packet *pkt)
{
	int rc = 0;

	while (!rc && p->len - p->pos) {
		const uint8_t *at = p->data + p->pos;
		size_t left = p->len - p->pos, len;

		if (left < NG_OVERHEAD)
			return -EBADMSG;
		if (raw32(at) == NG_SECTION)
			p->swapped = raw32(at + 8) == bswap_32(NG_BYTE_ORDER);
		len = get32(p, at + 4);
		if (len < NG_OVERHEAD || len % 4 || len > left)
			return -EBADMSG;
		rc = block(p, get32(p, at), at + 8, len - NG_OVERHEAD, pkt);
		p->pos += len;
	}
	return rc;
}

int pcap_next(struct pcap *p, struct pcap_packet *pkt)
{
	int rc = p->ng ? next_ng(p, pkt) : next_classic(p, pkt);

	if (rc < 0)
		p->pos = p->len; /* no place to go on at */
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/rnfs-wire/capture: captures are made here, in every form, and read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <byteswap.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "contrib/rnfs-wire/capture.h"
#include "transport/crc32c.h"
#include "transport/iwarp/ddp.h"
#include "transport/iwarp/mpa.h"

#define CAP (1024 * 1024)

enum link {
	LINK_LOOP = 0,
	LINK_ETHERNET = 1,
	LINK_VLAN = 1001, /* Ethernet with a tag */
	LINK_RAW6 = 101,
	LINK_SLL = 113,
	LINK_SLL2 = 276,
};

/* The form of a capture. */
struct form {
	bool ng, swapped, ns;
	enum link link;
	bool crc, markers;
	size_t piece; /* bytes of a segment of TCP; 0: as long as possible */
	bool reorder; /* each second segment of a direction is swapped with the one before, and
			 repeated */
};

struct file {
	uint8_t buf[CAP];
	size_t len;
};

/* One direction: the bytes, and where the FPDUs begin. */
struct flowing {
	uint8_t buf[65536];
	size_t len, fpdus;
	uint32_t msn;
};

static void put(struct file *f, const void *data, size_t n)
{
	assert_true(n <= CAP - f->len);
	memcpy(f->buf + f->len, data, n);
	f->len += n;
}

static void put32(struct file *f, const struct form *form, uint32_t v)
{
	v = form->swapped ? bswap_32(v) : v;
	put(f, &v, 4);
}

static void put16(struct file *f, const struct form *form, uint16_t v)
{
	v = form->swapped ? bswap_16(v) : v;
	put(f, &v, 2);
}

static void put_be16(struct file *f, uint16_t v)
{
	v = htobe16(v);
	put(f, &v, 2);
}

static void put_be32(struct file *f, uint32_t v)
{
	v = htobe32(v);
	put(f, &v, 4);
}

static void zeros(struct file *f, size_t n)
{
	static const uint8_t none[64];

	assert_true(n <= sizeof(none));
	put(f, none, n);
}

/* --- a capture -------------------------------------------------------------------------------- */

static uint16_t link_number(const struct form *form)
{
	return form->link == LINK_VLAN ? LINK_ETHERNET : form->link;
}

static void begin(struct file *f, const struct form *form)
{
	f->len = 0;
	if (!form->ng) {
		put32(f, form, form->ns ? 0xa1b23c4d : 0xa1b2c3d4);
		put16(f, form, 2);
		put16(f, form, 4);
		zeros(f, 8);
		put32(f, form, 262144);
		put32(f, form, link_number(form));
		return;
	}
	put32(f, form, 0x0a0d0d0a);
	put32(f, form, 28);
	put32(f, form, 0x1a2b3c4d);
	put16(f, form, 1);
	put16(f, form, 0);
	put32(f, form, 0xffffffff);
	put32(f, form, 0xffffffff);
	put32(f, form, 28);
	put32(f, form, 1); /* an interface */
	put32(f, form, form->ns ? 32 : 20);
	put16(f, form, link_number(form));
	put16(f, form, 0);
	put32(f, form, 0);
	if (form->ns) {
		put16(f, form, 9);
		put16(f, form, 1);
		put(f, "\x09\0\0\0", 4);
		put32(f, form, 0);
	}
	put32(f, form, form->ns ? 32 : 20);
}

static void packet(struct file *f, const struct form *form, const struct file *p, uint64_t us)
{
	uint64_t units = us * (form->ns ? 1000 : 1);

	if (form->ng) {
		size_t total = 32 + ((p->len + 3) & ~(size_t)3);

		put32(f, form, 6);
		put32(f, form, (uint32_t)total);
		put32(f, form, 0);
		put32(f, form, (uint32_t)(units >> 32));
		put32(f, form, (uint32_t)units);
		put32(f, form, (uint32_t)p->len);
		put32(f, form, (uint32_t)p->len);
		put(f, p->buf, p->len);
		zeros(f, -p->len & 3);
		put32(f, form, (uint32_t)total);
		return;
	}
	put32(f, form, (uint32_t)(us / 1000000));
	put32(f, form, (uint32_t)(us % 1000000) * (form->ns ? 1000 : 1));
	put32(f, form, (uint32_t)p->len);
	put32(f, form, (uint32_t)p->len);
	put(f, p->buf, p->len);
}

static void put_link(struct file *p, enum link link)
{
	switch (link) {
	case LINK_LOOP:
		zeros(p, 4);
		break;
	case LINK_ETHERNET:
		zeros(p, 12);
		put_be16(p, 0x0800);
		break;
	case LINK_VLAN:
		zeros(p, 12);
		put_be16(p, 0x8100);
		put_be16(p, 5);
		put_be16(p, 0x0800);
		break;
	case LINK_SLL:
		zeros(p, 14);
		put_be16(p, 0x0800);
		break;
	case LINK_SLL2:
		put_be16(p, 0x0800);
		zeros(p, 18);
		break;
	case LINK_RAW6:
		break;
	}
}

static void put_ip(struct file *p, const struct form *form, unsigned side, size_t len)
{
	uint8_t addr[16] = {127, 0, 0, 1};

	if (form->link == LINK_RAW6) {
		put_be32(p, 0x60000000);
		put_be16(p, (uint16_t)(20 + len));
		put(p, "\x06\x40", 2);
		memset(addr, 0, sizeof(addr));
		for (unsigned i = 0; i < 2; i++) {
			addr[15] = (uint8_t)(i == side ? 1 : 2);
			put(p, addr, 16);
		}
		return;
	}
	put_be16(p, 0x4500);
	put_be16(p, (uint16_t)(40 + len));
	zeros(p, 4);
	put(p, "\x40\x06\0\0", 4);
	put(p, addr, 4);
	put(p, addr, 4);
}

static const uint16_t ports[2] = {1023, 20049};
/* Near the end of the number space, so that the numbers wrap in the middle. */
static const uint32_t first[2] = {0xffffff00, 0xfffffff0};

static void tcp(struct file *f, const struct form *form, unsigned side, const struct flowing *s,
	size_t at, size_t n, bool syn, uint64_t us)
{
	static struct file p;

	p.len = 0;
	put_link(&p, form->link);
	put_ip(&p, form, side, n);
	put_be16(&p, ports[side]);
	put_be16(&p, ports[!side]);
	put_be32(&p, first[side] + (syn ? 0 : 1 + (uint32_t)at));
	put_be32(&p, 0);
	put(&p, "\x50", 1);
	put(&p, syn ? side ? "\x12" : "\x02" : "\x10", 1);
	zeros(&p, 6);
	put(&p, s->buf + at, n);
	if (form->link == LINK_ETHERNET && p.len < 60)
		zeros(&p, 60 - p.len); /* the shortest frame of Ethernet */
	packet(f, form, &p, us);
}

/* Sends the bytes of a direction from `at` on; us: the time. */
static void send_all(struct file *f, const struct form *form, unsigned side,
	const struct flowing *s, size_t at, uint64_t us)
{
	size_t piece = form->piece ? form->piece : 60000, n;

	for (; at < s->len; at += n) {
		n = s->len - at < piece ? s->len - at : piece;
		if (form->reorder && s->len - at > n) {
			size_t next = s->len - at - n < piece ? s->len - at - n : piece;

			tcp(f, form, side, s, at + n, next, false, us);
			tcp(f, form, side, s, at, n, false, us);
			tcp(f, form, side, s, at + 1, n + next - 1, false, us);
			n += next;
		} else {
			tcp(f, form, side, s, at, n, false, us);
		}
	}
}

/* --- a connection ----------------------------------------------------------------------------- */

static void set_up(struct flowing s[2], const struct form *form)
{
	for (unsigned i = 0; i < 2; i++) {
		struct mpa_frame m = {.reply = i,
			.markers = form->markers,
			.crc = form->crc,
			.rev = 1,
			.priv = (const uint8_t *)"\xf6\xab\x0e\x18\x01\x01\x03\x03",
			.priv_len = 8};

		s[i].len = mpa_encode(&m, s[i].buf);
		s[i].fpdus = s[i].len;
		s[i].msn = 1;
	}
}

/* Adds bytes of an FPDU, with the markers at their places. */
static void stream_bytes(struct flowing *s, const struct form *form, const uint8_t *p, size_t n)
{
	while (n--) {
		if (form->markers && (s->len - s->fpdus) % 512 == 0) {
			memset(s->buf + s->len, 0, 4);
			s->len += 4;
		}
		assert_true(s->len < sizeof(s->buf));
		s->buf[s->len++] = *p++;
	}
}

static void fpdu(struct flowing *s, const struct form *form, const uint8_t *ulpdu, size_t n)
{
	const uint8_t len[2] = {(uint8_t)(n >> 8), (uint8_t)n};
	size_t at = s->len;
	uint32_t crc;

	stream_bytes(s, form, len, 2);
	stream_bytes(s, form, ulpdu, n);
	stream_bytes(s, form, (const uint8_t *)"\0\0\0", mpa_pad((unsigned)n));
	if (form->markers && (s->len - s->fpdus) % 512 == 0) {
		memset(s->buf + s->len, 0, 4);
		s->len += 4;
	}
	crc = htole32(form->crc ? crc32c(0, s->buf + at, s->len - at) : 0);
	memcpy(s->buf + s->len, &crc, 4);
	s->len += 4;
}

/* A Send of words, in segments of at most `most` bytes. */
static void send_words(
	struct flowing *s, const struct form *form, const uint32_t *words, size_t n, size_t most)
{
	uint8_t msg[8192], ulpdu[8192];

	n *= 4;
	assert_true(n <= sizeof(msg) && most + 18 <= sizeof(ulpdu));
	for (size_t i = 0; i < n / 4; i++) {
		uint32_t w = htobe32(words[i]);

		memcpy(msg + i * 4, &w, 4);
	}
	for (size_t at = 0; at < n; at += most) {
		size_t len = n - at < most ? n - at : most;
		size_t hdr = ddp_put_untagged(
			ulpdu, DDP_OP_SEND, at + len == n, 0, s->msn, (uint32_t)at);

		memcpy(ulpdu + hdr, msg + at, len);
		fpdu(s, form, ulpdu, hdr + len);
	}
	s->msn++;
}

static void write_bytes(struct flowing *s, const struct form *form, size_t n)
{
	uint8_t ulpdu[4096] = {0};
	size_t hdr = ddp_put_tagged(ulpdu, DDP_OP_WRITE, true, 0xabc, 0);

	fpdu(s, form, ulpdu, hdr + n);
}

/* A call in two segments, a long call with markers, and the replies. */
static void make(struct file *f, const struct form *form)
{
	static const uint32_t call[] = {7, 2, 0x00400020, 0, 0, 0, 0, 0, 0, 7, 0, 2, 100003, 4, 1};
	static const uint32_t reply[] = {7, 2, 0x00400020, 0, 1, 0, 0, 0, 0, 7, 1, 0, 0, 0, 0, 0};
	static uint32_t large[1500] = {8, 2, 0x00400020, 0, 0, 0, 0, 0, 0, 8, 0, 2, 100003, 4, 1};
	static struct flowing s[2];
	size_t sent[2];

	set_up(s, form);
	begin(f, form);
	tcp(f, form, 0, &s[0], 0, 0, true, 1000000);
	tcp(f, form, 1, &s[1], 0, 0, true, 1000010);
	for (unsigned i = 0; i < 2; i++) {
		send_all(f, form, i, &s[i], 0, 1000020 + i * 10);
		sent[i] = s[i].len;
	}
	send_words(&s[0], form, call, 15, 40);
	send_words(&s[0], form, large, 1500, 1400);
	send_all(f, form, 0, &s[0], sent[0], 1000040);
	write_bytes(&s[1], form, 1000);
	send_words(&s[1], form, reply, 16, 1000);
	send_all(f, form, 1, &s[1], sent[1], 1001540);
}

/* --- reading the capture back ----------------------------------------------------------------- */

static int read_back(const void *data, size_t len, struct sink *counts, char **text)
{
	size_t text_len;
	struct sink sink;
	FILE *out = open_memstream(text, &text_len);
	int rc;

	assert_non_null(out);
	sink_init(&sink, out);
	rc = capture_print(&sink, data, len);
	*counts = sink;
	sink_finish(&sink);
	fclose(out);
	return rc;
}

static void check(const struct form *form)
{
	static struct file f;
	struct sink n;
	char *text;

	make(&f, form);
	assert_int_equal(read_back(f.buf, f.len, &n, &text), 0);
	assert_int_equal(n.messages, 3);
	assert_int_equal(n.wrong + n.unknown + n.missing + n.errors, 0);
	assert_non_null(strstr(text, "MPA Request, revision 1"));
	assert_non_null(strstr(text, "RFC 8797: sends up to 4096 bytes, receives up to 4096, "
				     "remote invalidation"));
	assert_non_null(strstr(text,
		form->link == LINK_RAW6
			? "0.000040 [::1]:1023 > [::2]:20049: version 2, RDMA2_MSG, call, xid "
			  "0x00000007, 60 bytes\n"
			: "0.000040 127.0.0.1:1023 > 127.0.0.1:20049: version 2, RDMA2_MSG, call, "
			  "xid 0x00000007, 60 bytes\n"));
	assert_non_null(strstr(text, "xid 0x00000008, 6000 bytes\n"));
	assert_non_null(strstr(text, "RPC reply, 28 bytes: accepted, SUCCESS (0)\n"
				     "    answers the call of 0.000040, 1.500 ms later\n"));
	assert_non_null(strstr(text, "1023: 1 Sends, 1 RDMA Writes of 1000 bytes, 0 RDMA Reads"));
	free(text);
}

static void every_form_of_a_file(void **state)
{
	for (unsigned i = 0; i < 8; i++) {
		struct form form = {.ng = i & 1, .swapped = i & 2, .ns = i & 4};

		check(&form);
	}
}

static void every_link(void **state)
{
	static const enum link links[] = {
		LINK_LOOP, LINK_ETHERNET, LINK_VLAN, LINK_RAW6, LINK_SLL, LINK_SLL2};

	for (unsigned i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		struct form form = {.ng = true, .link = links[i]};

		check(&form);
	}
}

static void crc_and_markers_in_pieces_of_any_size(void **state)
{
	static const size_t pieces[] = {0, 1, 7, 100, 511, 1448};

	for (unsigned i = 0; i < 4 * sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct form form = {.crc = i & 1, .markers = i & 2, .piece = pieces[i / 4]};

		check(&form);
		form.reorder = true;
		check(&form);
	}
}

static void a_wrong_crc_is_told(void **state)
{
	static struct file f;
	struct form form = {.crc = true};
	struct sink n;
	char *text;

	make(&f, &form);
	f.buf[f.len - 1] ^= 1;
	assert_int_equal(read_back(f.buf, f.len, &n, &text), 0);
	assert_int_equal(n.messages, 3);
	assert_int_equal(n.wrong, 1);
	assert_non_null(strstr(text, "the CRC of an FPDU is wrong"));
	free(text);
}

/* A capture that ends anywhere is read up to the end. */
static void what_is_cut_off_is_safe(void **state)
{
	static struct file f;
	struct sink n;
	char *text;

	for (unsigned ng = 0; ng < 2; ng++) {
		struct form form = {.ng = ng, .markers = true, .crc = true, .piece = 700};
		uint64_t before = 0;

		make(&f, &form);
		for (size_t len = 0; len <= f.len; len++) {
			uint8_t *copy = malloc(len ? len : 1);
			int rc;

			assert_non_null(copy);
			memcpy(copy, f.buf, len);
			rc = read_back(copy, len, &n, &text);
			assert_true(rc == 0 || rc == -EBADMSG || (rc == -EINVAL && len < 24));
			assert_true(n.messages >= before && !n.wrong && !n.unknown);
			before = n.messages;
			free(text);
			free(copy);
		}
		assert_int_equal(before, 3);
	}
}

static void what_is_missing_is_told(void **state)
{
	static struct file f, g;
	struct form form = {.piece = 512};
	struct sink n;
	char *text;
	size_t at;

	make(&f, &form);
	/* without the sixth packet, which belongs to a call */
	g.len = 0;
	put(&g, f.buf, 24);
	at = 24;
	for (unsigned i = 0; at < f.len; i++) {
		uint32_t len;

		memcpy(&len, f.buf + at + 8, 4);
		if (i != 5)
			put(&g, f.buf + at, 16 + len);
		at += 16 + len;
	}
	assert_int_equal(read_back(g.buf, g.len, &n, &text), 0);
	assert_int_equal(n.missing, 512);
	assert_int_equal(n.messages, 2);
	assert_non_null(strstr(text, "512 bytes are not in the capture"));
	free(text);
}

static void what_is_no_capture_is_refused(void **state)
{
	struct sink n;
	char *text;

	assert_int_equal(read_back("what is no capture of any kind", 30, &n, &text), -EINVAL);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_a_file),
		cmocka_unit_test(every_link),
		cmocka_unit_test(crc_and_markers_in_pieces_of_any_size),
		cmocka_unit_test(a_wrong_crc_is_told),
		cmocka_unit_test(what_is_cut_off_is_safe),
		cmocka_unit_test(what_is_missing_is_told),
		cmocka_unit_test(what_is_no_capture_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/iwarp/iwarp_rx: how the stream is cut into FPDUs, for each place of a
 * split,
 * a cut or a spoiled byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/transport/iwarp/iwarp-raw.h"

static void every_split_of_the_stream_works(void **state)
{
	for (size_t piece = 1; piece < 80; piece++) {
		struct iwarp_conn *c;
		uint8_t b[2000];
		struct ddp_hdr h;
		struct raw t;
		ssize_t n;
		int sv[2];

		raw_start(&t, true);
		c = (struct iwarp_conn *)t.e.c;
		h = h_write(t.w.stag, 5);
		raw_fpdu(&t, &h, NULL, 301);
		h = h_send(1, 0);
		raw_fpdu(&t, &h, "0123456789abc", 13);
		raw_read_req(&t, 1, &(struct ddp_read_req){.size = 10, .src_stag = t.r.stag});
		/* takes the request back from the wire, and gives it to the connection in pieces */
		n = recv(c->fd, b, sizeof(b), 0);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv), 0);
		assert_true(dup2(sv[0], c->fd) >= 0 && dup2(sv[1], t.fd) >= 0);
		close(sv[0]);
		close(sv[1]);
		for (size_t at = 0; at < (size_t)n; at += piece) {
			size_t k = (size_t)n - at < piece ? (size_t)n - at : piece;

			assert_int_equal(send(t.fd, b + at, k, MSG_NOSIGNAL), k);
			end_poll(&t.e);
			assert_false(t.e.down);
		}
		assert_int_equal(t.e.n, 1);
		assert_int_equal(t.writable[4], 0);
		assert_int_equal(t.writable[5 + 300], 0xa5);
		assert_int_equal(t.writable[5 + 301], 0);
		assert_memory_equal(t.recv[0], "0123456789abc", 13);
		assert_int_equal(raw_receive(&t, &h, b), 10);
		assert_int_equal(h.op, DDP_OP_READ_RESP);
		raw_finish(&t);
	}
}

static void segments_shorter_than_their_header(void **state)
{
	struct raw t;

	for (unsigned len = 0; len < 18; len++) {
		uint8_t b[64] = {0, (uint8_t)len, len < 14 ? 0xc1 : 0x41, 0x43};

		raw_start(&t, false);
		assert_int_equal(send(t.fd, b, sizeof(b), 0), sizeof(b));
		expect_terminate(&t, RDMAP_ERR_UNSPECIFIED, "shorter than its header");
	}
}

static void wrong_crc(void **state)
{
	struct ddp_hdr h;
	struct raw t;

	raw_start(&t, true);
	t.crc = false; /* the peer sends a CRC of 0 although CRCs were negotiated */
	h = h_send(1, 0);
	raw_fpdu(&t, &h, NULL, 8);
	end_poll(&t.e);
	assert_int_equal(t.e.n, 1);
	expect_terminate(&t, MPA_ERR_CRC, "its field says 00000000");
}

/* The stream ends inside a segment at every possible place. */
static void truncated_streams(void **state)
{
	for (size_t cut = 0; cut < 18 + 2 + 12 + 4; cut++) {
		uint8_t b[100];
		struct ddp_hdr h;
		struct raw t;
		ssize_t n;

		raw_start(&t, false);
		h = h_send(1, 0);
		raw_fpdu(&t, &h, "0123456789ab", 12);
		n = recv(((struct iwarp_conn *)t.e.c)->fd, b, sizeof(b), 0);
		assert_true((size_t)n == 36);
		if (cut)
			assert_int_equal(send(t.fd, b, cut, 0), cut);
		shutdown(t.fd, SHUT_WR);
		for (int i = 0; i < 3; i++)
			end_poll(&t.e);
		assert_int_equal(t.e.n, 1);
		assert_true(t.e.down);
		assert_non_null(strstr(t.e.c->down_reason, "closed the connection"));
		raw_finish(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_split_of_the_stream_works),
		cmocka_unit_test(segments_shorter_than_their_header),
		cmocka_unit_test(wrong_crc),
		cmocka_unit_test(truncated_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

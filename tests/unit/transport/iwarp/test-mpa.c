/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/iwarp/mpa.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "transport/iwarp/mpa.h"

static const uint8_t priv[8] = {0xf6, 0xab, 0x0e, 0x18, 0x01, 0x00, 0x03, 0x03};

/* A Request to a Linux server over siw, and the server's answer. */
static const uint8_t request[] = {'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F', 'r',
	'a', 'm', 'e', 0x10, 2, 0, 12, 0, 16, 0, 16, 0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3};
static const uint8_t rejection[] = {'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F', 'r',
	'a', 'm', 'e', 0x20, 1, 0, 0};

static void request_has_the_golden_bytes(void **state)
{
	struct mpa_frame f = {
		.rev = 2, .enhanced = true, .ird = 16, .ord = 16, .priv = priv, .priv_len = 8};
	uint8_t buf[MPA_MAX_FRAME];

	assert_int_equal(mpa_encode(&f, buf), sizeof(request));
	assert_memory_equal(buf, request, sizeof(request));
	assert_int_equal(mpa_decode(request, false, &f), 0);
	assert_int_equal(f.pd_len, 12);
	assert_int_equal(mpa_decode_pd(&f, request + MPA_HDR_LEN), 0);
	assert_true(f.enhanced && !f.crc && !f.markers && !f.reject && !f.peer_to_peer);
	assert_int_equal(f.ird, 16);
	assert_int_equal(f.ord, 16);
	assert_int_equal(f.priv_len, 8);
	assert_memory_equal(f.priv, priv, 8);
}

static void rejection_is_understood(void **state)
{
	struct mpa_frame f = {.reply = true, .rev = 1, .reject = true};
	uint8_t buf[MPA_MAX_FRAME];

	assert_int_equal(mpa_encode(&f, buf), sizeof(rejection));
	assert_memory_equal(buf, rejection, sizeof(rejection));
	assert_int_equal(mpa_decode(rejection, true, &f), 0);
	assert_true(f.reject);
	assert_int_equal(f.rev, 1);
	assert_int_equal(mpa_decode_pd(&f, buf + MPA_HDR_LEN), 0);
	assert_int_equal(f.priv_len, 0);
}

static void every_flag_survives(void **state)
{
	for (unsigned bits = 0; bits < 512; bits++) {
		struct mpa_frame g, f = {.reply = true,
					    .rev = 2,
					    .enhanced = true,
					    .markers = bits & 1,
					    .crc = bits & 2,
					    .reject = bits & 4,
					    .peer_to_peer = bits & 8,
					    .rtr_send = bits & 16,
					    .rtr_write = bits & 32,
					    .rtr_read = bits & 64,
					    .long_fpdus = bits & 256,
					    .ird = bits & 128 ? MPA_DEPTH_ANY : 5,
					    .ord = bits & 128 ? 0 : 255};
		uint8_t buf[MPA_MAX_FRAME];

		assert_int_equal(mpa_encode(&f, buf), 24);
		assert_int_equal(mpa_decode(buf, true, &g), 0);
		assert_int_equal(mpa_decode_pd(&g, buf + MPA_HDR_LEN), 0);
		assert_true(f.markers == g.markers && f.crc == g.crc && f.reject == g.reject &&
			    f.peer_to_peer == g.peer_to_peer && f.rtr_send == g.rtr_send &&
			    f.rtr_write == g.rtr_write && f.rtr_read == g.rtr_read &&
			    f.long_fpdus == g.long_fpdus);
		assert_true(f.ird == g.ird && f.ord == g.ord);
	}
}

static void what_is_wrong_is_refused(void **state)
{
	uint8_t buf[sizeof(request)];
	struct mpa_frame f;

	assert_int_equal(mpa_decode(request, true, &f), -EPROTO);
	assert_int_equal(mpa_decode(rejection, false, &f), -EPROTO);
	for (unsigned i = 0; i < 16; i++) {
		memcpy(buf, request, sizeof(buf));
		buf[i] ^= 0x20;
		assert_int_equal(mpa_decode(buf, false, &f), -EPROTO);
	}
	memcpy(buf, request, sizeof(buf));
	for (unsigned rev = 0; rev < 256; rev++) {
		buf[17] = (uint8_t)rev;
		assert_int_equal(
			mpa_decode(buf, false, &f), rev == 1 || rev == 2 ? 0 : -EPROTONOSUPPORT);
		assert_int_equal(f.rev, rev);
	}
	memcpy(buf, request, sizeof(buf));
	buf[18] = 2;
	buf[19] = 0;
	assert_int_equal(mpa_decode(buf, false, &f), 0);
	buf[19] = 1;
	assert_int_equal(mpa_decode(buf, false, &f), -EMSGSIZE);
	buf[18] = 0;
	for (unsigned n = 0; n < 4; n++) {
		buf[19] = (uint8_t)n;
		assert_int_equal(mpa_decode(buf, false, &f), 0);
		assert_int_equal(mpa_decode_pd(&f, buf + MPA_HDR_LEN), -EMSGSIZE);
	}
}

static void revision_1_ignores_reserved_bits(void **state)
{
	uint8_t buf[sizeof(request)];
	struct mpa_frame f;

	memcpy(buf, request, sizeof(buf));
	buf[17] = 1;
	buf[16] = 0x3f; /* the reject bit is not checked in a Request either */
	assert_int_equal(mpa_decode(buf, false, &f), 0);
	assert_int_equal(mpa_decode_pd(&f, buf + MPA_HDR_LEN), 0);
	assert_false(f.enhanced || f.reject || f.long_fpdus);
	assert_int_equal(f.priv_len, 12);
}

/* siw repeats the flags of the Request, without regard to their meaning. */
static void an_echo_is_no_consent(void **state)
{
	struct mpa_frame g, f = {.rev = 2, .enhanced = true, .long_fpdus = true};
	uint8_t ask[MPA_MAX_FRAME], reply[MPA_MAX_FRAME];

	mpa_encode(&f, ask);
	assert_int_equal(mpa_decode(ask, false, &g), 0);
	assert_true(g.long_fpdus);
	f = (struct mpa_frame){.reply = true, .rev = 2, .enhanced = true};
	mpa_encode(&f, reply);
	reply[16] = ask[16];
	assert_int_equal(mpa_decode(reply, true, &g), 0);
	assert_false(g.long_fpdus);
}

static void the_longest_private_data_fits(void **state)
{
	for (unsigned enhanced = 0; enhanced < 2; enhanced++) {
		const uint8_t longest[MPA_MAX_PD] = {[0] = 1, [MPA_MAX_PD - 5] = 2};
		uint16_t len = MPA_MAX_PD - (enhanced ? MPA_WORDS_LEN : 0);
		struct mpa_frame f = {.rev = 2,
					 .enhanced = enhanced,
					 .priv = longest,
					 .priv_len = len},
				 g;
		uint8_t buf[MPA_MAX_FRAME];

		assert_int_equal(mpa_encode(&f, buf), MPA_MAX_FRAME);
		assert_int_equal(mpa_decode(buf, false, &g), 0);
		assert_int_equal(mpa_decode_pd(&g, buf + MPA_HDR_LEN), 0);
		assert_int_equal(g.priv_len, len);
		assert_memory_equal(g.priv, longest, len);
	}
}

static void fpdus_fit_the_segment(void **state)
{
	for (unsigned emss = 128; emss < 70000; emss++) {
		unsigned n = mpa_mulpdu(emss);

		assert_true(n <= MPA_MAX_MULPDU);
		assert_true(2 + n + mpa_pad(n) + 4 <= emss);
		assert_int_equal((2 + n + mpa_pad(n)) % 4, 0);
	}
	assert_true(mpa_mulpdu(0) > 100);
	assert_int_equal(mpa_pad(42), 0);
	assert_int_equal(mpa_pad(43), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_has_the_golden_bytes),
		cmocka_unit_test(rejection_is_understood),
		cmocka_unit_test(every_flag_survives),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(revision_1_ignores_reserved_bits),
		cmocka_unit_test(an_echo_is_no_consent),
		cmocka_unit_test(the_longest_private_data_fits),
		cmocka_unit_test(fpdus_fit_the_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

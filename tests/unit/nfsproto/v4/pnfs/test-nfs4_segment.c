/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_segment.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/v4/pnfs/nfs4_segment.h"

static uint8_t body[65536];

/* A layout of so many mirrors and stripes. */
static struct nfs4_layout layout(
	uint32_t nmirrors, uint32_t nstripes, uint64_t unit, const char *user)
{
	struct nfs4_ff_layout ff = {.unit = unit, .nmirrors = nmirrors, .nstripes = nstripes};
	struct nfs4_ff_server s = {
		.nfh = 2,
		.fh = {{.len = 1, .data = "a"}, {.len = 1, .data = "b"}},
		.user = {user, (uint32_t)strlen(user)},
		.group = {"0", 1},
	};
	struct xdr_out x;

	xdr_out_init(&x, body, sizeof(body));
	nfs4_put_ff_head(&x, &ff);
	for (uint32_t m = 0; m < nmirrors; m++) {
		nfs4_put_ff_mirror(&x, nstripes);
		for (uint32_t i = 0; i < nstripes; i++) {
			s.device.id[0] = (uint8_t)(m * nstripes + i);
			nfs4_put_ff_server(&x, &s);
		}
	}
	nfs4_put_ff_tail(&x, &ff);
	assert_true(xdr_out_ok(&x));
	return (struct nfs4_layout){
		.length = NFS4_LENGTH_EOF,
		.iomode = LAYOUTIOMODE4_RW,
		.type = LAYOUT4_FLEX_FILES,
		.body = {.data = body, .len = (uint32_t)x.len},
	};
}

static struct nfs4_segment segment(const struct nfs4_layout *l)
{
	struct nfs4_segment s;

	assert_int_equal(nfs4_segment_init(&s, l), 0);
	return s;
}

static void targets_are_mirrors_of_stripes(void **state)
{
	struct nfs4_layout l = layout(2, 3, 4096, "4294967295");
	struct nfs4_segment s = segment(&l);

	assert_int_equal(s.nmirrors, 2);
	assert_int_equal(s.nstripes, 3);
	assert_true(s.writes);
	assert_int_equal(nfs4_segment_target(&s, 1, 2)->id.id[0], 5);
	assert_true(s.target[0].numeric);
	assert_int_equal(s.target[0].uid, UINT32_MAX);
	assert_int_equal(s.target[0].gid, 0);
	assert_int_equal(s.target[0].nfh, 2);
	assert_int_equal(s.target[0].fh[1].data[0], 'b');
	nfs4_segment_finish(&s);
}

static void a_user_is_a_plain_number(void **state)
{
	static const char *const bad[] = {
		"", "00", "01", "-1", "4294967296", "12345678901", "1a", "user@domain", " 1"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct nfs4_layout l = layout(1, 1, 0, bad[i]);
		struct nfs4_segment s = segment(&l);

		assert_false(s.target[0].numeric);
		nfs4_segment_finish(&s);
	}
}

static void a_piece_ends_with_its_stripe_unit(void **state)
{
	struct nfs4_layout l = layout(1, 3, 4096, "0");
	struct nfs4_segment s = segment(&l);
	uint32_t len = 1 << 20;

	assert_int_equal(nfs4_segment_piece(&s, 0, &len), 0);
	assert_int_equal(len, 4096);
	len = 10;
	assert_int_equal(nfs4_segment_piece(&s, 4095, &len), 0);
	assert_int_equal(len, 1);
	len = 10;
	assert_int_equal(nfs4_segment_piece(&s, 4096, &len), 1);
	assert_int_equal(len, 10);
	len = 5000;
	assert_int_equal(nfs4_segment_piece(&s, 5 * 4096 + 96, &len), 2);
	assert_int_equal(len, 4000);
	len = 5000;
	assert_int_equal(nfs4_segment_piece(&s, UINT64_MAX - 9, &len), (UINT64_MAX - 9) / 4096 % 3);
	assert_int_equal(len, 10);
	nfs4_segment_finish(&s);
}

static void a_piece_ends_with_its_segment(void **state)
{
	struct nfs4_layout l = layout(1, 1, 0, "0");
	struct nfs4_segment s;
	uint32_t len = 1 << 20;

	l.offset = 1000;
	l.length = 100;
	s = segment(&l);
	assert_false(nfs4_segment_has(&s, 999));
	assert_true(nfs4_segment_has(&s, 1000));
	assert_true(nfs4_segment_has(&s, 1099));
	assert_false(nfs4_segment_has(&s, 1100));
	assert_int_equal(nfs4_segment_piece(&s, 1000, &len), 0);
	assert_int_equal(len, 100);
	nfs4_segment_finish(&s);
}

static void segments_overlap_by_a_byte(void **state)
{
	struct nfs4_segment a = {.offset = 0, .length = 100}, b = {.offset = 100, .length = 1},
			    all = {.offset = 0, .length = NFS4_LENGTH_EOF},
			    end = {.offset = UINT64_MAX, .length = NFS4_LENGTH_EOF};

	assert_false(nfs4_segments_overlap(&a, &b));
	assert_false(nfs4_segments_overlap(&b, &a));
	b.offset--;
	assert_true(nfs4_segments_overlap(&a, &b));
	assert_true(nfs4_segments_overlap(&b, &a));
	assert_true(nfs4_segments_overlap(&all, &end));
	assert_false(nfs4_segments_overlap(&a, &end));
}

static void what_is_malformed_or_too_large_is_refused(void **state)
{
	struct nfs4_layout l = layout(1, 2, 0, "0"); /* stripes without a unit */
	struct nfs4_segment s;

	assert_int_equal(nfs4_segment_init(&s, &l), -EBADMSG);
	l = layout(1, 1, 0, "0");
	l.length = 0;
	assert_int_equal(nfs4_segment_init(&s, &l), -EBADMSG);
	l = layout(1, 1, 0, "0");
	for (uint32_t len = 0; len < l.body.len; len++) {
		struct nfs4_layout cut = l;

		cut.body.len = len;
		assert_int_equal(nfs4_segment_init(&s, &cut), -EBADMSG);
	}
	l.type = LAYOUT4_BLOCK_VOLUME;
	assert_int_equal(nfs4_segment_init(&s, &l), -EOPNOTSUPP);
	l = layout(8, 8, 4096, "0");
	assert_int_equal(nfs4_segment_init(&s, &l), 0);
	nfs4_segment_finish(&s);
	l = layout(5, 13, 4096, "0");
	assert_int_equal(nfs4_segment_init(&s, &l), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_mirrors_of_stripes),
		cmocka_unit_test(a_user_is_a_plain_number),
		cmocka_unit_test(a_piece_ends_with_its_stripe_unit),
		cmocka_unit_test(a_piece_ends_with_its_segment),
		cmocka_unit_test(segments_overlap_by_a_byte),
		cmocka_unit_test(what_is_malformed_or_too_large_is_refused),
	};

	return cmocka_run_group_tests_name("nfs4_segment", tests, NULL, NULL);
}

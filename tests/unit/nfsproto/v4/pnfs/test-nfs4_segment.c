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

	assert_int_equal(nfs4_segment_init(&s, l, l->type), 0);
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

	assert_int_equal(nfs4_segment_init(&s, &l, LAYOUT4_FLEX_FILES), -EBADMSG);
	l = layout(1, 1, 0, "0");
	l.length = 0;
	assert_int_equal(nfs4_segment_init(&s, &l, LAYOUT4_FLEX_FILES), -EBADMSG);
	l = layout(1, 1, 0, "0");
	for (uint32_t len = 0; len < l.body.len; len++) {
		struct nfs4_layout cut = l;

		cut.body.len = len;
		assert_int_equal(nfs4_segment_init(&s, &cut, LAYOUT4_FLEX_FILES), -EBADMSG);
	}
	l.type = LAYOUT4_BLOCK_VOLUME;
	assert_int_equal(nfs4_segment_init(&s, &l, LAYOUT4_FLEX_FILES), -EBADMSG);
	l = layout(8, 8, 4096, "0");
	assert_int_equal(nfs4_segment_init(&s, &l, LAYOUT4_FLEX_FILES), 0);
	nfs4_segment_finish(&s);
	l = layout(5, 13, 4096, "0");
	assert_int_equal(nfs4_segment_init(&s, &l, LAYOUT4_FLEX_FILES), -EOPNOTSUPP);
}

/* --- the file layout type ------------------------------------------------------------------ */

/* The device of the examples of RFC 8881 sections 13.4.2 and 13.4.3: three lists of data servers,
 * and these stripe indices. */
static const uint8_t indices[] = {2, 0, 1, 0};
#define SERVERS 3

static const struct nfs_fh metadata_fh = {.len = 1, .data = {0x99}};

/* A layout of the file layout type with these handles of one byte. */
static struct nfs4_layout files(
	const char *fhs, unsigned nfh, bool dense, uint32_t first, uint64_t pattern)
{
	static uint8_t fh[8 * NFS4_STRIPES_MAX];
	struct nfs4_files_layout f = {
		.dense = dense,
		.unit = 4096,
		.first_stripe = first,
		.pattern_offset = pattern,
		.nfh = nfh,
	};
	struct xdr_out x;

	f.device.id[0] = 7;
	xdr_out_init(&x, fh, sizeof(fh));
	for (unsigned i = 0; i < nfh; i++) {
		struct nfs_fh one = {.len = 1};

		one.data[0] = (uint8_t)fhs[i];
		nfs4_put_fh(&x, &one);
	}
	f.fh = (struct nfs4_opaque){.data = fh, .len = (uint32_t)x.len};
	xdr_out_init(&x, body, sizeof(body));
	nfs4_put_files_layout(&x, &f);
	assert_true(xdr_out_ok(&x));
	return (struct nfs4_layout){
		.offset = pattern,
		.length = NFS4_LENGTH_EOF,
		.iomode = LAYOUTIOMODE4_RW,
		.type = LAYOUT4_NFSV4_1_FILES,
		.body = {.data = body, .len = (uint32_t)x.len},
	};
}

static int spread(struct nfs4_segment *s)
{
	return nfs4_segment_spread(s, &metadata_fh, indices, sizeof(indices), SERVERS);
}

static void check_units(const struct nfs4_segment *s, const uint8_t *fh, const uint8_t *server)
{
	for (unsigned unit = 0; unit < 13; unit++) {
		uint32_t len = 1 << 20;
		unsigned stripe = nfs4_segment_piece(s, s->pattern + unit * 4096u + 96, &len);

		assert_int_equal(len, 4000);
		assert_int_equal(indices[stripe], server[unit % 4]);
		assert_int_equal(s->target[stripe].nfh, 1);
		assert_int_equal(s->target[stripe].fh[0].data[0], fh[unit % 4]);
		assert_int_equal(s->target[stripe].id.id[0], 7);
	}
}

static const uint8_t server_of_unit[] = {1, 0, 2, 0};

static void sparse_units_are_where_the_rfc_says(void **state)
{
	static const uint8_t fh_of_unit[] = {0x87, 0x36, 0x67, 0x36};
	struct nfs4_layout l = files("\x36\x87\x67", 3, false, 2, 0);
	struct nfs4_segment s = segment(&l);

	assert_null(s.target);
	assert_int_equal(spread(&s), 0);
	check_units(&s, fh_of_unit, server_of_unit);
	assert_int_equal(nfs4_segment_place(&s, 123456789), 123456789);
	nfs4_segment_finish(&s);
}

static void dense_units_are_where_the_rfc_says(void **state)
{
	static const uint8_t fh_of_unit[] = {0x87, 0x36, 0x67, 0x37};
	struct nfs4_layout l = files("\x67\x37\x87\x36", 4, true, 2, 1000);
	struct nfs4_segment s = segment(&l);

	assert_int_equal(spread(&s), 0);
	check_units(&s, fh_of_unit, server_of_unit);
	/* units 1, 5 and 9 of the file are units 0, 1 and 2 of the data server's */
	assert_int_equal(nfs4_segment_place(&s, 1000 + 4096 + 5), 5);
	assert_int_equal(nfs4_segment_place(&s, 1000 + 5 * 4096 + 5), 4096 + 5);
	assert_int_equal(nfs4_segment_place(&s, 1000 + 9 * 4096), 2 * 4096);
	nfs4_segment_finish(&s);
}

static void one_handle_or_none_is_for_all_data_servers(void **state)
{
	static const uint8_t one[] = {0x36, 0x36, 0x36, 0x36}, none[] = {0x99, 0x99, 0x99, 0x99};
	struct nfs4_layout l = files("\x36", 1, false, 2, 0);
	struct nfs4_segment s = segment(&l);

	assert_int_equal(spread(&s), 0);
	check_units(&s, one, server_of_unit);
	nfs4_segment_finish(&s);
	l = files("", 0, false, 2, 0);
	s = segment(&l);
	assert_int_equal(spread(&s), 0);
	check_units(&s, none, server_of_unit);
	nfs4_segment_finish(&s);
}

static void one_stripe_has_no_units(void **state)
{
	struct nfs4_layout l = files("\x36", 1, true, 0, 1000);
	struct nfs4_segment s = segment(&l);
	uint32_t len = 1 << 20;

	assert_int_equal(nfs4_segment_spread(&s, &metadata_fh, indices, 1, SERVERS), 0);
	assert_int_equal(nfs4_segment_piece(&s, 5000, &len), 0);
	assert_int_equal(len, 1 << 20);
	assert_int_equal(nfs4_segment_place(&s, 5000), 4000);
	nfs4_segment_finish(&s);
}

/* The body of l decodes, but the layout does not fit its device. */
static void does_not_fit(struct nfs4_layout l)
{
	struct nfs4_segment s = segment(&l);

	assert_int_equal(spread(&s), -EBADMSG);
	assert_null(s.target);
	nfs4_segment_finish(&s);
}

static void a_layout_that_does_not_fit_its_device_is_refused(void **state)
{
	does_not_fit(files("\x36\x87", 2, false, 0, 0));
	does_not_fit(files("\x36\x87\x67\x11", 4, false, 0, 0));
	does_not_fit(files("\x36\x87\x67", 3, true, 0, 0));
	does_not_fit(files("", 0, true, 0, 0));
	does_not_fit(files("\x36\x87\x67", 3, false, 4, 0));
	does_not_fit(files("\x36\x87\x67", 3, false, UINT32_MAX, 0));
}

static void a_malformed_layout_of_files_is_refused(void **state)
{
	static const char many[NFS4_STRIPES + 1] = "";
	struct nfs4_layout l = files("\x36\x87\x67", 3, false, 2, 0);
	struct nfs4_segment s;

	for (uint32_t len = 0; len < l.body.len; len++) {
		struct nfs4_layout cut = l;

		cut.body.len = len;
		assert_int_equal(nfs4_segment_init(&s, &cut, LAYOUT4_NFSV4_1_FILES), -EBADMSG);
	}
	assert_int_equal(nfs4_segment_init(&s, &l, LAYOUT4_FLEX_FILES), -EBADMSG);
	l = files("\x36", 1, false, 0, 4096);
	l.offset = 4095; /* the pattern begins behind the segment */
	assert_int_equal(nfs4_segment_init(&s, &l, LAYOUT4_NFSV4_1_FILES), -EBADMSG);
	l = files(many, NFS4_STRIPES + 1, true, 0, 0);
	assert_int_equal(nfs4_segment_init(&s, &l, LAYOUT4_NFSV4_1_FILES), -EOPNOTSUPP);
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
		cmocka_unit_test(sparse_units_are_where_the_rfc_says),
		cmocka_unit_test(dense_units_are_where_the_rfc_says),
		cmocka_unit_test(one_handle_or_none_is_for_all_data_servers),
		cmocka_unit_test(one_stripe_has_no_units),
		cmocka_unit_test(a_layout_that_does_not_fit_its_device_is_refused),
		cmocka_unit_test(a_malformed_layout_of_files_is_refused),
	};

	return cmocka_run_group_tests_name("nfs4_segment", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs3_xdr: every procedure's arguments and results against vectors
 * written by hand, and lists of directory entries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "tests/unit/nfsproto/wire/nfs3-vecs.h"
#include "nfsproto/wire/ulb.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static size_t encode_args(const struct nfs3_args *a, uint8_t *out)
{
	uint8_t buf[16384];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	nfs3_put_args(&x, a);
	assert_true(xdr_out_ok(&x));
	return splice3(&x, out);
}

static size_t encode_res(const struct nfs3_res *r, uint8_t *out)
{
	uint8_t buf[16384];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	nfs3_put_res(&x, r);
	assert_true(xdr_out_ok(&x));
	return splice3(&x, out);
}

static void arguments_are_encoded_as_the_rfc_says(void **state)
{
	uint8_t want[1024], got[16384];

	for (size_t i = 0; i < N_OF(args3_vecs); i++) {
		size_t n = vec_bytes(args3_vecs[i].hex, want, sizeof(want));
		size_t m = encode_args(&args3_vecs[i].args, got);

		assert_false(vec_differ(nfs3_proc_name(args3_vecs[i].args.proc), got, m, want, n));
	}
}

static void decoded_arguments_are_the_same_again(void **state)
{
	uint8_t want[1024], got[16384];

	for (size_t i = 0; i < N_OF(args3_vecs); i++) {
		size_t n = vec_bytes(args3_vecs[i].hex, want, sizeof(want));
		struct nfs3_args a;
		struct xdr_in x;

		xdr_in_init(&x, want, n);
		assert_int_equal(nfs3_get_args(&x, args3_vecs[i].args.proc, &a), 0);
		assert_false(
			vec_differ(nfs3_proc_name(a.proc), got, encode_args(&a, got), want, n));
	}
}

static void results_are_encoded_as_the_rfc_says(void **state)
{
	uint8_t want[1024], got[16384];

	for (size_t i = 0; i < N_OF(res3_vecs); i++) {
		const struct nfs3_res *r = &res3_vecs[i].res;
		size_t n = vec_bytes(res3_vecs[i].hex, want, sizeof(want));

		assert_false(vec_differ(nfs3_proc_name(r->proc), got, encode_res(r, got), want, n));
		/* no result exceeds the bound that Reply chunks are given by */
		assert_true(n <= ulb_nfs3_res_max(r->proc, 8));
	}
}

static void decoded_results_are_the_same_again(void **state)
{
	uint8_t want[1024], got[16384];

	for (size_t i = 0; i < N_OF(res3_vecs); i++) {
		size_t n = vec_bytes(res3_vecs[i].hex, want, sizeof(want));
		struct nfs3_res r;
		struct xdr_in x;

		xdr_in_init(&x, want, n);
		assert_int_equal(get_res3(&x, res3_vecs[i].res.proc, &r), 0);
		assert_true(xdr_in_done(&x));
		assert_false(vec_differ(nfs3_proc_name(r.proc), got, encode_res(&r, got), want, n));
	}
}

/* The first cut bytes of want, on the heap, so that a sanitizer sees a read beyond the end. */
static uint8_t *cut_off(struct xdr_in *x, const uint8_t *want, size_t cut)
{
	uint8_t *copy = test_malloc(cut + 1);

	memcpy(copy, want, cut);
	xdr_in_init(x, copy, cut);
	return copy;
}

static void what_is_cut_anywhere_fails(void **state)
{
	uint8_t want[1024], *copy;
	struct nfs3_args a;
	struct nfs3_res r;
	struct xdr_in x;

	for (size_t i = 0; i < N_OF(args3_vecs); i++) {
		size_t n = vec_bytes(args3_vecs[i].hex, want, sizeof(want));

		for (size_t cut = 0; cut < n; cut++) {
			copy = cut_off(&x, want, cut);
			assert_int_equal(nfs3_get_args(&x, args3_vecs[i].args.proc, &a), -EBADMSG);
			test_free(copy);
		}
	}
	for (size_t i = 0; i < N_OF(res3_vecs); i++) {
		size_t n = vec_bytes(res3_vecs[i].hex, want, sizeof(want));

		for (size_t cut = 0; cut < n; cut++) {
			copy = cut_off(&x, want, cut);
			assert_int_not_equal(get_res3(&x, res3_vecs[i].res.proc, &r), 0);
			test_free(copy);
		}
	}
}

/* Random words in random places: a message that still decodes must encode to a fixed point. */
static void random_messages_reach_a_fixed_point(void **state)
{
	uint8_t in[1024], once[16384], twice[16384];
	uint64_t seed = 1;
	unsigned decoded = 0;

	for (unsigned round = 0; round < 20000; round++) {
		bool res = vec_random(&seed) & 1;
		size_t i = vec_random(&seed) % (res ? N_OF(res3_vecs) : N_OF(args3_vecs));
		size_t n = vec_bytes(res ? res3_vecs[i].hex : args3_vecs[i].hex, in, sizeof(in)), m;
		uint32_t proc = res ? res3_vecs[i].res.proc : args3_vecs[i].args.proc;
		struct nfs3_args a;
		struct nfs3_res r;
		struct xdr_in x;

		if (n < 4)
			continue;
		for (unsigned k = vec_random(&seed) % 3 + 1; k > 0; k--) {
			uint32_t v = vec_random(&seed) << (vec_random(&seed) % 32);

			memcpy(in + 4 * (vec_random(&seed) % (n / 4)), &v, 4);
		}
		xdr_in_init(&x, in, n);
		if (res ? get_res3(&x, proc, &r) : nfs3_get_args(&x, proc, &a))
			continue;
		decoded++;
		m = res ? encode_res(&r, once) : encode_args(&a, once);
		xdr_in_init(&x, once, m);
		assert_int_equal(res ? get_res3(&x, proc, &r) : nfs3_get_args(&x, proc, &a), 0);
		assert_true(xdr_in_done(&x));
		n = res ? encode_res(&r, twice) : encode_args(&a, twice);
		assert_false(vec_differ(nfs3_proc_name(proc), twice, n, once, m));
	}
	assert_true(decoded > 2000);
}

/* hex, and zeros behind it up to n bytes */
static int decode_args(uint32_t proc, const char *hex, size_t n)
{
	static uint8_t buf[2u << 20];
	struct nfs3_args a;
	struct xdr_in x;

	memset(buf, 0, sizeof(buf));
	vec_bytes(hex, buf, sizeof(buf));
	xdr_in_init(&x, buf, n);
	return nfs3_get_args(&x, proc, &a);
}

static int decode_res(uint32_t proc, const char *hex)
{
	static uint8_t buf[8192];
	struct nfs3_res r;
	struct xdr_in x;

	memset(buf, 0, sizeof(buf));
	vec_bytes(hex, buf, sizeof(buf));
	xdr_in_init(&x, buf, sizeof(buf));
	return nfs3_get_res(&x, proc, &r);
}

static void lengths_and_numbers_are_bounded(void **state)
{
	/* a handle of 64 bytes, of 65 */
	assert_int_equal(decode_args(NFS3PROC_GETATTR, "00000040", 68), 0);
	assert_int_equal(decode_args(NFS3PROC_GETATTR, "00000041", 72), -EBADMSG);
	/* a server accepts an empty handle; a client does not */
	assert_int_equal(decode_args(NFS3PROC_GETATTR, "00000000", 4), 0);
	assert_int_equal(decode_res(NFS3PROC_LOOKUP, "00000000 00000000"), -EBADMSG);
	assert_int_equal(decode_res(NFS3PROC_LOOKUP, "00000000 00000001 00000000"), 0);
	/* a name of 4096 bytes, of 4097, and a length that wraps around */
	assert_int_equal(decode_args(NFS3PROC_LOOKUP, FH_HEX "00001000", 12 + 4 + 4096), 0);
	assert_int_equal(decode_args(NFS3PROC_LOOKUP, FH_HEX "00001001", 12 + 4 + 4100), -EBADMSG);
	assert_int_equal(decode_args(NFS3PROC_LOOKUP, FH_HEX "fffffffd", 4096), -EBADMSG);
	/* WRITE of 1 MiB, of a byte more, of stability 3 */
	assert_int_equal(
		decode_args(NFS3PROC_WRITE, FH_HEX "00000000 00000000 00100000 00000002 00100000",
			32 + 4 + (1u << 20) - 4),
		0);
	assert_int_equal(
		decode_args(NFS3PROC_WRITE, FH_HEX "00000000 00000000 00100001 00000002 00100001",
			36 + (1u << 20)),
		-EBADMSG);
	assert_int_equal(
		decode_args(NFS3PROC_WRITE, FH_HEX "00000000 00000000 00000000 00000003", 32),
		-EBADMSG);
	/* createmode 3; bytes behind the arguments; an unknown procedure */
	assert_int_equal(decode_args(NFS3PROC_CREATE, WHERE_HEX "00000003", 64), -EBADMSG);
	assert_int_equal(decode_args(NFS3PROC_GETATTR, FH_HEX, 16), -EBADMSG);
	assert_int_equal(decode_args(NFS3_PROCS, "", 0), -EOPNOTSUPP);
	/* a second has no more than 999999999 ns to set, time_how 3 */
	assert_int_equal(decode_args(NFS3PROC_SETATTR,
				 FH_HEX "00000000 00000000 00000000 00000000 00000002 00000001 "
					"3b9aca00 00000000 00000000",
				 48),
		-EBADMSG);
	assert_int_equal(decode_args(NFS3PROC_SETATTR,
				 FH_HEX "00000000 00000000 00000000 00000000 00000003", 44),
		-EBADMSG);
	/* file types 0 and 8 */
	assert_int_equal(decode_res(NFS3PROC_GETATTR, "00000000 00000000"), -EBADMSG);
	assert_int_equal(decode_res(NFS3PROC_GETATTR, "00000000 00000008"), -EBADMSG);
	assert_int_equal(decode_res(NFS3PROC_GETATTR, "00000000 00000007"), 0);
	/* committed 3 */
	assert_int_equal(
		decode_res(NFS3PROC_WRITE, "00000000 " NOWCC_HEX "00000001 00000003"), -EBADMSG);
}

static void times_that_do_not_fit_are_the_nearest(void **state)
{
	const struct timespec early = {-5, 7}, late = {0x100000000, 7};
	struct timespec t;
	uint8_t buf[24];
	struct xdr_out o;
	struct xdr_in x;

	xdr_out_init(&o, buf, sizeof(buf));
	nfs3_put_time(&o, &early);
	nfs3_put_time(&o, &late);
	xdr_put_u32(&o, 1);
	xdr_put_u32(&o, UINT32_MAX);
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs3_get_time(&x, &t), 0);
	assert_true(t.tv_sec == 0 && t.tv_nsec == 0);
	assert_int_equal(nfs3_get_time(&x, &t), 0);
	assert_true(t.tv_sec == UINT32_MAX && t.tv_nsec == 999999999);
	assert_int_equal(nfs3_get_time(&x, &t), 0);
	assert_true(t.tv_sec == 1 && t.tv_nsec == 999999999);
}

static void the_change_attribute_grows_with_ctime(void **state)
{
	const struct timespec a = {5, 999999999}, b = {6, 0}, c = {6, 1};

	assert_true(nfs3_change(&a) < nfs3_change(&b));
	assert_true(nfs3_change(&b) < nfs3_change(&c));
}

static void the_data_of_a_read_is_found_in_the_stream(void **state)
{
	uint8_t buf[256];
	size_t n = vec_bytes("00000000 " POST_HEX "00000005 00000001 00000005 68656c6c 6f000000",
		buf, sizeof(buf));

	assert_int_equal(nfs3_peek_read(buf, n), n - 8);
	assert_int_equal(nfs3_peek_read(buf, n - 8), n - 8);
	assert_int_equal(nfs3_peek_read(buf, n - 9), 0);
	n = vec_bytes("00000005 " NONE_HEX "00000005 00000001 00000005", buf, sizeof(buf));
	assert_int_equal(nfs3_peek_read(buf, n), 0);
}

/* --- lists of entries ----------------------------------------------------------------------------
 */

static const struct nfs3_post_op no_attr;
static const uint8_t verf[8] = VERF;

static void a_list_of_entries_is_walked_one_by_one(void **state)
{
	static const char *const want[2] = {
		"00000000 00000000 " VERF_HEX "00000001 00000000 00000007 " NAME_HEX
		"00000000 00000001 "
		"00000001 00000000 00000008 " NAME_HEX "00000000 00000002 00000000 00000001",
		"00000000 00000000 " VERF_HEX "00000001 00000000 00000007 " NAME_HEX
		"00000000 00000001 " POST_HEX "00000001 " FH_HEX
		"00000001 00000000 00000008 " NAME_HEX "00000000 00000002 00000000 00000000 "
		"00000000 00000001"};
	const struct nfs3_entry ents[2] = {
		{7, 1, NAME, POST, true, FH}, {.fileid = 8, .cookie = 2, .name = NAME}};

	for (int plus = 0; plus < 2; plus++) {
		uint8_t buf[1024], bytes[1024];
		struct nfs3_readdir_res head;
		struct nfs3_entries e;
		struct nfs3_entry ent;
		struct xdr_out o;
		struct xdr_in x;
		bool eof;

		xdr_out_init(&o, buf, sizeof(buf));
		nfs3_entries_begin(&e, &o, plus, &no_attr, verf, 4096);
		assert_true(nfs3_entries_add(&e, &ents[0]));
		assert_true(nfs3_entries_add(&e, &ents[1]));
		assert_int_equal(nfs3_entries_end(&e, &no_attr, true), NFS3_OK);
		assert_false(vec_differ(
			"entries", buf, o.len, bytes, vec_bytes(want[plus], bytes, sizeof(bytes))));

		xdr_in_init(&x, buf, o.len);
		assert_int_equal(nfs3_get_readdir_res(&x, &head), 0);
		assert_int_equal(nfs3_get_entry(&x, plus, &ent, &eof), 1);
		assert_true(ent.fileid == 7 && ent.cookie == 1 && ent.name.len == 4);
		assert_true(ent.have_fh == plus && ent.obj.have == plus);
		assert_int_equal(nfs3_get_entry(&x, plus, &ent, &eof), 1);
		assert_true(ent.cookie == 2 && !ent.have_fh && !ent.obj.have);
		assert_int_equal(nfs3_get_entry(&x, plus, &ent, &eof), 0);
		assert_true(eof && xdr_in_done(&x));
		for (size_t cut = 12; cut < o.len; cut++) {
			int rc;

			xdr_in_init(&x, buf, cut);
			if (nfs3_get_readdir_res(&x, &head))
				continue;
			do
				rc = nfs3_get_entry(&x, plus, &ent, &eof);
			while (rc == 1);
			assert_int_equal(rc, -EBADMSG);
		}
	}
}

static void a_list_stays_within_its_size(void **state)
{
	const struct nfs3_entry ent = {7, 1, NAME, POST, true, FH};
	uint8_t buf[4096];

	for (uint32_t max = 0; max < 600; max++) {
		struct nfs3_entries e;
		struct xdr_out o;
		uint32_t status;

		xdr_out_init(&o, buf, sizeof(buf));
		nfs3_entries_begin(&e, &o, true, &no_attr, verf, max);
		while (nfs3_entries_add(&e, &ent))
			;
		status = nfs3_entries_end(&e, &no_attr, false);
		assert_true(xdr_out_ok(&o));
		/* head, one entry, tail */
		assert_int_equal(status, max >= 12 + 132 + 8 ? NFS3_OK : NFS3ERR_TOOSMALL);
		if (status == NFS3_OK)
			assert_true(o.len - 4 <= max && max - (o.len - 4) < 132);
		else
			assert_int_equal(o.len, 8);
	}
}

static void a_list_without_room_in_the_message_is_too_small(void **state)
{
	const struct nfs3_entry ent = {7, 1, NAME, POST, true, FH};
	uint8_t buf[64];
	struct nfs3_entries e;
	struct xdr_out o;

	for (size_t cap = 8; cap <= sizeof(buf); cap += 4) {
		xdr_out_init(&o, buf, cap);
		nfs3_entries_begin(&e, &o, true, &no_attr, verf, 4096);
		assert_false(nfs3_entries_add(&e, &ent));
		assert_int_equal(nfs3_entries_end(&e, &no_attr, false), NFS3ERR_TOOSMALL);
		assert_true(xdr_out_ok(&o));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_encoded_as_the_rfc_says),
		cmocka_unit_test(decoded_arguments_are_the_same_again),
		cmocka_unit_test(results_are_encoded_as_the_rfc_says),
		cmocka_unit_test(decoded_results_are_the_same_again),
		cmocka_unit_test(what_is_cut_anywhere_fails),
		cmocka_unit_test(random_messages_reach_a_fixed_point),
		cmocka_unit_test(lengths_and_numbers_are_bounded),
		cmocka_unit_test(times_that_do_not_fit_are_the_nearest),
		cmocka_unit_test(the_change_attribute_grows_with_ctime),
		cmocka_unit_test(the_data_of_a_read_is_found_in_the_stream),
		cmocka_unit_test(a_list_of_entries_is_walked_one_by_one),
		cmocka_unit_test(a_list_stays_within_its_size),
		cmocka_unit_test(a_list_without_room_in_the_message_is_too_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

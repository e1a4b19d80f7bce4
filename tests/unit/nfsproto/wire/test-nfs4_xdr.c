/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs4_xdr: arguments of every operation against vectors written by
 * hand from RFC 5662, RFC 7863 and RFC 8276, and the frame of a COMPOUND.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/wire/nfs4-vecs-args.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static size_t encode(const struct nfs4_args *a, uint8_t *out)
{
	uint8_t buf[4096];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	any_put_args(&x, a);
	assert_true(xdr_out_ok(&x));
	return any_splice(&x, out);
}

static void arguments_are_encoded_as_the_rfc_says(void **state)
{
	uint8_t want[1024], got[8192];

	for (size_t i = 0; i < N_OF(args_vecs); i++) {
		size_t n = vec_bytes(args_vecs[i].hex, want, sizeof(want));
		size_t m = encode(&args_vecs[i].args, got);

		assert_false(vec_differ(nfs4_op_name(args_vecs[i].args.op), got, m, want, n));
	}
}

static void decoded_arguments_are_the_same_again(void **state)
{
	uint8_t want[1024], got[8192];

	for (size_t i = 0; i < N_OF(args_vecs); i++) {
		size_t n = vec_bytes(args_vecs[i].hex, want, sizeof(want));
		struct nfs4_args a;
		struct xdr_in x;

		xdr_in_init(&x, want, n);
		assert_int_equal(nfs4_get_args(&x, &a), 0);
		assert_true(xdr_in_done(&x));
		assert_int_equal(a.op, args_vecs[i].args.op);
		assert_false(vec_differ(nfs4_op_name(a.op), got, encode(&a, got), want, n));
	}
}

static void arguments_cut_anywhere_fail(void **state)
{
	uint8_t want[1024];

	for (size_t i = 0; i < N_OF(args_vecs); i++) {
		size_t n = vec_bytes(args_vecs[i].hex, want, sizeof(want));

		for (size_t cut = 0; cut < n; cut++) {
			/* on the heap, so that a sanitizer sees a read beyond the end */
			uint8_t *copy = test_malloc(cut + 1);
			struct nfs4_args a;
			struct xdr_in x;

			memcpy(copy, want, cut);
			xdr_in_init(&x, copy, cut);
			assert_int_equal(nfs4_get_args(&x, &a), -EBADMSG);
			test_free(copy);
		}
	}
}

/* Random words in random places: a message that still decodes must encode to a fixed point. */
static void random_arguments_reach_a_fixed_point(void **state)
{
	uint8_t in[1024], once[8192], twice[8192];
	uint64_t seed = 1;
	unsigned decoded = 0;

	for (unsigned round = 0; round < 20000; round++) {
		const struct args_vec *v = &args_vecs[vec_random(&seed) % N_OF(args_vecs)];
		size_t n = vec_bytes(v->hex, in, sizeof(in)), m;
		struct nfs4_args a, b;
		struct xdr_in x;

		for (unsigned k = vec_random(&seed) % 3 + 1; k > 0 && n > 4; k--) {
			uint32_t r = vec_random(&seed) << (vec_random(&seed) % 32);

			memcpy(in + 4 + 4 * (vec_random(&seed) % (n / 4 - 1)), &r, 4);
		}
		xdr_in_init(&x, in, n);
		if (nfs4_get_args(&x, &a))
			continue;
		decoded++;
		m = encode(&a, once);
		xdr_in_init(&x, once, m);
		assert_int_equal(nfs4_get_args(&x, &b), 0);
		assert_true(xdr_in_done(&x));
		assert_false(vec_differ(nfs4_op_name(a.op), twice, encode(&b, twice), once, m));
	}
	assert_true(decoded > 2000);
}

/* offsets, count, consecutive, synchronous */
#define COPY_HEX      "00000000 00000001 00000000 00000002 00000000 00000003 00000001 00000001 "
#define NETLOC_HEX    "00000002 00000001 61000000 "
#define NETLOCS5_HEX  NETLOC_HEX NETLOC_HEX NETLOC_HEX NETLOC_HEX NETLOC_HEX
#define NETLOCS15_HEX NETLOCS5_HEX NETLOCS5_HEX NETLOCS5_HEX

/* hex with much room behind it, so that no count is refused for want of bytes */
static int decode_with_room(const char *hex)
{
	static uint8_t buf[2u << 20];
	struct nfs4_args a;
	struct xdr_in x;

	memset(buf, 0, 1024);
	vec_bytes(hex, buf, sizeof(buf));
	xdr_in_init(&x, buf, sizeof(buf));
	return nfs4_get_args(&x, &a);
}

static void impossible_counts_and_enumerations_fail(void **state)
{
	static const char *const bad[] = {
		"00000009 00000011 00000000 00000000", /* bitmap of 17 words */
		"00000009 ffffffff 00000000",	       /* bitmap of 2^32-1 words */
		"00000016 00000081 00000000",	       /* handle of 129 bytes */
		"0000000f 00001001",		       /* name of 4097 bytes */
		"0000000f fffffffd 00000000",	       /* name with a length that wraps around */
		"00000034 00000002",		       /* secinfo style 2 */
		"00000033 00000000 00000004 00000003 00000004", /* LAYOUTRETURN of kind 4 */
		/* LAYOUTRETURN, LAYOUTCOMMIT, LAYOUTSTATS: a body of 64 KiB + 1 */
		"00000033 00000000 00000004 00000003 00000001 00000000 00000010 00000000 "
		"00000020 " SID_HEX "00010001",
		"00000031 00000000 00000000 00000000 00000000 00000000 " SID_HEX
		"00000000 00000000 00000004 00010001",
		"00000041 00000000 00000010 00000000 00000020 " SID_HEX
		"00000000 00000001 00000000 00000002 00000000 00000003 00000000 00000004 " DEV_HEX
		"00000004 00010001",
		"00000040 00000000 00000010 00000000 00000020 " SID_HEX "00000101", /* 257 errors */
		"00000037 10000001 " SID_HEX,		  /* count * 16 wraps in 32 bits */
		"00000028 40000000 00000009",		  /* nine security flavours */
		"00000028 40000000 00000001 00000002",	  /* flavour 2 has no arm */
		"00000029 " SESS_HEX "00000004 00000000", /* direction 4 */
		"00000026 " SID_HEX "00000000 00000000 00000003 00000000", /* stable 3 */
		"00000026 " SID_HEX "00000000 00000000 00000002 00100001", /* 1 MiB + 1 */
		"0000000e 00000000 00000005 " SID_HEX "00000000 00000002 00000000 00000003",
		"0000003a 00000002",					    /* boolean 2 */
		"0000002a " VERF_HEX "00000003 69643100 00000103 00000003", /* protect 3 */
		"00000022 " SID_HEX "00000000 00010004", /* attrlist beyond the message */
		/* COPY: 17 source servers; an unknown kind of address; an address of 4097 bytes */
		"0000003c " SID_HEX SID2_HEX COPY_HEX "00000011",
		"0000003c " SID_HEX SID2_HEX COPY_HEX "00000001 00000000 00000000",
		"0000003c " SID_HEX SID2_HEX COPY_HEX "00000001 00000003 00000000 00001001",
		"00000049 00000003 " NAME_HEX,		  /* setxattr_option4 3 */
		"00000049 00000000 " NAME_HEX "00100001", /* a value of 1 MiB + 1 */
	};

	static const char *const good[] = {
		"00000009 00000010 00000000 00000000",
		"00000016 00000080 00000000",
		"0000000f 00001000",
		"00000034 00000001",
		"00000037 00000002 " SID_HEX,
		"00000028 40000000 00000008",
		"00000026 " SID_HEX "00000000 00000000 00000002 00100000",
		"00000022 " SID_HEX "00000000 00010000",
		"0000003c " SID_HEX SID2_HEX COPY_HEX "00000010 00000001 00000000 " NETLOCS15_HEX,
		"0000003c " SID_HEX SID2_HEX COPY_HEX
		"00000001 00000003 00000003 74637000 00001000",
		"00000045 " SID_HEX "00000000 00000000 00000007", /* for the server to refuse */
		"00000049 00000001 " NAME_HEX "00100000",
	};

	for (size_t i = 0; i < N_OF(good); i++)
		assert_int_equal(decode_with_room(good[i]), 0);
	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(decode_with_room(bad[i]), -EBADMSG);
}

static void unknown_operations_are_told_apart(void **state)
{
	assert_int_equal(decode_with_room("0000001e 00000000 00000001"), -EOPNOTSUPP); /* RENEW */
	assert_int_equal(decode_with_room("00000030"), -EOPNOTSUPP); /* GETDEVICELIST */
	assert_int_equal(decode_with_room("00002740"), -EOPNOTSUPP);
	assert_int_equal(decode_with_room("0000001d 00001001"), -EBADMSG);
}

static void bits_beyond_the_known_words_are_noted(void **state)
{
	uint8_t buf[64];
	struct nfs4_bitmap b;
	struct xdr_in x;

	xdr_in_init(&x, buf, vec_bytes("00000004 00000001 00000000 00000002 00000001", buf, 64));
	assert_int_equal(nfs4_get_bitmap(&x, &b), 0);
	assert_true(b.more && nfs4_bit(&b, 0) && nfs4_bit(&b, 65) && !nfs4_bit(&b, 96));
	xdr_in_init(&x, buf, vec_bytes("00000004 00000001 00000000 00000002 00000000", buf, 64));
	assert_int_equal(nfs4_get_bitmap(&x, &b), 0);
	assert_false(b.more);
}

static void compound_headers_match_the_rfc(void **state)
{
	static const char *const want_args =
		"00000003 74616700 00000001 00000002 00000018 0000000a";
	static const char *const want_cb = "00000000 00000001 0000002a 00000000";
	static const char *const want_res = "00000002 00000003 74616700 00000001 00000018 00000002";
	uint8_t buf[256], want[256];
	struct nfs4_compound_args a;
	struct nfs4_compound_res r;
	struct nfs4_opaque tag = {(const uint8_t *)"tag", 3};
	struct xdr_out o;
	struct xdr_in x;
	size_t at;

	xdr_out_init(&o, buf, sizeof(buf));
	at = nfs4_put_compound_args(&o, "tag", 1);
	nfs4_put_op(&o, OP_PUTROOTFH);
	nfs4_put_op(&o, OP_GETFH);
	xdr_patch_u32(&o, at, 2);
	assert_false(vec_differ("args", buf, o.len, want, vec_bytes(want_args, want, 256)));
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs4_get_compound_args(&x, &a), 0);
	assert_true(a.minor == 1 && a.nops == 2 && a.tag.len == 3);
	assert_memory_equal(a.tag.data, "tag", 3);

	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_cb_compound_args(&o, "", 1, 42);
	assert_false(vec_differ("cb", buf, o.len, want, vec_bytes(want_cb, want, 256)));
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs4_get_cb_compound_args(&x, &a), 0);
	assert_true(a.minor == 1 && a.cb_ident == 42 && a.nops == 0 && xdr_in_done(&x));

	xdr_out_init(&o, buf, sizeof(buf));
	xdr_put_u32(&o, 0xdeadbeef); /* the results need not start the buffer */
	at = nfs4_begin_compound_res(&o, &tag);
	nfs4_put_op_res(&o, OP_PUTROOTFH, NFS4ERR_NOENT);
	nfs4_end_compound_res(&o, at, NFS4ERR_NOENT, 1);
	assert_false(vec_differ("res", buf + 4, o.len - 4, want, vec_bytes(want_res, want, 256)));
	xdr_in_init(&x, buf + 4, o.len - 4);
	assert_int_equal(nfs4_get_compound_res(&x, &r), 0);
	assert_true(r.status == NFS4ERR_NOENT && r.nops == 1 && r.tag.len == 3);
}

static void a_count_of_operations_beyond_the_message_fails(void **state)
{
	struct nfs4_compound_args a;
	uint8_t buf[64];
	struct xdr_in x;

	xdr_in_init(&x, buf, vec_bytes("00000000 00000001 00000002 00000018", buf, 64));
	assert_int_equal(nfs4_get_compound_args(&x, &a), -EBADMSG);
	xdr_in_init(&x, buf, vec_bytes("00000401", buf, 64)); /* a tag of 1025 bytes */
	assert_int_equal(nfs4_get_compound_args(&x, &a), -EBADMSG);
}

static void a_result_of_another_operation_fails(void **state)
{
	uint8_t buf[64];
	uint32_t status;
	struct xdr_in x;

	xdr_in_init(&x, buf, vec_bytes("00000018 00000002", buf, 64));
	assert_int_equal(nfs4_get_op_res(&x, OP_PUTROOTFH, &status), 0);
	assert_int_equal(status, NFS4ERR_NOENT);
	xdr_in_init(&x, buf, 8);
	assert_int_equal(nfs4_get_op_res(&x, OP_PUTFH, &status), -EBADMSG);
	/* but for an operation that the server does not know */
	xdr_in_init(&x, buf, vec_bytes("0000273c 0000273c", buf, 64));
	assert_int_equal(nfs4_get_op_res(&x, OP_SEEK, &status), 0);
	assert_int_equal(status, NFS4ERR_OP_ILLEGAL);
	xdr_in_init(&x, buf, vec_bytes("0000273c 00000000", buf, 64));
	assert_int_equal(nfs4_get_op_res(&x, OP_SEEK, &status), -EBADMSG);
	xdr_in_init(&x, buf, vec_bytes("0000273c 00002714", buf, 64));
	assert_int_equal(nfs4_get_op_res(&x, OP_SEEK, &status), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_encoded_as_the_rfc_says),
		cmocka_unit_test(decoded_arguments_are_the_same_again),
		cmocka_unit_test(arguments_cut_anywhere_fail),
		cmocka_unit_test(random_arguments_reach_a_fixed_point),
		cmocka_unit_test(impossible_counts_and_enumerations_fail),
		cmocka_unit_test(unknown_operations_are_told_apart),
		cmocka_unit_test(bits_beyond_the_known_words_are_noted),
		cmocka_unit_test(compound_headers_match_the_rfc),
		cmocka_unit_test(a_count_of_operations_beyond_the_message_fails),
		cmocka_unit_test(a_result_of_another_operation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

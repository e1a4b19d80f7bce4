/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs4_xdr_cb: callback operations against vectors written by hand from
 * RFC 5662 and RFC 7863.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/wire/nfs4_xdr.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

#define DEV_HEX "d0d1d2d3 d4d5d6d7 d8d9dadb dcdddedf "
#define DEV                                                                                        \
	{                                                                                          \
		{                                                                                  \
			0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xdb,    \
				0xdc, 0xdd, 0xde, 0xdf                                             \
		}                                                                                  \
	}
#define SID_HEX	 "00000007 a0a1a2a3 a4a5a6a7 a8a9aaab "
#define SESS_HEX "10111213 14151617 18191a1b 1c1d1e1f "
#define FH_HEX	 "00000005 01020304 05000000 "

#define SID                                                                                        \
	{                                                                                          \
		7,                                                                                 \
		{                                                                                  \
			0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab     \
		}                                                                                  \
	}
#define SESS                                                                                       \
	{                                                                                          \
		{                                                                                  \
			0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b,    \
				0x1c, 0x1d, 0x1e, 0x1f                                             \
		}                                                                                  \
	}
#define FH                                                                                         \
	{                                                                                          \
		.len = 5, .data = { 1, 2, 3, 4, 5 }                                                \
	}
#define VERF                                                                                       \
	{                                                                                          \
		0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7                                     \
	}

static const struct vec {
	const char *hex;
	struct nfs4_cb_args args;
} vecs[] = {
	{"00000003 " FH_HEX "00000001 00000018",
		{OP_CB_GETATTR, .u.getattr = {FH, {{0x18, 0, 0}, false}}}},
	{"00000004 " SID_HEX "00000001 " FH_HEX, {OP_CB_RECALL, .u.recall = {SID, true, FH}}},
	{"00000005 00000001 00000002 00000001 00000001 " FH_HEX
	 "00000000 00000010 00000000 00000020 " SID_HEX,
		{OP_CB_LAYOUTRECALL, .u.layoutrecall = {1, 2, true, LAYOUTRECALL4_FILE, .fh = FH,
					     .offset = 16, .length = 32, .stateid = SID}}},
	{"00000005 00000001 00000003 00000000 00000002 00000000 00000001 00000000 00000002",
		{OP_CB_LAYOUTRECALL, .u.layoutrecall = {1, 3, false, LAYOUTRECALL4_FSID,
					     .fsid_major = 1, .fsid_minor = 2}}},
	{"00000005 00000001 00000003 00000000 00000003",
		{OP_CB_LAYOUTRECALL,
			.u.layoutrecall = {.type = 1, .iomode = 3, .recall = LAYOUTRECALL4_ALL}}},
	{"00000008 00000010 00000001 00000003",
		{OP_CB_RECALL_ANY, .u.recall_any = {16, {{3, 0, 0}, false}}}},
	{"0000000a 0000000f", {OP_CB_RECALL_SLOT, .u.recall_slot = {15}}},
	{"0000000b " SESS_HEX "00000001 00000000 00000000 00000001 00000000",
		{OP_CB_SEQUENCE, .u.sequence = {SESS, 1, 0, 0, true, 0, {{{{0}}, 0, 0}}}}},
	{"0000000b " SESS_HEX "00000001 00000000 00000000 00000000 00000001 " SESS_HEX
	 "00000001 0000002a 00000003",
		{OP_CB_SEQUENCE, .u.sequence = {SESS, 1, 0, 0, false, 1, {{SESS, 42, 3}}}}},
	{"0000000d " FH_HEX "01020304 05060708 00000005 6f776e65 72000000",
		{OP_CB_NOTIFY_LOCK, .u.notify_lock = {FH,
					    {0x0102030405060708, {(const uint8_t *)"owner", 5}}}}},
	{"0000000e 00000002 00000001 00000002 00000018 00000004 " DEV_HEX
	 "00000001 00000001 00000004 00000014 00000001 " DEV_HEX,
		{OP_CB_NOTIFY_DEVICEID,
			.u.notify_deviceid = {2, false,
				{{false, LAYOUT4_FLEX_FILES, DEV, true},
					{true, LAYOUT4_NFSV4_1_FILES, DEV, false}}}}},
	{"0000000f " FH_HEX SID_HEX "00000000 00000000 00000000 00010000 00000002 "
	 "c0c1c2c3 c4c5c6c7",
		{OP_CB_OFFLOAD, .u.offload = {.fh = FH,
					.stateid = SID,
					.response = {.count = 65536,
						.committed = FILE_SYNC4,
						.verf = VERF}}}},
	{"0000000f " FH_HEX SID_HEX "0000001c 00000000 00001000",
		{OP_CB_OFFLOAD, .u.offload = {.fh = FH,
					.stateid = SID,
					.status = NFS4ERR_NOSPC,
					.bytes_copied = 4096}}},
};

static void put_any(struct xdr_out *x, const struct nfs4_cb_args *a)
{
	switch (a->op) {
	case OP_CB_GETATTR:
		nfs4_put_cb_getattr_args(x, &a->u.getattr);
		break;
	case OP_CB_RECALL:
		nfs4_put_cb_recall_args(x, &a->u.recall);
		break;
	case OP_CB_LAYOUTRECALL:
		nfs4_put_cb_layoutrecall_args(x, &a->u.layoutrecall);
		break;
	case OP_CB_RECALL_ANY:
		nfs4_put_cb_recall_any_args(x, &a->u.recall_any);
		break;
	case OP_CB_RECALL_SLOT:
		nfs4_put_cb_recall_slot_args(x, &a->u.recall_slot);
		break;
	case OP_CB_SEQUENCE:
		nfs4_put_cb_sequence_args(x, &a->u.sequence);
		break;
	case OP_CB_NOTIFY_LOCK:
		nfs4_put_cb_notify_lock_args(x, &a->u.notify_lock);
		break;
	case OP_CB_NOTIFY_DEVICEID:
		nfs4_put_cb_notify_deviceid_args(x, &a->u.notify_deviceid);
		break;
	case OP_CB_OFFLOAD:
		nfs4_put_cb_offload_args(x, &a->u.offload);
		break;
	default:
		fail();
	}
}

static void arguments_match_the_rfc_both_ways(void **state)
{
	for (size_t i = 0; i < N_OF(vecs); i++) {
		uint8_t want[256], got[256];
		size_t n = vec_bytes(vecs[i].hex, want, sizeof(want));
		struct nfs4_cb_args a;
		struct xdr_out o;
		struct xdr_in x;

		xdr_out_init(&o, got, sizeof(got));
		put_any(&o, &vecs[i].args);
		assert_false(vec_differ(nfs4_cb_op_name(vecs[i].args.op), got, o.len, want, n));

		xdr_in_init(&x, want, n);
		assert_int_equal(nfs4_get_cb_args(&x, &a), 0);
		assert_true(xdr_in_done(&x));
		assert_int_equal(a.op, vecs[i].args.op);
		xdr_out_init(&o, got, sizeof(got));
		put_any(&o, &a);
		assert_false(vec_differ("again", got, o.len, want, n));

		for (size_t cut = 0; cut < n; cut++) {
			uint8_t *copy = test_malloc(cut + 1);

			memcpy(copy, want, cut);
			xdr_in_init(&x, copy, cut);
			assert_int_equal(nfs4_get_cb_args(&x, &a), -EBADMSG);
			test_free(copy);
		}
	}
}

static int decode(const char *hex, struct nfs4_cb_args *a)
{
	static uint8_t buf[65536];
	struct xdr_in x;

	memset(buf, 0, sizeof(buf));
	vec_bytes(hex, buf, sizeof(buf));
	xdr_in_init(&x, buf, sizeof(buf));
	return nfs4_get_cb_args(&x, a);
}

static void surplus_referring_calls_are_checked_and_dropped(void **state)
{
	struct nfs4_cb_args a;

	/* two lists, of 20 and of 0 calls; zeros behind */
	assert_int_equal(
		decode("0000000b " SESS_HEX "00000001 00000000 00000000 00000000 00000002 " SESS_HEX
		       "00000014 0000002a 00000003",
			&a),
		0);
	assert_int_equal(a.u.sequence.nrefs, NFS4_REFERRING_KEPT);
	assert_int_equal(a.u.sequence.ref[0].sequenceid, 42);
	/* a count that the message cannot hold */
	assert_int_equal(decode("0000000b " SESS_HEX
				"00000001 00000000 00000000 00000000 00000001 " SESS_HEX "20000000",
				 &a),
		-EBADMSG);
	assert_int_equal(
		decode("0000000b " SESS_HEX "00000001 00000000 00000000 00000000 10000000", &a),
		-EBADMSG);
}

/* 20 notifications, each of a change and of a deletion. */
static void surplus_devices_are_checked_and_dropped(void **state)
{
	uint8_t buf[8192];
	struct nfs4_cb_args a;
	struct xdr_out o;
	struct xdr_in x;

	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_op(&o, OP_CB_NOTIFY_DEVICEID);
	xdr_put_u32(&o, 20);
	for (uint32_t i = 0; i < 20; i++) {
		static const char *const hex =
			"00000001 00000006 0000002c 00000004 " DEV_HEX "00000000 00000004 " DEV_HEX;
		uint8_t one[128];

		xdr_put_fixed(&o, one, vec_bytes(hex, one, sizeof(one)));
	}
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs4_get_cb_args(&x, &a), 0);
	assert_true(xdr_in_done(&x));
	assert_int_equal(a.u.notify_deviceid.n, NFS4_DEVICES_KEPT);
	assert_true(a.u.notify_deviceid.more);
	assert_false(a.u.notify_deviceid.change[0].deleted);
	assert_true(a.u.notify_deviceid.change[1].deleted);
	/* 257 of them; an unknown kind; a value too long; a value of no kind */
	assert_int_equal(decode("0000000e 00000101", &a), -EBADMSG);
	assert_int_equal(decode("0000000e 00000001 00000001 00000008 00000018", &a), -EBADMSG);
	assert_int_equal(decode("0000000e 00000001 00000001 00000002 0000001c", &a), -EBADMSG);
	assert_int_equal(decode("0000000e 00000001 00000000 00000004", &a), -EBADMSG);
}

static void what_is_not_known_is_told_apart(void **state)
{
	struct nfs4_cb_args a;

	assert_int_equal(decode("00000006", &a), -EOPNOTSUPP); /* CB_NOTIFY */
	assert_int_equal(a.op, OP_CB_NOTIFY);
	assert_int_equal(decode("00000010", &a), -EOPNOTSUPP);
	assert_int_equal(decode("00000009 00000001 00000001 00000001", &a), 0);
	assert_int_equal(decode("00000005 00000001 00000003 00000000 00000004", &a), -EBADMSG);
	assert_int_equal(
		decode("00000004 " SID_HEX "00000000 00000000", &a), -EBADMSG); /* no handle */
}

static void results_match_the_rfc_both_ways(void **state)
{
	static const char *const seq_hex =
		"0000000b 00000000 " SESS_HEX "00000001 00000000 00000002 00000003";
	static const char *const attr_hex =
		"00000003 00000000 00000001 00000010 00000008 00000000 00000007";
	static const uint8_t size[8] = {0, 0, 0, 0, 0, 0, 0, 7};
	struct nfs4_cb_sequence_res seq = {SESS, 1, 0, 2, 3}, seq2;
	struct nfs4_getattr_res attr = {{{{16, 0, 0}, false}, {size, 8}}}, attr2;
	uint8_t buf[256], want[256];
	struct xdr_out o;
	struct xdr_in x;
	uint32_t status;
	size_t n;

	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_cb_sequence_res(&o, NFS4_OK, &seq);
	n = vec_bytes(seq_hex, want, sizeof(want));
	assert_false(vec_differ("CB_SEQUENCE", buf, o.len, want, n));
	for (size_t cut = 0; cut <= n; cut++) {
		xdr_in_init(&x, want, cut);
		nfs4_get_op_res(&x, OP_CB_SEQUENCE, &status);
		assert_int_equal(
			nfs4_get_cb_sequence_res(&x, status, &seq2), cut == n ? 0 : -EBADMSG);
	}
	assert_memory_equal(&seq, &seq2, sizeof(seq));

	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_cb_getattr_res(&o, NFS4_OK, &attr);
	n = vec_bytes(attr_hex, want, sizeof(want));
	assert_false(vec_differ("CB_GETATTR", buf, o.len, want, n));
	for (size_t cut = 0; cut <= n; cut++) {
		xdr_in_init(&x, want, cut);
		nfs4_get_op_res(&x, OP_CB_GETATTR, &status);
		assert_int_equal(
			nfs4_get_cb_getattr_res(&x, status, &attr2), cut == n ? 0 : -EBADMSG);
	}
	assert_int_equal(attr2.attrs.vals.len, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_match_the_rfc_both_ways),
		cmocka_unit_test(surplus_referring_calls_are_checked_and_dropped),
		cmocka_unit_test(surplus_devices_are_checked_and_dropped),
		cmocka_unit_test(what_is_not_known_is_told_apart),
		cmocka_unit_test(results_match_the_rfc_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

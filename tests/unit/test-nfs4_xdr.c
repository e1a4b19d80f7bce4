/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/nfs4_xdr: arguments of every operation against vectors written by hand
 * from RFC 5662, and the frame of a COMPOUND.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfs4-any.h"
#include "xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

#define SID_HEX	 "00000007 a0a1a2a3 a4a5a6a7 a8a9aaab "
#define SID2_HEX "00000008 b0b1b2b3 b4b5b6b7 b8b9babb "
#define SESS_HEX "10111213 14151617 18191a1b 1c1d1e1f "
#define VERF_HEX "c0c1c2c3 c4c5c6c7 "
#define OWN_HEX	 "01020304 05060708 00000005 6f776e65 72000000 " /* clientid, "owner" */
#define MODE_HEX "00000002 00000000 00000002 00000004 000001a4 " /* fattr4: mode 0644 */
#define NONE_HEX "00000000 00000000 "				 /* fattr4: nothing */
#define NAME_HEX "00000004 6e616d65 "				 /* "name" */

static const uint8_t mode_val[4] = {0, 0, 1, 0xa4};

#define SID                                                                                        \
	{                                                                                          \
		7,                                                                                 \
		{                                                                                  \
			0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab     \
		}                                                                                  \
	}
#define SID2                                                                                       \
	{                                                                                          \
		8,                                                                                 \
		{                                                                                  \
			0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb     \
		}                                                                                  \
	}
#define SESS                                                                                       \
	{                                                                                          \
		{                                                                                  \
			0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b,    \
				0x1c, 0x1d, 0x1e, 0x1f                                             \
		}                                                                                  \
	}
#define VERF                                                                                       \
	{                                                                                          \
		0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7                                     \
	}
#define OWN                                                                                        \
	{                                                                                          \
		0x0102030405060708,                                                                \
		{                                                                                  \
			(const uint8_t *)"owner", 5                                                \
		}                                                                                  \
	}
#define MODE                                                                                       \
	{                                                                                          \
		{{0, 2, 0}, false},                                                                \
		{                                                                                  \
			mode_val, 4                                                                \
		}                                                                                  \
	}
#define NAME                                                                                       \
	{                                                                                          \
		"name", 4                                                                          \
	}
#define FH                                                                                         \
	{                                                                                          \
		5,                                                                                 \
		{                                                                                  \
			1, 2, 3, 4, 5                                                              \
		}                                                                                  \
	}
#define FH_HEX "00000005 01020304 05000000 "

struct vec {
	const char *hex;
	struct nfs4_args args;
};

static const struct nfs4_stateid two_ids[2] = {SID, SID2};
static char write_data[] = "hello";

#define CHAN_HEX "00000000 00100400 00100800 00001000 00000008 00000040 00000001 00000010 "
#define CHAN                                                                                       \
	{                                                                                          \
		0, 0x100400, 0x100800, 0x1000, 8, 64, true, 16                                     \
	}
#define BACK_HEX "00000000 00000fe4 00000fe4 00000000 00000002 00000001 00000000 "
#define BACK                                                                                       \
	{                                                                                          \
		0, 0xfe4, 0xfe4, 0, 2, 1, false, 0                                                 \
	}

static const struct vec vecs[] = {
	{"00000003 0000001f", {OP_ACCESS, .u.access = {0x1f}}},
	{"00000004 00000009 " SID_HEX, {OP_CLOSE, .u.close = {9, SID}}},
	{"00000005 00000001 00000000 00002000", {OP_COMMIT, .u.commit = {1ull << 32, 0x2000}}},
	{"00000006 00000002 " NAME_HEX MODE_HEX,
		{OP_CREATE, .u.create = {.type = NF4DIR, .name = NAME, .attrs = MODE}}},
	{"00000006 00000005 00000006 74617267 65740000 " NAME_HEX NONE_HEX,
		{OP_CREATE, .u.create = {NF4LNK, .target = {"target", 6}, .name = NAME}}},
	{"00000006 00000004 00000008 00000101 " NAME_HEX MODE_HEX,
		{OP_CREATE, .u.create = {NF4CHR, .rdev_major = 8, .rdev_minor = 257, .name = NAME,
				    .attrs = MODE}}},
	{"00000008 " SID_HEX, {OP_DELEGRETURN, .u.delegreturn = {SID}}},
	{"00000009 00000002 0010011a 00b0a23a",
		{OP_GETATTR, .u.getattr = {{{0x0010011a, 0x00b0a23a, 0}, false}}}},
	{"00000009 00000000", {OP_GETATTR, .u.getattr = {{{0}, false}}}},
	{"0000000a", {OP_GETFH, .u = {{0}}}},
	{"0000000b " NAME_HEX, {OP_LINK, .u.link = {NAME}}},
	{"0000000c 00000002 00000000 00000000 00000064 ffffffff ffffffff 00000001 00000003 " SID_HEX
	 "00000004 " OWN_HEX,
		{OP_LOCK, .u.lock = {WRITE_LT, false, 100, NFS4_LENGTH_EOF, true, .open_seqid = 3,
				  .open_stateid = SID, .lock_seqid = 4, .owner = OWN}}},
	{"0000000c 00000001 00000001 00000000 00000000 00000000 00000001 00000000 " SID2_HEX
	 "00000004",
		{OP_LOCK, .u.lock = {READ_LT, true, 0, 1, false, .lock_stateid = SID2,
				  .lock_seqid = 4}}},
	{"0000000d 00000001 00000000 00000002 00000000 00000003 " OWN_HEX,
		{OP_LOCKT, .u.lockt = {READ_LT, 2, 3, OWN}}},
	{"0000000e 00000002 00000005 " SID_HEX "00000000 00000002 00000000 00000003",
		{OP_LOCKU, .u.locku = {WRITE_LT, 5, SID, 2, 3}}},
	{"0000000f " NAME_HEX, {OP_LOOKUP, .u.lookup = {NAME}}},
	{"00000010", {OP_LOOKUPP, .u = {{0}}}},
	{"00000011 " MODE_HEX, {OP_NVERIFY, .u.verify = {MODE}}},
	/* OPEN: every claim, every way to create */
	{"00000012 00000000 00000001 00000000 " OWN_HEX "00000000 00000000 " NAME_HEX,
		{OP_OPEN, .u.open = {.share_access = 1,
				  .owner = OWN,
				  .claim = CLAIM_NULL,
				  .name = NAME}}},
	{"00000012 00000000 00000002 00000003 " OWN_HEX "00000001 00000000 " MODE_HEX
	 "00000000 " NAME_HEX,
		{OP_OPEN, .u.open = {.share_access = 2,
				  .share_deny = 3,
				  .owner = OWN,
				  .create = true,
				  .mode = UNCHECKED4,
				  .attrs = MODE,
				  .name = NAME}}},
	{"00000012 00000000 00000003 00000000 " OWN_HEX "00000001 00000001 " NONE_HEX
	 "00000001 00000002",
		{OP_OPEN, .u.open = {.share_access = 3,
				  .owner = OWN,
				  .create = true,
				  .mode = GUARDED4,
				  .claim = CLAIM_PREVIOUS,
				  .deleg_type = OPEN_DELEGATE_WRITE}}},
	{"00000012 00000000 00000003 00000000 " OWN_HEX "00000001 00000002 " VERF_HEX
	 "00000002 " SID_HEX NAME_HEX,
		{OP_OPEN, .u.open = {.share_access = 3,
				  .owner = OWN,
				  .create = true,
				  .mode = EXCLUSIVE4,
				  .verf = VERF,
				  .claim = CLAIM_DELEGATE_CUR,
				  .deleg = SID,
				  .name = NAME}}},
	{"00000012 00000000 00000103 00000000 " OWN_HEX "00000001 00000003 " VERF_HEX MODE_HEX
	 "00000003 " NAME_HEX,
		{OP_OPEN, .u.open = {.share_access = 0x103,
				  .owner = OWN,
				  .create = true,
				  .mode = EXCLUSIVE4_1,
				  .verf = VERF,
				  .attrs = MODE,
				  .claim = CLAIM_DELEGATE_PREV,
				  .name = NAME}}},
	{"00000012 00000000 00000001 00000000 " OWN_HEX "00000000 00000004",
		{OP_OPEN, .u.open = {.share_access = 1, .owner = OWN, .claim = CLAIM_FH}}},
	{"00000012 00000000 00000001 00000000 " OWN_HEX "00000000 00000005 " SID2_HEX,
		{OP_OPEN, .u.open = {.share_access = 1,
				  .owner = OWN,
				  .claim = CLAIM_DELEG_CUR_FH,
				  .deleg = SID2}}},
	{"00000012 00000000 00000001 00000000 " OWN_HEX "00000000 00000006",
		{OP_OPEN,
			.u.open = {.share_access = 1, .owner = OWN, .claim = CLAIM_DELEG_PREV_FH}}},
	{"00000015 " SID_HEX "00000002 00000001 00000000",
		{OP_OPEN_DOWNGRADE, .u.open_downgrade = {SID, 2, 1, 0}}},
	{"00000016 " FH_HEX, {OP_PUTFH, .u.putfh = {FH}}},
	{"00000017", {OP_PUTPUBFH, .u = {{0}}}},
	{"00000018", {OP_PUTROOTFH, .u = {{0}}}},
	{"00000019 " SID_HEX "00000000 00001000 00100000",
		{OP_READ, .u.read = {SID, 4096, 1u << 20}}},
	{"0000001a 00000000 00000003 " VERF_HEX "00000100 00008000 00000001 00000802",
		{OP_READDIR, .u.readdir = {3, VERF, 256, 32768, {{0x802, 0, 0}, false}}}},
	{"0000001b", {OP_READLINK, .u = {{0}}}},
	{"0000001c " NAME_HEX, {OP_REMOVE, .u.remove = {NAME}}},
	{"0000001d 00000003 6f6c6400 00000005 6e65772e 32000000",
		{OP_RENAME, .u.rename = {{"old", 3}, {"new.2", 5}}}},
	{"0000001f", {OP_RESTOREFH, .u = {{0}}}},
	{"00000020", {OP_SAVEFH, .u = {{0}}}},
	{"00000021 " NAME_HEX, {OP_SECINFO, .u.secinfo = {NAME}}},
	{"00000022 " SID_HEX MODE_HEX, {OP_SETATTR, .u.setattr = {SID, MODE}}},
	{"00000025 " MODE_HEX, {OP_VERIFY, .u.verify = {MODE}}},
	{"00000026 " SID_HEX "00000000 00001000 00000002 00000005 68656c6c 6f000000",
		{OP_WRITE, .u.write = {SID, 4096, FILE_SYNC4, {write_data, 5, NULL}}}},
	{"00000028 40000000 00000002 00000000 00000001 00000000 00000004 686f7374 000003e8 "
	 "00000064 "
	 "00000002 00000064 00000065",
		{OP_BACKCHANNEL_CTL, .u.backchannel_ctl = {0x40000000, 2,
					     {{.flavor = NFS4_AUTH_NONE},
						     {.flavor = NFS4_AUTH_SYS,
							     .machine = {"host", 4},
							     .sys = {RPC_AUTH_SYS, 1000, 100, 2,
								     {100, 101}}}}}}},
	{"00000029 " SESS_HEX "00000007 00000001",
		{OP_BIND_CONN_TO_SESSION,
			.u.bind_conn_to_session = {SESS, CDFC4_BACK_OR_BOTH, true}}},
	{"0000002a " VERF_HEX "00000003 69643100 00000103 00000000 00000000",
		{OP_EXCHANGE_ID, .u.exchange_id = {.verf = VERF,
					 .ownerid = {(const uint8_t *)"id1", 3},
					 .flags = 0x103}}},
	{"0000002a " VERF_HEX "00000003 69643100 00000103 "
	 "00000001 00000002 00000000 00000001 00000001 00000010 "
	 "00000001 00000003 6f726700 00000004 6e616d65 00000000 5f5e1000 0000000a",
		{OP_EXCHANGE_ID, .u.exchange_id = {.verf = VERF,
					 .ownerid = {(const uint8_t *)"id1", 3},
					 .flags = 0x103,
					 .protect = SP4_MACH_CRED,
					 .must_enforce = {{0, 1, 0}, false},
					 .must_allow = {{16, 0, 0}, false},
					 .impl = {true, {"org", 3}, NAME, {0x5f5e1000, 10}}}}},
	{"0000002b 01020304 05060708 00000001 00000003 " CHAN_HEX BACK_HEX
	 "40000000 00000001 00000006 00000001 00000002 61620000 00000003 63646500",
		{OP_CREATE_SESSION,
			.u.create_session = {0x0102030405060708, 1, 3, CHAN, BACK, 0x40000000, 1,
				{{.flavor = NFS4_RPCSEC_GSS,
					.gss_service = 1,
					.gss_from_server = {(const uint8_t *)"ab", 2},
					.gss_from_client = {(const uint8_t *)"cde", 3}}}}}},
	{"0000002c " SESS_HEX, {OP_DESTROY_SESSION, .u.destroy_session = {SESS}}},
	{"0000002d " SID_HEX, {OP_FREE_STATEID, .u.free_stateid = {SID}}},
	{"00000034 00000001", {OP_SECINFO_NO_NAME, .u.secinfo_no_name = {SECINFO_STYLE4_PARENT}}},
	{"00000035 " SESS_HEX "0000002a 00000003 0000003f 00000001",
		{OP_SEQUENCE, .u.sequence = {SESS, 42, 3, 63, true}}},
	{"00000037 00000002 " SID_HEX SID2_HEX,
		{OP_TEST_STATEID, .u.test_stateid = {2, two_ids, NULL}}},
	{"00000039 01020304 05060708",
		{OP_DESTROY_CLIENTID, .u.destroy_clientid = {0x0102030405060708}}},
	{"0000003a 00000001", {OP_RECLAIM_COMPLETE, .u.reclaim_complete = {true}}},
};

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

	for (size_t i = 0; i < N_OF(vecs); i++) {
		size_t n = vec_bytes(vecs[i].hex, want, sizeof(want));
		size_t m = encode(&vecs[i].args, got);

		assert_false(vec_differ(nfs4_op_name(vecs[i].args.op), got, m, want, n));
	}
}

static void decoded_arguments_are_the_same_again(void **state)
{
	uint8_t want[1024], got[8192];

	for (size_t i = 0; i < N_OF(vecs); i++) {
		size_t n = vec_bytes(vecs[i].hex, want, sizeof(want));
		struct nfs4_args a;
		struct xdr_in x;

		xdr_in_init(&x, want, n);
		assert_int_equal(nfs4_get_args(&x, &a), 0);
		assert_true(xdr_in_done(&x));
		assert_int_equal(a.op, vecs[i].args.op);
		assert_false(vec_differ(nfs4_op_name(a.op), got, encode(&a, got), want, n));
	}
}

static void arguments_cut_anywhere_fail(void **state)
{
	uint8_t want[1024];

	for (size_t i = 0; i < N_OF(vecs); i++) {
		size_t n = vec_bytes(vecs[i].hex, want, sizeof(want));

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

/* Random words in random places: what still decodes must encode to a fixed point. */
static void random_arguments_reach_a_fixed_point(void **state)
{
	uint8_t in[1024], once[8192], twice[8192];
	uint64_t seed = 1;
	unsigned decoded = 0;

	for (unsigned round = 0; round < 20000; round++) {
		const struct vec *v = &vecs[vec_random(&seed) % N_OF(vecs)];
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

/* hex with much room behind it, so that it is not for want of bytes that a count is refused */
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
		"00000009 00000011 00000000 00000000",	  /* bitmap of 17 words */
		"00000009 ffffffff 00000000",		  /* bitmap of 2^32-1 words */
		"00000016 00000081 00000000",		  /* handle of 129 bytes */
		"0000000f 00001001",			  /* name of 4097 bytes */
		"0000000f fffffffd 00000000",		  /* name whose end wraps around */
		"00000034 00000002",			  /* secinfo style 2 */
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
	};

	for (size_t i = 0; i < N_OF(good); i++)
		assert_int_equal(decode_with_room(good[i]), 0);
	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(decode_with_room(bad[i]), -EBADMSG);
}

static void unknown_operations_are_told_apart(void **state)
{
	assert_int_equal(decode_with_room("0000001e 00000000 00000001"), -EOPNOTSUPP); /* RENEW */
	assert_int_equal(decode_with_room("00000032"), -EOPNOTSUPP); /* LAYOUTGET */
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

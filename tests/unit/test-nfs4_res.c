/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/nfs4_xdr: results of every operation against vectors written by hand from
 * RFC 5662, directories' entries, the peek at a READ; and that no vector exceeds its bound in
 * nfsproto/ulb.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfs4-any.h"
#include "nfsproto/nfs4_attr.h"
#include "nfsproto/ulb.h"
#include "xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

#define SID_HEX	  "00000007 a0a1a2a3 a4a5a6a7 a8a9aaab "
#define SESS_HEX  "10111213 14151617 18191a1b 1c1d1e1f "
#define VERF_HEX  "c0c1c2c3 c4c5c6c7 "
#define CINFO_HEX "00000001 00000000 00000001 00000000 00000002 "
#define MODE_HEX  "00000002 00000000 00000002 00000004 000001a4 "
#define ACE_HEX	  "00000000 00000001 00000003 00000006 4f574e45 52400000 " /* "OWNER@" */
#define DENY_HEX                                                                                   \
	"00000000 00000064 00000000 0000000a 00000002 01020304 05060708 00000005 6f776e65 "        \
	"72000000 "
#define CHAN_HEX "00000000 00100400 00100800 00001000 00000008 00000040 00000001 00000010 "
#define BACK_HEX "00000000 00000fe4 00000fe4 00000000 00000002 00000001 00000000 "

static const uint8_t mode_val[4] = {0, 0, 1, 0xa4};
static char data[] = "hello";

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
#define VERF                                                                                       \
	{                                                                                          \
		0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7                                     \
	}
#define CINFO                                                                                      \
	{                                                                                          \
		true, 1, 2                                                                         \
	}
#define MODE                                                                                       \
	{                                                                                          \
		{{0, 2, 0}, false},                                                                \
		{                                                                                  \
			mode_val, 4                                                                \
		}                                                                                  \
	}
#define DENY                                                                                       \
	{                                                                                          \
		100, 10, WRITE_LT,                                                                 \
		{                                                                                  \
			0x0102030405060708,                                                        \
			{                                                                          \
				(const uint8_t *)"owner", 5                                        \
			}                                                                          \
		}                                                                                  \
	}
#define ACE                                                                                        \
	{                                                                                          \
		0, 1, 3,                                                                           \
		{                                                                                  \
			"OWNER@", 6                                                                \
		}                                                                                  \
	}
#define CHAN                                                                                       \
	{                                                                                          \
		0, 0x100400, 0x100800, 0x1000, 8, 64, true, 16                                     \
	}
#define BACK                                                                                       \
	{                                                                                          \
		0, 0xfe4, 0xfe4, 0, 2, 1, false, 0                                                 \
	}

static const uint32_t codes[2] = {NFS4_OK, NFS4ERR_BAD_STATEID};

struct vec {
	const char *hex;
	struct any_res res;
};

static const struct vec vecs[] = {
	{"00000003 00000000 0000003f 0000001f", {OP_ACCESS, 0, .u.access = {0x3f, 0x1f}}},
	{"00000003 00000046", {OP_ACCESS, NFS4ERR_STALE, .u = {{0}}}},
	{"00000004 00000000 " SID_HEX, {OP_CLOSE, 0, .u.stateid = {SID}}},
	{"00000005 00000000 " VERF_HEX, {OP_COMMIT, 0, .u.commit = {VERF}}},
	{"00000006 00000000 " CINFO_HEX "00000002 00000000 00000002",
		{OP_CREATE, 0, .u.create = {CINFO, {{0, 2, 0}, false}}}},
	{"00000008 00000000", {OP_DELEGRETURN, 0, .u = {{0}}}},
	{"00000009 00000000 " MODE_HEX, {OP_GETATTR, 0, .u.getattr = {MODE}}},
	{"0000000a 00000000 00000003 01020300", {OP_GETFH, 0, .u.getfh = {{3, {1, 2, 3}}}}},
	{"0000000b 00000000 " CINFO_HEX, {OP_LINK, 0, .u.link = {CINFO}}},
	{"0000000c 00000000 " SID_HEX, {OP_LOCK, 0, .u.lock = {.stateid = SID}}},
	{"0000000c 0000271a " DENY_HEX, {OP_LOCK, NFS4ERR_DENIED, .u.lock = {.denied = DENY}}},
	{"0000000c 00002720", {OP_LOCK, NFS4ERR_WRONGSEC, .u = {{0}}}},
	{"0000000d 00000000", {OP_LOCKT, 0, .u = {{0}}}},
	{"0000000d 0000271a " DENY_HEX, {OP_LOCKT, NFS4ERR_DENIED, .u.lockt = {DENY}}},
	{"0000000e 00000000 " SID_HEX, {OP_LOCKU, 0, .u.stateid = {SID}}},
	{"0000000f 00000002", {OP_LOOKUP, NFS4ERR_NOENT, .u = {{0}}}},
	/* OPEN: every delegation */
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000024 00000002 00000010 00000002 00000000",
		{OP_OPEN, 0, .u.open = {SID, CINFO, 0x24, {{16, 2, 0}, false}, {.type = 0}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000001 " SID_HEX
	 "00000001 " ACE_HEX,
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_READ,
					.stateid = SID,
					.recall = true,
					.permissions = ACE}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000002 " SID_HEX
	 "00000000 00000001 00000001 00000000 " ACE_HEX,
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_WRITE,
					.stateid = SID,
					.limit_by = NFS_LIMIT_SIZE,
					.limit_size = 1ull << 32,
					.permissions = ACE}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000002 " SID_HEX
	 "00000000 00000002 00000005 00001000 " ACE_HEX,
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_WRITE,
					.stateid = SID,
					.limit_by = NFS_LIMIT_BLOCKS,
					.limit_blocks = 5,
					.limit_block_size = 4096,
					.permissions = ACE}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000003 00000001 00000001",
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_NONE_EXT,
					.why = WND4_CONTENTION,
					.server_will = true}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000003 00000008",
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_NONE_EXT, .why = WND4_IS_DIR}}}},
	{"00000012 0000000d", {OP_OPEN, NFS4ERR_ACCESS, .u = {{0}}}},
	{"00000015 00000000 " SID_HEX, {OP_OPEN_DOWNGRADE, 0, .u.stateid = {SID}}},
	{"00000019 00000000 00000001 00000005 68656c6c 6f000000",
		{OP_READ, 0, .u.read = {true, {data, 5, NULL}}}},
	{"00000019 00000000 00000000 00000000", {OP_READ, 0, .u.read = {false, {data, 0, NULL}}}},
	{"00000019 00000005", {OP_READ, NFS4ERR_IO, .u = {{0}}}},
	{"0000001b 00000000 00000005 68656c6c 6f000000",
		{OP_READLINK, 0, .u.readlink = {{data, 5}, {0}}}},
	{"0000001c 00000000 " CINFO_HEX, {OP_REMOVE, 0, .u.remove = {CINFO}}},
	{"0000001d 00000000 " CINFO_HEX "00000000 00000000 00000003 00000000 00000004",
		{OP_RENAME, 0, .u.rename = {CINFO, {false, 3, 4}}}},
	{"00000021 00000000 00000003 00000001 00000006 00000003 2a864800 00000000 00000002 "
	 "00000000",
		{OP_SECINFO, 0,
			.u.secinfo = {3,
				{{.flavor = 1}, {6, {(const uint8_t *)"\x2a\x86\x48", 3}, 0, 2},
					{.flavor = 0}}}}},
	{"00000034 00000000 00000001 00000001",
		{OP_SECINFO_NO_NAME, 0, .u.secinfo = {1, {{.flavor = 1}}}}},
	{"00000022 00000000 00000001 00000010",
		{OP_SETATTR, 0, .u.setattr = {{{16, 0, 0}, false}}}},
	{"00000022 0000001b 00000000", {OP_SETATTR, NFS4ERR_FBIG, .u = {{0}}}},
	{"00000026 00000000 00001000 00000002 " VERF_HEX,
		{OP_WRITE, 0, .u.write = {4096, FILE_SYNC4, VERF}}},
	{"00000028 00000000", {OP_BACKCHANNEL_CTL, 0, .u = {{0}}}},
	{"00000029 00000000 " SESS_HEX "00000003 00000000",
		{OP_BIND_CONN_TO_SESSION, 0, .u.bind_conn_to_session = {SESS, CDFS4_BOTH, false}}},
	{"0000002a 00000000 01020304 05060708 00000001 80010001 00000000 "
	 "00000000 00000009 00000002 736f0000 00000005 73636f70 65000000 00000000",
		{OP_EXCHANGE_ID, 0,
			.u.exchange_id = {.clientid = 0x0102030405060708,
				.sequenceid = 1,
				.flags = 0x80010001,
				.server_minor_id = 9,
				.server_major_id = {(const uint8_t *)"so", 2},
				.server_scope = {(const uint8_t *)"scope", 5}}}},
	{"0000002a 00000000 01020304 05060708 00000001 00010001 00000001 00000001 00000001 "
	 "00000000 "
	 "00000000 00000009 00000000 00000000 "
	 "00000001 00000001 64000000 00000001 6e000000 00000000 00000001 00000002",
		{OP_EXCHANGE_ID, 0,
			.u.exchange_id = {.clientid = 0x0102030405060708,
				.sequenceid = 1,
				.flags = 0x10001,
				.protect = SP4_MACH_CRED,
				.must_enforce = {{1, 0, 0}, false},
				.server_minor_id = 9,
				.impl = {true, {"d", 1}, {"n", 1}, {1, 2}}}}},
	{"0000002b 00000000 " SESS_HEX "00000001 00000002 " CHAN_HEX BACK_HEX,
		{OP_CREATE_SESSION, 0, .u.create_session = {SESS, 1, 2, CHAN, BACK}}},
	{"00000035 00000000 " SESS_HEX "0000002a 00000003 0000003f 0000003e 00000100",
		{OP_SEQUENCE, 0, .u.sequence = {SESS, 42, 3, 63, 62, 0x100}}},
	{"00000037 00000000 00000002 00000000 00002729",
		{OP_TEST_STATEID, 0, .u.test_stateid = {2, codes, NULL}}},
};

static size_t encode(const struct any_res *r, uint8_t *out)
{
	uint8_t buf[8192];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	any_put_res(&x, r);
	assert_true(xdr_out_ok(&x));
	return any_splice(&x, out);
}

static void results_are_encoded_as_the_rfc_says(void **state)
{
	uint8_t want[1024], got[8192];

	for (size_t i = 0; i < N_OF(vecs); i++) {
		size_t n = vec_bytes(vecs[i].hex, want, sizeof(want));

		assert_false(vec_differ(
			nfs4_op_name(vecs[i].res.op), got, encode(&vecs[i].res, got), want, n));
	}
}

static void decoded_results_are_the_same_again(void **state)
{
	uint8_t want[1024], got[8192];

	for (size_t i = 0; i < N_OF(vecs); i++) {
		size_t n = vec_bytes(vecs[i].hex, want, sizeof(want));
		struct any_res r;
		struct xdr_in x;

		xdr_in_init(&x, want, n);
		assert_int_equal(any_get_res(&x, &r), 0);
		assert_true(xdr_in_done(&x));
		assert_false(vec_differ(nfs4_op_name(r.op), got, encode(&r, got), want, n));
	}
}

static void results_cut_anywhere_fail(void **state)
{
	uint8_t want[1024];

	for (size_t i = 0; i < N_OF(vecs); i++) {
		size_t n = vec_bytes(vecs[i].hex, want, sizeof(want));

		for (size_t cut = 0; cut < n; cut++) {
			uint8_t *copy = test_malloc(cut + 1);
			struct any_res r;
			struct xdr_in x;

			memcpy(copy, want, cut);
			xdr_in_init(&x, copy, cut);
			assert_int_equal(any_get_res(&x, &r), -EBADMSG);
			test_free(copy);
		}
	}
}

static void random_results_reach_a_fixed_point(void **state)
{
	uint8_t in[1024], once[16384], twice[16384];
	uint64_t seed = 2;
	unsigned decoded = 0;

	for (unsigned round = 0; round < 20000; round++) {
		const struct vec *v = &vecs[vec_random(&seed) % N_OF(vecs)];
		size_t n = vec_bytes(v->hex, in, sizeof(in)), m;
		struct any_res a, b;
		struct xdr_in x;

		for (unsigned k = vec_random(&seed) % 3 + 1; k > 0; k--) {
			uint32_t r = vec_random(&seed) << (vec_random(&seed) % 32);

			memcpy(in + 4 + 4 * (vec_random(&seed) % (n / 4 - 1)), &r, 4);
		}
		xdr_in_init(&x, in, n);
		if (any_get_res(&x, &a))
			continue;
		decoded++;
		m = encode(&a, once);
		xdr_in_init(&x, once, m);
		assert_int_equal(any_get_res(&x, &b), 0);
		assert_true(xdr_in_done(&x));
		assert_false(vec_differ(nfs4_op_name(a.op), twice, encode(&b, twice), once, m));
	}
	assert_true(decoded > 2000);
}

static void no_result_exceeds_its_bound(void **state)
{
	uint8_t want[1024];

	for (size_t i = 0; i < N_OF(vecs); i++) {
		const struct any_res *r = &vecs[i].res;
		size_t n = vec_bytes(vecs[i].hex, want, sizeof(want)), var = 0;

		if (r->op == OP_GETATTR)
			var = ulb_nfs4_attrs_max(&r->u.getattr.attrs.mask);
		else if (r->op == OP_READ)
			var = r->u.read.data.len;
		else if (r->op == OP_READLINK)
			var = r->u.readlink.link.len;
		else if (r->op == OP_TEST_STATEID)
			var = r->u.test_stateid.n;
		assert_true(n <= ulb_nfs4_res_max(r->op, var));
	}
}

/* --- READDIR ---------------------------------------------------------------------------------- */

static const uint8_t verf[8] = VERF;

static void entries_are_encoded_as_the_rfc_says(void **state)
{
	static const char *const want_hex =
		"0000001a 00000000 " VERF_HEX "00000001 00000000 00000003 00000001 61000000 "
		"00000001 00000010 00000008 00000000 00000007 "
		"00000001 00000000 00000004 00000002 62620000 00000000 00000000 "
		"00000000 00000001";
	struct nfs4_bitmap size = nfs4_bits(FATTR4_SIZE, -1), none = {{0}, false};
	struct nfs4_attrs at = {.mask = size, .attr.size = 7};
	struct nfs_name a = {"a", 1}, b = {"bb", 2};
	uint8_t buf[256], want[256];
	struct nfs4_readdir_res head;
	struct nfs4_entries e;
	struct nfs4_entry ent;
	struct xdr_out o;
	struct xdr_in x;
	uint32_t status;
	bool eof;

	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_entries_begin(&e, &o, verf, 4096, 0);
	nfs4_entries_start(&e, 3, &a);
	nfs4_put_attrs(&o, &size, &at);
	assert_true(nfs4_entries_commit(&e));
	nfs4_entries_start(&e, 4, &b);
	nfs4_put_attrs(&o, &none, &at);
	assert_true(nfs4_entries_commit(&e));
	assert_int_equal(nfs4_entries_end(&e, true), NFS4_OK);
	assert_false(vec_differ("READDIR", buf, o.len, want, vec_bytes(want_hex, want, 256)));

	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs4_get_op_res(&x, OP_READDIR, &status), 0);
	assert_int_equal(nfs4_get_readdir_res(&x, status, &head), 0);
	assert_memory_equal(head.verf, verf, 8);
	assert_int_equal(nfs4_get_entry(&x, &ent, &eof), 1);
	assert_true(ent.cookie == 3 && ent.name.len == 1 && ent.name.s[0] == 'a');
	assert_int_equal(nfs4_attrs_decode(&ent.attrs, &at), 0);
	assert_int_equal(at.attr.size, 7);
	assert_int_equal(nfs4_get_entry(&x, &ent, &eof), 1);
	assert_int_equal(ent.cookie, 4);
	assert_int_equal(nfs4_get_entry(&x, &ent, &eof), 0);
	assert_true(eof && xdr_in_done(&x));

	for (size_t cut = 0; cut < o.len; cut++) {
		struct any_res r;

		xdr_in_init(&x, buf, cut);
		assert_int_equal(any_get_res(&x, &r), -EBADMSG);
	}
}

/* Fills a list of 28-byte entries ("a", no attributes) under a budget. */
static unsigned fill(struct xdr_out *o, uint32_t maxcount, size_t reserve, uint32_t *status)
{
	struct nfs4_bitmap none = {{0}, false};
	struct nfs4_attrs at = {.mask = none};
	struct nfs_name a = {"a", 1};
	struct nfs4_entries e;

	nfs4_entries_begin(&e, o, verf, maxcount, reserve);
	for (unsigned i = 0; i < 1000; i++) {
		nfs4_entries_start(&e, i + 3, &a);
		nfs4_put_attrs(o, &none, &at);
		if (!nfs4_entries_commit(&e))
			break;
	}
	*status = nfs4_entries_end(&e, false);
	return e.n;
}

static void entries_obey_every_budget(void **state)
{
	enum { ENTRY = 28, FRAME = 16 };
	uint8_t buf[512];
	struct xdr_out o;
	uint32_t status;

	for (uint32_t budget = 0; budget < 400; budget++) {
		unsigned fit = budget < FRAME ? 0 : (budget - FRAME) / ENTRY, n;

		xdr_out_init(&o, buf, sizeof(buf)); /* maxcount is the limit */
		n = fill(&o, budget, 0, &status);
		assert_int_equal(n, fit);
		assert_int_equal(status, fit ? NFS4_OK : NFS4ERR_TOOSMALL);
		assert_int_equal(o.len, fit ? 8 + FRAME + fit * ENTRY : 8);
		assert_true(xdr_out_ok(&o));

		xdr_out_init(&o, buf, sizeof(buf)); /* reserve is */
		n = fill(&o, 100000, sizeof(buf) - 8 - budget, &status);
		assert_int_equal(n, fit);
		assert_true(xdr_out_ok(&o) && o.len <= 8 + FRAME + budget);

		if (budget < 8)
			continue;
		xdr_out_init(&o, buf, budget); /* the buffer is */
		fill(&o, 100000, 0, &status);
		assert_true(xdr_out_ok(&o));
		assert_int_equal(status, budget >= 8 + FRAME + ENTRY ? NFS4_OK : NFS4ERR_TOOSMALL);
	}
}

static void an_empty_directory_is_no_error(void **state)
{
	struct nfs4_entries e;
	uint8_t buf[64];
	struct xdr_out o;

	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_entries_begin(&e, &o, verf, 4096, 0);
	assert_int_equal(nfs4_entries_end(&e, true), NFS4_OK);
	assert_int_equal(o.len, 24);
}

/* --- peek ------------------------------------------------------------------------------------- */

static void peek_finds_the_data_as_soon_as_it_can(void **state)
{
	static const char *const hex =
		"00000000 00000000 00000004 "
		"00000035 00000000 " SESS_HEX "0000002a 00000003 0000003f 0000003e 00000000 "
		"00000016 00000000 "
		"00000009 00000000 " MODE_HEX "00000019 00000000 00000001 00000005 ";
	uint8_t buf[256];
	size_t n = vec_bytes(hex, buf, sizeof(buf));

	assert_int_equal(nfs4_peek_read(buf, n), n);
	assert_int_equal(nfs4_peek_read(buf, n + 40), n);
	for (size_t cut = 0; cut < n; cut++)
		assert_int_equal(nfs4_peek_read(buf, cut), 0);
}

static void peek_finds_nothing_where_nothing_is(void **state)
{
	uint8_t buf[256];

	assert_int_equal(
		nfs4_peek_read(buf, vec_bytes("00000005 00000000 00000001 00000019 00000005 "
					      "00000000 00000005 00000000",
					    buf, 256)),
		0); /* a READ that failed */
	assert_int_equal(
		nfs4_peek_read(buf, vec_bytes("00000000 00000000 00000001 00000016 00000000 "
					      "00000019 00000000 00000000 00000005",
					    buf, 256)),
		0); /* behind the last operation */
	assert_int_equal(
		nfs4_peek_read(buf, vec_bytes("00000000 00000000 00000002 0000001d 00000000 "
					      "00000019 00000000 00000000 00000005",
					    buf, 256)),
		0); /* an operation that is not stepped over */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_encoded_as_the_rfc_says),
		cmocka_unit_test(decoded_results_are_the_same_again),
		cmocka_unit_test(results_cut_anywhere_fail),
		cmocka_unit_test(random_results_reach_a_fixed_point),
		cmocka_unit_test(no_result_exceeds_its_bound),
		cmocka_unit_test(entries_are_encoded_as_the_rfc_says),
		cmocka_unit_test(entries_obey_every_budget),
		cmocka_unit_test(an_empty_directory_is_no_error),
		cmocka_unit_test(peek_finds_the_data_as_soon_as_it_can),
		cmocka_unit_test(peek_finds_nothing_where_nothing_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

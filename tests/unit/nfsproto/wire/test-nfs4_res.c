/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs4_xdr: results of every operation against vectors written by hand
 * from RFC 5662, RFC 7863 and RFC 8276, directories' entries, names of extended attributes, ACLs,
 * the peek at a READ. Also, no vector exceeds its bound in nfsproto/wire/ulb.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfsproto/wire/nfs4_attr.h"
#include "nfsproto/wire/ulb.h"
#include "tests/unit/nfsproto/wire/nfs4-vecs-res.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

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

	for (size_t i = 0; i < N_OF(res_vecs); i++) {
		size_t n = vec_bytes(res_vecs[i].hex, want, sizeof(want));

		assert_false(vec_differ(nfs4_op_name(res_vecs[i].res.op), got,
			encode(&res_vecs[i].res, got), want, n));
	}
}

static void decoded_results_are_the_same_again(void **state)
{
	uint8_t want[1024], got[8192];

	for (size_t i = 0; i < N_OF(res_vecs); i++) {
		size_t n = vec_bytes(res_vecs[i].hex, want, sizeof(want));
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

	for (size_t i = 0; i < N_OF(res_vecs); i++) {
		size_t n = vec_bytes(res_vecs[i].hex, want, sizeof(want));

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
		const struct res_vec *v = &res_vecs[vec_random(&seed) % N_OF(res_vecs)];
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

	for (size_t i = 0; i < N_OF(res_vecs); i++) {
		const struct any_res *r = &res_vecs[i].res;
		size_t n = vec_bytes(res_vecs[i].hex, want, sizeof(want)), var = 0;

		if (r->op == OP_GETATTR)
			var = ulb_nfs4_attrs_max(&r->u.getattr.attrs.mask);
		else if (r->op == OP_READ)
			var = r->u.read.data.len;
		else if (r->op == OP_READLINK)
			var = r->u.readlink.link.len;
		else if (r->op == OP_READ_PLUS)
			var = 4096;
		else if (r->op == OP_GETXATTR)
			var = r->u.getxattr.value.len;
		else if (r->op == OP_LISTXATTRS)
			var = 16 + r->u.listxattrs.names.len;
		else if (r->op == OP_GETDEVICEINFO)
			var = r->u.getdeviceinfo.body.len;
		else if (r->op == OP_LAYOUTGET)
			var = 8; /* both bodies */
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
	assert_int_equal(nfs4_attrs_decode(&ent.attrs, &at, NULL), 0);
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
		xdr_out_init(&o, buf, budget); /* the buffer is the limit */
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

/* --- LISTXATTRS ------------------------------------------------------------------------------- */

static void names_of_attributes_obey_every_budget(void **state)
{
	enum { ONE = 8, FRAME = 16 };
	struct nfs_name a = {"a", 1};
	uint8_t buf[512];

	for (uint32_t budget = 0; budget < 300; budget++) {
		unsigned fit = budget < FRAME ? 0 : (budget - FRAME) / ONE;
		struct nfs4_xattrs l;
		struct xdr_out o;
		uint32_t status;

		xdr_out_init(&o, buf, sizeof(buf));
		nfs4_xattrs_begin(&l, &o, budget, 0);
		while (nfs4_xattrs_add(&l, &a))
			;
		assert_int_equal(l.n, fit);
		status = nfs4_xattrs_end(&l, 7, false);
		assert_int_equal(status, fit ? NFS4_OK : NFS4ERR_TOOSMALL);
		assert_int_equal(o.len, fit ? 8 + FRAME + fit * ONE : 8);

		xdr_out_init(&o, buf, sizeof(buf)); /* reserve is the limit */
		nfs4_xattrs_begin(&l, &o, UINT32_MAX, sizeof(buf) - 8 - budget);
		while (nfs4_xattrs_add(&l, &a))
			;
		assert_int_equal(l.n, fit);
		nfs4_xattrs_end(&l, 7, false);
		assert_true(xdr_out_ok(&o) && o.len <= 8 + FRAME + budget);

		if (budget < 8)
			continue;
		xdr_out_init(&o, buf, budget); /* the buffer is the limit */
		nfs4_xattrs_begin(&l, &o, UINT32_MAX, 0);
		while (nfs4_xattrs_add(&l, &a))
			;
		status = nfs4_xattrs_end(&l, 7, false);
		assert_true(xdr_out_ok(&o));
		assert_int_equal(status, budget >= 8 + FRAME + ONE ? NFS4_OK : NFS4ERR_TOOSMALL);
	}
}

static void names_of_attributes_come_back(void **state)
{
	struct nfs_name a = {"a", 1}, bb = {"bb", 2}, got;
	struct nfs4_listxattrs_res r;
	struct nfs4_xattrs l;
	uint8_t buf[256], want[256];
	uint32_t status, pos = 0;
	struct xdr_out o;
	struct xdr_in x;

	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_xattrs_begin(&l, &o, 4096, 0);
	assert_true(nfs4_xattrs_add(&l, &a));
	assert_true(nfs4_xattrs_add(&l, &bb));
	assert_int_equal(nfs4_xattrs_end(&l, 0x100000002, true), NFS4_OK);
	assert_false(vec_differ("LISTXATTRS", buf, o.len, want,
		vec_bytes("0000004a 00000000 00000001 00000002 00000002 00000001 61000000 "
			  "00000002 62620000 00000001",
			want, sizeof(want))));
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs4_get_op_res(&x, OP_LISTXATTRS, &status), 0);
	assert_int_equal(nfs4_get_listxattrs_res(&x, status, &r), 0);
	assert_true(r.eof && r.n == 2 && r.cookie == 0x100000002 && xdr_in_done(&x));
	assert_true(nfs4_xattr_names_next(&r, &pos, &got));
	assert_true(got.len == 1 && got.s[0] == 'a');
	assert_true(nfs4_xattr_names_next(&r, &pos, &got));
	assert_true(got.len == 2 && memcmp(got.s, "bb", 2) == 0);
	assert_false(nfs4_xattr_names_next(&r, &pos, &got));

	xdr_out_init(&o, buf, sizeof(buf)); /* no ACE at all */
	nfs4_xattrs_begin(&l, &o, 4096, 0);
	assert_int_equal(nfs4_xattrs_end(&l, 0, true), NFS4_OK);
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs4_get_op_res(&x, OP_LISTXATTRS, &status), 0);
	assert_int_equal(nfs4_get_listxattrs_res(&x, status, &r), 0);
	pos = 0;
	assert_true(r.eof && r.n == 0 && !nfs4_xattr_names_next(&r, &pos, &got));
}

/* Counts that the rest of the message could hold, without the counted items. */
static void impossible_results_fail(void **state)
{
	static const char *const bad[] = {
		"0000004a 00000000 00000000 00000000 ffffffff",		 /* 2^32-1 names */
		"0000004a 00000000 00000000 00000000 00000001 00001001", /* a name of 4097 bytes */
		"00000044 00000000 00000000 00002001",			 /* 8193 pieces */
		"00000044 00000000 00000000 00000001 00000002",		 /* of no known kind */
		"00000044 00000000 00000000 00000001 00000000 00000000 00000000 00100001",
		"0000003c 00000000 00000002 ",				 /* two callback stateids */
		"0000003c 00000000 00000000 00000000 00000000 00000003", /* committed 3 */
		"00000043 00000000 00000000 00000000 00000002",		 /* two statuses */
		"00000048 00000000 00100001",				 /* 1 MiB + 1 */
		"0000002f 00000000 00000004 00010001",			 /* a body of 64 KiB + 1 */
		"00000032 00000000 00000000 " SID_HEX "00000011",	 /* 17 layouts */
		/* iomodes that no layout has */
		"00000032 00000000 00000000 " SID_HEX
		"00000001 00000000 00000000 00000000 00001000 00000003",
		"00000032 00000000 00000000 " SID_HEX
		"00000001 00000000 00000000 00000000 00001000 00000000",
	};
	static uint8_t buf[2u << 20];

	for (size_t i = 0; i < N_OF(bad); i++) {
		struct any_res r;
		struct xdr_in x;

		memset(buf, 0, 1024);
		vec_bytes(bad[i], buf, sizeof(buf));
		xdr_in_init(&x, buf, sizeof(buf));
		assert_int_equal(any_get_res(&x, &r), -EBADMSG);
	}
}

static void acls_are_checked(void **state)
{
	static const char *const hex = "00000002 " ACE_HEX ACE_HEX;
	static const struct nfs4_ace ace = ACE;
	uint8_t want[256], got[256];
	size_t n = vec_bytes(hex, want, sizeof(want));
	struct xdr_out o;

	assert_true(nfs4_acl_valid(want, n));
	for (size_t cut = 0; cut < n; cut++)
		assert_false(nfs4_acl_valid(want, cut));
	assert_false(nfs4_acl_valid(want, n + 4));
	assert_true(nfs4_acl_valid("\0\0\0\0", 4));
	assert_false(nfs4_acl_valid("\0\0\20\1", 4));
	xdr_out_init(&o, got, sizeof(got));
	xdr_put_u32(&o, 2);
	nfs4_put_ace(&o, &ace);
	nfs4_put_ace(&o, &ace);
	assert_false(vec_differ("nfsace4<>", got, o.len, want, n));
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
		0); /* an operation that the peek does not step over */
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
		cmocka_unit_test(names_of_attributes_obey_every_budget),
		cmocka_unit_test(names_of_attributes_come_back),
		cmocka_unit_test(impossible_results_fail),
		cmocka_unit_test(acls_are_checked),
		cmocka_unit_test(peek_finds_the_data_as_soon_as_it_can),
		cmocka_unit_test(peek_finds_nothing_where_nothing_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

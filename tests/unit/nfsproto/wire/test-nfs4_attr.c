/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs4_attr and nfsproto/wire/nfs4_sattr.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfsproto/wire/nfs4_attr.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* The attributes that a Linux client asks for by stat(), answered for a file: RFC 8881 section 5,
 * by hand. */
static const char *const stat_hex = "00000002 0010011a 00b0a23a 00000084 "
				    "00000001 "			  /* type: NF4REG */
				    "00000000 0000abcd "	  /* change */
				    "00000001 00000002 "	  /* size */
				    "00000000 00000011 "	  /* fsid major */
				    "00000000 00000022 "	  /* fsid minor */
				    "00000000 00001234 "	  /* fileid */
				    "000001a4 "			  /* mode 0644 */
				    "00000002 "			  /* numlinks */
				    "00000004 31303030 "	  /* owner "1000" */
				    "00000005 75406578 2e000000 " /* owner_group "u@ex." */
				    "00000008 00000101 "	  /* rawdev */
				    "00000000 00002000 "	  /* space_used */
				    "00000000 5f5e1000 00000001 " /* time_access */
				    "00000000 5f5e1001 00000002 " /* time_metadata */
				    "ffffffff ffffffff 3b9ac9ff " /* time_modify: before 1970 */
				    "00000000 00005678 ";	  /* mounted_on_fileid */

static void check_stat(const struct nfs4_attrs *a)
{
	assert_int_equal(a->attr.type, NFS_REG);
	assert_true(a->attr.change == 0xabcd && a->attr.size == 0x100000002);
	assert_true(a->attr.fsid_major == 0x11 && a->attr.fsid_minor == 0x22);
	assert_int_equal(a->attr.fileid, 0x1234);
	assert_int_equal(a->attr.mode, 0644);
	assert_int_equal(a->attr.nlink, 2);
	assert_int_equal(a->attr.uid, 1000);
	assert_int_equal(a->attr.gid, NFS4_NOBODY);
	assert_true(a->attr.rdev_major == 8 && a->attr.rdev_minor == 257);
	assert_int_equal(a->attr.used, 0x2000);
	assert_true(a->attr.atime.tv_sec == 0x5f5e1000 && a->attr.atime.tv_nsec == 1);
	assert_true(a->attr.ctime.tv_sec == 0x5f5e1001 && a->attr.ctime.tv_nsec == 2);
	assert_true(a->attr.mtime.tv_sec == -1 && a->attr.mtime.tv_nsec == 999999999);
	assert_int_equal(a->mounted_on_fileid, 0x5678);
	assert_true(nfs4_attrs_complete(a));
}

static int decode(const char *hex, struct nfs4_attrs *a)
{
	static uint8_t buf[4096];
	struct xdr_in x;

	xdr_in_init(&x, buf, vec_bytes(hex, buf, sizeof(buf)));
	if (nfs4_get_attrs(&x, a, NULL))
		return -1;
	return xdr_in_done(&x) ? 0 : -2;
}

static void a_stat_is_decoded(void **state)
{
	struct nfs4_attrs a;

	assert_int_equal(decode(stat_hex, &a), 0);
	check_stat(&a);
}

static void a_stat_is_encoded(void **state)
{
	uint8_t want[512], buf[512];
	struct nfs4_attrs a;
	struct xdr_out x;

	assert_int_equal(decode(stat_hex, &a), 0);
	xdr_out_init(&x, buf, sizeof(buf));
	nfs4_put_attrs(&x, &a.mask, &a);
	/* equal up to the group, which is a number now: 65534 */
	assert_int_equal(vec_bytes(stat_hex, want, sizeof(want)), x.len);
	memcpy(want + 16 + 64, "65534", 5);
	assert_false(vec_differ("stat", buf, x.len, want, x.len));
}

static void values_cut_or_too_long_fail(void **state)
{
	uint8_t buf[512];
	size_t n = vec_bytes(stat_hex, buf, sizeof(buf));
	struct nfs4_fattr f = {{{0x0010011a, 0x00b0a23a, 0}, false}, {buf + 16, 0}};
	struct nfs4_attrs a;

	for (f.vals.len = 0; f.vals.len < n - 16; f.vals.len++)
		assert_int_equal(nfs4_attrs_decode(&f, &a, NULL), -EBADMSG);
	assert_int_equal(nfs4_attrs_decode(&f, &a, NULL), 0);
	for (f.vals.len++; f.vals.len < n + 16; f.vals.len++)
		assert_int_equal(nfs4_attrs_decode(&f, &a, NULL), -EBADMSG);
	/* a bit more in the mask, a bit less */
	f.vals.len = (uint32_t)(n - 16);
	nfs4_bit_set(&f.mask, FATTR4_MAXNAME);
	assert_int_equal(nfs4_attrs_decode(&f, &a, NULL), -EBADMSG);
	nfs4_bit_clear(&f.mask, FATTR4_MAXNAME);
	nfs4_bit_clear(&f.mask, FATTR4_MODE);
	assert_int_equal(nfs4_attrs_decode(&f, &a, NULL), -EBADMSG);
}

static void unknown_bits_and_impossible_values_fail(void **state)
{
	static const char *const bad[] = {
		"00000002 00000000 00010000 0000000c 00000000 00000000 00000000", /* 48: only to set
										   */
		"00000003 00000000 00000000 80000000 00000000",		 /* 95: not assigned */
		"00000004 00000000 00000000 00000000 00000001 00000000", /* 96 */
		"00000001 00000002 00000004 0000000a",			 /* type 10 */
		"00000001 00000002 00000004 00000000",			 /* type 0 */
		"00000001 00000020 00000004 00000002",			 /* link_support 2 */
		"00000001 00080000 00000004 00000000",			 /* a handle of no bytes */
		"00000002 00000000 00008000 0000000c 00000000 00000000 3b9aca00", /* 10^9 ns */
	};
	struct nfs4_attrs a;

	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(decode(bad[i], &a), -1);
}

static void what_is_missing_gets_a_default(void **state)
{
	struct nfs4_attrs a;

	assert_int_equal(decode("00000001 00000010 00000008 00000000 00000009", &a), 0);
	assert_int_equal(a.attr.size, 9);
	assert_int_equal(a.attr.nlink, 1);
	assert_int_equal(a.attr.uid, NFS4_NOBODY);
	assert_false(nfs4_attrs_complete(&a));
	assert_int_equal(decode("00000000 00000000", &a), 0);
	assert_true(nfs4_bits_none(&a.mask));
}

static void lists_are_kept_as_bytes(void **state)
{
	struct nfs4_attrs a;

	/* an ACL of one ACE, then aclsupport */
	assert_int_equal(decode("00000001 00003000 00000020 00000001 "
				"00000000 00000001 00000003 00000006 4f574e45 52400000 00000003",
				 &a),
		0);
	assert_int_equal(a.acl.len, 28);
	assert_int_equal(a.aclsupport, 3);
	/* fs_locations: root "/", one server "h" at "e"; then with a length word 4 bytes too small
	 */
	assert_int_equal(decode("00000001 01000000 00000028 00000001 00000001 2f000000 "
				"00000001 00000001 00000001 68000000 00000001 00000001 65000000",
				 &a),
		0);
	assert_int_equal(a.fs_locations.len, 40);
	assert_int_equal(decode("00000001 01000000 00000024 00000001 00000001 2f000000 "
				"00000001 00000001 00000001 68000000 00000001 00000001 65000000",
				 &a),
		-1);
}

/* Two types known by number, and one beyond the bits. */
static void layout_types_are_bits(void **state)
{
	struct nfs4_bitmap types = nfs4_bits(FATTR4_FS_LAYOUT_TYPES, -1);
	static const char *const hex = "00000002 00000000 40000000 0000000c "
				       "00000002 00000001 00000004";
	uint8_t got[64], want[64];
	struct nfs4_attrs a;
	struct xdr_out x;

	assert_int_equal(decode("00000002 00000000 40000000 00000010 "
				"00000003 00000004 00000021 00000001",
				 &a),
		0);
	assert_int_equal(a.layout_types, 1u << LAYOUT4_FLEX_FILES | 1u << LAYOUT4_NFSV4_1_FILES);
	xdr_out_init(&x, got, sizeof(got));
	nfs4_put_attrs(&x, &types, &a);
	assert_false(vec_differ("types", got, x.len, want, vec_bytes(hex, want, sizeof(want))));
}

/* Random values of all attributes, encoded and decoded again. */
static void all_that_is_encodable_comes_back(void **state)
{
	static const uint8_t acl[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 6,
		'O', 'W', 'N', 'E', 'R', '@', 0, 0};
	struct nfs4_bitmap all = nfs4_bits_encodable();
	uint64_t seed = 3;

	for (unsigned round = 0; round < 500; round++) {
		static struct nfs4_attrs a, b; /* static: padding is zero */
		uint8_t buf[2048], again[2048];
		struct nfs4_bitmap want = {{0}, false};
		struct xdr_out x, y;
		struct xdr_in in;
		uint8_t *p = (uint8_t *)&a;

		for (size_t i = 0; i < sizeof(a); i++)
			p[i] = (uint8_t)(vec_random(&seed) & 1); /* 0 or 1: valid as a bool, too */
		a.attr.type = 1 + vec_random(&seed) % 7;
		a.attr.uid = vec_random(&seed);
		a.attr.size = (uint64_t)vec_random(&seed) << 32 | vec_random(&seed);
		a.fh.len = 1 + vec_random(&seed) % NFS_FH_MAX;
		a.attr.atime.tv_nsec = vec_random(&seed) % 1000000000;
		a.attr.mtime.tv_nsec = a.attr.ctime.tv_nsec = a.time_create.tv_nsec = 0;
		a.time_backup.tv_nsec = a.time_delta.tv_nsec = 999999999;
		/* an ACL of one entry, or none */
		a.acl.data = round & 1 ? acl : NULL;
		a.acl.len = sizeof(acl);
		a.mask = all;
		for (unsigned i = 0; i < NFS4_BITMAP_WORDS; i++)
			want.w[i] = round ? vec_random(&seed) << 1 | (vec_random(&seed) & 1) : ~0u;

		xdr_out_init(&x, buf, sizeof(buf));
		nfs4_put_attrs(&x, &want, &a);
		assert_true(xdr_out_ok(&x));
		xdr_in_init(&in, buf, x.len);
		assert_int_equal(nfs4_get_attrs(&in, &b, NULL), 0);
		assert_true(xdr_in_done(&in));
		for (unsigned i = 0; i < NFS4_BITMAP_WORDS; i++)
			assert_int_equal(b.mask.w[i], want.w[i] & all.w[i]);
		if (nfs4_bit(&want, FATTR4_SIZE))
			assert_int_equal(b.attr.size, a.attr.size);
		xdr_out_init(&y, again, sizeof(again));
		nfs4_put_attrs(&y, &want, &b);
		assert_false(vec_differ("again", again, y.len, buf, x.len));
	}
}

/* --- owners ----------------------------------------------------------------------------------- */

static bool know_root(
	struct nfs4_owners *owners, const char *name, uint32_t len, bool group, uint32_t *id)
{
	if (len != 11 || memcmp(name, "root@domain", 11) != 0)
		return false;
	*id = group ? 5 : 0;
	return true;
}

static void owners_are_numbers_names_or_nobody(void **state)
{
	static const struct {
		const char *s;
		bool known;
		uint32_t id;
	} cases[] = {
		{"0", true, 0},
		{"1000", true, 1000},
		{"4294967294", true, 4294967294u},
		{"4294967295", false, NFS4_NOBODY}, /* (uid_t)-1 */
		{"4294967296", false, NFS4_NOBODY},
		{"99999999999", false, NFS4_NOBODY},
		{"007", false, NFS4_NOBODY},
		{"-1", false, NFS4_NOBODY},
		{"", false, NFS4_NOBODY},
		{"10 ", false, NFS4_NOBODY},
		{"root@domain", false, NFS4_NOBODY},
	};
	struct nfs4_owners known = {.to_id = know_root};
	uint32_t id;

	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_int_equal(nfs4_owner_parse(NULL, cases[i].s, (uint32_t)strlen(cases[i].s),
					 false, &id),
			cases[i].known);
		assert_int_equal(id, cases[i].id);
	}
	assert_true(nfs4_owner_parse(&known, "root@domain", 11, false, &id) && id == 0);
	assert_true(nfs4_owner_parse(&known, "root@domain", 11, true, &id) && id == 5);
	assert_false(nfs4_owner_parse(&known, "who@domain", 10, false, &id));
	assert_int_equal(id, NFS4_NOBODY);
}

static uint32_t name_root(
	struct nfs4_owners *owners, uint32_t id, bool group, char name[NFS4_OWNER_MAX + 1])
{
	if (id)
		return 0;
	strcpy(name, group ? "wheel@domain" : "root@domain");
	return (uint32_t)strlen(name);
}

static void owners_are_sent_by_name_where_there_is_one(void **state)
{
	struct nfs_sattr s = {.mask = NFS_SET_UID | NFS_SET_GID, .gid = 7};
	struct nfs4_owners known = {.to_name = name_root};
	uint8_t vals[NFS4_SATTR_MAX];
	char name[NFS4_OWNER_MAX + 1];
	struct nfs4_fattr f;

	assert_int_equal(nfs4_owner_format(NULL, 0, false, name), 1);
	assert_string_equal(name, "0");
	assert_int_equal(nfs4_owner_format(&known, 0, true, name), 12);
	assert_string_equal(name, "wheel@domain");
	nfs4_sattr_encode(&s, vals, &f, &known);
	assert_int_equal(f.vals.len, 4 + 12 + 4 + 4);
	assert_memory_equal(f.vals.data, "\0\0\0\013root@domain\0\0\0\0\0017\0\0\0", f.vals.len);
}

/* --- attributes to be set --------------------------------------------------------------------- */

static void attributes_to_set_match_the_rfc(void **state)
{
	static const char *const want_hex = "00000000 00001000 " /* size */
					    "000009ed "		 /* mode 04755 */
					    "00000001 37000000 " /* owner "7" */
					    "00000002 38390000 " /* owner_group "89" */
					    "00000000 "		 /* atime: the server's */
					    "00000001 00000000 5f5e1000 00000003 "; /* mtime */
	struct nfs_sattr s = {.mask = NFS_SET_SIZE | NFS_SET_MODE | NFS_SET_UID | NFS_SET_GID |
				      NFS_SET_ATIME_NOW | NFS_SET_MTIME,
		.mode = 04755,
		.uid = 7,
		.gid = 89,
		.size = 4096,
		.mtime = {0x5f5e1000, 3}};
	uint8_t buf[NFS4_SATTR_MAX], want[NFS4_SATTR_MAX];
	struct nfs4_bitmap bits = nfs4_sattr_bits(s.mask);
	struct nfs4_fattr f;
	struct nfs_sattr t;
	uint32_t n;

	nfs4_sattr_encode(&s, buf, &f, NULL);
	n = (uint32_t)vec_bytes(want_hex, want, sizeof(want));
	assert_false(vec_differ("sattr", f.vals.data, f.vals.len, want, n));
	assert_true(f.mask.w[0] == 0x10 && f.mask.w[1] == 0x00410032 && f.mask.w[2] == 0);
	assert_memory_equal(bits.w, f.mask.w, sizeof(bits.w));
	assert_int_equal(nfs4_sattr_decode(&f, &t, NULL, NULL), NFS4_OK);
	assert_int_equal(t.mask, s.mask);
	assert_true(t.size == s.size && t.mode == s.mode && t.uid == 7 && t.gid == 89);
	assert_true(t.mtime.tv_sec == 0x5f5e1000 && t.mtime.tv_nsec == 3);

	for (f.vals.len = 0; f.vals.len < n; f.vals.len++)
		assert_int_equal(nfs4_sattr_decode(&f, &t, NULL, NULL), NFS4ERR_BADXDR);
	f.vals.len = n + 4;
	assert_int_equal(nfs4_sattr_decode(&f, &t, NULL, NULL), NFS4ERR_BADXDR);
}

static void the_largest_attributes_to_set_fit(void **state)
{
	struct nfs_sattr s = {.mask = NFS_SET_SIZE | NFS_SET_MODE | NFS_SET_UID | NFS_SET_GID |
				      NFS_SET_ATIME | NFS_SET_MTIME,
		.uid = 4294967294u,
		.gid = 4294967294u,
		.size = UINT64_MAX};
	uint8_t buf[NFS4_SATTR_MAX];
	struct nfs4_fattr f;
	struct nfs_sattr t;

	nfs4_sattr_encode(&s, buf, &f, NULL);
	assert_int_equal(nfs4_sattr_decode(&f, &t, NULL, NULL), NFS4_OK);
	assert_true(t.mask == s.mask && t.gid == s.gid && t.size == s.size);
}

/* RFC 8275: MODE_UMASK instead of MODE, and never both. */
static void a_mode_goes_with_its_umask(void **state)
{
	struct nfs_sattr s = {.mask = NFS_SET_MODE | NFS_SET_UMASK | NFS_SET_SIZE,
		.mode = 0666,
		.umask = 022,
		.size = 1};
	static const char want_hex[] = "00000000 00000001 000001b6 00000012";
	uint8_t buf[NFS4_SATTR_MAX], want[16], both[20];
	struct nfs4_fattr f;
	struct nfs_sattr t;

	nfs4_sattr_encode(&s, buf, &f, NULL);
	assert_int_equal(vec_bytes(want_hex, want, sizeof(want)), 16);
	assert_false(vec_differ("sattr", f.vals.data, f.vals.len, want, 16));
	assert_true(nfs4_bit(&f.mask, FATTR4_MODE_UMASK) && !nfs4_bit(&f.mask, FATTR4_MODE));
	assert_int_equal(nfs4_sattr_decode(&f, &t, NULL, NULL), NFS4_OK);
	assert_true(t.mask == s.mask && t.mode == 0666 && t.umask == 022);
	want[15] = 0xff;
	want[14] = 0xff; /* a umask has nine bits */
	f.vals.data = want;
	assert_int_equal(nfs4_sattr_decode(&f, &t, NULL, NULL), NFS4ERR_INVAL);
	f.vals.len = 12;
	assert_int_equal(nfs4_sattr_decode(&f, &t, NULL, NULL), NFS4ERR_BADXDR);
	memset(both, 0, sizeof(both));
	nfs4_bit_set(&f.mask, FATTR4_MODE);
	f.vals = (struct nfs4_opaque){both, sizeof(both)};
	assert_int_equal(nfs4_sattr_decode(&f, &t, NULL, NULL), NFS4ERR_INVAL);
}

static uint32_t set_status(unsigned bit, const char *hex)
{
	static uint8_t buf[256];
	struct nfs4_fattr f = {{{0}, false}, {buf, 0}};
	struct nfs_sattr s;

	nfs4_bit_set(&f.mask, bit);
	f.vals.len = (uint32_t)vec_bytes(hex, buf, sizeof(buf));
	return nfs4_sattr_decode(&f, &s, NULL, NULL);
}

static void refusals_say_why(void **state)
{
	struct nfs4_fattr f = {{{0}, true}, {NULL, 0}};
	struct nfs_sattr s;

	assert_int_equal(set_status(FATTR4_MODE, "000001ed"), NFS4_OK);
	assert_int_equal(set_status(FATTR4_MODE, "000011ed"), NFS4ERR_INVAL);
	assert_int_equal(set_status(FATTR4_CHANGE, "00000000 00000001"), NFS4ERR_INVAL);
	assert_int_equal(set_status(FATTR4_HIDDEN, "00000001"), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(set_status(FATTR4_ACL, "00000000"), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(set_status(90, "00000000"), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(set_status(FATTR4_OWNER, "00000003 61406200"), NFS4ERR_BADOWNER);
	assert_int_equal(set_status(FATTR4_TIME_MODIFY_SET, "00000001 00000000 00000000 3b9aca00"),
		NFS4ERR_INVAL);
	assert_int_equal(set_status(FATTR4_TIME_MODIFY_SET, "00000002"), NFS4ERR_BADXDR);
	assert_int_equal(set_status(FATTR4_SIZE, "00000000"), NFS4ERR_BADXDR);
	assert_int_equal(nfs4_sattr_decode(&f, &s, NULL, NULL), NFS4ERR_ATTRNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stat_is_decoded),
		cmocka_unit_test(a_stat_is_encoded),
		cmocka_unit_test(values_cut_or_too_long_fail),
		cmocka_unit_test(unknown_bits_and_impossible_values_fail),
		cmocka_unit_test(what_is_missing_gets_a_default),
		cmocka_unit_test(lists_are_kept_as_bytes),
		cmocka_unit_test(layout_types_are_bits),
		cmocka_unit_test(all_that_is_encodable_comes_back),
		cmocka_unit_test(owners_are_numbers_names_or_nobody),
		cmocka_unit_test(owners_are_sent_by_name_where_there_is_one),
		cmocka_unit_test(attributes_to_set_match_the_rfc),
		cmocka_unit_test(the_largest_attributes_to_set_fit),
		cmocka_unit_test(a_mode_goes_with_its_umask),
		cmocka_unit_test(refusals_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

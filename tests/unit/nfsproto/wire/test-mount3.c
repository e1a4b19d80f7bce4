/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/mount3, against vectors written by hand from RFC 1813 appendix I.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "nfsproto/wire/mount3.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define MNT_HEX "00000000 00000003 0a0b0c00 00000002 00000001 0005f3df "
#define DUMP_HEX                                                                                   \
	"00000001 00000004 686f7374 00000002 2f610000 00000001 00000001 68000000 00000001 "        \
	"2f000000 00000000"
#define EXPORT_HEX                                                                                 \
	"00000001 00000002 2f610000 00000001 00000001 67000000 00000001 00000001 68000000 "        \
	"00000000 00000001 00000002 2f620000 00000000 00000000"

static const struct nfs_name path_a = {"/a", 2}, path_b = {"/b", 2}, g = {"g", 1}, h = {"h", 1};

static void the_result_of_mnt(void **state)
{
	const struct mount3_mnt_res res = {
		MOUNT3_OK, {.len = 3, .data = {10, 11, 12}}, 2, {1, 390111}};
	uint8_t buf[512], want[64];
	struct mount3_mnt_res r;
	struct xdr_out o;
	struct xdr_in x;
	size_t n = vec_bytes(MNT_HEX, want, sizeof(want));

	xdr_out_init(&o, buf, sizeof(buf));
	mount3_put_mnt_res(&o, &res);
	assert_false(vec_differ("MNT", buf, o.len, want, n));
	for (size_t cut = 0; cut <= n; cut++) {
		xdr_in_init(&x, want, cut);
		assert_int_equal(mount3_get_mnt_res(&x, &r), cut == n ? 0 : -EBADMSG);
	}
	assert_true(r.fh.len == 3 && r.fh.data[2] == 12 && r.nflavors == 2);
	assert_int_equal(r.flavor[1], 390111);

	xdr_in_init(&x, buf, vec_bytes("0000000d", buf, sizeof(buf)));
	assert_int_equal(mount3_get_mnt_res(&x, &r), 0);
	assert_int_equal(r.status, MOUNT3ERR_ACCES);
	assert_string_equal(mount3_status_name(r.status), "MNT3ERR_ACCES");
	assert_string_equal(mount3_status_name(3), "MNT3ERR_?");
}

static int get_mnt(const char *hex)
{
	uint8_t buf[512] = {0};
	struct mount3_mnt_res r;
	struct xdr_in x;

	vec_bytes(hex, buf, sizeof(buf));
	xdr_in_init(&x, buf, sizeof(buf));
	return mount3_get_mnt_res(&x, &r);
}

static void lengths_and_counts_are_bounded(void **state)
{
	uint8_t buf[1100] = {0};
	struct nfs_name path;
	struct xdr_in x;

	assert_int_equal(get_mnt("00000000 00000000 00000000"), -EBADMSG); /* no handle */
	assert_int_equal(get_mnt("00000000 00000041"), -EBADMSG);
	assert_int_equal(get_mnt("00000000 00000004 01020304 00000040"), 0);
	assert_int_equal(get_mnt("00000000 00000004 01020304 00000041"), -EBADMSG);
	vec_bytes("00000400", buf, sizeof(buf));
	xdr_in_init(&x, buf, sizeof(buf));
	assert_int_equal(mount3_get_path(&x, &path), 0);
	assert_int_equal(path.len, 1024);
	vec_bytes("00000401", buf, sizeof(buf));
	xdr_in_init(&x, buf, sizeof(buf));
	assert_int_equal(mount3_get_path(&x, &path), -EBADMSG);
	vec_bytes("00000001 00000100", buf, sizeof(buf)); /* a host's name of 256 bytes */
	xdr_in_init(&x, buf, sizeof(buf));
	assert_int_equal(mount3_get_group(&x, &path), -EBADMSG);
}

static void the_list_of_mounts(void **state)
{
	const struct mount3_mounted a = {{"host", 4}, path_a}, b = {h, {"/", 1}};
	uint8_t buf[256], want[256];
	struct mount3_mounted m;
	struct xdr_out o;
	struct xdr_in x;
	size_t n = vec_bytes(DUMP_HEX, want, sizeof(want));
	int rc;

	xdr_out_init(&o, buf, sizeof(buf));
	mount3_put_mounted(&o, &a);
	mount3_put_mounted(&o, &b);
	mount3_put_end(&o);
	assert_false(vec_differ("DUMP", buf, o.len, want, n));
	for (size_t cut = 0; cut < n; cut++) {
		xdr_in_init(&x, want, cut);
		while ((rc = mount3_get_mounted(&x, &m)) == 1)
			;
		assert_int_equal(rc, -EBADMSG);
	}
	xdr_in_init(&x, want, n);
	assert_int_equal(mount3_get_mounted(&x, &m), 1);
	assert_true(m.host.len == 4 && m.path.len == 2);
	assert_int_equal(mount3_get_mounted(&x, &m), 1);
	assert_int_equal(mount3_get_mounted(&x, &m), 0);
	assert_true(xdr_in_done(&x));
}

/* Walks a list of exports: the number of exports and groups, or -EBADMSG. */
static int count_exports(struct xdr_in *x)
{
	struct nfs_name name;
	int rc, n = 0;

	while ((rc = mount3_get_export(x, &name)) == 1) {
		n++;
		while ((rc = mount3_get_group(x, &name)) == 1)
			n++;
		if (rc)
			return rc;
	}
	return rc ? rc : n;
}

static void the_list_of_exports(void **state)
{
	uint8_t buf[256], want[256];
	struct xdr_out o;
	struct xdr_in x;
	size_t n = vec_bytes(EXPORT_HEX, want, sizeof(want));

	xdr_out_init(&o, buf, sizeof(buf));
	mount3_put_export(&o, &path_a);
	mount3_put_group(&o, &g);
	mount3_put_group(&o, &h);
	mount3_put_end(&o);
	mount3_put_export(&o, &path_b);
	mount3_put_end(&o);
	mount3_put_end(&o);
	assert_false(vec_differ("EXPORT", buf, o.len, want, n));
	for (size_t cut = 0; cut <= n; cut++) {
		xdr_in_init(&x, want, cut);
		assert_int_equal(count_exports(&x), cut == n ? 4 : -EBADMSG);
	}
}

static void paths(void **state)
{
	uint8_t buf[64], want[64];
	struct nfs_name path;
	struct xdr_out o;
	struct xdr_in x;

	xdr_out_init(&o, buf, sizeof(buf));
	mount3_put_path(&o, &path_a);
	assert_false(vec_differ(
		"path", buf, o.len, want, vec_bytes("00000002 2f610000", want, sizeof(want))));
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(mount3_get_path(&x, &path), 0);
	assert_true(path.len == 2 && memcmp(path.s, "/a", 2) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_result_of_mnt),
		cmocka_unit_test(lengths_and_counts_are_bounded),
		cmocka_unit_test(the_list_of_mounts),
		cmocka_unit_test(the_list_of_exports),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs4_replica.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/wire/nfs4_attr.h"

static uint8_t buf[4096];

static void put_path(struct xdr_out *x, const char *name)
{
	xdr_put_u32(x, 1);
	xdr_put_opaque(x, name, (uint32_t)strlen(name));
}

/* An fs_locations_info4 with one item of n servers. */
static uint32_t put_info(const struct nfs4_replica *r, uint32_t n)
{
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	xdr_put_u32(&x, 0);
	xdr_put_u32(&x, 60);
	put_path(&x, "root");
	xdr_put_u32(&x, 1);
	xdr_put_u32(&x, n);
	for (uint32_t i = 0; i < n; i++)
		nfs4_put_replica(&x, r);
	put_path(&x, "there");
	assert_true(xdr_out_ok(&x));
	return (uint32_t)x.len;
}

static const struct nfs4_replica one = {
	.currency = -1,
	.info = {FSLI4GF_WRITABLE, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
	.ninfo = FSLI4BX_KNOWN,
	.server = {"nas.example", 11},
};

static void a_server_comes_back(void **state)
{
	struct nfs4_replica got;
	struct xdr_out o;
	struct xdr_in x;

	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_replica(&o, &one);
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs4_get_replica(&x, &got), 0);
	assert_true(xdr_in_done(&x));
	assert_int_equal(got.currency, -1);
	assert_int_equal(got.ninfo, FSLI4BX_KNOWN);
	assert_memory_equal(got.info, one.info, FSLI4BX_KNOWN);
	assert_int_equal(got.server.len, 11);
	assert_memory_equal(got.server.s, "nas.example", 11);
}

/* Bytes of later versions are ignored; too many are an error. */
static void the_information_has_any_length(void **state)
{
	static const uint8_t many[NFS4_REPLICA_INFO_MAX + 4] = {1, 2, 3};
	static const uint32_t lengths[] = {0, 3, 12, 40, NFS4_REPLICA_INFO_MAX};
	struct nfs4_replica got;
	struct xdr_out o;
	struct xdr_in x;

	for (unsigned i = 0; i <= 5; i++) {
		uint32_t n = i < 5 ? lengths[i] : NFS4_REPLICA_INFO_MAX + 1;

		xdr_out_init(&o, buf, sizeof(buf));
		xdr_put_u32(&o, 0);
		xdr_put_opaque(&o, many, n);
		xdr_put_opaque(&o, "", 0);
		xdr_in_init(&x, buf, o.len);
		assert_int_equal(nfs4_get_replica(&x, &got), i < 5 ? 0 : -EBADMSG);
		if (i < 5)
			assert_int_equal(got.ninfo, n < FSLI4BX_KNOWN ? n : FSLI4BX_KNOWN);
	}
}

static void lists_are_scanned_to_their_end(void **state)
{
	uint32_t all = put_info(&one, 3);
	struct xdr_in x;

	xdr_in_init(&x, buf, all);
	assert_int_equal(nfs4_scan_locations_info(&x), 0);
	assert_true(xdr_in_done(&x));
	for (uint32_t len = 0; len < all; len += 4) {
		xdr_in_init(&x, buf, len);
		assert_int_equal(nfs4_scan_locations_info(&x), -EBADMSG);
	}
}

static void counts_are_bounded(void **state)
{
	static const size_t counts[] = {8, 20, 24}; /* names, items, servers */
	struct xdr_in x;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t all = put_info(&one, 3);

		memset(buf + counts[i], 0xff, 4);
		xdr_in_init(&x, buf, all);
		assert_int_equal(nfs4_scan_locations_info(&x), -EBADMSG);
	}
}

static void the_status_comes_back(void **state)
{
	const struct nfs4_fs_status s = {.absent = true,
		.type = STATUS4_VERSIONED,
		.source = {"from", 4},
		.age = -5,
		.version = {.tv_sec = 7, .tv_nsec = 8}};
	struct nfs4_fs_status got;
	struct xdr_out o;
	struct xdr_in x;

	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_fs_status(&o, &s);
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs4_get_fs_status(&x, &got), 0);
	assert_true(xdr_in_done(&x) && got.absent);
	assert_int_equal(got.type, STATUS4_VERSIONED);
	assert_memory_equal(got.source.s, "from", 4);
	assert_int_equal(got.current.len, 0);
	assert_int_equal(got.age, -5);
	assert_int_equal(got.version.tv_nsec, 8);
	for (uint32_t type = 0; type <= 6; type += 6) { /* unknown types */
		buf[7] = (uint8_t)type;
		xdr_in_init(&x, buf, o.len);
		assert_int_equal(nfs4_get_fs_status(&x, &got), -EBADMSG);
	}
}

/* As attributes: in the order of their numbers, and only if they are set. */
static void both_are_attributes(void **state)
{
	static uint8_t out[1024];
	struct nfs4_bitmap want =
		nfs4_bits(FATTR4_LEASE_TIME, FATTR4_FS_STATUS, FATTR4_FS_LOCATIONS_INFO, -1);
	struct nfs4_attrs a = {.mask = want, .lease_time = 9}, got;
	struct xdr_out o;
	struct xdr_in x;

	a.fs_locations_info = (struct nfs4_opaque){buf, put_info(&one, 1)};
	a.fs_status.type = STATUS4_WRITABLE;
	for (int set = 1; set >= 0; set--) {
		xdr_out_init(&o, out, sizeof(out));
		nfs4_put_attrs(&o, &want, &a);
		xdr_in_init(&x, out, o.len);
		assert_int_equal(nfs4_get_attrs(&x, &got, NULL), 0);
		assert_true(xdr_in_done(&x));
		assert_int_equal(got.lease_time, 9);
		assert_int_equal(nfs4_bit(&got.mask, FATTR4_FS_STATUS), set);
		assert_int_equal(nfs4_bit(&got.mask, FATTR4_FS_LOCATIONS_INFO), set);
		assert_int_equal(got.fs_status.type, set ? STATUS4_WRITABLE : 0);
		if (set)
			assert_memory_equal(
				got.fs_locations_info.data, buf, a.fs_locations_info.len);
		a.fs_locations_info.data = NULL;
		a.fs_status.type = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_comes_back),
		cmocka_unit_test(the_information_has_any_length),
		cmocka_unit_test(lists_are_scanned_to_their_end),
		cmocka_unit_test(counts_are_bounded),
		cmocka_unit_test(the_status_comes_back),
		cmocka_unit_test(both_are_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

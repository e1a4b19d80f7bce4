/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs4_files against vectors written by hand from RFC 5662.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfsproto/wire/nfs4_files.h"
#include "tests/unit/nfsproto/wire/nfs4-vecs.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* a dense layout with stripe units of 64 KiB, two file handles */
#define LAYOUT_HEX                                                                                 \
	DEV_HEX "00010001 00000001 00000000 00100000 00000002 " FH_HEX "00000003 aabbcc00 "
/* stripes at the servers 1, 0, 1; the first server has two addresses */
#define ADDR_HEX "00000003 74637000 0000000d 3139322e 302e322e 312e382e 31000000 "
#define RDMA_HEX "00000004 72646d61 0000000e 3139322e 302e322e 312e3738 2e35 0000 "
#define DEVICE_HEX                                                                                 \
	"00000003 00000001 00000000 00000001 00000002 00000002 " ADDR_HEX RDMA_HEX                 \
	"00000001 " ADDR_HEX

static int layout_of(const char *hex, struct nfs4_files_layout *l, uint8_t *buf, size_t cap)
{
	struct nfs4_opaque body = {buf, (uint32_t)vec_bytes(hex, buf, cap)};

	return nfs4_get_files_layout(&body, l);
}

static int device_of(const char *hex, struct nfs4_files_device *d, uint8_t *buf, size_t cap)
{
	struct nfs4_opaque body = {buf, (uint32_t)vec_bytes(hex, buf, cap)};

	return nfs4_get_files_device(&body, d);
}

static void a_layout_goes_both_ways(void **state)
{
	static const struct nfs4_deviceid dev = DEV;
	struct nfs4_files_layout l;
	uint8_t buf[256], again[256];
	struct nfs_fh fh;
	struct xdr_out x;
	uint32_t pos = 0;

	assert_int_equal(layout_of(LAYOUT_HEX, &l, buf, sizeof(buf)), 0);
	assert_memory_equal(&l.device, &dev, sizeof(dev));
	assert_true(l.dense && !l.commit_thru_mds);
	assert_int_equal(l.unit, 65536);
	assert_int_equal(l.first_stripe, 1);
	assert_int_equal(l.pattern_offset, 1 << 20);
	assert_int_equal(l.nfh, 2);
	assert_true(nfs4_files_fh_next(&l, &pos, &fh));
	assert_int_equal(fh.len, 5);
	assert_true(nfs4_files_fh_next(&l, &pos, &fh));
	assert_int_equal(fh.len, 3);
	assert_memory_equal(fh.data, "\xaa\xbb\xcc", 3);
	assert_false(nfs4_files_fh_next(&l, &pos, &fh));

	xdr_out_init(&x, again, sizeof(again));
	nfs4_put_files_layout(&x, &l);
	assert_false(
		vec_differ("layout", again, x.len, buf, vec_bytes(LAYOUT_HEX, buf, sizeof(buf))));
}

static void a_device_goes_both_ways(void **state)
{
	struct nfs4_files_device d;
	struct nfs4_multipath m;
	uint8_t buf[512], again[512];
	struct xdr_out x;
	uint32_t pos = 0;

	assert_int_equal(device_of(DEVICE_HEX, &d, buf, sizeof(buf)), 0);
	assert_int_equal(d.nstripes, 3);
	assert_int_equal(nfs4_files_stripe(&d, 0), 1);
	assert_int_equal(nfs4_files_stripe(&d, 1), 0);
	assert_int_equal(nfs4_files_stripe(&d, 2), 1);
	assert_int_equal(d.nservers, 2);
	assert_true(nfs4_files_server_next(&d, &pos, &m));
	assert_int_equal(m.n, 2);
	assert_memory_equal(m.addr[1].netid.s, "rdma", 4);
	assert_memory_equal(m.addr[1].addr.s, "192.0.2.1.78.5", 14);
	assert_true(nfs4_files_server_next(&d, &pos, &m));
	assert_int_equal(m.n, 1);
	assert_memory_equal(m.addr[0].addr.s, "192.0.2.1.8.1", 13);
	assert_false(nfs4_files_server_next(&d, &pos, &m));

	xdr_out_init(&x, again, sizeof(again));
	nfs4_put_files_device(&x, &d);
	assert_false(
		vec_differ("device", again, x.len, buf, vec_bytes(DEVICE_HEX, buf, sizeof(buf))));
}

/* On the heap, so that a sanitizer sees a read beyond the end. */
static void bodies_cut_anywhere_fail(void **state)
{
	uint8_t all[512];
	size_t n = vec_bytes(LAYOUT_HEX, all, sizeof(all));

	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *copy = test_malloc(cut + 1);
		struct nfs4_opaque body = {copy, (uint32_t)cut};
		struct nfs4_files_layout l;

		memcpy(copy, all, cut);
		assert_int_equal(nfs4_get_files_layout(&body, &l), -EBADMSG);
		test_free(copy);
	}
	n = vec_bytes(DEVICE_HEX, all, sizeof(all));
	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *copy = test_malloc(cut + 1);
		struct nfs4_opaque body = {copy, (uint32_t)cut};
		struct nfs4_files_device d;

		memcpy(copy, all, cut);
		assert_int_equal(nfs4_get_files_device(&body, &d), -EBADMSG);
		test_free(copy);
	}
}

static void hostile_layouts_fail(void **state)
{
	static const char *const bad[] = {
		/* a stripe unit of 0; no handle where one is counted; bytes behind the end */
		DEV_HEX "00000001 00000000 00000000 00000000 00000000",
		DEV_HEX "00010000 00000000 00000000 00000000 00000001 00000000 00000000",
		DEV_HEX "00010000 00000000 00000000 00000000 00000000 00000000",
		/* 2^32-1 handles; 4097 handles; a handle of 129 bytes */
		DEV_HEX "00010000 00000000 00000000 00000000 ffffffff " FH_HEX,
		DEV_HEX "00010000 00000000 00000000 00000000 00001001 " FH_HEX,
		DEV_HEX "00010000 00000000 00000000 00000000 00000001 00000081 ",
	};
	static uint8_t buf[65536];
	struct nfs4_files_layout l;

	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(layout_of(bad[i], &l, buf, sizeof(buf)), -EBADMSG);
}

static void hostile_devices_fail(void **state)
{
	static const char *const bad[] = {
		/* no stripe; no server; a server that is not there; a server without address */
		"00000000 00000001 00000001 " ADDR_HEX,
		"00000001 00000000 00000000",
		"00000002 00000000 00000001 00000001 00000001 " ADDR_HEX,
		"00000001 00000000 00000001 00000000",
		/* 2^30 stripes, whose bytes wrap around; 257 servers; 257 addresses */
		"40000000 00000001 00000001 " ADDR_HEX,
		"00000001 00000000 00000101 00000001 " ADDR_HEX,
		"00000001 00000000 00000001 00000101 " ADDR_HEX,
		/* bytes behind the end */
		"00000001 00000000 00000001 00000001 " ADDR_HEX "00000000",
	};
	static uint8_t buf[65536];
	struct nfs4_files_device d;

	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(device_of(bad[i], &d, buf, sizeof(buf)), -EBADMSG);
}

/* A list of 20 addresses decodes to the first 16. */
static void surplus_addresses_are_checked_and_dropped(void **state)
{
	uint8_t buf[2048], one[64];
	struct nfs4_multipath m;
	struct xdr_out o;
	struct xdr_in x;

	xdr_out_init(&o, buf, sizeof(buf));
	xdr_put_u32(&o, 20);
	for (unsigned i = 0; i < 20; i++)
		xdr_put_fixed(&o, one, vec_bytes(i ? ADDR_HEX : RDMA_HEX, one, sizeof(one)));
	xdr_in_init(&x, buf, o.len);
	assert_int_equal(nfs4_get_multipath(&x, &m), 0);
	assert_true(xdr_in_done(&x));
	assert_int_equal(m.n, NFS4_MULTIPATH_KEPT);
	assert_int_equal(m.addr[0].netid.len, 4);
	assert_int_equal(m.addr[15].netid.len, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_layout_goes_both_ways),
		cmocka_unit_test(a_device_goes_both_ways),
		cmocka_unit_test(bodies_cut_anywhere_fail),
		cmocka_unit_test(hostile_layouts_fail),
		cmocka_unit_test(hostile_devices_fail),
		cmocka_unit_test(surplus_addresses_are_checked_and_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

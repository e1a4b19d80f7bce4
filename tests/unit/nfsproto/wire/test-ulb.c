/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/ulb. (test-nfs4_res tests that no result exceeds its bound.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfsproto/wire/nfs4_attr.h"
#include "nfsproto/wire/ulb.h"

static void only_the_items_of_rfc_8267_may_be_placed(void **state)
{
	for (uint32_t op = 0; op <= OP_LAST_42; op++) {
		enum ulb_ddp want = op == OP_READ			? ULB_DDP_RES
				    : op == OP_WRITE || op == OP_CREATE ? ULB_DDP_ARG
									: ULB_DDP_NONE;

		assert_int_equal(ulb_nfs4_op(op), want);
	}
	for (uint32_t proc = 0; proc <= 22; proc++) {
		enum ulb_ddp want = proc == 5 || proc == 6 ? ULB_DDP_RES : /* READLINK, READ */
					    proc == 7 || proc == 10 ? ULB_DDP_ARG
								    : /* WRITE, SYMLINK */
					    ULB_DDP_NONE;

		assert_int_equal(ulb_nfs3_proc(proc), want);
	}
}

static void every_operation_that_is_coded_has_a_bound(void **state)
{
	static const uint8_t without[] = {OP_DELEGPURGE, OP_OPENATTR, OP_OPEN_CONFIRM, OP_RENEW,
		OP_SETCLIENTID, OP_SETCLIENTID_CONFIRM, OP_RELEASE_LOCKOWNER, OP_GET_DIR_DELEGATION,
		OP_GETDEVICELIST, OP_SET_SSV, OP_WANT_DELEGATION, OP_COPY_NOTIFY, OP_WRITE_SAME};

	for (uint32_t op = OP_ACCESS; op <= OP_LAST_42; op++) {
		bool bounded = ulb_nfs4_res_max(op, 0) < 65536;
		bool expected = true;

		for (size_t i = 0; i < sizeof(without); i++)
			if (without[i] == op)
				expected = false;
		assert_int_equal(bounded, expected);
	}
	assert_true(ulb_nfs4_res_max(OP_ILLEGAL, 0) > 1u << 30);
}

/* Summed by hand from RFC 5662, head of 8 bytes included. */
static void bounds_are_the_sums_of_the_rfc(void **state)
{
	static const struct {
		uint32_t op;
		size_t max;
	} want[] = {
		{OP_ACCESS, 16},
		{OP_CLOSE, 24},
		{OP_COMMIT, 16},
		{OP_CREATE, 8 + 20 + 68}, /* change_info4, bitmap4 of 16 words */
		{OP_GETFH, 8 + 4 + 128},
		{OP_LINK, 28},
		{OP_LOCK, 8 + 16 + 4 + 8 + 4 + 1024}, /* denied: range, type, owner */
		{OP_OPEN, 8 + 16 + 20 + 4 + 68 + (4 + 16 + 4 + 12 + 12 + 4 + 128)},
		{OP_RENAME, 48},
		{OP_SETATTR, 76},
		{OP_WRITE, 24},
		{OP_SECINFO, 8 + 4 + 16 * (4 + 4 + 1024 + 8)},
		{OP_BIND_CONN_TO_SESSION, 32},
		{OP_EXCHANGE_ID, 8 + 16 + (4 + 2 * 68) + 8 + 2 * 1028 + (4 + 2 * 1028 + 12)},
		{OP_CREATE_SESSION, 8 + 16 + 8 + 2 * 32},
		{OP_GETDEVICEINFO, 8 + 4 + 4 + 68},
		{OP_LAYOUTCOMMIT, 8 + 12},
		{OP_LAYOUTGET, 8 + 4 + 16 + 4 + 16 * 28},
		{OP_LAYOUTRETURN, 8 + 20},
		{OP_LAYOUTERROR, 8},
		{OP_ALLOCATE, 8},
		{OP_COPY, 8 + (4 + 16) + 8 + 4 + 8 + 8},
		{OP_IO_ADVISE, 76},
		{OP_OFFLOAD_STATUS, 24},
		{OP_SEEK, 20},
		{OP_SETXATTR, 28},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(ulb_nfs4_res_max(want[i].op, 0), want[i].max);
}

static void the_largest_attributes_stay_below_the_bound(void **state)
{
	struct nfs4_bitmap want = nfs4_bits_encodable();
	static struct nfs4_attrs a;
	uint8_t buf[4096];
	struct xdr_out x;

	a.mask = want;
	a.attr.uid = a.attr.gid = 4294967294u;
	a.fh.len = NFS_FH_MAX;
	for (unsigned i = 0; i < NFS4_BITMAP_WORDS; i++)
		a.supported.w[i] = a.exclcreat.w[i] = ~0u;
	xdr_out_init(&x, buf, sizeof(buf));
	nfs4_put_attrs(&x, &want, &a);
	assert_true(xdr_out_ok(&x));
	assert_true(x.len <= ulb_nfs4_attrs_max(&want));
	/* each attribute alone, so that slack in one does not hide a shortage in another */
	for (unsigned bit = 0; bit < 96; bit++) {
		struct nfs4_bitmap one = {{0}, false};

		nfs4_bit_set(&one, bit);
		if (!nfs4_bit(&want, bit))
			continue;
		xdr_out_init(&x, buf, sizeof(buf));
		nfs4_put_attrs(&x, &one, &a);
		assert_true(x.len <= ulb_nfs4_attrs_max(&one));
	}
}

static void unbounded_attributes_count_as_large(void **state)
{
	struct nfs4_bitmap acl = nfs4_bits(FATTR4_ACL, FATTR4_FS_LOCATIONS, -1);

	assert_true(ulb_nfs4_attrs_max(&acl) >= 2 * ULB_ATTR_UNBOUNDED);
}

/* RFC 8267 section 3: a Reply chunk only for a reply that may need one. With 4096 bytes inline,
 * less the RPC header, the everyday COMPOUNDs must not ask for a Reply chunk. */
static void everyday_replies_fit_inline(void **state)
{
	struct nfs4_bitmap stat = nfs4_bits_stat();
	size_t room = 4096 - 28 - 24, n = ulb_nfs4_begin(0);

	n += ulb_nfs4_res_max(OP_SEQUENCE, 0) + ulb_nfs4_res_max(OP_PUTFH, 0);
	n += ulb_nfs4_res_max(OP_OPEN, 0) + ulb_nfs4_res_max(OP_GETFH, 0);
	n += ulb_nfs4_res_max(OP_ACCESS, 0);
	n += ulb_nfs4_res_max(OP_GETATTR, ulb_nfs4_attrs_max(&stat));
	n += ulb_nfs4_res_max(OP_READ, 0);
	assert_true(n <= room);
	assert_true(n + ulb_nfs4_res_max(OP_READDIR, 32768) > room);
	assert_true(ulb_nfs4_begin(0) + ulb_nfs4_res_max(OP_READLINK, NFS_PATH_MAX) > room);
}

static void heads_and_round_up_are_counted(void **state)
{
	assert_int_equal(ulb_nfs4_begin(0), 12);
	assert_int_equal(ulb_nfs4_begin(5), 20);
	assert_int_equal(ulb_nfs4_res_max(OP_PUTFH, 0), 8);
	assert_int_equal(ulb_nfs4_res_max(OP_SEQUENCE, 0), 8 + 36);
	assert_int_equal(ulb_nfs4_res_max(OP_READ, 0), 16);
	assert_int_equal(ulb_nfs4_res_max(OP_READ, 5), 24);
	assert_int_equal(ulb_nfs4_res_max(OP_READLINK, 4095), 12 + 4096);
	assert_int_equal(ulb_nfs4_res_max(OP_READDIR, 1000), 8 + 1000);
	assert_int_equal(ulb_nfs4_res_max(OP_LISTXATTRS, 1000), 8 + 1000);
	assert_int_equal(ulb_nfs4_res_max(OP_GETXATTR, 65535), 12 + 65536);
	assert_int_equal(ulb_nfs4_res_max(OP_READ_PLUS, 8192), 8 + 8 + 4 * 20 + 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_items_of_rfc_8267_may_be_placed),
		cmocka_unit_test(every_operation_that_is_coded_has_a_bound),
		cmocka_unit_test(bounds_are_the_sums_of_the_rfc),
		cmocka_unit_test(the_largest_attributes_stay_below_the_bound),
		cmocka_unit_test(unbounded_attributes_count_as_large),
		cmocka_unit_test(everyday_replies_fit_inline),
		cmocka_unit_test(heads_and_round_up_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

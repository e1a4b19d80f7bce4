/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs4_flexfiles against vectors written by hand from RFC 8435.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfsproto/wire/nfs4_flexfiles.h"
#include "tests/unit/nfsproto/wire/nfs4-vecs.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* A data server with two versions and so two handles, and a data server with one. */
#define TWO_HEX DEV_HEX "00000064 " SID_HEX "00000002 " FH_HEX "00000003 aabbcc00 " IDS_HEX
#define ONE_HEX DEV_HEX "00000001 " SID2_HEX "00000001 " FH_HEX IDS_HEX
#define IDS_HEX "00000005 31393435 32000000 00000005 32383431 38000000 "
/* two mirrors of two stripes of 1 MiB; hint 60 s */
#define LAYOUT_HEX                                                                                 \
	"00000000 00100000 00000002 00000002 " TWO_HEX ONE_HEX "00000002 " ONE_HEX TWO_HEX         \
	"00000003 0000003c "
#define ADDR_HEX   "00000003 74637000 0000000d 3139322e 302e322e 312e382e 31000000 "
#define V3_HEX	   "00000003 00000000 00010000 00020000 00000000 "
#define V42_HEX	   "00000004 00000002 00100000 00100000 00000001 "
#define DEVICE_HEX "00000001 " ADDR_HEX "00000002 " V3_HEX V42_HEX
#define LATENCY_HEX                                                                                \
	"00000000 00000001 00000000 00000002 00000000 00000003 00000000 00000004 "                 \
	"00000000 00000005 00000000 00000006 00000007 00000000 00000008 00000009 "
#define UPDATE_HEX ADDR_HEX FH_HEX LATENCY_HEX LATENCY_HEX "00000000 0000000a 0000000b 00000001 "
#define IOERR_HEX                                                                                  \
	"00000000 00000010 00000000 00000020 " SID_HEX "00000001 " DEV_HEX "00000005 00000026 "
#define STATS_HEX                                                                                  \
	"00000000 00000010 00000000 00000020 " SID_HEX                                             \
	"00000000 00000001 00000000 00000002 00000000 00000003 00000000 00000004 " DEV_HEX         \
		UPDATE_HEX
#define RETURN_HEX "00000001 " IOERR_HEX "00000002 " STATS_HEX STATS_HEX

static struct nfs4_opaque body_of(const char *hex)
{
	static uint8_t buf[2u << 20];

	return (struct nfs4_opaque){buf, (uint32_t)vec_bytes(hex, buf, sizeof(buf))};
}

static void same(const char *name, const struct xdr_out *x, const struct nfs4_opaque *body)
{
	assert_true(xdr_out_ok(x));
	assert_false(vec_differ(name, x->base, x->len, body->data, body->len));
}

/* Every data server of the vector, encoded again while it is read. */
static void a_layout_goes_both_ways(void **state)
{
	static const uint32_t want[][3] = {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 2}};
	struct nfs4_opaque body = body_of(LAYOUT_HEX);
	struct nfs4_ff_walk w = {0};
	struct nfs4_ff_server s;
	struct nfs4_ff_layout l;
	uint8_t again[1024];
	struct xdr_out x;

	assert_int_equal(nfs4_get_ff_layout(&body, &l), 0);
	assert_int_equal(l.unit, 1 << 20);
	assert_int_equal(l.nmirrors, 2);
	assert_int_equal(l.nstripes, 2);
	assert_int_equal(l.flags, FF_FLAGS_NO_LAYOUTCOMMIT | FF_FLAGS_NO_IO_THRU_MDS);
	assert_int_equal(l.stats_hint, 60);
	xdr_out_init(&x, again, sizeof(again));
	nfs4_put_ff_head(&x, &l);
	for (size_t i = 0; i < N_OF(want); i++) {
		assert_true(nfs4_ff_next(&l, &w, &s));
		assert_int_equal(w.mirror, want[i][0]);
		assert_int_equal(w.stripe, want[i][1]);
		assert_int_equal(s.nfh, want[i][2]);
		assert_int_equal(s.efficiency, s.nfh == 2 ? 100 : 1);
		assert_int_equal(s.stateid.seqid, s.nfh == 2 ? 7 : 8);
		assert_memory_equal(s.user.s, "19452", 5);
		assert_memory_equal(s.group.s, "28418", 5);
		if (w.stripe == 0)
			nfs4_put_ff_mirror(&x, l.nstripes);
		nfs4_put_ff_server(&x, &s);
	}
	assert_false(nfs4_ff_next(&l, &w, &s));
	nfs4_put_ff_tail(&x, &l);
	same("layout", &x, &body);
}

static void a_device_goes_both_ways(void **state)
{
	struct nfs4_opaque body = body_of(DEVICE_HEX);
	struct nfs4_ff_device d;
	uint8_t again[512];
	struct xdr_out x;

	assert_int_equal(nfs4_get_ff_device(&body, &d), 0);
	assert_int_equal(d.addrs.n, 1);
	assert_memory_equal(d.addrs.addr[0].addr.s, "192.0.2.1.8.1", 13);
	assert_int_equal(d.nversions, 2);
	assert_int_equal(d.version[0].version, 3);
	assert_int_equal(d.version[0].wsize, 0x20000);
	assert_int_equal(d.version[1].minor, 2);
	assert_true(d.version[1].tight && !d.version[0].tight);
	xdr_out_init(&x, again, sizeof(again));
	nfs4_put_ff_device(&x, &d);
	same("device", &x, &body);
}

static void reports_go_both_ways(void **state)
{
	struct nfs4_opaque body = body_of(RETURN_HEX);
	struct nfs4_ff_return r;
	struct nfs4_ff_update u;
	uint8_t again[2048];
	struct xdr_out x;

	assert_int_equal(nfs4_get_ff_return(&body, &r), 0);
	assert_int_equal(r.nerrors, 1);
	assert_int_equal(r.error[0].n, 1);
	assert_int_equal(r.error[0].error[0].op, OP_WRITE);
	assert_int_equal(r.nstats, 2);
	assert_int_equal(r.stats[1].write.bytes, 4);
	assert_int_equal(r.stats[1].update.write.completion.tv_sec, 8);
	assert_true(r.stats[1].update.local);
	xdr_out_init(&x, again, sizeof(again));
	nfs4_put_ff_return(&x, &r);
	same("return", &x, &body);

	body = body_of(UPDATE_HEX);
	assert_int_equal(nfs4_get_ff_update(&body, &u), 0);
	assert_int_equal(u.duration.tv_nsec, 11);
	xdr_out_init(&x, again, sizeof(again));
	nfs4_put_ff_update(&x, &u);
	same("update", &x, &body);

	body.len = 0;
	assert_int_equal(nfs4_get_ff_return(&body, &r), 0);
	assert_int_equal(r.nerrors + r.nstats, 0);
}

static int get_layout(const struct nfs4_opaque *body)
{
	struct nfs4_ff_layout l;

	return nfs4_get_ff_layout(body, &l);
}

static int get_device(const struct nfs4_opaque *body)
{
	struct nfs4_ff_device d;

	return nfs4_get_ff_device(body, &d);
}

static int get_return(const struct nfs4_opaque *body)
{
	struct nfs4_ff_return r;

	return nfs4_get_ff_return(body, &r);
}

static int get_update(const struct nfs4_opaque *body)
{
	struct nfs4_ff_update u;

	return nfs4_get_ff_update(body, &u);
}

/* On the heap, so that a sanitizer sees a read beyond the end. A report may be empty. */
static void bodies_cut_anywhere_fail(void **state)
{
	static const struct {
		const char *hex;
		int (*get)(const struct nfs4_opaque *body);
	} all[] = {{LAYOUT_HEX, get_layout}, {DEVICE_HEX, get_device}, {RETURN_HEX, get_return},
		{UPDATE_HEX, get_update}};

	for (size_t i = 0; i < N_OF(all); i++) {
		struct nfs4_opaque whole = body_of(all[i].hex);

		assert_int_equal(all[i].get(&whole), 0);
		for (size_t cut = 1; cut < whole.len; cut++) {
			uint8_t *copy = test_malloc(cut);
			struct nfs4_opaque body = {copy, (uint32_t)cut};

			memcpy(copy, whole.data, cut);
			assert_int_equal(all[i].get(&body), -EBADMSG);
			test_free(copy);
		}
	}
}

static void hostile_bodies_fail(void **state)
{
	static const struct {
		const char *hex;
		int (*get)(const struct nfs4_opaque *body);
	} bad[] = {
		/* no mirror; no data server; a data server without handle */
		{"00000000 00100000 00000000 00000000 00000000", get_layout},
		{"00000000 00100000 00000001 00000000 00000000 00000000", get_layout},
		{"00000000 00100000 00000001 00000001 " DEV_HEX "00000064 " SID_HEX
		 "00000000 " IDS_HEX "00000000 00000000",
			get_layout},
		/* mirrors of one and of two stripes; two stripes of no bytes */
		{"00000000 00100000 00000002 00000001 " ONE_HEX "00000002 " ONE_HEX ONE_HEX
		 "00000000 00000000",
			get_layout},
		{"00000000 00000000 00000001 00000002 " ONE_HEX ONE_HEX "00000000 00000000",
			get_layout},
		/* 17 mirrors; 2^32-1 data servers; nine handles; bytes behind the end */
		{"00000000 00100000 00000011 00000001 " ONE_HEX, get_layout},
		{"00000000 00100000 00000001 ffffffff " ONE_HEX, get_layout},
		{"00000000 00100000 00000001 00000001 " DEV_HEX "00000064 " SID_HEX
		 "00000009 " FH_HEX FH_HEX FH_HEX FH_HEX FH_HEX FH_HEX FH_HEX FH_HEX FH_HEX IDS_HEX
		 "00000000 00000000",
			get_layout},
		{LAYOUT_HEX "00000000", get_layout},
		/* no address; no version; nine versions; a coupling of 2 */
		{"00000000 00000001 " V3_HEX, get_device},
		{"00000001 " ADDR_HEX "00000000", get_device},
		{"00000001 " ADDR_HEX
		 "00000009 " V3_HEX V3_HEX V3_HEX V3_HEX V3_HEX V3_HEX V3_HEX V3_HEX V3_HEX,
			get_device},
		{"00000001 " ADDR_HEX "00000001 00000003 00000000 00010000 00010000 00000002",
			get_device},
		/* 257 reports; 2^32-1 errors in one */
		{"00000101 " IOERR_HEX "00000000", get_return},
		{"00000001 00000000 00000010 00000000 00000020 " SID_HEX "ffffffff", get_return},
	};

	for (size_t i = 0; i < N_OF(bad); i++) {
		struct nfs4_opaque body = body_of(bad[i].hex);

		assert_int_equal(bad[i].get(&body), -EBADMSG);
	}
}

static void surplus_reports_are_checked_and_dropped(void **state)
{
	static uint8_t buf[65536];
	struct nfs4_ff_return r;
	struct nfs4_opaque body;
	uint8_t one[1024];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	xdr_put_u32(&x, 40);
	for (unsigned i = 0; i < 40; i++)
		xdr_put_fixed(&x, one, vec_bytes(IOERR_HEX, one, sizeof(one)));
	xdr_put_u32(&x, 20);
	for (unsigned i = 0; i < 20; i++)
		xdr_put_fixed(&x, one, vec_bytes(STATS_HEX, one, sizeof(one)));
	body = (struct nfs4_opaque){buf, (uint32_t)x.len};
	assert_int_equal(nfs4_get_ff_return(&body, &r), 0);
	assert_int_equal(r.nerrors, NFS4_FF_ERRORS_KEPT);
	assert_true(r.more_errors);
	assert_int_equal(r.nstats, NFS4_FF_STATS_KEPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_layout_goes_both_ways),
		cmocka_unit_test(a_device_goes_both_ways),
		cmocka_unit_test(reports_go_both_ways),
		cmocka_unit_test(bodies_cut_anywhere_fail),
		cmocka_unit_test(hostile_bodies_fail),
		cmocka_unit_test(surplus_reports_are_checked_and_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

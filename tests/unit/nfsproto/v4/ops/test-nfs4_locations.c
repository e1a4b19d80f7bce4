/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/ops/nfs4_locations.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/ops/nfs4_locations.h"
#include "transport/log.h"

static void put_names(struct xdr_out *x, const char *const *names, uint32_t n)
{
	xdr_put_u32(x, n);
	for (uint32_t i = 0; i < n; i++)
		xdr_put_opaque(x, names[i], (uint32_t)strlen(names[i]));
}

static const char *const two[] = {"a.example", "b.example"};
static const char *const path[] = {"vol", "data\n1"};

static size_t encode(void *buf, size_t size)
{
	struct xdr_out x;

	xdr_out_init(&x, buf, size);
	put_names(&x, path, 1);
	xdr_put_u32(&x, 2);
	put_names(&x, two, 2);
	put_names(&x, path, 2);
	put_names(&x, two + 1, 1);
	put_names(&x, path, 0);
	assert_true(xdr_out_ok(&x));
	return x.len;
}

static void locations_are_written_as_mounts_name_them(void **state)
{
	uint32_t buf[64];
	struct nfs4_opaque raw = {.data = (uint8_t *)buf};
	char text[100], small[16];

	raw.len = (uint32_t)encode(buf, sizeof(buf));
	assert_int_equal(nfs4_locations_format(&raw, text, sizeof(text)), 2);
	assert_string_equal(text, "a.example:/vol/data?1 or b.example:/");
	assert_int_equal(nfs4_locations_format(&raw, small, sizeof(small)), 2);
	assert_string_equal(small, "a.example:/v...");
	assert_int_equal(nfs4_locations_format(&raw, NULL, 0), 2);
}

static void what_is_cut_off_or_too_long_is_refused(void **state)
{
	uint32_t buf[64], all;
	struct nfs4_opaque raw = {.data = (uint8_t *)buf};
	char text[100];

	all = (uint32_t)encode(buf, sizeof(buf));
	for (raw.len = 0; raw.len < all; raw.len += 4) {
		assert_int_equal(nfs4_locations_format(&raw, text, sizeof(text)), -EBADMSG);
		assert_string_equal(text, "");
	}
	raw.len = all + 4;
	assert_int_equal(nfs4_locations_format(&raw, text, sizeof(text)), -EBADMSG);
	buf[0] = 0xffffffff; /* a number of names that is impossible */
	raw.len = all;
	assert_int_equal(nfs4_locations_format(&raw, text, sizeof(text)), -EBADMSG);
	memset(buf, 0, sizeof(buf));
	raw.len = 8; /* a path without names, no location */
	assert_int_equal(nfs4_locations_format(&raw, text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

/* A look-up into a referral, and a file of a file system that has moved away: EREMOTE, after one
 * question. */
static void what_is_elsewhere_is_remote(void **state)
{
	struct fix *f = *state;
	unsigned before;

	f->srv.elsewhere = "a.example";
	fix_fails(f, OP_GETFH, NFS4ERR_MOVED, 1);
	before = f->srv.count[OP_GETATTR];
	assert_int_equal(fix_lookup(f, "file"), -EREMOTE);
	assert_int_equal(f->srv.count[OP_GETATTR], before + 1);
	fix_fails(f, OP_GETATTR, NFS4ERR_MOVED, 1);
	assert_int_equal(fix_getattr(f), -EREMOTE);
	fix_fails(f, OP_PUTFH, NFS4ERR_MOVED, 100); /* and the new place is unknown */
	assert_int_equal(fix_getattr(f), -EREMOTE);
	assert_int_equal(fix_lookup(f, "file"), -EREMOTE);
	fix_fails(f, OP_PUTFH, NFS4_OK, 0);
	assert_int_equal(fix_lookup(f, "file"), 0);
	fix_unmount_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locations_are_written_as_mounts_name_them),
		cmocka_unit_test(what_is_cut_off_or_too_long_is_refused),
		ON_MOUNT(what_is_elsewhere_is_remote),
	};

	log_init("test-nfs4_locations", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

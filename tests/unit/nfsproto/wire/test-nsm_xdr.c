/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nsm_xdr, against a vector written by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "nfsproto/wire/nsm_xdr.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

static int get(const uint8_t *buf, size_t n, struct nsm_notify_args *a)
{
	struct xdr_in x;

	xdr_in_init(&x, buf, n);
	return nsm_get_notify_args(&x, a);
}

static void a_notice_goes_in_and_comes_out_and_fails_when_cut(void **state)
{
	uint8_t want[64], got[64];
	size_t n = vec_bytes("00000005 686f7374 31000000 00000007", want, sizeof(want));
	struct nsm_notify_args a;
	struct xdr_out o;

	for (size_t cut = 0; cut < n; cut++)
		assert_int_equal(get(want, cut, &a), -EBADMSG);
	assert_int_equal(get(want, n, &a), 0);
	assert_int_equal(a.name.len, 5);
	assert_memory_equal(a.name.s, "host1", 5);
	assert_int_equal(a.state, 7);
	xdr_out_init(&o, got, sizeof(got));
	nsm_put_notify_args(&o, &a);
	assert_false(vec_differ("SM_NOTIFY", got, o.len, want, n));
}

static void names_are_bounded(void **state)
{
	static uint8_t buf[2048];
	struct nsm_notify_args a;

	vec_bytes("00000400", buf, sizeof(buf));
	assert_int_equal(get(buf, sizeof(buf), &a), 0);
	vec_bytes("00000401", buf, sizeof(buf));
	assert_int_equal(get(buf, sizeof(buf), &a), -EBADMSG);
	vec_bytes("fffffffc", buf, sizeof(buf));
	assert_int_equal(get(buf, sizeof(buf), &a), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_notice_goes_in_and_comes_out_and_fails_when_cut),
		cmocka_unit_test(names_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nlm4_xdr, against vectors written by hand from RFC 1813 appendix II.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "nfsproto/wire/nlm4_xdr.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define COOKIE_HEX "00000003 01020300 "
#define COOKIE                                                                                     \
	{                                                                                          \
		(const uint8_t *)"\1\2\3", 3                                                       \
	}
#define LOCK_HEX                                                                                   \
	"00000004 686f7374 00000002 0a0b0000 00000004 6f776e31 0000002a 00000001 00000000 "        \
	"00000000 00001000 "
#define LOCK                                                                                       \
	{                                                                                          \
		{"host", 4}, {(const uint8_t *)"\12\13", 2}, {(const uint8_t *)"own1", 4}, 42,     \
			0x100000000, 4096                                                          \
	}

#define HOLDER_HEX "00000001 0000002a 00000004 6f776e31 00000001 00000000 00000000 00001000 "
#define HOLDER                                                                                     \
	{                                                                                          \
		true, 42, {(const uint8_t *)"own1", 4}, 0x100000000, 4096                          \
	}

/* Each kind of message behind one signature: decodes x and encodes the result to o. */
#define AGAIN(name)                                                                                \
	static int again_##name(struct xdr_in *x, struct xdr_out *o)                               \
	{                                                                                          \
		struct nlm4_##name m;                                                              \
		int rc = nlm4_get_##name(x, &m);                                                   \
                                                                                                   \
		if (rc == 0)                                                                       \
			nlm4_put_##name(o, &m);                                                    \
		return rc;                                                                         \
	}

AGAIN(test_args)
AGAIN(test_res)
AGAIN(lock_args)
AGAIN(cancel_args)
AGAIN(unlock_args)
AGAIN(res)
AGAIN(free_all_args)

static const struct {
	const char *name, *hex;
	int (*again)(struct xdr_in *x, struct xdr_out *o);
} vecs[] = {
	{"TEST", COOKIE_HEX "00000001 " LOCK_HEX, again_test_args},
	{"TEST granted", COOKIE_HEX "00000000", again_test_res},
	{"TEST denied", COOKIE_HEX "00000001 " HOLDER_HEX, again_test_res},
	{"LOCK", COOKIE_HEX "00000001 00000000 " LOCK_HEX "00000001 00000003", again_lock_args},
	{"CANCEL", COOKIE_HEX "00000000 00000001 " LOCK_HEX, again_cancel_args},
	{"UNLOCK", COOKIE_HEX LOCK_HEX, again_unlock_args},
	{"result", COOKIE_HEX "00000004", again_res},
	{"FREE_ALL", "00000004 686f7374 00000005", again_free_all_args},
};

static void messages_go_in_and_come_out_and_fail_when_cut(void **state)
{
	uint8_t want[256], got[256];

	for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++) {
		size_t n = vec_bytes(vecs[i].hex, want, sizeof(want));
		struct xdr_out o;
		struct xdr_in x;

		for (size_t cut = 0; cut < n; cut++) {
			xdr_out_init(&o, got, sizeof(got));
			xdr_in_init(&x, want, cut);
			assert_int_equal(vecs[i].again(&x, &o), -EBADMSG);
		}
		xdr_out_init(&o, got, sizeof(got));
		xdr_in_init(&x, want, n);
		assert_int_equal(vecs[i].again(&x, &o), 0);
		assert_true(xdr_in_done(&x));
		assert_false(vec_differ(vecs[i].name, got, o.len, want, n));
	}
}

static void fields_stand_where_the_rfc_has_them(void **state)
{
	const struct nlm4_lock_args a = {COOKIE, true, false, LOCK, true, 3};
	const struct nlm4_cancel_args cancel = {COOKIE, false, true, LOCK};
	const struct nlm4_unlock_args u = {COOKIE, LOCK};
	const struct nlm4_test_args t = {COOKIE, true, LOCK};
	const struct nlm4_test_res denied = {COOKIE, NLM4_DENIED, HOLDER};
	uint8_t want[1024], got[1024];
	struct xdr_out o;

	xdr_out_init(&o, got, sizeof(got));
	nlm4_put_lock_args(&o, &a);
	nlm4_put_cancel_args(&o, &cancel);
	nlm4_put_unlock_args(&o, &u);
	nlm4_put_test_args(&o, &t);
	nlm4_put_test_res(&o, &denied);
	assert_false(vec_differ("all", got, o.len, want,
		vec_bytes(COOKIE_HEX "00000001 00000000 " LOCK_HEX "00000001 00000003 " COOKIE_HEX
				     "00000000 00000001 " LOCK_HEX COOKIE_HEX LOCK_HEX COOKIE_HEX
				     "00000001 " LOCK_HEX COOKIE_HEX "00000001 " HOLDER_HEX,
			want, sizeof(want))));
}

static int get_res(const char *hex)
{
	static uint8_t buf[2048];
	struct nlm4_res r;
	struct xdr_in x;

	vec_bytes(hex, buf, sizeof(buf));
	xdr_in_init(&x, buf, sizeof(buf));
	return nlm4_get_res(&x, &r);
}

static int get_notify(const char *hex)
{
	static uint8_t buf[2048];
	struct nlm4_free_all_args a;
	struct xdr_in x;

	vec_bytes(hex, buf, sizeof(buf));
	xdr_in_init(&x, buf, sizeof(buf));
	return nlm4_get_free_all_args(&x, &a);
}

static void lengths_are_bounded(void **state)
{
	assert_int_equal(get_res("00000400"), 0);
	assert_int_equal(get_res("00000401"), -EBADMSG);
	assert_int_equal(get_notify("00000400"), 0);
	assert_int_equal(get_notify("00000401"), -EBADMSG);
	assert_int_equal(get_notify("fffffffe"), -EBADMSG);
}

static void numbers_have_names(void **state)
{
	assert_string_equal(nlm4_status_name(NLM4_DEADLCK), "NLM4_DEADLCK");
	assert_string_equal(nlm4_status_name(NLM4_FAILED), "NLM4_FAILED");
	assert_string_equal(nlm4_status_name(10), "NLM4_?");
	assert_string_equal(nlm4_proc_name(NLM4PROC_UNLOCK), "UNLOCK");
	assert_string_equal(nlm4_proc_name(NLM4PROC_FREE_ALL), "FREE_ALL");
	assert_string_equal(nlm4_proc_name(24), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_go_in_and_come_out_and_fail_when_cut),
		cmocka_unit_test(fields_stand_where_the_rfc_has_them),
		cmocka_unit_test(lengths_are_bounded),
		cmocka_unit_test(numbers_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

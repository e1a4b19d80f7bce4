/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "contrib/serve/export/place.h"

static void a_place_has_a_server_and_an_export(void **state)
{
	struct place p;
	struct err e;

	assert_int_equal(place_parse("--x", "", "nas.example:/a/b", &p, &e), 0);
	assert_string_equal(p.server, "nas.example");
	assert_string_equal(p.export, "/a/b");
	assert_int_equal(place_parse("--x", "", "192.0.2.1:2050:/", &p, &e), 0);
	assert_string_equal(p.server, "192.0.2.1.8.2");
	assert_int_equal(place_parse("--x", "", "[2001:db8::1]:2049:/z", &p, &e), 0);
	assert_string_equal(p.server, "2001:db8::1.8.1");
}

static void others_are_refused_with_a_sentence(void **state)
{
	static const char *const bad[] = {"", "nas", ":/a", "nas:a", "nas:2049:/a", "192.0.2.1:0:/",
		"192.0.2.1:65536:/", "192.0.2.1:1x:/"};
	char long_one[PLACE_MAX + 10];
	struct place p;
	struct err e;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		e = (struct err){.kind = ERR_NONE};
		assert_int_equal(place_parse("--x", bad[i], bad[i], &p, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_non_null(strstr(e.msg, "--x"));
	}
	memset(long_one, 'a', sizeof(long_one));
	memcpy(long_one, "a:/", 3);
	long_one[sizeof(long_one) - 1] = 0;
	assert_false(place_is_one(long_one));
	assert_true(place_is_one("a:/"));
}

static void a_path_goes_out_in_names(void **state)
{
	static const uint8_t want[] = {
		0, 0, 0, 2, 0, 0, 0, 1, 'a', 0, 0, 0, 0, 0, 0, 2, 'b', 'c', 0, 0};
	uint8_t buf[64];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	place_put_path(&x, "/a//bc/");
	assert_int_equal(x.len, sizeof(want));
	assert_memory_equal(buf, want, sizeof(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_has_a_server_and_an_export),
		cmocka_unit_test(others_are_refused_with_a_sentence),
		cmocka_unit_test(a_path_goes_out_in_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/source.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/source.h"

static struct source s;
static struct err e;

static int parse_as(const char *text, enum source_form form)
{
	source_finish(&s);
	e = (struct err){0};
	return source_parse(&s, text, form, &e);
}

static int parse(const char *text)
{
	return parse_as(text, SOURCE_EXPORT);
}

static int finish(void **state)
{
	source_finish(&s);
	return 0;
}

static void is(const char *text, const char *host, const char *export, const char *options)
{
	assert_int_equal(parse(text), 0);
	assert_string_equal(s.host, host);
	assert_string_equal(s.export, export);
	if (options)
		assert_string_equal(s.options, options);
	else
		assert_null(s.options);
}

static void a_server_and_its_export(void **state)
{
	is("server:/a/b", "server", "/a/b", NULL);
	is("server:/", "server", "/", NULL);
	is("10.0.0.1:/a:/b", "10.0.0.1", "/a:/b", NULL);
	is("[fe80::1%eth0]:/e", "fe80::1%eth0", "/e", NULL);
	is("server:/a%20b?c#d", "server", "/a%20b?c#d", NULL); /* no URL */
	is("nfs:/a", "nfs", "/a", NULL);
	assert_false(s.rdma);
}

static void a_server_may_do(void **state)
{
	assert_int_equal(parse_as("server", SOURCE_MAY_BE_SERVER), 0);
	assert_string_equal(s.host, "server");
	assert_null(s.export);
	assert_int_equal(parse_as("[::1]", SOURCE_MAY_BE_SERVER), 0);
	assert_string_equal(s.host, "::1");
	assert_int_equal(parse_as("server:/a", SOURCE_MAY_BE_SERVER), 0);
	assert_string_equal(s.export, "/a");
	assert_int_equal(parse_as("server:a", SOURCE_MAY_BE_SERVER), -1);
	assert_int_equal(parse_as("::1", SOURCE_MAY_BE_SERVER), -1);
	assert_non_null(strstr(e.msg, "[::1]"));
}

static void a_url_is_decoded(void **state)
{
	is("nfs://server/a/b", "server", "/a/b", NULL);
	is("nfs://server", "server", "/", NULL);
	is("nfs://server/", "server", "/", NULL);
	is("nfs://server//a", "server", "/a", NULL);
	is("NFS://server/a%20b%2C%c3%A4%25", "server", "/a b,\xc3\xa4%", NULL);
	is("nfs://s%65rver/", "server", "/", NULL);
	is("nfs://server/a%3Fb%23c?version=4", "server", "/a?b#c", "vers=4");
	is("nfs://server:2050/a", "server", "/a", "port=2050");
	is("nfs://server:/a", "server", "/a", NULL);
	is("nfs://server?version=3", "server", "/", "vers=3");
	assert_false(s.rdma);
	is("nfs+rdma://server:20050/a", "server", "/a", "port=20050");
	assert_true(s.rdma);
}

static void addresses_have_scopes(void **state)
{
	is("nfs://[::1]/a", "::1", "/a", NULL);
	is("nfs://[fd00::7]:2050/a", "fd00::7", "/a", "port=2050");
	is("nfs://[fe80::1%25eth0]:2050/a", "fe80::1%eth0", "/a", "port=2050");
	is("nfs://[fe80::1%eth0]/a", "fe80::1%eth0", "/a", NULL);
}

static void arguments_become_options(void **state)
{
	is("nfs://server:1/a?nfsport=2&version=4.1&rsize=8192&mountport=5", "server", "/a",
		"port=1,port=2,vers=4.1,rsize=8192,mountport=5");
	assert_null(s.ignored);
	is("nfs://server/a?uid=0&&sec=sys&readahead=1", "server", "/a", "sec=sys");
	assert_string_equal(s.ignored, "uid, readahead");
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *text, *say;
	} bad[] = {
		{"", "names no server"},
		{"server", "after a colon"},
		{"server:", "after a colon"},
		{"server:export", "after a colon"},
		{":/e", "names no server"},
		{"[]:/e", "names no server"},
		{"[::1:/e", "has no \"]\""},
		{"[::1]/e", "after a colon"},
		{"::1:/e", "[::1]:/e"},
		{"fe80::1%eth0:/e", "[fe80::1%eth0]:/e"},
		{"nfs://", "names no server"},
		{"nfs:///a", "names no server"},
		{"nfs://:1/a", "names no server"},
		{"nfs://user@server/a", "no logins"},
		{"nfs://server:x/a", "port"},
		{"nfs://server:0/a", "port"},
		{"nfs://server:65536/a", "port"},
		{"nfs://server:123456/a", "port"},
		{"nfs://::1/a", "[ADDRESS]"},
		{"nfs://[::1/a", "[ADDRESS]"},
		{"nfs://[]/a", "[ADDRESS]"},
		{"nfs://[::1]x/a", "colon"},
		{"nfs://server/a%", "%25"},
		{"nfs://server/a%2", "%25"},
		{"nfs://server/a%2x", "%25"},
		{"nfs://server/a%00b", "%25"},
		{"nfs://server/a%1b[2Jb", "%25"},
		{"nfs://server/a\033[2Jb", "%1B[2Jb"},
		{"nfs://server/a#b", "%23"},
		{"nfs://server/a?version=4#b", "%23"},
		{"nfs://server/a?allow_other", "argument allow_other, which is not known"},
		{"nfs://server/a?version", "argument version without a value"},
		{"nfs://server/a?version=", "argument version without a value"},
		{"nfs://server/a?version=3,allow_other", "without a value that can be"},
		{"nfs://server/a?version=3%2Callow_other", "without a value that can be"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i].text), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_non_null(strstr(e.msg, bad[i].say));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_server_and_its_export, finish),
		cmocka_unit_test_teardown(a_server_may_do, finish),
		cmocka_unit_test_teardown(a_url_is_decoded, finish),
		cmocka_unit_test_teardown(addresses_have_scopes, finish),
		cmocka_unit_test_teardown(arguments_become_options, finish),
		cmocka_unit_test_teardown(what_is_wrong_is_told, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

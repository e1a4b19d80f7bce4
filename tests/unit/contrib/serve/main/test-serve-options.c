/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/main/options.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "contrib/serve/main/options.h"
#include "contrib/serve/main/register.h"

/* Splits line at blanks. */
static int parse(struct options *o, const char *line, struct err *e)
{
	static char copy[400];
	char *argv[32] = {(char[]){"rnfs-serve"}}, *save;
	int argc = 1;

	memset(e, 0, sizeof(*e));
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	return serve_options_parse(o, argc, argv, e);
}

static void must(struct options *o, const char *line)
{
	struct err e;

	if (parse(o, line, &e) < 0)
		fail_msg("%s: %s", line, e.msg);
}

static unsigned port_of(const struct listen_at *l)
{
	/* at the same place for both families */
	return ntohs(((const struct sockaddr_in *)&l->addr)->sin_port);
}

static void the_default_is_loopback_and_iwarp(void **state)
{
	struct options o;

	must(&o, "/srv");
	assert_string_equal(o.dir, "/srv");
	assert_int_equal(o.nlisten, 1);
	assert_int_equal(o.listen[0].proto, RPC_IWARP);
	assert_int_equal(port_of(&o.listen[0]), 20049);
	assert_int_equal(
		ntohl(((struct sockaddr_in *)&o.listen[0].addr)->sin_addr.s_addr), INADDR_LOOPBACK);
	assert_false(o.read_only || o.no_root_squash || o.crc);
	assert_int_equal(o.lease_s, 90);
	assert_int_equal(o.ready_fd, -1);
	assert_int_equal(o.delegations, DELEG_WRITE);
	must(&o, "--delegations read /srv");
	assert_int_equal(o.delegations, DELEG_READ);
	must(&o, "--delegations none /srv");
	assert_int_equal(o.delegations, DELEG_NONE);
}

static void transports_pair_with_addresses(void **state)
{
	struct options o;

	must(&o, "--proto tcp,iwarp --listen 127.0.0.1:1 --listen [::1]:2 --listen 127.0.0.1:0 d");
	assert_int_equal(o.nlisten, 3);
	assert_int_equal(o.listen[0].proto, RPC_TCP);
	assert_int_equal(o.listen[1].proto, RPC_IWARP);
	assert_int_equal(o.listen[2].proto, RPC_IWARP);
	assert_int_equal(o.listen[1].addr.ss_family, AF_INET6);
	assert_int_equal(port_of(&o.listen[1]), 2);
	assert_string_equal(o.listen[1].host, "[::1]");
	must(&o, "--proto tcp --proto rdma --listen 127.0.0.1:1 --listen 127.0.0.1:2 d");
	assert_int_equal(o.listen[1].proto, RPC_RDMA);
}

static void values_are_taken(void **state)
{
	struct options o;

	must(&o, "-d -d --read-only --no-root-squash --mpa-crc --lease 7 --inline-size 8192 "
		 "--ready-fd 5 --handle-key k --idmap_domain home --fault drop d");
	assert_true(o.read_only && o.no_root_squash && o.crc);
	assert_int_equal(o.debug, 2);
	assert_int_equal(o.lease_s, 7);
	assert_int_equal(o.inline_size, 8192);
	assert_int_equal(o.ready_fd, 5);
	assert_string_equal(o.key, "k");
	assert_string_equal(o.idmap_domain, "home");
	assert_string_equal(o.fault, "drop");
	assert_int_equal(o.registered, -1);
	if (register_can()) {
		must(&o, "--register --proto iwarp,tcp --listen 127.0.0.1:0 --listen 127.0.0.1:0 "
			 "d");
		assert_int_equal(o.registered, 1);
	}
	must(&o, "--pnfs tcp:10.0.0.1:1,tcp:10.0.0.2:1 --pnfs tcp:10.0.0.3:1 --pnfs-stripe 65536 "
		 "--pnfs-stats 5 d");
	assert_int_equal(o.devices.n, 3);
	assert_int_equal(o.devices.stripe, 65536);
	assert_int_equal(o.devices.stats_s, 5);
	assert_false(o.data_server);
	must(&o, "--data-server d");
	assert_true(o.data_server);
	must(&o, "--help");
	assert_true(o.help);
	must(&o, "-V");
	assert_true(o.version);
}

static void mistakes_get_a_sentence(void **state)
{
	static const char *const lines[] = {"", "a b", "--proto udp d", "--listen 127.0.0.1 d",
		"--listen :1 d", "--listen ::1:1 d", "--listen 127.0.0.1:65536 d",
		"--listen 127.0.0.1:x d", "--listen 127.0.0.1:-1 d", "--lease 0 d", "--lease 1h d",
		"--inline-size 1000 d", "--inline-size 70000 d", "--ready-fd -1 d", "--nonsense d",
		"--lease", "--proto tcp,iwarp d", "--register d", "--idmap_domain= d",
		"--pnfs 10.0.0.1:2049 d", "--pnfs-stripe 4096 d",
		"--pnfs tcp:10.0.0.1:2049 --pnfs-stripe 100 d",
		"--pnfs tcp:10.0.0.1:2049 --data-server d", "--pnfs-stats 5 d",
		"--pnfs tcp:10.0.0.1:2049 --pnfs-stats 0 d",
		"--pnfs tcp:10.0.0.1:2049 --pnfs-stats 3601 d"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct options o;
		struct err e;

		if (parse(&o, lines[i], &e) == 0)
			fail_msg("\"%s\" was accepted", lines[i]);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_true(e.msg[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_is_loopback_and_iwarp),
		cmocka_unit_test(transports_pair_with_addresses),
		cmocka_unit_test(values_are_taken),
		cmocka_unit_test(mistakes_get_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

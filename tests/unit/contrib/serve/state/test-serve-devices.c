/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/devices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "contrib/serve/state/devices.h"
#include "nfsproto/wire/nfs4_netaddr.h"

static int add(struct devices *ds, const char *list, struct err *e)
{
	char copy[2048];

	*e = (struct err){0};
	snprintf(copy, sizeof(copy), "%s", list);
	return devices_add(ds, copy, e);
}

static void must(struct devices *ds, const char *list)
{
	struct err e;

	*ds = (struct devices){0};
	if (add(ds, list, &e) < 0)
		fail_msg("%s: %s", list, e.msg);
}

/* What a client reads from GETDEVICEINFO. */
static struct nfs4_ff_device read_device(const struct device *d)
{
	static uint8_t buf[2048];
	struct nfs4_ff_device ff;
	struct nfs4_opaque body;
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	devices_put(&x, d);
	body = (struct nfs4_opaque){buf, (uint32_t)x.len};
	assert_int_equal(nfs4_get_ff_device(&body, &ff), 0);
	return ff;
}

static void assert_addr(const struct nfs4_netaddr *a, const char *netid, const char *addr)
{
	assert_int_equal(a->netid.len, strlen(netid));
	assert_memory_equal(a->netid.s, netid, a->netid.len);
	assert_int_equal(a->addr.len, strlen(addr));
	assert_memory_equal(a->addr.s, addr, a->addr.len);
}

static void clients_read_what_was_given(void **state)
{
	struct nfs4_ff_device ff;
	struct devices ds;

	must(&ds, "tcp:192.0.2.1:2049+rdma:192.0.2.1:20049,iwarp:[::1]:20050/4.2,tcp:10.0.0.1:1/3");
	assert_int_equal(ds.n, 3);
	ff = read_device(&ds.d[0]);
	assert_int_equal(ff.addrs.n, 2);
	assert_addr(&ff.addrs.addr[0], "tcp", "192.0.2.1.8.1");
	assert_addr(&ff.addrs.addr[1], "rdma", "192.0.2.1.78.81");
	assert_int_equal(ff.nversions, 1);
	assert_int_equal(ff.version[0].version, 3);
	assert_int_equal(ff.version[0].minor, 0);
	assert_false(ff.version[0].tight);
	ff = read_device(&ds.d[1]);
	assert_addr(&ff.addrs.addr[0], "rdma6", "::1.78.82");
	assert_int_equal(ff.version[0].version, 4);
	assert_int_equal(ff.version[0].minor, 2);
	ff = read_device(&ds.d[2]);
	assert_addr(&ff.addrs.addr[0], "tcp", "10.0.0.1.0.1");
}

/* Clients keep addresses by device ID, also over a restart of the server. */
static void ids_are_those_of_the_words(void **state)
{
	struct devices a, b;

	must(&a, "tcp:10.0.0.1:2049,tcp:10.0.0.2:2049");
	must(&b, "tcp:10.0.0.2:2049,tcp:10.0.0.2:2050");
	assert_int_equal(devices_find(&b, &a.d[0].id), -1);
	assert_int_equal(devices_find(&b, &a.d[1].id), 0);
	assert_int_equal(devices_find(&b, &b.d[1].id), 1);
}

static void mistakes_get_a_sentence(void **state)
{
	static const char *const bad[][2] = {
		{"", "PROTO:HOST:PORT"},
		{"/4.1", "PROTO:HOST:PORT"},
		{"10.0.0.1", "PROTO:HOST:PORT"},
		{"10.0.0.1:2049", "PROTO:HOST:PORT"},
		{"tcp::2049", "PROTO:HOST:PORT"},
		{"udp:10.0.0.1:2049", "tcp, rdma or iwarp"},
		{"tcp:10.0.0.1:0", "a port from 1 to 65535"},
		{"tcp:10.0.0.1:65536", "a port from 1 to 65535"},
		{"tcp:10.0.0.1:-1", "a port from 1 to 65535"},
		{"tcp:10.0.0.1:2049x", "a port from 1 to 65535"},
		{"tcp:::1:2049", "brackets"},
		{"tcp:10.0.0.1:2049/4.0", "3, 4.1 or 4.2"},
		{"tcp:10.0.0.1:2049/", "3, 4.1 or 4.2"},
		{"tcp:10.0.0.1:1,tcp:10.0.0.1:1", "named twice"},
		{"tcp:10.0.0.1:1+tcp:10.0.0.1:2+tcp:10.0.0.1:3+tcp:10.0.0.1:4+tcp:10.0.0.1:5",
			"4 addresses at most"},
		{"tcp:no.such.host.invalid:2049", "no.such.host.invalid"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct devices ds = {0};
		struct err e;

		assert_int_equal(add(&ds, bad[i][0], &e), -1);
		if (!strstr(e.msg, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], e.msg);
	}
}

static void there_are_sixteen_at_most(void **state)
{
	struct devices ds = {0};
	char word[32];
	struct err e;

	for (int i = 1; i <= DEVICES_MAX; i++) {
		snprintf(word, sizeof(word), "tcp:10.0.0.%d:2049", i);
		assert_int_equal(add(&ds, word, &e), 0);
	}
	assert_int_equal(add(&ds, "tcp:10.0.1.1:2049", &e), -1);
	assert_non_null(strstr(e.msg, "more than 16"));
}

static const struct nfs_fh fh = {.len = 5, .data = {1, 2, 3, 4, 5}};

/* The data servers of a file's layout, by their numbers. Returns how many. */
static uint32_t laid(const struct devices *ds, uint32_t avoid, uint64_t ino, int out[DEVICES_MAX],
	uint64_t *unit)
{
	static uint8_t buf[8192];
	struct nfs4_ff_walk w = {0};
	struct nfs4_ff_server s;
	struct nfs4_ff_layout l;
	struct nfs4_opaque body;
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	if (!devices_put_layout(&x, ds, avoid, ino, &fh, 1000, 4294967294u))
		return 0;
	assert_true(xdr_out_ok(&x));
	body = (struct nfs4_opaque){buf, (uint32_t)x.len};
	assert_int_equal(nfs4_get_ff_layout(&body, &l), 0);
	assert_int_equal(l.nmirrors, 1);
	assert_int_equal(l.flags, FF_FLAGS_NO_LAYOUTCOMMIT);
	*unit = l.unit;
	while (nfs4_ff_next(&l, &w, &s)) {
		assert_true(nfs4_stateid_same(&s.stateid, &nfs4_stateid_anonymous));
		assert_int_equal(s.nfh, 1);
		assert_memory_equal(&s.fh[0], &fh, 4 + 5);
		assert_memory_equal(s.user.s, "1000", 4);
		assert_memory_equal(s.group.s, "4294967294", 10);
		out[w.stripe] = devices_find(ds, &s.device);
	}
	return l.nstripes;
}

/* Without stripes each file is at one data server, and the files are spread. */
static void files_are_spread(void **state)
{
	unsigned count[3] = {0};
	struct devices ds;
	uint64_t unit;
	int at[DEVICES_MAX], again[DEVICES_MAX];

	must(&ds, "tcp:10.0.0.1:2049,tcp:10.0.0.2:2049,tcp:10.0.0.3:2049");
	for (uint64_t ino = 1; ino <= 3000; ino++) {
		assert_int_equal(laid(&ds, 0, ino, at, &unit), 1);
		assert_int_equal(unit, 0);
		count[at[0]]++;
		assert_int_equal(laid(&ds, 1u << at[0], ino, again, &unit), 1);
		assert_int_equal(again[0], (at[0] + 1) % 3);
		assert_int_equal(laid(&ds, 7, ino, again, &unit), 0);
	}
	for (unsigned i = 0; i < 3; i++)
		assert_in_range(count[i], 800, 1200);
}

static void stripes_are_at_all_of_them(void **state)
{
	struct devices ds;
	uint64_t unit;
	int at[DEVICES_MAX], again[DEVICES_MAX];

	must(&ds, "tcp:10.0.0.1:2049,tcp:10.0.0.2:2049,tcp:10.0.0.3:2049");
	ds.stripe = 1 << 20;
	for (uint64_t ino = 1; ino <= 10; ino++) {
		assert_int_equal(laid(&ds, 0, ino, at, &unit), 3);
		assert_int_equal(unit, 1 << 20);
		assert_int_equal(at[1], (at[0] + 1) % 3);
		assert_int_equal(at[2], (at[0] + 2) % 3);
		assert_int_equal(laid(&ds, 1u << at[1], ino, again, &unit), 2);
		assert_int_equal(again[0], at[0]);
		assert_int_equal(again[1], at[2]);
		assert_int_equal(laid(&ds, 7u & ~(1u << at[1]), ino, again, &unit), 1);
		assert_int_equal(again[0], at[1]);
		assert_int_equal(unit, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_read_what_was_given),
		cmocka_unit_test(ids_are_those_of_the_words),
		cmocka_unit_test(mistakes_get_a_sentence),
		cmocka_unit_test(there_are_sixteen_at_most),
		cmocka_unit_test(files_are_spread),
		cmocka_unit_test(stripes_are_at_all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

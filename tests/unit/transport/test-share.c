/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/share.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#include "transport/share.h"

static struct share_key key_of(const char *ip, bool local, uint32_t uid)
{
	struct sock_user u = {.local = local, .known = local, .uid = uid};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)uid)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)uid)};

	if (inet_pton(AF_INET, ip, &four.sin_addr) == 1)
		return share_key((struct sockaddr *)&four, &u);
	assert_int_equal(inet_pton(AF_INET6, ip, &six.sin6_addr), 1);
	return share_key((struct sockaddr *)&six, &u);
}

static void expect_same(struct share_key a, struct share_key b, bool same)
{
	assert_int_equal(share_key_same(&a, &b), same);
}

static void test_keys(void **state)
{
	struct share_key nobody = share_key(NULL, NULL);

	expect_same(key_of("192.0.2.1", false, 1), key_of("192.0.2.1", false, 2), true); /* port */
	expect_same(key_of("192.0.2.1", false, 1), key_of("192.0.2.2", false, 1), false);
	expect_same(key_of("192.0.2.1", false, 1), key_of("::ffff:192.0.2.1", false, 1), true);
	expect_same(key_of("127.0.0.1", true, 1), key_of("127.0.0.1", true, 2), false);
	expect_same(key_of("2001:db8::1", false, 1), key_of("2001:db8::f:2", false, 1), true);
	expect_same(key_of("2001:db8::1", false, 1), key_of("2001:db8:0:1::1", false, 1), false);
	expect_same(nobody, share_key(NULL, NULL), true);
}

/* A user of this machine is one holder, at all addresses of the machine. */
static void test_local_keys(void **state)
{
	struct sock_user unknown = {.local = true};
	struct sockaddr_in at = {.sin_family = AF_INET};
	struct share_key a, b;

	expect_same(key_of("127.0.0.1", true, 1), key_of("127.99.0.2", true, 1), true);
	expect_same(key_of("::1", true, 1), key_of("127.0.0.1", true, 1), true);
	expect_same(key_of("192.0.2.1", true, 1), key_of("127.0.0.1", true, 1), true);
	expect_same(key_of("127.0.0.1", true, 1), key_of("127.0.0.1", false, 1), false);
	/* all users that the kernel does not name are one holder, and neither root nor elsewhere */
	at.sin_addr.s_addr = htonl(0x7f000001);
	a = share_key((struct sockaddr *)&at, &unknown);
	at.sin_addr.s_addr = htonl(0x7f000002);
	b = share_key((struct sockaddr *)&at, &unknown);
	expect_same(a, b, true);
	expect_same(a, key_of("127.0.0.1", true, 0), false);
	expect_same(a, share_key(NULL, NULL), false);
	assert_false(share_key_owns(&a));
	a = key_of("127.0.0.1", true, 0);
	assert_true(share_key_owns(&a));
	a = key_of("127.0.0.1", true, geteuid());
	assert_true(share_key_owns(&a));
	a = key_of("127.0.0.1", true, geteuid() + 1);
	assert_false(share_key_owns(&a));
	a = key_of("192.0.2.1", false, 0);
	assert_false(share_key_owns(&a));
}

static bool same_site(const char *a, const char *b)
{
	struct share_key ka = key_of(a, false, 0), kb = key_of(b, false, 0), sa, sb;

	return share_key_site(&ka, &sa) && share_key_site(&kb, &sb) && share_key_same(&sa, &sb);
}

static void test_sites(void **state)
{
	struct share_key local = key_of("2001:db8::1", true, 1), site;

	assert_true(same_site("2001:db8:1:1::1", "2001:db8:1:ffff::1"));
	assert_false(same_site("2001:db8:1:1::1", "2001:db8:2:1::1"));
	assert_false(same_site("fe80::1", "fe80::1"));
	assert_false(same_site("192.0.2.1", "192.0.2.1"));
	assert_false(same_site("::ffff:192.0.2.1", "::ffff:192.0.2.1"));
	assert_false(share_key_site(&local, &site));
	local = share_key(NULL, NULL);
	assert_false(share_key_site(&local, &site));
}

/* All networks of one site have one share, for any number of networks; another site gets the other
 * share. */
static void test_site_share(void **state)
{
	struct share_holder *h[64], *other;
	struct share_key k;
	struct share s;
	char ip[48];

	share_init(&s);
	share_limit(&s, 0, 1024, 512);
	for (unsigned i = 0; i < 64; i++) {
		snprintf(ip, sizeof(ip), "2001:db8:1:%x::1", i);
		k = key_of(ip, false, 0);
		h[i] = share_get(&s, &k);
		for (unsigned n = 0; n < 8; n++)
			assert_true(share_take(&s, h[i], 0, 1));
	}
	assert_int_equal(h[5]->site->held[0], 512);
	for (unsigned i = 0; i < 64; i++) {
		assert_false(share_take(&s, h[i], 0, 1));
		assert_true(share_is_full(&s, h[i], 0, 1));
	}
	k = key_of("2001:db8:2::1", false, 0);
	other = share_get(&s, &k);
	assert_true(share_take(&s, other, 0, 300));
	share_give(&s, other, 0, 300);
	share_give(&s, h[0], 0, 8);
	assert_true(share_take(&s, h[1], 0, 8));
	share_give(&s, h[1], 0, 16);
	for (unsigned i = 2; i < 64; i++)
		share_give(&s, h[i], 0, 8);
	for (unsigned i = 0; i < 64; i++)
		share_put(&s, h[i]);
	share_put(&s, other);
	assert_true(LIST_EMPTY(&s.holders));
	share_finish(&s);
}

/* When newcomers have taken all, root and the server's own user still get a part. */
static void test_owners(void **state)
{
	struct share_holder *h[200], *own, *root;
	struct share_key k = key_of("127.0.0.1", true, 0);
	struct share s;
	char ip[32];

	share_init(&s);
	share_limit(&s, 0, 1024, 512);
	root = share_get(&s, &k);
	k = key_of("127.0.0.1", true, geteuid());
	own = share_get(&s, &k);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(ip, sizeof(ip), "198.51.100.%u", i);
		k = key_of(ip, false, 0);
		h[i] = share_get(&s, &k);
		while (share_take(&s, h[i], 0, 1))
			;
	}
	assert_int_equal(share_room(&s, h[199], 0), 0);
	assert_true(share_take(&s, root, 0, 1));
	assert_true(share_take(&s, own, 0, 1));
	share_give(&s, own, 0, 1);
	share_give(&s, root, 0, 1);
	for (unsigned i = 0; i < 200; i++) {
		share_give(&s, h[i], 0, share_held(&s, h[i], 0));
		share_put(&s, h[i]);
	}
	share_put(&s, own);
	share_put(&s, root);
	share_finish(&s);
}

/* A holder's limit, and the last part for newcomers. */
static void test_rules(void **state)
{
	struct share s;
	struct share_key ka = key_of("192.0.2.1", false, 0), kb = key_of("192.0.2.2", false, 0),
			 kc = key_of("192.0.2.3", false, 0);
	struct share_holder *a, *b, *c;

	share_init(&s);
	share_limit(&s, 1, 1024, 512);
	a = share_get(&s, &ka);
	b = share_get(&s, &kb);
	assert_ptr_equal(share_get(&s, &ka), a);
	share_put(&s, a);
	assert_true(share_take(&s, a, 0, 1u << 30)); /* no limit of this kind */
	assert_true(share_take(&s, a, 1, 512));
	assert_false(share_take(&s, a, 1, 1));
	assert_true(share_is_full(&s, a, 1, 1));
	assert_int_equal(share_room(&s, a, 1), 0);
	/* the other holder gets the rest, less the reserve, and at first less the part for
	 * owners */
	assert_int_equal(share_room(&s, b, 1), 512 - 4);
	assert_true(share_take(&s, b, 1, 17));
	assert_int_equal(share_room(&s, b, 1), 1024 - 128 - 512 - 17);
	assert_false(share_is_full(&s, b, 1, 1));
	assert_true(share_take(&s, b, 1, 1024 - 128 - 512 - 17));
	assert_false(share_take(&s, b, 1, 1));
	/* the reserve is for a third holder, as long as that one is a newcomer */
	c = share_get(&s, &kc);
	for (int i = 0; i < 17; i++)
		assert_true(share_take(&s, c, 1, 1));
	assert_false(share_take(&s, c, 1, 1));
	/* a holder that is forced above its share gets no more */
	share_force(&s, a, 1, 10);
	assert_int_equal(share_held(&s, a, 1), 522);
	share_give(&s, a, 1, 5);
	assert_false(share_take(&s, a, 1, 1));
	share_give(&s, a, 1, 517);
	assert_true(share_take(&s, c, 1, 1));
	share_give(&s, c, 1, 18);
	share_give(&s, a, 0, 1u << 30);
	share_give(&s, b, 1, 1024 - 128 - 512);
	share_put(&s, c);
	share_put(&s, b);
	share_put(&s, share_ref(&s, a));
	assert_int_equal(a->refs, 1);
	share_put(&s, a);
	assert_null(share_put(&s, NULL));
	share_finish(&s);
}

/* The last part of a peer's share is for principals that have little. */
static void test_parts(void **state)
{
	struct share s;
	struct share_key ka = key_of("192.0.2.1", false, 0), kb = key_of("192.0.2.2", false, 0);
	struct share_holder *a, *b;
	struct share_part *greedy, *other, *third;

	share_init(&s);
	share_limit(&s, 1, 1024, 512);
	a = share_get(&s, &ka);
	b = share_get(&s, &kb);
	greedy = share_part_get(&s, a, 1, 1000);
	other = share_part_get(&s, a, 1, 1001);
	third = share_part_get(&s, a, 0, 1000); /* of another flavor */
	assert_ptr_equal(share_part_get(&s, a, 1, 1000), greedy);
	share_part_put(&s, greedy);
	assert_ptr_not_equal(third, greedy);
	assert_int_equal(share_part_room(&s, greedy, 1), 512);
	for (int i = 0; i < 512 - 64; i++)
		assert_true(share_part_take(&s, greedy, 1, 1));
	assert_false(share_part_take(&s, greedy, 1, 1));
	assert_true(share_part_is_full(&s, greedy, 1));
	assert_int_equal(share_part_end(&s, greedy, 1, 80), 70);
	/* the others get the rest, each a little */
	assert_false(share_part_is_full(&s, other, 1));
	for (int i = 0; i < 9; i++)
		assert_true(share_part_take(&s, other, 1, 1));
	assert_false(share_part_take(&s, other, 1, 1));
	assert_true(share_part_take(&s, third, 1, 1));
	/* the parts count for their peer */
	assert_int_equal(share_held(&s, a, 1), 512 - 64 + 10);
	share_part_force(&s, third, 1, 54);
	assert_int_equal(share_room(&s, a, 1), 0);
	share_part_give(&s, greedy, 1, 512 - 64);
	assert_true(share_part_take(&s, other, 1, 1));
	share_part_give(&s, other, 1, 10);
	share_part_give(&s, third, 1, 55);
	assert_int_equal(share_held(&s, a, 1), 0);
	/* the same user of another peer is another principal; a part keeps its holder */
	share_part_put(&s, third);
	third = share_part_get(&s, b, 1, 1000);
	assert_ptr_not_equal(third, greedy);
	share_put(&s, b);
	share_put(&s, a);
	share_part_put(&s, third);
	share_part_put(&s, other);
	share_part_put(&s, greedy);
	assert_null(share_part_put(&s, NULL));
	assert_true(LIST_EMPTY(&s.holders));
	share_finish(&s);
}

/* Among any number of newcomers, each gets a part as long as there is any. */
static void test_newcomers(void **state)
{
	struct share_holder *h[64];
	struct share s;
	unsigned served = 0;

	share_init(&s);
	share_limit(&s, 0, 640, 320);
	for (unsigned i = 0; i < 64; i++) {
		char ip[32];

		snprintf(ip, sizeof(ip), "198.51.100.%u", i);
		struct share_key k = key_of(ip, false, 0);

		h[i] = share_get(&s, &k);
		served += share_take(&s, h[i], 0, 1);
		while (share_take(&s, h[i], 0, 1))
			;
	}
	assert_true(served >= 10);
	for (unsigned i = 0; i < 64; i++) {
		share_give(&s, h[i], 0, share_held(&s, h[i], 0));
		share_put(&s, h[i]);
	}
	share_finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_local_keys),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_site_share),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_newcomers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

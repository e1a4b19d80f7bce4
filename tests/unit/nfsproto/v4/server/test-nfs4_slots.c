/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_slots.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "nfsproto/v4/server/nfs4_slots.h"
#include "nfsproto/nfs_client.h"

static void test_lowest_first(void **state)
{
	struct nfs4_slots s;
	struct nfs4_slot *a, *b, *c;

	nfs4_slots_init(&s);
	nfs4_slots_reset_locked(&s, 100);
	assert_null(nfs4_slots_take_locked(&s, false)); /* the gate is closed */
	nfs4_slots_open_locked(&s);
	a = nfs4_slots_take_locked(&s, false);
	b = nfs4_slots_take_locked(&s, false);
	assert_int_equal(a->id, 0);
	assert_int_equal(b->id, 1);
	assert_int_equal(a->seq, 1);
	assert_int_equal(nfs4_slots_highest_locked(&s), 1);
	nfs4_slots_put_locked(&s, a, NFS4_SLOT_USED);
	c = nfs4_slots_take_locked(&s, false);
	assert_ptr_equal(c, a);
	assert_int_equal(c->seq, 2);
	nfs4_slots_put_locked(&s, c, NFS4_SLOT_UNUSED);
	assert_int_equal(c->seq, 2);
	nfs4_slots_put_locked(&s, b, NFS4_SLOT_USED);
	nfs4_slots_finish(&s);
}

static void test_all_then_none(void **state)
{
	static const uint32_t sizes[] = {1, 2, 63, 64, 65, 127, 128, 5000};
	struct nfs4_slots s;

	nfs4_slots_init(&s);
	nfs4_slots_open_locked(&s);
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		uint32_t n = sizes[k] < NFS4_MAX_SLOTS ? sizes[k] : NFS4_MAX_SLOTS;

		nfs4_slots_reset_locked(&s, sizes[k]);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(nfs4_slots_take_locked(&s, false)->id, i);
		assert_null(nfs4_slots_take_locked(&s, false));
		assert_null(nfs4_slots_take_locked(&s, true));
		assert_int_equal(nfs4_slots_highest_locked(&s), n - 1);
		for (uint32_t i = 0; i < n; i++)
			nfs4_slots_put_locked(&s, &s.slot[i], NFS4_SLOT_USED);
		assert_int_equal(s.nbusy, 0);
	}
	nfs4_slots_finish(&s);
}

static void test_doubtful(void **state)
{
	struct nfs4_slots s;
	struct nfs4_slot *a;

	nfs4_slots_init(&s);
	nfs4_slots_reset_locked(&s, 2);
	nfs4_slots_open_locked(&s);
	a = nfs4_slots_take_locked(&s, false);
	nfs4_slots_put_locked(&s, a, NFS4_SLOT_DOUBTFUL);
	assert_int_equal(s.ndoubtful, 1);
	assert_int_equal(s.nbusy, 0);
	assert_int_equal(nfs4_slots_take_locked(&s, false)->id, 1); /* not slot 0 */
	assert_null(nfs4_slots_take_locked(&s, false));
	assert_false(nfs4_slots_take_doubtful_locked(&s, &s.slot[1]));
	assert_true(nfs4_slots_take_doubtful_locked(&s, a));
	assert_int_equal(s.ndoubtful, 0);
	nfs4_slots_put_locked(&s, a, NFS4_SLOT_USED);
	assert_ptr_equal(nfs4_slots_take_locked(&s, false), a);
	nfs4_slots_put_locked(&s, a, NFS4_SLOT_USED);
	nfs4_slots_put_locked(&s, &s.slot[1], NFS4_SLOT_USED);
	nfs4_slots_finish(&s);
}

static void test_target(void **state)
{
	struct nfs4_slots s;
	struct nfs4_slot *a;

	nfs4_slots_init(&s);
	nfs4_slots_reset_locked(&s, 8);
	nfs4_slots_open_locked(&s);
	nfs4_slots_target_locked(&s, 7, 0);
	a = nfs4_slots_take_locked(&s, false);
	assert_int_equal(a->id, 0);
	assert_null(nfs4_slots_take_locked(&s, false));
	nfs4_slots_target_locked(&s, 1, UINT32_MAX); /* highest rules when it is the lower */
	assert_int_equal(s.limit, 2);
	/* never more than the slots that exist */
	nfs4_slots_target_locked(&s, UINT32_MAX, UINT32_MAX);
	assert_int_equal(s.limit, 8);
	nfs4_slots_put_locked(&s, a, NFS4_SLOT_USED);
	nfs4_slots_finish(&s);
}

static void test_sequence_wraps(void **state)
{
	struct nfs4_slots s;
	struct nfs4_slot *a;

	nfs4_slots_init(&s);
	nfs4_slots_open_locked(&s);
	s.slot[0].seq = UINT32_MAX;
	a = nfs4_slots_take_locked(&s, false);
	nfs4_slots_put_locked(&s, a, NFS4_SLOT_USED);
	assert_int_equal(a->seq, 0); /* RFC 8881 2.10.6.1: to zero, not to one */
	nfs4_slots_finish(&s);
}

/* The words of a table, from which a successor makes its own. */
static void test_words_for_a_successor(void **state)
{
	_Atomic uint64_t words[NFS4_MAX_SLOTS];
	struct nfs4_slots s, next;
	struct nfs4_slot *a, *b, *c;

	nfs4_slots_init(&s);
	nfs4_slots_reset_locked(&s, 4);
	nfs4_slots_open_locked(&s);
	for (uint32_t i = 0; i < NFS4_MAX_SLOTS; i++)
		words[i] = nfs4_slots_word_locked(&s, i);
	s.words = words;
	a = nfs4_slots_take_locked(&s, false);
	assert_int_equal(words[0], 1 << 1 | 1);
	nfs4_slots_put_locked(&s, a, NFS4_SLOT_USED);
	assert_int_equal(words[0], 2 << 1);
	a = nfs4_slots_take_locked(&s, false);
	b = nfs4_slots_take_locked(&s, false);
	c = nfs4_slots_take_locked(&s, false);
	nfs4_slots_put_locked(&s, c, NFS4_SLOT_DOUBTFUL);
	nfs4_slots_init(&next);
	nfs4_slots_reset_locked(&next, 4);
	for (uint32_t i = 0; i < 4; i++)
		nfs4_slots_former_locked(&next, i, words[i]);
	assert_int_equal(next.ndoubtful, 3);
	assert_int_equal(nfs4_slots_take_locked(&next, true)->id, 3);
	assert_null(nfs4_slots_take_locked(&next, true));
	/* the call of slot 0 is to come again; that of slot 1 was another one */
	assert_true(nfs4_slots_reserve_locked(&next, 0, 2));
	assert_false(nfs4_slots_reserve_locked(&next, 0, 2));
	assert_false(nfs4_slots_reserve_locked(&next, 1, 2));
	assert_int_equal(next.ndoubtful, 2);
	assert_int_equal(nfs4_slots_word_locked(&next, 0), 2 << 1 | 1);
	assert_null(nfs4_slots_take_reserved_locked(&next, 1));
	assert_ptr_equal(nfs4_slots_take_reserved_locked(&next, 0), &next.slot[0]);
	assert_null(nfs4_slots_take_reserved_locked(&next, 0));
	assert_false(nfs4_slots_doubt_reserved_locked(&next, 0));
	assert_true(nfs4_slots_reserve_locked(&next, 2, 1));
	assert_true(nfs4_slots_doubt_reserved_locked(&next, 2));
	assert_true(nfs4_slots_take_doubtful_locked(&next, &next.slot[2]));
	for (uint32_t i = 0; i < 4; i += i ? 1 : 2)
		nfs4_slots_put_locked(&next, &next.slot[i], NFS4_SLOT_USED);
	nfs4_slots_finish(&next);
	nfs4_slots_put_locked(&s, a, NFS4_SLOT_USED);
	nfs4_slots_put_locked(&s, b, NFS4_SLOT_USED);
	nfs4_slots_finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lowest_first),
		cmocka_unit_test(test_all_then_none),
		cmocka_unit_test(test_doubtful),
		cmocka_unit_test(test_target),
		cmocka_unit_test(test_sequence_wraps),
		cmocka_unit_test(test_words_for_a_successor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

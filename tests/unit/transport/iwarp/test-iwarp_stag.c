/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/iwarp/iwarp_stag: the table of doors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <cmocka.h>

#include "transport/iwarp/iwarp_conn.h"
#include "transport/iwarp/iwarp_rx.h"
#include "transport/iwarp/iwarp_stag.h"
#include "transport/iwarp/iwarp_tx.h"

static uint8_t memory[65536];

static void a_door_opens_and_closes(void **state)
{
	struct iwarp_door f, d = {.access = PROV_REMOTE_READ, .addr = memory, .len = 77};
	struct iwarp_stags t;

	assert_int_equal(iwarp_stags_init(&t), 0);
	assert_false(iwarp_stags_find(&t, 0, &f));
	assert_false(iwarp_stags_close(&t, 0, 0));
	assert_int_equal(iwarp_stags_open(&t, &d), 0);
	assert_int_not_equal(d.stag, 0);
	assert_true(iwarp_stags_find(&t, d.stag, &f));
	assert_ptr_equal(f.addr, memory);
	assert_int_equal(f.len, 77);
	assert_int_equal(f.access, PROV_REMOTE_READ);
	assert_false(iwarp_stags_find(&t, d.stag ^ 1, &f));
	assert_false(iwarp_stags_close(&t, d.stag, d.seq + 1));
	assert_true(iwarp_stags_close(&t, d.stag, d.seq));
	assert_false(iwarp_stags_close(&t, d.stag, d.seq));
	assert_false(iwarp_stags_find(&t, d.stag, &f));
	iwarp_stags_finish(&t);
}

/* The last IWARP_GHOSTS are remembered, for as many bytes as the doors had. */
static void what_was_abandoned_is_remembered_for_a_while(void **state)
{
	struct iwarp_door f, d = {.access = PROV_REMOTE_WRITE, .addr = memory, .len = 10};
	struct iwarp_stags t;
	uint32_t first;

	assert_int_equal(iwarp_stags_init(&t), 0);
	assert_int_equal(iwarp_stags_open(&t, &d), 0);
	first = d.stag;
	assert_false(iwarp_stags_find_ghost(&t, first, &f));
	assert_false(iwarp_stags_abandon(&t, first, d.seq + 1));
	assert_true(iwarp_stags_abandon(&t, first, d.seq));
	assert_false(iwarp_stags_abandon(&t, first, d.seq));
	assert_false(iwarp_stags_find(&t, first, &f));
	assert_true(iwarp_stags_find_ghost(&t, first, &f));
	assert_null(f.addr);
	assert_int_equal(f.len, 10);
	assert_true(iwarp_stags_discard(&t, first, 6));
	assert_false(iwarp_stags_discard(&t, first, 5));
	assert_true(iwarp_stags_discard(&t, first, 4));
	assert_false(iwarp_stags_discard(&t, first, 1));
	for (int i = 0; i < IWARP_GHOSTS; i++) {
		assert_true(iwarp_stags_find_ghost(&t, first, &f));
		assert_int_equal(iwarp_stags_open(&t, &d), 0);
		assert_true(iwarp_stags_abandon(&t, d.stag, d.seq));
	}
	assert_false(iwarp_stags_find_ghost(&t, first, &f));
	assert_true(iwarp_stags_bury(&t, d.stag));
	assert_false(iwarp_stags_bury(&t, d.stag));
	assert_false(iwarp_stags_find_ghost(&t, 0, &f));
	assert_int_equal(t.count, 0);
	iwarp_stags_finish(&t);
}

/* Long runs of probing and shifting back, against a plain array. */
static void churn_loses_no_door(void **state)
{
	enum { N = 3000 };
	static struct iwarp_door d[N];
	struct iwarp_stags t;
	unsigned open = 0;

	assert_int_equal(iwarp_stags_init(&t), 0);
	srand(1);
	for (unsigned round = 0; round < 200000; round++) {
		unsigned i = (unsigned)rand() % N;

		if (d[i].stag) {
			assert_true(iwarp_stags_close(&t, d[i].stag, d[i].seq));
			d[i].stag = 0;
			open--;
		} else if (rand() % 4) {
			d[i].addr = memory + i;
			assert_int_equal(iwarp_stags_open(&t, &d[i]), 0);
			open++;
		}
		if (round % 20000 == 0)
			for (unsigned k = 0; k < N; k++) {
				struct iwarp_door f;

				if (!d[k].stag)
					continue;
				assert_true(iwarp_stags_find(&t, d[k].stag, &f));
				assert_ptr_equal(f.addr, memory + k);
				assert_true(f.seq == d[k].seq);
			}
	}
	assert_int_equal(t.count, open);
	iwarp_stags_finish(&t);
}

static void the_number_of_doors_is_bounded(void **state)
{
	struct iwarp_stags t;
	struct iwarp_door d = {.addr = memory, .len = 1};
	unsigned n = 0;

	assert_int_equal(iwarp_stags_init(&t), 0);
	while (!iwarp_stags_open(&t, &d))
		assert_true(++n <= 2 * IWARP_MAX_DOORS);
	assert_true(n >= IWARP_MAX_DOORS);
	iwarp_stags_finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_door_opens_and_closes),
		cmocka_unit_test(what_was_abandoned_is_remembered_for_a_while),
		cmocka_unit_test(churn_loses_no_door),
		cmocka_unit_test(the_number_of_doors_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

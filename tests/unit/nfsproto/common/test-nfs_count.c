/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/common/nfs_count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "nfsproto/common/nfs_count.h"
#include "transport/clock.h"

static struct nfs_counts counts;

static struct nfs_count sum(enum nfs_op_type t)
{
	struct nfs_count c = {0};

	nfs_count_add(&counts, t, &c);
	return c;
}

static void an_operation_counts_with_its_times(void **state)
{
	struct nfs_op op = {.type = NFS_READ,
		.since_ns = CLOCK_BEGIN + 1000,
		.calls = {.first_ns = CLOCK_BEGIN + 4000, .n = 2},
		.ended_ns = CLOCK_BEGIN + 104000,
		.u.read.count = 512};
	struct nfs_count c;

	nfs_count_note(&counts, &op);
	c = sum(NFS_READ);
	assert_int_equal(c.calls, 2);
	assert_int_equal(c.bytes, 512);
	assert_int_equal(c.errors, 0);
	assert_int_equal(histogram_count(&c.queue), 1);
	assert_int_equal(c.queue.sum_ns, 3000);
	assert_int_equal(c.answer.sum_ns, 100000);
	op.error = -EIO;
	nfs_count_note(&counts, &op);
	c = sum(NFS_READ);
	assert_int_equal(c.errors, 1);
	assert_int_equal(c.bytes, 512);
	assert_int_equal(histogram_count(&c.answer), 2);
}

static void one_that_made_no_call_does_not(void **state)
{
	struct nfs_op op = {.type = NFS_LOCK, .error = -EINTR};
	struct nfs_count c;

	nfs_count_note(&counts, &op);
	c = sum(NFS_LOCK);
	assert_int_equal(histogram_count(&c.answer) + c.errors + c.calls, 0);
}

static void repetitions_are_calls_of_one(void **state)
{
	struct nfs_op op = {0}, own = {0};

	nfs_op_called(&own, 5);
	nfs_op_called(&own, 9);
	nfs_op_take_calls(&op, &own);
	assert_int_equal(op.calls.n, 2);
	assert_int_equal(op.calls.first_ns, 5);
	assert_int_equal(own.calls.n, 0);
	assert_int_equal(own.calls.first_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operation_counts_with_its_times),
		cmocka_unit_test(one_that_made_no_call_does_not),
		cmocka_unit_test(repetitions_are_calls_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/batch, over a client that does as the test tells.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "cache/batch.h"
#include "tests/unit/fs/fake-nfs.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

static struct nfs_client *client;
static struct batch_pool pool;
static struct batch batch;
static struct nfs_fh root;
static atomic_int rounds, ops, errors, interrupted, wanted;

static int setup(void **state)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 7};
	struct nfs_attr attr;

	fake_knobs = (struct fake_knobs){0};
	client = fake_client_new();
	nfs_client_root(client, &root, &attr);
	batch_pool_init(&pool);
	batch_init(&batch, &pool);
	batch_begin(&batch, client, &cred);
	rounds = ops = errors = interrupted = 0;
	wanted = 1;
	return 0;
}

static int teardown(void **state)
{
	nfs_client_free(client);
	batch_end(&batch);
	batch_finish(&batch);
	batch_pool_finish(&pool);
	return 0;
}

static void getattr_ready(struct part *p)
{
	part_op(p, NFS_GETATTR, getattr)->u.getattr.fh = root;
}

/* The first part and n more, all ready. */
static void make_ready(unsigned n)
{
	getattr_ready(&batch.first);
	assert_true(batch_reserve(&batch, n));
	for (unsigned i = 0; i < n; i++)
		getattr_ready(batch_part(&batch));
}

static void count_op(struct batch *b, const struct nfs_op *op)
{
	assert_ptr_equal(b, &batch);
	assert_int_equal(op->cred.uid, 7);
	ops++;
	errors += op->error != 0;
	interrupted += op->error == -EINTR;
}

static void round_done(struct batch *b)
{
	rounds++;
}

static void wait_rounds(int n)
{
	for (int i = 0; i < 60000 && rounds < n; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(rounds, n);
}

static void all_parts_end_before_done(void **state)
{
	struct part *p;

	batch.op_ended = count_op;
	make_ready(10);
	batch_submit(&batch, round_done);
	wait_rounds(1);
	assert_int_equal(ops, 11);
	fake_knobs.sync = true;
	STAILQ_FOREACH (p, &batch.parts, next)
		getattr_ready(p);
	batch_submit(&batch, round_done);
	assert_int_equal(rounds, 2);
	assert_int_equal(ops, 22);
	assert_int_equal(errors, 0);
}

static void again(struct batch *b)
{
	if (++rounds == wanted)
		return;
	getattr_ready(&b->first);
	batch_submit(b, again);
}

static void steps_follow_each_other(void **state)
{
	batch.op_ended = count_op;
	wanted = 100;
	make_ready(0);
	batch_submit(&batch, again);
	wait_rounds(100);
	assert_int_equal(ops, 100);
}

static void only_what_is_ready_is_submitted(void **state)
{
	batch.op_ended = count_op;
	make_ready(2);
	assert_true(batch_ready(&batch));
	batch_submit(&batch, round_done);
	wait_rounds(1);
	assert_false(batch_ready(&batch));
	batch_submit(&batch, round_done);
	assert_int_equal(rounds, 2); /* at once, without a wait */
	getattr_ready(STAILQ_NEXT(&batch.first, next));
	batch_submit(&batch, round_done);
	wait_rounds(3);
	assert_int_equal(ops, 4);
}

static void one_error_does_not_end_the_others(void **state)
{
	batch.op_ended = count_op;
	make_ready(0);
	fake_knobs.fail[NFS_ACCESS] = -EIO;
	assert_true(batch_reserve(&batch, 1));
	part_op(batch_part(&batch), NFS_ACCESS, access)->u.access.fh = root;
	batch_submit(&batch, round_done);
	wait_rounds(1);
	assert_int_equal(batch.first.op.error, 0);
	assert_int_equal(STAILQ_NEXT(&batch.first, next)->op.error, -EIO);
	assert_int_equal(errors, 1);
}

static void cancelling_ends_all_that_is_pending(void **state)
{
	batch.op_ended = count_op;
	fake_knobs.hang[NFS_GETATTR] = true;
	make_ready(4);
	batch_submit(&batch, round_done);
	assert_int_equal(rounds, 0);
	assert_true(batch_cancel(&batch));
	assert_false(batch_cancel(&batch));
	wait_rounds(1);
	assert_int_equal(interrupted, 5);
	/* and later ops, too */
	getattr_ready(&batch.first);
	batch_submit(&batch, round_done);
	wait_rounds(2);
	assert_int_equal(interrupted, 6);
}

/* fake-nfs interrupts all but locks. */
static void an_interrupted_batch_can_still_be_cancelled(void **state)
{
	batch.op_ended = count_op;
	fake_knobs.hang[NFS_GETATTR] = fake_knobs.hang[NFS_LOCK] = true;
	make_ready(1);
	part_op(&batch.first, NFS_LOCK, lock);
	batch_submit(&batch, round_done);
	assert_true(batch_interrupt(&batch));
	assert_false(batch_interrupt(&batch));
	for (int i = 0; i < 60000 && !interrupted; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(interrupted, 1);
	assert_int_equal(rounds, 0);
	assert_false(batch_cancel(&batch)); /* not for the first time, but more than before */
	wait_rounds(1);
	assert_int_equal(interrupted, 2);
	assert_int_equal(batch.first.op.error, -EINTR);
	/* later ops are cancelled */
	part_op(&batch.first, NFS_LOCK, lock);
	batch_submit(&batch, round_done);
	batch_interrupt(&batch);
	wait_rounds(2);
	assert_int_equal(interrupted, 3);
}

static void what_must_be_done_is_not_cancelled(void **state)
{
	batch.op_ended = count_op;
	batch_cancel(&batch);
	batch_keep_going(&batch);
	make_ready(1);
	batch_submit(&batch, round_done);
	wait_rounds(1);
	assert_int_equal(ops, 2);
	assert_int_equal(errors, 0);
	/* nor when the op hangs: only the end of the client ends the op */
	fake_knobs.hang[NFS_GETATTR] = true;
	getattr_ready(&batch.first);
	batch_submit(&batch, round_done);
	batch_cancel(&batch);
	client = nfs_client_free(client);
	wait_rounds(2);
	assert_int_equal(batch.first.op.error, -ENOTCONN);
}

static void parts_come_back_to_the_pool(void **state)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_SYS};
	struct part *p, *first, *second;
	unsigned n = 0;

	assert_true(batch_reserve(&batch, 2));
	assert_true(batch_reserve(&batch, 2)); /* the same two */
	first = batch_part(&batch);
	getattr_ready(first); /* and never submitted */
	batch_end(&batch);
	STAILQ_FOREACH (p, &pool.free, next)
		n++;
	assert_int_equal(n, 2);
	batch_begin(&batch, client, &cred);
	assert_false(batch_ready(&batch));
	assert_true(batch_reserve(&batch, 2));
	assert_true(STAILQ_EMPTY(&pool.free));
	second = batch_part(&batch);
	assert_false(second->ready);
	assert_true(second == first || batch_part(&batch) == first);
}

static void what_cannot_be_reserved_is_said(void **state)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_SYS};

	/* one part waits in the pool */
	assert_true(batch_reserve(&batch, 1));
	batch_end(&batch);
	batch_begin(&batch, client, &cred);
	no_memory = true;
	assert_false(batch_reserve(&batch, 3));
	assert_true(batch_reserve(&batch, 1)); /* the reserved one */
	no_memory = false;
	getattr_ready(batch_part(&batch));
	batch_submit(&batch, round_done);
	wait_rounds(1);
	assert_true(batch_reserve(&batch, 3));
	for (unsigned i = 0; i < 3; i++)
		batch_part(&batch);
	assert_true(STAILQ_EMPTY(&batch.spare));
}

static void data_that_cannot_be_cut_is_left_whole(void **state)
{
	static uint8_t mem[100];

	batch.data = (struct seg_list)SEG_LIST_MEM(mem, 100);
	no_memory = true;
	assert_false(batch_cut(&batch, 99));
	assert_true(batch_cut(&batch, 100));
	no_memory = false;
	assert_null(STAILQ_NEXT(&batch.first, next));
	assert_int_equal(batch.first.want, 100);
}

/* --- data ------------------------------------------------------------------------------------- */

static void data_is_cut_wherever_it_lies(void **state)
{
	static uint8_t mem[3][100];
	const struct seg seg[3] = {
		{.at = {.addr = mem[0], .len = 30}},
		{.at = {.addr = mem[1], .len = 100}},
		{.at = {.addr = mem[2], .len = 5}},
	};
	struct seg_list rest;
	struct part *p;
	unsigned n = 0;

	assert_int_equal(seg_list_init(&batch.data, seg, 3), 0);
	assert_true(batch_cut(&batch, 50));
	STAILQ_FOREACH (p, &batch.parts, next) {
		assert_int_equal(p->off, 50 * n++);
		assert_int_equal(p->want, p->off < 100 ? 50 : 35);
		assert_int_equal(p->got, 0);
		assert_false(p->settled);
		assert_int_equal(part_rest(p).len, p->want);
	}
	assert_int_equal(n, 3);
	/* the first part begins in one segment and ends in the next */
	batch.first.got = 29;
	rest = part_rest(&batch.first);
	assert_int_equal(rest.len, 21);
	assert_int_equal(rest.n, 2);
	memset(mem[0], 1, 30);
	memset(mem[1], 2, 100);
	seg_list_gather(&rest, mem[2]);
	assert_int_equal(mem[2][0], 1);
	assert_int_equal(mem[2][1], 2);
}

static void what_is_done_is_counted_up_to_the_first_gap(void **state)
{
	static uint8_t mem[100];
	struct part *second, *third;

	batch.data = (struct seg_list)SEG_LIST_MEM(mem, 100);
	assert_true(batch_cut(&batch, 40));
	second = STAILQ_NEXT(&batch.first, next);
	third = STAILQ_NEXT(second, next);
	assert_int_equal(batch_done_bytes(&batch), 0);
	third->got = 20;
	assert_int_equal(batch_done_bytes(&batch), 0);
	batch.first.got = 40;
	assert_int_equal(batch_done_bytes(&batch), 40);
	second->got = 39;
	assert_int_equal(batch_done_bytes(&batch), 79);
	second->got = 40;
	assert_int_equal(batch_done_bytes(&batch), 100);
}

static void the_op_starts_empty(void **state)
{
	struct nfs_op *op = part_op(&batch.first, NFS_READ, read);

	op->error = -EIO;
	op->u.read.count = 5;
	op = part_op(&batch.first, NFS_READ, read);
	assert_int_equal(op->error, 0);
	assert_int_equal(op->u.read.count, 0);
	assert_int_equal(op->type, NFS_READ);
	assert_int_equal(op->cred.uid, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_parts_end_before_done, setup, teardown),
		cmocka_unit_test_setup_teardown(steps_follow_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(only_what_is_ready_is_submitted, setup, teardown),
		cmocka_unit_test_setup_teardown(one_error_does_not_end_the_others, setup, teardown),
		cmocka_unit_test_setup_teardown(
			cancelling_ends_all_that_is_pending, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_interrupted_batch_can_still_be_cancelled, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_must_be_done_is_not_cancelled, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_come_back_to_the_pool, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_reserved_is_said, setup, teardown),
		cmocka_unit_test_setup_teardown(
			data_that_cannot_be_cut_is_left_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(data_is_cut_wherever_it_lies, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_is_done_is_counted_up_to_the_first_gap, setup, teardown),
		cmocka_unit_test_setup_teardown(the_op_starts_empty, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

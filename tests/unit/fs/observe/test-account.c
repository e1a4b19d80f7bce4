/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/observe/account: messages are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <string.h>

#include "fs/observe/account.h"

static struct accounts *all;
static uint64_t number;

static int setup(void **state)
{
	all = accounts_new();
	return all == NULL;
}

static int teardown(void **state)
{
	all = accounts_free(all);
	return 0;
}

/* A request comes, of len bytes behind the header. Returns the number of the request. */
static uint64_t comes(uint32_t opcode, const void *arg, size_t len)
{
	struct {
		struct fuse_in_header h;
		uint8_t arg[200];
	} m = {.h = {.opcode = opcode, .unique = ++number * 2, .nodeid = 5, .pid = 77}};

	if (len)
		memcpy(m.arg, arg, len);
	account_read(&m, sizeof(m.h) + len);
	return m.h.unique;
}

static void is_answered(uint64_t unique, int error, const void *arg, size_t len)
{
	struct fuse_out_header h = {
		.unique = unique, .error = error, .len = (uint32_t)(sizeof(h) + len)};
	struct iovec iov[2] = {{&h, sizeof(h)}, {(void *)arg, len}};
	struct account_end end;

	account_answered(all, iov, len ? 2 : 1, &end);
}

static struct account_sum total(unsigned kind)
{
	struct account_sum sum;

	account_total(all, kind, &sum);
	return sum;
}

static uint64_t count(unsigned kind)
{
	struct account_sum sum = total(kind);

	return histogram_count(&sum.time);
}

static void a_read_is_answered_at_once(void **state)
{
	const struct fuse_read_in in = {.offset = 4096, .size = 8192};
	struct account_sum sum;
	struct account a;

	comes(FUSE_READ, &in, sizeof(in));
	account_take(&a);
	assert_int_equal(a.offset, 4096);
	assert_int_equal(a.length, 8192);
	assert_int_equal(a.node, 5);
	assert_int_equal(a.tid, 77);
	is_answered(a.unique, 0, "bytes", 5);
	sum = total(FUSE_READ);
	assert_int_equal(histogram_count(&sum.time), 1);
	assert_int_equal(sum.bytes, 5);
	assert_int_equal(sum.errors + sum.rpcs + sum.waits, 0);
}

static void *answer_elsewhere(void *arg)
{
	struct account *a = arg;

	a->rpcs = 3;
	a->waits = 2;
	account_answers(a);
	is_answered(a->unique, -EIO, NULL, 0);
	is_answered(a->unique, -EIO, NULL, 0); /* once */
	return NULL;
}

static void a_request_is_answered_by_another_thread(void **state)
{
	struct account a, b;
	struct account_sum sum;
	pthread_t t;

	comes(FUSE_GETATTR, NULL, 0);
	account_take(&a);
	comes(FUSE_STATFS, NULL, 0);
	account_take(&b);
	pthread_create(&t, NULL, answer_elsewhere, &a);
	pthread_join(t, NULL);
	sum = total(FUSE_GETATTR);
	assert_int_equal(histogram_count(&sum.time), 1);
	assert_int_equal(sum.errors, 1);
	assert_int_equal(sum.rpcs, 3);
	assert_int_equal(sum.waits, 2);
	assert_int_equal(count(FUSE_STATFS), 0);
	is_answered(b.unique, 0, NULL, 0);
	assert_int_equal(count(FUSE_STATFS), 1);
}

static void writes_count_the_bytes_that_were_taken(void **state)
{
	const struct fuse_write_in in = {.offset = 1, .size = 100};
	const struct fuse_write_out out = {.size = 60};
	uint64_t unique = comes(FUSE_WRITE, &in, sizeof(in));

	is_answered(unique, 0, &out, sizeof(out));
	assert_int_equal(total(FUSE_WRITE).bytes, 60);
	unique = comes(FUSE_WRITE, &in, sizeof(in));
	is_answered(unique, -ENOSPC, NULL, 0);
	assert_int_equal(total(FUSE_WRITE).bytes, 60);
	assert_int_equal(total(FUSE_WRITE).errors, 1);
}

static void a_name_that_is_not_there_is_an_error(void **state)
{
	const struct fuse_entry_out none = {.entry_valid = 1}, some = {.nodeid = 7};
	uint64_t unique = comes(FUSE_LOOKUP, "a", 2);

	is_answered(unique, 0, &none, sizeof(none));
	assert_int_equal(total(FUSE_LOOKUP).errors, 1);
	unique = comes(FUSE_LOOKUP, "b", 2);
	is_answered(unique, 0, &some, sizeof(some));
	assert_int_equal(total(FUSE_LOOKUP).errors, 1);
	assert_int_equal(count(FUSE_LOOKUP), 2);
}

static void what_has_no_answer_does_not_count(void **state)
{
	static const uint32_t opcodes[] = {FUSE_FORGET, FUSE_BATCH_FORGET, FUSE_INTERRUPT,
		FUSE_INIT, FUSE_DESTROY, 0, 63, 64, 4096, UINT32_MAX};
	struct account a;

	for (unsigned i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		uint64_t unique = comes(opcodes[i], NULL, 0);

		account_take(&a);
		assert_int_equal(a.unique, 0);
		is_answered(unique, 0, NULL, 0);
	}
	is_answered(0, FUSE_NOTIFY_INVAL_INODE, NULL, 0);
	for (unsigned kind = 0; kind < ACCOUNT_KINDS; kind++)
		assert_int_equal(count(kind), 0);
}

static void a_short_message_has_no_range(void **state)
{
	static const uint32_t opcodes[] = {FUSE_READ, FUSE_WRITE, FUSE_FALLOCATE, FUSE_LSEEK,
		FUSE_COPY_FILE_RANGE, FUSE_SETLK, FUSE_READDIRPLUS};
	static const uint8_t ones[200] = {0xff, 0xff};
	struct fuse_in_header h = {.opcode = FUSE_READ, .unique = 2};
	struct account a;

	for (unsigned i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		comes(opcodes[i], ones, 3);
		account_take(&a);
		assert_int_equal(a.offset + a.length, 0);
	}
	account_read(&h, sizeof(h) - 1);
	account_take(&a);
	assert_int_equal(a.unique, 0);
}

static void long_ranges_are_cut(void **state)
{
	const struct fuse_lk_in lock = {.lk = {.start = 10, .end = INT64_MAX}};
	const struct fuse_lk_in byte = {.lk = {.start = 10, .end = 10}};
	const struct fuse_fallocate_in space = {.offset = 1, .length = 1ull << 40};
	struct account a;

	comes(FUSE_SETLKW, &lock, sizeof(lock));
	account_take(&a);
	assert_true(a.offset == 10 && a.length == UINT32_MAX);
	comes(FUSE_SETLK, &byte, sizeof(byte));
	account_take(&a);
	assert_true(a.offset == 10 && a.length == 1);
	comes(FUSE_FALLOCATE, &space, sizeof(space));
	account_take(&a);
	assert_true(a.offset == 1 && a.length == UINT32_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_is_answered_at_once),
		TEST(a_request_is_answered_by_another_thread),
		TEST(writes_count_the_bytes_that_were_taken),
		TEST(a_name_that_is_not_there_is_an_error),
		TEST(what_has_no_answer_does_not_count),
		TEST(a_short_message_has_no_range),
		TEST(long_ranges_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

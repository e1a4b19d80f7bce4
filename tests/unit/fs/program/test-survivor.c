/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/program/survivor: the files for the holder; a successor that ends tells of the
 * written data that it leaves behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "cache/writeback.h"
#include "fs/kernel/device.h"
#include "fs/program/holder.h"
#include "fs/program/record.h"
#include "fs/program/survivor.h"

static uint64_t noted; /* bytes, in the former daemon's ledger */

uint64_t __wrap_written_former_bytes(const struct former *f);

uint64_t __wrap_written_former_bytes(const struct former *f)
{
	return noted;
}

static unsigned attempts, failures; /* to give the holder the files */
static int failure;

bool __wrap_holder_hold(int fd, const int file[HOLDER_FILES]);
void __wrap_record_put_note(struct fs *fs, const struct record_head *head, struct xdr_out *x);
int __wrap_fuse_session_fd(const struct fuse_session *se);
int __wrap_device_row(const struct device *d);
int __wrap_mem_pool_fd(const struct mem_pool *pool);

bool __wrap_holder_hold(int fd, const int file[HOLDER_FILES])
{
	errno = failure;
	return ++attempts > failures;
}

void __wrap_record_put_note(struct fs *fs, const struct record_head *head, struct xdr_out *x)
{
	xdr_put_u32(x, 1);
}

int __wrap_fuse_session_fd(const struct fuse_session *se)
{
	return 0;
}

int __wrap_device_row(const struct device *d)
{
	return -1;
}

int __wrap_mem_pool_fd(const struct mem_pool *pool)
{
	return 0;
}

/* Returns the result of survivor_hold() if so many attempts fail. */
static int hold(unsigned fail, int error, struct err *e)
{
	struct fs fs = {.ledger = ledger_new(e), .mountpoint = "/mnt", .holder_fd = 5};
	int rc;

	assert_non_null(fs.ledger);
	attempts = 0;
	failures = fail;
	failure = error;
	rc = survivor_hold(&fs, e);
	assert_int_equal(ledger_is_whole(fs.ledger), !rc);
	ledger_free(fs.ledger);
	return rc;
}

static void a_holder_that_cannot_be_given_the_files_is_an_error(void **state)
{
	struct err e = {0};

	assert_int_equal(hold(3, ENOMEM, &e), 0);
	assert_int_equal(attempts, 4);
	assert_int_equal(hold(UINT32_MAX, ENOBUFS, &e), -1);
	assert_true(e.msg[0]);
}

static void a_daemon_goes_on_without_its_holder(void **state)
{
	struct err e = {0};

	assert_int_equal(hold(UINT32_MAX, EPIPE, &e), 0);
	assert_int_equal(attempts, 1);
}

static void written_data_is_lost_without_a_connection(void **state)
{
	struct fs fs = {.former = (void *)&noted};

	noted = 7;
	assert_true(survivor_loses(&fs));
	noted = 0;
	assert_false(survivor_loses(&fs));
}

/* The server answers, but there is no memory, or no thread. */
static void written_data_is_lost_if_the_successor_cannot_take_over(void **state)
{
	struct fs fs = {.former = (void *)&noted, .client = (void *)&noted};

	noted = 7;
	assert_true(survivor_loses(&fs));
	fs.took_over = true; /* the data is the successor's, which names each file */
	assert_false(survivor_loses(&fs));
}

static void a_daemon_without_a_former_one_loses_nothing(void **state)
{
	struct fs fs = {.former = NULL};

	noted = 7;
	assert_false(survivor_loses(&fs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_holder_that_cannot_be_given_the_files_is_an_error),
		cmocka_unit_test(a_daemon_goes_on_without_its_holder),
		cmocka_unit_test(written_data_is_lost_without_a_connection),
		cmocka_unit_test(written_data_is_lost_if_the_successor_cannot_take_over),
		cmocka_unit_test(a_daemon_without_a_former_one_loses_nothing),
	};

	return cmocka_run_group_tests_name("survivor", tests, NULL, NULL);
}

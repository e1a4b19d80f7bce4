/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel-gather: the file of kernel-file.h, on a mount that gathers writes.
 */
#ifndef RNFS_TESTS_KERNEL_GATHER_H
#define RNFS_TESTS_KERNEL_GATHER_H

#include "tests/unit/fs/fs-fixture.h"
#include "tests/unit/fs/kernel-file.h"

#define LARGE (1u << 20)

static uint8_t large[LARGE];

static int setup_gather(void **state)
{
	fs_fixture_gather = true;
	for (unsigned i = 0; i < LARGE; i++)
		large[i] = (uint8_t)(i * 13 + i / 1000);
	return setup(state);
}

static int teardown_gather(void **state)
{
	assert_int_equal(writeback_bytes(fs->writeback), 0);
	return teardown(state);
}

static void put(uint64_t off, uint32_t len)
{
	assert_int_equal(kernel_write(node, fh, off, large + off % LARGE, len, O_RDWR), len);
}

static void expect(uint64_t off, uint32_t len)
{
	assert_int_equal(kernel_read(node, fh, off, back, len), len);
	assert_memory_equal(back, large + off % LARGE, len);
}

#define GATHER_TEST(f) cmocka_unit_test_setup_teardown(f, setup_gather, teardown_gather)

#endif

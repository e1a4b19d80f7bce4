/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel-file: a mount at fake-kernel.h with one open file, for tests of the file's data.
 */
#ifndef RNFS_TESTS_KERNEL_FILE_H
#define RNFS_TESTS_KERNEL_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fs/ops/ops.h"
#include "tests/unit/fs/kernel-mount.h"

#define SIZE 100000u

static uint64_t node, fh;
static uint8_t data[SIZE], back[1 << 20];
static atomic_int calls; /* of a script */

static int setup(void **state)
{
	setup_mount(state);
	for (unsigned i = 0; i < SIZE; i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	memset(back, 0, sizeof(back));
	assert_int_equal(kernel_create(KERNEL_ROOT, "f", O_RDWR, &node, &fh), 0);
	calls = 0;
	return 0;
}

/* Data memory of requests: all but the block that the worker reads into. The work after an answer
 * is done once the worker has read another request. */
__attribute__((unused)) static size_t used(void)
{
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
	return atomic_load(&fs->data_used) - MEM_MAX_SIZE;
}

/* Waits until requests have no data memory. The server's thread gives memory back a moment after
 * the answer. */
__attribute__((unused)) static void all_is_back(void)
{
	for (unsigned i = 0; i < 100000 && used(); i++)
		sched_yield();
	assert_int_equal(used(), 0);
}

/* The worker has looked at all earlier requests. */
__attribute__((unused)) static void looked_at(void)
{
	assert_int_equal(kernel_lookup(KERNEL_ROOT, "none", NULL), -ENOENT);
}

/* The process of the request is killed, and the main thread sees the end. */
__attribute__((unused)) static void killed(uint64_t number)
{
	kernel_interrupt(number);
	looked_at();
	ops_end_gone(fs);
}

/* Ops that hang are carried out, and no later op hangs. */
__attribute__((unused)) static void go_on(void)
{
	for (unsigned t = 0; t < NFS_OP_TYPES; t++)
		fake_knobs.hang[t] = false;
	fake_release(fs->client);
}

__attribute__((unused)) static void fill(uint32_t size)
{
	assert_int_equal(kernel_write(node, fh, 0, data, size, O_RDWR), size);
}

#endif

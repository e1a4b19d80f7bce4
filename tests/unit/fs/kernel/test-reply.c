/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/reply: a session of libfuse with a file as its device.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/fuse.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/kernel/reply.h"

#define PAGE  4096u
#define PAGES 256u
#define HEAD  sizeof(struct fuse_out_header)

static struct fuse_session *se;
static int device, writes, pieces, refuse;
static const struct seg_list *to_reply;
static int replied;
static uint8_t *memory; /* of the pages; the bytes of each page are the page's number */
static struct seg seg[PAGES];
static uint8_t got[HEAD + (PAGES + 1) * PAGE];

static ssize_t device_read(int fd, void *buf, size_t len, void *userdata)
{
	errno = ENODEV;
	return -1;
}

static ssize_t device_writev(int fd, struct iovec *iov, int count, void *userdata)
{
	writes++;
	pieces = count - 1;
	if (refuse) {
		errno = refuse;
		return -1;
	}
	return pwritev(fd, iov, count, 0);
}

static void on_read(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	replied = reply_data(req, to_reply);
}

/* The kernel asks. */
static void ask(uint32_t opcode, const void *arg, size_t len)
{
	struct fuse_in_header h = {
		.len = (uint32_t)(sizeof(h) + len), .opcode = opcode, .unique = 2, .nodeid = 1};
	uint8_t mem[200];
	struct fuse_buf buf = {.mem = mem, .size = h.len};

	memcpy(mem, &h, sizeof(h));
	memcpy(mem + sizeof(h), arg, len);
	fuse_session_process_buf(se, &buf);
}

static int setup(void **state)
{
	static const struct fuse_custom_io io = {.read = device_read, .writev = device_writev};
	static const struct fuse_lowlevel_ops ops = {.read = on_read};
	struct fuse_init_in init = {
		.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION};
	char name[] = "test";
	char *argv[] = {name, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);

	refuse = 0;
	se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	fuse_opt_free_args(&args);
	assert_non_null(se);
	device = memfd_create("device", MFD_CLOEXEC);
	assert_int_equal(fuse_session_custom_io(se, &io, device), 0);
	ask(FUSE_INIT, &init, sizeof(init));
	memory = malloc(PAGES * PAGE);
	for (unsigned i = 0; i < PAGES; i++) {
		memset(memory + i * PAGE, (int)i, PAGE);
		/* from the last to the first, so that no two follow each other in memory */
		seg[PAGES - 1 - i].at = (struct mem_sge){.addr = memory + i * PAGE, .len = PAGE};
	}
	writes = 0;
	return 0;
}

static int teardown(void **state)
{
	fuse_session_destroy(se);
	free(memory);
	return 0;
}

/* Answers a READ with l. Returns how many bytes of data the kernel has got. */
static size_t reply(const struct seg_list *l)
{
	const struct fuse_out_header *h = (const struct fuse_out_header *)got;
	struct fuse_read_in in = {.size = PAGES * PAGE};
	ssize_t n;

	assert_int_equal(ftruncate(device, 0), 0);
	writes = 0;
	to_reply = l;
	ask(FUSE_READ, &in, sizeof(in));
	assert_int_equal(writes, 1);
	n = pread(device, got, sizeof(got), 0);
	if (n <= 0)
		return 0;
	assert_int_equal(n, h->len);
	assert_int_equal(h->error, 0);
	assert_int_equal(h->unique, 2);
	return (size_t)n - HEAD;
}

/* Does each byte of the answer come from the right page? */
static void check(size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (got[HEAD + i] != (uint8_t)(PAGES - 1 - i / PAGE))
			fail_msg("byte %zu is wrong", i);
}

static void nothing_is_a_header_alone(void **state)
{
	struct seg_list l = {0};

	assert_int_equal(reply(&l), 0);
	assert_int_equal(replied, 0);
}

static void one_piece_is_sent_from_where_it_is(void **state)
{
	struct seg_list l;

	assert_int_equal(seg_list_init(&l, seg, 1), 0);
	assert_int_equal(reply(&l), PAGE);
	assert_int_equal(pieces, 1);
	check(PAGE);
}

static void as_many_pages_as_a_request_has_are_sent_at_once(void **state)
{
	struct seg_list l;

	seg[PAGES - 1].at.len = 100; /* the last page is short */
	assert_int_equal(seg_list_init(&l, seg, PAGES), 0);
	assert_int_equal(reply(&l), (PAGES - 1) * PAGE + 100);
	assert_int_equal(pieces, PAGES);
	check((PAGES - 1) * PAGE + 100);
}

static void the_end_of_the_file_may_be_in_the_middle(void **state)
{
	static const uint32_t ends[] = {
		1, PAGE - 1, PAGE, PAGE + 1, 100 * PAGE, 100 * PAGE + 7, PAGES * PAGE - 1};
	struct seg_list all, l;

	assert_int_equal(seg_list_init(&all, seg, PAGES), 0);
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		l = seg_list_cut(&all, 0, ends[i]);
		assert_int_equal(reply(&l), ends[i]);
		assert_int_equal(pieces, (ends[i] + PAGE - 1) / PAGE);
		check(ends[i]);
	}
}

static void empty_pieces_are_passed_over(void **state)
{
	struct seg_list l;

	seg[1].at.len = 0;
	seg[3].at.len = 0;
	assert_int_equal(seg_list_init(&l, seg, 5), 0);
	assert_int_equal(reply(&l), 3 * PAGE);
	assert_int_equal(pieces, 3);
	assert_int_equal(got[HEAD + PAGE], PAGES - 3);
}

static void the_kernel_may_not_want_it_any_more(void **state)
{
	struct seg_list l;

	refuse = ENOENT;
	for (unsigned n = 1; n <= 2; n++) {
		assert_int_equal(seg_list_init(&l, seg, n), 0);
		assert_int_equal(reply(&l), 0);
		assert_int_equal(replied, -ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_a_header_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(
			one_piece_is_sent_from_where_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(
			as_many_pages_as_a_request_has_are_sent_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_end_of_the_file_may_be_in_the_middle, setup, teardown),
		cmocka_unit_test_setup_teardown(empty_pieces_are_passed_over, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_kernel_may_not_want_it_any_more, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/device: sockets stand for both open files of the kernel's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fs/kernel/device.h"

struct world {
	struct device *d;
	int fd, kernel; /* the two ends of the file that sleeps */
	int row_kernel; /* the kernel's end of the row file, which does not sleep */
};

static struct world begin(void)
{
	struct world w;
	int one[2], two[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, one), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, two), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fcntl(two[i], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(one[0], F_SETFL, O_NONBLOCK), 0);
	w = (struct world){device_of(one[0], two[0]), one[0], one[1], two[1]};
	assert_non_null(w.d);
	assert_int_equal(fcntl(one[0], F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(one[1], F_SETFL, O_NONBLOCK), 0);
	return w;
}

static void end(struct world *w)
{
	assert_null(device_free(w->d));
	close(w->fd);
	close(w->kernel);
	close(w->row_kernel);
}

static ssize_t comes(struct world *w, bool in_row, uint32_t opcode, uint64_t unique)
{
	struct fuse_in_header h = {.len = sizeof(h), .opcode = opcode, .unique = unique}, got;
	ssize_t n;

	assert_int_equal(
		write(in_row ? w->row_kernel : w->kernel, &h, sizeof(h)), (ssize_t)sizeof(h));
	n = device_read(w->d, &got, sizeof(got), in_row);
	if (n > 0)
		assert_memory_equal(&got, &h, sizeof(h));
	return n;
}

/* Which file carries an answer with this number? 'r': the file for rows, 's': the other. */
static char answered_by(struct world *w, uint64_t unique)
{
	struct fuse_out_header h = {.len = sizeof(h), .unique = unique}, got;
	struct iovec iov = {&h, sizeof(h)};
	bool row, sleeps;

	assert_int_equal(device_writev(w->d, &iov, 1), (ssize_t)sizeof(h));
	row = read(w->row_kernel, &got, sizeof(got)) == (ssize_t)sizeof(got);
	sleeps = read(w->kernel, &got, sizeof(got)) == (ssize_t)sizeof(got);
	assert_true(row != sleeps);
	assert_int_equal(got.unique, unique);
	return row ? 'r' : 's';
}

static void an_answer_goes_where_the_request_came_from(void **state)
{
	struct world w = begin();

	assert_true(comes(&w, false, FUSE_READ, 2) > 0);
	assert_true(comes(&w, true, FUSE_READ, 4) > 0);
	assert_true(comes(&w, true, FUSE_READ, 6) > 0);
	assert_true(comes(&w, false, FUSE_READ, 8) > 0);
	assert_int_equal(answered_by(&w, 4), 'r');
	assert_int_equal(answered_by(&w, 8), 's');
	assert_int_equal(answered_by(&w, 0), 's'); /* a notification */
	assert_int_equal(answered_by(&w, 2), 's');
	assert_int_equal(answered_by(&w, 6), 'r');
	assert_true(comes(&w, false, FUSE_READ, 4) > 0); /* the kernel uses the number again */
	assert_int_equal(answered_by(&w, 4), 's');
	end(&w);
}

static void an_interrupt_is_refused_where_its_request_came_from(void **state)
{
	struct world w = begin();

	assert_true(comes(&w, true, FUSE_SETLKW, 4) > 0);
	assert_true(comes(&w, false, FUSE_INTERRUPT, 4 | 1) > 0);
	assert_int_equal(answered_by(&w, 4 | 1), 'r'); /* EAGAIN: once more */
	assert_int_equal(answered_by(&w, 4 | 1), 'r');
	assert_int_equal(answered_by(&w, 4), 'r');
	assert_int_equal(answered_by(&w, 4 | 1), 's'); /* of no request any more */
	end(&w);
}

static void what_gets_no_answer_is_not_kept_in_mind(void **state)
{
	static const uint32_t silent[] = {
		FUSE_FORGET, FUSE_BATCH_FORGET, FUSE_INTERRUPT, FUSE_NOTIFY_REPLY};
	struct world w = begin();

	for (unsigned i = 0; i < 4 * DEVICE_ROW_MAX; i++)
		assert_true(comes(&w, true, silent[i % 4], 2 * i + 2) > 0);
	assert_int_equal(answered_by(&w, 2), 's');
	end(&w);
}

static void too_many_are_no_row(void **state)
{
	struct fuse_in_header h;
	struct world w = begin();

	for (unsigned i = 0; i < DEVICE_ROW_MAX; i++)
		assert_true(comes(&w, true, FUSE_READ, 2 * i + 2) > 0);
	assert_int_equal(comes(&w, true, FUSE_READ, 10000), -1);
	assert_int_equal(errno, EAGAIN);
	assert_true(comes(&w, false, FUSE_READ, 10002) > 0);
	assert_int_equal(answered_by(&w, 20), 'r');
	assert_int_equal(device_read(w.d, &h, sizeof(h), true), (ssize_t)sizeof(h));
	assert_int_equal(h.unique, 10000);
	assert_int_equal(answered_by(&w, 10000), 'r');
	assert_int_equal(answered_by(&w, 10002), 's');
	end(&w);
}

static void a_row_does_not_sleep(void **state)
{
	struct world w = begin();
	uint8_t buf[100];

	assert_int_equal(device_read(w.d, buf, sizeof(buf), true), -1);
	assert_int_equal(errno, EAGAIN);
	end(&w);
}

static void without_a_clone_there_are_no_rows(void **state)
{
	struct fuse_in_header h = {.len = sizeof(h), .opcode = FUSE_READ, .unique = 2}, got;
	struct fuse_out_header out = {.len = sizeof(out), .unique = 2};
	struct iovec iov = {&out, sizeof(out)};
	struct device *d;
	int s[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
	d = device_new(s[0]); /* a file that cannot be cloned */
	assert_non_null(d);
	assert_int_equal(write(s[1], &h, sizeof(h)), (ssize_t)sizeof(h));
	assert_int_equal(device_read(d, &got, sizeof(got), true), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(device_read(d, &got, sizeof(got), false), (ssize_t)sizeof(got));
	assert_int_equal(device_writev(d, &iov, 1), (ssize_t)sizeof(out));
	assert_null(device_free(d));
	assert_null(device_free(NULL));
	close(s[0]);
	close(s[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_goes_where_the_request_came_from),
		cmocka_unit_test(an_interrupt_is_refused_where_its_request_came_from),
		cmocka_unit_test(what_gets_no_answer_is_not_kept_in_mind),
		cmocka_unit_test(too_many_are_no_row),
		cmocka_unit_test(a_row_does_not_sleep),
		cmocka_unit_test(without_a_clone_there_are_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

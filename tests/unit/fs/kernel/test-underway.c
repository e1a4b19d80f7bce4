/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/underway.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/kernel/again.h"
#include "fs/kernel/device.h"
#include "fs/kernel/request.h"
#include "fs/kernel/underway.h"
#include "tests/unit/fs/fake-nfs.h"
#include "tests/unit/fs/fs-fixture.h"
#include "transport/clock.h"

#define NUMBER 10u /* of a request */

static struct fs *fs, *heir; /* the former daemon's mount; the successor's */
static struct ledger *ledger, *next;
static struct former *notes;
static struct err err;
static int kernel; /* the kernel's side of the device of heir */

static struct fs *mount_on(struct ledger *l)
{
	struct fs *of;

	fs_fixture_ledger = l;
	of = fs_fixture_new();
	of->may_resend = true;
	return of;
}

static int setup(void **state)
{
	int pair[2];

	fake_knobs = (struct fake_knobs){.sync = true};
	ledger = ledger_new(&err);
	next = ledger_new(&err);
	fs = mount_on(ledger);
	heir = mount_on(next);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	heir->device = device_of(pair[0], -1);
	kernel = pair[1];
	*state = (void *)(intptr_t)pair[0];
	return 0;
}

static int teardown(void **state)
{
	heir->device = device_free(heir->device);
	close((int)(intptr_t)*state);
	close(kernel);
	heir = fs_fixture_free(heir);
	fs = fs_fixture_free(fs);
	notes = former_free(notes);
	fs_fixture_ledger = NULL;
	return 0;
}

static uint32_t noted(struct ledger *l, enum note_kind kind)
{
	struct former *f = former_read(ledger_fd(l), &err);
	uint32_t n;

	assert_non_null(f);
	n = former_count(f, kind);
	former_free(f);
	return n;
}

static void killed(void)
{
	notes = former_read(ledger_fd(ledger), &err);
	assert_non_null(notes);
	assert_int_equal(underway_former(heir, notes, &err), 0);
}

/* of reads the request; returns what underway_read() returns. */
static bool reads(struct fs *of, uint32_t opcode, uint64_t unique)
{
	struct fuse_in_header h = {.len = sizeof(h), .opcode = opcode, .unique = unique};

	account_read(&h, sizeof(h));
	return underway_read(of, &h, sizeof(h));
}

/* The answer of of to the request that it has read last, which has made so many calls. */
static struct fuse_out_header answer;
static struct iovec iov = {&answer, sizeof(answer)};

static void answers(struct fs *of, uint64_t unique, uint32_t calls, struct note *note)
{
	struct account a;

	account_take(&a);
	a.rpcs = calls;
	account_answers(&a);
	answer = (struct fuse_out_header){.len = sizeof(answer), .error = -EXDEV, .unique = unique};
	underway_answers(of, &iov, 1, note);
}

static void changes_are_noted(void **state)
{
	struct account a = {.unique = NUMBER, .opcode = FUSE_RENAME2};

	assert_int_equal(underway_noted(&a), NUMBER);
	a.unique |= REQUEST_AGAIN;
	assert_int_equal(underway_noted(&a), NUMBER);
	a.opcode = FUSE_READ;
	assert_int_equal(underway_noted(&a), 0);
}

static void answers_are_noted_until_they_are_written(void **state)
{
	struct note note = {0};

	fake_knobs.changes = NUMBER;
	reads(fs, FUSE_UNLINK, NUMBER);
	answers(fs, NUMBER, 1, &note);
	assert_int_equal(noted(ledger, NOTE_ANSWER), 1);
	assert_int_equal(fake_knobs.changes, 0); /* the calls are not needed any more */
	underway_answered(fs, &iov, &note);
	assert_int_equal(noted(ledger, NOTE_ANSWER), 0);
}

static void other_answers_are_not_noted(void **state)
{
	struct note note = {0};

	reads(fs, FUSE_UNLINK, NUMBER);
	answers(fs, NUMBER, 0, &note); /* has made no call */
	assert_int_equal(note.at, 0);
	reads(fs, FUSE_GETATTR, NUMBER + 2);
	answers(fs, NUMBER + 2, 1, &note);
	assert_int_equal(note.at, 0);
	answer.unique = 0; /* a notification */
	underway_answers(fs, &iov, 1, &note);
	assert_int_equal(note.at, 0);
}

static void a_noted_answer_is_given_again(void **state)
{
	struct fuse_out_header got;
	struct note note = {0};

	reads(fs, FUSE_UNLINK, NUMBER);
	answers(fs, NUMBER, 1, &note);
	killed();
	assert_true(underway_has_answer(heir, NUMBER));
	assert_false(underway_has_answer(heir, NUMBER + 2));
	assert_int_equal(noted(next, NOTE_ANSWER), 1); /* for a second successor */
	assert_false(reads(heir, FUSE_INTERRUPT, (NUMBER | 1) | REQUEST_AGAIN));
	assert_false(reads(heir, FUSE_UNLINK, (NUMBER + 2) | REQUEST_AGAIN));
	assert_true(reads(heir, FUSE_UNLINK, NUMBER | REQUEST_AGAIN));
	assert_int_equal(recv(kernel, &got, sizeof(got), MSG_DONTWAIT), sizeof(got));
	assert_int_equal(got.error, -EXDEV);
	assert_true(got.unique == (NUMBER | REQUEST_AGAIN));
	assert_int_equal(noted(next, NOTE_ANSWER), 0);
	assert_false(underway_has_answer(heir, NUMBER));
	underway_answered(fs, &iov, &note);
}

static void the_former_daemon_is_forgotten_at_the_end(void **state)
{
	struct fuse_out_header got;
	struct note note = {0}, old = {0};
	uint64_t began = clock_ns();

	fake_knobs.changes = NUMBER;
	reads(fs, FUSE_UNLINK, NUMBER + 2);
	answers(fs, NUMBER + 2, 1, &old);
	killed();
	assert_false(underway_tick(heir));
	assert_true(underway_resend(heir));
	assert_int_equal(recv(kernel, &got, sizeof(got), MSG_DONTWAIT), sizeof(got));
	assert_int_equal(got.unique, 0);
	assert_int_equal(got.error, 7); /* FUSE_NOTIFY_RESEND */
	assert_false(underway_all_came(heir));
	assert_false(reads(heir, FUSE_UNLINK, NUMBER | REQUEST_AGAIN));
	while (clock_age(clock_ns(), began) < 5 * NSEC_PER_SEC / 2)
		usleep(10000);
	assert_true(underway_all_came(heir));
	assert_false(underway_tick(heir)); /* a request is under way */
	assert_int_equal(fake_knobs.changes, NUMBER);
	answers(heir, NUMBER | REQUEST_AGAIN, 0, &note);
	assert_int_equal(noted(next, NOTE_ANSWER), 2);
	assert_int_equal(fake_knobs.changes, 0);
	underway_answered(heir, &iov, &note);
	assert_true(underway_tick(heir));
	assert_false(underway_all_came(heir));
	assert_int_equal(noted(next, NOTE_ANSWER), 0); /* the kernel had the other answer */
	assert_false(underway_tick(heir));
	underway_answered(fs, &iov, &old);
}

/* Has the kernel got EIO for each request from first to last, which exist for it? It gets no other
 * answer. */
static bool fail_from(uint64_t first, uint64_t last)
{
	bool failed[4 * UNDERWAY_UNSEEN] = {false};
	struct fuse_out_header got;

	while (recv(kernel, &got, sizeof(got), MSG_DONTWAIT) == sizeof(got)) {
		if (got.error != -EIO || got.unique >= sizeof(failed))
			return false;
		failed[got.unique] = true;
	}
	for (; first <= last; first += 2)
		if (!failed[first])
			return false;
	return true;
}

static void an_old_kernel_gets_errors(void **state)
{
	struct note note = {0};

	fs->may_resend = heir->may_resend = false;
	underway_begin(fs);
	reads(fs, FUSE_GETATTR, NUMBER);
	reads(fs, FUSE_READ, NUMBER + 4);
	reads(fs, FUSE_FORGET, NUMBER + 6);
	reads(fs, FUSE_GETATTR, NUMBER + 2);
	answers(fs, NUMBER + 2, 0, &note);
	underway_answered(fs, &iov, &note);
	killed();
	assert_true(underway_resend(heir));
	assert_true(fail_from(NUMBER, NUMBER + 4 + 2 * UNDERWAY_UNSEEN));
}

/* A thread has read a request, and is killed before it notes the number. Another thread has noted a
 * higher one. */
static void an_old_kernel_gets_errors_for_overtaken_requests(void **state)
{
	fs->may_resend = heir->may_resend = false;
	underway_begin(fs);
	reads(fs, FUSE_GETATTR, NUMBER + 2);
	killed();
	assert_true(underway_resend(heir));
	assert_true(fail_from(NUMBER, NUMBER + 2));
}

/* The first successor has the mount, and is killed before it has ended the requests. */
static void an_old_kernel_gets_errors_from_a_second_successor(void **state)
{
	struct ledger *third = ledger_new(&err);
	struct fs *second = mount_on(third);

	fs->may_resend = heir->may_resend = second->may_resend = false;
	underway_begin(fs);
	underway_begin(heir);
	reads(fs, FUSE_GETATTR, NUMBER);
	reads(fs, FUSE_GETATTR, NUMBER + 4);
	killed();
	notes = former_free(notes);
	notes = former_read(ledger_fd(next), &err);
	assert_non_null(notes);
	assert_int_equal(underway_former(second, notes, &err), 0);
	second->device = heir->device;
	assert_true(underway_resend(second));
	assert_true(fail_from(NUMBER, NUMBER + 4 + 2 * UNDERWAY_UNSEEN));
	second->device = NULL;
	fs_fixture_free(second);
}

/* A wait for a lock that of has read and has put off. */
static void keeps(struct fs *of, uint64_t unique)
{
	const struct again_lock lock = {
		.h = {.len = sizeof(lock), .opcode = FUSE_SETLKW, .unique = unique},
		.in = {.lk = {.type = F_WRLCK, .end = INT64_MAX}}};

	reads(of, FUSE_SETLKW, unique);
	assert_true(again_keep(of, &lock, 1));
}

static void an_old_kernels_waits_go_on(void **state)
{
	struct fuse_out_header h;
	uint64_t none = 0;

	fs->may_resend = heir->may_resend = false;
	underway_begin(fs);
	underway_begin(heir);
	keeps(fs, NUMBER);
	reads(fs, FUSE_GETATTR, NUMBER + 4);
	again_note(fs);
	assert_int_equal(noted(ledger, NOTE_AGAIN), 1);
	killed();
	assert_int_equal(again_former(heir, notes, &err), 0);
	assert_int_equal(noted(next, NOTE_AGAIN), 1); /* for a second successor */
	assert_true(underway_resend(heir));
	while (recv(kernel, &h, sizeof(h), MSG_DONTWAIT) == sizeof(h)) {
		assert_int_not_equal(h.unique, NUMBER);
		none += h.unique == NUMBER + 4;
	}
	assert_int_equal(none, 1);
}

/* The former daemon is killed when the note of the wait is there, and the number still counts. */
static void a_wait_that_still_counts_goes_on(void **state)
{
	struct fuse_out_header h;

	fs->may_resend = heir->may_resend = false;
	underway_begin(fs);
	underway_begin(heir);
	keeps(fs, NUMBER);
	again_note(fs);
	underway_counts(fs, NUMBER);
	killed();
	assert_int_equal(again_former(heir, notes, &err), 0);
	assert_true(underway_resend(heir));
	while (recv(kernel, &h, sizeof(h), MSG_DONTWAIT) == sizeof(h))
		assert_int_not_equal(h.unique, NUMBER);
}

static void a_new_kernels_waits_come_again(void **state)
{
	underway_begin(fs);
	keeps(fs, NUMBER);
	again_note(fs);
	assert_int_equal(noted(ledger, NOTE_AGAIN), 0);
}

static void damaged_waits_are_refused(void **state)
{
	struct again_lock lock = {.h = {.len = sizeof(lock), .opcode = FUSE_SETLKW}};
	uint8_t bytes[sizeof(lock) + 12] = {0};
	struct note note = {0};

	memcpy(bytes, &lock, sizeof(lock)); /* without a number */
	ledger_put(ledger, &note, NOTE_AGAIN, bytes, sizeof(bytes));
	notes = former_read(ledger_fd(ledger), &err);
	err = (struct err){0};
	assert_int_equal(again_former(heir, notes, &err), -1);
	assert_true(err.msg[0]);
}

static void a_new_kernel_needs_no_numbers(void **state)
{
	underway_begin(fs);
	reads(fs, FUSE_GETATTR, NUMBER);
	assert_int_equal(noted(ledger, NOTE_UNDER_WAY), 0);
}

static void damaged_answers_are_refused(void **state)
{
	static const uint64_t bytes[] = {NUMBER, sizeof(struct fuse_out_header) + 8, NUMBER};
	struct note note = {0};

	ledger_put(ledger, &note, NOTE_ANSWER, bytes, sizeof(bytes));
	notes = former_read(ledger_fd(ledger), &err);
	err = (struct err){0};
	assert_int_equal(underway_former(heir, notes, &err), -1);
	assert_true(err.msg[0]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(changes_are_noted),
		TEST(answers_are_noted_until_they_are_written),
		TEST(other_answers_are_not_noted),
		TEST(a_noted_answer_is_given_again),
		TEST(the_former_daemon_is_forgotten_at_the_end),
		TEST(an_old_kernel_gets_errors),
		TEST(an_old_kernel_gets_errors_for_overtaken_requests),
		TEST(an_old_kernel_gets_errors_from_a_second_successor),
		TEST(an_old_kernels_waits_go_on),
		TEST(a_wait_that_still_counts_goes_on),
		TEST(a_new_kernels_waits_come_again),
		TEST(damaged_waits_are_refused),
		TEST(a_new_kernel_needs_no_numbers),
		TEST(damaged_answers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

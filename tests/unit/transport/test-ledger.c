/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/ledger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/ledger.h"

static struct former *read_again(struct ledger *l)
{
	struct err e = {0};
	struct former *f = former_read(ledger_fd(l), &e);

	assert_non_null(f);
	return f;
}

static void expect(const struct former *f, enum note_kind kind, uint32_t i, const char *text)
{
	uint32_t len;
	const void *data = former_note(f, kind, i, &len);

	assert_int_equal(len, strlen(text));
	assert_memory_equal(data, text, len);
}

static void put(struct ledger *l, struct note *n, enum note_kind kind, const char *text)
{
	ledger_put(l, n, kind, text, strlen(text));
}

static void test_notes_come_back_in_the_order_of_making(void **state)
{
	struct err e = {0};
	struct ledger *l = ledger_new(&e);
	struct note a = {0}, b = {0}, c = {0};
	struct former *f;

	put(l, &a, NOTE_INODE, "first");
	put(l, &b, NOTE_FILE, "a file");
	put(l, &c, NOTE_INODE, "second");
	put(l, &a, NOTE_INODE,
		"first, and now much longer than an entry of the smallest size has room");
	f = read_again(l);
	assert_int_equal(former_count(f, NOTE_INODE), 2);
	assert_int_equal(former_count(f, NOTE_FILE), 1);
	assert_int_equal(former_count(f, NOTE_LOCKS), 0);
	expect(f, NOTE_INODE, 0,
		"first, and now much longer than an entry of the smallest size has room");
	expect(f, NOTE_INODE, 1, "second");
	expect(f, NOTE_FILE, 0, "a file");
	former_free(f);
	ledger_drop(l, &a);
	assert_int_equal(a.at, 0);
	ledger_drop(l, &a);
	f = read_again(l);
	assert_int_equal(former_count(f, NOTE_INODE), 1);
	expect(f, NOTE_INODE, 0, "second");
	former_free(f);
	ledger_free(l);
}

static void test_words_change_in_place(void **state)
{
	struct err e = {0};
	struct ledger *l = ledger_new(&e);
	uint64_t words[2] = {1, 2};
	struct note n = {0};
	struct former *f;
	const uint64_t *read;
	uint32_t len;

	assert_null(ledger_words(l, &n));
	assert_null(ledger_words(NULL, &n));
	ledger_put(l, &n, NOTE_SLOTS, words, sizeof(words));
	atomic_store(&ledger_words(l, &n)[1], 7);
	f = read_again(l);
	read = former_note(f, NOTE_SLOTS, 0, &len);
	assert_int_equal(len, sizeof(words));
	assert_int_equal(read[0], 1);
	assert_int_equal(read[1], 7);
	former_free(f);
	ledger_free(l);
}

static void test_no_ledger_is_accepted(void **state)
{
	struct note n = {0};

	put(NULL, &n, NOTE_INODE, "nowhere");
	assert_int_equal(n.at, 0);
	ledger_drop(NULL, &n);
	ledger_give_up(NULL);
	assert_null(ledger_free(NULL));
	assert_null(former_free(NULL));
}

static void test_a_note_that_is_too_long_ends_the_trust(void **state)
{
	struct err e = {0};
	struct ledger *l = ledger_new(&e);
	uint8_t *data = calloc(1, LEDGER_NOTE_MAX + 1);
	struct note n = {0};

	ledger_put(l, &n, NOTE_LOCKS, data, LEDGER_NOTE_MAX);
	assert_true(ledger_is_whole(l));
	ledger_put(l, &n, NOTE_LOCKS, data, LEDGER_NOTE_MAX + 1);
	assert_false(ledger_is_whole(l));
	assert_null(former_read(ledger_fd(l), &e));
	assert_non_null(strstr(e.msg, "not whole"));
	free(data);
	ledger_free(l);
}

static void test_many_notes_share_chunks(void **state)
{
	struct err e = {0};
	struct ledger *l = ledger_new(&e);
	struct note *n = calloc(20000, sizeof(*n));
	struct former *f;

	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < 20000; i++) {
			uint64_t v = i * 3 + round;

			ledger_put(l, &n[i], NOTE_INODE, &v, sizeof(v));
		}
		for (uint64_t i = 0; i < 20000; i += 2)
			ledger_drop(l, &n[i]);
	}
	f = read_again(l);
	assert_int_equal(former_count(f, NOTE_INODE), 10000);
	for (uint32_t i = 0; i < 10000; i++) {
		uint32_t len;
		const uint64_t *v = former_note(f, NOTE_INODE, i, &len);

		assert_int_equal(*v, (i * 2 + 1) * 3 + 2);
	}
	former_free(f);
	free(n);
	ledger_free(l);
}

/* The writer, killed at any moment, leaves each note whole: of one of its versions. */
static void write_for_ever(struct ledger *l, _Atomic uint32_t *begun)
{
	struct note n[8] = {0};
	uint64_t v[40];

	for (uint64_t round = 0;; round++) {
		for (unsigned i = 0; i < 8; i++) {
			size_t words = 1 + (round + i) % 40;

			for (size_t k = 0; k < words; k++)
				v[k] = round << 8 | words;
			ledger_put(l, &n[i], NOTE_FILE, v, words * 8);
		}
		atomic_store(begun, 1);
	}
}

static void test_a_killed_writer_leaves_whole_notes(void **state)
{
	_Atomic uint32_t *begun =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (unsigned run = 0; run < 50; run++) {
		struct err e = {0};
		struct ledger *l = ledger_new(&e);
		struct former *f;
		pid_t pid;

		atomic_store(begun, 0);
		pid = fork();
		if (!pid)
			write_for_ever(l, begun);
		while (!atomic_load(begun))
			usleep(100);
		usleep(run * 13 % 97);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		f = read_again(l);
		assert_int_equal(former_count(f, NOTE_FILE), 8);
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t len;
			const uint64_t *v = former_note(f, NOTE_FILE, i, &len);

			assert_int_equal(len, (v[0] & 255) * 8);
			for (uint32_t k = 1; k < len / 8; k++)
				assert_int_equal(v[k], v[0]);
		}
		former_free(f);
		ledger_free(l);
	}
	munmap((void *)begun, 4096);
}

/* A file that another writer has made. */
static void test_a_damaged_file_is_refused(void **state)
{
	struct err e = {0};
	struct ledger *l = ledger_new(&e);
	struct note n = {0};
	uint64_t zero = 0;

	put(l, &n, NOTE_INODE, "text");
	/* the kind and length of the entry: behind its serial and key */
	assert_int_equal(
		pwrite(ledger_fd(l), "\xff\xff\xff\xff\xff\xff\xff\xff", 8, (off_t)n.at * 64 + 16),
		8);
	assert_null(former_read(ledger_fd(l), &e));
	assert_non_null(strstr(e.msg, "damaged"));
	e = (struct err){0};
	assert_int_equal(pwrite(ledger_fd(l), &zero, 8, 0), 8);
	assert_null(former_read(ledger_fd(l), &e));
	assert_non_null(strstr(e.msg, "damaged"));
	e = (struct err){0};
	assert_null(former_read(0, &e));
	assert_non_null(strstr(e.msg, "cannot be read"));
	ledger_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes_come_back_in_the_order_of_making),
		cmocka_unit_test(test_words_change_in_place),
		cmocka_unit_test(test_no_ledger_is_accepted),
		cmocka_unit_test(test_a_note_that_is_too_long_ends_the_trust),
		cmocka_unit_test(test_many_notes_share_chunks),
		cmocka_unit_test(test_a_killed_writer_leaves_whole_notes),
		cmocka_unit_test(test_a_damaged_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/answers: answers of one run, and their use in the next run.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "contrib/serve/state/answers.h"
#include "transport/clock.h"

static char dir[64], path[80];
static uint64_t later_ns;

uint64_t __real_clock_coarse_ns(void);
uint64_t __wrap_clock_coarse_ns(void);
uint64_t __wrap_clock_coarse_ns(void)
{
	return __real_clock_coarse_ns() + later_ns;
}

static int setup(void **state)
{
	later_ns = 0;
	snprintf(dir, sizeof(dir), "/tmp/rnfs-answers.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/record", dir);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return rmdir(dir);
}

static struct answers *next_run(struct answers *a)
{
	answers_free(a);
	a = answers_new(path);
	assert_non_null(a);
	return a;
}

static void keep(struct answers *a, const char *key, const char *reply)
{
	answers_keep(a, key, strlen(key), 5, 3, reply, strlen(reply));
}

static bool finds(struct answers *a, const char *key, const char *reply)
{
	struct answer out;

	return answers_find(a, key, strlen(key), &out) && out.len == strlen(reply) &&
	       memcmp(out.reply, reply, out.len) == 0 && out.sum == 5 && out.summed == 3;
}

static void the_next_run_knows_the_answer(void **state)
{
	struct answers *a = next_run(NULL);
	uint8_t secret[ANSWERS_SECRET], same[ANSWERS_SECRET];
	struct answer out;

	answers_secret(a, secret);
	keep(a, "one", "first");
	keep(a, "two", "second");
	assert_false(answers_find(a, "one", 3, &out)); /* a run does not find its own answers */
	a = next_run(a);
	assert_true(finds(a, "one", "first") && finds(a, "two", "second"));
	assert_false(answers_find(a, "on", 2, &out));
	a = next_run(a); /* nor does a run forget unused answers */
	assert_true(finds(a, "one", "first"));
	answers_secret(a, same);
	assert_memory_equal(secret, same, sizeof(secret));
	answers_free(a);
}

static void the_latest_answer_counts(void **state)
{
	struct answers *a = next_run(NULL);

	keep(a, "one", "it worked");
	keep(a, "one", "it did not last");
	a = next_run(a);
	assert_true(finds(a, "one", "it did not last"));
	answers_free(a);
}

static void the_oldest_give_way(void **state)
{
	struct answers *a = next_run(NULL);
	struct answer out;
	char key[16];

	keep(a, "one", "first");
	a = next_run(a);
	for (int i = 0; i < ANSWERS_MAX - 1; i++) {
		snprintf(key, sizeof(key), "%d", i);
		keep(a, key, "next");
	}
	assert_true(finds(a, "one", "first"));
	keep(a, "last", "next");
	assert_false(answers_find(a, "one", 3, &out));
	a = next_run(a);
	assert_true(finds(a, "0", "next") && finds(a, "last", "next"));
	answers_free(a);
}

static void an_old_answer_is_not_given(void **state)
{
	struct answers *a = next_run(NULL);
	struct answer out;

	keep(a, "one", "first");
	a = next_run(a);
	later_ns = (ANSWERS_AGE_S + 1) * NSEC_PER_SEC;
	assert_false(answers_find(a, "one", 3, &out));
	answers_free(a);
}

static void what_is_too_long_is_not_kept(void **state)
{
	static const uint8_t reply[ANSWERS_LEN + 1];
	struct answers *a = next_run(NULL);
	struct answer out;

	answers_keep(a, "one", 3, 5, 3, reply, sizeof(reply));
	answers_keep(a, "two", 3, 5, 3, reply, ANSWERS_LEN);
	answers_keep(NULL, "two", 3, 5, 3, reply, 1);
	assert_false(answers_find(NULL, "two", 3, &out));
	a = next_run(a);
	assert_false(answers_find(a, "one", 3, &out));
	assert_true(answers_find(a, "two", 3, &out));
	answers_free(a);
}

/* The server was killed in the middle of a store, or the file is damaged. */
static void a_torn_answer_is_not_given(void **state)
{
	struct answers *a = next_run(NULL);
	struct answer out;
	char found[8];
	int fd;

	keep(a, "one", "unique reply");
	answers_free(a);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	for (off_t at = 0;; at++) {
		assert_int_equal(pread(fd, found, 6, at), 6);
		if (memcmp(found, "unique", 6) != 0)
			continue;
		assert_int_equal(pwrite(fd, "U", 1, at), 1);
		break;
	}
	close(fd);
	a = next_run(NULL);
	assert_false(answers_find(a, "one", 3, &out));
	answers_free(a);
}

#define ON_PATH(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_PATH(the_next_run_knows_the_answer),
		ON_PATH(the_latest_answer_counts),
		ON_PATH(the_oldest_give_way),
		ON_PATH(an_old_answer_is_not_given),
		ON_PATH(what_is_too_long_is_not_kept),
		ON_PATH(a_torn_answer_is_not_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

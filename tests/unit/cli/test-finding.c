/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/finding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "cli/finding.h"

static char *text;
static size_t size;
static struct findings f;

static int setup(void **state)
{
	findings_init(&f, open_memstream(&text, &size));
	return f.out ? 0 : -1;
}

static int teardown(void **state)
{
	fclose(f.out);
	free(text);
	return 0;
}

static void each_finding_is_a_line(void **state)
{
	finding(&f, FINDING_OK, "thing", "%d of %d", 1, 2);
	finding(&f, FINDING_FAIL, "other", "broken");
	assert_string_equal(text, "ok    thing: 1 of 2\nFAIL  other: broken\n");
}

static void a_peer_cannot_forge_a_line(void **state)
{
	finding(&f, FINDING_NOTE, "export", "name\nok    rights: all\033[2J");
	assert_string_equal(text, "note  export: name%0Aok    rights: all%1B[2J\n");
}

static void a_long_sentence_is_cut(void **state)
{
	char *name = malloc(5000);

	memset(name, 'x', 4999);
	name[4999] = 0;
	finding(&f, FINDING_OK, "thing", "%s", name);
	free(name);
	assert_in_range(size, 900, 1100);
	assert_int_equal(text[size - 1], '\n');
}

static void a_failure_decides_the_status(void **state)
{
	finding(&f, FINDING_OK, "a", "a");
	finding(&f, FINDING_WARN, "b", "b");
	assert_int_equal(findings_end(&f), 0);
	fflush(f.out);
	assert_non_null(strstr(text, "0 failures, 1 warning\n"));
	finding(&f, FINDING_FAIL, "c", "c");
	assert_int_equal(findings_end(&f), 1);
	fflush(f.out);
	assert_non_null(strstr(text, "1 failure, 1 warning\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_finding_is_a_line, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_cannot_forge_a_line, setup, teardown),
		cmocka_unit_test_setup_teardown(a_long_sentence_is_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failure_decides_the_status, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/sidecar: the command line. A child process is the mounter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/handover.h"
#include "cli/sidecar.h"

static char dir[] = "/tmp/rnfs-sidecar-XXXXXX", path[100];

/* Takes one connection, says "busy", takes another, gives the descriptor, and hears the verdict. */
__attribute__((noreturn)) static void be_mounter(int listener)
{
	struct handover h = {.fd = 1, .pidns = handover_pidns()};
	char sentence[HANDOVER_SENTENCE];
	int s = accept(listener, NULL, NULL);

	strcpy(h.source, "server:/data");
	strcpy(h.options, "ro,port=1");
	strcpy(h.directory, "/vol");
	handover_send_busy(s);
	close(s);
	s = accept(listener, NULL, NULL);
	handover_send(s, &h);
	if (handover_hear(s, sentence) != HANDOVER_READY)
		_exit(1);
	if (handover_hear(s, sentence) != HANDOVER_FAILED || strcmp(sentence, "one"))
		_exit(2);
	_exit(handover_hear(s, sentence) == HANDOVER_ENDED ? 0 : 3);
}

static pid_t start_mounter(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	pid_t child;

	strcpy(at.sun_path, path);
	assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(s, 2), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		be_mounter(s);
	close(s);
	return child;
}

/* A command line that may be changed. */
static char **line(const char *const *words, int *argc)
{
	static char *argv[16];

	for (*argc = 0; words[*argc]; ++*argc)
		argv[*argc] = (char *)words[*argc];
	argv[*argc] = NULL;
	return argv;
}

#define LINE(argc, ...) line((const char *const[]){__VA_ARGS__, NULL}, (argc))

static void others_are_left_alone(void **state)
{
	struct err e = {0};
	int argc;
	char **argv = LINE(&argc, "rnfs", "-f", "s:/", "--", "--fd-from"), **at = argv;

	assert_int_equal(sidecar_begin(&argc, &at, &e), 0);
	assert_ptr_equal(at, argv);
	assert_int_equal(argc, 5);
	assert_null(sidecar_directory());
	sidecar_tell("nobody is there");
}

static void is_refused(char **argv, int argc, const char *because)
{
	struct err e = {0};

	assert_int_equal(sidecar_begin(&argc, &argv, &e), -1);
	assert_non_null(strstr(e.msg, because));
}

static void wrong_lines_are_refused(void **state)
{
	char long_path[200];
	int argc;

	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = 0;
	is_refused(LINE(&argc, "rnfs", "-f", "--fd-from"), 3, "needs a value");
	is_refused(LINE(&argc, "rnfs", "--fd-from=", "-f"), 3, "needs a value");
	is_refused(LINE(&argc, "rnfs", "--fd-from", long_path), 3, "bytes at most");
}

static void what_is_given_comes_last(void **state)
{
	static const char *const want[] = {
		"rnfs", "-o", "rw", "-f", "-o", "ro,port=1", "--", "server:/data"};
	struct err e = {0};
	int argc, status;
	char **at = LINE(&argc, "rnfs", "-o", "rw", "--fd-from", path, "-f");
	pid_t child = start_mounter();

	if (sidecar_begin(&argc, &at, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(argc, 9);
	for (int i = 0; i < 8; i++)
		assert_string_equal(at[i], want[i]);
	assert_int_equal(strncmp(at[8], "/dev/fd/", 8), 0);
	assert_null(at[9]);
	free(at);
	assert_string_equal(sidecar_directory(), "/vol");
	assert_false(sidecar_is_foreign());
	sidecar_tell(NULL);
	sidecar_tell("one");
	sidecar_tell("and no more");
	/* the connection ends with the process */
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int begin(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/s", dir);
	return 0;
}

static int end(void **state)
{
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_are_left_alone),
		cmocka_unit_test(wrong_lines_are_refused),
		cmocka_unit_test(what_is_given_comes_last),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

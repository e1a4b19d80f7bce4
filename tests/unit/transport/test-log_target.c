/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/log_target: a directory stands for the system's root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "transport/log.h"

static char root[] = "/tmp/rnfs-log-XXXXXX";
static char where[PATH_MAX], want[100];
static int real_stderr;

uid_t __wrap_geteuid(void);

uid_t __wrap_geteuid(void)
{
	return 1000;
}

static bool dup3_fails;
int __real_dup3(int from, int to, int flags);
int __wrap_dup3(int from, int to, int flags);

int __wrap_dup3(int from, int to, int flags)
{
	if (!dup3_fails)
		return __real_dup3(from, to, flags);
	errno = EMFILE;
	return -1;
}

static const char *in_root(const char *name)
{
	snprintf(want, sizeof(want), "%s/%s", root, name);
	return want;
}

static void make_dirs(const char *name)
{
	char command[sizeof(want) + 20];

	snprintf(command, sizeof(command), "mkdir -p '%s'", in_root(name));
	assert_int_equal(system(command), 0);
}

static int listen_at(const char *name, int type)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, type, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", in_root(name));
	assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof(at)), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(s, 1), 0);
	return s;
}

static void set_stderr(int file)
{
	dup2(file, STDERR_FILENO);
	close(file);
}

static int begin(void **state)
{
	strcpy(root, "/tmp/rnfs-log-XXXXXX");
	assert_non_null(mkdtemp(root));
	make_dirs("dev");
	make_dirs("proc/1/fd");
	make_dirs("run/systemd/journal");
	setenv("HOME", "/home/me", 1);
	unsetenv("XDG_STATE_HOME");
	real_stderr = dup(STDERR_FILENO);
	set_stderr(open("/dev/null", O_RDWR));
	return 0;
}

static int end(void **state)
{
	char command[100];

	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void what_listens_comes_first(void **state)
{
	int s = listen_at("run/systemd/journal/socket", SOCK_DGRAM), t;

	set_stderr(open(in_root("own"), O_CREAT | O_WRONLY, 0600));
	assert_int_equal(log_target_find(root, where), LOG_TO_JOURNAL);
	t = listen_at("dev/log", SOCK_DGRAM);
	assert_int_equal(log_target_find(root, where), LOG_TO_SYSLOG);
	close(t); /* the socket is there, without a listener */
	assert_int_equal(log_target_find(root, where), LOG_TO_JOURNAL);
	close(s);
	assert_int_equal(log_target_find(root, where), LOG_TO_STDERR);
	unlink(in_root("dev/log"));
	t = listen_at("dev/log", SOCK_STREAM);
	assert_int_equal(log_target_find(root, where), LOG_TO_SYSLOG);
	close(t);
}

/* A program that reads the pipe to the end would wait for the daemon, but a container's runtime
 * reads until process 1 has ended. */
static void a_pipe_is_kept_if_it_is_a_containers(void **state)
{
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	set_stderr(fd[1]);
	assert_int_equal(log_target_find(root, where), LOG_TO_FILE);
	assert_string_equal(where, in_root("home/me/.local/state/rnfs/log"));
	assert_int_equal(symlink("/proc/self/fd/2", in_root("proc/1/fd/2")), 0);
	assert_int_equal(log_target_find(root, where), LOG_TO_STDERR);
	close(fd[0]);
}

static void the_containers_log_is_better_than_a_file(void **state)
{
	int fd[2];

	assert_int_equal(mkfifo(in_root("proc/1/fd/2"), 0600), 0);
	fd[0] = open(want, O_RDONLY | O_NONBLOCK);
	assert_int_equal(log_target_find(root, where), LOG_TO_FILE);
	assert_string_equal(where, in_root("proc/1/fd/2"));
	close(fd[0]); /* the pipe has no reader */
	assert_int_equal(log_target_find(root, where), LOG_TO_FILE);
	assert_string_equal(where, in_root("home/me/.local/state/rnfs/log"));
}

/* Neither a terminal nor /dev/null keeps a line. */
static void other_devices_are_not_a_log(void **state)
{
	assert_int_equal(symlink("/dev/full", in_root("proc/1/fd/2")), 0);
	assert_int_equal(log_target_find(root, where), LOG_TO_FILE);
	assert_string_equal(where, in_root("home/me/.local/state/rnfs/log"));
}

static void without_any_place_it_stays(void **state)
{
	unsetenv("HOME");
	assert_int_equal(log_target_find(root, where), LOG_TO_STDERR);
}

static void a_file_that_has_grown_is_put_aside(void **state)
{
	struct stat st;

	assert_int_equal(log_target_find(root, where), LOG_TO_FILE);
	assert_int_equal(truncate(where, 1 << 20), 0);
	assert_int_equal(log_target_find(root, where), LOG_TO_FILE);
	assert_int_equal(stat(where, &st), 0);
	assert_int_equal(st.st_size, 1 << 20);
	assert_int_equal(truncate(where, (1 << 20) + 1), 0);
	assert_int_equal(log_target_find(root, where), LOG_TO_FILE);
	assert_int_equal(stat(where, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(in_root("home/me/.local/state/rnfs/log.old"), &st), 0);
	assert_int_equal(st.st_size, (1 << 20) + 1);
}

static void words_are_understood(void **state)
{
	struct log_choice c = {0};
	char path[PATH_MAX + 10];

	assert_true(log_choice_target(&c, "/var/log/x"));
	assert_int_equal(c.to, LOG_TO_FILE);
	assert_string_equal(c.file, "/var/log/x");
	assert_true(log_choice_target(&c, "journal"));
	assert_int_equal(c.to, LOG_TO_JOURNAL);
	assert_string_equal(c.file, "");
	assert_false(log_choice_target(&c, "x.log"));
	assert_false(log_choice_target(&c, ""));
	memset(path, '/', sizeof(path));
	path[sizeof(path) - 1] = 0;
	assert_false(log_choice_target(&c, path));
	assert_true(log_choice_form(&c, "json") && c.json);
	assert_true(log_choice_form(&c, "text") && !c.json);
	assert_false(log_choice_form(&c, "xml"));
}

/* --- writing ---------------------------------------------------------------------------------- */

static unsigned lines(const char *name, const char *like)
{
	FILE *f = fopen(name, "r");
	char line[LOG_ENTRY_MAX];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, like) != NULL;
	fclose(f);
	return n;
}

static void log_to(const char *word, bool json)
{
	struct log_choice c = {.json = json};
	char said[LOG_TARGET_SAID];

	assert_true(log_choice_target(&c, word));
	assert_int_equal(log_target_open(&c, NULL), 0);
	log_init("test", LOG_L_INFO);
	log_begin(&c, true, said);
	assert_string_equal(said, "");
}

static void a_moved_file_is_left_when_told(void **state)
{
	char file[sizeof(want)], moved[sizeof(want)];

	strcpy(file, in_root("a.log"));
	strcpy(moved, in_root("a.log.1"));
	log_to(file, false);
	log_always_info("one");
	assert_int_equal(rename(file, moved), 0);
	log_always_info("two");
	log_reopen();
	log_always_info("three");
	assert_int_equal(lines(moved, "Z test["), 2);
	assert_int_equal(lines(moved, "] info: two\n"), 1);
	assert_int_equal(lines(file, "] info: three\n"), 1);
	assert_int_equal(lines(file, ""), 1);
	dup3_fails = true;
	assert_false(log_target_reopen());
	assert_int_equal(errno, EMFILE);
	dup3_fails = false;
	/* the file cannot be opened any more: the open descriptor serves */
	assert_int_equal(unlink(file), 0);
	assert_int_equal(mkdir(file, 0700), 0);
	log_reopen();
	log_always_info("four");
	log_to("stderr", false);
}

static void what_could_not_be_written_is_counted(void **state)
{
	struct rlimit was, none;
	char file[sizeof(want)];

	strcpy(file, in_root("b.log"));
	log_to(file, true);
	log_always_info("one");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	none = (struct rlimit){1, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	log_always_info("two");
	log_always_info("three");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	log_always_info("four");
	assert_int_equal(lines(file, ""), 3);
	assert_int_equal(lines(file, "\"level\":\"warning\""), 1);
	assert_int_equal(lines(file, "\"message\":\"2 lines of the log could not be written"), 1);
	assert_int_equal(lines(file, "\"message\":\"four\""), 1);
	log_to("stderr", false);
}

static void a_line_begins_after_a_torn_one(void **state)
{
	struct rlimit was, little;
	char file[sizeof(want)];
	struct stat st;

	strcpy(file, in_root("c.log"));
	log_to(file, true);
	log_always_info("one");
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	little = (struct rlimit){(rlim_t)st.st_size + 5, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	log_always_info("two");
	log_always_info("three");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	log_always_info("four");
	assert_int_equal(lines(file, ""), 4);
	assert_int_equal(lines(file, "}\n"), 3);
	assert_int_equal(lines(file, "\"message\":\"2 lines of the log could not be written"), 1);
	log_to("stderr", false);
}

static void what_cannot_be_opened_is_told(void **state)
{
	struct log_choice c = {0};
	struct err e = {0};

	assert_true(log_choice_target(&c, in_root("nowhere/x.log")));
	assert_int_equal(log_target_open(&c, &e), -1);
	assert_non_null(strstr(e.msg, "nowhere/x.log cannot be opened (No such file"));
	c.to = LOG_TO_JOURNAL;
	c.json = true;
	e = (struct err){0};
	assert_int_equal(log_target_open(&c, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
}

static void a_log_in_the_mount_is_found(void **state)
{
	struct log_choice c = {0};
	char dir[sizeof(want)];

	make_dirs("mnt/sub");
	make_dirs("mnt2");
	assert_int_equal(symlink("mnt/sub", in_root("link")), 0);
	strcpy(dir, in_root("mnt"));
	assert_true(log_choice_target(&c, in_root("mnt/x")));
	assert_true(log_target_is_in(&c, dir));
	assert_true(log_choice_target(&c, in_root("link/x")));
	assert_true(log_target_is_in(&c, dir));
	assert_true(log_choice_target(&c, in_root("mnt2/x")));
	assert_false(log_target_is_in(&c, dir));
	assert_true(log_choice_target(&c, "stderr"));
	assert_false(log_target_is_in(&c, dir));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_listens_comes_first),
		TEST(a_pipe_is_kept_if_it_is_a_containers),
		TEST(the_containers_log_is_better_than_a_file),
		TEST(other_devices_are_not_a_log),
		TEST(without_any_place_it_stays),
		TEST(a_file_that_has_grown_is_put_aside),
		TEST(words_are_understood),
		TEST(a_moved_file_is_left_when_told),
		TEST(what_could_not_be_written_is_counted),
		TEST(a_line_begins_after_a_torn_one),
		TEST(what_cannot_be_opened_is_told),
		TEST(a_log_in_the_mount_is_found),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

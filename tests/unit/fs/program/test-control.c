/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/program/control and of the peer, cli/contact: a mount without a kernel, and a
 * runtime directory of the test. The test of each module needs the other, so both tests share a
 * file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/contact.h"
#include "cli/runtime_dir.h"
#include "fs/program/control.h"
#include "tests/unit/fs/fs-fixture.h"
#include "transport/log.h"

#define OTHER_USER 65534
#define WAIT_MS	   60000

static char dir[RUNTIME_DIR_MAX];
static struct fs *fs;

int __wrap_runtime_dir_make(char path[RUNTIME_DIR_MAX], struct err *e);

int __wrap_runtime_dir_make(char path[RUNTIME_DIR_MAX], struct err *e)
{
	if (!dir[0])
		return err_set(e, ERR_INTERNAL, "no place");
	strcpy(path, dir);
	return 0;
}

static int setup(void **state)
{
	static char source[] = "server:/export";

	strcpy(dir, "/tmp/rnfs-test.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	fs = fs_fixture_new();
	fs->mountpoint = "/a mount";
	fs_fixture_options.source = source;
	return 0;
}

static unsigned sockets(void)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(d)))
		n += entry->d_name[0] != '.';
	closedir(d);
	return n;
}

static int teardown(void **state)
{
	fs->control = control_free(fs->control);
	fs = fs_fixture_free(fs);
	return rmdir(dir);
}

static void socket_path(char path[RUNTIME_SOCKET_MAX], const char *name)
{
	snprintf(path, RUNTIME_SOCKET_MAX, "%.60s/%.20s" RUNTIME_SOCKET_END, dir, name);
}

static void own_path(char path[RUNTIME_SOCKET_MAX])
{
	char name[16];

	snprintf(name, sizeof(name), "%d", (int)getpid());
	socket_path(path, name);
}

static void start(void)
{
	struct err e = {0};

	assert_int_equal(control_start(fs, &e), 0);
	assert_non_null(fs->control);
}

static void reach(struct contact *c)
{
	char path[RUNTIME_SOCKET_MAX];

	own_path(path);
	assert_int_equal(contact_open(c, path), 0);
	assert_int_equal(c->uid, geteuid());
}

static void says_hello(void)
{
	struct ask a;
	struct contact c;
	struct err e = {0};
	bool named = false;
	char *line;

	ask_init(&a, ASK_HELLO);
	reach(&c);
	contact_ask(&c, &a);
	while ((line = contact_line(&c, WAIT_MS, &e)))
		named |= !strcmp(line, "is mountpoint /a%20mount");
	assert_true(c.ended && named);
	assert_null(contact_line(&c, WAIT_MS, &e));
	contact_close(&c);
	contact_close(&c);
}

static void a_mount_says_which_it_is(void **state)
{
	start();
	assert_int_equal(sockets(), 1);
	says_hello();
	says_hello();
	fs->control = control_free(fs->control);
	assert_int_equal(sockets(), 0);
}

static void without_a_directory_there_is_none(void **state)
{
	char kept = dir[0];
	struct err e = {0};

	dir[0] = 0;
	assert_int_equal(control_start(fs, &e), -1);
	assert_null(fs->control);
	assert_string_equal(e.msg, "no place");
	dir[0] = kept;
}

/* A bound socket, with a listener if fd is not NULL. */
static void leave_socket(const char *path, int *fd)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(at.sun_path, path);
	assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof(at)), 0);
	if (fd) {
		assert_int_equal(listen(s, 1), 0);
		*fd = s;
	} else {
		close(s);
	}
}

static void make_old(const char *path)
{
	struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
}

static void sockets_of_the_dead_go(void **state)
{
	char own[RUNTIME_SOCKET_MAX], dead[RUNTIME_SOCKET_MAX], live[RUNTIME_SOCKET_MAX];
	char young[RUNTIME_SOCKET_MAX], other[RUNTIME_SOCKET_MAX];
	FILE *f;
	int fd;

	own_path(own);
	socket_path(dead, "dead");
	socket_path(live, "live");
	socket_path(young, "young");
	socket_path(other, "file");
	leave_socket(own, NULL); /* left by an earlier process with the same number */
	leave_socket(dead, NULL);
	make_old(dead);
	leave_socket(young, NULL);
	leave_socket(live, &fd);
	make_old(live);
	f = fopen(other, "w");
	fclose(f);
	make_old(other);
	start();
	assert_int_equal(access(dead, F_OK), -1);
	assert_int_equal(access(young, F_OK), 0);
	assert_int_equal(access(live, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	says_hello();
	close(fd);
	unlink(young);
	unlink(live);
	unlink(other);
}

static void a_name_that_is_taken_is_left_alone(void **state)
{
	char own[RUNTIME_SOCKET_MAX];
	int fd;

	own_path(own);
	leave_socket(own, &fd);
	start();
	assert_int_equal(sockets(), 2);
	fs->control = control_free(fs->control);
	assert_int_equal(sockets(), 1);
	close(fd);
	unlink(own);
}

static void refused(const char *bytes, size_t len, const char *sentence)
{
	struct contact c;
	struct err e = {0};

	reach(&c);
	assert_int_equal(send(c.fd, bytes, len, MSG_NOSIGNAL), len);
	assert_null(contact_line(&c, WAIT_MS, &e));
	assert_false(c.ended);
	assert_true(strstr(e.msg, sentence));
	contact_close(&c);
}

static void odd_requests_are_refused(void **state)
{
	char many[10 * ASK_MAX];

	start();
	refused("dance\n", 6, "does not know");
	refused("hello hello\n", 12, "a word that");
	refused("top rows=0\n", 11, "a word that");
	refused("hel\0o\n", 6, "a NUL");
	memset(many, 'x', sizeof(many));
	refused(many, sizeof(many), "too long");
	says_hello();
}

static void a_request_may_come_in_pieces(void **state)
{
	struct contact c;
	struct err e = {0};

	start();
	reach(&c);
	for (const char *p = "hello\n"; *p; p++) {
		assert_int_equal(send(c.fd, p, 1, MSG_NOSIGNAL), 1);
		usleep(2000);
	}
	assert_non_null(contact_line(&c, WAIT_MS, &e));
	contact_close(&c);
}

/* Peers that say nothing, and peers that read nothing: more than there are places. */
static void idle_peers_hold_up_nothing(void **state)
{
	struct contact c[3 * CONTROL_CONNS];
	struct ask a;

	ask_init(&a, ASK_HELLO);
	start();
	for (unsigned i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		reach(&c[i]);
		if (i % 2)
			contact_ask(&c[i], &a);
	}
	says_hello();
	for (unsigned i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		contact_close(&c[i]);
	says_hello();
}

static int ask_as_another(const char *path)
{
	struct ask a;
	struct contact c;
	struct err e = {0};

	ask_init(&a, ASK_HELLO);
	if (setuid(OTHER_USER) || contact_open(&c, path))
		return 2;
	contact_ask(&c, &a);
	return contact_line(&c, WAIT_MS, &e) || !strstr(e.msg, "only the user");
}

static void other_users_are_refused(void **state)
{
	char path[RUNTIME_SOCKET_MAX];
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		skip();
		return;
	}
	start();
	own_path(path);
	/* the modes would refuse other users, too */
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(path, 0666), 0);
	pid = fork();
	if (!pid)
		_exit(ask_as_another(path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	says_hello();
}

static const char *log_level(unsigned level)
{
	static struct contact c;
	struct err e = {0};
	struct ask a;
	char *line;

	ask_init(&a, ASK_LOG_LEVEL);
	a.level = level;
	reach(&c);
	contact_ask(&c, &a);
	line = contact_line(&c, WAIT_MS, &e);
	assert_non_null(line);
	contact_close(&c);
	return line;
}

static void the_log_level_is_told_and_set(void **state)
{
	int before = log_max_level;

	start();
	log_set_level(LOG_L_INFO);
	assert_string_equal(log_level(0), "level info");
	for (int i = LOG_L_ERROR; i <= LOG_L_DATA; i++) {
		log_level((unsigned)i + 1);
		assert_int_equal(log_max_level, i);
		assert_int_equal(log_level_of(log_level_name(i)), i);
	}
	assert_string_equal(log_level(0), "level data");
	assert_int_equal(log_level_of("much"), -1);
	log_set_level(before);
}

/* --- connections with a listening command ----------------------------------------------------- */

static void ask_top(struct contact *c)
{
	struct ask a;

	ask_init(&a, ASK_TOP);
	a.interval_ms = 100;
	reach(c);
	contact_ask(c, &a);
}

/* An event as a worker makes it, unless no command listens. */
static bool happens(const char *path)
{
	struct trace_event *e;

	if (!trace_is_on(&fs->trace))
		return false;
	e = trace_place(&fs->trace);
	if (!e)
		return false;
	*e = (struct trace_event){.turn = e->turn, .pid = 1, .comm = "test", .took_ns = 5};
	snprintf(e->path, sizeof(e->path), "%s", path);
	trace_put(e);
	return true;
}

/* Reads lines until one begins with `begin`, and returns that line. */
static const char *reads(struct contact *c, const char *begin)
{
	struct err e = {0};
	char *line;

	while ((line = contact_line(c, WAIT_MS, &e)))
		if (!strncmp(line, begin, strlen(begin)))
			return line;
	fail_msg("no line %s: %s", begin, e.msg);
	return NULL;
}

static void wait_until_on(bool on)
{
	for (unsigned ms = 0; ms < WAIT_MS && trace_is_on(&fs->trace) != on; ms++)
		usleep(1000);
	assert_true(trace_is_on(&fs->trace) == on);
}

static void the_busiest_are_told_again_and_again(void **state)
{
	struct contact c;

	start();
	assert_false(happens("/before"));
	ask_top(&c);
	wait_until_on(true);
	assert_true(happens("/one"));
	reads(&c, "file /one 1 ");
	reads(&c, "end ");
	assert_true(happens("/two"));
	reads(&c, "file /two 1 ");
	contact_close(&c);
	wait_until_on(false);
	assert_false(happens("/after"));
}

static void ask_trace(struct contact *c, unsigned errors)
{
	struct ask a;

	ask_init(&a, ASK_TRACE);
	a.errors = errors;
	reach(c);
	contact_ask(c, &a);
	wait_until_on(true);
	usleep(50000); /* both events, if there are two */
}

static void each_request_is_told(void **state)
{
	struct contact all, errors;
	struct trace_event *e;

	start();
	ask_trace(&all, 0);
	ask_trace(&errors, 1);
	assert_true(happens("/good"));
	e = trace_place(&fs->trace);
	*e = (struct trace_event){.turn = e->turn, .error = -EACCES, .path = "/bad"};
	trace_put(e);
	assert_true(strstr(reads(&all, "event "), " 1 test % /good 0 0 0 0 5 0"));
	assert_true(strstr(reads(&all, "event "), " 0 % % /bad 0 0 0 13 0 0"));
	assert_true(strstr(reads(&errors, "event "), " 0 % % /bad 0 0 0 13 0 0"));
	contact_close(&all);
	contact_close(&errors);
	wait_until_on(false);
}

/* A peer that stops reading for a while is told how many events were left out, and goes on. */
static void lost_events_are_told(void **state)
{
	char path[TRACE_PATH];
	struct contact c;

	start();
	memset(path, '%', sizeof(path));
	path[sizeof(path) - 1] = 0;
	ask_trace(&c, 0);
	for (unsigned i = 0; i < 100; i++) {
		for (unsigned n = 0; n < 100; n++)
			happens(path);
		usleep(1000);
	}
	reads(&c, "lost ");
	contact_close(&c);
	says_hello();
	wait_until_on(false);
}

static void too_many_listeners_are_refused(void **state)
{
	struct contact c[CONTROL_TOPS], more;
	struct err e = {0};

	start();
	for (unsigned i = 0; i < CONTROL_TOPS; i++) {
		ask_top(&c[i]);
		reads(&c[i], "end ");
	}
	ask_top(&more);
	assert_null(contact_line(&more, WAIT_MS, &e));
	assert_true(strstr(e.msg, "try again later"));
	contact_close(&more);
	says_hello();
	for (unsigned i = 0; i < CONTROL_TOPS; i++) {
		reads(&c[i], "end ");
		contact_close(&c[i]);
	}
	wait_until_on(false);
	ask_top(&more);
	reads(&more, "end ");
	contact_close(&more);
}

/* --- the client ------------------------------------------------------------------------------- */

/* The message of a contact about a daemon that answers these bytes, and hangs up if told. */
static const char *answered(const char *bytes, size_t len, bool hangs_up, struct contact *c)
{
	static struct err e;
	int pair[2];

	e = (struct err){0};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	*c = (struct contact){.fd = pair[0]};
	assert_int_equal(send(pair[1], bytes, len, 0), len);
	if (hangs_up)
		close(pair[1]);
	while (contact_line(c, 50, &e))
		;
	contact_close(c);
	if (!hangs_up)
		close(pair[1]);
	return e.msg;
}

static void a_client_waits_for_no_answer_for_ever(void **state)
{
	static char many[2 * ANSWER_LINE_MAX];
	struct contact c;

	assert_true(strstr(answered("ok\na", 4, false, &c), "may be stopped"));
	assert_true(strstr(answered("ok\na", 4, true, &c), "closed the connection"));
	assert_true(strstr(answered("error it is a\x1b\n", 15, true, &c), "it is a%1B"));
	memset(many, 'x', sizeof(many));
	assert_true(strstr(answered(many, sizeof(many), true, &c), "too long"));
	assert_string_equal(answered("ok\na\n.\nmore", 11, true, &c), "");
	assert_true(c.ended);
}

static void a_socket_that_is_not_there(void **state)
{
	char path[RUNTIME_SOCKET_MAX], many[200];
	struct contact c;

	socket_path(path, "dead");
	assert_int_equal(contact_open(&c, path), -ENOENT);
	leave_socket(path, NULL);
	assert_int_equal(contact_open(&c, path), -ECONNREFUSED);
	unlink(path);
	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = 0;
	assert_int_equal(contact_open(&c, many), -ENAMETOOLONG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_mount_says_which_it_is),
		TEST(without_a_directory_there_is_none),
		TEST(sockets_of_the_dead_go),
		TEST(a_name_that_is_taken_is_left_alone),
		TEST(odd_requests_are_refused),
		TEST(a_request_may_come_in_pieces),
		TEST(idle_peers_hold_up_nothing),
		TEST(other_users_are_refused),
		TEST(the_log_level_is_told_and_set),
		TEST(the_busiest_are_told_again_and_again),
		TEST(each_request_is_told),
		TEST(lost_events_are_told),
		TEST(too_many_listeners_are_refused),
		TEST(a_client_waits_for_no_answer_for_ever),
		TEST(a_socket_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

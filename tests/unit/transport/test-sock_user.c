/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/sock_user. Peers are child processes, of other users where the test is
 * run by root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/sock_user.h"

static struct sockaddr_storage address(int family, const char *ip)
{
	struct sockaddr_storage ss = {.ss_family = (sa_family_t)family};
	void *to = family == AF_INET6 ? (void *)&((struct sockaddr_in6 *)&ss)->sin6_addr
				      : (void *)&((struct sockaddr_in *)&ss)->sin_addr;

	assert_int_equal(inet_pton(family, ip, to), 1);
	return ss;
}

static int listen_at(int family, const char *ip, struct sockaddr_storage *at)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*at);

	*at = address(family, ip);
	assert_true(fd >= 0);
	if (bind(fd, (struct sockaddr *)at, sizeof(*at)) < 0) {
		close(fd);
		return -1;
	}
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)at, &len), 0);
	return fd;
}

/* A process of user uid that has connected to at, from the address from if that is not NULL. The
 * process stays until *end is closed. */
static pid_t peer_of(uid_t uid, const struct sockaddr_storage *at, const char *from, int *end)
{
	int pipe_fd[2];
	pid_t pid;

	assert_int_equal(pipe(pipe_fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct sockaddr_storage own = {0};
		int fd;
		char c;

		close(pipe_fd[1]);
		if (getuid() != uid && setuid(uid) < 0)
			_exit(1);
		fd = socket(at->ss_family, SOCK_STREAM, 0);
		if (from) {
			own = address(at->ss_family, from);
			if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0)
				_exit(1);
		}
		if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0)
			_exit(1);
		_exit(read(pipe_fd[0], &c, 1) == 0 ? 0 : 1);
	}
	close(pipe_fd[0]);
	*end = pipe_fd[1];
	return pid;
}

static int accept_one(int listener)
{
	struct pollfd pfd = {.fd = listener, .events = POLLIN};
	int fd;

	assert_int_equal(poll(&pfd, 1, 20000), 1);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void end_peer(pid_t pid, int end)
{
	int status;

	close(end);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void expect_user(int family, const char *ip, const char *from, uid_t uid)
{
	struct sock_user u = {0};
	struct sockaddr_storage at;
	int l = listen_at(family, ip, &at), fd, end;
	pid_t pid = peer_of(uid, &at, from, &end);

	fd = accept_one(l);
	sock_user_of(fd, &u);
	assert_true(u.local);
	assert_true(u.known);
	assert_int_equal(u.uid, uid);
	end_peer(pid, end);
	close(fd);
	close(l);
}

static void test_owner(void **state)
{
	expect_user(AF_INET, "127.0.0.1", NULL, getuid());
	expect_user(AF_INET, "127.0.0.1", "127.0.0.2", getuid());
}

static void test_other_users(void **state)
{
	if (getuid() != 0)
		skip();
	for (uid_t uid = 1000; uid < 1003; uid++)
		expect_user(AF_INET, "127.0.0.1", NULL, uid);
}

static void test_ipv6(void **state)
{
	struct sockaddr_storage at;
	int l = listen_at(AF_INET6, "::1", &at);

	if (l < 0)
		skip();
	close(l);
	expect_user(AF_INET6, "::1", NULL, getuid());
	if (getuid() == 0)
		expect_user(AF_INET6, "::1", NULL, 1001);
}

/* A listener for both families sees IPv4 as mapped addresses; the peer may see mapped addresses,
 * too. */
static void test_mapped(void **state)
{
	uid_t uid = getuid() == 0 ? 1001 : getuid();
	struct sock_user u = {0};
	struct sockaddr_storage at, to;
	int l = listen_at(AF_INET6, "::", &at), fd, end;
	pid_t pid;

	if (l < 0)
		skip();
	for (int both = 0; both < 2; both++) {
		to = both ? address(AF_INET6, "::ffff:127.0.0.1") : address(AF_INET, "127.0.0.1");
		if (both)
			((struct sockaddr_in6 *)&to)->sin6_port =
				((struct sockaddr_in6 *)&at)->sin6_port;
		else
			((struct sockaddr_in *)&to)->sin_port =
				((struct sockaddr_in6 *)&at)->sin6_port;
		pid = peer_of(uid, &to, NULL, &end);
		fd = accept_one(l);
		sock_user_of(fd, &u);
		assert_true(u.local && u.known);
		assert_int_equal(u.uid, uid);
		end_peer(pid, end);
		close(fd);
	}
	close(l);
}

/* The owner of a closed or closing socket is not believed: the kernel may name root as the
 * owner. */
static void test_closed(void **state)
{
	struct sock_user u = {0};
	struct sockaddr_storage at;
	int l = listen_at(AF_INET, "127.0.0.1", &at), fd, end;
	pid_t pid = peer_of(getuid(), &at, NULL, &end);

	fd = accept_one(l);
	end_peer(pid, end); /* which waits for the process */
	sock_user_of(fd, &u);
	assert_true(u.local);
	assert_false(u.known);
	close(fd);
	close(l);
}

/* Another process listens at the port that the peer has left: that process is not the peer. */
static void test_port_reused(void **state)
{
	struct sockaddr_storage at, was;
	struct sock_user u = {0};
	socklen_t len = sizeof(was);
	int l = listen_at(AF_INET, "127.0.0.1", &at), c, fd = -1, other = -1, one = 1, bound = -1;

	for (int i = 0; i < 10 && bound != 0; i++) { /* another process may take the port */
		if (i) {
			close(other);
			close(fd);
		}
		c = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(c, (struct sockaddr *)&at, sizeof(at)), 0);
		assert_int_equal(getsockname(c, (struct sockaddr *)&was, &len), 0);
		fd = accept_one(l);
		setsockopt(c, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
			sizeof(struct linger));
		close(c);
		other = socket(AF_INET, SOCK_STREAM, 0);
		setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		bound = bind(other, (struct sockaddr *)&was, sizeof(struct sockaddr_in));
	}
	assert_int_equal(bound, 0);
	assert_int_equal(listen(other, 1), 0);
	sock_user_of(fd, &u);
	assert_false(u.known);
	close(other);
	close(fd);
	close(l);
}

static void test_addresses(void **state)
{
	struct sockaddr_storage ss = address(AF_INET, "127.9.8.7");
	struct sock_user u;

	assert_true(sock_user_loopback((struct sockaddr *)&ss));
	sock_user_at((struct sockaddr *)&ss, &u);
	assert_true(u.local && !u.known);
	ss = address(AF_INET6, "::1");
	assert_true(sock_user_loopback((struct sockaddr *)&ss));
	ss = address(AF_INET6, "::ffff:127.0.0.1");
	assert_true(sock_user_loopback((struct sockaddr *)&ss));
	ss = address(AF_INET, "0.0.0.0");
	assert_false(sock_user_loopback((struct sockaddr *)&ss));
	ss = address(AF_INET6, "::");
	assert_false(sock_user_loopback((struct sockaddr *)&ss));
	ss = address(AF_INET, "192.0.2.1"); /* of no machine: documentation */
	assert_false(sock_user_loopback((struct sockaddr *)&ss));
	sock_user_at((struct sockaddr *)&ss, &u);
	assert_false(u.local);
	ss.ss_family = AF_UNIX; /* an unknown family is not trusted */
	sock_user_at((struct sockaddr *)&ss, &u);
	assert_true(u.local && !u.known);
}

/* An address of this machine other than loopback is this machine all the same. */
static void test_own_address(void **state)
{
	struct sockaddr_storage ss = address(AF_INET, "192.0.2.1");
	socklen_t len = sizeof(ss);
	char ip[INET_ADDRSTRLEN];
	int fd = socket(AF_INET, SOCK_DGRAM, 0), rc;

	((struct sockaddr_in *)&ss)->sin_port = htons(9);
	rc = connect(fd, (struct sockaddr *)&ss, sizeof(ss)); /* sends nothing */
	if (rc == 0)
		rc = getsockname(fd, (struct sockaddr *)&ss, &len);
	close(fd);
	if (rc < 0)
		skip(); /* no network but loopback */
	inet_ntop(AF_INET, &((struct sockaddr_in *)&ss)->sin_addr, ip, sizeof(ip));
	expect_user(AF_INET, ip, NULL, getuid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_other_users),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_port_reused),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_own_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

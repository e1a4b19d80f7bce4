/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/dial. A silent address is a listener with a full queue: the kernel
 * drops further connections without an answer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "transport/dial.h"

#define FILLING	   3
#define PATIENT_MS 60000 /* longer than a test may take */

static struct dial_addr addr[DIAL_ADDRS_MAX];
static unsigned n;
static int open_fd[32];
static unsigned nopen;

static int reset(void **state)
{
	while (nopen)
		close(open_fd[--nopen]);
	n = 0;
	return 0;
}

static int keep(int fd)
{
	assert_true(fd >= 0);
	open_fd[nopen++] = fd;
	return fd;
}

/* A bound socket on 127.0.0.1. The socket's address is added to the addresses to try. */
static int add_bound(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = keep(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	socklen_t len = sizeof(in);

	assert_int_equal(bind(fd, (struct sockaddr *)&in, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	memset(&addr[n], 0, sizeof(addr[n]));
	memcpy(&addr[n].ss, &in, len);
	addr[n++].len = len;
	return fd;
}

static int add_listener(void)
{
	int fd = add_bound();

	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

static void add_refuser(void)
{
	add_bound();
}

static void add_silent(void)
{
	int fd = add_bound();

	assert_int_equal(listen(fd, 0), 0);
	for (int i = 0; i < FILLING; i++) {
		int full = keep(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));

		connect(full, (struct sockaddr *)&addr[n - 1].ss, addr[n - 1].len);
		poll(&(struct pollfd){.fd = full, .events = POLLOUT}, 1, i ? 0 : 5000);
	}
}

static int go(unsigned timeout_ms)
{
	struct dial d = {.addr = addr, .n = n, .timeout_ms = timeout_ms};

	return dial_any(&d);
}

static void is_connected_to(int fd, unsigned i)
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	keep(fd);
	assert_int_equal(getpeername(fd, (struct sockaddr *)&in, &len), 0);
	assert_memory_equal(&in, &addr[i].ss, sizeof(in));
	assert_ptr_equal(dial_chosen(addr, n), &addr[i]);
	assert_int_equal(addr[i].outcome, DIAL_CONNECTED);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void the_first_that_answers_is_taken(void **state)
{
	add_listener();
	add_listener();
	is_connected_to(go(PATIENT_MS), 0);
	assert_int_equal(addr[1].outcome, DIAL_UNTRIED);
}

static void one_that_refuses_is_passed_over(void **state)
{
	add_refuser();
	add_refuser();
	add_listener();
	is_connected_to(go(PATIENT_MS), 2);
	assert_int_equal(addr[0].outcome, ECONNREFUSED);
	assert_int_equal(addr[1].outcome, ECONNREFUSED);
}

static void one_that_is_silent_is_not_waited_for(void **state)
{
	add_silent();
	add_refuser();
	add_silent();
	add_listener();
	is_connected_to(go(PATIENT_MS), 3);
	assert_int_equal(addr[0].outcome, DIAL_UNTRIED);
	assert_int_equal(addr[1].outcome, ECONNREFUSED);
	assert_int_equal(addr[2].outcome, DIAL_UNTRIED);
}

static void silence_ends(void **state)
{
	add_silent();
	add_silent();
	assert_int_equal(go(400), -1);
	assert_int_equal(addr[0].outcome, ETIMEDOUT);
	assert_int_equal(addr[1].outcome, ETIMEDOUT);
	assert_ptr_equal(dial_chosen(addr, n), &addr[0]);
}

static void the_most_telling_failure_is_chosen(void **state)
{
	struct dial_addr a[4] = {{.outcome = DIAL_UNTRIED}, {.outcome = ENETUNREACH},
		{.outcome = ETIMEDOUT}, {.outcome = ECONNREFUSED}};

	assert_ptr_equal(dial_chosen(a, 4), &a[3]);
	assert_ptr_equal(dial_chosen(a, 3), &a[2]);
	assert_ptr_equal(dial_chosen(a, 2), &a[1]);
	assert_null(dial_chosen(a, 0));
	add_silent();
	add_refuser();
	assert_int_equal(go(400), -1);
	assert_ptr_equal(dial_chosen(addr, n), &addr[1]);
}

static void a_caller_can_end_it(void **state)
{
	int abort_fd = keep(eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
	struct dial d = {.addr = addr, .timeout_ms = PATIENT_MS, .abort_fd = abort_fd};

	add_silent();
	add_silent();
	d.n = n;
	assert_int_equal(dial_any(&d), -1);
	assert_int_equal(dial_chosen(addr, n)->outcome, ECANCELED);
}

static unsigned goes_seen;

static int bind_taken(void *ctx, int fd, int family, unsigned go_)
{
	assert_int_equal(family, AF_INET);
	goes_seen++;
	if (go_ + 1 < 3)
		return bind(fd, ctx, sizeof(struct sockaddr_in)) ? errno : 0;
	return 0;
}

static void a_port_that_is_taken_is_no_failure(void **state)
{
	struct dial d = {.addr = addr,
		.timeout_ms = PATIENT_MS,
		.prepare = bind_taken,
		.goes = 3,
		.ctx = &addr[0].ss};

	add_listener(); /* the port of the listener is taken */
	d.n = n;
	is_connected_to(dial_any(&d), 0);
	assert_int_equal(goes_seen, 3);
	d.goes = 2;
	assert_int_equal(dial_any(&d), -1);
	assert_int_equal(addr[0].outcome, EADDRINUSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_first_that_answers_is_taken, reset),
		cmocka_unit_test_teardown(one_that_refuses_is_passed_over, reset),
		cmocka_unit_test_teardown(one_that_is_silent_is_not_waited_for, reset),
		cmocka_unit_test_teardown(silence_ends, reset),
		cmocka_unit_test_teardown(the_most_telling_failure_is_chosen, reset),
		cmocka_unit_test_teardown(a_caller_can_end_it, reset),
		cmocka_unit_test_teardown(a_port_that_is_taken_is_no_failure, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

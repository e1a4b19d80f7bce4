/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit test of transport/silence: for how long a peer has owed an acknowledgement, by what the
 * kernel tells of the socket.
 */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "transport/clock.h"
#include "transport/silence.h"

#define FD	 4711
#define LIMIT_MS 800u

/* --- a socket --------------------------------------------------------------------------------- */

static struct tcp_info info; /* tcpi_last_ack_recv: set by lasts() */
static uint64_t heard_ms;    /* when the last acknowledgement came */
static int probes_s;	     /* TCP_KEEPIDLE */

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	assert_true(fd == FD && level == IPPROTO_TCP && name == TCP_INFO);
	assert_int_equal(*len, sizeof(info));
	memcpy(value, &info, sizeof(info));
	return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	assert_true(fd == FD && level == IPPROTO_TCP);
	if (name == TCP_KEEPIDLE)
		memcpy(&probes_s, value, sizeof(probes_s));
	return 0;
}

static bool lasts(struct silence *s, uint64_t now_ms)
{
	info.tcpi_last_ack_recv = (uint32_t)(now_ms - heard_ms);
	return silence_lasts(s, FD, now_ms * NSEC_PER_MSEC, LIMIT_MS);
}

static int setup(void **state)
{
	static struct silence s;

	s = (struct silence){0};
	info = (struct tcp_info){.tcpi_snd_wnd = 65536};
	heard_ms = 10000;
	probes_s = 0;
	*state = &s;
	return 0;
}

/* --- tests ------------------------------------------------------------------------------------ */

/* The server takes long over the call, but its kernel answers. */
static void a_peer_that_acknowledges_is_not_silent(void **state)
{
	struct silence *s = *state;

	for (uint64_t t = 10000; t < 20000; t += 125) {
		heard_ms = t / 1000 * 1000; /* the answer to a probe each second */
		assert_false(lasts(s, t));
	}
	assert_int_equal(probes_s, 1);
}

static void bytes_without_an_acknowledgement_count_from_the_first_look(void **state)
{
	struct silence *s = *state;

	info.tcpi_unacked = 1;
	assert_false(lasts(s, 60000)); /* the last acknowledgement came long before the call */
	assert_false(lasts(s, 60700));
	assert_false(lasts(s, 60800));
	assert_true(lasts(s, 60900));
	heard_ms = 60950;
	assert_false(lasts(s, 61000));
	assert_false(lasts(s, 61700));
	assert_false(lasts(s, 61800));
	assert_true(lasts(s, 61900));
}

/* A link of this machine is down; but not if the peer has no room. */
static void bytes_that_cannot_leave_count(void **state)
{
	struct silence *s = *state;

	info.tcpi_notsent_bytes = 100;
	assert_false(lasts(s, 60000));
	assert_false(lasts(s, 60800));
	assert_true(lasts(s, 60900));
	info.tcpi_snd_wnd = 0;
	assert_false(lasts(s, 61000));
	assert_false(lasts(s, 65000));
	assert_false(lasts(s, 66000));
}

static void probes_that_are_due_count(void **state)
{
	struct silence *s = *state;

	assert_false(lasts(s, 60000)); /* probes begin, and the first is due after a second */
	assert_false(lasts(s, 61000));
	assert_false(lasts(s, 61700));
	assert_false(lasts(s, 61850));
	assert_true(lasts(s, 61950));
}

/* A late look, and the calls have ended meanwhile: the next late look is the first of its silence.
 */
static void a_silence_ends_with_the_calls(void **state)
{
	struct silence *s = *state;

	info.tcpi_unacked = 1;
	assert_false(lasts(s, 60000));
	assert_false(lasts(s, 61000));
	assert_true(silence_rest(s));
	assert_false(silence_rest(s));
	assert_false(lasts(s, 62000));
	assert_false(lasts(s, 63000));
	assert_true(lasts(s, 63100));
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_peer_that_acknowledges_is_not_silent),
		TEST(bytes_without_an_acknowledgement_count_from_the_first_look),
		TEST(bytes_that_cannot_leave_count),
		TEST(probes_that_are_due_count),
		TEST(a_silence_ends_with_the_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/handover.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/handover.h"

static int mounter, sidecar;
static struct handover got;

static int begin(void **state)
{
	int s[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
	mounter = s[0];
	sidecar = s[1];
	return 0;
}

static int end(void **state)
{
	close(mounter);
	close(sidecar);
	return 0;
}

/* Sends n bytes and the descriptors. */
static void send_raw(const char *bytes, size_t n, const int *fds, unsigned nfds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control = {0};
	struct iovec iov = {(char *)bytes, n};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (nfds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		control.head.cmsg_len = CMSG_LEN(nfds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.head), fds, nfds * sizeof(int));
	}
	assert_int_equal(sendmsg(mounter, &m, 0), (ssize_t)n);
}

static unsigned open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void what_is_sent_is_received(void **state)
{
	struct handover h = {.fd = 1, .pidns = 4026531836};
	struct stat one, other;
	struct err e = {0};

	strcpy(h.source, "server:/data");
	strcpy(h.options, "proto=tcp,ro");
	strcpy(h.directory, "/vol");
	assert_int_equal(handover_send(mounter, &h), 0);
	assert_int_equal(handover_receive(sidecar, &got, &e), 0);
	assert_string_equal(got.source, h.source);
	assert_string_equal(got.options, h.options);
	assert_string_equal(got.directory, h.directory);
	assert_true(got.pidns == h.pidns);
	assert_int_equal(fcntl(got.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fstat(1, &one), 0);
	assert_int_equal(fstat(got.fd, &other), 0);
	assert_true(one.st_ino == other.st_ino && one.st_dev == other.st_dev);
	close(got.fd);
}

static void the_longest_fit(void **state)
{
	static struct handover h;

	h.fd = 1;
	h.pidns = ULONG_MAX;
	memset(h.source, 's', sizeof(h.source) - 1);
	memset(h.options, 'o', sizeof(h.options) - 1);
	memset(h.directory, 'd', sizeof(h.directory) - 1);
	assert_int_equal(handover_send(mounter, &h), 0);
	assert_int_equal(handover_receive(sidecar, &got, NULL), 0);
	assert_memory_equal(got.options, h.options, sizeof(h.options));
	assert_true(got.pidns == ULONG_MAX);
	close(got.fd);
}

static void a_busy_mounter_is_no_error(void **state)
{
	struct err e = {0};

	assert_int_equal(handover_send_busy(mounter), 0);
	assert_int_equal(handover_receive(sidecar, &got, &e), -1);
	assert_int_equal(e.kind, ERR_NONE);
}

#define PACKET(s) (s), sizeof(s)

/* No descriptor of a refused message stays open. */
static void what_is_not_understood_is_refused(void **state)
{
	static char long_field[PATH_MAX + 200], huge[4 * PATH_MAX];
	static const int fds[5] = {1, 1, 1, 1, 1};
	const struct {
		const char *bytes;
		size_t n;
		unsigned fds;
	} wrong[] = {
		{PACKET("rnfs-mountfd 1\0s:/\0\0/d\0001"), 0}, /* no descriptor */
		{PACKET("rnfs-mountfd 2\0s:/\0\0/d\0001"), 1},
		{PACKET("rnfs-mountfd 1\0s:/\0\0/d"), 1},
		{PACKET("rnfs-mountfd 1\0s:/\0\0/d\0"), 1},
		{PACKET("rnfs-mountfd 1\0s:/\0\0/d\0001x"), 1},
		{PACKET("rnfs-mountfd 1\0s:/\0\0/d\0-1"), 1},
		{PACKET("rnfs-mountfd 1\0s:/\0\0/d\00099999999999999999999"), 1},
		{PACKET("rnfs-mountfd 1\0s:/\0\0/d\0001\0more"), 1},
		{"rnfs-mountfd 1\0s:/\0\0/d\0001", sizeof("rnfs-mountfd 1\0s:/\0\0/d\0001") - 1, 1},
		{PACKET("busy"), 1},
		{PACKET(""), 1},
		{long_field, sizeof(long_field), 1},
		{huge, sizeof(huge), 1},
		/* more descriptors than there is room for */
		{PACKET("rnfs-mountfd 1\0s:/\0\0/d\0001"), 5},
	};
	unsigned before = open_files();

	memset(long_field, 'x', sizeof(long_field));
	memcpy(long_field, "rnfs-mountfd 1", sizeof("rnfs-mountfd 1"));
	memcpy(huge, "rnfs-mountfd 1", sizeof("rnfs-mountfd 1"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err e = {0};

		send_raw(wrong[i].bytes, wrong[i].n, fds, wrong[i].fds);
		assert_int_equal(handover_receive(sidecar, &got, &e), -1);
		assert_int_equal(e.kind, ERR_PROTOCOL);
		assert_int_equal(open_files(), before);
	}
}

static void descriptors_too_many_are_closed(void **state)
{
	static const int fds[3] = {1, 2, 1};
	unsigned before = open_files();

	send_raw(PACKET("rnfs-mountfd 1\0s:/\0\0/d\0001"), fds, 3);
	assert_int_equal(handover_receive(sidecar, &got, NULL), 0);
	assert_int_equal(open_files(), before + 1);
	close(got.fd);
}

static void the_end_of_the_mounter_is_told(void **state)
{
	struct err e = {0};

	shutdown(mounter, SHUT_RDWR);
	assert_int_equal(handover_receive(sidecar, &got, &e), -1);
	assert_non_null(strstr(e.msg, "has ended the connection"));
}

static void the_sidecar_is_heard(void **state)
{
	char sentence[HANDOVER_SENTENCE], longest[2 * HANDOVER_SENTENCE];

	handover_say(sidecar, NULL);
	assert_int_equal(handover_hear(mounter, sentence), HANDOVER_READY);
	handover_say(sidecar, "no such export");
	assert_int_equal(handover_hear(mounter, sentence), HANDOVER_FAILED);
	assert_string_equal(sentence, "no such export");
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	handover_say(sidecar, longest);
	assert_int_equal(handover_hear(mounter, sentence), HANDOVER_FAILED);
	assert_in_range(strlen(sentence), 1000, HANDOVER_SENTENCE - 1);
	assert_int_equal(send(sidecar, "failed", 7, 0), 7);
	assert_int_equal(handover_hear(mounter, sentence), HANDOVER_NONE);
	assert_int_equal(send(sidecar, longest, sizeof(longest), 0), sizeof(longest));
	assert_int_equal(handover_hear(mounter, sentence), HANDOVER_NONE);
	shutdown(sidecar, SHUT_RDWR);
	assert_int_equal(handover_hear(mounter, sentence), HANDOVER_ENDED);
	handover_say(sidecar, "nobody hears this");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_sent_is_received),
		TEST(the_longest_fit),
		TEST(a_busy_mounter_is_no_error),
		TEST(what_is_not_understood_is_refused),
		TEST(descriptors_too_many_are_closed),
		TEST(the_end_of_the_mounter_is_told),
		TEST(the_sidecar_is_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * bare-tcp: RPC over a bare socket, word by word, for peers that misbehave.
 */
#ifndef RNFS_TEST_BARE_TCP_H
#define RNFS_TEST_BARE_TCP_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define LAST 0x80000000u

#define WORDS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

/* A connection to addr from a local address. */
static inline int bare_dial(const struct sockaddr_in *addr, const char *from)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in own = {.sin_family = AF_INET};

	inet_pton(AF_INET, from, &own.sin_addr);
	assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)addr, sizeof(*addr)), 0);
	return fd;
}

/* At most 64 words, given in host order. */
static inline void send_words(int fd, const uint32_t *w, size_t n)
{
	uint32_t buf[64];

	for (size_t i = 0; i < n; i++)
		buf[i] = htonl(w[i]);
	assert_int_equal(send(fd, buf, n * 4, MSG_NOSIGNAL), n * 4);
}

/* Words of the next record, or -1 when the connection ended. */
static inline int read_words(int fd, uint32_t *w, size_t max)
{
	uint32_t mark;
	size_t n;

	if (recv(fd, &mark, 4, MSG_WAITALL) != 4)
		return -1;
	n = (ntohl(mark) & ~LAST) / 4;
	assert_true(n <= max);
	assert_int_equal(recv(fd, w, n * 4, MSG_WAITALL), n * 4);
	for (size_t i = 0; i < n; i++)
		w[i] = ntohl(w[i]);
	return n;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * bare-tcp: RPC over a bare socket, word by word, for peers that misbehave, and a server for such
 * peers.
 */
#ifndef RNFS_TEST_BARE_TCP_H
#define RNFS_TEST_BARE_TCP_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "transport/rpc/rpc.h"

#define LAST 0x80000000u

#define WORDS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

/* Starts the server of p at a free port of this machine: *addr. p gets the address and a pool. */
static inline struct rpc_server *bare_server(struct rpc_server_params *p, struct sockaddr_in *addr)
{
	struct rpc_server *server;
	struct err e = {0};

	p->proto = RPC_TCP;
	p->pool = mem_pool_new(0);
	*addr = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	p->addr_len = sizeof(*addr);
	memcpy(&p->addr, addr, sizeof(*addr));
	server = rpc_server_new(p, &e);
	assert_non_null(server);
	addr->sin_port = htons(rpc_server_port(server));
	return server;
}

/* Ends the server. No memory of the pool may be left in use. */
static inline void bare_server_end(struct rpc_server *server, struct mem_pool *pool)
{
	struct mem_stats st;

	rpc_server_free(server);
	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 0);
	mem_pool_free(pool);
}

/* Seconds of a clock that only goes on. */
static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

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

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc-pair: an RPC client and a server with a small service, connected over TCP or, with the
 * argument "iwarp", over RPC-over-RDMA on software iWARP. The server's connections are wrapped, so
 * the server can make faults.
 */
#ifndef RNFS_TEST_RPC_PAIR_H
#define RNFS_TEST_RPC_PAIR_H

#include <netinet/in.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "contrib/serve/fault/fault_xprt.h"
#include "transport/rpc/rpc.h"

#define PROG	0x20001234
#define CB_PROG 0x40000001
#define BIG	(1u << 20)

enum {
	P_NULL,	    /* () -> () */
	P_ECHO,	    /* opaque -> opaque */
	P_WRITE,    /* payload, u32 -> sum of the payload, the caller's uid */
	P_READ,	    /* length, seed -> u32, payload, u32 */
	P_NEVER,    /* the first call gets no answer */
	P_CALLBACK, /* program -> the result of a call to that program, and the answer */
	P_LATER,    /* never answered */
	P_ASYNC, /* answered by another thread: posts `arrived`, awaits `allowed`, posts `answered`
		  */
	P_SHORT, /* SYSTEM_ERR, as often as srv.shortages says */
};

extern enum rpc_proto proto; /* of later pairs */
extern sem_t arrived, allowed, answered;

/* --- the server --------------------------------------------------------------------------------
 */

struct srv {
	struct mem_pool *pool;
	struct rpc_server *server;
	_Atomic int requests, never, ups, downs;
	_Atomic int shortages;
	uint32_t never_xid[8];
	_Atomic enum fault_kind fault; /* fault of the next reply (or request), once */
	_Atomic bool fault_request;
	_Atomic unsigned delay_ms;
	_Atomic int faults_left;
	_Atomic int faults_skip;   /* how many messages are spared first */
	_Atomic int unnoted;	   /* replies without the note of their request */
	_Atomic int pieces;	   /* pieces of memory for the data of P_READ; 0: one */
	_Atomic int cb_timeout_ms; /* of the calls of P_CALLBACK */
};

void srv_start(struct srv *s, uint16_t port);
void srv_stop(struct srv *s);

/* --- the client --------------------------------------------------------------------------------
 */

struct cli {
	struct mem_pool *pool;
	struct rpc_client *c;
	bool hello, later;
	struct rpc_paths *paths; /* that the client joins, or NULL */
	_Atomic int reconnected;
	_Atomic bool mute; /* callbacks are not answered */
};

void cli_start(struct cli *c, uint16_t port, unsigned timeo_ms, unsigned soft_retrans);

/* One call and the result of the call. */
struct one {
	struct rpc_call call;
	sem_t sem;
	int error;
	uint32_t n, word[2];
	uint8_t *copy;
	size_t len;
};

void one_init(struct one *o, struct cli *c, uint32_t proc);
int one_wait(struct one *o);
int one_run(struct one *o);
void one_finish(struct one *o);
/* A call without arguments. */
int simple(struct cli *c, uint32_t proc);
/* n bytes to the server and back. */
int echo(struct cli *c, uint32_t n);
/* Reads n bytes into a sink of room bytes; peek: the transport is told where the bytes stand. */
int read_n(struct cli *c, uint32_t n, uint32_t room, bool peek);
size_t peek_read(const void *res, size_t n);

/* --- both --------------------------------------------------------------------------------------
 */

struct pair {
	struct srv s;
	struct cli c;
	uint16_t port;
};

void pair_start(struct pair *p, unsigned timeo_ms, unsigned soft_retrans);
/* Stops the pair and checks that no memory is left in use. */
void pair_stop(struct pair *p);
/* A fault of the next reply, or request. */
void inject(struct pair *p, enum fault_kind f, bool request, unsigned delay_ms);

/* fill(): bytes that depend on their place and on seed. sum(): a sum of bytes. */
void fill(uint8_t *p, uint32_t n, uint32_t seed);
uint32_t sum(const uint8_t *p, uint32_t n);
struct sockaddr_in loopback(uint16_t port);
void pool_end(struct mem_pool *pool);

struct CMUnitTest;
/* main() of a test program. */
int rpc_pair_run(int argc, char **argv, const struct CMUnitTest *tests, size_t n);
#define RPC_PAIR_RUN(argc, argv, tests)                                                            \
	rpc_pair_run(argc, argv, tests, sizeof(tests) / sizeof((tests)[0]))

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma-pair: two RPC-over-RDMA connections of one test that talk to each other, over any
 * provider, with a small service at the responder. The test's own thread makes the requester's
 * progress, in pair_wait(); a thread of the pair makes the responder's.
 */
#ifndef RNFS_TEST_RPCRDMA_PAIR_H
#define RNFS_TEST_RPCRDMA_PAIR_H

#include <pthread.h>
#include <stdatomic.h>

#include "contrib/serve/fault/fault_xprt.h"
#include "transport/rpc/rpc_auth.h"
#include "transport/rpcrdma/rpcrdma_conn.h"
#include "transport/rpcrdma/setup/rpcrdma_setup.h"
#include "transport/rpcrdma/setup/rpcrdma_versions.h"

#define PAIR_PROG     0x20000123
#define PAIR_CB_PROG  0x40000123
#define PAIR_MAX_CALL 256

enum pair_proc {
	PAIR_NULL,  /* () -> () */
	PAIR_PUT,   /* u32, payload, u32 -> length, sum, both words: as WRITE with more arguments
		       behind */
	PAIR_GET,   /* length -> u32 1, payload of pattern, u32 77: as READ with more results behind
		     */
	PAIR_LIST,  /* length -> opaque of pattern: as READDIR */
	PAIR_ECHO,  /* opaque -> sum: a long call without payload */
	PAIR_NONE,  /* length -> u32 0, no payload: a READ that fails */
	PAIR_TWO,   /* two payloads -> two lengths and sums */
	PAIR_GET2,  /* two lengths -> payload, payload: two operations, each begins with the length
		       of its payload */
	PAIR_LATER, /* () -> (), answered when pair_release() is called */
	PAIR_CALL_BACK, /* () -> (), and the responder calls NULL of PAIR_CB_PROG meanwhile */
};

struct pair_params {
	uint32_t inline_client, inline_server; /* 0: default */
	uint32_t credits_client, credits_server;
	size_t server_memory;  /* the limit of spool, 0: none */
	unsigned rdma_version; /* the client's first version, 0: the best */
};

struct pair_call {
	struct rpc_call rpc; /* first */
	bool done;
	int error;
	enum rpc_stat stat;
	void (*check)(struct pair_call *c, struct xdr_in *res); /* in the reply upcall */
	/* left by checks */
	uint32_t word[4];
	uint32_t len;
	bool placed;
	uint8_t *copy; /* PAIR_LIST, unplaced payload */
};

struct pair {
	struct mem_pool *cpool, *spool;
	struct rpc_acceptor *acceptor;
	struct rpc_xprt *client, *server;
	pthread_t thread;
	bool client_down;
	_Atomic bool server_down;
	struct pair_call *table[PAIR_MAX_CALL];
	uint32_t next_xid;
	struct rpc_counts stats;
	/* the responder's */
	pthread_mutex_t lock;
	struct rpc_req *later[PAIR_MAX_CALL];
	unsigned nlater;
	_Atomic unsigned served;
	_Atomic enum fault_kind fault; /* of every reply */
	_Atomic uint32_t last_res_max, last_sink_max;
	_Atomic uint32_t last_nsinks, last_sink[XDR_MAX_PAYLOADS];
	struct rpc_call cb;
	_Atomic bool cb_done, cb_long;
	int cb_error;
	unsigned cb_served; /* by the requester */
};

#define PAIR_CONNECT_MS 20000

/* Versions that both ends speak: a set of RPC_RDMA_V1, ..., or 0: rpcrdma_dialects. Version 1,
 * unless a test says otherwise. */
extern unsigned pair_versions;

/* The responder's thread (rpcrdma-pair-serve.c): accepts, and serves until the connection is down.
 */
void *pair_server_main(void *pair);

#define RAW_RECVS 128

/* An end that is only a provider's connection: the test says each byte. */
struct raw {
	const struct prov_ops *prov;
	struct prov_listener *listener;
	struct prov_conn *pc;
	struct mem_pool *pool;
	struct mem_buf *buf[RAW_RECVS]; /* posted receives, by cookie */
	struct mem_buf *zone;		/* 64 KiB for doors and RDMA Writes */
	uint8_t msg[8192];		/* the last message */
	uint32_t len;
	bool down;
	struct err err;
};

/* Both ends are connected when pair_init() returns. */
void pair_init(struct pair *p, const struct pair_params *params);
/* Only the requester, or only the responder, against a raw end. */
void pair_init_requester(struct pair *p, const struct pair_params *params, struct raw *r);
void pair_init_responder(struct pair *p, const struct pair_params *params, struct raw *r);
/* The private data of raw ends: 4096 bytes both ways, no remote invalidation. */
extern uint8_t raw_priv[8];
/* Before pair_finish(). */
void raw_finish(struct raw *r);

/* Sends words (host order), and then n bytes. */
void raw_send(struct raw *r, const uint32_t *w, size_t nwords, const void *more, size_t n);
#define RAW_SEND(r, ...)                                                                           \
	raw_send(r, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4,  \
		NULL, 0)
/* Receives the next message into r->msg. False when the connection is down, or after silence for
 * ms. p: p's requester makes progress meanwhile (may be NULL). */
bool raw_recv_within(struct raw *r, struct pair *p, int ms);
/* The same where silence is a failure. */
bool raw_recv(struct raw *r, struct pair *p);
/* raw_recv_next(): the next message that tells no properties. raw_recv_of(): the next with this
 * XID. */
void raw_recv_next(struct raw *r);
void raw_recv_of(struct raw *r, struct pair *p, uint32_t xid);
/* Word i of the last message. */
uint32_t raw_word(const struct raw *r, unsigned i);
/* Called for a raw end that accepts, before the requester's connecting returns, on a separate
 * thread; NULL: no call. */
extern void (*raw_greet)(struct raw *r);
/* RDMA Read of n bytes to the beginning of the zone. False: the connection is down. */
bool raw_read(struct raw *r, uint32_t stag, uint64_t offset, uint32_t n);
/* Opens n bytes at off of the zone for RDMA Reads. */
struct prov_door raw_expose(struct raw *r, uint32_t off, uint32_t n);
/* Closes the door. Drops messages that come meanwhile. */
void raw_hide(struct raw *r, struct prov_door *d);
/* RDMA Write of the first n bytes of the zone. */
void raw_write(struct raw *r, uint32_t stag, uint64_t offset, uint32_t n);
/* Waits until the connection is down. */
void raw_wait_down(struct raw *r, struct pair *p);

/* --- steps of a scripted peer ---------------------------------------------------------------- */

/* An accepted RPC reply without results, and an RPC call with AUTH_NONE without arguments: 24 and
 * 40 bytes. */
#define RPC_REPLY(xid)	    xid, 1, 0, 0, 0, 0
#define RPC_CALL(xid, proc) xid, 0, 2, PAIR_PROG, 1, proc, 0, 0, 0, 0

/* Ends the raw end and the pair. */
void raw_stop(struct raw *r, struct pair *p);
void pair_submit_null(struct pair *p, struct pair_call *c);
/* The next message is the call c under a header of this version and procedure. */
void raw_expect(struct raw *r, struct pair *p, const struct pair_call *c, uint32_t vers,
	enum rpcrdma_proc proc);
/* Waits for the end of c with this error. */
void pair_end(struct pair *p, struct pair_call *c, int error);
/* A NULL call in this version, and the answer with a grant. */
void raw_null(struct raw *r, struct pair *p, uint32_t vers, uint32_t grant);
/* Answers c in this version with a grant, without results, and waits for the end of c. */
void raw_answer(struct raw *r, struct pair *p, struct pair_call *c, uint32_t vers, uint32_t grant);

/* Runs the tests on each provider; pair_prov is the present one. */
extern const struct prov_ops *pair_prov;
struct CMUnitTest;
int pair_run(const struct CMUnitTest *tests, size_t n);
#define PAIR_RUN(tests) pair_run(tests, sizeof(tests) / sizeof((tests)[0]))
/* Ends both connections and checks that nothing is left: no buffer of either pool, no call. */
void pair_finish(struct pair *p);

/* Readies a call with room for args_max bytes. */
void pair_call_init(struct pair *p, struct pair_call *c, uint32_t proc, size_t args_max);
void pair_submit(struct pair *p, struct pair_call *c);
/* The half of pair_submit() that no other thread may do: enters c into the table. Returns the
 * offset for send_call(). */
uint32_t pair_enter(struct pair *p, struct pair_call *c);
/* Makes progress until c is done. */
void pair_wait(struct pair *p, struct pair_call *c);
void pair_call_finish(struct pair_call *c);
/* submit, wait */
void pair_do(struct pair *p, struct pair_call *c);
/* Makes progress for about ms milliseconds. */
void pair_progress(struct pair *p, int ms);
/* Takes a call back. False: no byte of the call has left. */
bool pair_forget(struct pair *p, struct pair_call *c);
/* Answers the calls that PAIR_LATER left. Returns how many. */
unsigned pair_release(struct pair *p);

/* pair_pattern(): bytes that differ from their neighbours. pair_sum(): the sum of bytes. */
void pair_pattern(uint8_t *d, size_t n, uint32_t seed);
uint32_t pair_sum(const uint8_t *d, size_t n);

/* The calls of the service, whole: each runs and checks the result. */
void pair_null(struct pair *p);
void pair_put(struct pair *p, uint32_t n);
/* Returns true if the data was placed by RDMA. reply_max: without the payload. */
bool pair_get(struct pair *p, uint32_t n, uint32_t sink, uint32_t reply_max);
void pair_list(struct pair *p, uint32_t n, uint32_t reply_max);
void pair_echo(struct pair *p, uint32_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: one end of an RPC-over-RDMA connection, real, and a peer that does what the bytes of a
 * fuzzer say. All in one thread, without sockets, and with a clock of its own.
 *
 *   scripted-provider.c  the provider between the two: what is sent is with the other at once
 *   scripted-owner.c     who makes calls over the end, and serves those of the peer
 *   scripted-peer.c      the peer
 *
 * What is held against the end, each time, besides what the sanitizers find:
 *   - a call comes back once, with what was sent under its XID, and with no door to its memory open
 *   - it arrives as it was made, and its answer, whatever pieces they travel in
 *   - the end writes and reads nothing of the peer's memory but what a call has offered
 *   - a peer that gets honest at last has all answered, or loses the connection
 *   - nothing is left: no buffer, no credit, no door
 */
#ifndef RNFS_FUZZ_SCRIPTED_H
#define RNFS_FUZZ_SCRIPTED_H

#include <stdio.h>
#include <stdlib.h>

#include "transport/rpcrdma/rpcrdma_conn.h"

#define SCRIPTED_CHECK(what)                                                                       \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* --- the script ------------------------------------------------------------------------------- */

struct script {
	const uint8_t *at;
	size_t left;
};

/* The next byte, 0 behind the end; the next two; those, but at most `most`. */
static inline uint8_t script_u8(struct script *s)
{
	return s->left ? (s->left--, *s->at++) : 0;
}

static inline uint32_t script_u16(struct script *s)
{
	uint32_t high = script_u8(s);

	return high << 8 | script_u8(s);
}

static inline uint32_t script_upto(struct script *s, uint32_t most)
{
	return script_u16(s) % (most + 1);
}

/* A length: most are short. */
uint32_t script_len(struct script *s);

/* n bytes, at most 1 MiB, that can be told from those of another seed. */
void scripted_pattern(void *to, uint32_t n, uint32_t seed);

/* --- the provider ----------------------------------------------------------------------------- */

#define SCRIPTED_DOORS 1024

enum scripted_door { DOOR_NONE, DOOR_OPEN, DOOR_CLOSING, DOOR_GHOST };

struct scripted_conn {
	struct prov_conn prov; /* first */
	struct prov_params params;
	bool async;	  /* doors close some polls later, and abandoned ones are not known */
	bool lazy;	  /* what was sent is held until scripted_sent_all() */
	unsigned batch;	  /* completions of a poll() at most */
	unsigned failing; /* of so many things that can be refused, the last one is; 0: none */
	bool used, down, told, waiting;
	/* receives posted, oldest first */
	struct {
		uint64_t cookie;
		struct mem_sge sge;
	} * recv;
	unsigned first_recv, nrecvs;
	/* completions */
	struct prov_wc *done;
	unsigned first_done, ndone, done_cap;
	struct {
		enum scripted_door is;
		uint32_t stag;
		unsigned access, lag;
		uint64_t cookie; /* of the withdrawal that it is the last of */
		bool last;
		struct mem_sge sge;
	} door[SCRIPTED_DOORS];
	unsigned ndoors; /* that were ever used */
	uint32_t next_stag;
	/* Sends and RDMA Writes that have not ended, what they say, and `heard` at that time */
	struct {
		struct prov_wr wr;
		uint32_t sum;
		unsigned heard;
	} * held;
	unsigned nheld;
	unsigned heard; /* messages of the peer's */
	/* RDMA Reads of the end's */
	struct prov_wr reads[64];
	unsigned nreads;
};
extern struct scripted_conn scripted; /* the one of this run */

extern const struct prov_ops prov_scripted, prov_scripted_async;

extern uint64_t scripted_now; /* the clock, in ns */

/* From the script: of which kind it is. Frees what the last run has left. */
const struct prov_ops *scripted_begin(struct script *s);
/* A message of the peer's. False: there is no receive for it; the connection ends. */
bool scripted_deliver(const void *msg, uint32_t len, bool inv, uint32_t stag);
/* RDMA Write of the peer's. False: it leads nowhere; the connection has ended, if that was wrong.
 */
bool scripted_write(uint32_t stag, uint64_t offset, const void *data, uint32_t len);
/* Memory of the end's that the peer may read, or NULL. */
const uint8_t *scripted_readable(uint32_t stag, uint64_t offset, uint32_t len);
/* The memory behind an STag, or NULL. */
const uint8_t *scripted_memory(uint32_t stag);
/* The oldest RDMA Read of the end's ends. */
void scripted_read_done(void);
void scripted_sent_all(void);
void scripted_close(void);
/* Is a door open to any of these bytes? */
bool scripted_exposed(const void *addr, size_t len);
unsigned scripted_open_doors(void);

/* --- the end and its owner -------------------------------------------------------------------- */

#define SCRIPTED_CALLS	8
#define SCRIPTED_REQS	64
#define SCRIPTED_PIECES 40 /* that data lies in */

/* Bytes of a stream as they would be without RDMA. */
struct flat {
	uint8_t *data;
	uint32_t len;
};

struct scripted_call {
	struct rpc_call rpc; /* first */
	bool live;
	struct flat flat; /* the message */
	struct seg seg[RPC_MAX_SINKS + XDR_MAX_PAYLOADS][SCRIPTED_PIECES];
	struct mem_buf *buf[RPC_MAX_SINKS + XDR_MAX_PAYLOADS];
};

struct scripted_end {
	struct script *script;
	struct rpc_xprt *x;
	struct mem_pool *pool;
	bool requester, down;
	struct scripted_call call[SCRIPTED_CALLS];
	uint32_t next_xid;
	struct rpc_req *req[SCRIPTED_REQS]; /* with the service */
	unsigned nreqs;
	struct rpc_counts counts;
};
extern struct scripted_end scripted_end;

static inline struct rpcrdma_conn *scripted_rdma(void)
{
	return rpcrdma_conn_of(scripted_end.x);
}

/* One run: data is the script. */
int scripted_run(const uint8_t *data, size_t size, bool requester);
/* Makes a call, as the script says. */
void scripted_call(void);
void scripted_forget(struct scripted_call *c);
/* Answers, or drops, a request that is with the service. */
void scripted_serve(unsigned which, bool drop);
void scripted_progress(void);
/* The call that is live under this XID, or NULL. */
struct scripted_call *scripted_find(uint32_t xid);
/* base[0..len), with the payloads in it. */
struct flat scripted_flatten(const uint8_t *head, uint32_t nhead, const uint8_t *base, uint32_t len,
	const struct xdr_payload *payload, unsigned n);

/* --- the peer --------------------------------------------------------------------------------- */

void peer_begin(struct script *s, bool requester);
void peer_finish(void);
/* What the end does to it. */
void peer_got(const struct prov_wr *wr);
/* What is mostly said first, perhaps. */
void peer_open(struct script *s);
/* One action. */
void peer_act(struct script *s);
/* From now on all that came is answered, and all is granted. True if there was something to do. */
bool peer_be_honest(void);
/* The end is not there yet: it waits to hear what it asked. */
void peer_configure(void);
/* A request has come to the service, and the service answers it. */
void peer_check_request(const struct rpc_req *req);
void peer_expect_reply(const struct rpc_req *req, bool success);
/* A call has come back with this message: the peer must have sent it. */
void peer_check_reply(const struct scripted_call *c, const struct xdr_in *msg);
/* Requests that it may expect an answer to. */
unsigned peer_unanswered(void);

#endif

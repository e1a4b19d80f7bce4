/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: one real end of an RPC-over-RDMA connection, and a peer that follows the bytes of a
 * fuzzer. All in one thread, without sockets, and with a scripted clock.
 *
 *   scripted-provider.c  the provider between the two: a Send is at the other side at once
 *   scripted-owner.c     makes calls over the end, and serves the peer's calls
 *   scripted-peer.c      the peer
 *
 * Checks of the end, each time, besides those of the sanitizers:
 *   - a call comes back once, with the bytes that were sent under its XID, and with no open door to
 * its memory
 *   - a call arrives as it was made, and so does its answer, for any pieces that carry them
 *   - the end writes and reads only memory of the peer that a call has offered
 *   - a peer that gets honest at last has all calls answered, or loses the connection
 *   - nothing is left: no buffer, no credit, no door
 */
#ifndef RNFS_FUZZ_SCRIPTED_H
#define RNFS_FUZZ_SCRIPTED_H

#include <stdio.h>
#include <stdlib.h>

#include "transport/rpcrdma/rpcrdma_conn.h"
#include "transport/rpcrdma/rpcrdma_connprop.h"
#include "transport/rpcrdma/rpcrdma_setup.h"
#include "transport/rpcrdma/rpcrdma_versions.h"

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

/* script_u8(): the next byte, 0 behind the end. script_u16(): the next two bytes. script_upto():
 * the next two bytes, but at most `most`. */
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

/* n bytes, at most 1 MiB, that differ from the bytes of another seed. */
void scripted_pattern(void *to, uint32_t n, uint32_t seed);

/* --- the provider ----------------------------------------------------------------------------- */

#define SCRIPTED_DOORS 1024

enum scripted_door { DOOR_NONE, DOOR_OPEN, DOOR_CLOSING, DOOR_GHOST };

struct scripted_conn {
	struct prov_conn prov; /* first */
	struct prov_params params;
	bool async;	  /* doors close some polls later, and abandoned doors are not known */
	bool lazy;	  /* Sends are held until scripted_sent_all() */
	unsigned batch;	  /* completions of a poll() at most */
	unsigned failing; /* of this many things that can be refused, the last one is; 0: none */
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
		uint64_t cookie; /* of the withdrawal that this door is the last of */
		bool last;
		struct mem_sge sge;
	} door[SCRIPTED_DOORS];
	unsigned ndoors; /* number of doors ever used */
	uint32_t next_stag;
	/* Sends and RDMA Writes that have not ended, the sum of their data, and `heard` at that
	 * time */
	struct {
		struct prov_wr wr;
		uint32_t sum;
		unsigned heard;
	} * held;
	unsigned nheld;
	unsigned heard; /* messages of the peer */
	/* RDMA Reads of the end */
	struct prov_wr reads[64];
	unsigned nreads;
};
extern struct scripted_conn scripted; /* the connection of this run */

extern const struct prov_ops prov_scripted, prov_scripted_async;

extern uint64_t scripted_now; /* the clock, in ns */

/* Takes the kind of provider from the script. Frees the remains of the last run. */
const struct prov_ops *scripted_begin(struct script *s);
/* A message of the peer. False: there is no receive for it; the connection ends. */
bool scripted_deliver(const void *msg, uint32_t len, bool inv, uint32_t stag);
/* RDMA Write of the peer. False: the STag leads to no memory; the connection has ended, if that was
 * an error. */
bool scripted_write(uint32_t stag, uint64_t offset, const void *data, uint32_t len);
/* Memory of the end that the peer may read, or NULL. */
const uint8_t *scripted_readable(uint32_t stag, uint64_t offset, uint32_t len);
/* The memory behind an STag, or NULL. */
const uint8_t *scripted_memory(uint32_t stag);
/* Ends the end's oldest RDMA Read. */
void scripted_read_done(void);
void scripted_sent_all(void);
void scripted_close(void);
/* Is a door open to any of these bytes? */
bool scripted_exposed(const void *addr, size_t len);
unsigned scripted_open_doors(void);

/* --- the end and its owner -------------------------------------------------------------------- */

#define SCRIPTED_CALLS	8
#define SCRIPTED_REQS	64
#define SCRIPTED_PIECES 40 /* most pieces of data */

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
/* The live call with this XID, or NULL. */
struct scripted_call *scripted_find(uint32_t xid);
/* base[0..len), with the payloads inside. */
struct flat scripted_flatten(const uint8_t *head, uint32_t nhead, const uint8_t *base, uint32_t len,
	const struct xdr_payload *payload, unsigned n);

/* --- the peer --------------------------------------------------------------------------------- */

void peer_begin(struct script *s, bool requester);
void peer_finish(void);
/* A request of the end. */
void peer_got(const struct prov_wr *wr);
/* The usual first messages, perhaps. */
void peer_open(struct script *s);
/* One action. */
void peer_act(struct script *s);
/* From now on all messages are answered, and all credits are granted. True if there was work to
 * do. */
bool peer_be_honest(void);
/* The end is still in setup: it waits for the answer to its question. */
void peer_configure(void);
/* A request has come to the service, and the service answers it. */
void peer_check_request(const struct rpc_req *req);
void peer_expect_reply(const struct rpc_req *req, bool success);
/* A call has come back with this message: the peer must have sent the message. */
void peer_check_reply(const struct scripted_call *c, const struct xdr_in *msg);
/* Requests that the peer may expect an answer to. */
unsigned peer_unanswered(void);

#endif

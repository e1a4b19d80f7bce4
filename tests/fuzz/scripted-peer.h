/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted-peer: declarations that the files of the peer share.
 *
 *   scripted-peer.c    knows the peer's messages, and checks the end's
 *   scripted-say.c     sends a message, well or badly
 *   scripted-acts.c    the actions in every dialect
 *   scripted-place.c   ... with Transmit Requests and Responses
 *   scripted-flow.c    how much the peer lets the end send
 *   scripted-legacy.c  ... in the dialect of 2005
 */
#ifndef RNFS_FUZZ_SCRIPTED_PEER_H
#define RNFS_FUZZ_SCRIPTED_PEER_H

#include "scripted.h"

#define PEER_PROG     0x20000123
#define PEER_HANDLE   0x9000 /* and 255 more: the peer's memory */
#define PEER_SENDS    1024
#define PEER_OFFERS   1024
#define PEER_TAINTS   256
#define PEER_MADE     128
#define PEER_EXPECTED 256
#define PEER_SEEN     32
#define PEER_SAME     256
#define PEER_LENT     64
#define PEER_SEND_MAX 4096 /* Send size that every end takes */

/* An answer that the service has given. */
struct expected {
	uint32_t xid;
	bool success, done;
	uint8_t *data; /* the results, without payloads */
	uint32_t len;
	unsigned npayloads;
	uint32_t pos[XDR_MAX_PAYLOADS];
	uint32_t from[XDR_MAX_PAYLOADS]; /* the operation of the call that the payload results from
					  */
	struct flat payload[XDR_MAX_PAYLOADS];
};

/* A call of the peer, as without RDMA; or a piece of an answer that is read or placed. */
struct made {
	uint32_t xid;
	struct flat flat;
	uint32_t opaque; /* of a call: where the opaque begins, 0: no opaque */
	/* Of a Transmit Request: the ranges of the places. */
	unsigned nplaces;
	uint32_t begin[XDR_MAX_PAYLOADS], end[XDR_MAX_PAYLOADS];
};

/* An answer of the end, open for reading until the peer says RDMA_DONE. */
struct lent {
	uint32_t xid, sum;
	unsigned nreads;
	struct rpcrdma_read read[XDR_MAX_PAYLOADS];
};

/* How many Sends the end may post, by the peer's messages that the end has taken up. */
struct flow {
	unsigned heard;
	uint32_t grant, room, banked;
};

/* A message of the end in several transmissions, as far as it is here. */
struct transmissions {
	unsigned count, n;
	struct rpcrdma_hdr h; /* of the first */
	struct {
		uint8_t *data;
		uint32_t len, end; /* of all, and of header and message */
	} at[RPCRDMA_RTR_SENDS];
};

struct peer {
	bool honest;			 /* for the present message */
	const struct rpcrdma_dialect *d; /* the first dialect of the peer, or NULL ... */
	bool mixed;			 /* ... and the peer has used another since */
	struct rpcrdma_hdr hdr;		 /* of the message under construction ... */
	uint8_t body[1u << 20];		 /* ... and the RPC message behind the header */
	/* all messages of the peer */
	uint8_t said[4u << 20];
	uint32_t nsaid;
	struct {
		const uint8_t *msg;
		uint32_t len;
	} sent[PEER_SENDS];
	unsigned nsent;
	struct {
		struct rpcrdma_seg seg;
		unsigned access;
	} offer[PEER_OFFERS];
	unsigned noffers;
	uint32_t taint[PEER_TAINTS];
	unsigned ntaints;
	struct rpcrdma_props told; /* the peer's first properties of placement */
	uint32_t takes;		   /* bytes of a Send, the most that the peer has ever told */
	/* Reply chunks of the end that the peer has written to */
	const uint8_t *in_chunk[PEER_SENDS];
	unsigned nlong;
	struct made made[PEER_MADE]; /* calls of the peer */
	unsigned nmade;
	struct made same[PEER_SAME]; /* pieces of the peer's answers */
	unsigned nsame;
	uint32_t next_xid;
	struct expected expected[PEER_EXPECTED];
	unsigned nexpected;
	/* unanswered calls of the end */
	struct {
		const struct rpcrdma_dialect *d;
		struct rpcrdma_hdr h;
	} seen[PEER_SEEN];
	unsigned nseen;
	struct lent lent[PEER_LENT];
	unsigned nlent;
	uint32_t due[PEER_SAME]; /* answers of the peer that the end may say RDMA_DONE to */
	unsigned ndue;
	/* the end's continued message */
	uint8_t joined[4u << 20];
	uint32_t njoined, joined_xid;
	struct transmissions group;
	struct flow flow;
	uint8_t msg[1u << 18];
	bool asked; /* the end asks for the peer's limits, under this XID */
	uint32_t asked_xid;
	/* the peer's memory, up to narena in use */
	uint8_t arena[4u << 20];
	uint32_t narena;
};
extern struct peer peer;

/* --- scripted-peer.c -------------------------------------------------------------------------- */

/* One Send, in dialect d, or in none (NULL). False: the peer cannot send any more. */
bool peer_send(
	const struct rpcrdma_dialect *d, const uint8_t *msg, uint32_t len, bool inv, uint32_t stag);
void peer_answer_read(void);
/* Has the peer been dishonest with this XID? */
bool peer_tainted(uint32_t xid);
void peer_taint(uint32_t xid);
/* A piece of the answer to this call is n bytes. */
void peer_same(uint32_t xid, const uint8_t *data, uint32_t n);
/* Is this memory offered to the end? */
bool peer_offered(uint32_t handle, uint64_t offset, uint32_t len, unsigned access);
/* The peer's memory, or NULL: the peer has no memory there. */
uint8_t *peer_memory(uint32_t handle, uint64_t offset, uint32_t len);
/* The bytes of a chunk that the end has written; false: not all is the peer's memory. */
bool peer_from_chunk(const struct rpcrdma_hdr *h, const struct rpcrdma_chunk *c, struct flat *f);
/* A call of the end, under header h, is whole: f, or (NULL) the peer cannot read it any more. */
void peer_got_call(
	const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h, const struct flat *f);
/* The end has sent a reply, whole, or an error. */
void peer_got_reply(const struct rpcrdma_hdr *h, const uint8_t *body, uint32_t len);

/* --- scripted-say.c --------------------------------------------------------------------------- */

struct how {
	bool inv; /* with this Send, at the end */
	uint32_t stag;
	/* of a dishonest message: byte `at` is changed, `cut` bytes are cut off, or the message
	 * ends in the middle */
	unsigned change, at, cut;
	bool stops;
};
struct how peer_how(struct script *s);

/* The dialect of the end now. */
const struct rpcrdma_dialect *peer_spoken(void);
/* Any one of all dialects. */
const struct rpcrdma_dialect *peer_any_dialect(struct script *s);
void peer_words(uint8_t *to, const uint32_t *w, unsigned n);
/* One Send: peer.hdr, and n bytes. */
bool peer_say_one(
	const struct rpcrdma_dialect *d, const uint8_t *data, uint32_t n, const struct how *how);
/* Sends peer.hdr and the n bytes of peer.body, in as many Sends as needed, or more. */
void peer_say(const struct rpcrdma_dialect *d, uint32_t n, const struct how *how, unsigned more);
void peer_credits(struct script *s);
/* Writes len bytes of data into a chunk of the call, as far as the chunk goes. */
void peer_fill_chunk(const struct rpcrdma_chunk *c, const uint8_t *data, uint32_t len,
	const struct rpcrdma_hdr *call);
/* Segments of memory for len bytes in all, as many as k. */
unsigned peer_segments(struct rpcrdma_seg *seg, uint32_t len, unsigned k);
/* Memory with these bytes, as the Read chunk at position. */
void peer_give(const uint8_t *data, uint32_t len, uint32_t position, unsigned k);
/* Makes peer.body a call with some bytes as arguments, and perhaps an opaque and a word. Returns
 * the length; *opaque: where the opaque begins. */
uint32_t peer_make_call(struct script *s, uint32_t xid, uint32_t *opaque, bool has_opaque);
/* Remembers the call. False: there are too many calls. */
bool peer_made(uint32_t xid, uint32_t len, uint32_t opaque);

/* --- scripted-place.c ------------------------------------------------------------------------- */

/* The end has sent a transmission. */
void peer_got_transmission(const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h,
	const uint8_t *msg, uint32_t len);
/* Payload i of the answer e, which came under header h. Returns 0: in the message; 1: *f, which the
 * caller frees; -1: unknown. */
int peer_placed_payload(
	const struct expected *e, const struct rpcrdma_hdr *h, unsigned i, struct flat *f);
void peer_drop_transmissions(void);
/* Acts. */
void peer_call_placed(struct script *s);
/* Answers the call under this header. The message is the n bytes of peer.body. */
void peer_answer_placed(
	struct script *s, const struct rpcrdma_hdr *call, uint32_t n, const struct how *how);
void peer_report(struct script *s);
void peer_tell(struct script *s);

/* --- scripted-flow.c -------------------------------------------------------------------------- */

void peer_flow_begin(void);
/* The end has sent a message with this header: the peer must have allowed a Send. */
void peer_flow_sent(const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h);

/* --- scripted-legacy.c ------------------------------------------------------------------------ */

/* Makes f from a padded call, without the padding. */
void peer_unpad(const struct rpcrdma_hdr *h, const uint8_t *body, uint32_t len, struct flat *f);
/* Are the arguments of the padded call equal to those of m? */
bool peer_is_padded(const struct xdr_in *args, const struct made *m);
/* The peer is to read an answer of the end, under header h. */
void peer_note_lent(const struct rpcrdma_hdr *h);
/* The end says RDMA_DONE. */
void peer_got_done(const struct rpcrdma_hdr *h);
/* Acts. */
void peer_ask(struct script *s);
void peer_call_padded(struct script *s);
void peer_say_done(struct script *s);
/* Answers with the n bytes of peer.body as Read chunks. Returns the number of bytes left. */
uint32_t peer_lend(struct script *s, const struct rpcrdma_hdr *call, uint32_t n);

#endif

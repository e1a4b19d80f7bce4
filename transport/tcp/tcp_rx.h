/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp_rx: the receiving half of an RPC connection over TCP: records out of a stream (RFC 5531
 * section 11). It does no I/O. tcp_rx_space() says where the next bytes go; the
 * caller reads them and calls tcp_rx_filled() with their number.
 *
 *   MARK   at a record mark
 *   WHOLE  in a record of one fragment, all of it still in the window
 *   FRAGS  in a record of several fragments, which are put together in `body`
 *   BODY   the rest of a record goes to a pool buffer (a call) or to `body` (a reply)
 *   SINK   payload of a reply goes into its caller's memory, segment by segment
 *   TAIL   the bytes behind that payload go into `body`, behind the bytes before the payload
 *   SKIP   the rest of a record is dropped
 *
 * Small records are handed over where they lie in the window, many per read. While BODY, SINK or
 * TAIL is under way the window is empty and bytes go to `dst` or the segments directly.
 *
 * Between records tcp_rx asks its owner whether to wait (up.hold). While the owner holds, the
 * window keeps its bytes and `held` is set. tcp_rx_resume() goes on.
 *
 * One thread, the connection's progress thread, uses it.
 */
#ifndef RNFS_TRANSPORT_TCP_TCP_RX_H
#define RNFS_TRANSPORT_TCP_TCP_RX_H

#include <sys/uio.h>

#include "transport/rpc/rpc.h"

#define TCP_RX_WINDOW	  (64u << 10)
#define TCP_RX_NARROW	  512u	/* bytes read ahead of a large payload, at most */
#define TCP_RX_PEEK_MAX	  4096u /* a payload that begins later is not looked for */
#define TCP_RX_MAX_RECORD (MEM_MAX_SIZE)
#define TCP_RX_MAX_FRAGS  4096u
#define TCP_RX_IOV	  (SEG_LIST_MAX + 1) /* of tcp_rx_space() */

struct tcp_rx_up {
	/* The call that this reply may be for, or NULL. */
	struct rpc_call *(*find)(void *ctx, uint32_t xid);
	/* A reply to call: cursor at the XID word, valid during the upcall. */
	void (*reply)(void *ctx, struct rpc_call *call, struct xdr_in *msg);
	/* A call from the peer, len bytes in buf. The reference is the callee's. */
	void (*request)(void *ctx, struct mem_buf *buf, uint32_t len);
	/* Whether the next record must wait; may be NULL. */
	bool (*hold)(void *ctx);
	void *ctx;
};

enum tcp_rx_state {
	TCP_RX_MARK,
	TCP_RX_WHOLE,
	TCP_RX_FRAGS,
	TCP_RX_BODY,
	TCP_RX_SINK,
	TCP_RX_TAIL,
	TCP_RX_SKIP,
};

struct tcp_rx {
	struct tcp_rx_up up;
	struct mem_pool *pool;
	enum tcp_rx_state state;
	const char *error; /* set once: the stream makes no sense any more */
	bool held;	   /* a record waits in the window because of up.hold() */
	uint64_t dropped;  /* records that were dropped: late replies, or no message that we take */

	uint8_t *win; /* TCP_RX_WINDOW bytes: [pos, len) is not parsed yet */
	uint32_t pos, len;

	uint32_t rec;  /* WHOLE, BODY, SINK, TAIL: bytes of the record */
	uint8_t *dst;  /* BODY, TAIL: where the next bytes go */
	uint32_t left; /* BODY, SINK, TAIL: and how many; FRAGS, SKIP: of the fragment or record */

	uint8_t *body; /* heap, body_cap bytes */
	uint32_t body_cap, body_len;
	struct mem_buf *call_buf; /* BODY: of a call */

	unsigned nfrags; /* FRAGS */
	bool last_frag;

	struct rpc_call *call;	    /* SINK, TAIL: the call of the reply, NULL if taken back */
	uint32_t sink_at, sink_len; /* payload: offset in the record, true length */
	struct seg_list sink;	    /* SINK: the caller's memory for it ... */
	struct seg_iter sink_it;    /* ... and where the next bytes go */
};

int tcp_rx_init(struct tcp_rx *rx, struct mem_pool *pool, const struct tcp_rx_up *up);
void tcp_rx_fini(struct tcp_rx *rx);

/* Where the next bytes belong: fills iov[0..TCP_RX_IOV), returns how many of them, at least one.
 * narrow: large payloads are expected, so read little ahead of them. */
unsigned tcp_rx_space(struct tcp_rx *rx, bool narrow, struct iovec *iov);
/* n bytes have been put there: hands over complete records. 0, or -EPROTO with rx->error set. */
int tcp_rx_filled(struct tcp_rx *rx, size_t n);
/* Goes on if up.hold() does not hold any more. 1: a record was handed over, 0: none, negative as
 * above. */
int tcp_rx_resume(struct tcp_rx *rx);
/* Whether complete records may still lie in the window during an upcall: more to come at once. */
bool tcp_rx_more(const struct tcp_rx *rx);
/* The call's memory must not be touched any more. Not from an upcall about this call. */
void tcp_rx_forget(struct tcp_rx *rx, struct rpc_call *call);

#endif

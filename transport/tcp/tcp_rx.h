/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp_rx: the receiving half of an RPC connection over TCP: records out of a stream (RFC 5531
 * section 11). tcp_rx does no I/O. tcp_rx_space() tells the place for the next bytes. The caller
 * reads bytes to the place and calls tcp_rx_filled() with the number of bytes.
 *
 *   MARK   at a record mark
 *   WHOLE  in a record of one fragment, all of it still in the window
 *   FRAGS  in a record of several fragments, which are put together in `body`
 *   BODY   the rest of a record goes to a pool buffer (a call) or to `body` (a reply)
 *   SINK   payload of a reply goes into the caller's memory, segment by segment
 *   TAIL   the bytes behind the payload go into `body`, behind the bytes before the payload
 *   SKIP   the rest of a record is dropped
 *
 * Small records are handed over in place in the window, many per read. While BODY, SINK or TAIL is
 * under way the window is empty and bytes go to `dst` or the segments directly.
 *
 * Between records tcp_rx asks the owner whether to wait (up.hold). While the owner holds, the
 * window keeps the bytes and `held` is set. tcp_rx_resume() continues.
 *
 * Only the connection's progress thread uses tcp_rx.
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
	/* The call that a reply with the xid may be for, or NULL. */
	struct rpc_call *(*find)(void *ctx, uint32_t xid);
	/* A reply to call: cursor at the XID word, valid during the upcall. */
	void (*reply)(void *ctx, struct rpc_call *call, struct xdr_in *msg);
	/* A call from the peer, len bytes in buf. The callee gets the reference. */
	void (*request)(void *ctx, struct mem_buf *buf, uint32_t len);
	/* Must the next record wait? May be NULL. */
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
	uint64_t dropped;  /* dropped records: late replies, and messages that we do not accept */

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
	struct seg_list sink;	    /* SINK: the caller's memory for payload ... */
	struct seg_iter sink_it;    /* ... and where the next bytes go */
};

int tcp_rx_init(struct tcp_rx *rx, struct mem_pool *pool, const struct tcp_rx_up *up);
void tcp_rx_fini(struct tcp_rx *rx);

/* The place for the next bytes: fills iov[0..TCP_RX_IOV) and returns the number of entries, at
 * least one. narrow: large payloads are expected, so iov allows few bytes ahead of a payload. */
unsigned tcp_rx_space(struct tcp_rx *rx, bool narrow, struct iovec *iov);
/* The caller has read n bytes to the place: hands over complete records. 0, or -EPROTO with
 * rx->error set. */
int tcp_rx_filled(struct tcp_rx *rx, size_t n);
/* Continues if up.hold() does not hold any more. 1: a record was handed over, 0: none, negative as
 * above. */
int tcp_rx_resume(struct tcp_rx *rx);
/* May the window still have complete records during an upcall, so that further upcalls follow at
 * once? */
bool tcp_rx_more(const struct tcp_rx *rx);
/* The call's memory must not be touched any more. Not from an upcall about the call. */
void tcp_rx_forget(struct tcp_rx *rx, struct rpc_call *call);

#endif

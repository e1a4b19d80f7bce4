/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp_tx: the sending half of an RPC connection over TCP: records out of messages, without a copy.
 *
 * A message becomes a tcp_out: a list of pieces (header and arguments, payload in place, round-up)
 * that one or more sendmsg() send. At most one thread is inside sendmsg(), the other threads append
 * to the queue and leave. The next sendmsg() sends the appended records, several at a time. When
 * the socket is full, the queue stays, and the progress thread continues later.
 *
 * `owed` is the memory that queued replies keep. If the peer does not read replies, the responder
 * must read no more calls while `owed` exceeds TCP_TX_OWED_MAX, or the connection's share of the
 * pool's room.
 *
 * While a call is in the queue, call->xprt_priv points to the call's tcp_out. NULL again means: the
 * kernel has all bytes of the call, and no thread here touches the call any more.
 */
#ifndef RNFS_TRANSPORT_TCP_TCP_TX_H
#define RNFS_TRANSPORT_TCP_TCP_TX_H

#include <sys/uio.h>

#include "transport/lock.h"
#include "transport/rpc/xprt.h"

#define TCP_OUT_IOV	(1 + 3 * XDR_MAX_PAYLOADS) /* enough for payloads in one piece each */
#define TCP_TX_OWED_MAX (16u << 20)

struct tcp_out {
	TAILQ_ENTRY(tcp_out) link;
	struct rpc_call *call; /* one of the two, or neither after tcp_tx_forget() */
	struct rpc_req *req;
	size_t owed;	      /* memory that the reply keeps; 0: a call */
	struct mem_buf *kept; /* forgotten when partly sent: the rest lies here ... */
	void *copy;	      /* ... and here */
	bool started;	      /* the kernel may have a part */
	unsigned niov, at;
	struct iovec *iov; /* `few`, or a larger array on the heap */
	struct iovec few[TCP_OUT_IOV];
};

TAILQ_HEAD(tcp_out_list, tcp_out);

struct tcp_tx {
	int fd;
	struct mem_pool *pool; /* its room bounds `owed`; NULL: only TCP_TX_OWED_MAX */
	struct mutex lock;
	pthread_cond_t idle; /* with lock: sending became false */
	struct tcp_out_list queue GUARDED_BY(lock);
	struct tcp_out_list spare GUARDED_BY(lock);
	unsigned queued GUARDED_BY(lock); /* entries in queue */
	_Atomic size_t owed;   /* written under lock: memory that replies in queue keep */
	_Atomic uint64_t sent; /* bytes that the kernel has taken */
	/* the progress thread reads no calls until replies have left */
	bool waiting GUARDED_BY(lock);
	bool sending GUARDED_BY(lock); /* a thread is in sendmsg() */
	_Atomic bool full;	       /* written under lock: wait for POLLOUT */
	bool down GUARDED_BY(lock);    /* tx takes no more messages */
	char *reason GUARDED_BY(lock); /* memory for the first reason for down */
	size_t reason_size;
};

/* The caller owns fd. reason: room of reason_size bytes for a sentence with the reason for down. */
void tcp_tx_init(
	struct tcp_tx *tx, int fd, struct mem_pool *pool, char *reason, size_t reason_size);
/* After tcp_tx_purge(), when no thread uses tx any more. */
void tcp_tx_fini(struct tcp_tx *tx);

/* Queue a message with the XID word at off of the message buffer. The owner of a call may take it
 * back (tcp_tx_forget()). The request of a reply ends when the reply is sent. 0; -ENOTCONN or
 * -ENOMEM: not taken. Any thread. */
int tcp_tx_call(struct tcp_tx *tx, struct rpc_call *call, uint32_t off);
int tcp_tx_reply(struct tcp_tx *tx, struct rpc_req *req, uint32_t off);
/* Sends the queue, unless the socket is known to be full and `writable` is false. 1: the progress
 * thread must look, because the socket has become full, or enough replies have left to read calls
 * again. Otherwise 0. */
int tcp_tx_flush(struct tcp_tx *tx, bool writable);
/* The number of messages of which the kernel has no or not all bytes. Any thread. */
unsigned tcp_tx_queued(struct tcp_tx *tx);
/* Do unread replies keep more than TCP_TX_OWED_MAX bytes, or more than mem_pool_share()? If so, the
 * tcp_tx_flush() that ends the excess returns 1. Any thread. */
bool tcp_tx_owes(struct tcp_tx *tx);

/* Takes a queued call back. The rest of a half-sent call is sent from private memory. Waits for a
 * sendmsg() under way, which does not block. False: the call was queued, and no byte of the call
 * was sent. Progress thread. */
bool tcp_tx_forget(struct tcp_tx *tx, struct rpc_call *call);
/* From now on tx takes no message; reason: a sentence, the first one stays. Any thread. */
void tcp_tx_shut(struct tcp_tx *tx, const char *reason);
/* The same with */
void tcp_tx_shut_locked(struct tcp_tx *tx, const char *reason) REQUIRES(tx->lock);
/* After tcp_tx_shut(): drops the queue. */
void tcp_tx_purge(struct tcp_tx *tx);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp_tx: the sending half of an RPC connection over TCP: records out of messages, without a copy.
 *
 * A message becomes a tcp_out: a list of pieces (header and arguments, payload from where it lies,
 * round-up) that one or more sendmsg() work through. At most one thread is inside sendmsg(), the
 * others append to the queue and leave: what they appended goes out with the next sendmsg(),
 * several records at a time. When the socket is full the queue stays, and the progress thread goes
 * on with the queue.
 *
 * Replies in the queue are counted by the memory that they keep. If the peer does not
 * read replies, the responder must read no more calls while that memory exceeds TCP_TX_OWED_MAX, or
 * its share of the pool's room.
 *
 * While a call is in the queue its xprt_priv points to its tcp_out; NULL again means that its bytes
 * are with the kernel and no thread here touches the call any more.
 */
#ifndef RNFS_TRANSPORT_TCP_TCP_TX_H
#define RNFS_TRANSPORT_TCP_TCP_TX_H

#include <pthread.h>
#include <sys/uio.h>

#include "transport/rpc/xprt.h"

#define TCP_OUT_IOV	(1 + 3 * XDR_MAX_PAYLOADS) /* enough for payloads in one piece each */
#define TCP_TX_OWED_MAX (16u << 20)

struct tcp_out {
	TAILQ_ENTRY(tcp_out) link;
	struct rpc_call *call; /* one of the two, or neither after tcp_tx_forget() */
	struct rpc_req *req;
	size_t owed;	      /* of a reply: the memory that it keeps */
	struct mem_buf *kept; /* forgotten when partly sent: the rest lies here ... */
	void *copy;	      /* ... and here */
	bool started;	      /* some of it may be with the kernel */
	unsigned niov, at;
	struct iovec *iov; /* `few`, or more of them from the heap */
	struct iovec few[TCP_OUT_IOV];
};

TAILQ_HEAD(tcp_out_list, tcp_out);

struct tcp_tx {
	int fd;
	struct mem_pool *pool; /* its room bounds `owed`; NULL: only TCP_TX_OWED_MAX does */
	pthread_mutex_t lock;
	pthread_cond_t idle;	   /* with lock: sending became false */
	struct tcp_out_list queue; /* lock */
	struct tcp_out_list spare; /* lock */
	unsigned queued;	   /* lock: entries in queue */
	_Atomic size_t owed;	   /* written under lock: memory that replies in queue keep */
	_Atomic uint64_t sent;	   /* bytes that have gone out */
	bool waiting;	   /* lock: the progress thread reads no calls before some are out */
	bool sending;	   /* lock: a thread is in sendmsg() */
	_Atomic bool full; /* written under lock: wait for POLLOUT */
	bool down;	   /* lock: tx takes no more messages */
	char *reason;	   /* lock: the first reason for down goes here ... */
	size_t reason_size;
};

/* fd stays the caller's. reason: room of reason_size bytes for a sentence that says why tx is down.
 */
void tcp_tx_init(
	struct tcp_tx *tx, int fd, struct mem_pool *pool, char *reason, size_t reason_size);
/* After tcp_tx_purge(), when no thread uses tx any more. */
void tcp_tx_fini(struct tcp_tx *tx);

/* Queue a message, whose XID word is at off of its buffer. The owner of a call may take it back
 * (tcp_tx_forget()). The request of a reply ends when the reply is sent. 0; -ENOTCONN or -ENOMEM:
 * not taken. Any thread. */
int tcp_tx_call(struct tcp_tx *tx, struct rpc_call *call, uint32_t off);
int tcp_tx_reply(struct tcp_tx *tx, struct rpc_req *req, uint32_t off);
/* Sends the queue, unless the socket is known to be full and `writable` is false.
 * 1: the socket has become full, or enough replies are out for calls to be read again, and the
 * progress thread must know; otherwise 0. */
int tcp_tx_flush(struct tcp_tx *tx, bool writable);
/* Messages that are not, or not wholly, with the kernel. Any thread. */
unsigned tcp_tx_queued(struct tcp_tx *tx);
/* Whether replies that the peer does not read keep more than TCP_TX_OWED_MAX bytes, or more than
 * mem_pool_share(). If so, the tcp_tx_flush() that changes it returns 1. Any thread. */
bool tcp_tx_owes(struct tcp_tx *tx);

/* Takes a call back, if it is queued. The rest of a half sent call goes out from private memory.
 * Waits for a sendmsg() under way, which does not block. False: the call was queued, and no byte of
 * the call was sent. Progress thread. */
bool tcp_tx_forget(struct tcp_tx *tx, struct rpc_call *call);
/* From now on tx takes no message; reason: a sentence, the first one stays. Any thread. */
void tcp_tx_shut(struct tcp_tx *tx, const char *reason);
/* The same with tx->lock held. */
void tcp_tx_shut_locked(struct tcp_tx *tx, const char *reason);
/* After tcp_tx_shut(): drops the queue. */
void tcp_tx_purge(struct tcp_tx *tx);

#endif

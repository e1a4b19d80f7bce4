/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fault_tcp: the fault that needs the socket of a connection over TCP.
 *
 * Half of a record goes directly to the socket, past the queue of tcp_tx. The lock of tcp_tx is
 * held from before the first byte until the connection is down. So no other bytes follow, which a
 * peer could take for the other half.
 */
#include "contrib/serve/fault/fault_tcp.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/tcp/tcp_conn.h"

#define LAST_RECORD 0x80000000u

bool fault_tcp_is(const struct rpc_xprt *x)
{
	return x->ops == &tcp_ops;
}

/* Copies the whole record into one piece of *n bytes (RFC 5531 section 11); NULL: no memory. */
static uint8_t *flatten(const struct rpc_req *req, uint32_t off, size_t *n)
{
	const struct xdr_out *res = &req->res;
	size_t len = RPC_HEADROOM - off + xdr_out_total(res);
	uint32_t mark = htobe32(LAST_RECORD | (uint32_t)len);
	const uint8_t *from = req->msg->data + off;
	uint8_t *record = calloc(1, 4 + len), *to = record;

	*n = 4 + len;
	if (!record)
		return NULL;
	memcpy(to, &mark, 4);
	to += 4;
	for (unsigned i = 0; i < res->npayloads; i++) {
		const struct xdr_payload *p = &res->payload[i];
		size_t before = (size_t)(res->base + p->pos - from);

		memcpy(to, from, before);
		seg_list_gather(&p->data, to + before);
		to += before + p->data.len + xdr_pad(p->data.len);
		from += before;
	}
	memcpy(to, from, (size_t)(res->base + res->len - from));
	return record;
}

void fault_tcp_cut(struct rpc_xprt *x, const struct rpc_req *req, uint32_t off)
{
	struct tcp_tx *tx = &tcp_conn_of(x)->tx;
	size_t n;
	uint8_t *record = flatten(req, off, &n);

	tcp_tx_flush(tx, true);
	mutex_lock(&tx->lock);
	while (tx->sending)
		cond_wait(&tx->idle, &tx->lock);
	/* If the socket is full of other answers, the connection ends in the middle of another
	 * answer. */
	if (record && !tx->down && TAILQ_EMPTY(&tx->queue) &&
		send(tx->fd, record, n / 2, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		tcp_tx_shut_locked(tx, "half of a reply could not be sent");
	tcp_tx_shut_locked(tx, "closed in the middle of a reply, as asked");
	mutex_unlock(&tx->lock);
	free(record);
}

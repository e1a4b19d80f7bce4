/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target of transport/tcp/tcp_rx: the input is the stream; the first byte says how the stream
 * is
 * cut into reads. Every fourth XID has a call under way, with a sink.
 */
#include <string.h>

#include "transport/tcp/tcp_rx.h"

static struct rpc_call call;
static struct mem_buf *sink;

static size_t peek(const void *res, size_t n)
{
	return n >= 8 ? 8 : 0;
}

static struct rpc_call *find(void *ctx, uint32_t xid)
{
	return xid & 3 ? NULL : &call;
}

static void reply(void *ctx, struct rpc_call *c, struct xdr_in *msg)
{
	uint32_t n;

	while (xdr_in_ok(msg) && xdr_in_left(msg))
		xdr_get_payload(msg, 1 << 20, &n, NULL);
}

static void request(void *ctx, struct mem_buf *buf, uint32_t len)
{
	memset(buf->data, 0, len);
	mem_buf_unref(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tcp_rx_up up = {.find = find, .reply = reply, .request = request};
	static struct mem_pool *pool;
	size_t step = size ? 1 + data[0] : 1, n;
	struct iovec iov[2];
	struct tcp_rx rx;

	if (!pool) {
		pool = mem_pool_new(0);
		sink = mem_buf_get(pool, 4096);
		call.nsinks = 1;
		call.sink[0] = seg_list_of_buf(sink, 0, 4096);
		call.peek = peek;
	}
	if (tcp_rx_init(&rx, pool, &up) < 0)
		return 0;
	for (size_t at = 0; at < size && !rx.error; at += n) {
		int k = tcp_rx_space(&rx, data[0] & 1, iov);

		n = 0;
		for (int i = 0; i < k && n < step && at + n < size; i++) {
			size_t part = iov[i].iov_len;

			if (part > step - n)
				part = step - n;
			if (part > size - at - n)
				part = size - at - n;
			memcpy(iov[i].iov_base, data + at + n, part);
			n += part;
		}
		if (tcp_rx_filled(&rx, n) == 0 && step == 77)
			tcp_rx_forget(&rx, &call);
	}
	tcp_rx_fini(&rx);
	return 0;
}

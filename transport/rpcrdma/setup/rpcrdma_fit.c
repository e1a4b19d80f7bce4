/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_fit: the size of a connection where little memory can be registered. Model:
 * rpcrdma_fit.h.
 */
#include "transport/rpcrdma/setup/rpcrdma_fit.h"

#include "transport/rpcrdma/rpcrdma_conn.h"

static uint32_t between(uint32_t n, uint32_t least, uint32_t most)
{
	return n < least ? least : n > most ? most : n;
}

bool rpcrdma_fit(struct rpcrdma_fit *f, size_t most, unsigned sends, bool may_v1)
{
	unsigned n, others, left;

	if (most >= f->recvs)
		return false;
	n = most < RPCRDMA_FIT_LEAST ? RPCRDMA_FIT_LEAST : (unsigned)most;
	f->recvs = n;
	f->reverse = between(n / 6, 2, RPCRDMA_REVERSE_CREDITS);
	f->batch = between(n / 6, 1, RPCRDMA_BATCH);
	others = 2 * RPCRDMA_ROOM_MAX + f->batch;
	if (f->v1 || (may_v1 && n < others + 2 * f->reverse * sends)) {
		f->v1 = true;
		sends = 1;
		others = f->batch;
	}
	left = n > others ? (n - others) / sends : 0;
	f->credits = between(left > f->reverse ? left - f->reverse : 1, 1, f->credits);
	return true;
}

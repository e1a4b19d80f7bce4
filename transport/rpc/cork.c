/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cork: sends several messages of one thread together.
 *
 * The state is a thread's own, so without lock. Each connection with a waiting message is in xprt[]
 * once and referenced, since the connection may meanwhile be lost and replaced. flush() may find
 * nothing left: the connection's end or another thread's message may have sent all earlier.
 */
#include "transport/rpc/cork.h"

#include "transport/rpc/xprt.h"

#define XPRTS_MAX 8  /* messages for further connections are sent at once */
#define HELD_MAX  16 /* and so are messages after so many */

struct cork {
	bool in;
	unsigned held, nxprts;
	struct rpc_xprt *xprt[XPRTS_MAX];
};

static _Thread_local struct cork cork;

void cork_put(void)
{
	cork.in = true;
}

void cork_pull(void)
{
	cork.in = false;
	cork.held = 0;
	while (cork.nxprts) {
		struct rpc_xprt *x = cork.xprt[--cork.nxprts];

		x->ops->flush(x);
		rpc_xprt_unref(x);
	}
}

unsigned cork_held(void)
{
	return cork.held;
}

bool cork_keeps(struct rpc_xprt *x)
{
	unsigned i;

	if (!cork.in || cork.held == HELD_MAX)
		return false;
	for (i = 0; i < cork.nxprts; i++)
		if (cork.xprt[i] == x)
			break;
	if (i == XPRTS_MAX)
		return false;
	if (i == cork.nxprts)
		cork.xprt[cork.nxprts++] = rpc_xprt_ref(x);
	cork.held++;
	return true;
}

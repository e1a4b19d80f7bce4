/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cork: what one thread sends in a row leaves together.
 *
 * State of a thread, so without lock. Each connection with something that waits is in xprt[] once
 * and referenced: it may be lost meanwhile, and have been replaced. What its end or another
 * thread's message has sent earlier makes the flush() one for nothing.
 */
#include "transport/rpc/cork.h"

#include "transport/rpc/xprt.h"

#define XPRTS_MAX 8  /* what goes to more connections is sent at once */
#define HELD_MAX  16 /* and so is what comes after so many messages */

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

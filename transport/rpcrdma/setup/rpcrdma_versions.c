/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_versions: the dialects that we speak. No other file names them all.
 */
#include "transport/rpcrdma/setup/rpcrdma_versions.h"

#include <pthread.h>

#include "transport/rpc/xprt.h"
#include "transport/rpcrdma/old/rpcrdma_legacy.h"
#include "transport/rpcrdma/old/rpcrdma_v2_2016.h"
#include "transport/rpcrdma/v1/rpcrdma_v1.h"
#include "transport/rpcrdma/v2/rpcrdma_v2.h"

static const struct rpcrdma_dialect *const ours[] = {&rpcrdma_v2, &rpcrdma_v1, NULL};
const struct rpcrdma_dialect *const *rpcrdma_dialects = ours;

/* All dialects, best first, each with the bit in a set. */
static const struct {
	unsigned bit;
	const struct rpcrdma_dialect *dialect;
} all[] = {{RPC_RDMA_V2_RTR, &rpcrdma_v2_rtr}, {RPC_RDMA_V2, &rpcrdma_v2},
	{RPC_RDMA_V2_2016_RTR, &rpcrdma_v2_2016_rtr}, {RPC_RDMA_V2_2016, &rpcrdma_v2_2016},
	{RPC_RDMA_V1_LEGACY, &rpcrdma_legacy}, {RPC_RDMA_V1, &rpcrdma_v1}};
#define NALL (sizeof(all) / sizeof(all[0]))

static const struct rpcrdma_dialect *tables[RPC_RDMA_ALL + 1][NALL + 1];
static pthread_once_t tables_made = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
	for (unsigned set = 0; set <= RPC_RDMA_ALL; set++)
		for (unsigned i = 0, n = 0; i < NALL; i++)
			if ((set & all[i].bit) &&
				!(all[i].bit == RPC_RDMA_V1 && (set & RPC_RDMA_V1_LEGACY)))
				tables[set][n++] = all[i].dialect;
}

const struct rpcrdma_dialect *const *rpcrdma_table(unsigned versions)
{
	pthread_once(&tables_made, make_tables);
	versions &= RPC_RDMA_ALL;
	return versions ? tables[versions] : rpcrdma_dialects;
}

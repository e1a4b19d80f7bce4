/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_wc_state: the completions of a connection (rpcrdma_wc.c). Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_WC_STATE_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_WC_STATE_H

#include "transport/provider.h"

#define RPCRDMA_BATCH 16 /* completions taken at a time */

struct rpcrdma_wc_state {
	struct prov_wc wc[RPCRDMA_BATCH]; /* polled, wc[iwc..nwc) not yet handled */
	int iwc, nwc;
	struct prov_wc *later; /* polled while rpcrdma_await_closed() waited; handled after wc */
	size_t nlater, later_cap, ilater;
};

#endif

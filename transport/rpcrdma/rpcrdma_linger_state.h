/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_linger_state: the part of a connection for patient calls (rpcrdma_linger.c).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_LINGER_STATE_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_LINGER_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rpcrdma_linger_state {
	_Atomic uint64_t since_ns;
	_Atomic bool lingered;	   /* a call has stayed since the last sleep */
	_Atomic bool sound_asleep; /* set by the progress thread */
	unsigned brief;		   /* how many sleeps are to be brief; progress thread */
};

#endif

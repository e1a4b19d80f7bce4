/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_v2_state: the part of a connection for dialects that talk: properties
 * (rpcrdma_connprop.c) and grants (rpcrdma_flow.c).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_V2_STATE_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_V2_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "transport/rpcrdma/rpcrdma_props.h"

struct rpcrdma_stalled;

struct rpcrdma_v2_state {
	struct rpcrdma_props props; /* the peer's; progress thread */
	bool props_told;	    /* we have sent our properties; progress thread */
	unsigned props_credits;	    /* taken by our properties and not back; progress thread */
	_Atomic uint32_t seg_size, seg_count; /* most that the peer takes in one of our headers */
	_Atomic bool no_reverse;	      /* the peer takes no calls in reverse */
	/* progress thread */
	uint32_t last_grant;  /* at least 1 */
	unsigned calls_heard; /* messages received in the dialect, up to 2 */
	uint64_t stalled_ns;  /* since when no Send of `stalled` could leave, 0: not stalled */

	_Atomic uint32_t room;	 /* Sends that the peer's last message permits */
	_Atomic uint32_t banked; /* Sends that all messages of the peer together permit */
	_Atomic uint32_t run;	 /* Sends of continued messages since the peer's last message */
	/* Messages received since our last grant. `unowed`: at least one was no call. A call gets
	 * an answer, which grants. */
	_Atomic uint32_t unsaid;
	_Atomic bool unowed;
	_Atomic bool stalls;			/* `stalled` is not empty ... */
	_Atomic size_t stalled_bytes;		/* ... and holds so many bytes */
	STAILQ_HEAD(, rpcrdma_stalled) stalled; /* under the connection's chain ... */
	unsigned stalled_credits;		/* ... and the credits of the calls in `stalled` */
};

#endif

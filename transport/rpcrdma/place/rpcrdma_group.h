/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_group: messages of several transmissions. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_PLACE_RPCRDMA_GROUP_H
#define RNFS_TRANSPORT_RPCRDMA_PLACE_RPCRDMA_GROUP_H

#include "transport/rpcrdma/rpcrdma_parts.h"

/* Most transmissions of a call that we take. */
unsigned rpcrdma_group_max(const struct rpcrdma_conn *c);
/* Message m has come; *h was decoded with result rc. True: the caller handles m. If m ends a group,
 * m is then all of the group, and *h the header of the first transmission. False: more is to come,
 * or the peer has been told the error; m is the group's, or was given back. fail: fails the reply m
 * under header h, and takes the buffers of m. */
bool rpcrdma_group_join(struct rpcrdma_conn *c, struct rpcrdma_hdr **h, int rc,
	struct rpcrdma_msg *m, rpcrdma_fail_reply *fail);

#endif

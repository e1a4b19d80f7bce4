/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * place_ops: the table of data placed by Sends.
 */
#include "transport/rpcrdma/place/place_ops.h"

#include "transport/rpcrdma/place/requester_place.h"
#include "transport/rpcrdma/place/rpcrdma_group.h"
#include "transport/rpcrdma/place/rpcrdma_place.h"

const struct rpcrdma_place_ops rpcrdma_place_ops = {
	.place_item = rpcrdma_place_item,
	.make_placed = rpcrdma_make_placed,
	.placed = rpcrdma_placed,
	.as_chunks = rpcrdma_as_chunks,
	.taken_place = rpcrdma_taken_place,
	.set_places = rpcrdma_set_places,
	.reported = rpcrdma_reported,
	.report = rpcrdma_report,
	.group_max = rpcrdma_group_max,
	.group_join = rpcrdma_group_join,
	.may_place = rpcrdma_may_place,
	.marshal_placed = rpcrdma_marshal_placed,
	.place_sends_locked = rpcrdma_place_sends_locked,
	.own = &rpcrdma_rtr_own,
};

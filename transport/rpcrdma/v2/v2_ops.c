/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v2_ops: the table of the properties of dialects that talk.
 */
#include "transport/rpcrdma/v2/v2_ops.h"

#include "transport/rpcrdma/v2/rpcrdma_connprop.h"

const struct rpcrdma_v2_ops rpcrdma_v2_ops = {
	.tell_props = rpcrdma_tell_props,
	.handle_props = rpcrdma_handle_props,
};

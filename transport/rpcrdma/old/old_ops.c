/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * old_ops: the table of the dialect of 2005.
 */
#include "transport/rpcrdma/old/old_ops.h"

#include "transport/rpcrdma/old/rpcrdma_ccp.h"
#include "transport/rpcrdma/old/rpcrdma_done.h"
#include "transport/rpcrdma/old/rpcrdma_lent.h"
#include "transport/rpcrdma/old/rpcrdma_padded.h"
#include "transport/rpcrdma/old/rpcrdma_pull.h"

const struct rpcrdma_old_ops rpcrdma_old_ops = {
	.ccp_serve = rpcrdma_ccp_serve,
	.pad = rpcrdma_pad,
	.lends_enough = rpcrdma_lends_enough,
	.lend = rpcrdma_lend,
	.handle_done = rpcrdma_handle_done,
	.lent_look = rpcrdma_lent_look,
	.lent_closed = rpcrdma_lent_closed,
	.lent_drop_all = rpcrdma_lent_drop_all,
	.send_done = rpcrdma_send_done,
	.dones_back_locked = rpcrdma_dones_back_locked,
	.pull_reply = rpcrdma_pull_reply,
	.reply_pulled = rpcrdma_reply_pulled,
};

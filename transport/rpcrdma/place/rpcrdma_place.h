/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_place: data placed by Sends (rpcrdma_rtr.h).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_PLACE_RPCRDMA_PLACE_H
#define RNFS_TRANSPORT_RPCRDMA_PLACE_RPCRDMA_PLACE_H

#include "transport/rpcrdma/rpcrdma_flow.h"

/* The layout of our receive buffers: RPCRDMA_RTR_OWN targets, of RPCRDMA_RTR_PAGE bytes each. */
extern const struct rpcrdma_rtr_layout rpcrdma_rtr_own;
/* RPCRDMA_RTR_DATA: most bytes of data in one Send. RPCRDMA_RTR_MSG: most bytes of the message
 * beside the data, with the header. */
#define RPCRDMA_RTR_DATA ((RPCRDMA_RTR_OWN - 1) * RPCRDMA_RTR_PAGE)
#define RPCRDMA_RTR_MSG	 (RPCRDMA_RTR_HEAD + RPCRDMA_RTR_PAGE)
/* Makes item i of h, the only item with targets, an item with data in targets of the peer. The
 * message has len bytes besides. At most `most` Sends bring both; h gets the number of Sends. 0;
 * -EMSGSIZE: there is no room, and the item, the targets and the number of Sends are undefined. */
int rpcrdma_place_item(const struct rpcrdma_conn *c, struct rpcrdma_hdr *h, unsigned i,
	uint32_t disp, const struct seg_list *data, uint64_t len, unsigned most);
/* The bytes of data that `sends` Sends to the peer bring beside a message of len bytes, header
 * included.
 */
uint64_t rpcrdma_place_room(const struct rpcrdma_conn *c, uint32_t len, unsigned sends);
/* Makes the Sends of a message with data as the first item: wr is the last Send, lead all before.
 * Otherwise as rpcrdma_make_send(); *held is always new memory. On an error lead is empty. */
int rpcrdma_make_placed(struct rpcrdma_conn *c, struct rpcrdma_lead *lead, struct prov_wr *wr,
	const struct rpcrdma_hdr *h, const struct rpcrdma_stream *s, const struct seg_list *data,
	struct mem_buf **held);
/* Finds where the item lies in the message m, which we received: fills seg, of `most`, with *n
 * pieces. 0, or the error to report. */
enum rpcrdma_rtr_err rpcrdma_placed(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
	const struct rpcrdma_rtr_item *it, const struct rpcrdma_msg *m, struct seg *seg,
	unsigned most, unsigned *n, struct rpcrdma_rtr_fault *f);
/* Turns the RDMA parts of a Transmit Request into chunks: a Read chunk for each item to be read,
 * and a Write chunk for each place, an empty one if the place has no memory. 0 or -E2BIG. */
int rpcrdma_as_chunks(struct rpcrdma_hdr *h);
/* Adds to t the payloads that message m has brought in Sends. 0, -E2BIG; or -EPROTO: the peer has
 * been told the error. */
int rpcrdma_taken_place(struct rpcrdma_conn *c, struct rpcrdma_taken *t,
	const struct rpcrdma_hdr *h, const struct rpcrdma_msg *m);
/* Sets in req the room for the results of t, a Transmit Request: in one Send, and in t's places. */
void rpcrdma_set_places(
	const struct rpcrdma_conn *c, struct rpc_req *req, const struct rpcrdma_taken *t);
/* The peer has sent a Report Error about a reply of ours. */
void rpcrdma_reported(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* Reports the fault of the transmission h to the peer. `lead` is the first transmission of the
 * group, or NULL if h is the first. */
void rpcrdma_report(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
	const struct rpcrdma_hdr *lead, const struct rpcrdma_rtr_fault *f);

#endif

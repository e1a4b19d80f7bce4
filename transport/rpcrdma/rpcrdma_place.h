/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_place: data that Sends place (rpcrdma_rtr.h), in one (rpcrdma_place.c) or in a group of
 * transmissions (rpcrdma_group.c).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PLACE_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PLACE_H

#include "transport/rpcrdma/rpcrdma_continue.h"

/* rpcrdma_place.c: data that Sends place (rpcrdma_rtr.h), in a dialect that does. */
/* Our receive buffers, whose targets are so many, of RPCRDMA_RTR_PAGE bytes each. */
extern const struct rpcrdma_rtr_layout rpcrdma_rtr_own;
/* Data that comes in one Send at most, and the message beside it, with its header. */
#define RPCRDMA_RTR_DATA ((RPCRDMA_RTR_OWN - 1) * RPCRDMA_RTR_PAGE)
#define RPCRDMA_RTR_MSG	 (RPCRDMA_RTR_HEAD + RPCRDMA_RTR_PAGE)
/* Makes item i of h, the only one with targets, data that lies in targets of the peer's. The
 * message has len bytes besides. `most` Sends bring both at most, and h says how many do. 0;
 * -EMSGSIZE: there is no room, and the item, the targets and the number of Sends are undefined. */
int rpcrdma_place_item(const struct rpcrdma_conn *c, struct rpcrdma_hdr *h, unsigned i,
	uint32_t disp, const struct seg_list *data, uint64_t len, unsigned most);
/* Bytes of data that so many Sends to the peer bring beside a message of len bytes with its header.
 */
uint64_t rpcrdma_place_room(const struct rpcrdma_conn *c, uint32_t len, unsigned sends);
/* Makes the Sends of a message whose first item is data: wr of the last, lead of those before. Else
 * as rpcrdma_make_send(); held is always memory of its own. On an error lead is empty. */
int rpcrdma_make_placed(struct rpcrdma_conn *c, struct rpcrdma_lead *lead, struct prov_wr *wr,
	const struct rpcrdma_hdr *h, const struct rpcrdma_stream *s, const struct seg_list *data,
	struct mem_buf **held);
/* Where the item has come to lie in the message m of ours: fills seg, of `most`, with *n pieces. 0,
 * or the error to report. */
enum rpcrdma_rtr_err rpcrdma_placed(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
	const struct rpcrdma_rtr_item *it, const struct rpcrdma_msg *m, struct seg *seg,
	unsigned most, unsigned *n, struct rpcrdma_rtr_fault *f);
/* What a Transmit Request says of RDMA, in the words of chunks: items to be read, and a Write chunk
 * for each place, an empty one if there is no memory for it. 0 or -E2BIG. */
int rpcrdma_as_chunks(struct rpcrdma_hdr *h);
/* Adds to the payloads of t those that its Send, m, has brought. 0, -E2BIG; or -EPROTO: the peer
 * was told what is wrong. */
int rpcrdma_taken_place(struct rpcrdma_conn *c, struct rpcrdma_taken *t,
	const struct rpcrdma_hdr *h, const struct rpcrdma_msg *m);
/* Room for the results of t, a Transmit Request: in one Send, and in the places that it names. */
void rpcrdma_set_places(
	const struct rpcrdma_conn *c, struct rpc_req *req, const struct rpcrdma_taken *t);
/* The peer has reported a reply of ours. */
void rpcrdma_reported(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* Tells the peer what is wrong with the transmission h, in the group that `lead` has begun, if that
 * is another (else NULL). */
void rpcrdma_report(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
	const struct rpcrdma_hdr *lead, const struct rpcrdma_rtr_fault *f);

/* rpcrdma_group.c: messages of several transmissions. Progress thread. */
/* Most transmissions of a call that we take. */
unsigned rpcrdma_group_max(const struct rpcrdma_conn *c);
/* Message m has come; *h was decoded with result rc. True: it is to be handled, and if it is the
 * end of a group it is all of that now, under the header of the first. False: more is to come, or
 * the peer was told what is wrong; m was given back. */
bool rpcrdma_group_join(
	struct rpcrdma_conn *c, struct rpcrdma_hdr **h, int rc, struct rpcrdma_msg *m);

#endif

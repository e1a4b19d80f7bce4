/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_parts: the tables of functions by which the core reaches the parts for some versions
 * only.
 *
 * rpcrdma_setup.c gives each connection all tables. A member has the name of a function, and the
 * function's header documents the member. The core calls a member only in a dialect that has the
 * part, so a message of version 1 costs no indirect call.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PARTS_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PARTS_H

#include "transport/rpcrdma/rpcrdma_flow.h"

/* Fails the reply m under header h, and takes the buffers of m. */
typedef void rpcrdma_fail_reply(
	struct rpcrdma_conn *c, struct rpcrdma_hdr *h, struct rpcrdma_msg *m);

/* Data placed by Sends (place/), in dialects with `places`. */
struct rpcrdma_place_ops {
	/* rpcrdma_place.h */
	int (*place_item)(const struct rpcrdma_conn *c, struct rpcrdma_hdr *h, unsigned i,
		uint32_t disp, const struct seg_list *data, uint64_t len, unsigned most);
	int (*make_placed)(struct rpcrdma_conn *c, struct rpcrdma_lead *lead, struct prov_wr *wr,
		const struct rpcrdma_hdr *h, const struct rpcrdma_stream *s,
		const struct seg_list *data, struct mem_buf **held);
	enum rpcrdma_rtr_err (*placed)(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
		const struct rpcrdma_rtr_item *it, const struct rpcrdma_msg *m, struct seg *seg,
		unsigned most, unsigned *n, struct rpcrdma_rtr_fault *f);
	int (*as_chunks)(struct rpcrdma_hdr *h);
	int (*taken_place)(struct rpcrdma_conn *c, struct rpcrdma_taken *t,
		const struct rpcrdma_hdr *h, const struct rpcrdma_msg *m);
	void (*set_places)(
		const struct rpcrdma_conn *c, struct rpc_req *req, const struct rpcrdma_taken *t);
	void (*reported)(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
	void (*report)(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
		const struct rpcrdma_hdr *lead, const struct rpcrdma_rtr_fault *f);
	const struct rpcrdma_rtr_layout *own;
	/* rpcrdma_group.h */
	unsigned (*group_max)(const struct rpcrdma_conn *c);
	bool (*group_join)(struct rpcrdma_conn *c, struct rpcrdma_hdr **h, int rc,
		struct rpcrdma_msg *m, rpcrdma_fail_reply *fail);
	/* requester_place.h */
	bool (*may_place)(const struct rpcrdma_conn *c, const struct rpcrdma_posted *p);
	int (*marshal_placed)(struct rpcrdma_conn *c, struct rpcrdma_posted *p,
		struct rpcrdma_hdr *h, struct rpcrdma_sends *out);
	unsigned (*place_sends_locked)(
		const struct rpcrdma_conn *c, const struct rpcrdma_posted *p);
};

/* Properties (v2/), in dialects that talk. */
struct rpcrdma_v2_ops {
	/* rpcrdma_connprop.h */
	void (*tell_props)(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
	void (*handle_props)(
		struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, struct rpcrdma_msg *m);
};

/* The dialect of 2005 (old/), in dialects with `legacy`. */
struct rpcrdma_old_ops {
	/* rpcrdma_ccp.h, rpcrdma_padded.h */
	bool (*ccp_serve)(struct rpcrdma_conn *c, struct rpc_req *req);
	void (*pad)(struct rpcrdma_conn *c, const struct xdr_out *args, struct rpcrdma_hdr *h,
		struct rpcrdma_stream *s);
	/* rpcrdma_lent.h */
	bool (*lends_enough)(struct rpcrdma_conn *c);
	int (*lend)(struct rpcrdma_conn *c, struct rpcrdma_hdr *h,
		const struct rpcrdma_stream *part, const uint32_t *position, unsigned n);
	void (*handle_done)(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
	void (*lent_look)(struct rpcrdma_conn *c);
	void (*lent_closed)(struct rpcrdma_conn *c, struct rpcrdma_lent *l);
	void (*lent_drop_all)(struct rpcrdma_conn *c);
	/* rpcrdma_done.h, rpcrdma_pull.h */
	void (*send_done)(struct rpcrdma_conn *c, uint32_t xid);
	void (*dones_back_locked)(struct rpcrdma_conn *c, uint32_t n);
	void (*pull_reply)(
		struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h);
	void (*reply_pulled)(struct rpcrdma_conn *c, struct rpcrdma_taken *t);
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_props: see rpcrdma_props.h.
 */
#include "transport/rpcrdma/rpcrdma_props.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_rtr.h"

#define NUMBERS 5
#define RTR	4

void rpcrdma_props_init(struct rpcrdma_props *p)
{
	*p = (struct rpcrdma_props){
		.send_size = 4096,
		.recv_size = 4096,
		.seg_size = 1024 * 1024,
		.seg_count = 16,
		.reverse = RPCRDMA_REVERSE_INLINE,
		.told = UINT32_MAX,
		.rtr_req_sends = 1,
		.rtr_resp_sends = 1,
	};
}

/* The member for property `which`, NULL: the property is no number. */
static uint32_t *number(struct rpcrdma_props *p, uint32_t which)
{
	switch (which) {
	case RPCRDMA_PROP_SEND_SIZE:
		return &p->send_size;
	case RPCRDMA_PROP_RECV_SIZE:
		return &p->recv_size;
	case RPCRDMA_PROP_SEG_SIZE:
		return &p->seg_size;
	case RPCRDMA_PROP_SEG_COUNT:
		return &p->seg_count;
	case RPCRDMA_PROP_REVERSE:
		return &p->reverse;
	case RPCRDMA_PROP_RTR_OPS:
		return &p->rtr_ops;
	case RPCRDMA_PROP_RTR_REQ_SENDS:
		return &p->rtr_req_sends;
	case RPCRDMA_PROP_RTR_RESP_SENDS:
		return &p->rtr_resp_sends;
	default:
		return NULL;
	}
}

static void put_number(struct xdr_out *x, const struct rpcrdma_props *p, uint32_t which)
{
	struct rpcrdma_props copy = *p;

	xdr_put_u32(x, which);
	xdr_put_u32(x, 4);
	xdr_put_u32(x, *number(&copy, which));
}

static void put_rtr(struct xdr_out *x, const struct rpcrdma_props *p)
{
	put_number(x, p, RPCRDMA_PROP_RTR_OPS);
	xdr_put_u32(x, RPCRDMA_PROP_RTR_LAYOUT);
	xdr_put_u32(x, 8 + 16 * p->layout.ngroups);
	rpcrdma_rtr_put_layout(x, &p->layout);
	put_number(x, p, RPCRDMA_PROP_RTR_REQ_SENDS);
	put_number(x, p, RPCRDMA_PROP_RTR_RESP_SENDS);
}

void rpcrdma_props_put(struct xdr_out *x, const struct rpcrdma_props *p)
{
	xdr_put_u32(x, NUMBERS + (p->rtr_ops ? RTR : 0));
	for (uint32_t which = 1; which <= NUMBERS; which++)
		put_number(x, p, which);
	if (p->rtr_ops)
		put_rtr(x, p);
}

/* Host authentication, which we do not use: an opaque in an opaque, and no bytes behind. */
static int check_auth(const uint8_t *data, uint32_t n)
{
	struct xdr_in x;
	uint32_t len;

	xdr_in_init(&x, data, n);
	xdr_get_opaque(&x, UINT32_MAX, &len);
	return xdr_in_ok(&x) && !xdr_in_left(&x) ? 0 : -EBADMSG;
}

/* The structure of receive buffers, and no bytes behind. */
static int get_layout(struct rpcrdma_props *p, const uint8_t *data, uint32_t n)
{
	struct xdr_in x;

	xdr_in_init(&x, data, n);
	rpcrdma_rtr_get_layout(&x, &p->layout);
	return xdr_in_ok(&x) && !xdr_in_left(&x) ? 0 : -EBADMSG;
}

/* Reads property `which`, of n bytes; no bytes: the default. */
static int get_one(struct rpcrdma_props *p, uint32_t which, const uint8_t *data, uint32_t n)
{
	struct rpcrdma_props dflt;
	uint32_t *value = number(p, which), word;

	if (value && which <= NUMBERS)
		p->told |= 1u << which;
	if (value && !n) {
		rpcrdma_props_init(&dflt);
		*value = *number(&dflt, which);
		return 0;
	}
	if (value && n != sizeof(word))
		return -EBADMSG;
	if (value) {
		memcpy(&word, data, sizeof(word));
		*value = be32toh(word);
	}
	if (which == RPCRDMA_PROP_HOST_AUTH && n)
		return check_auth(data, n);
	return which == RPCRDMA_PROP_RTR_LAYOUT && n ? get_layout(p, data, n) : 0;
}

int rpcrdma_props_get(struct xdr_in *x, struct rpcrdma_props *p)
{
	uint32_t n = xdr_get_count(x, UINT32_MAX, 8);
	int rc = 0;

	rpcrdma_props_init(p);
	p->told = 0;
	while (!rc && xdr_in_ok(x) && n--) {
		uint32_t which = xdr_get_u32(x), len;
		const uint8_t *data = xdr_get_opaque(x, UINT32_MAX, &len);

		if (xdr_in_ok(x))
			rc = get_one(p, which, data, len);
	}
	/* section 8.3 of the extension */
	if (p->layout.ngroups && !(p->told & 1u << RPCRDMA_PROP_RECV_SIZE))
		p->recv_size = p->layout.len;
	return !rc && xdr_in_ok(x) && !xdr_in_left(x) ? 0 : -EBADMSG;
}

void rpcrdma_props_follow(struct rpcrdma_props *p, const struct rpcrdma_props *before)
{
	struct rpcrdma_props dflt;

	rpcrdma_props_init(&dflt);
	for (uint32_t which = 1; which <= NUMBERS; which++) {
		uint32_t *value = number(p, which), most = *number(&dflt, which);

		if (!(before->told & 1u << which) && *value > most)
			*value = most;
	}
	p->told &= before->told;
}

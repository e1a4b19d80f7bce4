/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ccp: the arguments and results of CONF_RDMA.
 */
#include "transport/rpcrdma/old/ccp.h"

#include <errno.h>

void ccp_put_req(struct xdr_out *x, const struct ccp_req *r)
{
	xdr_put_u32(x, r->call_size);
	xdr_put_u32(x, r->reply_size);
	xdr_put_u32(x, r->reads);
}

void ccp_put_res(struct xdr_out *x, const struct ccp_res *r)
{
	xdr_put_u32(x, r->call_size);
	xdr_put_u32(x, r->align);
	xdr_put_u32(x, r->reads);
}

int ccp_get_req(struct xdr_in *x, struct ccp_req *r)
{
	r->call_size = xdr_get_u32(x);
	r->reply_size = xdr_get_u32(x);
	r->reads = xdr_get_u32(x);
	return xdr_in_done(x) ? 0 : -EBADMSG;
}

int ccp_get_res(struct xdr_in *x, struct ccp_res *r)
{
	r->call_size = xdr_get_u32(x);
	r->align = xdr_get_u32(x);
	r->reads = xdr_get_u32(x);
	return xdr_in_done(x) ? 0 : -EBADMSG;
}

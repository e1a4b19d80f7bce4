/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dispatch: which program a request is for. All of them are served on every port, over every
 * transport.
 */
#include "contrib/serve/admit.h"
#include "contrib/serve/fault/fault.h"
#include "contrib/serve/main/dispatch.h"

#include "contrib/serve/export/ident.h"
#include "contrib/serve/state/session.h"
#include "contrib/serve/v3/mountd.h"
#include "contrib/serve/v3/nlm.h"
#include "contrib/serve/v3/nsm.h"
#include "contrib/serve/v3/v3.h"
#include "contrib/serve/v4/cb.h"
#include "contrib/serve/v4/v4.h"
#include "nfsproto/wire/mount3.h"
#include "nfsproto/wire/nsm_xdr.h"

typedef void request_fn(const struct serve_port *port, struct rpc_req *req);

/* Versions of one program stand together, in order and without a gap. */
static const struct program {
	uint32_t prog, vers;
	request_fn *request;
	bool data; /* also at a data server, which lets no client look for files or lock them */
} programs[] = {
	{NFS3_PROGRAM, NFS3_VERSION, v3_request, true},
	{NFS4_PROGRAM, NFS4_VERSION, compound_request, true},
	{MOUNT3_PROGRAM, MOUNT3_VERSION, mountd_request, false},
	{NLM4_PROGRAM, NLM4_VERSION, nlm_request, false},
	{NSM_PROGRAM, NSM_VERSION, nsm_request, false},
};

void serve_request(void *ctx, struct rpc_req *req)
{
	const struct serve_port *port = ctx;
	struct serve *sv = port->sv;
	bool known = false;

	/* the user of a call to a data server is a synthetic one, and checked there */
	if (sv->admit && ident_switches() && !sv->data_server)
		admit_cred(sv->admit, rpc_xprt_user(req->xprt), &req->cred);
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct program *p = &programs[i];

		if (p->prog != req->prog || (sv->data_server && !p->data))
			continue;
		if (p->vers == req->vers) {
			p->request(port, req);
			cb_notify_all(sv); /* sends calls that the request has made due */
			return;
		}
		if (!known)
			req->mismatch_low = p->vers;
		req->mismatch_high = p->vers;
		known = true;
	}
	rpc_req_reply(req, known ? RPC_ACCEPT_PROG_MISMATCH : RPC_ACCEPT_PROG_UNAVAIL);
}

bool serve_admit(void *ctx, const struct rpc_xprt *x)
{
	const struct serve_port *port = ctx;

	return admit_xprt(port->sv->admit, x);
}

void serve_conn_down(void *ctx, struct rpc_xprt *x)
{
	const struct serve_port *port = ctx;

	session_conn_down(&port->sv->state, x);
}

int serve_wrap(void *ctx, struct rpc_xprt *x)
{
	const struct serve_port *port = ctx;

	return fault_xprt_wrap(x, fault_ask, port->sv->fault);
}

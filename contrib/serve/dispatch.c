/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dispatch: which program a request is for. All of them are served on every port, over every
 * transport.
 */
#include "contrib/serve/ident.h"
#include "contrib/serve/mountd.h"
#include "contrib/serve/nlm.h"
#include "contrib/serve/serve.h"
#include "contrib/serve/v3.h"
#include "nfsproto/mount3.h"
#include "nfsproto/nlm4_xdr.h"

typedef void request_fn(const struct serve_port *port, struct rpc_req *req);

/* Versions of one program stand together, in order and without a gap. */
static const struct program {
	uint32_t prog, vers;
	request_fn *request;
} programs[] = {
	{NFS3_PROGRAM, NFS3_VERSION, v3_request},
	{NFS4_PROGRAM, NFS4_VERSION, compound_request},
	{MOUNT3_PROGRAM, MOUNT3_VERSION, mountd_request},
	{NLM4_PROGRAM, NLM4_VERSION, nlm_request},
};

void serve_request(void *ctx, struct rpc_req *req)
{
	const struct serve_port *port = ctx;
	struct serve *sv = port->sv;
	bool known = false;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct program *p = &programs[i];

		if (p->prog != req->prog)
			continue;
		if (p->vers == req->vers) {
			p->request(port, req);
			cb_notify_all(sv); /* what it has set free */
			return;
		}
		if (!known)
			req->mismatch_low = p->vers;
		req->mismatch_high = p->vers;
		known = true;
	}
	rpc_req_reply(req, known ? RPC_ACCEPT_PROG_MISMATCH : RPC_ACCEPT_PROG_UNAVAIL);
}

/* A call on its way through ident_call(). */
struct job {
	struct serve *sv;
	struct rpc_req *req;
	serve_fn *run;
	enum serve_result result;
};

static void run_job(void *arg)
{
	struct job *job = arg;

	job->result = job->run(job->sv, job->req);
}

void serve_call(const struct serve_port *port, struct rpc_req *req, size_t res_cap, serve_fn *run)
{
	struct job job = {.sv = port->sv, .req = req, .run = run};

	if (rpc_req_begin(req, res_cap) < 0) {
		rpc_req_reply(req, RPC_ACCEPT_SYSTEM_ERR);
		return;
	}
	ident_call(port->keep_ident, &req->cred, run_job, &job);
	if (job.result == SERVE_DROP)
		rpc_req_drop(req);
	else
		rpc_req_reply(req,
			job.result == SERVE_DONE ? RPC_ACCEPT_SUCCESS : RPC_ACCEPT_GARBAGE_ARGS);
}

void serve_conn_down(void *ctx, struct rpc_xprt *x)
{
	const struct serve_port *port = ctx;

	state_conn_down(&port->sv->state, x);
}

enum rpc_fault serve_fault(void *ctx, const struct rpc_req *req, bool reply, unsigned *delay_ms)
{
	const struct serve_port *port = ctx;

	return fault_hook(port->sv->fault, req, reply, delay_ms);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * serve: how a program's request is carried out as its caller and answered.
 */
#include "contrib/serve/serve.h"

#include "contrib/serve/export/ident.h"

/* A call for ident_call(). */
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

struct share_key serve_key(const struct rpc_req *req)
{
	return req->xprt ? share_key(rpc_xprt_addr(req->xprt), rpc_xprt_user(req->xprt))
			 : share_key(NULL, NULL);
}

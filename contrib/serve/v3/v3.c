/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v3: NFS version 3, from an RPC request to its answer.
 *
 * Only the table below knows which procedures there are, and the conditions for each.
 */
#include "contrib/serve/v3/v3.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "contrib/serve/ops/stable.h"
#include "contrib/serve/v3/drc.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/fault/fault.h"
#include "nfsproto/wire/ulb.h"
#include "transport/log.h"

#define RES_CAP 8192u /* bytes of results of all but READDIR and READDIRPLUS */

enum {
	V3_WRITE = 1, /* refused on a read-only export */
	V3_ONCE = 2,  /* the answer is kept for a repeated call */
	V3_DIR = 4,   /* the first handle must be a directory's */
	V3_LONG = 8,  /* results fill all room */
	V3_DATA = 16, /* also at a data server (fence.h) */
	V3_IN = 32,   /* reads the file's data */
	V3_OUT = 64,  /* changes the file's data */
};

static const struct proc {
	v3_fn *fn;
	unsigned flags;
} procs[NFS3_PROCS] = {
	[NFS3PROC_GETATTR] = {v3_getattr, V3_DATA},
	[NFS3PROC_SETATTR] = {v3_setattr, V3_WRITE | V3_ONCE},
	[NFS3PROC_LOOKUP] = {v3_lookup, V3_DIR},
	[NFS3PROC_ACCESS] = {v3_access, 0},
	[NFS3PROC_READLINK] = {v3_readlink, 0},
	[NFS3PROC_READ] = {v3_read, V3_DATA | V3_IN},
	[NFS3PROC_WRITE] = {v3_write, V3_WRITE | V3_ONCE | V3_DATA | V3_OUT},
	[NFS3PROC_CREATE] = {v3_create, V3_WRITE | V3_ONCE | V3_DIR},
	[NFS3PROC_MKDIR] = {v3_mkdir, V3_WRITE | V3_ONCE | V3_DIR},
	[NFS3PROC_SYMLINK] = {v3_symlink, V3_WRITE | V3_ONCE | V3_DIR},
	[NFS3PROC_MKNOD] = {v3_mknod, V3_WRITE | V3_ONCE | V3_DIR},
	[NFS3PROC_REMOVE] = {v3_remove, V3_WRITE | V3_ONCE | V3_DIR},
	[NFS3PROC_RMDIR] = {v3_rmdir, V3_WRITE | V3_ONCE | V3_DIR},
	[NFS3PROC_RENAME] = {v3_rename, V3_WRITE | V3_ONCE | V3_DIR},
	[NFS3PROC_LINK] = {v3_link, V3_WRITE | V3_ONCE},
	[NFS3PROC_READDIR] = {v3_readdir, V3_DIR | V3_LONG},
	[NFS3PROC_READDIRPLUS] = {v3_readdir, V3_DIR | V3_LONG},
	[NFS3PROC_FSSTAT] = {v3_fsstat, V3_DATA},
	[NFS3PROC_FSINFO] = {v3_fsinfo, V3_DATA},
	[NFS3PROC_PATHCONF] = {v3_pathconf, V3_DATA},
	[NFS3PROC_COMMIT] = {v3_commit, V3_DATA | V3_OUT},
};

static uint32_t get_obj(struct serve *sv, const struct nfs_fh *fh, struct obj **o)
{
	int r = obj_by_handle(sv->objs, fh->data, fh->len, o);

	return r < 0 ? entry_status(r) : (uint32_t)NFS4_OK;
}

/* The arguments of every procedure begin with a handle; two have a second one. */
static uint32_t get_objs(struct v3_call *c, const struct nfs3_args *a)
{
	const struct nfs_fh *second = a->proc == NFS3PROC_RENAME ? &a->u.rename.to.dir
				      : a->proc == NFS3PROC_LINK ? &a->u.link.where.dir
								 : NULL;
	uint32_t status = get_obj(c->sv, &a->u.fh, &c->o);

	if (status == NFS4_OK && procs[a->proc].flags & V3_DIR && !S_ISDIR(c->o->type))
		status = NFS4ERR_NOTDIR;
	if (status != NFS4_OK || !second)
		return status;
	status = get_obj(c->sv, second, &c->o2);
	if (status == NFS4_OK && !S_ISDIR(c->o2->type))
		status = NFS4ERR_NOTDIR;
	return status;
}

static uint32_t run_proc(struct v3_call *c, const struct nfs3_args *a)
{
	const struct proc *p = &procs[a->proc];
	bool fenced = c->sv->data_server && p->flags & (V3_IN | V3_OUT);
	uint32_t status = NFS4_OK;

	if (c->sv->data_server && !(p->flags & V3_DATA))
		return NFS4ERR_ACCESS;
	if (!fenced && ident_assume(&c->req->cred) < 0)
		return NFS4ERR_ACCESS;
	status = get_objs(c, a);
	if (status == NFS4_OK && fenced)
		status = nfs4_errno_status(
			fence_admit(c->sv->objs, c->o, &c->req->cred, p->flags & V3_OUT));
	if (status == NFS4_OK && p->flags & V3_WRITE && c->sv->read_only)
		status = NFS4ERR_ROFS;
	if (status == NFS4_OK)
		status = fault_proc_status(c->sv->fault, NFS3_PROGRAM, a->proc);
	return status == NFS4_OK ? p->fn(c, a) : status;
}

static void end_use(struct v3_call *c)
{
	if (c->used)
		deleg_end_use(&c->sv->state, c->used, c->use);
	c->used = obj_unref(c->sv->objs, c->used);
}

static void put_res(struct v3_call *c, uint32_t status)
{
	c->status = c->res.u.status = v3_status(status);
	nfs3_put_res(&c->req->res, &c->res);
}

static void run(struct v3_call *c, const struct nfs3_args *a)
{
	uint32_t status = run_proc(c, a);

	end_use(c);
	c->status = v3_status(status);
	if (!c->put)
		put_res(c, status);
	/* RFC 8267 section 4: a result that is not eligible stays in the stream */
	assert(!c->req->res.npayloads || ulb_nfs3_proc(a->proc) & ULB_DDP_RES);
	log_data("%s: v3 %s: %s", c->req->xprt ? rpc_xprt_peer(c->req->xprt) : "local",
		nfs3_proc_name(a->proc), nfs3_status_name(c->status));
}

/* Was the call carried out before? */
static enum drc_verdict ask_cache(struct v3_call *c)
{
	struct rpc_req *req = c->req;
	enum drc_verdict v = drc_begin(c->sv->drc, req, &req->res, &c->once);

	if (v == DRC_REPLAY)
		log_ctrl("%s: v3 %s answered again from the cache",
			req->xprt ? rpc_xprt_peer(req->xprt) : "local", nfs3_proc_name(req->proc));
	return v;
}

struct v3_call *v3_new(struct serve *sv, struct rpc_req *req)
{
	struct v3_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sv = sv;
	c->req = req;
	c->res.proc = req->proc;
	return c;
}

enum serve_result v3_run(struct v3_call *c)
{
	struct xdr_in in = c->req->args;
	enum drc_verdict v = DRC_RUN;
	struct nfs3_args a;

	if (nfs3_get_args(&in, c->req->proc, &a) < 0) {
		free(c);
		return SERVE_GARBAGE;
	}
	if (procs[a.proc].flags & V3_ONCE)
		v = ask_cache(c);
	if (v == DRC_DROP) {
		free(c);
		return SERVE_DROP;
	}
	if (v == DRC_LATER)
		put_res(c, NFS4ERR_DELAY);
	else if (v == DRC_RUN && a.proc != NFS3PROC_NULL)
		run(c, &a);
	return SERVE_DONE;
}

/* Keeps the answer before the change is stable: after a kill the next run syncs the file system. */
static void keep_for_next_run(struct v3_call *c)
{
	if (!c->once || c->status == NFS3ERR_JUKEBOX)
		return;
	switch (c->req->proc) {
	case NFS3PROC_CREATE:
	case NFS3PROC_MKDIR:
	case NFS3PROC_SYMLINK:
	case NFS3PROC_MKNOD:
	case NFS3PROC_REMOVE:
	case NFS3PROC_RMDIR:
	case NFS3PROC_RENAME:
	case NFS3PROC_LINK:
		drc_keep(c->sv->drc, c->once, &c->req->res);
		break;
	default: /* WRITE and SETATTR may be done twice */
		break;
	}
}

static void is_stable(struct stable_job *job, int err)
{
	struct v3_call *c = (void *)((char *)job - offsetof(struct v3_call, last));
	struct serve *sv = c->sv;

	if (err < 0) {
		c->req->res.len = 0;
		put_res(c, nfs4_errno_status(err));
		keep_for_next_run(c);
	}
	if (c->once)
		drc_done(sv->drc, c->once, c->status == NFS3ERR_JUKEBOX ? NULL : &c->req->res);
	obj_unref(sv->objs, c->o);
	obj_unref(sv->objs, c->o2);
	c->done(c);
	free(c);
}

void v3_end(struct v3_call *c, void (*done)(struct v3_call *c))
{
	c->done = done;
	keep_for_next_run(c);
	c->last.done = is_stable;
	stable_finish(c->sv->stable, &c->last);
}

/* A call for ident_call(). */
struct job {
	struct v3_call *c;
	enum serve_result result;
};

static void run_job(void *arg)
{
	struct job *job = arg;

	job->result = v3_run(job->c);
}

static void answer(struct v3_call *c)
{
	rpc_req_reply(c->req, RPC_ACCEPT_SUCCESS);
}

static void serve_v3(const struct serve_port *port, struct rpc_req *req)
{
	size_t cap = procs[req->proc].flags & V3_LONG ? SERVE_RES_CAP : RES_CAP;
	struct job job = {.c = v3_new(port->sv, req)};

	if (!job.c || rpc_req_begin(req, cap) < 0) {
		free(job.c);
		rpc_req_reply(req, RPC_ACCEPT_SYSTEM_ERR);
		return;
	}
	ident_call(port->keep_ident, &req->cred, run_job, &job);
	if (job.result == SERVE_DONE)
		v3_end(job.c, answer);
	else if (job.result == SERVE_DROP)
		rpc_req_drop(req);
	else
		rpc_req_reply(req, RPC_ACCEPT_GARBAGE_ARGS);
}

void v3_request(const struct serve_port *port, struct rpc_req *req)
{
	if (req->proc < NFS3_PROCS)
		serve_v3(port, req);
	else
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
}

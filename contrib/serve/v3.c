/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v3: NFS version 3, from an RPC request to its answer.
 *
 * The table below is the only place that knows which procedures there are and what each needs.
 */
#include "contrib/serve/v3.h"

#include <errno.h>
#include <string.h>

#include "contrib/serve/drc.h"
#include "contrib/serve/entry.h"
#include "contrib/serve/ident.h"
#include "transport/log.h"

#define RES_CAP 8192u /* bytes of results of all but READDIR and READDIRPLUS */

enum {
	V3_WRITE = 1, /* refused on a read-only export */
	V3_ONCE = 2,  /* the answer is kept for when the call comes again */
	V3_DIR = 4,   /* the first handle must be a directory's */
	V3_LONG = 8,  /* results fill whatever room they have */
};

static const struct proc {
	v3_fn *fn;
	unsigned flags;
} procs[NFS3_PROCS] = {
	[NFS3PROC_GETATTR] = {v3_getattr, 0},
	[NFS3PROC_SETATTR] = {v3_setattr, V3_WRITE | V3_ONCE},
	[NFS3PROC_LOOKUP] = {v3_lookup, V3_DIR},
	[NFS3PROC_ACCESS] = {v3_access, 0},
	[NFS3PROC_READLINK] = {v3_readlink, 0},
	[NFS3PROC_READ] = {v3_read, 0},
	[NFS3PROC_WRITE] = {v3_write, V3_WRITE | V3_ONCE},
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
	[NFS3PROC_FSSTAT] = {v3_fsstat, 0},
	[NFS3PROC_FSINFO] = {v3_fsinfo, 0},
	[NFS3PROC_PATHCONF] = {v3_pathconf, 0},
	[NFS3PROC_COMMIT] = {v3_commit, 0},
};

uint32_t v3_status(uint32_t status)
{
	switch (status) {
	case NFS4ERR_SYMLINK:
	case NFS4ERR_WRONG_TYPE:
	case NFS4ERR_BADNAME:
	case NFS4ERR_BADCHAR:
	case NFS4ERR_BADOWNER:
		return NFS3ERR_INVAL;
	case NFS4ERR_LOCKED:
	case NFS4ERR_SHARE_DENIED:
	case NFS4ERR_OPENMODE:
	case NFS4ERR_FILE_OPEN:
		return NFS3ERR_ACCES;
	case NFS4ERR_FHEXPIRED:
		return NFS3ERR_STALE;
	case NFS4ERR_RESOURCE:
	case NFS4ERR_GRACE:
		return NFS3ERR_JUKEBOX;
	case NFS4ERR_REP_TOO_BIG:
		return NFS3ERR_TOOSMALL;
	case NFS4ERR_ATTRNOTSUPP:
		return NFS3ERR_NOTSUPP;
	case NFS3ERR_TOOSMALL:
		return status;
	default: /* most have one number in both */
		return nfs3_status_errno(status) == -EREMOTEIO ? NFS3ERR_SERVERFAULT : status;
	}
}

void v3_attr(const struct obj *o, const struct statx *st, struct nfs_attr *a)
{
	attr_stat(o, st, a);
	if (o->id.dev) /* there is one word for both parts */
		a->fsid_major = a->fsid_major << 32 | a->fsid_minor;
}

void v3_post_op(const struct obj *o, struct nfs3_post_op *p)
{
	struct statx st;

	p->have = obj_stat(o, &st) == 0;
	if (p->have)
		v3_attr(o, &st, &p->attr);
}

void v3_wcc_before(const struct obj *o, struct nfs3_wcc *w)
{
	struct nfs3_post_op p;

	v3_post_op(o, &p);
	w->have_before = p.have;
	if (!p.have)
		return;
	w->before.size = p.attr.size;
	w->before.mtime = p.attr.mtime;
	w->before.ctime = p.attr.ctime;
}

void v3_wcc_after(const struct obj *o, struct nfs3_wcc *w)
{
	v3_post_op(o, &w->after);
}

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
	uint32_t status = NFS4_OK;

	if (ident_assume(&c->req->cred) < 0)
		return NFS4ERR_ACCESS;
	status = get_objs(c, a);
	if (status == NFS4_OK && p->flags & V3_WRITE && c->sv->read_only)
		status = NFS4ERR_ROFS;
	if (status == NFS4_OK)
		status = fault_proc_status(c->sv->fault, NFS3_PROGRAM, a->proc);
	return status == NFS4_OK ? p->fn(c, a) : status;
}

/* Returns the status of the answer. */
static uint32_t run(struct serve *sv, struct rpc_req *req, const struct nfs3_args *a)
{
	struct v3_call c = {.sv = sv, .req = req, .res = {.proc = a->proc}};
	uint32_t status = v3_status(run_proc(&c, a));

	if (!c.put) {
		c.res.u.status = status;
		nfs3_put_res(&req->res, &c.res);
	}
	log_data("%s: v3 %s: %s", req->xprt ? rpc_xprt_peer(req->xprt) : "local",
		nfs3_proc_name(a->proc), nfs3_status_name(status));
	obj_unref(sv->objs, c.o);
	obj_unref(sv->objs, c.o2);
	return status;
}

static enum serve_result run_once(struct serve *sv, struct rpc_req *req, const struct nfs3_args *a)
{
	struct drc_entry *once;

	switch (drc_begin(sv->drc, req, &req->res, &once)) {
	case DRC_REPLAY:
		log_ctrl("%s: v3 %s answered again from the cache",
			req->xprt ? rpc_xprt_peer(req->xprt) : "local", nfs3_proc_name(a->proc));
		return SERVE_DONE;
	case DRC_DROP:
		return SERVE_DROP;
	case DRC_RUN:
		break;
	}
	drc_done(sv->drc, once, run(sv, req, a) == NFS3ERR_JUKEBOX ? NULL : &req->res);
	return SERVE_DONE;
}

enum serve_result v3_run(struct serve *sv, struct rpc_req *req)
{
	struct xdr_in in = req->args;
	struct nfs3_args a;

	if (nfs3_get_args(&in, req->proc, &a) < 0)
		return SERVE_GARBAGE;
	if (procs[a.proc].flags & V3_ONCE)
		return run_once(sv, req, &a);
	if (a.proc != NFS3PROC_NULL)
		run(sv, req, &a);
	return SERVE_DONE;
}

void v3_request(const struct serve_port *port, struct rpc_req *req)
{
	if (req->proc < NFS3_PROCS)
		serve_call(port, req, procs[req->proc].flags & V3_LONG ? SERVE_RES_CAP : RES_CAP,
			v3_run);
	else
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
}

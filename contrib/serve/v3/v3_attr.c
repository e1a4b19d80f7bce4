/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v3_attr: GETATTR, SETATTR, ACCESS, READLINK, FSSTAT, FSINFO, PATHCONF.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/layout_use.h"
#include "contrib/serve/v3/v3.h"

#define LINK_MAX_SAID 32000
#define DIR_SIZE      (32u << 10) /* preferred bytes of a READDIR's results */
#define IO_MULT	      4096u

uint32_t v3_getattr(struct v3_call *c, const struct nfs3_args *a)
{
	/* the holder of a write delegation may have changed the file; clients send GETATTR when
	 * they open */
	uint32_t status = v3_use(c, c->o, DELEG_LOOK);
	struct statx st;
	int r;

	if (status != NFS4_OK)
		return status;
	r = obj_stat(c->o, &st);
	if (r < 0)
		return nfs4_errno_status(r);
	v3_attr(c->o, &st, &c->res.u.getattr.attr);
	return NFS4_OK;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static uint32_t set_attrs(struct v3_call *c, const struct nfs3_setattr_args *a)
{
	struct nfs3_wcc *w = &c->res.u.wcc.wcc;
	struct fdcache_use *use = NULL;
	struct rights_change rights = {false, false};
	uint32_t status = NFS4_OK, done = 0;
	int fd = -1;

	if (a->guard && (!w->have_before || !same_time(&w->before.ctime, &a->ctime)))
		return NFS3ERR_NOT_SYNC;
	if (c->sv->devices && attr_is_access(&a->set))
		status = rights_begin(&c->sv->state, c->o, NULL, &rights);
	if (status == NFS4_OK)
		status = v3_use(c, c->o, a->set.mask & NFS_SET_SIZE ? DELEG_MODIFY : DELEG_CHANGE);
	if (status == NFS4_OK && a->set.mask & NFS_SET_SIZE && S_ISREG(c->o->type))
		status = v3_open(c, c->o, true, &use, &fd);
	if (status == NFS4_OK)
		status = attr_apply(c->o, fd, &a->set, &done);
	rights_end(&c->sv->state, c->o, &rights, done & ATTR_ACCESS);
	if (done)
		stable_want(c->sv->stable, &c->last.set, c->o);
	fdcache_put(c->sv->fds, use);
	return status;
}

uint32_t v3_setattr(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_wcc *w = &c->res.u.wcc.wcc;
	uint32_t status;

	v3_wcc_before(c->o, w);
	status = set_attrs(c, &a->u.setattr);
	v3_wcc_after(c->o, w);
	return status;
}

uint32_t v3_access(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_access_res *r = &c->res.u.access;
	uint32_t supported;

	r->access = attr_access(c->o, c->sv->read_only, a->u.access.access, &supported);
	v3_post_op(c->o, &r->obj);
	return NFS4_OK;
}

/* Puts the path of the link into the requester's Write chunk if there is one. */
static uint32_t put_path(struct v3_call *c, const char *path, uint32_t len)
{
	struct nfs3_readlink_res *r = &c->res.u.readlink;
	struct rpc_req *req = c->req;
	struct mem_buf *buf;
	int rc;

	r->target.s = path;
	r->target.len = len;
	if (!req->nsinks || !req->sink[0])
		return NFS4_OK;
	if (len > req->sink[0])
		return NFS4ERR_SERVERFAULT;
	buf = mem_buf_get(c->sv->pool, len);
	if (!buf)
		return NFS4ERR_DELAY;
	memcpy(buf->data, path, len);
	rc = rpc_req_hold(req, &(struct seg){mem_buf_sge(buf, 0, len), buf}, 1, &r->data);
	return rc < 0 ? nfs4_errno_status(rc) : (uint32_t)NFS4_OK;
}

uint32_t v3_readlink(struct v3_call *c, const struct nfs3_args *a)
{
	char path[PATH_MAX];
	uint32_t status;
	ssize_t n;

	v3_post_op(c->o, &c->res.u.readlink.obj);
	if (!S_ISLNK(c->o->type))
		return NFS4ERR_INVAL;
	n = readlinkat(c->o->fd, "", path, sizeof(path));
	status = n < 0 ? nfs4_errno_status(errno) : put_path(c, path, (uint32_t)n);
	c->res.u.status = v3_status(status);
	nfs3_put_res(&c->req->res, &c->res); /* while path is valid */
	c->put = true;
	return status;
}

uint32_t v3_fsstat(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_fsstat_res *r = &c->res.u.fsstat;
	int err = attr_fsstat(c->o, &r->st);

	v3_post_op(c->o, &r->obj);
	return err < 0 ? nfs4_errno_status(err) : (uint32_t)NFS4_OK;
}

uint32_t v3_fsinfo(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_fsinfo_res *r = &c->res.u.fsinfo;

	r->rtmax = r->rtpref = r->wtmax = r->wtpref = SERVE_IO_MAX;
	r->rtmult = r->wtmult = IO_MULT;
	r->dtpref = DIR_SIZE;
	r->maxfilesize = INT64_MAX;
	r->time_delta = (struct timespec){.tv_nsec = 1};
	r->properties =
		NFS3_FSF_LINK | NFS3_FSF_SYMLINK | NFS3_FSF_HOMOGENEOUS | NFS3_FSF_CANSETTIME;
	v3_post_op(c->o, &r->obj);
	return NFS4_OK;
}

uint32_t v3_pathconf(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_pathconf_res *r = &c->res.u.pathconf;

	r->linkmax = LINK_MAX_SAID;
	r->name_max = OBJ_NAME_MAX;
	r->no_trunc = r->chown_restricted = r->case_preserving = true;
	v3_post_op(c->o, &r->obj);
	return NFS4_OK;
}

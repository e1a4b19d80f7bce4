/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v3_io: READ, WRITE, COMMIT (file.h reads and writes the data).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/ops/entry.h"
#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/ops/file.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/open.h"
#include "contrib/serve/v3/v3.h"

#define READ_RES_HEAD 104u /* status, attributes, count, eof, length */

/* Opens o, for reading and writing if possible (*both). A descriptor or -errno. */
static int open_file(const struct obj *o, bool write, bool *both)
{
	int fd = write ? obj_open(o, O_RDWR) : -EACCES;

	*both = fd >= 0;
	if (fd < 0)
		fd = obj_open(o, write ? O_WRONLY : O_RDONLY);
	return fd;
}

uint32_t v3_open(struct v3_call *c, struct obj *o, bool write, struct fdcache_use **use, int *fd)
{
	uint32_t status = need_file(o);
	bool both;

	*use = NULL;
	if (status == NFS4_OK)
		status = v3_use(c, o, write ? DELEG_MODIFY : DELEG_LOOK);
	if (status == NFS4_OK)
		status = st_anonymous_ok(&c->sv->state, o, write);
	if (status == NFS4_OK)
		status = file_may_use(o, write);
	if (status != NFS4_OK)
		return status;
	*use = fdcache_get(c->sv->fds, o, write, fd);
	if (*use)
		return NFS4_OK;
	*fd = open_file(o, write, &both);
	if (*fd == -EACCES) {
		ident_suspend(); /* file_may_use() has permitted the call */
		*fd = open_file(o, write, &both);
		ident_resume();
	}
	if (*fd < 0)
		return nfs4_errno_status(*fd);
	*use = fdcache_add(c->sv->fds, o, *fd, !write || both, write);
	return *use ? NFS4_OK : NFS4ERR_DELAY;
}

/* The number of bytes of a READ's data that fit into the Write chunk, or inline. */
static uint32_t read_room(const struct rpc_req *req, uint32_t count)
{
	uint32_t room = req->nsinks ? req->sink[0] : 0;

	if (!room && req->res_max > READ_RES_HEAD)
		room = (req->res_max - READ_RES_HEAD) & ~3u;
	if (room > SERVE_IO_MAX)
		room = SERVE_IO_MAX;
	return count < room ? count : room;
}

/* *st: the file's attributes after the READ, if the function had to get the attributes; otherwise
 * stx_mask is 0. */
static uint32_t do_read(struct v3_call *c, const struct nfs3_read_args *a, int fd, struct statx *st)
{
	struct nfs3_read_res *r = &c->res.u.read;
	uint32_t room = read_room(c->req, a->count);
	int err;

	if (!a->count || a->offset > INT64_MAX) {
		r->eof = file_ends(c->o, a->offset, st);
		return NFS4_OK;
	}
	if (!room)
		return NFS3ERR_TOOSMALL;
	err = file_read_held(c->sv, c->req, c->o, fd, room, a->offset, &r->data, &r->eof, st);
	if (err < 0)
		return nfs4_errno_status(err);
	r->count = r->data.len;
	return NFS4_OK;
}

uint32_t v3_read(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_post_op *p = &c->res.u.read.obj;
	struct statx st = {.stx_mask = 0};
	struct fdcache_use *use;
	uint32_t status;
	int fd;

	status = v3_open(c, c->o, false, &use, &fd);
	if (status == NFS4_OK)
		status = do_read(c, &a->u.read, fd, &st);
	fdcache_put(c->sv->fds, use);
	p->have = st.stx_mask;
	if (p->have)
		v3_attr(c->o, &st, &p->attr);
	else
		v3_post_op(c->o, p);
	return status;
}

static uint32_t do_write(struct v3_call *c, const struct nfs3_write_args *a)
{
	struct nfs3_write_res *r = &c->res.u.write;
	struct fdcache_use *use;
	uint32_t status;
	size_t done = 0;
	int fd, err = 0;

	if (a->data.len != a->count)
		return NFS4ERR_INVAL;
	status = v3_open(c, c->o, true, &use, &fd);
	if (status == NFS4_OK)
		err = file_write(
			c->sv, c->o, fd, &a->data, a->offset, a->stable, NULL, &done, r->verf);
	fdcache_put(c->sv->fds, use);
	if (err < 0)
		return nfs4_errno_status(err);
	r->count = (uint32_t)done;
	r->committed = a->stable;
	return status;
}

uint32_t v3_write(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_wcc *w = &c->res.u.write.wcc;
	uint32_t status;

	v3_wcc_before(c->o, w);
	status = do_write(c, &a->u.write);
	v3_wcc_after(c->o, w);
	return status;
}

uint32_t v3_commit(struct v3_call *c, const struct nfs3_args *a)
{
	struct nfs3_commit_res *r = &c->res.u.commit;
	uint32_t status = need_file(c->o);

	v3_wcc_before(c->o, &r->wcc);
	if (status == NFS4_OK)
		status = file_may_use(c->o, true);
	if (status == NFS4_OK)
		status = nfs4_errno_status(stable_sync(c->sv->stable, c->o));
	v3_wcc_after(c->o, &r->wcc);
	stable_verf(c->sv->stable, c->o, r->verf);
	return status;
}

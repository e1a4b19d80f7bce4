/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_space: SEEK, ALLOCATE, DEALLOCATE, COPY, CLONE, IO_ADVISE, OFFLOAD_CANCEL, OFFLOAD_STATUS
 * (RFC 7862 section 15; space.h changes the files).
 *
 * Copies are made at once and within this server. A long COPY ends early: the client asks again for
 * the rest, and other requests get their turn meanwhile.
 */
#include <errno.h>
#include <string.h>

#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/v4/ops.h"
#include "contrib/serve/ops/space.h"
#include "contrib/serve/v4/ops_io.h"

uint32_t op_seek(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_seek_args *a = &args->u.seek;
	struct nfs4_stateid sid = a->stateid;
	struct nfs4_seek_res res = {0};
	struct io io;
	uint32_t status;

	if (a->what != NFS4_CONTENT_DATA && a->what != NFS4_CONTENT_HOLE)
		return NFS4ERR_UNION_NOTSUPP;
	current_stateid(c, &sid);
	status = io_begin(c, c->cur, &sid, false, &io);
	if (status == NFS4_OK)
		status = nfs4_errno_status(space_seek(
			io.fd, a->offset, a->what == NFS4_CONTENT_HOLE, &res.offset, &res.eof));
	io_end(c, &io);
	if (status == NFS4_OK)
		nfs4_put_seek_res(c->out, NFS4_OK, &res);
	return status;
}

static uint32_t change_space(struct compound *c, const struct nfs4_args *args,
	int (*change)(int fd, uint64_t offset, uint64_t length))
{
	const struct nfs4_range_args *a = &args->u.range;
	struct nfs4_stateid sid = a->stateid;
	struct io io;
	uint32_t status;

	if (!S_ISREG(c->cur->type))
		return NFS4ERR_WRONG_TYPE;
	current_stateid(c, &sid);
	status = io_begin(c, c->cur, &sid, true, &io);
	if (status == NFS4_OK) {
		status = nfs4_errno_status(change(io.fd, a->offset, a->length));
		attr_touch(c->cur); /* a failed change may have changed a part of the range */
		stable_want(c->sv->stable, &c->last.set, c->cur);
	}
	io_end(c, &io);
	if (status == NFS4_OK)
		nfs4_put_op_res(c->out, args->op, NFS4_OK);
	return status;
}

uint32_t op_allocate(struct compound *c, const struct nfs4_args *a)
{
	return change_space(c, a, space_allocate);
}

uint32_t op_deallocate(struct compound *c, const struct nfs4_args *a)
{
	return change_space(c, a, space_punch);
}

/* The two files of COPY and CLONE: the saved one is read, the current one written. */
struct pair {
	struct io from, to;
	struct statx st; /* of the source */
};

/* pair_end() in any case. */
static uint32_t pair_begin(struct compound *c, const struct nfs4_stateid *src,
	const struct nfs4_stateid *dst, struct pair *p)
{
	struct nfs4_stateid from = *src, to = *dst;
	uint32_t status;
	int r;

	memset(p, 0, sizeof(*p));
	if (!c->saved)
		return NFS4ERR_NOFILEHANDLE;
	if (!S_ISREG(c->saved->type) || !S_ISREG(c->cur->type))
		return NFS4ERR_WRONG_TYPE;
	if (nfs4_stateid_same(&from, &nfs4_stateid_current))
		from = c->saved_sid;
	current_stateid(c, &to);
	status = io_begin(c, c->saved, &from, false, &p->from);
	if (status == NFS4_OK)
		status = io_begin(c, c->cur, &to, true, &p->to);
	if (status != NFS4_OK)
		return status;
	r = obj_stat(c->saved, &p->st);
	return r < 0 ? nfs4_errno_status(r) : (uint32_t)NFS4_OK;
}

static void pair_end(struct compound *c, struct pair *p)
{
	io_end(c, &p->from);
	io_end(c, &p->to);
}

static uint32_t copy(struct compound *c, const struct nfs4_copy_args *a, const struct pair *p,
	struct nfs4_write_response *r)
{
	uint64_t left;
	bool watched;
	ssize_t n;

	if (c->saved == c->cur || a->src_offset > p->st.stx_size)
		return NFS4ERR_INVAL;
	/* a count beyond the end is a copy to the end: the file may have become shorter */
	left = p->st.stx_size - a->src_offset;
	if (a->count && a->count < left)
		left = a->count;
	watched = stable_write_begin(c->sv->stable, c->cur, p->to.fd, r->verf);
	n = space_copy(p->from.fd, a->src_offset, p->to.fd, a->dst_offset, left);
	if (n > 0)
		attr_touch(c->cur);
	if (watched)
		stable_write_end(c->sv->stable, c->cur);
	if (n < 0)
		return nfs4_errno_status((int)n);
	r->count = (uint64_t)n;
	r->committed = UNSTABLE4;
	return watched ? NFS4_OK : nfs4_errno_status(stable_sync(c->sv->stable, c->cur));
}

uint32_t op_copy(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_copy_args *a = &args->u.copy;
	struct nfs4_copy_res res = {.consecutive = true, .synchronous = true};
	struct pair p = {.from.fd = -1, .to.fd = -1};
	uint32_t status = NFS4ERR_NOTSUPP; /* between servers */

	if (a->nsources)
		return status;
	status = pair_begin(c, &a->src, &a->dst, &p);
	if (status == NFS4_OK)
		status = copy(c, a, &p, &res.response);
	pair_end(c, &p);
	if (status != NFS4_OK)
		return status;
	nfs4_put_copy_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_clone(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_clone_args *a = &args->u.clone;
	struct pair p;
	uint32_t status = pair_begin(c, &a->src, &a->dst, &p);

	if (status == NFS4_OK) {
		status = nfs4_errno_status(
			space_clone(p.from.fd, a->src_offset, p.to.fd, a->dst_offset, a->count));
		attr_touch(c->cur);
		stable_want(c->sv->stable, &c->last.set, c->cur);
	}
	pair_end(c, &p);
	if (status == NFS4_OK)
		nfs4_put_op_res(c->out, OP_CLONE, NFS4_OK);
	return status;
}

uint32_t op_io_advise(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_io_advise_args *a = &args->u.io_advise;
	struct nfs4_stateid sid = a->stateid;
	struct nfs4_io_advise_res res = {0}; /* no advice is taken */
	struct io io;
	uint32_t status;

	current_stateid(c, &sid);
	status = io_begin(c, c->cur, &sid, false, &io);
	io_end(c, &io);
	if (status == NFS4ERR_OPENMODE) /* opened for writing only: good enough for a hint */
		status = NFS4_OK;
	if (status == NFS4_OK)
		nfs4_put_io_advise_res(c->out, NFS4_OK, &res);
	return status;
}

uint32_t op_offload(struct compound *c, const struct nfs4_args *a)
{
	return NFS4ERR_BAD_STATEID; /* no copy goes on after the answer to its COPY */
}

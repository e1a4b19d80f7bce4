/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_io: READ, WRITE, COMMIT (file.h has what they do to the file).
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/entry.h"
#include "contrib/serve/file.h"
#include "contrib/serve/serve.h"

#define READ_RES_HEAD 16u /* operation, status, eof, length */

/* A descriptor for I/O under a stateid. */
struct io {
	struct st *st; /* fd is its */
	int fd;
	bool own; /* fd is ours to close */
};

static uint32_t io_begin(
	struct compound *c, const struct nfs4_stateid *given, bool write, struct io *io)
{
	struct nfs4_stateid sid = *given;
	bool bypass;
	uint32_t status = need_file(c->cur);

	*io = (struct io){.fd = -1};
	if (status != NFS4_OK)
		return status;
	current_stateid(c, &sid);
	bypass = nfs4_stateid_same(&sid, &nfs4_stateid_bypass);
	if (!bypass && !nfs4_stateid_same(&sid, &nfs4_stateid_anonymous))
		return st_io(c->client, c->cur, &sid, write, &io->st, &io->fd);
	if (write || !bypass)
		status = st_anonymous_ok(&c->sv->state, c->cur, write);
	if (status != NFS4_OK)
		return status;
	io->fd = obj_open(c->cur, write ? O_WRONLY : O_RDONLY);
	if (io->fd < 0)
		return nfs4_errno_status(io->fd);
	io->own = true;
	return NFS4_OK;
}

static void io_end(struct compound *c, struct io *io)
{
	if (io->own)
		close(io->fd);
	st_put(&c->sv->state, io->st);
}

/* Bytes of the Write chunk that the next payload goes into; 0: it goes inline. */
static uint32_t next_sink(const struct compound *c)
{
	unsigned i = c->out->npayloads;

	return i < c->req->nsinks ? c->req->sink[i] : 0;
}

/* How much of a READ's data can be carried: in its Write chunk, or inline. */
static uint32_t read_room(const struct compound *c, uint32_t count)
{
	uint32_t sink = next_sink(c);
	size_t inline_room;

	if (count > SERVE_IO_MAX)
		count = SERVE_IO_MAX;
	if (sink)
		return count < sink ? count : sink;
	/* res_max bounds c->out, but what follows from payload is only bounded by the peer */
	inline_room = c->inline_max > c->out->len + READ_RES_HEAD
			      ? c->inline_max - c->out->len - READ_RES_HEAD
			      : 0;
	return count < inline_room ? count : (uint32_t)(inline_room & ~(size_t)3);
}

/* Data that no more payload can be named for is read into the reply itself, as much as fits. */
static uint32_t read_into_reply(
	struct compound *c, const struct nfs4_read_args *a, int fd, uint32_t room)
{
	size_t used = c->out->len + READ_RES_HEAD;
	size_t left = c->res_max > used ? (c->res_max - used) & ~(size_t)3 : 0;
	size_t eof_at, len_at, data_at;
	bool eof;
	uint8_t *p;
	ssize_t n;

	if (room > left)
		room = (uint32_t)left;
	if (!room)
		return NFS4ERR_REP_TOO_BIG;
	nfs4_put_op_res(c->out, OP_READ, NFS4_OK);
	eof_at = xdr_skip_u32(c->out);
	len_at = xdr_skip_u32(c->out);
	data_at = c->out->len;
	p = xdr_reserve(c->out, room);
	if (!p)
		return NFS4ERR_REP_TOO_BIG;
	n = file_read(c->cur, fd, p, room, a->offset, &eof);
	if (n < 0)
		return nfs4_errno_status((int)n);
	memset(p + n, 0, xdr_pad((uint32_t)n));
	c->out->len = data_at + (size_t)n + xdr_pad((uint32_t)n);
	xdr_patch_u32(c->out, len_at, (uint32_t)n);
	xdr_patch_u32(c->out, eof_at, eof);
	return NFS4_OK;
}

static uint32_t read_as_payload(
	struct compound *c, const struct nfs4_read_args *a, int fd, uint32_t room)
{
	bool inlined = next_sink(c) == 0;
	struct nfs4_read_res r = {0};
	int err = file_read_held(c->sv, c->req, c->cur, fd, room, a->offset, &r.data, &r.eof);

	if (err < 0)
		return nfs4_errno_status(err);
	if (inlined)
		c->inline_max -= r.data.len;
	else if (r.data.len == 0)
		c->sink_passed = true;
	nfs4_put_read_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

static uint32_t do_read(struct compound *c, const struct nfs4_read_args *a, int fd)
{
	struct nfs4_read_res r = {.eof = a->offset > INT64_MAX - SERVE_IO_MAX};
	uint32_t room = read_room(c, a->count);

	if (a->count && !r.eof) {
		/* payload i goes into Write chunk i, and a READ without data is no payload: after
		 * one that left its chunk empty, the chunks can no longer be told apart */
		if (!room || c->sink_passed)
			return NFS4ERR_REP_TOO_BIG;
		if (c->out->npayloads < XDR_MAX_PAYLOADS && file_may_hold(c->req))
			return read_as_payload(c, a, fd, room);
		return read_into_reply(c, a, fd, room);
	}
	c->sink_passed |= next_sink(c) != 0;
	r.eof |= file_ends(c->cur, a->offset);
	nfs4_put_read_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

uint32_t op_read(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_read_args *a = &args->u.read;
	struct io io;
	uint32_t status = io_begin(c, &a->stateid, false, &io);

	if (status == NFS4_OK)
		status = do_read(c, a, io.fd);
	io_end(c, &io);
	return status;
}

uint32_t op_write(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_write_args *a = &args->u.write;
	struct nfs4_write_res res = {.committed = a->stable};
	struct io io;
	uint32_t status = io_begin(c, &a->stateid, true, &io);
	size_t done = 0;
	int r = 0;

	if (status == NFS4_OK)
		r = file_write(c->cur, io.fd, &a->data, a->offset, a->stable, &done);
	if (r < 0)
		status = nfs4_errno_status(r);
	io_end(c, &io);
	if (status != NFS4_OK)
		return status;
	res.count = (uint32_t)done;
	memcpy(res.verf, c->sv->write_verf, sizeof(res.verf));
	nfs4_put_write_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_commit(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_commit_res res;
	uint32_t status = need_file(c->cur);
	int r;

	if (status != NFS4_OK)
		return status;
	r = file_commit(c->cur);
	if (r < 0)
		return nfs4_errno_status(r);
	memcpy(res.verf, c->sv->write_verf, sizeof(res.verf));
	nfs4_put_commit_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

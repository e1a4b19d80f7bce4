/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_io: READ, READ_PLUS, WRITE, COMMIT (file.h reads and writes the data).
 */
#include "contrib/serve/v4/ops_io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/ops/file.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/open.h"
#include "contrib/serve/v4/ops.h"
#include "contrib/serve/ops/space.h"

#define READ_RES_HEAD 16u /* operation, status, eof, length */
#define DATA_HEAD     16u /* of a piece of READ_PLUS: kind, offset, length of the data */
#define HOLE_SIZE     20u

/* At a data server the caller has been admitted, and the mode of the file does not count. */
static int open_anonymous(const struct compound *c, const struct obj *o, int flags)
{
	int fd = obj_open(o, flags);

	if (fd == -EACCES && c->sv->data_server) {
		ident_suspend();
		fd = obj_open(o, flags);
		ident_resume();
	}
	return fd;
}

uint32_t io_begin(struct compound *c, struct obj *o, const struct nfs4_stateid *sid, bool write,
	struct io *io)
{
	bool bypass = nfs4_stateid_same(sid, &nfs4_stateid_bypass);
	uint32_t status = need_file(o);

	*io = (struct io){.fd = -1};
	if (status != NFS4_OK)
		return status;
	if (!bypass && !nfs4_stateid_same(sid, &nfs4_stateid_anonymous))
		return st_io(c->client, o, sid, write, &io->st, &io->fd);
	status = use_begin(c, o, write ? DELEG_MODIFY : DELEG_LOOK);
	if (status == NFS4_OK && (write || !bypass))
		status = st_anonymous_ok(&c->sv->state, o, write);
	if (status != NFS4_OK)
		return status;
	io->fd = deleg_dup(&c->sv->state, o, c->client, write ? W_OK : R_OK);
	if (io->fd < 0)
		io->fd = open_anonymous(c, o, write ? O_WRONLY : O_RDONLY);
	if (io->fd < 0)
		return nfs4_errno_status(io->fd);
	io->own = true;
	return NFS4_OK;
}

/* The same for the current file and any stateid. */
static uint32_t io_begin_current(
	struct compound *c, const struct nfs4_stateid *given, bool write, struct io *io)
{
	struct nfs4_stateid sid = *given;

	current_stateid(c, &sid);
	return io_begin(c, c->cur, &sid, write, io);
}

void io_end(struct compound *c, struct io *io)
{
	if (io->own)
		close(io->fd);
	st_put(&c->sv->state, io->st);
}

bool io_payload_ok(const struct compound *c)
{
	return c->out->npayloads < XDR_MAX_PAYLOADS && file_may_hold(c->req);
}

uint32_t io_inline_room(const struct compound *c, size_t head)
{
	/* res_max bounds c->out, but only the peer's limit bounds the bytes behind payload */
	size_t used = c->out->len + head;

	return c->inline_max > used ? (uint32_t)((c->inline_max - used) & ~(size_t)3) : 0;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The number of bytes of a READ's data that fit into the Write chunk, or inline. */
static uint32_t read_room(const struct compound *c, uint32_t count)
{
	uint32_t sink = rpc_req_room(c->req);

	count = min_u32(count, SERVE_IO_MAX);
	return min_u32(count, sink ? sink : io_inline_room(c, READ_RES_HEAD));
}

/* Reads up to room bytes of the current file, as many as fit, into the reply itself, as an opaque.
 * A status; *got bytes. */
static uint32_t put_data_inline(
	struct compound *c, int fd, uint64_t offset, uint32_t room, uint32_t *got, bool *eof)
{
	size_t used = c->out->len + 4, len_at, data_at;
	struct statx st;
	uint8_t *p;
	ssize_t n;

	room = min_u32(room, c->res_max > used ? (uint32_t)((c->res_max - used) & ~(size_t)3) : 0);
	len_at = xdr_skip_u32(c->out);
	data_at = c->out->len;
	p = room ? xdr_reserve(c->out, room) : NULL;
	if (!p)
		return NFS4ERR_REP_TOO_BIG;
	n = file_read(c->cur, fd, p, room, offset, eof, &st);
	if (n < 0)
		return nfs4_errno_status((int)n);
	if (st.stx_mask)
		remember_stat(c, c->cur, &st);
	*got = (uint32_t)n;
	memset(p + n, 0, xdr_pad(*got));
	c->out->len = data_at + *got + xdr_pad(*got);
	xdr_patch_u32(c->out, len_at, *got);
	return NFS4_OK;
}

/* A READ has no data: it uses up a place, but not a Write chunk. */
static void pass_sink(struct compound *c)
{
	c->sink_passed |= !c->req->places && rpc_req_room(c->req);
}

/* Reads data into the reply itself, as much as fits, because no more payload can be named. */
static uint32_t read_into_reply(
	struct compound *c, const struct nfs4_read_args *a, int fd, uint32_t room)
{
	uint32_t status, got;
	size_t eof_at;
	bool eof;

	nfs4_put_op_res(c->out, OP_READ, NFS4_OK);
	eof_at = xdr_skip_u32(c->out);
	status = put_data_inline(c, fd, a->offset, room, &got, &eof);
	if (status == NFS4_OK)
		xdr_patch_u32(c->out, eof_at, eof);
	xdr_note_item(c->out);
	return status;
}

static uint32_t read_as_payload(
	struct compound *c, const struct nfs4_read_args *a, int fd, uint32_t room)
{
	bool inlined = rpc_req_room(c->req) == 0;
	struct nfs4_read_res r = {0};
	struct statx st;
	int err = file_read_held(c->sv, c->req, c->cur, fd, room, a->offset, &r.data, &r.eof, &st);

	if (err < 0)
		return nfs4_errno_status(err);
	if (st.stx_mask)
		remember_stat(c, c->cur, &st);
	if (inlined)
		c->inline_max -= r.data.len;
	else if (r.data.len == 0)
		pass_sink(c);
	nfs4_put_read_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

static uint32_t do_read(struct compound *c, const struct nfs4_read_args *a, int fd)
{
	struct nfs4_read_res r = {.eof = a->offset > INT64_MAX};
	uint32_t room = read_room(c, a->count);
	struct statx st;

	if (a->count && !r.eof) {
		/* Payload i goes into Write chunk i, and a READ without data is no payload. After a
		 * READ has left a chunk empty, later payloads would land in the wrong chunk. */
		if (!room || c->sink_passed)
			return NFS4ERR_REP_TOO_BIG;
		if (io_payload_ok(c))
			return read_as_payload(c, a, fd, room);
		return read_into_reply(c, a, fd, room);
	}
	pass_sink(c);
	r.eof |= file_ends(c->cur, a->offset, &st);
	nfs4_put_read_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

uint32_t op_read(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_read_args *a = &args->u.read;
	struct io io;
	uint32_t status = io_begin_current(c, &a->stateid, false, &io);

	if (status == NFS4_OK)
		status = do_read(c, a, io.fd);
	io_end(c, &io);
	return status;
}

/* Puts a piece of the file's data. READ_PLUS has no item that may be placed in a Write chunk (RFC
 * 8267 section 6). So if the request has one, or no more payload can be named, the data goes into
 * the reply itself. Only the first piece of data may do so. *got 0: no piece was put, because no
 * more fits, or because another client has cut the file at pos or before (*eof). */
static uint32_t put_data_piece(struct compound *c, int fd, uint64_t pos, uint32_t len, bool first,
	uint32_t *got, bool *eof)
{
	struct nfs4_content piece = {.what = NFS4_CONTENT_DATA, .offset = pos};
	size_t mark = c->out->len;
	struct statx st;
	uint32_t status;
	int r;

	*got = 0;
	len = min_u32(len, io_inline_room(c, DATA_HEAD));
	if (!len || (io_payload_ok(c) && !rpc_req_room(c->req))) {
		if (!len)
			return NFS4_OK;
		r = file_read_held(c->sv, c->req, c->cur, fd, len, pos, &piece.data, eof, &st);
		if (r < 0)
			return nfs4_errno_status(r);
		*got = piece.data.len;
		c->inline_max -= *got;
		if (*got)
			nfs4_put_content(c->out, &piece);
		return NFS4_OK;
	}
	if (!first)
		return NFS4_OK;
	xdr_put_u32(c->out, NFS4_CONTENT_DATA);
	xdr_put_u64(c->out, pos);
	status = put_data_inline(c, fd, pos, len, got, eof);
	if (status == NFS4_OK && !*got)
		c->out->len = mark;
	return status;
}

/* Puts the pieces of [pos, end). *n: their number; *done: the end of the last one; *eof: the file
 * was found to end there. */
static uint32_t put_pieces(struct compound *c, int fd, uint64_t pos, uint64_t end, uint32_t *n,
	uint64_t *done, bool *eof)
{
	struct nfs4_content hole = {.what = NFS4_CONTENT_HOLE};
	uint32_t status = NFS4_OK, got, ndata = 0;
	uint64_t next;
	bool behind;

	*eof = false;
	for (*n = 0; pos < end && status == NFS4_OK && !*eof; pos += got) {
		/* without support for SEEK_DATA the file has no holes */
		if (space_seek(fd, pos, false, &next, &behind) < 0)
			next = pos;
		if (next > end)
			next = end;
		if (next > pos) {
			if (io_inline_room(c, 0) < HOLE_SIZE ||
				c->out->len + HOLE_SIZE > c->res_max)
				break;
			hole.offset = pos;
			hole.length = next - pos;
			nfs4_put_content(c->out, &hole);
			*n += 1;
			got = (uint32_t)hole.length;
			continue;
		}
		if (space_seek(fd, pos, true, &next, &behind) < 0 || next > end || next <= pos)
			next = end;
		status =
			put_data_piece(c, fd, pos, (uint32_t)(next - pos), ndata++ == 0, &got, eof);
		*n += got > 0;
		if (!got)
			break;
	}
	*done = pos;
	return status;
}

uint32_t op_read_plus(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_read_args *a = &args->u.read;
	struct nfs4_read_plus_res res = {0};
	uint64_t end = a->offset, done = a->offset;
	uint32_t count = min_u32(a->count, SERVE_IO_MAX), n = 0, status;
	struct statx st;
	struct io io;
	size_t head;
	bool eof;
	int r = 0;

	status = io_begin_current(c, &a->stateid, false, &io);
	if (status == NFS4_OK)
		r = obj_stat(c->cur, &st);
	if (status == NFS4_OK && r < 0)
		status = nfs4_errno_status(r);
	if (status == NFS4_OK) {
		if (a->offset < st.stx_size)
			end = st.stx_size - a->offset < count ? st.stx_size : a->offset + count;
		nfs4_put_read_plus_res(c->out, NFS4_OK, &res);
		head = c->out->len;
		status = put_pieces(c, io.fd, a->offset, end, &n, &done, &eof);
		if (status == NFS4_OK && n == 0 && done < end && !eof)
			status = NFS4ERR_REP_TOO_BIG;
		xdr_patch_u32(c->out, head - 8, eof || done >= st.stx_size);
		xdr_patch_u32(c->out, head - 4, n);
	}
	io_end(c, &io);
	return status;
}

/* A WRITE behind a successful VERIFY appends: the client verifies the end of the file first. If the
 * client repeated the COMPOUND, the VERIFY would fail. So the answer is kept for the next run,
 * before any sync. */
uint32_t op_write(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_write_args *a = &args->u.write;
	struct stable_set *later = c->verified ? &c->last.set : NULL;
	struct nfs4_write_res res = {.committed = a->stable};
	struct io io;
	uint32_t status = io_begin_current(c, &a->stateid, true, &io);
	size_t done = 0;
	int r = 0;

	if (status == NFS4_OK)
		r = file_write(c->sv, c->cur, io.fd, &a->data, a->offset, a->stable, later, &done,
			res.verf);
	if (r < 0)
		status = nfs4_errno_status(r);
	io_end(c, &io);
	if (status != NFS4_OK)
		return status;
	res.count = (uint32_t)done;
	nfs4_put_write_res(c->out, NFS4_OK, &res);
	if (c->verified)
		c->committed_at = c->out->len - NFS4_VERIFIER_SIZE - 4;
	return NFS4_OK;
}

uint32_t op_commit(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_commit_res res;
	uint32_t status = need_file(c->cur);
	int r;

	/* COMMIT names no open. It is allowed if the client has an open for writing, or the caller
	 * may write the file. */
	if (status == NFS4_OK && !st_writes(c->client, c->cur))
		status = file_may_use(c->cur, true);
	if (status != NFS4_OK)
		return status;
	r = stable_sync(c->sv->stable, c->cur);
	if (r < 0)
		return nfs4_errno_status(r);
	stable_verf(c->sv->stable, c->cur, res.verf);
	nfs4_put_commit_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

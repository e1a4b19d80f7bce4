/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_space: the kinds of op about the space and the data of files that NFSv4.2 adds.
 */
#include "nfsproto/v4/ops/nfs4_ops_space.h"

#include <errno.h>

#include "nfsproto/v4/mount/nfs4_lock_io.h"
#include "nfsproto/v4/ops/nfs4_ops_data.h"
#include "transport/log.h"

/* --- operations that the server lacks -------------------------------------------------------- */

bool nfs4_lacks(struct nfs4_client *c, uint32_t op)
{
	return nfs4_server_lacks(c->srv, op);
}

int nfs4_reply_optional(struct nfs4_client *c, struct nfs4_reply *r, uint32_t op)
{
	int rc = nfs4_reply_op(r, op);

	if (rc != NFS4ERR_NOTSUPP && rc != NFS4ERR_OP_ILLEGAL)
		return rc;
	if (nfs4_server_note_lack(c->srv, op))
		log_info("%s: the server has no %s", c->srv->name, nfs4_op_name(op));
	return -EOPNOTSUPP;
}

/* --- SEEK ------------------------------------------------------------------------------------ */

void nfs4_put_op_seek(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_seek_args a = {
		.stateid = nfs4_io_stateid(c, op, op->u.seek.open),
		.offset = op->u.seek.offset,
		.what = op->u.seek.hole ? NFS4_CONTENT_HOLE : NFS4_CONTENT_DATA,
	};

	nfs4_comp_putfh(k, &op->u.seek.fh);
	nfs4_put_seek_args(k->x, &a);
	nfs4_comp_count(k, OP_SEEK, 0);
}

enum nfs_outcome nfs4_get_op_seek(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_seek_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_optional(c, r, OP_SEEK);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_seek_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	/* RFC 7862 15.11.3: there is a hole behind the end of every file, but no data */
	if (!op->u.seek.hole && res.eof)
		return nfs_failed(op, -ENXIO);
	if (res.offset < op->u.seek.offset || res.offset > INT64_MAX) {
		log_warn("%s: SEEK from %llu found something at %llu: server bug", c->srv->name,
			(unsigned long long)op->u.seek.offset, (unsigned long long)res.offset);
		return nfs_failed(op, -EBADMSG);
	}
	op->u.seek.pos = res.offset;
	return NFS_DONE;
}

/* --- stable storage -------------------------------------------------------------------------- */

/* ALLOCATE, DEALLOCATE and CLONE bring no verifier. RFC 7862 does not say that their changes are on
 * stable storage. So a COMMIT follows in the same COMPOUND. A later COMMIT could not tell whether
 * the server had restarted in between. */
void nfs4_put_commit_behind(struct nfs4_comp *k, uint64_t offset, uint64_t length)
{
	struct nfs4_commit_args a = {
		.offset = offset,
		.count = length <= UINT32_MAX ? (uint32_t)length : 0, /* 0: to the end */
	};

	nfs4_put_commit_args(k->x, &a);
	nfs4_comp_count(k, OP_COMMIT, 0);
}

int nfs4_get_commit_behind(struct nfs4_reply *r, int *unsafe)
{
	struct nfs4_commit_res res;
	int rc = nfs4_reply_op(r, OP_COMMIT);

	*unsafe = 0;
	if (rc < 0)
		return rc;
	if (rc == 0)
		return nfs4_get_commit_res(r->x, NFS4_OK, &res) ? -EBADMSG : 0;
	*unsafe = rc == NFS4ERR_DELAY || rc == NFS4ERR_GRACE ? -EAGAIN
							     : nfs4_status_errno((uint32_t)rc);
	r->status = NFS4_OK;
	return 0;
}

/* --- ALLOCATE, DEALLOCATE -------------------------------------------------------------------- */

static uint32_t allocate_op(const struct nfs_op *op)
{
	return op->u.allocate.dealloc ? OP_DEALLOCATE : OP_ALLOCATE;
}

void nfs4_put_op_allocate(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_range_args a = {
		.stateid = nfs4_io_stateid(c, op, op->u.allocate.open),
		.offset = op->u.allocate.offset,
		.length = op->u.allocate.length,
	};

	nfs4_comp_putfh(k, &op->u.allocate.fh);
	nfs4_put_range_args(k->x, allocate_op(op), &a);
	nfs4_comp_count(k, allocate_op(op), 0);
	nfs4_put_commit_behind(k, op->u.allocate.offset, op->u.allocate.length);
}

enum nfs_outcome nfs4_get_op_allocate(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_optional(c, r, allocate_op(op));
	return nfs4_outcome(op, rc ? rc : nfs4_get_commit_behind(r, &op->u.allocate.unsafe));
}

/* --- READ_PLUS ------------------------------------------------------------------------------- */

void nfs4_put_op_read_plus(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_read_args a = {
		.stateid = nfs4_io_stateid(c, op, op->u.read.open),
		.offset = op->u.read.offset,
		.count = op->u.read.to.len,
	};

	nfs4_comp_putfh(k, &op->u.read.fh);
	nfs4_put_read_attr(c, op, k);
	nfs4_put_read_args(k->x, OP_READ_PLUS, &a);
	nfs4_comp_count(k, OP_READ_PLUS, a.count);
}

/* Appends the bytes of piece p that continue op's data in memory. False: there is a gap before p,
 * or p has more bytes than the memory has room for. */
static bool read_plus_take(struct nfs_op *op, const struct nfs4_content *p, uint32_t *have)
{
	uint64_t next = op->u.read.offset + *have;
	uint64_t len = p->what == NFS4_CONTENT_DATA ? p->data.len : p->length, skip;
	uint32_t room = op->u.read.to.len - *have, n;
	struct seg_list room_left, data;

	if (p->offset > next)
		return false;
	skip = next - p->offset;
	if (len <= skip)
		return true;
	n = len - skip < room ? (uint32_t)(len - skip) : room;
	room_left = seg_list_cut(&op->u.read.to, *have, n);
	if (p->what == NFS4_CONTENT_DATA) {
		data = seg_list_cut(&p->data, (uint32_t)skip, n);
		seg_list_copy(&room_left, &data);
	} else {
		struct seg_iter to = seg_iter_of(&room_left);

		seg_iter_zero(&to, n);
	}
	*have += n;
	return n == len - skip;
}

enum nfs_outcome nfs4_get_op_read_plus(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_read_plus_res res;
	struct nfs4_content piece;
	uint32_t have = 0;
	bool more = true;
	int rc = nfs4_reply_op(r, OP_PUTFH);
	enum nfs_outcome out;

	if (!rc && nfs4_get_read_attr(op, r, &out))
		return out;
	if (!rc)
		rc = nfs4_reply_optional(c, r, OP_READ_PLUS);
	if (rc == -EOPNOTSUPP || rc == NFS4ERR_UNION_NOTSUPP || rc == NFS4ERR_REP_TOO_BIG) {
		op->be.v4.kind = NFS_READ;
		return NFS_AGAIN;
	}
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_read_plus_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	for (uint32_t i = 0; i < res.n; i++) {
		if (nfs4_get_content(r->x, &piece))
			return nfs_failed(op, -EBADMSG);
		if (more)
			more = read_plus_take(op, &piece, &have);
	}
	op->u.read.eof = res.eof && more;
	op->u.read.count = have;
	if (have == 0 && !op->u.read.eof) {
		log_warn("%s: READ_PLUS of %u bytes at %llu gave nothing, and not the end of the "
			 "file: server bug; READ is used instead",
			c->srv->name, op->u.read.to.len, (unsigned long long)op->u.read.offset);
		nfs4_server_note_lack(c->srv, OP_READ_PLUS);
		op->be.v4.kind = NFS_READ;
		return NFS_AGAIN;
	}
	return NFS_DONE;
}

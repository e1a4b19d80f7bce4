/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_data: the kinds of op about the data of one file.
 */
#include "nfsproto/v4/ops/nfs4_ops_data.h"

#include <errno.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lock_io.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/ops/nfs4_ops_attr.h"
#include "transport/clock.h"
#include "transport/log.h"

#define APPEND_TRIES 1000u /* each time another client's append has succeeded */

/* GETATTR stands before READ. If the data is newer than the attributes, the next look at the
 * attributes finds out. In the other order, old data would seem to belong to newer attributes.
 * Besides, servers that send data without copying do so only for a READ that comes last. */
void nfs4_put_read_attr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	op->u.read.attr.have = false;
	if (op->u.read.want_attr)
		nfs4_comp_getattr(k, &c->data_want);
}

/* The user may be allowed to read the data, but not the attributes. The data is read all the
 * same. */
int nfs4_get_read_attr(struct nfs_op *op, struct nfs4_reply *r, enum nfs_outcome *out)
{
	int rc = op->u.read.want_attr ? nfs4_reply_data_attr(r, &op->u.read.attr) : 0;

	*out = nfs4_outcome(op, rc);
	if (rc > 0 && rc != NFS4ERR_DELAY) {
		op->u.read.want_attr = false;
		*out = NFS_AGAIN;
	}
	return rc;
}

void nfs4_put_op_read(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_read_args a = {
		.stateid = nfs4_io_stateid(c, op, op->u.read.open),
		.offset = op->u.read.offset,
		.count = op->u.read.to.len,
	};

	nfs4_comp_putfh(k, &op->u.read.fh);
	nfs4_put_read_attr(c, op, k);
	nfs4_comp_read(k, &a, &op->call, &op->u.read.to);
	op->call.moves = op->u.read.moves;
}

enum nfs_outcome nfs4_get_op_read(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_read_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);
	enum nfs_outcome out;
	uint32_t n;

	if (!rc && nfs4_get_read_attr(op, r, &out))
		return out;
	if (!rc)
		rc = nfs4_reply_op(r, OP_READ);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_read_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	if (rpc_call_take_sink(&op->call, r->x, 0, &n)) {
		log_warn("%s: more data came than the %u bytes of a READ: server bug", c->srv->name,
			op->u.read.to.len);
		return nfs_failed(op, -EBADMSG);
	}
	op->u.read.moved = op->call.moved;
	if (n == 0 && !res.eof) {
		log_warn("%s: READ of %u bytes at %llu gave nothing, and not the end of the file: "
			 "server bug",
			c->srv->name, op->u.read.to.len, (unsigned long long)op->u.read.offset);
		return nfs_failed(op, -EBADMSG);
	}
	op->u.read.count = n;
	op->u.read.eof = res.eof;
	return NFS_DONE;
}

static void put_then(struct nfs4_client *c, const struct nfs_then *then, struct nfs4_comp *k)
{
	struct nfs4_bitmap want = nfs4_bits_or(&c->stat_want, &c->data_want);

	if (then->set.mask)
		nfs4_put_setattr(k, &nfs4_stateid_anonymous, &then->set);
	nfs4_comp_getattr(k, &want);
}

static void put_write(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_write_args a = {
		.stateid = nfs4_io_stateid(c, op, op->u.write.open),
		.offset = op->u.write.offset,
		.stable = op->u.write.stable,
		.data = op->u.write.from,
	};

	nfs4_put_write_args(k->x, &a);
	nfs4_comp_count(k, OP_WRITE, 0);
	if (op->u.write.then)
		put_then(c, op->u.write.then, k);
	else
		nfs4_comp_getattr(k, &c->data_want);
}

/* The results behind a successful WRITE. If a later operation fails or brings no attributes, `done`
 * stays false, and the caller must ask for the attributes. */
static int get_then(struct nfs_then *then, struct nfs4_reply *r, struct nfs_data_attr *attr)
{
	struct nfs4_attrs a;
	int rc;

	*attr = (struct nfs_data_attr){.have = false};
	rc = then->set.mask ? nfs4_get_setattr(r) : 0;
	if (!rc)
		rc = nfs4_reply_getattr(r, &a);
	if (rc > 0)
		r->status = NFS4_OK;
	if (rc)
		return rc < 0 ? rc : 0;
	nfs4_data_attr(&a, attr);
	then->attr = a.attr;
	then->done = nfs4_attrs_complete(&a) && !(r->owners && r->owners->not_yet);
	return 0;
}

static int get_write(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	uint32_t sent = op->u.write.from.len;
	struct nfs4_write_res res;
	int rc = nfs4_reply_op(r, OP_WRITE);

	if (op->u.write.then)
		op->u.write.then->done = false;
	if (rc)
		return rc;
	if (nfs4_get_write_res(r->x, NFS4_OK, &res))
		return -EBADMSG;
	if (res.count > sent || (res.count == 0 && sent > 0)) {
		log_warn("%s: WRITE of %u bytes at %llu was answered with %u written: server bug",
			c->srv->name, sent, (unsigned long long)op->u.write.offset, res.count);
		return -EBADMSG;
	}
	/* RFC 8881 18.32.3: a server may do more than was asked, never less */
	if (res.committed < (uint32_t)op->u.write.stable) {
		log_warn("%s: WRITE asked for stability %d and got %u: server bug", c->srv->name,
			(int)op->u.write.stable, res.committed);
		return -EBADMSG;
	}
	op->u.write.count = res.count;
	op->u.write.committed = (enum nfs_stable)res.committed;
	memcpy(op->u.write.verf, res.verf, NFS_VERF_SIZE);
	rc = op->u.write.then ? get_then(op->u.write.then, r, &op->u.write.attr)
			      : nfs4_reply_data_attr_behind(r, &op->u.write.attr);
	if (op->be.v4.unsure) /* an earlier call may have been counted, too */
		op->u.write.attr.counted = false;
	return rc;
}

void nfs4_put_op_write(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	nfs4_comp_putfh(k, &op->u.write.fh);
	put_write(c, op, k);
}

enum nfs_outcome nfs4_get_op_write(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	return nfs4_outcome(op, rc ? rc : get_write(c, op, r));
}

/* A number that stays the same as long as other clients certainly cannot change the bytes that op
 * is to write; 0: other clients can. */
static uint64_t append_alone(struct nfs4_client *c, const struct nfs_op *op)
{
	uint64_t first = op->u.write.offset, last = first + op->u.write.from.len - 1, id;

	id = nfs4_lock_covers(c, op->u.write.open, first, last, clock_ns());
	if (id)
		return id << 1;
	id = nfs4_deleg_is_alone(c, &op->u.write.fh);
	return id ? id << 1 | 1 : 0;
}

/* VERIFY ends the COMPOUND when the file does not end at offset (RFC 8881 18.31). GETATTR stands
 * before VERIFY, so that the answer has the size to try next. A COMPOUND is not atomic: without a
 * lock another client may come between VERIFY and WRITE. */
void nfs4_put_op_append(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_bitmap want = nfs4_bits(FATTR4_CHANGE, FATTR4_SIZE, -1);
	struct nfs4_verify_args v = {.attrs = {.mask = nfs4_bits(FATTR4_SIZE, -1)}};
	struct xdr_out vals;
	uint8_t size[8];

	xdr_out_init(&vals, size, sizeof(size));
	xdr_put_u64(&vals, op->u.write.offset);
	v.attrs.vals = (struct nfs4_opaque){.data = size, .len = sizeof(size)};
	if (!op->be.v4.unsure)
		op->be.v4.more[1] = append_alone(c, op);
	nfs4_comp_putfh(k, &op->u.write.fh);
	nfs4_comp_getattr(k, &want);
	nfs4_put_verify_args(k->x, OP_VERIFY, &v);
	nfs4_comp_count(k, OP_VERIFY, 0);
	put_write(c, op, k);
}

/* The answer to the GETATTR before the WRITE of op. */
static void append_before(struct nfs_op *op, const struct nfs4_attrs *a)
{
	struct nfs_data_attr *attr = &op->u.write.attr;

	attr->have_before = attr->have && nfs4_bit(&a->mask, FATTR4_CHANGE);
	attr->before_change = a->attr.change;
	attr->before_size = a->attr.size;
}

/* The file does not end where op was sent to. */
static enum nfs_outcome append_elsewhere(struct nfs4_client *c, struct nfs_op *op, uint64_t size)
{
	if (op->be.v4.unsure) {
		op->u.write.ours = op->be.v4.more[1] && append_alone(c, op) == op->be.v4.more[1];
		return nfs_failed(op, -EALREADY);
	}
	if (++op->be.v4.more[0] > APPEND_TRIES) {
		log_warn("%s: the end of a file moved %u times before anything could be appended, "
			 "the last time to %llu: too many clients append to it, or a server bug",
			c->srv->name, APPEND_TRIES, (unsigned long long)size);
		return nfs_failed(op, -EIO);
	}
	if (size > (uint64_t)INT64_MAX - op->u.write.from.len)
		return nfs_failed(op, -EFBIG);
	op->u.write.offset = size;
	return NFS_AGAIN;
}

enum nfs_outcome nfs4_get_op_append(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_attrs a;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_getattr(r, &a);
	if (rc)
		return nfs4_outcome(op, rc);
	if (!nfs4_bit(&a.mask, FATTR4_SIZE))
		return nfs_failed(op, -EBADMSG);
	rc = nfs4_reply_op(r, OP_VERIFY);
	if (rc == NFS4ERR_NOT_SAME)
		return append_elsewhere(c, op, a.attr.size);
	if (!rc)
		rc = get_write(c, op, r);
	if (!rc)
		append_before(op, &a);
	return nfs4_outcome(op, rc);
}

void nfs4_put_op_commit(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_commit_args a = {.offset = op->u.commit.offset, .count = op->u.commit.len};

	nfs4_comp_putfh(k, &op->u.commit.fh);
	nfs4_put_commit_args(k->x, &a);
	nfs4_comp_count(k, OP_COMMIT, 0);
	nfs4_comp_getattr(k, &c->data_want);
}

enum nfs_outcome nfs4_get_op_commit(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_commit_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_COMMIT);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_commit_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	memcpy(op->u.commit.verf, res.verf, NFS_VERF_SIZE);
	return nfs4_outcome(op, nfs4_reply_data_attr_behind(r, &op->u.commit.attr));
}

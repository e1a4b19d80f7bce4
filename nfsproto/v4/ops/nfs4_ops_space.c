/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_space: the kinds of op about the space and the data of files that NFSv4.2 adds: SEEK,
 * ALLOCATE and DEALLOCATE, COPY and CLONE, READ_PLUS.
 *
 * All of these operations are optional for a server. After NFS4ERR_NOTSUPP the client does not send
 * the same operation again; the caller gets -EOPNOTSUPP and does without.
 *
 * Copying:
 *
 *     CLONE --done--> all is copied at once
 *       \--refused--> COPY, synchronous --> some or all is copied
 *                      \--OFFLOAD_NO_REQS--> COPY, asynchronous --> OFFLOAD_STATUS --+
 *                                                                     ^---- later ---/
 *
 * Only CB_OFFLOAD tells the end of an asynchronous copy, and how much is on stable storage. The op
 * asks OFFLOAD_STATUS now and then, to notice a callback that never comes. CB_OFFLOAD may come
 * before the reply to COPY: results without a waiting op are kept, the latest NFS4_OFFLOADS of
 * them. A copy with an unknown end is -EOPNOTSUPP: the caller then copies by READ and WRITE,
 * over any data that the server has copied.
 */
#include "nfsproto/v4/ops/nfs4_ops_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_lock_io.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/ops/nfs4_ops_data.h"
#include "transport/log.h"

#define COPY_MAX	 (64u << 20) /* bytes in one COPY: must end before the call times out */
#define OFFLOAD_MS_FIRST 20u
#define OFFLOAD_MS_MAX	 1000u
#define OFFLOAD_SLOW	 6u  /* times asked until OFFLOAD_MS_MAX is reached */
#define OFFLOAD_SILENT	 16u /* and asked until a CB_OFFLOAD counts as lost */

/* --- operations that the server lacks -------------------------------------------------------- */

static uint32_t lacks_bit(uint32_t op)
{
	return 1u << (op - OP_ALLOCATE);
}

static bool lacks(struct nfs4_client *c, uint32_t op)
{
	return atomic_load_explicit(&c->srv->lacks, memory_order_relaxed) & lacks_bit(op);
}

/* Steps to the result of op; remembers if the server does not know op: -EOPNOTSUPP. */
static int reply_optional(struct nfs4_client *c, struct nfs4_reply *r, uint32_t op)
{
	int rc = nfs4_reply_op(r, op);

	if (rc != NFS4ERR_NOTSUPP && rc != NFS4ERR_OP_ILLEGAL)
		return rc;
	if (!(atomic_fetch_or_explicit(&c->srv->lacks, lacks_bit(op), memory_order_relaxed) &
		    lacks_bit(op)))
		log_info("%s: the server has no %s", c->srv->name, nfs4_op_name(op));
	return -EOPNOTSUPP;
}

static int copy_kind(struct nfs4_client *c, const struct nfs_op *op)
{
	uint64_t mask = c->clone_blksize ? c->clone_blksize - 1 : 0;

	/* The end is not checked: it may be the end of the source, which only the server knows. */
	if (!lacks(c, OP_CLONE) && !(op->u.copy.from & mask) && !(op->u.copy.to & mask))
		return NFS4_K_CLONE;
	return lacks(c, OP_COPY) ? -EOPNOTSUPP : NFS_COPY;
}

int nfs4_space_kind(struct nfs4_client *c, const struct nfs_op *op)
{
	bool has = c->srv->minor >= 2;

	switch (op->type) {
	case NFS_READ:
		return c->read_plus && has && !lacks(c, OP_READ_PLUS) ? NFS4_K_READ_PLUS : NFS_READ;
	case NFS_WRITE:
		if (op->u.write.append)
			return NFS4_K_APPEND;
		return op->u.write.then && op->u.write.then->set.mask ? NFS4_K_WRITE_SET
								      : NFS_WRITE;
	case NFS_SEEK:
		return has && !lacks(c, OP_SEEK) ? NFS_SEEK : -EOPNOTSUPP;
	case NFS_ALLOCATE:
		has = has && !lacks(c, op->u.allocate.dealloc ? OP_DEALLOCATE : OP_ALLOCATE);
		return has ? NFS_ALLOCATE : -EOPNOTSUPP;
	case NFS_COPY:
		return has ? copy_kind(c, op) : -EOPNOTSUPP;
	default:
		return (int)op->type;
	}
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
		rc = reply_optional(c, r, OP_SEEK);
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
static void put_commit(struct nfs4_comp *k, uint64_t offset, uint64_t length)
{
	struct nfs4_commit_args a = {
		.offset = offset,
		.count = length <= UINT32_MAX ? (uint32_t)length : 0, /* 0: to the end */
	};

	nfs4_put_commit_args(k->x, &a);
	nfs4_comp_count(k, OP_COMMIT, 0);
}

/* *unsafe: the error of the COMMIT, or 0. The operations before COMMIT have succeeded. */
static int get_commit(struct nfs4_reply *r, int *unsafe)
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
	struct nfs4_allocate_args a = {
		.stateid = nfs4_io_stateid(c, op, op->u.allocate.open),
		.offset = op->u.allocate.offset,
		.length = op->u.allocate.length,
	};

	nfs4_comp_putfh(k, &op->u.allocate.fh);
	if (op->u.allocate.dealloc)
		nfs4_put_deallocate_args(k->x, &a);
	else
		nfs4_put_allocate_args(k->x, &a);
	nfs4_comp_count(k, allocate_op(op), 0);
	put_commit(k, op->u.allocate.offset, op->u.allocate.length);
}

enum nfs_outcome nfs4_get_op_allocate(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = reply_optional(c, r, allocate_op(op));
	return nfs4_outcome(op, rc ? rc : get_commit(r, &op->u.allocate.unsafe));
}

/* --- CLONE, COPY ----------------------------------------------------------------------------- */

/* The source as saved, the target as current handle. */
static void put_two_files(struct nfs_op *op, struct nfs4_comp *k)
{
	nfs4_comp_putfh(k, &op->u.copy.from_fh);
	nfs4_comp_op(k, OP_SAVEFH);
	nfs4_comp_putfh(k, &op->u.copy.to_fh);
}

static int get_two_files(struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_SAVEFH);
	return rc ? rc : nfs4_reply_op(r, OP_PUTFH);
}

static struct nfs4_stateid copy_source_stateid(struct nfs_op *op)
{
	struct nfs4_stateid id = nfs4_open_stateid(op, op->u.copy.from_open);

	op->be.v4.from_gen = op->be.v4.gen;
	return id;
}

void nfs4_put_op_clone(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_clone_args a = {
		.src = copy_source_stateid(op),
		.dst = nfs4_open_stateid(op, op->u.copy.to_open),
		.src_offset = op->u.copy.from,
		.dst_offset = op->u.copy.to,
		.count = op->u.copy.count,
	};

	put_two_files(op, k);
	nfs4_put_clone_args(k->x, &a);
	nfs4_comp_count(k, OP_CLONE, 0);
	put_commit(k, a.dst_offset, a.count);
}

enum nfs_outcome nfs4_get_op_clone(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = get_two_files(r);

	if (!rc)
		rc = reply_optional(c, r, OP_CLONE);
	switch (rc) {
	case 0:
		op->u.copy.copied = op->u.copy.count;
		op->u.copy.committed = NFS_FILE_SYNC;
		return nfs4_outcome(op, get_commit(r, &op->u.copy.unsafe));
	case -EOPNOTSUPP:
	case NFS4ERR_INVAL: /* not aligned; behind the end; the file system cannot share blocks */
	case NFS4ERR_XDEV:
	case NFS4ERR_WRONG_TYPE:
		if (lacks(c, OP_COPY))
			return nfs_failed(op, -EOPNOTSUPP);
		op->be.v4.kind = NFS_COPY;
		return NFS_AGAIN;
	default:
		return nfs4_outcome(op, rc);
	}
}

void nfs4_put_op_copy(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_copy_args a = {
		.src = copy_source_stateid(op),
		.dst = nfs4_open_stateid(op, op->u.copy.to_open),
		.src_offset = op->u.copy.from,
		.dst_offset = op->u.copy.to,
		.count = op->u.copy.count < COPY_MAX ? op->u.copy.count : COPY_MAX,
		.consecutive = true,
		.synchronous = !atomic_load_explicit(&c->srv->copies_async, memory_order_relaxed),
	};

	put_two_files(op, k);
	nfs4_put_copy_args(k->x, &a);
	nfs4_comp_count(k, OP_COPY, 0);
}

/* Gives op the result of a copy that has ended, now or with CB_OFFLOAD. */
static int copy_ended(
	const struct nfs4_client *c, struct nfs_op *op, const struct nfs4_write_response *w)
{
	if (w->count > op->u.copy.count) {
		log_warn("%s: COPY of %llu bytes was answered with %llu copied: server bug",
			c->srv->name, (unsigned long long)op->u.copy.count,
			(unsigned long long)w->count);
		return -EREMOTEIO;
	}
	op->u.copy.copied = w->count;
	op->u.copy.committed = (enum nfs_stable)w->committed;
	op->u.copy.unsafe = 0;
	memcpy(op->u.copy.verf, w->verf, NFS_VERF_SIZE);
	return 0;
}

/* The server cannot copy in the requested way. Tries another way, if there is one. */
static enum nfs_outcome copy_otherwise(
	struct nfs4_client *c, struct nfs_op *op, const struct nfs4_copy_res *res)
{
	if (!res->consecutive || res->synchronous ||
		atomic_exchange_explicit(&c->srv->copies_async, true, memory_order_relaxed))
		return nfs_failed(op, -EOPNOTSUPP);
	log_info("%s: the server copies asynchronously only", c->srv->name);
	return NFS_AGAIN;
}

static enum nfs_outcome offload_wait(struct nfs4_client *c, struct nfs_op *op);

enum nfs_outcome nfs4_get_op_copy(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_copy_res res;
	int rc = get_two_files(r);

	if (!rc)
		rc = reply_optional(c, r, OP_COPY);
	if (rc == NFS4ERR_OFFLOAD_NO_REQS) {
		if (nfs4_get_copy_res(r->x, NFS4ERR_OFFLOAD_NO_REQS, &res))
			return nfs_failed(op, -EBADMSG);
		return copy_otherwise(c, op, &res);
	}
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_copy_res(r->x, NFS4_OK, &res) || nfs4_reply_end(r))
		return nfs_failed(op, -EBADMSG);
	if (res.response.async) {
		memcpy(op->be.v4.more, &res.response.callback, sizeof(res.response.callback));
		op->be.v4.kind = NFS4_K_OFFLOAD_STATUS;
		op->tries = 0;
		return offload_wait(c, op);
	}
	/* the copied bytes may be anywhere in the range, unless all were copied */
	if (!res.consecutive && res.response.count < op->u.copy.count)
		return nfs_failed(op, -EOPNOTSUPP);
	return nfs4_outcome(op, copy_ended(c, op, &res.response));
}

/* --- asynchronous copies --------------------------------------------------------------------- */

static struct nfs4_stateid offload_stateid(const struct nfs_op *op)
{
	struct nfs4_stateid id;

	_Static_assert(sizeof(id) == sizeof(op->be.v4.more), "a stateid fits");
	memcpy(&id, op->be.v4.more, sizeof(id));
	return id;
}

/* The end of a copy by CB_OFFLOAD. */
static int offload_ended(
	const struct nfs4_client *c, struct nfs_op *op, const struct nfs4_offload *o)
{
	int error = nfs4_status_errno(o->status);

	return error ? error : copy_ended(c, op, &o->response);
}

/* Has CB_OFFLOAD come? Then op ends with its result. Otherwise NFS_LATER. */
static enum nfs_outcome offload_wait(struct nfs4_client *c, struct nfs_op *op)
{
	struct nfs4_stateid id = offload_stateid(op);
	enum nfs_outcome out = NFS_LATER;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < NFS4_OFFLOADS && out == NFS_LATER; i++) {
		struct nfs4_offload *o = &c->offload[i];

		if (!o->set || memcmp(o->other, id.other, sizeof(id.other)) != 0)
			continue;
		out = nfs_failed(op, offload_ended(c, op, o));
		o->set = false;
	}
	pthread_mutex_unlock(&c->lock);
	if (out != NFS_LATER)
		op->be.v4.kind = NFS_COPY; /* no copy is left to be cancelled */
	return out;
}

unsigned nfs4_offload_ms(struct nfs_op *op)
{
	unsigned ms = op->tries < OFFLOAD_SLOW ? OFFLOAD_MS_FIRST << op->tries : OFFLOAD_MS_MAX;

	op->tries++;
	return ms < OFFLOAD_MS_MAX ? ms : OFFLOAD_MS_MAX;
}

void nfs4_offload_called(struct nfs4_client *c, const struct nfs4_cb_offload_args *a)
{
	struct nfs4_offload o = {.set = true, .status = a->status, .response = a->response};
	struct nfs_op *op;

	memcpy(o.other, a->stateid.other, sizeof(o.other));
	pthread_mutex_lock(&c->srv->slots.lock);
	TAILQ_FOREACH (op, &c->srv->delayed, link) {
		struct nfs4_stateid id = offload_stateid(op);

		if (op->be.v4.user == &c->user && op->be.v4.kind == NFS4_K_OFFLOAD_STATUS &&
			memcmp(id.other, o.other, sizeof(o.other)) == 0)
			break;
	}
	if (op) {
		TAILQ_REMOVE(&c->srv->delayed, op, link);
		op->be.v4.kind = NFS_COPY;
		nfs4_state_end_later_locked(c->srv, op, offload_ended(c, op, &o));
	}
	pthread_mutex_unlock(&c->srv->slots.lock);
	if (op)
		return;
	pthread_mutex_lock(&c->lock); /* an op that is not delayed yet finds the result here when it
					 next asks */
	c->offload[c->next_offload++ % NFS4_OFFLOADS] = o;
	pthread_mutex_unlock(&c->lock);
}

void nfs4_put_op_offload_status(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_offload_args a = {.stateid = offload_stateid(op)};

	nfs4_comp_putfh(k, &op->u.copy.to_fh);
	nfs4_put_offload_status_args(k->x, &a);
	nfs4_comp_count(k, OP_OFFLOAD_STATUS, 0);
}

enum nfs_outcome nfs4_get_op_offload_status(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_offload_status_res res = {.complete = false};
	enum nfs_outcome out = offload_wait(c, op);
	int rc;

	if (out != NFS_LATER) {
		r->left = 0;
		r->status = NFS4_OK;
		r->x->pos = r->x->len;
		return out;
	}
	rc = nfs4_reply_op(r, OP_PUTFH);
	if (!rc)
		rc = nfs4_reply_op(r, OP_OFFLOAD_STATUS);
	switch (rc) {
	case 0:
		if (nfs4_get_offload_status_res(r->x, NFS4_OK, &res) || nfs4_reply_end(r))
			return nfs_failed(op, -EBADMSG);
		break;
	case NFS4ERR_NOTSUPP: /* then CB_OFFLOAD must do */
		return NFS_LATER;
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_ADMIN_REVOKED:
		res.complete = true; /* or lost with the server's memory */
		break;
	default:
		return nfs4_outcome(op, rc);
	}
	if (!res.complete && op->tries > OFFLOAD_SLOW)
		op->tries = OFFLOAD_SLOW;
	if (!res.complete || op->tries < OFFLOAD_SILENT)
		return NFS_LATER;
	log_warn("%s: a copy has ended, but CB_OFFLOAD did not say so", c->srv->name);
	return nfs_failed(op, -EOPNOTSUPP);
}

/* One OFFLOAD_CANCEL, on its own. */
struct offload_cancel {
	struct nfs_fh fh;
	struct nfs4_stateid stateid;
	struct nfs_op op;
};

static void offload_cancel_done(struct nfs_op *op)
{
	free(container_of(op, struct offload_cancel, op));
}

void nfs4_offload_abandon(struct nfs4_client *c, const struct nfs_op *op)
{
	struct offload_cancel *o = calloc(1, sizeof(*o));

	if (!o)
		return; /* the server copies in vain */
	o->fh = op->u.copy.to_fh;
	o->stateid = offload_stateid(op);
	o->op.type = NFS_OP_TYPES;
	o->op.cred = op->cred;
	o->op.client = &c->base;
	o->op.done = offload_cancel_done;
	nfs4_mount_bind(c, &o->op, NFS4_K_OFFLOAD_CANCEL);
	nfs4_task_start(&o->op);
}

void nfs4_put_op_offload_cancel(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct offload_cancel *o = container_of(op, struct offload_cancel, op);
	struct nfs4_offload_args a = {.stateid = o->stateid};

	nfs4_comp_putfh(k, &o->fh);
	nfs4_put_offload_cancel_args(k->x, &a);
	nfs4_comp_count(k, OP_OFFLOAD_CANCEL, 0);
}

enum nfs_outcome nfs4_get_op_offload_cancel(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	return nfs4_outcome(op, rc ? rc : nfs4_reply_op(r, OP_OFFLOAD_CANCEL));
}

/* --- READ_PLUS ------------------------------------------------------------------------------- */

void nfs4_put_op_read_plus(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_read_plus_args a = {
		.stateid = nfs4_io_stateid(c, op, op->u.read.open),
		.offset = op->u.read.offset,
		.count = op->u.read.to.len,
	};

	nfs4_comp_putfh(k, &op->u.read.fh);
	nfs4_put_read_attr(c, op, k);
	nfs4_put_read_plus_args(k->x, &a);
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
		rc = reply_optional(c, r, OP_READ_PLUS);
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
		atomic_fetch_or_explicit(
			&c->srv->lacks, lacks_bit(OP_READ_PLUS), memory_order_relaxed);
		op->be.v4.kind = NFS_READ;
		return NFS_AGAIN;
	}
	return NFS_DONE;
}

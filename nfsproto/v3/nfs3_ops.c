/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_ops: the kinds of call about one object's attributes and data: arguments and results. Names
 * and directories: nfs3_ops_dir.c, opens: nfs3_ops_open.c, the table of all kinds: nfs3_kinds.c.
 *
 * Attributes are optional in nearly every reply (RFC 1813 section 2.6). If the op owes attributes
 * to its user and the server left them out, GETATTR asks for them.
 *
 * The reply is gone after get returns: no pointer may point into the reply.
 */
#include <errno.h>
#include <string.h>

#include "nfsproto/v3/nfs3_client.h"
#include "transport/log.h"

/* --- attributes ---------------------------------------------------------------------------- */

enum nfs_outcome nfs3_take_attr(
	struct nfs_op *op, const struct nfs3_post_op *p, struct nfs_attr *attr)
{
	if (p->have) {
		*attr = p->attr;
		return NFS_DONE;
	}
	op->be.v3.kind = NFS3_K_GETATTR_AFTER;
	return NFS_AGAIN;
}

void nfs3_put_op_getattr(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_GETATTR;
	a->u.fh = op->u.getattr.fh;
}

enum nfs_outcome nfs3_get_op_getattr(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	op->u.getattr.attr = r->u.getattr.attr;
	return NFS_DONE;
}

/* The object with attributes still owed, and where to put the attributes. */
static const struct nfs_fh *after_target(struct nfs_op *op, struct nfs_attr **attr)
{
	switch (op->type) {
	case NFS_LOOKUP:
		*attr = &op->u.lookup.attr;
		return &op->u.lookup.fh;
	case NFS_SETATTR:
		*attr = &op->u.setattr.attr;
		return &op->u.setattr.fh;
	case NFS_ACCESS:
		*attr = &op->u.access.attr;
		return &op->u.access.fh;
	case NFS_OPEN:
		*attr = &op->u.open.attr;
		return &op->u.open.fh;
	case NFS_CREATE:
		*attr = &op->u.create.attr;
		return &op->u.create.fh;
	default: /* no other goes there */
		*attr = &op->u.link.attr;
		return &op->u.link.fh;
	}
}

void nfs3_put_op_getattr_after(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	struct nfs_attr *attr;

	a->proc = NFS3PROC_GETATTR;
	a->u.fh = *after_target(op, &attr);
}

enum nfs_outcome nfs3_get_op_getattr_after(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	struct nfs_attr *attr;

	after_target(op, &attr);
	*attr = r->u.getattr.attr;
	return NFS_DONE;
}

/* The object that LOOKUP found is gone: another client has removed its name, and perhaps given the
 * name to another object. With attributes in the answer to LOOKUP the op would not have seen the
 * object's end. */
enum nfs_outcome nfs3_fail_op_getattr_after(
	struct nfs3_client *c, struct nfs_op *op, uint32_t status)
{
	if (op->type != NFS_LOOKUP || status != NFS3ERR_STALE || op->be.v3.races >= NFS3_RACES_MAX)
		return NFS_STATUS;
	op->be.v3.races++;
	op->be.v3.kind = NFS_LOOKUP;
	return NFS_AGAIN;
}

void nfs3_put_op_setattr(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_SETATTR;
	a->u.setattr = (struct nfs3_setattr_args){
		.fh = op->u.setattr.fh,
		.set = op->u.setattr.set,
	};
}

enum nfs_outcome nfs3_get_op_setattr(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	return nfs3_take_attr(op, &r->u.wcc.wcc.after, &op->u.setattr.attr);
}

void nfs3_put_op_access(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_ACCESS;
	a->u.access = (struct nfs3_access_args){
		.fh = op->u.access.fh,
		.access = op->u.access.want,
	};
}

enum nfs_outcome nfs3_get_op_access(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	op->u.access.allowed = r->u.access.access & op->u.access.want;
	return nfs3_take_attr(op, &r->u.access.obj, &op->u.access.attr);
}

void nfs3_put_op_statfs(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_FSSTAT;
	a->u.fh = op->u.statfs.fh;
}

enum nfs_outcome nfs3_get_op_statfs(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	op->u.statfs.st = r->u.fsstat.st;
	op->u.statfs.st.name_max = c->name_max;
	return NFS_DONE;
}

/* --- data ---------------------------------------------------------------------------------- */

static void take_data_attr(struct nfs_data_attr *to, const struct nfs3_post_op *p)
{
	const struct nfs_attr *a = &p->attr;

	*to = (struct nfs_data_attr){.have = p->have};
	if (!p->have)
		return;
	to->change = a->change;
	to->size = a->size;
	to->used = a->used;
	to->atime = a->atime;
	to->mtime = a->mtime;
	to->ctime = a->ctime;
}

static void take_wcc(struct nfs_data_attr *to, const struct nfs3_wcc *wcc)
{
	take_data_attr(to, &wcc->after);
	to->have_before = to->have && wcc->have_before;
	if (!to->have_before)
		return;
	to->before_change = nfs3_change(&wcc->before.ctime);
	to->before_size = wcc->before.size;
}

void nfs3_put_op_read(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_READ;
	a->u.read = (struct nfs3_read_args){
		.fh = op->u.read.fh,
		.offset = op->u.read.offset,
		.count = op->u.read.to.len,
	};
	op->call.sink[0] = op->u.read.to;
	op->call.nsinks = 1;
	op->call.moves = op->u.read.moves;
	op->call.peek = nfs3_peek_read;
}

enum nfs_outcome nfs3_get_op_read(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	uint32_t n;

	if (rpc_call_take_sink(&op->call, x, 0, &n)) {
		log_warn("%s: more data came than the %u bytes of a READ: server bug", c->server,
			op->u.read.to.len);
		return nfs_failed(op, -EBADMSG);
	}
	op->u.read.moved = op->call.moved;
	if (n != r->u.read.count) {
		log_warn("%s: %u bytes of data came where a READ said %u: server bug", c->server, n,
			r->u.read.count);
		return nfs_failed(op, -EBADMSG);
	}
	if (n == 0 && !r->u.read.eof) {
		log_warn("%s: READ of %u bytes at %llu gave nothing, and not the end of the file: "
			 "server bug",
			c->server, op->u.read.to.len, (unsigned long long)op->u.read.offset);
		return nfs_failed(op, -EBADMSG);
	}
	op->u.read.count = n;
	op->u.read.eof = r->u.read.eof;
	take_data_attr(&op->u.read.attr, &r->u.read.obj);
	return NFS_DONE;
}

void nfs3_put_op_write(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_WRITE;
	a->u.write = (struct nfs3_write_args){
		.fh = op->u.write.fh,
		.offset = op->u.write.offset,
		.count = op->u.write.from.len,
		.stable = op->u.write.stable,
		.data = op->u.write.from,
	};
}

enum nfs_outcome nfs3_get_op_write(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	const struct nfs3_write_res *w = &r->u.write;
	uint32_t sent = op->u.write.from.len;

	if (w->count > sent || (w->count == 0 && sent > 0)) {
		log_warn("%s: WRITE of %u bytes at %llu was answered with %u written: server bug",
			c->server, sent, (unsigned long long)op->u.write.offset, w->count);
		return nfs_failed(op, -EBADMSG);
	}
	/* RFC 1813 3.3.7: a server may do more than was asked, never less */
	if (w->committed < (uint32_t)op->u.write.stable) {
		log_warn("%s: WRITE asked for stability %d and got %u: server bug", c->server,
			(int)op->u.write.stable, w->committed);
		return nfs_failed(op, -EBADMSG);
	}
	op->u.write.count = w->count;
	op->u.write.committed = (enum nfs_stable)w->committed;
	memcpy(op->u.write.verf, w->verf, NFS_VERF_SIZE);
	take_wcc(&op->u.write.attr, &w->wcc);
	if (op->be.v3.unsure || op->call.repeated) /* an earlier call may have been executed, too */
		op->u.write.attr.have_before = false;
	if (op->u.write.then) {
		op->u.write.then->done = w->wcc.after.have && !op->u.write.then->set.mask;
		op->u.write.then->attr = w->wcc.after.attr;
	}
	return NFS_DONE;
}

void nfs3_put_op_append_size(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_GETATTR;
	a->u.fh = op->u.write.fh;
}

enum nfs_outcome nfs3_get_op_append_size(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	uint64_t size = r->u.getattr.attr.size;

	if (size > (uint64_t)INT64_MAX - op->u.write.from.len)
		return nfs_failed(op, -EFBIG);
	op->u.write.offset = size;
	op->be.v3.unsure = false; /* no WRITE has been sent */
	op->be.v3.kind = NFS3_K_APPEND;
	return NFS_AGAIN;
}

void nfs3_put_op_append(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	nfs3_put_op_write(c, op, a);
}

/* NFSv3 cannot make a WRITE depend on the size. If another client appended in between, the append
 * cannot be undone, but it can be reported. */
enum nfs_outcome nfs3_get_op_append(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	const struct nfs3_wcc *wcc = &r->u.write.wcc;

	if (wcc->have_before && wcc->before.size != op->u.write.offset &&
		!atomic_exchange(&c->append_raced, true))
		log_always_warn(
			"%s: another client changed the size of a file from %llu to %llu while "
			"this one appended: NFSv3 needs a lock around that, or data is lost",
			c->server, (unsigned long long)op->u.write.offset,
			(unsigned long long)wcc->before.size);
	/* The server took a part. If an earlier copy of the call was executed, the rest stands
	 * there already, and must not go behind that. */
	if ((op->be.v3.unsure || op->call.repeated) && r->u.write.count < op->u.write.from.len) {
		op->u.write.ours = true;
		return nfs_failed(op, -EALREADY);
	}
	return nfs3_get_op_write(c, op, r, x);
}

void nfs3_put_op_commit(struct nfs3_client *c, struct nfs_op *op, struct nfs3_args *a)
{
	a->proc = NFS3PROC_COMMIT;
	a->u.commit = (struct nfs3_commit_args){
		.fh = op->u.commit.fh,
		.offset = op->u.commit.offset,
		.count = op->u.commit.len,
	};
}

enum nfs_outcome nfs3_get_op_commit(
	struct nfs3_client *c, struct nfs_op *op, const struct nfs3_res *r, struct xdr_in *x)
{
	memcpy(op->u.commit.verf, r->u.commit.verf, NFS_VERF_SIZE);
	take_wcc(&op->u.commit.attr, &r->u.commit.wcc);
	return NFS_DONE;
}

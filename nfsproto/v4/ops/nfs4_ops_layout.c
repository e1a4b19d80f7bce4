/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_layout: the kinds of op about layouts (RFC 8881 sections 18.40 to 18.44, RFC 8435).
 */
#include "nfsproto/v4/ops/nfs4_ops_layout.h"

#include <errno.h>

#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/ops/nfs4_coder.h"
#include "nfsproto/v4/ops/nfs4_ops_space.h"
#include "nfsproto/v4/pnfs/nfs4_layout_io.h"
#include "nfsproto/v4/pnfs/nfs4_layout_report.h"
#include "nfsproto/v4/pnfs/nfs4_pnfs.h"
#include "transport/clock.h"

#define BODY_MAX   16384u /* bytes of the layouts of a file, of a device */
#define RETURN_MAX 2048u  /* bytes of a report of errors and counts */
#define UPDATE_MAX 512u	  /* bytes of an ff_layoutupdate4 */

void nfs4_put_op_layoutget(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	struct nfs4_layoutget *g = &container_of(op, struct nfs4_layout_ask, op)->g;
	struct nfs4_layoutget_args a = {
		.type = g->type,
		.iomode = g->writes ? LAYOUTIOMODE4_RW : LAYOUTIOMODE4_READ,
		.length = NFS4_LENGTH_EOF,
		.stateid = g->more ? g->stateid : nfs4_open_stateid(op, g->open),
		.maxcount = BODY_MAX,
	};

	nfs4_comp_putfh(k, g->fh);
	nfs4_put_layoutget_args(k->x, &a);
	nfs4_comp_count(k, OP_LAYOUTGET, a.maxcount);
}

enum nfs_outcome nfs4_get_op_layoutget(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_layoutget *g = &container_of(op, struct nfs4_layout_ask, op)->g;
	struct nfs4_layoutget_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_LAYOUTGET);
	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_layoutget_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	nfs4_layoutget_told(g, &res);
	return NFS_DONE;
}

void nfs4_put_op_getdeviceinfo(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_device_info *i = container_of(op, struct nfs4_sync, op)->u.device;
	struct nfs4_getdeviceinfo_args a = {
		.device = i->id,
		.type = i->type,
		.maxcount = BODY_MAX,
		.notify = nfs4_bits(NOTIFY_DEVICEID4_CHANGE, NOTIFY_DEVICEID4_DELETE, -1),
	};

	nfs4_put_getdeviceinfo_args(k->x, &a);
	nfs4_comp_count(k, OP_GETDEVICEINFO, a.maxcount);
}

enum nfs_outcome nfs4_get_op_getdeviceinfo(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_device_info *i = container_of(op, struct nfs4_sync, op)->u.device;
	struct nfs4_getdeviceinfo_res res;
	int rc = nfs4_reply_op(r, OP_GETDEVICEINFO);

	if (rc)
		return nfs4_outcome(op, rc);
	if (nfs4_get_getdeviceinfo_res(r->x, NFS4_OK, &res))
		return nfs_failed(op, -EBADMSG);
	if (res.type == i->type)
		nfs4_device_told(i, &res.body);
	else
		i->error = -EBADMSG;
	return NFS_DONE;
}

static struct nfs4_layouterror_args error_args(
	const struct nfs4_layout_error *e, const struct nfs4_stateid *id)
{
	return (struct nfs4_layouterror_args){.offset = e->offset,
		.length = e->length,
		.stateid = *id,
		.n = 1,
		.error[0] = e->at};
}

/* The report of r in buf, of RETURN_MAX bytes; empty if there is nothing to tell, or if layouts of
 * that type have no report. */
static struct nfs4_opaque report(const struct nfs4_layoutreturn *r, uint32_t type, uint8_t *buf)
{
	struct nfs4_ff_return ff = {.nerrors = r->nerrors, .nstats = r->stats.n};
	char addr[NFS4_IO_STATS][NFS4_UADDR_MAX];
	uint64_t now = clock_ns();
	struct xdr_out x;

	if ((!r->nerrors && !r->stats.n) || type != LAYOUT4_FLEX_FILES)
		return (struct nfs4_opaque){.len = 0};
	for (unsigned i = 0; i < r->nerrors; i++)
		ff.error[i] = error_args(&r->error[i], &r->stateid);
	for (unsigned i = 0; i < r->stats.n; i++) {
		const struct nfs4_io_stats_at *at = &r->stats.at[i];

		ff.stats[i] = (struct nfs4_ff_iostats){
			.length = NFS4_LENGTH_EOF,
			.stateid = r->stateid,
			.read = {at->read.ops_completed, at->read.bytes_completed},
			.write = {at->write.ops_completed, at->write.bytes_completed},
			.device = at->device,
		};
		nfs4_io_stats_tell(&r->stats, i, now, addr[i], &ff.stats[i].update);
	}
	xdr_out_init(&x, buf, RETURN_MAX);
	nfs4_put_ff_return(&x, &ff);
	return (struct nfs4_opaque){.data = buf, .len = xdr_out_ok(&x) ? (uint32_t)x.len : 0};
}

void nfs4_put_layout_back(
	struct nfs4_client *c, struct nfs4_comp *k, const struct nfs4_layoutreturn *r)
{
	uint8_t body[RETURN_MAX];
	struct nfs4_layoutreturn_args a = {
		.type = nfs4_pnfs_type(c),
		.iomode = LAYOUTIOMODE4_ANY,
		.what = r->fh ? LAYOUTRETURN4_FILE : LAYOUTRETURN4_ALL,
		.length = NFS4_LENGTH_EOF,
		.stateid = r->stateid,
		.body = report(r, nfs4_pnfs_type(c), body),
	};

	nfs4_put_layoutreturn_args(k->x, &a);
	nfs4_comp_count(k, OP_LAYOUTRETURN, 0);
}

void nfs4_put_op_layoutreturn(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_layoutreturn *r = container_of(op, struct nfs4_sync, op)->u.layoutreturn;

	nfs4_comp_putfh(k, r->fh ? r->fh : &c->base.root);
	nfs4_put_layout_back(c, k, r);
}

enum nfs_outcome nfs4_get_op_layoutreturn(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_layoutreturn_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc)
		rc = nfs4_reply_op(r, OP_LAYOUTRETURN);
	if (rc)
		return nfs4_outcome(op, rc);
	return nfs_failed(op, nfs4_get_layoutreturn_res(r->x, NFS4_OK, &res));
}

void nfs4_put_op_layouterror(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_layout_report *r = container_of(op, struct nfs4_layout_report, op);

	nfs4_comp_putfh(k, &r->fh);
	for (unsigned i = 0; i < r->n; i++) {
		struct nfs4_layouterror_args a = error_args(&r->error[i], &r->stateid);

		nfs4_put_layouterror_args(k->x, &a);
		nfs4_comp_count(k, OP_LAYOUTERROR, 0);
	}
}

/* The answers to PUTFH and to n operations `told`. */
static enum nfs_outcome get_reports(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r, uint32_t told, unsigned n)
{
	int rc = nfs4_reply_op(r, OP_PUTFH);

	for (unsigned i = 0; i < n && !rc; i++)
		rc = nfs4_reply_optional(c, r, told);
	return nfs4_outcome(op, rc);
}

enum nfs_outcome nfs4_get_op_layouterror(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs4_layout_report *report = container_of(op, struct nfs4_layout_report, op);

	return get_reports(c, op, r, OP_LAYOUTERROR, report->n);
}

void nfs4_put_op_layoutstats(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	const struct nfs4_layout_report *r = container_of(op, struct nfs4_layout_report, op);

	nfs4_comp_putfh(k, &r->fh);
	for (unsigned i = 0; i < r->stats.n; i++) {
		const struct nfs4_io_stats_at *at = &r->stats.at[i];
		struct nfs4_layoutstats_args a = {
			.length = NFS4_LENGTH_EOF,
			.stateid = r->stateid,
			.read = {at->read.ops_completed, at->read.bytes_completed},
			.write = {at->write.ops_completed, at->write.bytes_completed},
			.device = at->device,
			.type = LAYOUT4_FLEX_FILES,
		};
		char addr[NFS4_UADDR_MAX];
		struct nfs4_ff_update u;
		uint8_t body[UPDATE_MAX];
		struct xdr_out x;

		nfs4_io_stats_tell(&r->stats, i, r->told_ns, addr, &u);
		xdr_out_init(&x, body, sizeof(body));
		nfs4_put_ff_update(&x, &u);
		a.body = (struct nfs4_opaque){.data = body, .len = (uint32_t)x.len};
		nfs4_put_layoutstats_args(k->x, &a);
		nfs4_comp_count(k, OP_LAYOUTSTATS, 0);
	}
}

enum nfs_outcome nfs4_get_op_layoutstats(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	const struct nfs4_layout_report *report = container_of(op, struct nfs4_layout_report, op);

	return get_reports(c, op, r, OP_LAYOUTSTATS, report->stats.n);
}

/* Does LAYOUTCOMMIT tell the offset of the last byte written, for the size of the file? Data of the
 * file layout type was written FILE_SYNC, and so with the size (RFC 8881 section 18.32.3). An
 * offset would be of no use there, and does harm: Ganesha over GlusterFS cuts the file to that size
 * if another WRITE to a data server has just extended the file. */
static bool tells_offset(struct nfs4_client *c)
{
	return nfs4_pnfs_type(c) == LAYOUT4_FLEX_FILES;
}

void nfs4_put_op_layoutcommit(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k)
{
	uint64_t offset = op->u.write.offset;
	struct nfs4_layoutcommit_args a = {
		.offset = offset,
		.length = op->u.write.from.len,
		.stateid = nfs4_layout_stateid(op->be.v4.layout),
		.wrote = tells_offset(c),
		.last = offset + op->u.write.from.len - 1,
		.type = nfs4_pnfs_type(c),
	};

	nfs4_comp_putfh(k, &op->u.write.fh);
	if (!op->be.v4.uncommitted) {
		nfs4_put_layoutcommit_args(k->x, &a);
		nfs4_comp_count(k, OP_LAYOUTCOMMIT, 0);
	}
	nfs4_comp_getattr(k, &c->data_want);
}

enum nfs_outcome nfs4_get_op_layoutcommit(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r)
{
	struct nfs4_layoutcommit_res res;
	int rc = nfs4_reply_op(r, OP_PUTFH);

	if (!rc && !op->be.v4.uncommitted)
		rc = nfs4_reply_op(r, OP_LAYOUTCOMMIT);
	if (rc > 0)
		return NFS_STATUS;
	if (!rc && !op->be.v4.uncommitted)
		rc = nfs4_get_layoutcommit_res(r->x, NFS4_OK, &res);
	if (rc)
		return nfs4_layout_uncommitted(c, op, NFS4_OK);
	rc = nfs4_reply_data_attr_behind(r, &op->u.write.attr);
	if (!rc && !op->be.v4.uncommitted && !tells_offset(c) && op->u.write.attr.have &&
		op->u.write.attr.size < op->u.write.offset + op->u.write.from.len)
		return nfs4_layout_unseen(c, op);
	/* a WRITE at a data server may count as a change, too, beside LAYOUTCOMMIT */
	op->u.write.attr.counted = false;
	return nfs4_outcome(op, rc);
}

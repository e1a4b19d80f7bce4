/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-layout: the layouts of mean-nfs4.
 */
#include "tests/unit/nfsproto/v4/pnfs/mean-layout.h"

#include "nfsproto/wire/nfs4_files.h"

#include <stdio.h>
#include <string.h>

#define BODY_MAX 8192u

uint32_t mean_layout_type(const struct mean_layouts *l)
{
	return l->files ? LAYOUT4_NFSV4_1_FILES : LAYOUT4_FLEX_FILES;
}

struct nfs4_stateid mean_layout_id(const struct mean_layouts *l)
{
	return (struct nfs4_stateid){.seqid = l->seqid, .other = "layout"};
}

static uint32_t judge(const struct mean_layouts *l, const struct nfs4_stateid *id)
{
	if (!l->held || memcmp(id->other, mean_layout_id(l).other, sizeof(id->other)) != 0 ||
		id->seqid > l->seqid)
		return NFS4ERR_BAD_STATEID;
	return id->seqid && id->seqid < l->seqid ? NFS4ERR_OLD_STATEID : NFS4_OK;
}

static struct nfs4_opaque put_files_body(const struct mean_layouts *l, uint8_t *buf)
{
	const struct nfs_fh fh = {.len = 2, .data = "F0"};
	struct nfs4_files_layout f = {
		.dense = l->dense,
		.unit = (uint32_t)l->unit,
		.first_stripe = l->first_stripe,
		.nfh = l->nfh,
	};
	uint8_t fhs[1024];
	struct xdr_out x;

	xdr_out_init(&x, fhs, sizeof(fhs));
	for (unsigned i = 0; i < l->nfh; i++)
		nfs4_put_fh(&x, &fh);
	f.fh = (struct nfs4_opaque){.data = fhs, .len = (uint32_t)x.len};
	xdr_out_init(&x, buf, BODY_MAX);
	nfs4_put_files_layout(&x, &f);
	return (struct nfs4_opaque){.data = buf, .len = (uint32_t)x.len - (l->malformed ? 4 : 0)};
}

static struct nfs4_opaque put_body(const struct mean_layouts *l, uint8_t *buf)
{
	const char *user = l->user ? l->user : "1000";
	struct nfs4_ff_server s = {
		.efficiency = 1,
		.nfh = 1,
		.fh = {{.len = 2, .data = "DS"}},
		.user = {user, (uint32_t)strlen(user)},
		.group = {"1001", 4},
	};
	struct nfs4_ff_layout ff = {
		.unit = l->unit,
		.nmirrors = l->nmirrors,
		.nstripes = l->nstripes,
		.flags = l->flags,
		.stats_hint = l->stats_hint,
	};
	struct xdr_out x;

	xdr_out_init(&x, buf, BODY_MAX);
	nfs4_put_ff_head(&x, &ff);
	for (uint32_t m = 0; m < l->nmirrors; m++) {
		nfs4_put_ff_mirror(&x, l->nstripes);
		for (uint32_t i = 0; i < l->nstripes; i++) {
			memset(&s.device, 0, sizeof(s.device));
			s.device.id[0] = (uint8_t)(l->device + m * l->nstripes + i);
			s.device.id[1] = (uint8_t)(l->device >> 8);
			nfs4_put_ff_server(&x, &s);
		}
	}
	nfs4_put_ff_tail(&x, &ff);
	return (struct nfs4_opaque){.data = buf, .len = (uint32_t)x.len - (l->malformed ? 4 : 0)};
}

static uint32_t do_get(
	struct mean_layouts *l, struct xdr_out *x, const struct nfs4_layoutget_args *a)
{
	uint32_t iomode = l->reads_only	   ? LAYOUTIOMODE4_READ
			  : l->writes_only ? LAYOUTIOMODE4_RW
					   : a->iomode;
	struct nfs4_layoutget_res r = {.return_on_close = l->return_on_close, .n = 1};
	uint8_t body[BODY_MAX];

	l->gets++;
	l->held = true;
	l->seqid++;
	r.stateid = mean_layout_id(l);
	r.layout[0] = (struct nfs4_layout){.length = NFS4_LENGTH_EOF,
		.iomode = iomode,
		.type = mean_layout_type(l),
		.body = l->files ? put_files_body(l, body) : put_body(l, body)};
	if (l->second) {
		r.n = 2;
		r.layout[1] = r.layout[0];
		r.layout[1].offset = l->second;
		r.layout[0].length = l->second + l->overlaps;
	}
	nfs4_put_layoutget_res(x, NFS4_OK, &r);
	return NFS4_OK;
}

static struct nfs4_netaddr address_of(const struct mean_layouts *l, unsigned i, char addr[64])
{
	uint16_t port = l->port[i % MEAN_DEVICES];
	const char *netid = l->netid ? l->netid : "tcp";
	const char *host = l->host ? l->host : "127.0.0.1";
	int n = snprintf(addr, 64, "%s.%u.%u", host, port >> 8, port & 255);

	return (struct nfs4_netaddr){
		.netid = {netid, (uint32_t)strlen(netid)}, .addr = {addr, (uint32_t)n}};
}

static void put_flex_device(const struct mean_layouts *l, struct xdr_out *x, unsigned i)
{
	struct nfs4_ff_device d = {
		.addrs = {.n = 1},
		.nversions = 1,
		.version[0] = {.version = l->version ? l->version : 3,
			.minor = l->minor,
			.tight = l->tight,
			.rsize = 1 << 20,
			.wsize = 1 << 20},
	};
	char addr[64];

	d.addrs.addr[0] = address_of(l, i, addr);
	nfs4_put_ff_device(x, &d);
}

static void put_files_device(const struct mean_layouts *l, struct xdr_out *x)
{
	struct nfs4_files_device d = {.nstripes = l->nstripes, .nservers = l->nservers};
	static uint8_t stripes[4 * NFS4_STRIPES_MAX];
	static uint8_t servers[64 * NFS4_SERVERS_MAX];
	struct xdr_out s, m;
	char addr[64];

	xdr_out_init(&s, stripes, sizeof(stripes));
	for (unsigned i = 0; i < l->nstripes; i++)
		xdr_put_u32(&s, i % l->nservers);
	xdr_out_init(&m, servers, sizeof(servers));
	for (unsigned i = 0; i < l->nservers; i++) {
		struct nfs4_multipath one = {.n = 1};

		one.addr[0] = address_of(l, i, addr);
		nfs4_put_multipath(&m, &one);
	}
	d.stripe = (struct nfs4_opaque){.data = stripes, .len = (uint32_t)s.len};
	d.server = (struct nfs4_opaque){.data = servers, .len = (uint32_t)m.len};
	nfs4_put_files_device(x, &d);
}

static uint32_t do_device(
	struct mean_layouts *l, struct xdr_out *x, const struct nfs4_getdeviceinfo_args *a)
{
	struct nfs4_getdeviceinfo_res r = {.type = mean_layout_type(l)};
	static uint8_t body[16384];
	struct xdr_out b;

	l->devices++;
	xdr_out_init(&b, body, sizeof(body));
	if (l->files)
		put_files_device(l, &b);
	else
		put_flex_device(l, &b, a->device.id[0]);
	r.body = (struct nfs4_opaque){
		.data = body, .len = (uint32_t)b.len - (l->bad_device ? 4 : 0)};
	nfs4_put_getdeviceinfo_res(x, NFS4_OK, &r);
	return NFS4_OK;
}

static uint32_t do_commit(struct mean_layouts *l, struct xdr_out *x,
	const struct nfs4_layoutcommit_args *a, uint64_t *size)
{
	struct nfs4_layoutcommit_res r = {.resized = a->wrote && a->last >= *size};

	uint32_t status = judge(l, &a->stateid);

	if (status) {
		nfs4_put_layoutcommit_res(x, status, &r);
		return status;
	}
	l->commits++;
	l->offsets += a->wrote;
	l->last = a->last;
	if (l->files && l->data_size > *size)
		*size = l->data_size;
	if (r.resized)
		*size = a->last + 1;
	r.size = *size;
	nfs4_put_layoutcommit_res(x, NFS4_OK, &r);
	return NFS4_OK;
}

static uint32_t do_return(
	struct mean_layouts *l, struct xdr_out *x, const struct nfs4_layoutreturn_args *a)
{
	struct nfs4_layoutreturn_res r = {.left = false};
	struct nfs4_ff_return ff;
	uint32_t status = a->what == LAYOUTRETURN4_ALL ? NFS4_OK : judge(l, &a->stateid);

	if (!status && nfs4_get_ff_return(&a->body, &ff))
		status = NFS4ERR_BADXDR;
	if (!status && a->what == LAYOUTRETURN4_ALL)
		l->returns_all++;
	else if (!status) {
		l->returns++;
		l->errors += ff.nerrors;
		l->nreturn_stats += ff.nstats;
		if (ff.nstats)
			l->return_stat = ff.stats[ff.nstats - 1];
		if (ff.nerrors) {
			l->error_at = ff.error[0];
			l->error = ff.error[0].error[0].status;
		}
	}
	l->held = l->held && status;
	nfs4_put_layoutreturn_res(x, status, &r);
	return status;
}

static uint32_t do_error(
	struct mean_layouts *l, struct xdr_out *x, const struct nfs4_layouterror_args *a)
{
	uint32_t status = judge(l, &a->stateid);

	if (!status) {
		l->told++;
		l->last_told = *a;
	}
	nfs4_put_op_res(x, OP_LAYOUTERROR, status);
	return status;
}

static uint32_t do_stats(
	struct mean_layouts *l, struct xdr_out *x, const struct nfs4_layoutstats_args *a)
{
	uint32_t status = judge(l, &a->stateid);

	if (!status && (a->type != LAYOUT4_FLEX_FILES || nfs4_get_ff_update(&a->body, &l->stat)))
		status = NFS4ERR_BADXDR;
	if (!status) {
		l->nstats++;
		l->stat_read = a->read;
		l->stat_write = a->write;
	}
	nfs4_put_op_res(x, OP_LAYOUTSTATS, status);
	return status;
}

uint32_t mean_layout_op(
	struct mean_layouts *l, struct xdr_out *x, const struct nfs4_args *a, uint64_t *size)
{
	switch (a->op) {
	case OP_LAYOUTGET:
		return do_get(l, x, &a->u.layoutget);
	case OP_GETDEVICEINFO:
		return do_device(l, x, &a->u.getdeviceinfo);
	case OP_LAYOUTCOMMIT:
		return do_commit(l, x, &a->u.layoutcommit, size);
	case OP_LAYOUTSTATS:
		return do_stats(l, x, &a->u.layoutstats);
	case OP_LAYOUTERROR:
		return do_error(l, x, &a->u.layouterror);
	default:
		return do_return(l, x, &a->u.layoutreturn);
	}
}

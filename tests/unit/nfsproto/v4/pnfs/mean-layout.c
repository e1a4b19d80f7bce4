/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-layout: the layouts of mean-nfs4.
 */
#include "tests/unit/nfsproto/v4/pnfs/mean-layout.h"

#include <stdio.h>
#include <string.h>

#define BODY_MAX 8192u

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
	};
	struct xdr_out x;

	xdr_out_init(&x, buf, BODY_MAX);
	nfs4_put_ff_head(&x, &ff);
	for (uint32_t m = 0; m < l->nmirrors; m++) {
		nfs4_put_ff_mirror(&x, l->nstripes);
		for (uint32_t i = 0; i < l->nstripes; i++) {
			memset(&s.device, 0, sizeof(s.device));
			s.device.id[0] = (uint8_t)(m * l->nstripes + i);
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
		.type = LAYOUT4_FLEX_FILES,
		.body = put_body(l, body)};
	if (l->second) {
		r.n = 2;
		r.layout[1] = r.layout[0];
		r.layout[1].offset = l->second;
		r.layout[0].length = l->second + l->overlaps;
	}
	nfs4_put_layoutget_res(x, NFS4_OK, &r);
	return NFS4_OK;
}

static uint32_t do_device(
	struct mean_layouts *l, struct xdr_out *x, const struct nfs4_getdeviceinfo_args *a)
{
	uint16_t port = l->port[a->device.id[0] % MEAN_DEVICES];
	const char *netid = l->netid ? l->netid : "tcp";
	const char *host = l->host ? l->host : "127.0.0.1";
	struct nfs4_ff_device d = {
		.addrs = {.n = 1},
		.nversions = 1,
		.version[0] = {.version = l->version ? l->version : 3,
			.minor = l->minor,
			.tight = l->tight,
			.rsize = 1 << 20,
			.wsize = 1 << 20},
	};
	struct nfs4_getdeviceinfo_res r = {.type = LAYOUT4_FLEX_FILES};
	uint8_t body[1024];
	char addr[64];
	struct xdr_out b;
	int n = snprintf(addr, sizeof(addr), "%s.%u.%u", host, port >> 8, port & 255);

	l->devices++;
	d.addrs.addr[0] = (struct nfs4_netaddr){
		.netid = {netid, (uint32_t)strlen(netid)}, .addr = {addr, (uint32_t)n}};
	xdr_out_init(&b, body, sizeof(body));
	nfs4_put_ff_device(&b, &d);
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
	l->last = a->last;
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
		if (ff.nerrors)
			l->error = ff.error[0].error[0].status;
	}
	l->held = l->held && status;
	nfs4_put_layoutreturn_res(x, status, &r);
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
	default:
		return do_return(l, x, &a->u.layoutreturn);
	}
}

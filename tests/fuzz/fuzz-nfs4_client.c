/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Messages that a server may send to the NFSv4.1 client: results of any kind of op (the first byte
 * says which, the rest follows SEQUENCE), and callbacks.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/nfs4_client_upcalls.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/pnfs/nfs4_layout_report.h"
#include "nfsproto/v4/pnfs/nfs4_pnfs.h"
#include "nfsproto/v4/server/nfs4_cb_run.h"
#include "nfsproto/v4/server/nfs4_join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct nfs4_server srv;
static struct nfs4_client c;
static struct nfs4_layouts layouts;

static void done(struct nfs_op *op)
{
}

static bool entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	if (ent->namelen == 0 || memchr(ent->name, '/', ent->namelen))
		abort();
	return ent->fileid % 5 != 0;
}

static void start(void)
{
	nfs4_server_init(&srv, nfs4_kinds);
	TAILQ_INIT(&c.opens);
	nfs4_deleg_init(&c, true);
	srv.minor = 2;
	nfs4_lock_init(&c.locks);
	nfs4_layouts_init(&layouts, LAYOUT4_FLEX_FILES);
	c.srv = &srv;
	c.user.up = &nfs4_client_upcalls;
	c.user.stopping = srv.stopping = true; /* no request is sent */
	nfs4_user_join(&srv, &c.user);
	nfs4_cb_session(&srv.cb, &srv.session);
}

static void callback(const uint8_t *data, size_t size)
{
	static uint8_t out[4096];
	struct xdr_in args;
	struct xdr_out res;

	xdr_in_init(&args, data, size);
	xdr_out_init(&res, out, sizeof(out));
	nfs4_cb_execute(&srv, &args, &res);
}

static enum nfs_op_type type_of(unsigned kind)
{
	switch (kind) {
	case NFS4_K_OPEN_MORE:
	case NFS4_K_LOCKU:
	case NFS4_K_LOCK_FREE:
		return NFS_LOCK;
	case NFS4_K_CLONE:
	case NFS4_K_OFFLOAD_STATUS:
	case NFS4_K_OFFLOAD_CANCEL:
		return NFS_COPY;
	case NFS4_K_READ_PLUS:
		return NFS_READ;
	case NFS4_K_LAYOUTCOMMIT:
		return NFS_WRITE;
	default:
		return kind < NFS_OP_TYPES ? (enum nfs_op_type)kind : NFS_OPEN;
	}
}

static void results(unsigned kind, const uint8_t *data, size_t size)
{
	static struct nfs_open open;
	static struct nfs4_sync sync;
	static struct nfs4_lockctx ctx = {.open = &open};
	static struct nfs4_lockreq req = {.ctx = &ctx};
	static struct nfs4_deleg deleg = {.pushing = &ctx};
	static struct nfs4_layout_held layout = {.in = &layouts};
	static struct nfs4_layout_ask ask;
	static struct nfs4_layout_report report;
	static struct nfs4_device_info device;
	static char link[64];
	const struct nfs4_kind *k = &nfs4_kinds[kind];
	struct nfs_op *op = kind < NFS4_K_SEQUENCE				       ? &open.own
			    : kind == NFS4_K_LAYOUTGET				       ? &ask.op
			    : kind == NFS4_K_LAYOUTERROR || kind == NFS4_K_LAYOUTSTATS ? &report.op
										       : &sync.op;
	struct nfs4_reply r;
	struct xdr_in x;

	memset(&open, 0, sizeof(open));
	memset(&sync, 0, sizeof(sync));
	memset(&ask, 0, sizeof(ask));
	memset(&report, 0, sizeof(report));
	report.n = report.stats.n = size % NFS4_LAYOUT_ERRORS + 1;
	op->client = &c.base;
	op->done = done;
	op->type = type_of(kind);
	op->be.v4.kind = (uint8_t)kind;
	op->be.v4.open = &open;
	op->be.v4.lock = &req;
	op->be.v4.deleg_wanted = size & 4 ? OPEN_DELEGATE_WRITE : OPEN_DELEGATE_NONE;
	ctx.have_stateid = size & 1;
	if (kind == NFS4_K_REOPEN)
		sync.u.reopen.open = &open;
	if (kind == NFS4_K_RELOCK)
		sync.u.relock.ctx = &ctx;
	if (kind == NFS4_K_DELEG_LOCK || kind == NFS4_K_DELEG_OPEN)
		op->ctx = &deleg;
	layout.nios = 1;
	ask.g.type = device.type = size & 2 ? LAYOUT4_FLEX_FILES : LAYOUT4_NFSV4_1_FILES;
	if (kind == NFS4_K_LAYOUTCOMMIT || (kind == NFS_CLOSE && size & 1))
		op->be.v4.layout = &layout;
	if (kind == NFS4_K_GETDEVICEINFO)
		sync.u.device = &device;
	if (kind == NFS_LOOKUP)
		op->u.lookup.name = (struct nfs_name){"x", 1};
	if (kind == NFS_LOOKUP)
		op->u.lookup.want_dir = size & 2;
	if (kind == NFS_READLINK) {
		op->u.readlink.buf = link;
		op->u.readlink.size = sizeof(link);
	}
	if (kind == NFS_READDIR) {
		op->u.readdir.plus = true;
		op->u.readdir.want_dir = size & 2;
		op->u.readdir.entry = entry;
	}
	if (kind == NFS4_K_WALK)
		sync.u.walk.path = "a/b";
	xdr_in_init(&x, data, size);
	if (nfs4_reply_begin(&r, &x))
		return;
	if (k->server_get ? !k->server_get(&srv, op, &r) : !k->get(&c, op, &r))
		nfs4_reply_end(&r);
	nfs4_layoutget_finish(&ask.g);
	if (kind == NFS4_K_LOCATIONS)
		free(op->places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned kind;

	if (!srv.minor)
		start();
	if (size == 0)
		return 0;
	kind = data[0] % (NFS4_KINDS + 1);
	if (kind == NFS4_KINDS)
		callback(data + 1, size - 1);
	else if (kind != NFS_READ) /* the transport places the data of a READ */
		results(kind, data + 1, size - 1);
	nfs4_deleg_finish(&c);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ds: a data server. Model: nfs4_ds.h.
 */
#include "nfsproto/v4/pnfs/nfs4_ds.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/wire/nfs3_xdr.h"
#include "nfsproto/wire/nfs4_netaddr.h"
#include "nfsproto/wire/ulb.h"
#include "transport/log.h"

#define ARGS_ROOM  256u /* the arguments without the data: a handle, an offset, counts */
#define CONNECT_MS 1500u

/* --- addresses ----------------------------------------------------------------------------- */

/* Is the address a single host? Notes its name, too. */
static bool one_host(struct nfs4_ds_place *p)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&p->ss;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&p->ss;
	char host[INET6_ADDRSTRLEN];
	uint32_t ip;

	if (p->ss.ss_family == AF_INET6) {
		p->len = sizeof(*in6);
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(p->name, sizeof(p->name), "[%s]:%u", host, ntohs(in6->sin6_port));
		return !IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr) &&
		       !IN6_IS_ADDR_MULTICAST(&in6->sin6_addr);
	}
	p->len = sizeof(*in);
	inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
	snprintf(p->name, sizeof(p->name), "%s:%u", host, ntohs(in->sin_port));
	ip = ntohl(in->sin_addr.s_addr);
	return ip >> 24 != 0 && ip >> 28 < 0xe;
}

bool nfs4_ds_place(struct nfs4_ds_place *p, const struct nfs4_netaddr *a, enum rpc_proto rdma)
{
	bool is_rdma;

	*p = (struct nfs4_ds_place){.proto = RPC_TCP};
	if (!nfs4_netaddr_parse(a, &p->ss, &is_rdma))
		return false;
	if (is_rdma)
		p->proto = rdma;
	return one_host(p);
}

bool nfs4_ds_same_place(const struct nfs4_ds_place *a, const struct nfs4_ds_place *b)
{
	return a->proto == b->proto && a->len == b->len && !memcmp(&a->ss, &b->ss, a->len);
}

/* --- the connection ------------------------------------------------------------------------ */

struct nfs4_ds *nfs4_ds_new(
	const struct nfs4_ds_place *place, unsigned n, unsigned minor, bool same_client)
{
	struct nfs4_ds *ds = calloc(1, sizeof(*ds));

	if (!ds)
		return NULL;
	ds->minor = minor;
	ds->same_client = same_client;
	ds->nplaces = n < NFS4_DS_PLACES ? n : NFS4_DS_PLACES;
	memcpy(ds->place, place, ds->nplaces * sizeof(*place));
	memcpy(ds->name, place[0].name, sizeof(ds->name));
	mutex_init(&ds->lock);
	TAILQ_INIT(&ds->calls);
	return ds;
}

void nfs4_ds_end(struct nfs4_ds *ds)
{
	nfs4_ds_close(ds);
	rpc_client_free(ds->rpc);
	ds->rpc = NULL;
	nfs4_ds_v4_free(ds->v4);
	ds->v4 = NULL;
}

struct nfs4_ds *nfs4_ds_free(struct nfs4_ds *ds)
{
	if (!ds)
		return NULL;
	nfs4_ds_end(ds);
	mutex_destroy(&ds->lock);
	free(ds);
	return NULL;
}

/* Has the calls under way end. */
static void cancel_all(struct nfs4_ds *ds)
{
	struct nfs4_ds_io *io;

	mutex_lock(&ds->lock);
	TAILQ_FOREACH (io, &ds->calls, link)
		rpc_call_cancel(&io->call);
	mutex_unlock(&ds->lock);
}

static void lost(void *ctx)
{
	struct nfs4_ds *ds = ctx;

	atomic_store(&ds->lost, true);
	log_info("data server %s: the connection is lost: its data goes through the metadata "
		 "server until it is back",
		ds->name);
	cancel_all(ds);
}

static void reconnected(void *ctx)
{
	struct nfs4_ds *ds = ctx;

	log_info("data server %s is back", ds->name);
	atomic_store(&ds->lost, false);
}

static void answers(void *ctx, bool yes)
{
	struct nfs4_ds *ds = ctx;

	log_ctrl("data server %s %s", ds->name, yes ? "answers" : "is silent");
}

static unsigned timeo_ms(const struct rpc_client_params *rp)
{
	return rp->timeo_ms && rp->timeo_ms < NFS4_DS_TIMEO_MS ? rp->timeo_ms : NFS4_DS_TIMEO_MS;
}

static bool connect_v3(struct nfs4_ds *ds, const struct nfs4_ds_place *p,
	const struct nfs4_ds_common *common, struct err *e)
{
	struct rpc_client_params rp = common->rp;
	struct rpc_client *rpc;

	rp.prog = NFS3_PROGRAM;
	rp.vers = NFS3_VERSION;
	rp.hello = true;
	rp.soft = true;
	rp.retrans = 1;
	rp.first_ms = CONNECT_MS;
	rp.timeo_ms = timeo_ms(&common->rp);
	rp.reconnected = reconnected;
	rp.lost = lost;
	rp.answers = answers;
	rp.ctx = ds;
	rp.peer = p->ss;
	rp.peer_len = p->len;
	rp.proto = p->proto;
	rp.peer_name = ds->name;
	rpc = rpc_client_new(&rp, e);
	/* release: a thread that sees rpc sees the name, too */
	atomic_store_explicit(&ds->rpc, rpc, memory_order_release);
	return rpc;
}

/* Is the server connected to that place? */
static bool is_at(const struct nfs4_server *srv, const struct nfs4_ds_place *p)
{
	return srv->rp.proto == p->proto && srv->rp.peer_len == p->len &&
	       !memcmp(&srv->rp.peer, &p->ss, p->len);
}

static bool connect_v4(struct nfs4_ds *ds, const struct nfs4_ds_place *p,
	const struct nfs4_ds_common *common, struct err *e)
{
	const struct rpc_client_params *rp = &common->rp;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&p->ss;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&p->ss;
	bool is_v6 = p->ss.ss_family == AF_INET6;
	char host[INET6_ADDRSTRLEN];
	const struct nfs_mount_params m = {
		.proto = p->proto,
		.host = host,
		.port = ntohs(is_v6 ? in6->sin6_port : in->sin_port),
		.vers_major = 4,
		.vers_minor = ds->minor,
		.cred = common->cred,
		.pool = rp->pool,
		.connect_ms = CONNECT_MS,
		.timeo_ms = timeo_ms(rp),
		.retrans = 1,
		.soft = true,
		.rdma_versions = rp->rdma_versions,
		.inline_size = rp->inline_size,
		.credits = rp->credits,
		.crc = rp->crc,
	};
	struct nfs4_ds_v4 *v4;

	inet_ntop(p->ss.ss_family, is_v6 ? (const void *)&in6->sin6_addr : &in->sin_addr, host,
		sizeof(host));
	if (ds->same_client && is_at(common->metadata, p))
		v4 = nfs4_ds_v4_join(common->metadata, common->news, common->ctx, e);
	else
		v4 = nfs4_ds_v4_new(&m, common->kinds, ds->same_client ? common->metadata : NULL,
			common->news, common->ctx, e);
	atomic_store_explicit(&ds->v4, v4, memory_order_release); /* as above */
	return v4;
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

bool nfs4_ds_connect(struct nfs4_ds *ds, const struct nfs4_ds_common *common, struct err *e)
{
	bool is = false;

	for (unsigned i = 0; i < ds->nplaces && !is && !is_readable(common->rp.abort_fd); i++) {
		const struct nfs4_ds_place *p = &ds->place[i];

		memcpy(ds->name, p->name, sizeof(ds->name));
		ds->answered = i;
		is = ds->minor ? connect_v4(ds, p, common, e) : connect_v3(ds, p, common, e);
	}
	return is;
}

struct rpc_client *nfs4_ds_rpc(struct nfs4_ds *ds)
{
	return ds->v4 ? ds->v4->srv->conn[0].rpc : ds->rpc;
}

bool nfs4_ds_is_up(const struct nfs4_ds *ds)
{
	const struct nfs4_ds_v4 *v4 = atomic_load_explicit(&ds->v4, memory_order_acquire);

	if (v4)
		return !atomic_load(&v4->lost);
	return atomic_load_explicit(&ds->rpc, memory_order_acquire) && !atomic_load(&ds->lost);
}

bool nfs4_ds_is_down(const struct nfs4_ds *ds)
{
	return !nfs4_ds_is_up(ds) && (!nfs4_ds_is_new(ds) || atomic_load(&ds->tries));
}

void nfs4_ds_give_up(struct nfs4_ds *ds)
{
	if (ds->v4)
		nfs4_ds_v4_give_up(ds->v4);
}

void nfs4_ds_close(struct nfs4_ds *ds)
{
	mutex_lock(&ds->lock);
	ds->closing = true;
	mutex_unlock(&ds->lock);
	cancel_all(ds);
	if (ds->v4)
		nfs4_ds_v4_close(ds->v4);
}

/* --- calls --------------------------------------------------------------------------------- */

static uint32_t results(struct nfs4_ds_io *io, int error, struct xdr_in *x)
{
	uint32_t proc = io->write ? NFS3PROC_WRITE : NFS3PROC_READ;
	struct nfs3_res r;
	int rc = error;

	if (!rc && nfs3_get_res(x, proc, &r))
		rc = -EBADMSG;
	if (rc)
		return nfs4_ds_io_status(rc);
	if (r.u.status) /* the two versions number alike the errors of data */
		return r.u.status;
	if (io->write)
		rc = nfs4_ds_io_wrote(io, r.u.write.count, r.u.write.committed);
	else
		rc = nfs4_ds_io_read(io, &io->call, x, r.u.read.eof);
	if (!rc && !io->write && io->count != r.u.read.count) {
		log_warn("data server %s: %u bytes of data came where a READ said %u: server bug",
			io->name, io->count, r.u.read.count);
		rc = -EBADMSG;
	}
	return rc ? nfs4_ds_io_status(rc) : NFS4_OK;
}

static void called(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct nfs4_ds_io *io = call->ctx;
	uint32_t status;

	mutex_lock(&io->ds->lock); /* from here on cancel_all() leaves the call alone */
	TAILQ_REMOVE(&io->ds->calls, io, link);
	io->listed = false;
	mutex_unlock(&io->ds->lock);
	status = results(io, error, res);
	rpc_call_finish(call);
	nfs4_ds_io_end(io, status);
}

static void put(struct nfs4_ds_io *io)
{
	struct nfs3_args a = {.proc = io->write ? NFS3PROC_WRITE : NFS3PROC_READ};

	if (io->write) {
		a.u.write = (struct nfs3_write_args){
			.fh = io->fh,
			.offset = io->offset,
			.count = io->data.len,
			.stable = NFS_FILE_SYNC,
			.data = io->data,
		};
	} else {
		a.u.read = (struct nfs3_read_args){
			.fh = io->fh, .offset = io->offset, .count = io->data.len};
		io->call.sink[0] = io->data;
		io->call.nsinks = 1;
		io->call.moves = io->moves;
		io->call.peek = nfs3_peek_read;
	}
	nfs3_put_args(&io->call.args, &a);
	io->call.proc = a.proc;
	io->call.once = io->write;
	io->call.reply_max = (uint32_t)ulb_nfs3_res_max(a.proc, 0);
}

/* Enters io's call among those under way. False: ds is not to be called. */
static bool enter(struct nfs4_ds *ds, struct nfs4_ds_io *io)
{
	bool may;

	mutex_lock(&ds->lock);
	/* under the lock: a connection lost meanwhile finds the call in the list, or is seen here
	 */
	may = nfs4_ds_is_up(ds) && !ds->closing;
	if (may)
		TAILQ_INSERT_TAIL(&ds->calls, io, link);
	io->listed = may;
	mutex_unlock(&ds->lock);
	return may;
}

void nfs4_ds_cancel(struct nfs4_ds_io *io)
{
	struct nfs4_ds *ds = io->ds;

	if (ds->v4) {
		nfs4_ds_v4_cancel(ds->v4, io);
		return;
	}
	mutex_lock(&ds->lock);
	if (io->listed)
		rpc_call_cancel(&io->call);
	mutex_unlock(&ds->lock);
}

void nfs4_ds_start(struct nfs4_ds_io *io)
{
	struct nfs4_ds *ds = io->ds;
	int rc;

	io->name = ds->name;
	if (!nfs4_ds_is_up(ds)) {
		nfs4_ds_io_end(io, NFS4ERR_NXIO);
		return;
	}
	if (ds->v4) {
		nfs4_ds_v4_start(ds->v4, io);
		return;
	}
	rc = rpc_call_init(&io->call, ds->rpc, ARGS_ROOM);
	if (rc) {
		nfs4_ds_io_end(io, nfs4_ds_io_status(rc));
		return;
	}
	io->call.cred = io->cred;
	io->call.done = called;
	io->call.ctx = io;
	put(io);
	if (!enter(ds, io)) {
		rpc_call_finish(&io->call);
		nfs4_ds_io_end(io, NFS4ERR_NXIO);
		return;
	}
	rc = rpc_call_submit(&io->call);
	if (rc == 0)
		return;
	mutex_lock(&ds->lock);
	TAILQ_REMOVE(&ds->calls, io, link);
	io->listed = false;
	mutex_unlock(&ds->lock);
	rpc_call_finish(&io->call);
	nfs4_ds_io_end(io, nfs4_ds_io_status(rc));
}

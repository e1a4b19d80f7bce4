/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * connect: from the options to a mounted export, over the first transport that works.
 */
#include "fs/program/connect.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "transport/log.h"
#include "transport/state_dir.h"

/* Would another transport to the same server end differently? */
static bool worth_another_try(enum err_kind kind)
{
	switch (kind) {
	case ERR_UNREACHABLE:
	case ERR_REFUSED:
	case ERR_NOT_RDMA:
	case ERR_VERSION:
	case ERR_NO_DEVICE:
	case ERR_PROTOCOL:
		return true;
	default:
		return false;
	}
}

/* Is the failure that the server is away? A name may not resolve before the network is up. */
static bool may_pass(enum err_kind kind)
{
	return kind == ERR_UNREACHABLE || kind == ERR_REFUSED || kind == ERR_RESOLVE;
}

/* Tries one transport. Messages of the layers below go into the one sentence if the transport
 * fails, and into the log if not. */
static struct nfs_client *attempt(const struct nfs_mount_params *p, struct err *e)
{
	char detail[256];
	struct nfs_client *c;
	size_t len;

	log_hold();
	c = nfs_client_new(p, e);
	log_release(detail, sizeof(detail));
	if (!detail[0])
		return c;
	len = strlen(e->msg);
	if (c)
		log_warn("%s", detail);
	else
		snprintf(e->msg + len, sizeof(e->msg) - len, " (%s)", detail);
	return c;
}

/* The directory for data that outlives a mount, made if need be; NULL: there is no place. */
static const char *make_state_dir(char *buf, size_t size)
{
	if (!state_dir(buf, size))
		return NULL;
	state_dir_make(buf);
	return buf;
}

struct nfs_client *connect_server(const struct options *o, const char *mountpoint,
	struct mem_pool *pool, const struct nfs_client_upcalls *up, void *ctx, bool *passes,
	char *why, size_t size)
{
	static const enum rpc_proto order[] = {RPC_RDMA, RPC_IWARP, RPC_TCP};
	static const enum rpc_proto one[] = {
		[PROTO_RDMA] = RPC_RDMA, [PROTO_IWARP] = RPC_IWARP, [PROTO_TCP] = RPC_TCP};
	char dir[PATH_MAX];
	struct nfs_mount_params p = {
		.host = o->host,
		.family = o->family,
		.port = o->port,
		.export = o->export,
		.vers_major = o->vers_major,
		.vers_minor = o->vers_minor,
		.mountport = o->mountport,
		.mount_udp = o->mount_udp,
		.mounthost = o->mounthost,
		.read_plus = o->read_plus,
		.pnfs = o->pnfs,
		.rsize = o->rsize,
		.wsize = o->wsize,
		.delegations = o->acregmax ? o->delegations : NFS_DELEGATIONS_NONE,
		.idmap = o->idmap,
		.idmap_domain = o->idmap_domain,
		.pool = pool,
		.connect_ms = o->connect_ms,
		.timeo_ms = o->timeo_ms,
		.retrans = o->retrans,
		.nconnect = o->nconnect,
		.max_connect = o->max_connect,
		.soft = o->soft,
		.nolock = o->local_posix && o->local_flock,
		.state_dir = make_state_dir(dir, sizeof(dir)),
		.mountpoint = mountpoint,
		.upcalls = up,
		.upcalls_ctx = ctx,
		.rdma_versions = o->rdma_versions,
		.inline_size = o->inline_size,
		.credits = o->credits,
		.crc = o->mpa_crc,
	};
	bool one_of = o->proto == PROTO_AUTO || o->proto == PROTO_AUTO_RDMA;
	const enum rpc_proto *try = one_of ? order : &one[o->proto];
	unsigned n = o->proto == PROTO_AUTO ? 3 : one_of ? 2 : 1;
	size_t len = 0;

	rpc_cred_own(&p.cred);
	why[0] = 0;
	*passes = false;
	for (unsigned i = 0; i < n; i++) {
		struct err e = {0};
		struct nfs_client *c;

		p.proto = try[i];
		c = attempt(&p, &e);
		if (c)
			return c;
		*passes |= may_pass(e.kind);
		if (len < size)
			len += snprintf(why + len, size - len, "%s%s%s%s", len ? "; " : "",
				n > 1 ? rpc_proto_name(try[i]) : "", n > 1 ? ": " : "",
				e.msg[0] ? e.msg : "no reason was given");
		if (!worth_another_try(e.kind)) {
			/* the reason is the same for all transports */
			*passes = may_pass(e.kind);
			snprintf(why, size, "%s", e.msg[0] ? e.msg : "no reason was given");
			break;
		}
	}
	return NULL;
}
/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * connect: from the options to a mounted export, over the first transport that works.
 */
#include "fs/program/connect.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/common/nfs_places.h"
#include "fs/lookup/nested.h"
#include "fs/program/record.h"
#include "transport/log.h"
#include "transport/quote.h"
#include "transport/state_dir.h"

#define REFERRALS_MAX 8u /* one after the other, until the export is found */

/* Would another transport to the same server end differently? */
static bool worth_another_try(enum err_kind kind)
{
	switch (kind) {
	case ERR_UNREACHABLE:
	case ERR_REFUSED:
	case ERR_NOT_RDMA:
	case ERR_VERSION:
	case ERR_NO_DEVICE:
	case ERR_NO_MEMLOCK:
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

/* A place to mount, with the parameters that all attempts share. */
struct target {
	const struct options *o;
	struct nfs_mount_params p;
	bool first; /* the first connection of the daemon: no other thread logs */
};

/* Tries one transport. Messages of the layers below go into the one sentence if the transport
 * fails, and into the log if not. */
static struct nfs_client *attempt(const struct target *t, struct err *e)
{
	char detail[256] = "";
	struct nfs_client *c;
	size_t len;

	if (t->first)
		log_hold();
	c = nfs_client_new(&t->p, e);
	if (t->first)
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

/* Tries one transport after the other. *kind: of the last failure. */
static struct nfs_client *connect_target(
	struct target *t, bool *passes, enum err_kind *kind, char *why, size_t size)
{
	static const enum rpc_proto order[] = {RPC_RDMA, RPC_IWARP, RPC_TCP};
	static const enum rpc_proto one[] = {
		[PROTO_RDMA] = RPC_RDMA, [PROTO_IWARP] = RPC_IWARP, [PROTO_TCP] = RPC_TCP};
	enum options_proto proto = t->o->proto;
	bool one_of = proto == PROTO_AUTO || proto == PROTO_AUTO_RDMA;
	const enum rpc_proto former = t->p.proto;
	const enum rpc_proto *try = t->p.record ? &former : one_of ? order : &one[proto];
	unsigned n = t->p.record ? 1 : proto == PROTO_AUTO ? 3 : one_of ? 2 : 1;
	size_t len = 0;

	why[0] = 0;
	*passes = false;
	for (unsigned i = 0; i < n; i++) {
		struct err e = {0};
		struct nfs_client *c;

		t->p.proto = try[i];
		c = attempt(t, &e);
		if (c)
			return c;
		*kind = e.kind;
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

/* The directory for data that outlives a mount, made if need be; NULL: there is no place. */
static const char *make_state_dir(char *buf, size_t size)
{
	if (!state_dir(buf, size))
		return NULL;
	state_dir_make(buf);
	return buf;
}

static struct nfs_mount_params params_of(const struct options *o, const char *mountpoint)
{
	struct nfs_mount_params p = {
		.host = o->host,
		.family = o->family,
		.port = o->port,
		.export = o->export,
		.vers_major = o->survive ? 4 : o->vers_major,
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
		.connect_ms = o->connect_ms,
		.timeo_ms = o->timeo_ms,
		.retrans = o->retrans,
		.nconnect = o->nconnect,
		.max_connect = o->max_connect,
		.trunk_discovery = o->trunk_discovery,
		.migration = o->migration && !o->survive,
		.replication = o->replication,
		.read_only = o->read_only,
		.soft = o->soft,
		.nolock = o->local_posix && o->local_flock,
		.mountpoint = mountpoint,
		.rdma_versions = o->rdma_versions,
		.inline_size = o->inline_size,
		.credits = o->credits,
		.crc = o->mpa_crc,
	};

	rpc_cred_own(&p.cred);
	return p;
}

/* Mounts the place that a server has told for an export, with the names `rest` behind it. */
static struct nfs_client *connect_place(struct target *t, const struct nfs_place *place,
	const char *rest, bool *passes, enum err_kind *kind, char *why, size_t size)
{
	char host[256], export[NFS_PATH_MAX];
	bool root = !strcmp(place->path, "/");

	*passes = false;
	*kind = ERR_MOVED;
	if (!nfs_place_host(place, host, sizeof(host), &t->p.port) ||
		snprintf(export, sizeof(export), "%s%s%s", root && *rest ? "" : place->path,
			*rest ? "/" : "", rest) >= (int)sizeof(export)) {
		snprintf(why, size, "the name of the server, or the path, is too long");
		return NULL;
	}
	t->p.host = host;
	t->p.export = export;
	return connect_target(t, passes, kind, why, size);
}

/* The export is elsewhere: mounts it from the first of its places that answers. r: where, and in
 * turn where the place refers to. */
static struct nfs_client *connect_referral(struct target *t, struct nfs_referral *r, bool *passes,
	enum err_kind *kind, char *why, size_t size)
{
	struct nfs_places *places = r->places;
	char rest[NFS_PATH_MAX];
	struct nfs_client *c = NULL;

	memcpy(rest, r->rest, sizeof(rest));
	r->places = NULL;
	for (unsigned i = 0; i < places->n && !c && !r->places; i++) {
		const struct nfs_place *p = &places->place[i];

		log_ctrl("the export is on another server: %s:%s",
			QUOTE(p->server, strlen(p->server)), QUOTE(p->path, strlen(p->path)));
		c = connect_place(t, p, rest, passes, kind, why, size);
	}
	free(places);
	return c;
}

/* Follows the export to other servers, as far as they refer to one another. r: where the export
 * was said to be. *kind: of the failure that said so. */
static struct nfs_client *connect_further(struct target *t, struct nfs_referral *r, bool *passes,
	enum err_kind *kind, char *why, size_t size)
{
	struct nfs_client *c = NULL;

	for (unsigned i = 0; i < REFERRALS_MAX && !c && *kind == ERR_MOVED && r->places; i++)
		c = connect_referral(t, r, passes, kind, why, size);
	free(r->places);
	return c;
}

/* The transport and the address of the former daemon. */
static struct nfs_client *connect_again(
	struct target *t, struct record *former, bool *passes, char *why, size_t size)
{
	struct err e = {0};
	struct nfs_client *c;

	if (!t->p.former)
		t->p.record = &former->nfs;
	t->p.proto = former->head.proto;
	t->p.vers_major = former->head.vers_major;
	t->p.vers_minor = former->head.vers_minor;
	c = attempt(t, &e);
	*passes = may_pass(e.kind);
	snprintf(why, size, "%s", e.msg);
	return c;
}

struct nfs_client *connect_server(
	struct fs *fs, const struct nfs_client_upcalls *up, bool *passes, char *why, size_t size)
{
	const struct options *o = fs->opt;
	struct nfs_referral r = {.places = NULL};
	struct target t = {.o = o, .p = params_of(o, fs->mountpoint), .first = true};
	enum err_kind kind = ERR_NONE;
	struct nfs_client *c;
	char dir[PATH_MAX];

	t.p.state_dir = make_state_dir(dir, sizeof(dir));
	t.p.pool = fs->pool;
	t.p.upcalls = up;
	t.p.upcalls_ctx = fs;
	t.p.ledger = fs->ledger;
	t.p.former = fs->former;
	if (fs->record)
		return connect_again(&t, fs->record, passes, why, size);
	t.p.referral = o->referrals && !o->survive ? &r : NULL;
	c = connect_target(&t, passes, &kind, why, size);
	return c ? c : connect_further(&t, &r, passes, &kind, why, size);
}

/* Does the mount point lie in the directory that c shows (nested.h)? Then *e is set. */
static bool is_nested(
	const struct fs *fs, const struct nfs_place *place, struct nfs_client *c, struct err *e)
{
	struct nfs_attr root;
	char source[200];

	nfs_client_root(c, NULL, &root);
	snprintf(source, sizeof(source), "%s:%s", place->server, place->path);
	return nested_check(fs->mountpoint, source, &root, e);
}

struct nfs_client *connect_submount(struct fs *fs, const struct nfs_client_upcalls *up,
	const struct nfs_place *place, const struct nfs_mount_params *as, struct err *e)
{
	struct target t = {.o = fs->opt, .p = params_of(fs->opt, fs->mountpoint)};
	struct nfs_referral r = {.places = NULL};
	enum err_kind kind;
	struct nfs_client *c;
	char why[sizeof(e->msg)];
	bool passes;

	/* fs->info is not there yet when a former daemon's submounts are made anew */
	t.p.vers_major = as->record ? as->vers_major : fs->info.vers_major;
	t.p.vers_minor = as->record ? as->vers_minor : fs->info.vers_minor;
	t.p.record = as->record;
	t.p.proto = as->proto;
	t.p.pool = fs->pool;
	t.p.upcalls = up;
	t.p.upcalls_ctx = fs;
	t.p.submounts = as->submounts;
	t.p.submount = as->submount;
	t.p.fsid_mix = as->fsid_mix;
	t.p.abort_fd = as->abort_fd;
	t.p.referral = as->record ? NULL : &r;
	c = connect_place(&t, place, "", &passes, &kind, why, sizeof(why));
	if (!c)
		c = connect_further(&t, &r, &passes, &kind, why, sizeof(why));
	if (c && !as->record && is_nested(fs, place, c, e))
		return nfs_client_free(c);
	if (!c)
		err_set(e, kind, "%s", why);
	return c;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * life: a server from its options to its end.
 */
#include "contrib/serve/main/life.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/key.h"
#include "contrib/serve/fault/fault.h"
#include "contrib/serve/main/dispatch.h"
#include "contrib/serve/ops/dir.h"
#include "contrib/serve/ops/making.h"
#include "contrib/serve/ops/names.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/answers.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/state/inquiry.h"
#include "contrib/serve/v3/drc.h"
#include "contrib/serve/v3/mountd.h"
#include "contrib/serve/v4/cb.h"
#include "transport/log.h"

#define POOL_LIMIT   (512u << 20)
#define DIR_STREAMS  64
#define IDLE_NS	     60000000000ull /* unused descriptors are kept for so long */
#define DRC_ENTRIES  4096
#define FDS_MAX	     1024 /* descriptors kept for NFSv3 */
#define SYNC_THREADS 8
#define MOUNTS_MAX   1024 /* reported by MOUNT's DUMP */

/* How many of the descriptors for open files NFSv3 may keep. */
static unsigned fd_share(const struct obj_table *t)
{
	size_t share = obj_table_opens(t) / 4;

	return share < FDS_MAX ? (unsigned)share : FDS_MAX;
}

/* Makes the path of a record for the served directory. */
static void record_path(
	struct serve *sv, const struct life_memory *m, const char *what, char *path, size_t size)
{
	struct obj *root = obj_root(sv->objs);
	uint8_t handle[HANDLE_MAX] = {0};

	obj_handle(sv->objs, root, handle);
	obj_unref(sv->objs, root);
	snprintf(path, size, "%s/%s-%016" PRIx64, m->dir, what,
		handle_siphash(m->key, handle, sizeof(handle)));
}

/* A killed run may leave changes without a sync, while this run repeats the answers to the changes.
 * So syncs the file system. */
static void sync_after_kill(const struct options *o)
{
	int fd = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd) != 0)
		log_always_warn(
			"%s: what was changed before the server was killed cannot be brought to "
			"stable storage (%s)",
			o->dir, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* Takes over the notes and answers of an earlier run. */
static void take_over(struct serve *sv, const struct options *o, const struct life_memory *m)
{
	char path[PATH_MAX + 32];

	if (!m->dir[0] || o->read_only || o->data_server)
		return;
	record_path(sv, m, "making", path, sizeof(path));
	sv->making = making_new(path);
	record_path(sv, m, "answers", path, sizeof(path));
	sv->answers = answers_new(path);
	drc_share(sv->drc, sv->answers);
	if (making_was_killed(sv->making) && !o->async)
		sync_after_kill(o);
}

/* Nothing to do: clients repeat the requests. */
static void names_changed(void *ctx)
{
}

static int open_serve(
	struct serve *sv, const struct options *o, struct life_memory *m, struct err *e)
{
	uint64_t id;

	if (access("/proc/self/fd", X_OK) != 0)
		return err_set(e, ERR_INTERNAL, "/proc is not mounted, files cannot be opened");
	if (o->fault) {
		sv->fault = fault_new(o->fault, e);
		if (!sv->fault)
			return -1;
	}
	if (key_load(o->key, m->key, m->dir, e) < 0)
		return -1;
	sv->objs = obj_table_new(o->dir, m->key, 0, e);
	if (!sv->objs)
		return -1;
	/* one owner for each export and place, the same after a restart */
	id = handle_siphash(m->key, o->listen, sizeof(o->listen));
	snprintf(sv->owner, sizeof(sv->owner), "rnfs-serve-%016" PRIx64, id);
	sv->read_only = o->read_only;
	sv->admit = &o->admit;
	sv->data_server = o->data_server;
	sv->devices = o->devices.n ? &o->devices : NULL;
	sv->dirs = dir_cache_new(DIR_STREAMS);
	sv->pool = mem_pool_new(POOL_LIMIT);
	sv->fds = fdcache_new(sv->objs, fd_share(sv->objs));
	sv->drc = drc_new(DRC_ENTRIES);
	sv->mounts = mount_list_new(MOUNTS_MAX);
	sv->stable = stable_new(sv->objs, SYNC_THREADS, o->async);
	if (!sv->dirs || !sv->pool || !sv->fds || !sv->drc || !sv->mounts || !sv->stable ||
		state_init(&sv->state, sv->objs, o->lease_s) < 0)
		return err_set(e, ERR_INTERNAL, "out of memory");
	if (o->nrefer) {
		sv->referrals = referrals_new(sv->objs, o->refer, o->nrefer, e);
		if (!sv->referrals)
			return -1;
	}
	if (o->nreplicas) {
		sv->replicas = replicas_new(o->replica, o->nreplicas, o->read_only, e);
		if (!sv->replicas)
			return -1;
	}
	take_over(sv, o, m);
	sv->idmap = idmap_new(o->idmap_domain, NULL, names_changed, NULL);
	sv->state.delegs->mode = o->delegations;
	/* A data server is a program that changes files without this server. A lease would break by
	 * each first WRITE, also of the client that has the delegation. */
	if (!sv->devices)
		deleg_use_leases(sv->state.delegs, SIGRTMIN);
	/* clients leave a server that has been silent for a lease time (nfs4_replication.h) */
	sv->state.grace = grace_new(o->nformer ? 2 * o->lease_s : o->lease_s);
	return sv->state.grace ? 0 : err_set(e, ERR_INTERNAL, "out of memory");
}

static void close_serve(struct serve *sv)
{
	sv->stable = stable_free(sv->stable); /* first: waiting answers use all other members */
	/* the record of clients stays as it is */
	sv->state.grace = grace_free(sv->state.grace);
	if (sv->state.objs)
		state_finish(&sv->state);
	making_free(sv->making);
	dir_cache_free(sv->dirs);
	mount_list_free(sv->mounts);
	drc_free(sv->drc);
	answers_free(sv->answers);
	fdcache_free(sv->fds);
	referrals_free(sv->referrals);
	replicas_free(sv->replicas);
	obj_table_free(sv->objs);
	idmap_free(sv->idmap);
	mem_pool_free(sv->pool);
	fault_free(sv->fault);
}

static struct rpc_server *start(
	struct serve_port *port, const struct options *o, const struct listen_at *at, struct err *e)
{
	struct rpc_server_params p = {
		.proto = at->proto,
		.addr = at->addr,
		.addr_len = at->addr_len,
		.pool = port->sv->pool,
		.rdma_versions = o->rdma_versions,
		.inline_size = o->inline_size,
		.crc = o->crc,
		.service = serve_request,
		.admit = serve_admit,
		.conn_down = serve_conn_down,
		.ctx = port,
	};

	if (port->sv->fault)
		p.wrap = serve_wrap;
	return rpc_server_new(&p, e);
}

/* Ends the layouts of an earlier run at the data servers. */
static void fence_root(struct serve *sv)
{
	struct obj *root = obj_root(sv->objs);

	fence_raise(sv->objs, root);
	obj_unref(sv->objs, root);
}

/* The record of the clients of a directory that is served at certain ports. */
static void clients_path(struct serve *sv, const struct life_memory *m, const struct listen_at *at,
	const unsigned *port, unsigned n, char *path, size_t size)
{
	uint8_t place[HANDLE_MAX + OPTIONS_MAX_LISTEN * (sizeof(at->host) + 2)] = {0};
	struct obj *root = obj_root(sv->objs);
	size_t len = HANDLE_MAX;

	obj_handle(sv->objs, root, place);
	obj_unref(sv->objs, root);
	for (unsigned i = 0; i < n; i++) {
		memcpy(place + len, at[i].host, strlen(at[i].host));
		len += sizeof(at[i].host);
		place[len++] = (uint8_t)(port[i] >> 8);
		place[len++] = (uint8_t)port[i];
	}
	snprintf(path, size, "%s/clients-%016" PRIx64, m->dir, handle_siphash(m->key, place, len));
}

/* The record of the server that --takes-over names becomes this server's. */
static void take_clients(
	struct serve *sv, const struct options *o, const struct life_memory *m, const char *path)
{
	unsigned port[OPTIONS_MAX_LISTEN];
	char former[PATH_MAX + 32];

	if (!o->nformer)
		return;
	for (unsigned i = 0; i < o->nformer; i++)
		port[i] = listen_port(&o->former[i]);
	clients_path(sv, m, o->former, port, o->nformer, former, sizeof(former));
	if (rename(former, path))
		log_always_warn("--takes-over: there is no record of the clients of a server at "
				"%s:%u beside this server's key of file handles (%s): they lose "
				"their locks",
			o->former[0].host, port[0], strerror(errno));
}

/* Begins the grace period. */
static void begin(struct serve *sv, const struct options *o, const struct life_memory *m,
	struct rpc_server *const *servers)
{
	unsigned port[OPTIONS_MAX_LISTEN];
	char path[PATH_MAX + 32];

	for (unsigned i = 0; i < o->nlisten; i++)
		port[i] = rpc_server_port(servers[i]);
	clients_path(sv, m, o->listen, port, o->nlisten, path, sizeof(path));
	if (m->dir[0])
		take_clients(sv, o, m, path);
	grace_begin(sv->state.grace, m->dir[0] ? path : NULL);
}

int life_begin(struct life *l, const struct options *o, struct err *e)
{
	*l = (struct life){.o = o};
	if (open_serve(&l->sv, o, &l->memory, e) < 0) {
		close_serve(&l->sv);
		return -1;
	}
	while (l->n < o->nlisten) {
		l->ports[l->n] = (struct serve_port){&l->sv, o->listen[l->n].proto == RPC_RDMA};
		l->servers[l->n] = start(&l->ports[l->n], o, &o->listen[l->n], e);
		if (!l->servers[l->n]) {
			life_end(l);
			return -1;
		}
		l->n++;
	}
	if (l->sv.devices) /* before any client reclaims */
		fence_root(&l->sv);
	begin(&l->sv, o, &l->memory, l->servers);
	l->notifier = nsm_notifier_start(l->sv.state.grace);
	return 0;
}

void life_tick(struct life *l)
{
	struct serve *sv = &l->sv;

	log_tell(false);
	state_tick(&sv->state);
	cb_notify_all(sv);
	obj_table_age(sv->objs, IDLE_NS);
	dir_cache_age(sv->dirs, IDLE_NS);
	fdcache_age(sv->fds, IDLE_NS);
	stable_age(sv->stable, IDLE_NS);
}

void life_end(struct life *l)
{
	nsm_notifier_stop(l->notifier);
	while (l->n > 0)
		rpc_server_free(l->servers[--l->n]);
	inquiry_tick(&l->sv.state, true); /* no thread answers requests any more */
	inquiry_end_all(&l->sv.state);
	close_serve(&l->sv);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rnfs-serve: a server of NFSv4.1, NFSv4.2 and NFSv3 for one directory.
 *
 * The main thread starts everything, then waits for signals. Once a second it also releases idle
 * clients, descriptors and directory streams. Requests run on their connections' threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/fault/fault.h"
#include "contrib/serve/main/dispatch.h"
#include "contrib/serve/ops/dir.h"
#include "contrib/serve/ops/making.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/v3/drc.h"
#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/state/answers.h"
#include "contrib/serve/state/inquiry.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/export/key.h"
#include "contrib/serve/ops/names.h"
#include "contrib/serve/v3/nsm.h"
#include "contrib/serve/v3/mountd.h"
#include "contrib/serve/main/options.h"
#include "contrib/serve/main/register.h"
#include "contrib/serve/serve.h"
#include "contrib/serve/v4/cb.h"
#include "transport/clock.h"
#include "transport/log.h"

#define POOL_LIMIT   (512u << 20)
#define DIR_STREAMS  64
#define IDLE_NS	     60000000000ull /* unused descriptors are kept for so long */
#define MOMENT_NS    (10 * 1000 * 1000)
#define DRC_ENTRIES  4096
#define FDS_MAX	     1024 /* descriptors kept for NFSv3 */
#define SYNC_THREADS 8
#define MOUNTS_MAX   1024 /* reported by MOUNT's DUMP */
#define EXIT_USAGE   2

static int fail(const struct err *e)
{
	log_always_error("%s", e->msg);
	if (log_target_used() != LOG_TO_STDERR)
		fprintf(stderr, "rnfs-serve: %s\n", e->msg);
	return e->kind == ERR_USAGE ? EXIT_USAGE : EXIT_FAILURE;
}

/* How many of the descriptors for open files NFSv3 may keep. */
static unsigned fd_share(const struct obj_table *t)
{
	size_t share = obj_table_opens(t) / 4;

	return share < FDS_MAX ? (unsigned)share : FDS_MAX;
}

/* The key and directory of the data that outlives the run. */
struct memory {
	uint8_t key[HANDLE_KEY];
	char dir[PATH_MAX]; /* "": nowhere */
};

/* Makes the path of the record `what` for the served directory. */
static void record_path(
	struct serve *sv, const struct memory *m, const char *what, char *path, size_t size)
{
	struct obj *root = obj_root(sv->objs);
	uint8_t handle[HANDLE_MAX] = {0};

	obj_handle(sv->objs, root, handle);
	obj_unref(sv->objs, root);
	snprintf(path, size, "%s/%s-%016" PRIx64, m->dir, what,
		handle_siphash(m->key, handle, sizeof(handle)));
}

/* A killed run may leave changes without a sync, while this run repeats their answers. So syncs the
 * file system. */
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
static void take_over(struct serve *sv, const struct options *o, const struct memory *m)
{
	char path[PATH_MAX + 32];

	if (!m->dir[0] || o->read_only)
		return;
	record_path(sv, m, "making", path, sizeof(path));
	sv->making = making_new(path);
	record_path(sv, m, "answers", path, sizeof(path));
	sv->answers = answers_new(path);
	drc_share(sv->drc, sv->answers);
	if (making_was_killed(sv->making) && !o->async)
		sync_after_kill(o);
}

/* Nothing to do: clients send their requests again. */
static void names_changed(void *ctx)
{
}

static int open_serve(struct serve *sv, const struct options *o, struct memory *m, struct err *e)
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
	sv->dirs = dir_cache_new(DIR_STREAMS);
	sv->pool = mem_pool_new(POOL_LIMIT);
	sv->fds = fdcache_new(sv->objs, fd_share(sv->objs));
	sv->drc = drc_new(DRC_ENTRIES);
	sv->mounts = mount_list_new(MOUNTS_MAX);
	sv->stable = stable_new(sv->objs, SYNC_THREADS, o->async);
	if (!sv->dirs || !sv->pool || !sv->fds || !sv->drc || !sv->mounts || !sv->stable ||
		state_init(&sv->state, sv->objs, o->lease_s) < 0)
		return err_set(e, ERR_INTERNAL, "out of memory");
	take_over(sv, o, m);
	sv->idmap = idmap_new(o->idmap_domain, NULL, names_changed, NULL);
	sv->state.delegs->mode = o->delegations;
	deleg_use_leases(sv->state.delegs, SIGRTMIN);
	sv->state.grace = grace_new(o->lease_s);
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

/* Every host that reaches the port is served, unless --clients restricts that. */
static void warn_open(const struct options *o)
{
	for (unsigned i = 0; i < o->nlisten && !o->admit.nnets; i++) {
		if (sock_user_loopback((const struct sockaddr *)&o->listen[i].addr))
			continue;
		log_always_warn(
			"%s can be reached from other machines, and every user there is served; "
			"--clients ADDRESS/LENGTH restricts that",
			o->listen[i].host);
		return;
	}
}

/* Tells waiting programs that the server accepts connections. */
static void announce(const struct options *o, struct rpc_server *const *servers)
{
	for (unsigned i = 0; i < o->nlisten; i++) {
		const struct listen_at *l = &o->listen[i];
		unsigned port = rpc_server_port(servers[i]);

		printf("rnfs-serve: serving %s on %s:%u (%s)\n", o->dir, l->host, port,
			rpc_proto_name(l->proto));
		if (o->ready_fd >= 0)
			dprintf(o->ready_fd, "%s:%u\n", l->host, port);
	}
	fflush(stdout);
	if (o->ready_fd > 2)
		close(o->ready_fd);
}

/* Begins the grace period. A record of clients belongs to a directory served at certain ports. */
static void begin(struct serve *sv, const struct options *o, const struct memory *m,
	struct rpc_server *const *servers)
{
	uint8_t place[HANDLE_MAX + OPTIONS_MAX_LISTEN * (sizeof(o->listen[0].host) + 2)] = {0};
	struct obj *root = obj_root(sv->objs);
	char path[PATH_MAX + 32];
	size_t n = HANDLE_MAX;

	obj_handle(sv->objs, root, place);
	obj_unref(sv->objs, root);
	for (unsigned i = 0; i < o->nlisten; i++) {
		unsigned port = rpc_server_port(servers[i]);

		memcpy(place + n, o->listen[i].host, strlen(o->listen[i].host));
		n += sizeof(o->listen[i].host);
		place[n++] = (uint8_t)(port >> 8);
		place[n++] = (uint8_t)port;
	}
	snprintf(path, sizeof(path), "%s/clients-%016" PRIx64, m->dir,
		handle_siphash(m->key, place, n));
	grace_begin(sv->state.grace, m->dir[0] ? path : NULL);
}

static void report(struct serve *sv)
{
	struct drc_stats s;

	state_report(&sv->state);
	drc_stats(sv->drc, &s);
	log_always_info("NFSv3: %u mounts not given back, %u answers kept, %" PRIu64
			" calls answered from them",
		mount_list_count(sv->mounts), s.entries, s.hits);
}

/* The kernel also sends SIGIO at the end of each delegation, without any news. After such a signal
 * this thread leaves SIGIO pending for MOMENT_NS. */
static void run(struct serve *sv, const sigset_t *signals)
{
	const struct timespec second = {.tv_sec = 1}, moment = {.tv_nsec = MOMENT_NS};
	bool hushed = false, was;
	uint64_t tick_ns = 0;
	sigset_t others = *signals;
	int sig;

	sigdelset(&others, SIGIO);
	do {
		was = hushed;
		sig = sigtimedwait(was ? &others : signals, NULL, was ? &moment : &second);
		hushed = sig == SIGIO && !deleg_disturbed(&sv->state);
		if (sig == SIGRTMIN)
			deleg_leases_broken(&sv->state);
		if ((hushed || (was && sig < 0)) && clock_ns() < tick_ns)
			continue;
		tick_ns = clock_ns() + NSEC_PER_SEC;
		log_tell(false);
		state_tick(&sv->state);
		cb_notify_all(sv);
		obj_table_age(sv->objs, IDLE_NS);
		dir_cache_age(sv->dirs, IDLE_NS);
		fdcache_age(sv->fds, IDLE_NS);
		stable_age(sv->stable, IDLE_NS);
		if (sig == SIGUSR1)
			report(sv);
		else if (sig == SIGHUP)
			log_reopen();
	} while (sig != SIGTERM && sig != SIGINT);
	log_ctrl("ended by %s", strsignal(sig));
}

/* Registers the server with rpcbind, or (on false) takes the registration back. */
static int tell_rpcbind(
	const struct options *o, struct rpc_server *const *servers, bool on, struct err *e)
{
	const struct listen_at *at = &o->listen[o->registered < 0 ? 0 : o->registered];
	const struct sockaddr *addr = (const struct sockaddr *)&at->addr;

	if (o->registered < 0)
		return 0;
	if (on)
		return register_set(addr, at->addr_len, rpc_server_port(servers[o->registered]), e);
	register_unset(addr);
	return 0;
}

static int serve(const struct options *o, const sigset_t *signals)
{
	struct rpc_server *servers[OPTIONS_MAX_LISTEN] = {0};
	struct serve_port ports[OPTIONS_MAX_LISTEN];
	struct serve sv = {0};
	struct nsm_notifier *notifier = NULL;
	struct memory m = {0};
	struct err e = {0};
	unsigned n;

	if (open_serve(&sv, o, &m, &e) < 0) {
		close_serve(&sv);
		return fail(&e);
	}
	for (n = 0; n < o->nlisten; n++) {
		ports[n] = (struct serve_port){&sv, o->listen[n].proto == RPC_RDMA};
		servers[n] = start(&ports[n], o, &o->listen[n], &e);
		if (!servers[n])
			break;
	}
	if (n == o->nlisten && tell_rpcbind(o, servers, true, &e) == 0) {
		begin(&sv, o, &m, servers);
		notifier = nsm_notifier_start(sv.state.grace);
		warn_open(o);
		announce(o, servers);
		run(&sv, signals);
		tell_rpcbind(o, servers, false, &e);
	}
	nsm_notifier_stop(notifier);
	while (n > 0)
		rpc_server_free(servers[--n]);
	if (sv.state.delegs) { /* no thread answers requests any more */
		inquiry_tick(&sv.state, true);
		inquiry_end_all(&sv.state);
	}
	close_serve(&sv);
	return e.kind == ERR_NONE ? EXIT_SUCCESS : fail(&e);
}

int main(int argc, char **argv)
{
	char said[LOG_TARGET_SAID];
	struct options o;
	struct err e = {0};
	sigset_t signals;

	log_init("rnfs-serve", LOG_L_INFO);
	if (options_parse(&o, argc, argv, &e) < 0)
		return fail(&e);
	if (o.help) {
		options_usage();
		return EXIT_SUCCESS;
	}
	if (o.version) {
		printf("rnfs-serve %s\n", RNFS_VERSION);
		return EXIT_SUCCESS;
	}
	log_init("rnfs-serve", o.debug > 1 ? LOG_L_DATA : o.debug ? LOG_L_CTRL : LOG_L_INFO);
	if (log_target_open(&o.log, &e) < 0)
		return fail(&e);
	log_begin(&o.log, false, said);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* beyond RLIMIT_FSIZE calls fail with EFBIG, which is answered */
	umask(0);		  /* modes are the clients' */
	ident_init(!o.no_root_squash);
	/* before any thread: they inherit the mask, and the signals are the main thread's alone */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	if (o.log.to == LOG_TO_FILE)
		sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGRTMIN); /* leases: deleg.h */
	sigaddset(&signals, SIGIO);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	return serve(&o, &signals);
}

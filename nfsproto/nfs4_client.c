/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_client: the life of a mount with NFSv4.1 and later.
 *
 *     connect, EXCHANGE_ID, CREATE_SESSION, RECLAIM_COMPLETE, walk to the export, its limits
 *     ... the state manager runs ...
 *     drain, CLOSE what is open, DESTROY_SESSION, DESTROY_CLIENTID, disconnect
 *
 * Every mount is a client of its own to the server (co_ownerid with a random part), so that two
 * mounts share nothing that one could take from the other. In exchange it leaves nothing behind: at
 * the end the server knows no client ID of ours, unless it fell silent for GOODBYE_MS.
 */
#include "nfsproto/nfs4_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "transport/log.h"

#define BUSY_MS	      500u
#define GOODBYE_MS    3000u
#define DRAIN_MS      2000u
#define DRAIN_STEP_NS (20 * NFS4_MSEC)
#define CLOSE_ROUNDS  3u
#define SLOTS_DEFAULT 64u
#define MINOR_NEWEST  2u

/* --- making and freeing --------------------------------------------------------------------- */

static int make_identity(struct nfs4_client *c)
{
	char host[64] = "";
	uint8_t unique[16];
	size_t n;

	if (getrandom(c->verf, sizeof(c->verf), 0) != (ssize_t)sizeof(c->verf) ||
		getrandom(unique, sizeof(unique), 0) != (ssize_t)sizeof(unique))
		return -1;
	gethostname(host, sizeof(host) - 1);
	n = (size_t)snprintf(c->owner, sizeof(c->owner), "rnfs/%s/%ld/", host, (long)getpid());
	for (size_t i = 0; i < sizeof(unique); i++)
		n += (size_t)snprintf(c->owner + n, sizeof(c->owner) - n, "%02x", unique[i]);
	return 0;
}

static void reconnected(void *ctx)
{
	struct nfs4_client *c = ctx;

	nfs4_state_want(c, NFS4_TODO_BIND);
}

static void client_init(struct nfs4_client *c, const struct nfs_mount_params *p)
{
	pthread_condattr_t attr;

	c->base.backend = &nfs4_backend;
	c->minor = p->vers_minor ? p->vers_minor : MINOR_NEWEST;
	c->any_minor = p->vers_minor == 0;
	c->cred = p->cred;
	snprintf(c->server, sizeof(c->server), "%s", p->host);
	c->connect_ms = p->connect_ms;
	c->soft = p->soft;
	c->read_plus = p->read_plus;
	c->soft_ms = p->timeo_ms * (p->retrans < 1000 ? p->retrans + 1 : 1000);
	c->slots_wanted = p->credits ? p->credits : SLOTS_DEFAULT;
	if (c->slots_wanted > NFS4_MAX_SLOTS)
		c->slots_wanted = NFS4_MAX_SLOTS;
	nfs4_slots_init(&c->slots);
	TAILQ_INIT(&c->delayed);
	TAILQ_INIT(&c->ended);
	TAILQ_INIT(&c->opens);
	TAILQ_INIT(&c->delegs);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->wake, &attr);
	pthread_condattr_destroy(&attr);
	atomic_init(&c->renewed_ns, nfs4_now_ns());
	atomic_init(&c->next_owner, 1);
	nfs4_lock_init(&c->locks);
	nfs4_cb_init(&c->cb);
}

static void client_free(struct nfs4_client *c)
{
	rpc_client_free(c->base.rpc);
	c->idmap = idmap_free(c->idmap);
	nfs4_state_pump(c);
	nfs4_lock_finish(&c->locks);
	while (!TAILQ_EMPTY(&c->opens)) {
		struct nfs_open *o = TAILQ_FIRST(&c->opens);

		TAILQ_REMOVE(&c->opens, o, link);
		nfs4_open_unref(o);
	}
	nfs4_cb_finish(&c->cb);
	pthread_cond_destroy(&c->wake);
	nfs4_slots_finish(&c->slots);
	free(c);
}

/* --- unmounting ---------------------------------------------------------------------------- */

/* Ends what waits for a slot, for its time, or for somebody to end it. */
static void fail_queued(struct nfs4_client *c)
{
	struct nfs_op *op;

	pthread_mutex_lock(&c->slots.lock);
	while ((op = TAILQ_FIRST(&c->slots.waiting))) {
		TAILQ_REMOVE(&c->slots.waiting, op, link);
		nfs4_state_end_later_locked(c, op, -ENOTCONN);
	}
	while ((op = TAILQ_FIRST(&c->delayed))) {
		TAILQ_REMOVE(&c->delayed, op, link);
		nfs4_state_end_later_locked(c, op, -ENOTCONN);
	}
	pthread_mutex_unlock(&c->slots.lock);
	nfs4_state_pump(c);
}

/* Waits until `until` for what is under way. False if the server did not answer in time. */
static bool drain_all(struct nfs4_client *c, uint64_t until)
{
	bool idle;

	pthread_mutex_lock(&c->slots.lock);
	while (!(idle = c->slots.nbusy == 0 && c->nown == 0) && nfs4_now_ns() < until) {
		nfs4_state_wait_locked(
			&c->slots.idle, &c->slots.lock, nfs4_now_ns() + DRAIN_STEP_NS);
		pthread_mutex_unlock(&c->slots.lock);
		nfs4_state_pump(c); /* what was to be tried again */
		pthread_mutex_lock(&c->slots.lock);
	}
	pthread_mutex_unlock(&c->slots.lock);
	return idle;
}

static void set_gate(struct nfs4_client *c, bool open)
{
	pthread_mutex_lock(&c->slots.lock);
	if (open)
		nfs4_slots_open_locked(&c->slots);
	else
		nfs4_slots_close_locked(&c->slots);
	pthread_mutex_unlock(&c->slots.lock);
}

/* Closes what is open, as many at a time as there are slots; again what was answered "later". False
 * if the server did not answer in time. */
static bool close_all(struct nfs4_client *c, uint64_t until)
{
	bool idle = true;

	set_gate(c, true); /* nothing but CLOSEs gets there: c->stopping */
	if (nfs4_lock_clear_all(c) && !drain_all(c, until)) {
		set_gate(c, false);
		return false;
	}
	for (unsigned i = 0; i < CLOSE_ROUNDS && nfs4_close_all(c); i++) {
		struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};

		idle = drain_all(c, until);
		if (!idle || TAILQ_EMPTY(&c->opens))
			break;
		nanosleep(&pause, NULL);
	}
	set_gate(c, false);
	return idle;
}

/* What remains of GOODBYE_MS; at least 1 while there is any, 0 when it is over. */
static unsigned time_left(uint64_t until)
{
	uint64_t now = nfs4_now_ns();

	return now >= until ? 0 : (unsigned)((until - now) / NFS4_MSEC) + 1;
}

/* Leaves no state behind on the server, as far as it answers. */
static void goodbye(struct nfs4_client *c)
{
	uint64_t until = nfs4_now_ns() + GOODBYE_MS * NFS4_MSEC;
	struct nfs4_sync s = {.status = 0};
	unsigned ms;
	int rc = 0;

	if (c->have_session && !close_all(c, until))
		rc = -ETIMEDOUT;
	ms = time_left(until);
	if (c->have_session && ms && rc != -ETIMEDOUT) {
		rc = nfs4_sync_run(c, &s, NFS4_K_DESTROY_SESSION, ms);
		if (rc)
			log_ctrl("%s: DESTROY_SESSION: %s", c->server,
				s.status ? nfs4_status_name(s.status) : strerror(-rc));
	}
	ms = time_left(until);
	while (c->have_clientid && ms && rc != -ETIMEDOUT) {
		struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};

		rc = nfs4_sync_run(c, &s, NFS4_K_DESTROY_CLIENTID, ms);
		if (rc == 0 || (s.status != NFS4ERR_DELAY && s.status != NFS4ERR_CLIENTID_BUSY))
			break;
		if (s.status == NFS4ERR_CLIENTID_BUSY && ms + BUSY_MS < GOODBYE_MS)
			break;
		nanosleep(&pause, NULL);
		ms = time_left(until);
	}
	if (rc)
		log_info("%s: the server may keep this client's state until the lease ends: %s",
			c->server, s.status ? nfs4_status_name(s.status) : strerror(-rc));
}

static void nfs4_unmount(struct nfs_client *base)
{
	struct nfs4_client *c = nfs4_client(base);

	pthread_mutex_lock(&c->slots.lock);
	c->stopping = true;
	pthread_mutex_unlock(&c->slots.lock);
	nfs4_state_stop(c);
	set_gate(c, false);
	nfs4_lock_abort(c);
	fail_queued(c);
	if (drain_all(c, nfs4_now_ns() + DRAIN_MS * NFS4_MSEC))
		goodbye(c);
	else
		log_info("%s is silent: leaving without taking leave", c->server);
	fail_queued(c); /* what came home meanwhile and wanted another turn */
	client_free(c);
}

static struct nfs_client *nfs4_mount(const struct nfs_mount_params *p, struct err *e)
{
	struct rpc_client_params rp = {
		.prog = NFS4_PROGRAM,
		.vers = NFS4_VERSION,
		.cb_prog = NFS4_CB_PROGRAM,
		.cb_service = nfs4_cb_service,
		.reconnected = reconnected,
	};
	struct nfs4_client *c = calloc(1, sizeof(*c));

	if (!c) {
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	client_init(c, p);
	rp.ctx = rp.cb_ctx = c;
	if (nfs4_names_init(c, p)) {
		err_set(e, ERR_INTERNAL, "out of memory");
		client_free(c);
		return NULL;
	}
	if (make_identity(c)) {
		err_set(e, ERR_INTERNAL, "no random numbers: %s", strerror(errno));
		client_free(c);
		return NULL;
	}
	c->base.rpc = nfs_connect(p, &rp, e);
	if (!c->base.rpc) {
		client_free(c);
		return NULL;
	}
	if (nfs4_establish(c, p, e)) {
		nfs4_unmount(&c->base);
		return NULL;
	}
	return &c->base;
}

/* --- operations ---------------------------------------------------------------------------- */

static void nfs4_submit(struct nfs_client *base, struct nfs_op *op)
{
	struct nfs4_client *c = nfs4_client(base);
	struct nfs_open *o;
	int kind;

	if (!nfs4_kinds[op->type].put && op->type != NFS_OPEN && op->type != NFS_CLOSE) {
		op->error = -EOPNOTSUPP;
		op->done(op);
		return;
	}
	if (op->type == NFS_OPEN) {
		nfs4_open_submit(c, op);
		return;
	}
	if (op->type == NFS_CLOSE) {
		nfs4_close_submit(c, op);
		return;
	}
	if (op->type == NFS_LOCK) {
		nfs4_lock_submit(c, op);
		return;
	}
	kind = nfs4_xattr_check(c, op);
	if (!kind)
		kind = nfs4_space_kind(c, op);
	if (kind < 0) {
		op->error = kind;
		op->done(op);
		return;
	}
	o = nfs4_op_open(op);
	if (o && atomic_load_explicit(&o->locks_lost, memory_order_relaxed)) {
		op->error = -EIO; /* others may have changed what was to be protected */
		op->done(op);
		return;
	}
	if (o)
		nfs4_open_ref(o);
	o = nfs4_op_source(op);
	if (o)
		nfs4_open_ref(o);
	op->be.v4.kind = (uint8_t)kind;
	nfs4_names_start(c, op);
}

static void nfs4_cancel(struct nfs_client *base, struct nfs_op *op)
{
	struct nfs4_client *c = nfs4_client(base);

	if (op->type == NFS_LOCK) {
		nfs4_lock_cancel(c, op);
		return;
	}
	pthread_mutex_lock(&c->slots.lock);
	if (op->type == NFS_OPEN || op->type == NFS_CLOSE) {
		/* the own op of the open goes on alone and cleans up */
		if (op->be.v4.open && op->be.v4.open->user == op) {
			op->be.v4.open->user = NULL;
			op->be.v4.open = NULL;
			nfs4_state_end_later_locked(c, op, -EINTR);
		}
	} else {
		nfs4_task_cancel_locked(c, op);
	}
	pthread_mutex_unlock(&c->slots.lock);
}

const struct nfs_backend nfs4_backend = {
	.mount = nfs4_mount,
	.unmount = nfs4_unmount,
	.submit = nfs4_submit,
	.cancel = nfs4_cancel,
};

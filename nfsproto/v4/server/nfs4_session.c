/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_session: how a server comes up and ends. Model: nfs4_session.h.
 */
#include "nfsproto/v4/server/nfs4_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nfsproto/common/nfs_connect.h"
#include "nfsproto/v4/server/nfs4_conn.h"
#include "nfsproto/v4/server/nfs4_manager.h"
#include "nfsproto/v4/server/nfs4_recover.h"
#include "nfsproto/v4/server/nfs4_replay.h"
#include "nfsproto/v4/server/nfs4_server_record.h"
#include "nfsproto/v4/server/nfs4_session_ops.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_trunk.h"
#include "transport/clock.h"
#include "transport/log.h"

#define ATTEMPTS      3u		/* while the server loses the session again */
#define BUSY_NS	      (500 * NFS4_MSEC) /* how long a client ID in use is asked for again */
#define SETTLE_NS     (60 * NFS4_SEC)
#define GOODBYE_MS    3000u
#define DRAIN_MS      2000u
#define DRAIN_STEP_NS (20 * NFS4_MSEC)

/* --- a step -------------------------------------------------------------------------------- */

bool nfs4_status_passes(uint32_t status)
{
	return status == NFS4ERR_DELAY || status == NFS4ERR_GRACE;
}

void nfs4_server_step_pause(unsigned *ms)
{
	struct timespec pause;

	*ms = *ms == 0 ? 20 : *ms < 500 ? *ms * 2 : 900;
	pause = (struct timespec){.tv_nsec = (long)(*ms * NFS4_MSEC)};
	nanosleep(&pause, NULL);
}

static void status_error(struct nfs4_server *srv, uint32_t status, const char *step, struct err *e)
{
	switch (status) {
	case NFS4ERR_MINOR_VERS_MISMATCH:
		err_set(e, ERR_VERSION, "%s serves NFSv4, but not NFSv4.%u%s: %s", srv->name,
			srv->minor, srv->any_minor ? " or later" : "",
			srv->any_minor ? "NFSv4.0 is too old to be spoken here"
				       : "leave out the vers option for the newest it has");
		break;
	case NFS4ERR_WRONGSEC:
		err_set(e, ERR_ACCESS,
			"%s wants another security flavour than sys (%s: NFS4ERR_WRONGSEC)",
			srv->name, step);
		break;
	case NFS4ERR_ACCESS:
	case NFS4ERR_PERM:
		err_set(e, ERR_ACCESS,
			"%s refuses access (%s: %s): check the export's list of clients", srv->name,
			step, nfs4_status_name(status));
		break;
	case NFS4ERR_CLID_INUSE:
		err_set(e, ERR_ACCESS, "%s: another user holds this client's identity (%s)",
			srv->name, step);
		break;
	default:
		err_set(e, ERR_PROTOCOL, "%s answered %s with %s (%u)", srv->name, step,
			nfs4_status_name(status), status);
	}
}

static void protocol_error(struct nfs4_server *srv, const struct nfs4_sync *s, struct err *e)
{
	if (s->op.call.rpc_stat == RPC_PROG_MISMATCH)
		err_set(e, ERR_VERSION, "%s serves NFS versions %u to %u, not version 4", srv->name,
			s->op.call.mismatch_low, s->op.call.mismatch_high);
	else
		err_set(e, ERR_VERSION,
			"%s answers, but does not serve NFS on this port: check the port option",
			srv->name);
}

void nfs4_server_step_error(
	struct nfs4_server *srv, const struct nfs4_sync *s, const char *step, struct err *e)
{
	int error = s->op.error;

	if (s->status) {
		status_error(srv, s->status, step, e);
		return;
	}
	switch (error) {
	case -EPROTONOSUPPORT:
		protocol_error(srv, s, e);
		break;
	case -EACCES:
		err_set(e, ERR_ACCESS,
			"%s rejects the credentials of this client (%s, auth status %u)", srv->name,
			step, s->op.call.auth_stat);
		break;
	case -ETIMEDOUT:
	case -EINTR:
		if (rpc_client_shut_out(nfs4_server_conn(srv)->rpc))
			nfs_shut_out(e, nfs4_server_conn(srv)->rpc, srv->name, step);
		else
			err_set(e, ERR_UNREACHABLE,
				"%s accepted the connection but does not answer (%s): is it "
				"overloaded or starting?",
				srv->name, step);
		break;
	case -ENOTCONN:
		err_set(e, ERR_UNREACHABLE, "%s: the connection was lost (%s)", srv->name, step);
		break;
	case -ENOMEM:
		err_set(e, ERR_INTERNAL, "out of message memory (%s)", step);
		break;
	default:
		err_set(e, ERR_PROTOCOL, "%s: %s failed: %s", srv->name, step, strerror(-error));
	}
}

/* --- establishing -------------------------------------------------------------------------- */

typedef int step_fn(struct nfs4_server *srv, struct nfs4_sync *s, unsigned ms);

/* Runs step until the server gives another answer than "not now", at most connect_ms. */
static int step_run(
	struct nfs4_server *srv, struct nfs4_sync *s, step_fn *step, unsigned connect_ms)
{
	uint64_t until = clock_ns() + connect_ms * NFS4_MSEC;
	unsigned pause_ms = 0;

	for (;;) {
		uint64_t now = clock_ns();
		int rc;

		if (now >= until)
			return -ETIMEDOUT;
		rc = step(srv, s, (unsigned)((until - now) / NFS4_MSEC) + 1);
		if (rc == 0 || !nfs4_status_passes(s->status))
			return rc;
		nfs4_server_step_pause(&pause_ms);
	}
}

static int run_reclaim_complete(struct nfs4_server *srv, struct nfs4_sync *s, unsigned ms)
{
	return nfs4_sync_run(srv, s, NFS4_K_RECLAIM_COMPLETE, ms);
}

static bool lost_session(uint32_t status)
{
	return status == NFS4ERR_BADSESSION || status == NFS4ERR_DEADSESSION ||
	       status == NFS4ERR_STALE_CLIENTID;
}

/* Client ID and session, once. NFS_DONE; NFS_AGAIN: the server has lost one of the two meanwhile;
 * NFS_FAILED: *e tells why. */
static enum nfs_outcome try_establish(struct nfs4_server *srv, unsigned connect_ms, struct err *e)
{
	const char *step = "EXCHANGE_ID";
	struct nfs4_sync s;
	int rc;

	while ((rc = step_run(srv, &s, nfs4_sync_exchange_id, connect_ms)) != 0) {
		if (s.status != NFS4ERR_MINOR_VERS_MISMATCH || !srv->any_minor || srv->minor <= 1)
			break;
		log_ctrl("%s does not serve NFSv4.%u", srv->name, srv->minor);
		srv->minor--; /* over the same connection: nothing has been set up yet */
	}
	if (!rc) {
		step = "CREATE_SESSION";
		rc = step_run(srv, &s, nfs4_sync_create_session, connect_ms);
	}
	if (!rc) {
		step = "RECLAIM_COMPLETE";
		rc = step_run(srv, &s, run_reclaim_complete, connect_ms);
	}
	if (!rc)
		return NFS_DONE;
	if (srv->refused[0])
		err_set(e, ERR_PROTOCOL, "%s", srv->refused);
	else
		nfs4_server_step_error(srv, &s, step, e);
	return lost_session(s.status) ? NFS_AGAIN : NFS_FAILED;
}

static int establish(struct nfs4_server *srv, unsigned connect_ms, struct err *e)
{
	struct err one = {.kind = ERR_NONE};

	for (unsigned i = 0; i < ATTEMPTS; i++) {
		enum nfs_outcome out;

		one = (struct err){.kind = ERR_NONE};
		out = try_establish(srv, connect_ms, &one);
		if (out == NFS_DONE)
			return 0;
		if (out != NFS_AGAIN)
			break;
		/* the server restarted just now: from the beginning */
		log_ctrl("%s: %s: once more", srv->name, one.msg);
	}
	return err_set(e, one.kind, "%s", one.msg);
}

int nfs4_server_start(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	int rc;

	if (nfs4_conn_new(srv, p, e) || establish(srv, p->connect_ms, e))
		return -1;
	srv->request_max = srv->fore.maxrequestsize;
	srv->response_max = srv->fore.maxresponsesize;
	nfs4_server_note(srv); /* again: all is known now */
	nfs4_trunk_connect(srv, p);
	rc = nfs4_manager_start(srv);
	if (rc)
		return err_set(e, ERR_INTERNAL, "no thread for the mount: %s", strerror(-rc));
	return 0;
}

int nfs4_server_go_on(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs4_sync s;
	int rc;

	/* RFC 8881 18.37.3: only a connection of the session may destroy the session */
	nfs4_sync_bind(&srv->conn[0], &s, p->connect_ms);
	nfs4_recover_session(srv, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
	nfs4_trunk_connect(srv, p);
	rc = nfs4_manager_start(srv);
	if (rc)
		return err_set(e, ERR_INTERNAL, "no thread for the mount: %s", strerror(-rc));
	return 0;
}

static int run_bind(struct nfs4_server *srv, struct nfs4_sync *s, unsigned ms)
{
	return nfs4_sync_bind(&srv->conn[0], s, ms);
}

/* Finds out about all doubtful slots, so that the server executes no call of the former daemon's
 * late. A call that the server executes now may take its time. */
static void settle_slots(struct nfs4_server *srv)
{
	uint64_t until = clock_ns() + SETTLE_NS;
	unsigned pause_ms = 0;
	bool left = true;

	for (;;) {
		nfs4_recover_probe(srv);
		mutex_lock(&srv->slots.lock);
		left = srv->slots.ndoubtful && !(srv->todo & NFS4_TODO_GATE);
		mutex_unlock(&srv->slots.lock);
		if (!left || clock_ns() >= until)
			break;
		nfs4_server_step_pause(&pause_ms);
	}
	if (left)
		log_info("%s: the server still executes calls of the former daemon", srv->name);
}

int nfs4_server_resume(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e)
{
	uint32_t todo = srv->reclaiming ? NFS4_TODO_GATE | NFS4_TODO_DESTROY : 0;
	struct nfs4_sync s;
	int rc;

	nfs4_cb_resume(&srv->cb, &srv->session);
	rc = step_run(srv, &s, run_bind, p->connect_ms);
	if (rc && !lost_session(s.status)) {
		nfs4_server_step_error(srv, &s, "BIND_CONN_TO_SESSION", e);
		return -1;
	}
	if (rc)
		todo |= NFS4_TODO_SESSION | NFS4_TODO_DESTROY;
	mutex_lock(&srv->slots.lock);
	srv->state = NFS4_S_RUNNING; /* the work is wanted, and waits for the state manager */
	nfs4_state_want_locked(srv, todo);
	mutex_unlock(&srv->slots.lock);
	if (!todo)
		settle_slots(srv);
	nfs4_server_note(srv);
	nfs4_trunk_connect(srv, p);
	rc = nfs4_manager_start(srv);
	if (rc)
		return err_set(e, ERR_INTERNAL, "no thread for the mount: %s", strerror(-rc));
	return 0;
}

/* --- the end ------------------------------------------------------------------------------- */

/* The milliseconds until `until`, rounded up; 0: the time is over. */
static unsigned time_left(uint64_t until)
{
	uint64_t now = clock_ns();

	return now >= until ? 0 : (unsigned)((until - now) / NFS4_MSEC) + 1;
}

/* Gives session and client ID back. error: 0 or an error from before; a silent server (-ETIMEDOUT)
 * is not asked. 0, or a negative errno with s->status. */
static int give_back(struct nfs4_server *srv, struct nfs4_sync *s, uint64_t until, int error)
{
	uint64_t busy_until = clock_ns() + BUSY_NS;
	unsigned ms = time_left(until);
	int rc = error;

	if (srv->have_session && ms && rc != -ETIMEDOUT) {
		rc = nfs4_sync_run(srv, s, NFS4_K_DESTROY_SESSION, ms);
		if (rc)
			log_ctrl("%s: DESTROY_SESSION: %s", srv->name,
				s->status ? nfs4_status_name(s->status) : strerror(-rc));
	}
	ms = time_left(until);
	while (srv->have_clientid && ms && rc != -ETIMEDOUT) {
		struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};

		rc = nfs4_sync_run(srv, s, NFS4_K_DESTROY_CLIENTID, ms);
		if (rc == 0 || (s->status != NFS4ERR_DELAY && s->status != NFS4ERR_CLIENTID_BUSY))
			break;
		if (s->status == NFS4ERR_CLIENTID_BUSY && clock_ns() > busy_until)
			break;
		nanosleep(&pause, NULL);
		ms = time_left(until);
	}
	return rc;
}

/* The server has state that this client does not know, such as the file of an OPEN whose answer was
 * lost with a killed daemon. A client that begins anew, with another verifier, has the server drop
 * the state of the former one (RFC 8881 18.35.4, case 5). Not with a borrowed identity: the state
 * is then that of another session of this mount. 0, or a negative errno. */
static int begin_anew(struct nfs4_server *srv, struct nfs4_sync *s, uint64_t until)
{
	int rc;

	if (srv->borrowed)
		return -EBUSY;
	log_ctrl("%s: has state that this client does not know: beginning anew", srv->name);
	srv->verf[0]++;
	rc = nfs4_sync_exchange_id(srv, s, time_left(until));
	return rc ? rc : nfs4_sync_create_session(srv, s, time_left(until));
}

static void goodbye(struct nfs4_server *srv, uint64_t until, int error)
{
	struct nfs4_sync s = {.status = 0};
	int rc = give_back(srv, &s, until, error);

	if (rc && s.status == NFS4ERR_CLIENTID_BUSY && !begin_anew(srv, &s, until))
		rc = give_back(srv, &s, until, 0);
	if (rc)
		log_info("%s: the server may keep this client's state until the lease ends: %s",
			srv->name, s.status ? nfs4_status_name(s.status) : strerror(-rc));
}

/* Waits for the server's own calls under way. False: the server does not answer. */
static bool drain(struct nfs4_server *srv)
{
	uint64_t until = clock_ns() + DRAIN_MS * NFS4_MSEC;
	bool idle;

	mutex_lock(&srv->slots.lock);
	while (!(idle = srv->slots.nbusy == 0) && clock_ns() < until)
		nfs4_state_wait_locked(
			&srv->slots.idle, &srv->slots.lock, clock_ns() + DRAIN_STEP_NS);
	mutex_unlock(&srv->slots.lock);
	return idle;
}

/* Gives back session and client ID. */
static void server_end(struct nfs4_server *srv)
{
	uint64_t until;
	int error;

	mutex_lock(&srv->slots.lock);
	until = srv->goodbye_ns ? srv->goodbye_ns : clock_ns() + GOODBYE_MS * NFS4_MSEC;
	error = srv->goodbye_error;
	srv->stopping = true;
	mutex_unlock(&srv->slots.lock);
	nfs4_manager_stop(srv);
	nfs4_server_gate(srv, false);
	nfs4_task_fail_queued(srv, NULL);
	if (!error && !drain(srv))
		error = -ETIMEDOUT;
	if (error == -ETIMEDOUT)
		log_info("%s is silent: leaving without taking leave", srv->name);
	else
		goodbye(srv, until, error);
	nfs4_task_fail_queued(srv, NULL); /* ops that came home and wanted another turn */
	nfs4_conn_free_all(srv);
}

struct nfs4_server *nfs4_server_unref(struct nfs4_server *srv)
{
	/* release: our last use happens before the end; acquire: the end comes after theirs */
	if (!srv || atomic_fetch_sub_explicit(&srv->refs, 1, memory_order_acq_rel) != 1)
		return NULL;
	server_end(srv);
	nfs4_replay_free(srv->replay);
	nfs4_server_finish(srv);
	free(srv);
	return NULL;
}

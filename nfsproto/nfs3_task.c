/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_task: the life of one op.
 *
 *     NEW --> SENT --reply--> ENDING --> done
 *                                 \--> SENT ...                  (the op's next call)
 *                                 \--> DELAYED --due--> SENT ... (NFS3ERR_JUKEBOX)
 *
 * An op that was sent again after a connection was lost has the XID it had: a server's duplicate
 * request cache answers it as it did the first time, and that is what is trusted.
 *
 * Invariant: in ENDING nobody but the thread that ends the op touches it, so cancelling only sets a
 * flag there; rpc_call_cancel() is called under c->lock in state SENT only, and a reply leaves SENT
 * under that lock before anything else, so that no finished call is ever named.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "nfsproto/nfs3_client.h"
#include "nfsproto/ulb.h"
#include "transport/log.h"

#define ARGS_ROOM 1400 /* two handles, two names, attributes, a few words */
#define SEC	  UINT64_C(1000000000)

static void task_done(struct rpc_call *call, int error, struct xdr_in *res);

uint64_t nfs3_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SEC + (uint64_t)t.tv_nsec;
}

static const struct nfs3_kind *task_kind(const struct nfs_op *op)
{
	return &nfs3_kinds[op->be.v3.kind];
}

void nfs3_task_end(struct nfs3_client *c, struct nfs_op *op, int error)
{
	op->error = error;
	if (op->type == NFS_OPEN)
		nfs3_open_end(op);
	op->done(op);
}

/* --- sending ------------------------------------------------------------------------------- */

/* What the bound of the reply depends on (ulb.h). */
static size_t reply_var(const struct nfs3_args *a)
{
	switch (a->proc) {
	case NFS3PROC_READLINK:
		return NFS_PATH_MAX;
	case NFS3PROC_READDIR:
	case NFS3PROC_READDIRPLUS:
		return a->u.readdir.maxcount;
	default: /* a READ's data has a sink */
		return 0;
	}
}

static size_t args_room(const struct nfs_op *op)
{
	if (op->be.v3.kind == NFS_CREATE && op->u.create.type == NFS_LNK)
		return ARGS_ROOM + op->u.create.target_len;
	return ARGS_ROOM;
}

static int task_try_send(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_args a;
	int rc = rpc_call_init(&op->call, c->base.rpc, args_room(op));

	if (rc)
		return rc;
	a.proc = NFS3PROC_NULL;
	op->call.cred = op->cred;
	op->call.done = task_done;
	op->call.ctx = c;
	task_kind(op)->put(c, op, &a);
	nfs3_put_args(&op->call.args, &a);
	op->call.proc = a.proc;
	op->call.reply_max = (uint32_t)ulb_nfs3_res_max(a.proc, reply_var(&a));
	op->be.v3.proc = (uint8_t)a.proc;

	pthread_mutex_lock(&c->lock);
	if (c->stopping)
		rc = -ENOTCONN;
	else if (op->be.v3.cancelled)
		rc = -EINTR;
	else
		op->be.v3.state = NFS3_T_SENT;
	pthread_mutex_unlock(&c->lock);
	if (!rc) {
		rc = rpc_call_submit(&op->call);
		if (!rc)
			return 0;
		pthread_mutex_lock(&c->lock);
		op->be.v3.state = NFS3_T_ENDING;
		pthread_mutex_unlock(&c->lock);
	}
	rpc_call_finish(&op->call);
	return rc;
}

void nfs3_task_start(struct nfs3_client *c, struct nfs_op *op)
{
	int rc = task_try_send(c, op);

	if (rc)
		nfs3_task_end(c, op, rc);
}

void nfs3_task_cancel(struct nfs3_client *c, struct nfs_op *op)
{
	pthread_mutex_lock(&c->lock);
	if (!op->be.v3.cancelled) {
		op->be.v3.cancelled = true;
		if (op->be.v3.state == NFS3_T_SENT) {
			rpc_call_cancel(&op->call);
		} else if (op->be.v3.state == NFS3_T_DELAYED) {
			/* due now: the timer's thread starts it, and that sees the flag */
			TAILQ_REMOVE(&c->delayed, op, link);
			op->due_ns = 0;
			TAILQ_INSERT_HEAD(&c->delayed, op, link);
			pthread_cond_signal(&c->wake);
		}
	}
	pthread_mutex_unlock(&c->lock);
}

/* --- later --------------------------------------------------------------------------------- */

static void task_delay(struct nfs3_client *c, struct nfs_op *op, unsigned ms)
{
	struct nfs_op *o;

	op->due_ns = nfs3_now_ns() + ms * NFS3_MSEC;
	pthread_mutex_lock(&c->lock);
	if (c->stopping || op->be.v3.cancelled || !c->timer_up) {
		bool intr = op->be.v3.cancelled;

		pthread_mutex_unlock(&c->lock);
		nfs3_task_end(c, op, intr ? -EINTR : -ENOTCONN);
		return;
	}
	op->be.v3.state = NFS3_T_DELAYED;
	TAILQ_FOREACH_REVERSE(o, &c->delayed, nfs3_delayed, link)
	{
		if (o->due_ns <= op->due_ns)
			break;
	}
	if (o)
		TAILQ_INSERT_AFTER(&c->delayed, o, op, link);
	else
		TAILQ_INSERT_HEAD(&c->delayed, op, link);
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
}

static void *timer_main(void *arg)
{
	struct nfs3_client *c = arg;
	struct nfs_op *op;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		op = TAILQ_FIRST(&c->delayed);
		if (op && (c->timer_stop || op->due_ns <= nfs3_now_ns())) {
			TAILQ_REMOVE(&c->delayed, op, link);
			op->be.v3.state = NFS3_T_NEW;
			pthread_mutex_unlock(&c->lock);
			nfs3_task_start(c, op);
			pthread_mutex_lock(&c->lock);
		} else if (op) {
			struct timespec until = {.tv_sec = (time_t)(op->due_ns / SEC),
				.tv_nsec = (long)(op->due_ns % SEC)};

			pthread_cond_timedwait(&c->wake, &c->lock, &until);
		} else if (c->timer_stop) {
			break;
		} else {
			pthread_cond_wait(&c->wake, &c->lock);
		}
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int nfs3_timer_start(struct nfs3_client *c)
{
	int rc = pthread_create(&c->timer, NULL, timer_main, c);

	pthread_mutex_lock(&c->lock);
	c->timer_up = rc == 0;
	pthread_mutex_unlock(&c->lock);
	return -rc;
}

void nfs3_timer_stop(struct nfs3_client *c)
{
	bool up;

	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	c->timer_stop = true;
	up = c->timer_up;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	if (up)
		pthread_join(c->timer, NULL);
	pthread_mutex_lock(&c->lock);
	c->timer_up = false;
	pthread_mutex_unlock(&c->lock);
}

/* --- the reply ----------------------------------------------------------------------------- */

static unsigned backoff_ms(unsigned tries)
{
	return tries >= 8 ? 3000 : 12u << tries;
}

/* The server wants to be asked again, unless a soft mount has waited long enough. */
static void task_jukebox(struct nfs3_client *c, struct nfs_op *op)
{
	unsigned ms = backoff_ms(op->tries);

	if (op->tries < UINT32_MAX)
		op->tries++;
	if (c->soft && (uint64_t)op->tries * ms > c->soft_ms) {
		log_warn("%s: %s was answered NFS3ERR_JUKEBOX for too long", c->server,
			task_kind(op)->name);
		nfs3_task_end(c, op, -ETIMEDOUT);
		return;
	}
	task_delay(c, op, ms);
}

int nfs3_rpc_error(const struct rpc_call *call, int error)
{
	switch (error) {
	case -ECANCELED:
		return -EINTR;
	case -EBADMSG:
		return -EREMOTEIO;
	case -EPROTO:
		switch (call->rpc_stat) {
		case RPC_PROG_UNAVAIL:
		case RPC_PROG_MISMATCH:
			return -EPROTONOSUPPORT;
		case RPC_PROC_UNAVAIL:
			return -EOPNOTSUPP;
		default:
			return -EREMOTEIO;
		}
	default:
		return error;
	}
}

/* rc: what the call came to; positive: its status. The call is finished. */
static void task_conclude(struct nfs3_client *c, struct nfs_op *op, int rc)
{
	if (rc == NFS3ERR_JUKEBOX) {
		task_jukebox(c, op);
		return;
	}
	if (rc > 0 && task_kind(op)->fail)
		rc = task_kind(op)->fail(c, op, (uint32_t)rc);
	if (rc == NFS3_AGAIN) {
		nfs3_task_start(c, op);
		return;
	}
	if (rc > 0) {
		int err = nfs3_status_errno((uint32_t)rc);

		if (err == -EREMOTEIO)
			log_warn("%s: %s was answered %s (%d)", c->server, task_kind(op)->name,
				nfs3_status_name((uint32_t)rc), rc);
		rc = err;
	}
	nfs3_task_end(c, op, rc);
}

static void task_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct nfs_op *op = container_of(call, struct nfs_op, call);
	struct nfs3_client *c = call->ctx;
	struct nfs3_res r;
	int rc = error;

	pthread_mutex_lock(&c->lock);
	op->be.v3.state = NFS3_T_ENDING;
	pthread_mutex_unlock(&c->lock);

	if (rc == 0)
		rc = nfs3_get_res(res, op->be.v3.proc, &r);
	if (rc == 0) {
		if (r.u.status == NFS3_OK)
			rc = task_kind(op)->get(c, op, &r, res);
		else
			rc = r.u.status <= INT32_MAX ? (int)r.u.status : -EBADMSG;
		if ((rc == 0 || rc == NFS3_AGAIN) && !xdr_in_done(res))
			rc = -EBADMSG;
	}
	if (rc == -EBADMSG && !error)
		log_warn("%s: the reply to %s does not make sense: server bug", c->server,
			task_kind(op)->name);
	rc = rc < 0 && rc != NFS3_AGAIN ? nfs3_rpc_error(call, rc) : rc;
	if (rc == -EOPNOTSUPP && error) /* it has no such procedure */
		rc = NFS3ERR_NOTSUPP;
	rpc_call_finish(call);
	task_conclude(c, op, rc);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_task: the life of one op.
 *
 *     NEW --> SENT --reply--> ENDING --> done
 *                                 \--> SENT ...                  (the op's next call)
 *                                 \--> DELAYED --due--> SENT ... (NFS3ERR_JUKEBOX, or the op relies
 *                                                                  on a lock that is in doubt)
 *
 * An op that changes the data of a file and was sent is not forgotten when it is cancelled: the
 * server may have the call, and could execute the call over later writes of other clients. The op
 * is LEFT: it ends with the answer, and no other call follows. A LEFT op may be PULLED, because it
 * relies on a lock in doubt. Such an op is sent once more when the lock is known to be held. If the
 * lock is lost, the op ends: then the server has restarted, and the call is gone.
 *
 * An op that changes something and is sent again after a lost connection keeps its XID, and waits
 * for that connection even if there are others: a server's duplicate request cache repeats the
 * first answer. A restarted server has lost that cache. So an op that failed the second time is
 * unsure, and nfs_unsure.h judges its failure.
 *
 * Invariant: in ENDING only the thread that ends the op touches the op, so cancelling only sets a
 * flag in this state. rpc_call_cancel() is called under c->lock in state SENT only. A reply leaves
 * SENT under c->lock before anything else, so no finished call is ever named.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "nfsproto/common/nfs_unsure.h"
#include "nfsproto/v3/nfs3_client.h"
#include "nfsproto/wire/ulb.h"
#include "transport/clock.h"
#include "transport/log.h"

#define ARGS_ROOM 1400	   /* two handles, two names, attributes, a few words */
#define HOLD_MS	  3600000u /* trusting the locks again ends the pause */

static void task_done(struct rpc_call *call, int error, struct xdr_in *res);
static void task_hold(struct nfs3_client *c, struct nfs_op *op);

static const struct nfs3_kind *task_kind(const struct nfs_op *op)
{
	return &nfs3_kinds[op->be.v3.kind];
}

void nfs3_task_end(struct nfs3_client *c, struct nfs_op *op, int error)
{
	op->error = error;
	if (op->type == NFS_OPEN)
		nfs3_open_end(c, op);
	op->done(op);
}

/* --- sending ------------------------------------------------------------------------------- */

/* The variable part of the reply's size bound (ulb.h). */
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

/* May op be sent, given the locks that op relies on? 0; -EAGAIN: not before all are known to be
 * held; or -errno. */
static int task_check_locks_locked(struct nfs3_client *c, struct nfs_op *op) REQUIRES(c->lock)
{
	const struct nfs_open *o = nfs_op_open(op);

	op->be.v3.relies = false;
	if (!o || (op->type == NFS_SETATTR && !(op->u.setattr.set.mask & NFS_SET_SIZE)))
		return 0;
	/* other clients may have changed the protected data */
	if (atomic_load_explicit(&o->locks_lost, memory_order_acquire))
		return -EIO;
	if (!atomic_load_explicit(&o->locks, memory_order_acquire))
		return 0;
	if (c->doubt)
		return c->soft && op->be.v3.held ? -ETIMEDOUT : -EAGAIN;
	op->be.v3.relies = true;
	return 0;
}

/* op is no longer SENT. */
static void task_leave_locked(struct nfs3_client *c, struct nfs_op *op) REQUIRES(c->lock)
{
	op->be.v3.state = NFS3_T_ENDING;
	if (op->be.v3.relies)
		TAILQ_REMOVE(&c->relying, op, link);
	op->be.v3.relies = false;
}

/* Does the call change something? The server keeps the answers to such calls, by connection and
 * XID. With another XID the server might execute a WRITE again, late, over newer data. */
static bool is_once(uint32_t proc)
{
	return proc == NFS3PROC_SETATTR || (proc >= NFS3PROC_WRITE && proc <= NFS3PROC_LINK);
}

/* The connection for op's next call. */
static struct rpc_client *task_rpc(struct nfs3_client *c, const struct nfs_op *op)
{
	return c->base.nrpcs > 1 ? rpc_paths_pick(&c->paths, nfs_links_large(op)) : c->base.rpc;
}

static int task_try_send(struct nfs3_client *c, struct nfs_op *op)
{
	struct nfs3_args a;
	int rc = rpc_call_init(&op->call, task_rpc(c, op), args_room(op));

	if (rc)
		return rc;
	a.proc = NFS3PROC_NULL;
	op->call.cred = op->cred;
	op->call.done = task_done;
	op->call.ctx = c;
	task_kind(op)->put(c, op, &a);
	nfs3_put_args(&op->call.args, &a);
	/* RFC 8267 section 4: an item that is not eligible stays in the stream */
	assert(!op->call.args.npayloads || ulb_nfs3_proc(a.proc) & ULB_DDP_ARG);
	assert(!op->call.nsinks || ulb_nfs3_proc(a.proc) & ULB_DDP_RES);
	op->call.proc = a.proc;
	op->call.once = is_once(a.proc);
	op->call.reply_max = (uint32_t)ulb_nfs3_res_max(a.proc, reply_var(&a));
	op->be.v3.proc = (uint8_t)a.proc;

	mutex_lock(&c->lock);
	if (c->stopping)
		rc = -ENOTCONN;
	else if (op->be.v3.cancelled)
		rc = -EINTR;
	else
		rc = task_check_locks_locked(c, op);
	op->be.v3.pulled = false;
	if (!rc) {
		op->be.v3.state = NFS3_T_SENT;
		if (op->be.v3.relies)
			TAILQ_INSERT_TAIL(&c->relying, op, link);
	}
	mutex_unlock(&c->lock);
	if (!rc) {
		nfs_op_called(op, clock_ns());
		rc = rpc_call_submit(&op->call);
		if (!rc)
			return 0;
		mutex_lock(&c->lock);
		task_leave_locked(c, op);
		mutex_unlock(&c->lock);
	}
	rpc_call_finish(&op->call);
	return rc;
}

void nfs3_task_start(struct nfs3_client *c, struct nfs_op *op)
{
	int rc = task_try_send(c, op);

	if (rc == -EAGAIN)
		task_hold(c, op);
	else if (rc)
		nfs3_task_end(c, op, rc);
}

/* May the server have got a call of op that changes the data of a file, and execute it later?
 * c->lock held. */
static bool task_may_come_late_locked(const struct nfs_op *op)
{
	unsigned kind = op->be.v3.kind;

	if (op->type == NFS_OPEN && kind != NFS3_K_OPEN_TRUNCATE)
		return false;
	return nfs_op_changes_data(op) && kind != NFS3_K_APPEND_SIZE &&
	       kind != NFS3_K_GETATTR_AFTER && (op->be.v3.state == NFS3_T_SENT || op->be.v3.pulled);
}

void nfs3_task_cancel(struct nfs3_client *c, struct nfs_op *op)
{
	mutex_lock(&c->lock);
	if (task_may_come_late_locked(op)) {
		op->be.v3.left = true;
		if (op->be.v3.state == NFS3_T_SENT && !op->be.v3.pulled)
			rpc_call_withdraw(&op->call);
	} else if (!op->be.v3.cancelled) {
		op->be.v3.cancelled = true;
		if (op->be.v3.state == NFS3_T_SENT) {
			rpc_call_cancel(&op->call);
		} else if (op->be.v3.state == NFS3_T_DELAYED) {
			/* due now: the timer's thread starts the op, and the start sees the flag */
			TAILQ_REMOVE(&c->delayed, op, link);
			op->due_ns = 0;
			TAILQ_INSERT_HEAD(&c->delayed, op, link);
			pthread_cond_signal(&c->wake);
		}
	}
	mutex_unlock(&c->lock);
}

/* --- later --------------------------------------------------------------------------------- */

/* held: until the locks are known to be held, and ms at most. */
static void task_put_off(struct nfs3_client *c, struct nfs_op *op, unsigned ms, bool held)
{
	struct nfs_op *o;

	op->due_ns = clock_ns() + ms * NFS3_MSEC;
	mutex_lock(&c->lock);
	if (held && !c->doubt)
		op->due_ns = 0;
	op->be.v3.held = held;
	if (c->stopping || op->be.v3.cancelled || !c->timer_up) {
		bool intr = op->be.v3.cancelled;

		mutex_unlock(&c->lock);
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
	mutex_unlock(&c->lock);
}

static void task_delay(struct nfs3_client *c, struct nfs_op *op, unsigned ms)
{
	task_put_off(c, op, ms, false);
}

static void task_hold(struct nfs3_client *c, struct nfs_op *op)
{
	task_put_off(c, op, c->soft ? c->soft_ms : HOLD_MS, true);
}

void nfs3_task_doubt_locked(struct nfs3_client *c) REQUIRES(c->lock)
{
	c->doubt = true;
}

/* Is rpc unbroken? Then a restarted server can get nothing over rpc. */
static bool is_witness_locked(const struct nfs3_client *c, const struct rpc_client *rpc)
	REQUIRES(c->lock)
{
	for (unsigned i = 0; i < c->base.nrpcs; i++)
		if (c->rpcs[i] == rpc)
			return c->witnesses & 1u << i;
	return false;
}

void nfs3_task_pull_locked(struct nfs3_client *c) REQUIRES(c->lock)
{
	struct nfs_op *op;

	TAILQ_FOREACH (op, &c->relying, link) {
		if (is_witness_locked(c, op->call.client))
			continue;
		op->be.v3.pulled = true;
		rpc_call_cancel(&op->call);
	}
}

void nfs3_task_trust_locked(struct nfs3_client *c) REQUIRES(c->lock)
{
	struct nfs3_delayed held = TAILQ_HEAD_INITIALIZER(held);
	struct nfs_op *op, *next;

	c->doubt = false;
	for (op = TAILQ_FIRST(&c->delayed); op; op = next) {
		next = TAILQ_NEXT(op, link);
		if (!op->be.v3.held)
			continue;
		TAILQ_REMOVE(&c->delayed, op, link);
		op->due_ns = 0;
		TAILQ_INSERT_TAIL(&held, op, link);
	}
	TAILQ_CONCAT(&held, &c->delayed, link);
	TAILQ_CONCAT(&c->delayed, &held, link);
	pthread_cond_signal(&c->wake);
}

static void *timer_main(void *arg)
{
	struct nfs3_client *c = arg;
	struct nfs_op *op;

	mutex_lock(&c->lock);
	for (;;) {
		op = TAILQ_FIRST(&c->delayed);
		if (op && (c->timer_stop || op->due_ns <= clock_ns())) {
			TAILQ_REMOVE(&c->delayed, op, link);
			op->be.v3.state = NFS3_T_NEW;
			mutex_unlock(&c->lock);
			nfs3_task_start(c, op);
			mutex_lock(&c->lock);
		} else if (op) {
			struct timespec until = clock_timespec(op->due_ns);

			cond_timedwait(&c->wake, &c->lock, &until);
		} else if (c->timer_stop) {
			break;
		} else {
			cond_wait(&c->wake, &c->lock);
		}
	}
	mutex_unlock(&c->lock);
	return NULL;
}

int nfs3_timer_start(struct nfs3_client *c)
{
	int rc = pthread_create(&c->timer, NULL, timer_main, c);

	mutex_lock(&c->lock);
	c->timer_up = rc == 0;
	mutex_unlock(&c->lock);
	return -rc;
}

void nfs3_timer_stop(struct nfs3_client *c)
{
	bool up;

	mutex_lock(&c->lock);
	c->stopping = true;
	c->timer_stop = true;
	up = c->timer_up;
	pthread_cond_signal(&c->wake);
	mutex_unlock(&c->lock);
	if (up)
		pthread_join(c->timer, NULL);
	mutex_lock(&c->lock);
	c->timer_up = false;
	mutex_unlock(&c->lock);
}

/* --- the reply ----------------------------------------------------------------------------- */

static unsigned backoff_ms(unsigned tries)
{
	return tries >= 8 ? 3000 : 12u << tries;
}

/* The server asks for a later call. Puts op off, unless a soft mount has waited long enough. */
static void task_jukebox(struct nfs3_client *c, struct nfs_op *op)
{
	unsigned ms = backoff_ms(op->tries);

	if (op->be.v3.left) { /* the server has not executed the call */
		nfs3_task_end(c, op, -EINTR);
		return;
	}
	if (op->be.v3.kind == NFS3_K_APPEND && op->be.v3.unsure) {
		op->u.write.ours = true;
		nfs3_task_end(c, op, -EALREADY); /* the first copy may have been executed */
		return;
	}
	if (op->be.v3.kind == NFS3_K_APPEND) /* the file may end elsewhere by then */
		op->be.v3.kind = NFS3_K_APPEND_SIZE;
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

/* The errno of op after a call that failed with status. */
static int task_status_errno(const struct nfs3_client *c, const struct nfs_op *op, uint32_t status)
{
	int error = nfs3_status_errno(status);

	if (error == -EREMOTEIO)
		log_warn("%s: %s was answered %s (%u)", c->server, task_kind(op)->name,
			nfs3_status_name(status), status);
	return error;
}

/* Judges an unsure op that failed with status. */
static enum nfs_outcome task_judge(struct nfs_op *op, uint32_t status)
{
	int error = nfs3_status_errno(status);

	switch (nfs_unsure_failed(op, error)) {
	case NFS_V_DONE:
		return NFS_DONE;
	case NFS_V_LOOK:
		op->be.v3.first_error = error;
		op->be.v3.kind = NFS3_K_LOOK;
		return NFS_AGAIN;
	case NFS_V_FAILED:
		break;
	}
	return NFS_STATUS;
}

/* Applies the outcome of the call; status: of an NFS_STATUS. The call is finished. */
static void task_conclude(
	struct nfs3_client *c, struct nfs_op *op, enum nfs_outcome out, uint32_t status)
{
	/* a call that was pulled may have been executed, and goes again as a new one; a GETATTR
	 * executes nothing */
	if (op->be.v3.proc != NFS3PROC_GETATTR)
		op->be.v3.unsure |= op->call.repeated || out == NFS_RECOVER;
	if (out == NFS_STATUS && op->be.v3.unsure && op->be.v3.kind != NFS3_K_LOOK)
		out = task_judge(op, status);
	if (out == NFS_STATUS && status == NFS3ERR_JUKEBOX)
		out = NFS_LATER;
	else if (out == NFS_STATUS && task_kind(op)->fail)
		out = task_kind(op)->fail(c, op, status);
	switch (out) {
	case NFS_AGAIN:
		nfs3_task_start(c, op);
		break;
	case NFS_LATER:
		task_jukebox(c, op);
		break;
	case NFS_RECOVER:
		task_hold(c, op);
		break;
	case NFS_STATUS:
		nfs3_task_end(c, op, task_status_errno(c, op, status));
		break;
	case NFS_DONE:
		nfs3_task_end(c, op, 0);
		break;
	case NFS_FAILED:
		nfs3_task_end(c, op, op->error);
		break;
	}
}

/* Looks at the reply; *status: of an NFS_STATUS. */
static enum nfs_outcome task_get(
	struct nfs3_client *c, struct nfs_op *op, struct xdr_in *res, uint32_t *status)
{
	enum nfs_outcome out;
	struct nfs3_res r;

	if (nfs3_get_res(res, op->be.v3.proc, &r))
		return nfs_failed(op, -EBADMSG);
	*status = r.u.status;
	if (r.u.status != NFS3_OK && task_kind(op)->failed)
		task_kind(op)->failed(op, &r);
	if (r.u.status != NFS3_OK)
		return r.u.status <= INT32_MAX ? NFS_STATUS : nfs_failed(op, -EBADMSG);
	out = task_kind(op)->get(c, op, &r, res);
	if ((out == NFS_DONE || out == NFS_AGAIN) && !xdr_in_done(res))
		out = nfs_failed(op, -EBADMSG);
	return out;
}

/* The call ended with error, without a reply; pulled: because op relies on a lock that is in
 * doubt. */
static enum nfs_outcome task_no_reply(struct nfs_op *op, int error, bool pulled, uint32_t *status)
{
	int rc = nfs3_rpc_error(&op->call, error);

	if (pulled && error == -ECANCELED)
		return NFS_RECOVER;
	if (rc != -EOPNOTSUPP)
		return nfs_failed(op, rc);
	*status = NFS3ERR_NOTSUPP; /* the server has no such procedure */
	return NFS_STATUS;
}

static void task_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct nfs_op *op = container_of(call, struct nfs_op, call);
	struct nfs3_client *c = call->ctx;
	uint32_t status = NFS3_OK;
	enum nfs_outcome out;
	bool pulled;

	mutex_lock(&c->lock);
	task_leave_locked(c, op);
	pulled = op->be.v3.pulled && !op->be.v3.cancelled;
	mutex_unlock(&c->lock);
	if (error) {
		out = task_no_reply(op, error, pulled, &status);
	} else {
		out = task_get(c, op, res, &status);
		if (out == NFS_FAILED && op->error == -EBADMSG) {
			log_warn("%s: the reply to %s does not make sense: server bug", c->server,
				task_kind(op)->name);
			op->error = -EREMOTEIO;
		}
	}
	rpc_call_finish(call);
	task_conclude(c, op, out, status);
}

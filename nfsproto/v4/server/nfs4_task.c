/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task: the life of one op, without its calls. Model: nfs4_task.h.
 */
#include "nfsproto/v4/server/nfs4_task.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "nfsproto/v4/server/nfs4_replay.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/clock.h"

#define OLD_TRIES 6 /* tries on a session that is lost, within a second */

void nfs4_task_bind(struct nfs_op *op, struct nfs4_conn *conn, struct nfs4_user *u, unsigned kind)
{
	memset(&op->be, 0, sizeof(op->be));
	op->be.v4.srv = conn->srv;
	op->be.v4.conn = conn;
	op->be.v4.user = u;
	op->be.v4.kind = (uint8_t)kind;
}

bool nfs4_task_stopping_locked(const struct nfs_op *op)
{
	return op->be.v4.user ? op->be.v4.user->stopping : nfs4_task_server(op)->stopping;
}

void nfs4_task_give_up_slot_locked(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);

	if (!op->slot)
		return;
	nfs4_slots_put_locked(&srv->slots, op->slot, NFS4_SLOT_DOUBTFUL);
	op->slot = NULL;
	if (!srv->stopping)
		nfs4_state_want_locked(srv, NFS4_TODO_PROBE);
}

void nfs4_task_end(struct nfs_op *op, int error)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs4_user *u = op->be.v4.user;

	if (op->slot) { /* kept for another try, or set: no other op will settle the slot */
		mutex_lock(&srv->slots.lock);
		nfs4_task_give_up_slot_locked(op);
		mutex_unlock(&srv->slots.lock);
	}
	op->error = error;
	op->be.v4.since_ns = 0; /* its owner may start it again */
	if (srv->replay)
		nfs4_replay_ended(op);
	if (u)
		u->up->ended(u, op);
	assert(atomic_load_explicit(&op->be.v4.state, memory_order_relaxed) != NFS4_T_NEW);
	atomic_store_explicit(&op->be.v4.state, NFS4_T_NEW, memory_order_release);
	op->done(op);
	if (u) /* release: a thread that reads 0 may free u and all memory that done has used */
		atomic_fetch_sub_explicit(&u->nops, 1, memory_order_release);
}

void nfs4_task_state_locked(struct nfs_op *op, enum nfs4_task_state state)
{
	struct nfs4_user *u = op->be.v4.user;

	if (u && atomic_load_explicit(&op->be.v4.state, memory_order_relaxed) == NFS4_T_NEW)
		atomic_fetch_add_explicit(&u->nops, 1, memory_order_relaxed);
	atomic_store_explicit(&op->be.v4.state, (uint8_t)state, memory_order_release);
}

bool nfs4_task_away(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	bool may;

	mutex_lock(&srv->slots.lock);
	may = !op->be.v4.cancelled && !nfs4_task_stopping_locked(op);
	if (may)
		nfs4_task_state_locked(op, NFS4_T_AWAY);
	mutex_unlock(&srv->slots.lock);
	return may;
}

bool nfs4_task_may_stray(struct nfs_op *op, unsigned most)
{
	if (op->be.v4.strays >= most)
		return false;
	op->be.v4.strays++;
	return true;
}

void nfs4_task_end_later_locked(struct nfs4_server *srv, struct nfs_op *op, int error)
{
	nfs4_task_state_locked(op, NFS4_T_ENDING);
	op->error = error;
	TAILQ_INSERT_TAIL(&srv->ended, op, link);
	pthread_cond_signal(&srv->wake);
}

void nfs4_task_pump(struct nfs4_server *srv)
{
	struct nfs_op *op;

	do {
		mutex_lock(&srv->slots.lock);
		op = TAILQ_FIRST(&srv->ended);
		if (op)
			TAILQ_REMOVE(&srv->ended, op, link);
		mutex_unlock(&srv->slots.lock);
		if (op)
			nfs4_task_end(op, op->error);
	} while (op);
}

/* Does a call of op change the data of a file? Then the server may execute it late. */
static bool task_may_come_late(const struct nfs_op *op)
{
	unsigned kind = op->be.v4.kind;

	return op->be.v4.user && nfs_op_changes_data(op) && kind < NFS4_K_SEQUENCE &&
	       kind != NFS4_K_GETATTR_AFTER && kind != NFS4_K_OFFLOAD_STATUS;
}

bool nfs4_task_asks_on_locked(const struct nfs_op *op)
{
	return op->be.v4.asks_on && task_may_come_late(op);
}

bool nfs4_task_asks_old(const struct nfs_op *op)
{
	return op->be.v4.unsure && op->tries < OLD_TRIES;
}

void nfs4_task_delay(struct nfs_op *op, unsigned ms)
{
	struct nfs4_server *srv = nfs4_task_server(op);
	struct nfs_op *at;
	bool ends;

	op->due_ns = clock_ns() + ms * NFS4_MSEC;
	mutex_lock(&srv->slots.lock);
	if (nfs4_task_stopping_locked(op)) { /* perhaps no thread is left to start op */
		nfs4_task_end_later_locked(srv, op, -ENOTCONN);
		mutex_unlock(&srv->slots.lock);
		return;
	}
	nfs4_task_state_locked(op, NFS4_T_DELAYED);
	TAILQ_FOREACH_REVERSE(at, &srv->delayed, nfs4_delayed, link)
	if (at->due_ns <= op->due_ns)
		break;
	if (at)
		TAILQ_INSERT_AFTER(&srv->delayed, at, op, link);
	else
		TAILQ_INSERT_HEAD(&srv->delayed, op, link);
	ends = op->be.v4.cancelled && !nfs4_task_asks_on_locked(op);
	if (!at || ends)
		pthread_cond_signal(&srv->wake);
	if (ends) {
		TAILQ_REMOVE(&srv->delayed, op, link);
		nfs4_task_end_later_locked(srv, op, -EINTR);
	}
	mutex_unlock(&srv->slots.lock);
}

struct nfs_op *nfs4_task_due_locked(struct nfs4_server *srv, uint64_t now)
{
	struct nfs_op *op = TAILQ_FIRST(&srv->delayed);

	if (!op || op->due_ns > now)
		return NULL;
	TAILQ_REMOVE(&srv->delayed, op, link);
	nfs4_task_state_locked(op, NFS4_T_DUE);
	return op;
}

void nfs4_task_cancel_locked(struct nfs_op *op)
{
	struct nfs4_server *srv = nfs4_task_server(op);

	if (op->be.v4.cancelled)
		return;
	op->be.v4.cancelled = true;
	if (nfs4_task_asks_on_locked(op))
		return;
	if (nfs4_task_step(op, NFS4_T_SENDING, NFS4_T_ABORTED))
		return;
	switch ((enum nfs4_task_state)atomic_load_explicit(
		&op->be.v4.state, memory_order_acquire)) {
	case NFS4_T_QUEUED:
		TAILQ_REMOVE(&srv->slots.waiting, op, link);
		nfs4_task_end_later_locked(srv, op, -EINTR);
		break;
	case NFS4_T_DELAYED:
		TAILQ_REMOVE(&srv->delayed, op, link);
		nfs4_task_end_later_locked(srv, op, -EINTR);
		break;
	case NFS4_T_SENT:
		if (task_may_come_late(op))
			rpc_call_withdraw(&op->call);
		else
			rpc_call_cancel(&op->call);
		break;
	case NFS4_T_NEW:
	case NFS4_T_DUE:
	case NFS4_T_SENDING:
	case NFS4_T_ABORTED:
	case NFS4_T_ENDING:
	case NFS4_T_AWAY:
		break; /* a later start sees the flag */
	}
}

void nfs4_task_abandon(struct nfs4_server *srv, const struct nfs4_user *u)
{
	mutex_lock(&srv->slots.lock);
	for (uint32_t i = 0; i < NFS4_MAX_SLOTS; i++) {
		struct nfs_op *op = srv->slots.slot[i].op;

		if (!op || op->be.v4.user != u)
			continue;
		nfs4_task_cancel_locked(op);
		if (atomic_load_explicit(&op->be.v4.state, memory_order_acquire) == NFS4_T_SENT)
			rpc_call_cancel(&op->call);
	}
	mutex_unlock(&srv->slots.lock);
}

static struct nfs_op *first_of(struct nfs_op *op, const struct nfs4_user *u)
{
	while (op && u && op->be.v4.user != u)
		op = TAILQ_NEXT(op, link);
	return op;
}

void nfs4_task_fail_queued(struct nfs4_server *srv, const struct nfs4_user *u)
{
	struct nfs_op *op;

	mutex_lock(&srv->slots.lock);
	while ((op = first_of(TAILQ_FIRST(&srv->slots.waiting), u))) {
		TAILQ_REMOVE(&srv->slots.waiting, op, link);
		nfs4_task_end_later_locked(srv, op, -ENOTCONN);
	}
	while ((op = first_of(TAILQ_FIRST(&srv->delayed), u))) {
		TAILQ_REMOVE(&srv->delayed, op, link);
		nfs4_task_end_later_locked(srv, op, -ENOTCONN);
	}
	mutex_unlock(&srv->slots.lock);
	nfs4_task_pump(srv);
}

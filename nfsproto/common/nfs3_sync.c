/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_sync: one blocking call, for mounting, unmounting and locking.
 */
#include "nfsproto/common/nfs3_sync.h"

#include <errno.h>
#include <string.h>

#include "transport/clock.h"

#define ARGS_ROOM 2560
#define LOOK_NS	  (100 * NSEC_PER_MSEC)

static void sync_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct nfs3_sync *s = call->ctx;

	if (!error && (s->get(s, res) || !xdr_in_done(res)))
		error = -EBADMSG;
	mutex_lock(&s->lock);
	s->error = error;
	s->ended = true;
	pthread_cond_signal(&s->cond);
	mutex_unlock(&s->lock);
}

static bool stopped(const struct nfs3_sync *s)
{
	return s->stop && atomic_load_explicit(s->stop, memory_order_relaxed);
}

/* Waits for the end of the call, or until `until`, or until s is to stop. False: the time is
 * over. */
static bool sync_wait(struct nfs3_sync *s, uint64_t until)
{
	uint64_t now = clock_ns();

	mutex_lock(&s->lock);
	for (; !s->ended && !stopped(s) && now < until; now = clock_ns()) {
		uint64_t next = s->stop && until - now > LOOK_NS ? now + LOOK_NS : until;
		struct timespec t = clock_timespec(next);

		cond_timedwait(&s->cond, &s->lock, &t);
		if (s->look && !s->ended) {
			mutex_unlock(&s->lock);
			s->look(s);
			mutex_lock(&s->lock);
		}
	}
	mutex_unlock(&s->lock);
	return now < until;
}

/* Cancels the call unless it has ended, and waits for its end. */
static void sync_end(struct nfs3_sync *s)
{
	mutex_lock(&s->lock);
	if (!s->ended) {
		/* The call cannot end meanwhile: its done waits for the lock. */
		rpc_call_cancel(&s->call);
		while (!s->ended)
			cond_wait(&s->cond, &s->lock);
	}
	mutex_unlock(&s->lock);
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

int nfs3_sync_call(struct nfs3_sync *s, struct rpc_client *rpc, const struct rpc_cred *cred,
	uint32_t proc, void (*put)(struct nfs3_sync *s, struct xdr_out *x), uint32_t reply_max,
	unsigned ms)
{
	bool in_time = true;
	int rc;

	s->error = rpc_call_init(&s->call, rpc, ARGS_ROOM);
	if (s->error)
		return s->error;
	mutex_init(&s->lock);
	s->ended = false;
	clock_cond_init(&s->cond);

	s->call.proc = proc;
	s->call.cred = *cred;
	s->call.done = sync_done;
	s->call.ctx = s;
	s->call.reply_max = reply_max;
	put(s, &s->call.args);
	rc = rpc_call_submit(&s->call); /* s->error is sync_done()'s from here on */
	if (rc) {
		s->error = rc;
	} else {
		in_time = sync_wait(s, clock_ns() + ms * NSEC_PER_MSEC);
		sync_end(s);
	}
	rpc_call_finish(&s->call);
	pthread_cond_destroy(&s->cond);
	mutex_destroy(&s->lock);
	s->error = s->error ? nfs3_rpc_error(&s->call, s->error) : 0;
	if (!in_time && s->error == -EINTR)
		s->error = -ETIMEDOUT;
	return s->error;
}

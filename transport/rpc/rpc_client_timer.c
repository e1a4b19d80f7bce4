/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client_timer: a client's actions after a time: overdue calls, and calls to be sent again
 * after a pause.
 *
 * An overdue call counts a time-out. The connection is shut down, and all calls under way are sent
 * again over another. A soft client gives a call up after `retrans` time-outs of the call. A call
 * answered SYSTEM_ERR goes back to WAIT with a pause that doubles, and is sent again on the same
 * connection. So does a call that waits for another credential, or for memory to wrap.
 */
#include "transport/rpc/rpc_client_timer.h"

#include <errno.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpc/rpc_client_calls.h"

#define TICK_MIN_MS	5
#define TICK_MAX_MS	1000
#define SILENCE_TICK_MS 125  /* of a client with paths: with calls, */
#define IDLE_TICK_MS	500  /* without, */
#define REST_AFTER_MS	5000 /* and for so long without calls, before it rests */
#define AGAIN_MIN_MS	20
#define AGAIN_MAX_MS	1000
#define AGAIN_END_MS	300000
#define REJECTED_MAX                                                                               \
	2 /* credentials of one call that a server may reject, and another is tried                \
	   */

/* Counts a time-out; picks a call after its last time-out. */
static bool want_given_up(struct rpc_client *c, struct rpc_call *call, uint64_t now)
{
	if (call->deadline_ns > now)
		return false;
	call->resends++;
	rpc_count(&c->stats.timeouts, 1);
	rpc_call_arm(call, now, c->p.timeo_ms);
	return c->p.soft && call->resends >= (c->p.retrans ? c->p.retrans : 1);
}

void client_not_responding(struct rpc_client *c)
{
	if (c->p.paths && rpc_paths_other_up(c->p.paths, c))
		return;
	if (atomic_exchange(client_silent(c), true))
		return;
	if (c->p.answers)
		c->p.answers(c->p.ctx, false);
	else if (c->p.soft)
		log_always_info("server %s not responding", c->peer_name);
	else
		log_always_info("server %s not responding, still trying", c->peer_name);
}

void client_not_connected(struct rpc_client *c)
{
	const struct err *e = &c->connector.err;

	if (e->kind == ERR_INTERNAL && !c->told_own_fault) {
		c->told_own_fault = true;
		log_always_warn("server %s: no connection can be made: %s", c->peer_name, e->msg);
	}
	client_not_responding(c);
}

int client_tick_ms(struct rpc_client *c)
{
	unsigned ms, max;

	mutex_lock(&c->table.lock);
	max = rpc_table_count(&c->table) ? TICK_MAX_MS : RPC_IDLE_TICK_MAX_MS;
	ms = rpc_table_count(&c->table) ? c->min_timeout_ms / 8 : c->min_timeout_ms / 2;
	mutex_unlock(&c->table.lock);
	return ms < TICK_MIN_MS ? TICK_MIN_MS : ms > max ? max : ms;
}

/* A sender does not wake the thread. So the thread sleeps for short times, to see soon that calls
 * wait, until there have been no calls for a while. Then it rests, and the first call wakes it. */
int client_sleep_ms(struct rpc_client *c)
{
	unsigned ms = (unsigned)client_tick_ms(c), most = SILENCE_TICK_MS;
	uint64_t now;

	if (!c->p.paths)
		return (int)ms;
	now = clock_coarse_ns();
	mutex_lock(&c->table.lock);
	if (rpc_table_count(&c->table)) {
		c->idle_since = 0;
	} else {
		c->idle_since = c->idle_since ? c->idle_since : now;
		c->rests = clock_age(now, c->idle_since) > REST_AFTER_MS * NSEC_PER_MSEC;
		most = c->rests ? ms : IDLE_TICK_MS;
	}
	mutex_unlock(&c->table.lock);
	return (int)(ms < most ? ms : most);
}

static unsigned client_lease(struct rpc_client *c)
{
	unsigned s;

	mutex_lock(&c->table.lock);
	s = c->lease_s;
	mutex_unlock(&c->table.lock);
	return s;
}

void client_check_timers(struct rpc_client *c)
{
	uint64_t now = clock_coarse_ns(), before;
	struct rpc_call *call;
	struct rpc_xprt *x = client_xprt(c);
	uint32_t at = 0;

	if (now < c->next_check)
		return;
	c->next_check = now + client_tick_ms(c) / 2 * NSEC_PER_MSEC;
	before = atomic_load_explicit(&c->stats.timeouts, memory_order_relaxed);
	while ((call = client_pick(c, &at, want_given_up, now)))
		client_fail(c, call, -ETIMEDOUT);
	if (atomic_load_explicit(&c->stats.timeouts, memory_order_relaxed) == before)
		return;
	client_not_responding(c);
	if (x) {
		log_ctrl("server %s: a call timed out, closing the connection", c->peer_name);
		x->ops->shutdown(x);
	}
}

static int tcp_fd(struct rpc_xprt *x)
{
	return x->ops->tcp_fd ? x->ops->tcp_fd(x) : -1;
}

void client_check_silence(struct rpc_client *c)
{
	struct rpc_xprt *x = client_xprt(c);
	int fd = c->p.paths && x ? tcp_fd(x) : -1;

	if (fd < 0)
		return;
	if (!rpc_table_count(&c->table)) {
		if (silence_rest(&c->silence))
			x->ops->lease(x, client_lease(c));
		return;
	}
	if (!silence_lasts(&c->silence, fd, clock_coarse_ns(), RPC_SILENT_MS) ||
		!rpc_paths_other_up(c->p.paths, c))
		return;
	log_ctrl("server %s: silent, closing the connection: another is up", c->peer_name);
	x->ops->shutdown(x);
}

/* For how long a call may be asked again. */
static uint64_t again_ns(const struct rpc_client *c, const struct rpc_call *call)
{
	uint64_t ms = call->timeout_ms ? call->timeout_ms : c->p.timeo_ms;

	if (!c->p.soft || !ms)
		return AGAIN_END_MS * NSEC_PER_MSEC;
	return ms * (c->p.retrans ? c->p.retrans : 1) * NSEC_PER_MSEC;
}

/* Has call sent again after a pause, unless the client has tried for long enough. */
static bool put_off(struct rpc_client *c, struct rpc_call *call)
{
	uint64_t now = clock_coarse_ns();

	if (!call->again_end_ns)
		call->again_end_ns = now + again_ns(c, call);
	if (now >= call->again_end_ns)
		return false;
	call->again_ms = call->again_ms ? call->again_ms * 2 : AGAIN_MIN_MS;
	if (call->again_ms > AGAIN_MAX_MS)
		call->again_ms = AGAIN_MAX_MS;
	mutex_lock(&c->table.lock);
	rpc_table_quiesce_locked(&c->table);
	call->state = RPC_CALL_WAIT;
	atomic_store_explicit(&call->posted, false, memory_order_relaxed);
	call->again_ns = now + call->again_ms * NSEC_PER_MSEC;
	rpc_call_arm(call, call->again_ns, c->p.timeo_ms);
	if (!c->again_at || call->again_ns < c->again_at)
		c->again_at = call->again_ns;
	mutex_unlock(&c->table.lock);
	return true;
}

/* Asks for another credential. True: call is sent again. */
static bool refresh(struct rpc_client *c, struct rpc_call *call)
{
	struct rpc_auth *a = rpc_auth_of(call);
	int rc = a->ops->refresh ? a->ops->refresh(a, call) : -EACCES;

	return (rc == 0 || rc == -EAGAIN) && put_off(c, call);
}

bool client_ask_again(struct rpc_client *c, struct rpc_call *call, const struct rpc_reply_hdr *h)
{
	if (h->stat == RPC_SYSTEM_ERR) {
		if (c->p.soft || !put_off(c, call))
			return false;
		if (call->again_ms == AGAIN_MIN_MS)
			log_ctrl("server %s is short of something, asking again", c->peer_name);
		return true;
	}
	if (!h->auth_stat || h->auth_stat == RPC_AUTH_INVALIDRESP || call->rejected == REJECTED_MAX)
		return false;
	call->rejected++;
	call->auth_stat = h->auth_stat;
	return refresh(c, call);
}

void client_unsent(struct rpc_client *c, struct rpc_call *call)
{
	int rc = call->unsent;

	call->unsent = 0;
	call->auth_stat = 0;
	if (rc == -EAGAIN && refresh(c, call))
		return;
	if (rc == -ENOMEM && put_off(c, call))
		return;
	log_ctrl("server %s: a call was not sent: %s", c->peer_name, strerror(-rc));
	client_fail(c, call, rc == -EAGAIN ? -EACCES : rc == -EMSGSIZE ? -EIO : rc);
}

int client_send_again(struct rpc_client *c, int max)
{
	uint64_t now = clock_coarse_ns(), next = 0;
	struct rpc_call *call;
	uint32_t at = 0;

	if (!c->again_at)
		return max;
	if (now >= c->again_at) {
		mutex_lock(&c->table.lock);
		rpc_table_quiesce_locked(&c->table);
		while ((call = rpc_table_next_locked(&c->table, &at))) {
			if (call->state != RPC_CALL_WAIT || !call->again_ns)
				continue;
			if (call->again_ns > now) {
				if (!next || call->again_ns < next)
					next = call->again_ns;
				continue;
			}
			call->state = RPC_CALL_SENT;
			call->again_ns = 0;
			mutex_unlock(&c->table.lock);
			client_transmit(c, client_xprt(c), call);
			mutex_lock(&c->table.lock);
		}
		mutex_unlock(&c->table.lock);
		c->again_at = next;
		if (!next)
			return max;
	}
	next = (c->again_at - now) / NSEC_PER_MSEC + 1;
	return next < (unsigned)max ? (int)next : max;
}

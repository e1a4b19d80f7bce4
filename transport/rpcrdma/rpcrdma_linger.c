/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_linger: calls that nobody waits for (rpc_call.patient).
 *
 * A message costs its sender a system call and the peer a wake-up, and so does the answer. A call
 * that nobody waits for is left with the provider under PROV_MORE: the next message takes it along.
 * If none follows it leaves after RPCRDMA_LINGER_MS, which the progress thread sees to.
 *
 * To wake that thread would cost what is saved. So whoever leaves a call there must find it awake,
 * or asleep for no longer than that. It sleeps so briefly for BRIEF_SLEEPS sleeps after the last
 * such call, and longer when no such call lingers; who finds it sound asleep sends at once.
 *
 * linger_ns is when the oldest call was left, 0: none is. It and sound_asleep are written by one
 * side and read by the other in opposite order, so one of the two sees the other. A message that
 * leaves without PROV_MORE takes all along that was posted before, so linger_ns is cleared before
 * it is posted; a call that is left meanwhile may be flushed for nothing, but never forgotten.
 */
#include "transport/clock.h"
#include "transport/rpcrdma/rpcrdma_conn.h"

#define LINGER_NS    (RPCRDMA_LINGER_MS * NSEC_PER_MSEC)
#define BRIEF_SLEEPS 16

static void send_now(struct rpcrdma_conn *c)
{
	atomic_store(&c->linger_ns, 0);
	c->prov->flush(c->pc);
}

bool rpcrdma_may_linger(struct rpcrdma_conn *c, bool patient)
{
	if (patient && c->prov->flush)
		return true;
	if (atomic_load_explicit(&c->linger_ns, memory_order_relaxed))
		atomic_store(&c->linger_ns, 0);
	return false;
}

void rpcrdma_linger(struct rpcrdma_conn *c)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&c->linger_ns, &none, clock_ns());
	atomic_store_explicit(&c->lingered, true, memory_order_relaxed);
	if (atomic_load(&c->sound_asleep))
		send_now(c);
}

void rpcrdma_linger_look(struct rpcrdma_conn *c)
{
	uint64_t since = atomic_load_explicit(&c->linger_ns, memory_order_relaxed);

	if (since && clock_age(clock_ns(), since) >= LINGER_NS)
		send_now(c);
}

void rpcrdma_linger_end(struct rpcrdma_conn *c)
{
	if (atomic_load(&c->linger_ns))
		send_now(c);
}

void rpcrdma_sleep(struct rpcrdma_conn *c, int kick_fd, int timeout_ms)
{
	bool brief;

	if (atomic_load_explicit(&c->lingered, memory_order_relaxed)) {
		atomic_store_explicit(&c->lingered, false, memory_order_relaxed);
		c->brief = BRIEF_SLEEPS;
	}
	brief = c->brief > 0;
	c->brief -= brief;
	if (!brief) {
		atomic_store(&c->sound_asleep, true);
		brief = atomic_load(&c->linger_ns) != 0;
	}
	if (brief && (timeout_ms < 0 || timeout_ms > RPCRDMA_LINGER_MS))
		timeout_ms = RPCRDMA_LINGER_MS;
	c->prov->wait(c->pc, kick_fd, timeout_ms);
	atomic_store_explicit(&c->sound_asleep, false, memory_order_relaxed);
}

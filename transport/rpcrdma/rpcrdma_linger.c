/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_linger: patient calls, without a waiting thread (rpc_call.patient).
 *
 * A message costs the sender a system call and the peer a wake-up, and so does the answer. A
 * patient call stays with the provider under PROV_MORE, and the next message takes the call along.
 * If no message follows within RPCRDMA_LINGER_MS, the progress thread sends the call.
 *
 * Waking the progress thread would cost as much as the wait saves. So a call may stay only if the
 * progress thread is awake, or sleeps no longer than RPCRDMA_LINGER_MS. The progress thread sleeps
 * so briefly for BRIEF_SLEEPS sleeps after the last patient call, and then longer if no call stays.
 * A caller that finds the progress thread sound asleep sends at once.
 *
 * since_ns (rpcrdma_linger_state.h) is when the oldest call that stays was posted, 0: no call
 * stays. A caller writes since_ns, then reads sound_asleep; the progress thread writes
 * sound_asleep, then reads since_ns. So one of the two threads sees the other. A message that
 * leaves without PROV_MORE takes along all calls posted before. So the sender clears since_ns
 * before the post: a call posted meanwhile may be flushed for nothing, but is never forgotten.
 */
#include "transport/rpcrdma/rpcrdma_linger.h"

#include "transport/clock.h"

#define LINGER_NS    (RPCRDMA_LINGER_MS * NSEC_PER_MSEC)
#define BRIEF_SLEEPS 16

static void send_now(struct rpcrdma_conn *c)
{
	atomic_store(&c->linger.since_ns, 0);
	c->prov->flush(c->pc);
}

bool rpcrdma_may_linger(struct rpcrdma_conn *c, bool patient)
{
	if (patient && c->prov->flush)
		return true;
	if (atomic_load_explicit(&c->linger.since_ns, memory_order_relaxed))
		atomic_store(&c->linger.since_ns, 0);
	return false;
}

void rpcrdma_linger(struct rpcrdma_conn *c)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&c->linger.since_ns, &none, clock_ns());
	atomic_store_explicit(&c->linger.lingered, true, memory_order_relaxed);
	if (atomic_load(&c->linger.sound_asleep))
		send_now(c);
}

void rpcrdma_linger_look(struct rpcrdma_conn *c)
{
	uint64_t since = atomic_load_explicit(&c->linger.since_ns, memory_order_relaxed);

	if (since && clock_age(clock_ns(), since) >= LINGER_NS)
		send_now(c);
}

void rpcrdma_linger_end(struct rpcrdma_conn *c)
{
	if (atomic_load(&c->linger.since_ns))
		send_now(c);
}

void rpcrdma_sleep(struct rpcrdma_conn *c, int kick_fd, int timeout_ms)
{
	bool brief;

	if (atomic_load_explicit(&c->linger.lingered, memory_order_relaxed)) {
		atomic_store_explicit(&c->linger.lingered, false, memory_order_relaxed);
		c->linger.brief = BRIEF_SLEEPS;
	}
	brief = c->linger.brief > 0;
	c->linger.brief -= brief;
	if (!brief) {
		atomic_store(&c->linger.sound_asleep, true);
		brief = atomic_load(&c->linger.since_ns) != 0;
	}
	if (brief && (timeout_ms < 0 || timeout_ms > RPCRDMA_LINGER_MS))
		timeout_ms = RPCRDMA_LINGER_MS;
	c->prov->wait(c->pc, kick_fd, timeout_ms);
	atomic_store_explicit(&c->linger.sound_asleep, false, memory_order_relaxed);
}

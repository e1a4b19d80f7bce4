/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * acks: the acknowledgements of the peer, as an end knows them. The acknowledgements bear on
 * TCP_INFO alone: a run leaves the send buffer as soon as the run has arrived.
 */
#include <linux/tcp.h>
#include <string.h>

#include "tests/simulation/network_impl.h"
#include "tests/simulation/sched.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The least delay of a packet. No choice is taken for a packet without data. */
static uint64_t delay(struct end *e)
{
	return network.delay_ns + e->host->delay_ns + end_other(e)->host->delay_ns;
}

/* Does a packet that e sends at the time t get an answer? */
static bool is_answered(struct end *e, uint64_t t)
{
	struct end *to = end_other(e);

	return connection_quiet_until(e) <= t && connection_quiet_until(to) <= t && !to->gone &&
	       !connection_is_silent(to);
}

void acks_begin(struct end *e, uint64_t t)
{
	end_flow(e)->ack_at = t + delay(e);
}

static void settle_ack(struct end *e)
{
	struct flow *f = end_flow(e);
	uint64_t quiet = connection_quiet_until(end_other(e));

	if (!f->ack_at || f->ack_at > sched_now() || quiet > sched_now())
		return;
	e->acked = later(e->acked, later(f->ack_at, quiet));
	f->ack_at = 0;
}

/* As the keep-alive timer of Linux. */
static void settle_probes(struct end *e)
{
	struct probes *p = &e->probes;
	const struct tuning *t = e->tuning;

	for (;;) {
		if (p->answer_at && p->answer_at <= sched_now()) {
			e->acked = later(e->acked, p->answer_at);
			p->answer_at = 0;
		}
		if (later(e->heard, e->acked) >= p->last_at)
			p->sent = 0;
		if (!p->sent)
			p->next_at = later(
				p->next_at, later(e->heard, e->acked) + t->keep_idle_s * SEC_NS);
		if (p->next_at > sched_now())
			return;
		if (!STAILQ_EMPTY(&end_flow(e)->way) || end_flow(e)->ack_at) {
			p->next_at += t->keep_idle_s * SEC_NS;
			continue;
		}
		p->sent++;
		p->last_at = p->next_at;
		if (is_answered(e, p->next_at))
			p->answer_at = p->next_at + 2 * delay(e);
		p->next_at += t->keep_interval_s * SEC_NS;
	}
}

void acks_settle(struct end *e)
{
	if (e->closed)
		return;
	settle_ack(e);
	if (e->tuning && e->tuning->keepalive)
		settle_probes(e);
}

void acks_retune(struct end *e)
{
	e->probes.next_at = sched_now();
}

static void tell(struct end *e, struct tcp_info *i)
{
	struct flow *f = end_flow(e);
	struct end *to = end_other(e);
	uint64_t heard = later(e->heard, e->acked);
	bool full = to->unread >= network.window || f->stalled_until > sched_now();
	struct run *r;

	i->tcpi_probes = (uint8_t)e->probes.sent;
	i->tcpi_unacked = f->ack_at != 0;
	i->tcpi_snd_wnd = full ? 0 : (uint32_t)(network.window - to->unread);
	if (!full) {
		STAILQ_FOREACH (r, &f->way, link)
			i->tcpi_unacked++;
	} else if (f->under_way) { /* probes of the window leave instead */
		i->tcpi_notsent_bytes = (uint32_t)f->under_way;
		if (is_answered(e, sched_now()))
			heard = sched_now();
		else
			i->tcpi_probes++;
	}
	i->tcpi_last_ack_recv = (uint32_t)((sched_now() - heard) / MSEC_NS);
}

socklen_t acks_info(struct socket *s, int state, unsigned mss, void *value, socklen_t len)
{
	struct tcp_info i = {.tcpi_state = (uint8_t)state, .tcpi_snd_mss = mss};

	if (s->state == SOCKET_CONNECTED)
		tell(s->end, &i);
	len = len < sizeof(i) ? len : sizeof(i);
	memcpy(value, &i, len);
	return len;
}

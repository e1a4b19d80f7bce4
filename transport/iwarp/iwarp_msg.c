/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp: the rules for a segment, and the end of a message. Progress thread only.
 *
 * iwarp_msg_begin() runs after a header has come in and before a byte of payload is placed. It
 * checks every rule about memory that a peer can break, so payload only goes to a permitted place.
 * That is an open door (RDMA Write; nowhere, if its call was cancelled), the sink of our oldest
 * read (Read Response), the oldest posted receive (Send), or rx->small (control messages).
 * iwarp_msg_end() runs when the segment is in and its CRC was right.
 */
#include "transport/iwarp/iwarp_msg.h"

#include "transport/iwarp/iwarp_end.h"
#include "transport/iwarp/iwarp_segment.h"
#include "transport/iwarp/iwarp_stag.h"
#include "transport/iwarp/iwarp_tx.h"
#include "transport/log.h"

static bool begin_write(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	struct iwarp_door d;
	bool found, ghost;

	if (!rx->pay)
		return true; /* RFC 5041 section 7.1: no checks for a segment without payload */
	found = iwarp_stags_write(&c->stags, rx->h.stag, rx->h.to, rx->pay, &d);
	ghost = !found && iwarp_stags_find_ghost(&c->stags, rx->h.stag, &d);
	if (!found && !ghost) {
		iwarp_terminate(
			c, DDP_ERR_STAG, "RDMA Write to STag %08x, which is not open", rx->h.stag);
		return false;
	}
	if (!(d.access & PROV_REMOTE_WRITE)) {
		iwarp_terminate(c, RDMAP_ERR_ACCESS,
			"RDMA Write to STag %08x, which is open for reading only", rx->h.stag);
		return false;
	}
	if (rx->h.to > UINT64_MAX - rx->pay) {
		iwarp_terminate(c, DDP_ERR_WRAP, "RDMA Write of %u bytes at offset %#llx", rx->pay,
			(unsigned long long)rx->h.to);
		return false;
	}
	if (rx->h.to > d.len || rx->pay > d.len - rx->h.to) {
		iwarp_terminate(c, DDP_ERR_BOUNDS, "RDMA Write of %u bytes at offset %llu of %u",
			rx->pay, (unsigned long long)rx->h.to, d.len);
		return false;
	}
	if (!ghost) {
		rx->dst = d.addr + rx->h.to;
		return true;
	}
	if (!iwarp_stags_discard(&c->stags, rx->h.stag, rx->pay)) {
		iwarp_terminate(c, DDP_ERR_STAG,
			"RDMA Write to STag %08x of a cancelled call, again and again", rx->h.stag);
		return false;
	}
	return iwarp_segment_waste(c);
}

static bool begin_read_resp(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	struct iwarp_read r;

	if (!iwarp_tx_oldest_read(c, &r) || r.stag != rx->h.stag) {
		iwarp_terminate(c, DDP_ERR_STAG,
			"Read Response to STag %08x, which is not the oldest read's", rx->h.stag);
		return false;
	}
	if (rx->h.to != r.got || rx->pay > r.len - r.got) {
		iwarp_terminate(c, DDP_ERR_BOUNDS,
			"Read Response of %u bytes at offset %llu, %u of %u are in", rx->pay,
			(unsigned long long)rx->h.to, r.got, r.len);
		return false;
	}
	if (rx->h.last != (rx->pay == r.len - r.got)) {
		iwarp_terminate(c, RDMAP_ERR_STREAM_LOST, "Read Response ends at byte %u of %u",
			r.got + rx->pay, r.len);
		return false;
	}
	rx->dst = r.addr + r.got;
	return true;
}

/* The next message's number, on the queues of control messages one segment each. */
static bool check_order(struct iwarp_conn *c, uint32_t mo)
{
	struct iwarp_rx *rx = &c->rx;

	if (rx->h.msn != rx->msn[rx->h.qn]) {
		iwarp_terminate(c, DDP_ERR_MSN, "message %u on queue %u, expected %u", rx->h.msn,
			rx->h.qn, rx->msn[rx->h.qn]);
		return false;
	}
	if (rx->h.mo != mo) {
		iwarp_terminate(c, DDP_ERR_MO, "message offset %u on queue %u, expected %u",
			rx->h.mo, rx->h.qn, mo);
		return false;
	}
	return true;
}

static bool begin_send(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	unsigned head = atomic_load_explicit(&c->rq_head, memory_order_relaxed);
	const struct iwarp_recv *r;

	if (!check_order(c, rx->mo))
		return false;
	if (head == atomic_load_explicit(&c->rq_tail, memory_order_acquire)) {
		iwarp_terminate(c, DDP_ERR_NO_BUFFER, "Send %u finds no posted receive", rx->h.msn);
		return false;
	}
	if (rx->mo && rx->h.op != rx->send_op) {
		iwarp_terminate(c, RDMAP_ERR_OPCODE, "opcode changes from %u to %u inside Send %u",
			rx->send_op, rx->h.op, rx->h.msn);
		return false;
	}
	r = &c->rq[head % c->rq_cap];
	if (rx->pay > r->len - rx->mo) {
		iwarp_terminate(c, DDP_ERR_TOO_LONG,
			"Send of at least %llu bytes into a receive of %u",
			(unsigned long long)rx->mo + rx->pay, r->len);
		return false;
	}
	if (!rx->pay && !rx->h.last) {
		iwarp_terminate(
			c, RDMAP_ERR_UNSPECIFIED, "empty segment inside Send %u", rx->h.msn);
		return false;
	}
	rx->send_op = rx->h.op;
	rx->dst = r->addr + rx->mo;
	return true;
}

static bool begin_control(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	bool read = rx->h.qn == DDP_QN_READ_REQ;

	if (!check_order(c, 0))
		return false;
	if (!rx->h.last || (read ? rx->pay != DDP_READ_REQ_LEN : rx->pay > DDP_TERM_MAX)) {
		iwarp_terminate(c, DDP_ERR_TOO_LONG, "%s of %u bytes%s",
			read ? "Read Request" : "Terminate", rx->pay,
			rx->h.last ? "" : " and more");
		return false;
	}
	rx->dst = rx->small;
	return true;
}

bool iwarp_msg_begin(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	int err = ddp_check(&rx->h);

	if (err != DDP_OK) {
		iwarp_terminate(c, (unsigned)err,
			"segment with DDP version %u, RDMAP version %u, opcode %u, queue %u",
			rx->h.dv, rx->h.rv, rx->h.op, rx->h.qn);
		return false;
	}
	if (rx->h.tagged)
		return rx->h.op == DDP_OP_WRITE ? begin_write(c) : begin_read_resp(c);
	return rx->h.qn == DDP_QN_SEND ? begin_send(c) : begin_control(c);
}

static bool has_invalidate(unsigned op)
{
	return op == DDP_OP_SEND_INV || op == DDP_OP_SEND_SE_INV;
}

static enum iwarp_step end_send(struct iwarp_conn *c, struct prov_wc *wc)
{
	struct iwarp_rx *rx = &c->rx;
	unsigned head = atomic_load_explicit(&c->rq_head, memory_order_relaxed);
	const struct iwarp_recv *r = &c->rq[head % c->rq_cap];

	rx->mo += rx->pay;
	if (!rx->h.last)
		return IWARP_STEP_ON;
	*wc = (struct prov_wc){.op = PROV_WC_RECV, .cookie = r->cookie, .len = rx->mo};
	if (has_invalidate(rx->h.op) && iwarp_stags_close(&c->stags, rx->h.stag, 0)) {
		if (iwarp_tx_detach(c, rx->h.stag)) {
			iwarp_fail(c, "out of memory while a door of %s closes", c->peer);
			return IWARP_STEP_FAIL;
		}
		wc->invalidated = true;
		wc->inv_stag = rx->h.stag;
	} else if (has_invalidate(rx->h.op) && !iwarp_stags_bury(&c->stags, rx->h.stag)) {
		iwarp_terminate(c, RDMAP_ERR_INVALIDATE,
			"Send invalidates STag %08x, which is not open", rx->h.stag);
		return IWARP_STEP_FAIL;
	}
	atomic_store_explicit(&c->rq_head, head + 1, memory_order_release);
	rx->msn[DDP_QN_SEND]++;
	rx->mo = 0;
	return IWARP_STEP_WC;
}

static enum iwarp_step end_read_req(struct iwarp_conn *c)
{
	struct iwarp_rx *rx = &c->rx;
	struct iwarp_door d = {.addr = NULL};
	struct ddp_read_req q;

	rx->msn[DDP_QN_READ_REQ]++;
	ddp_get_read_req(rx->small, &q);
	if (q.size) {
		unsigned err = 0;

		if (!iwarp_stags_find(&c->stags, q.src_stag, &d))
			err = RDMAP_ERR_STAG;
		else if (!(d.access & PROV_REMOTE_READ))
			err = RDMAP_ERR_ACCESS;
		else if (q.src_to > UINT64_MAX - q.size || q.sink_to > UINT64_MAX - q.size)
			err = RDMAP_ERR_WRAP;
		else if (q.src_to > d.len || q.size > d.len - q.src_to)
			err = RDMAP_ERR_BOUNDS;
		if (err) {
			iwarp_terminate(c, err,
				"RDMA Read of %u bytes at offset %llu of STag %08x (%u bytes)",
				q.size, (unsigned long long)q.src_to, q.src_stag, d.len);
			return IWARP_STEP_FAIL;
		}
	}
	if (!iwarp_tx_read_resp(c, &q, q.size ? d.addr + q.src_to : NULL)) {
		iwarp_terminate(
			c, DDP_ERR_NO_BUFFER, "more than %u RDMA Reads under way", c->prov.ird);
		return IWARP_STEP_FAIL;
	}
	return IWARP_STEP_ON;
}

static enum iwarp_step end_read_resp(struct iwarp_conn *c, struct prov_wc *wc)
{
	struct iwarp_read r;

	if (!c->rx.h.last) {
		iwarp_tx_read_got(c, c->rx.pay);
		return IWARP_STEP_ON;
	}
	iwarp_tx_oldest_read(c, &r);
	iwarp_tx_read_done(c);
	*wc = (struct prov_wc){.op = PROV_WC_READ, .cookie = r.cookie, .len = r.len};
	return IWARP_STEP_WC;
}

static enum iwarp_step end_terminate(struct iwarp_conn *c)
{
	struct ddp_term t;

	if (ddp_get_term(c->rx.small, c->rx.pay, &t))
		iwarp_fail(c, "%s terminated the connection without a readable reason", c->peer);
	else
		iwarp_fail(c, "%s terminated the connection: %s (%04x)", c->peer,
			ddp_err_text(t.err), t.err);
	return IWARP_STEP_FAIL;
}

enum iwarp_step iwarp_msg_end(struct iwarp_conn *c, struct prov_wc *wc)
{
	struct iwarp_rx *rx = &c->rx;

	log_data("iwarp %s: received opcode %u, %u bytes%s", c->peer, rx->h.op, rx->pay,
		rx->h.last ? ", last" : "");
	if (__builtin_expect(iwarp_is_held(c), 0)) {
		/* RFC 5044 section 7.1.2 rule 4: the active side's first FPDU has come. */
		mutex_lock(&c->q_lock);
		c->held = false;
		mutex_unlock(&c->q_lock);
		c->flush_due = true;
	}
	if (rx->h.tagged)
		return rx->h.op == DDP_OP_WRITE ? IWARP_STEP_ON : end_read_resp(c, wc);
	switch (rx->h.qn) {
	case DDP_QN_SEND:
		return end_send(c, wc);
	case DDP_QN_READ_REQ:
		return end_read_req(c);
	default:
		return end_terminate(c);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/place/rpcrdma_group: messages of several transmissions, against a
 * peer that says every byte. (Two ends of ours: test-rpcrdma_place.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

#define HEAD	1024
#define PAGE	4096
#define CREDIT	(16 << 16 | 16)
#define PUT_LEN 52 /* of the message, without the data */

static const struct pair_params plain;
static uint8_t all[8 * PAGE];

/* --- calls -------------------------------------------------------------------------------------
 */

/* The first transmission of a PUT of len bytes, which are in these targets. This Send has `part`
 * bytes of the message, and pages of data behind. */
static void send_first(struct raw *r, uint32_t xid, uint32_t count, uint32_t len, unsigned n,
	const uint32_t *bsn, uint32_t part, unsigned pages)
{
	uint32_t w[HEAD / 4] = {
		xid, 2, CREDIT, RPCRDMA_XMT_REQ, 0, 1, 48, len, RPCRDMA_RTR_TBSN, 0, n};
	const uint32_t rpc[] = {RPC_CALL(xid, PAIR_PUT), 0x11, len, 0x22};
	unsigned k = 11;

	for (unsigned i = 0; i < n; i++)
		w[k++] = bsn[i];
	w[k++] = 0; /* no places */
	w[k++] = count;
	w[k++] = 1;
	w[k++] = part;
	memcpy(w + k, rpc, part);
	raw_send(r, w, HEAD / 4, all, (size_t)pages * PAGE);
}

/* Transmission number k, with `part` bytes of the message of a PUT from off on, and pages of data
 * from `from` on. */
static void send_next(struct raw *r, uint32_t xid, uint32_t begun, uint32_t k, uint32_t len,
	uint32_t off, uint32_t part, unsigned from, unsigned pages)
{
	uint32_t w[HEAD / 4] = {xid, 2, CREDIT, RPCRDMA_XMT_CONT, 0, k, begun, part};
	const uint32_t rpc[] = {RPC_CALL(xid, PAIR_PUT), 0x11, len, 0x22};

	if (part <= PUT_LEN)
		memcpy(w + 8, (const uint8_t *)rpc + off, part);
	raw_send(r, w, HEAD / 4, all + (size_t)from * PAGE, (size_t)pages * PAGE);
}

/* The next message is the Transmit Response to such a PUT. */
static void expect_put(struct raw *r, uint32_t xid, uint32_t len)
{
	raw_recv_next(r);
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 3), RPCRDMA_XMT_RESP);
	assert_int_equal(raw_word(r, 14), len);
	assert_int_equal(raw_word(r, 15), pair_sum(all, len));
}

static void start_responder(struct pair *p, struct raw *r)
{
	pair_pattern(all, sizeof(all), 3);
	pair_init_responder(p, &plain, r);
	RAW_SEND(r, 1, 2, CREDIT, 0, 0, 0, 0, 0, 0, RPC_CALL(1, PAIR_NULL));
	raw_recv_next(r);
}

/* The properties of a responder. */
static void a_responder_tells_its_limits(void **state)
{
	const uint32_t want[] = {RPCRDMA_PROP_RTR_OPS, 7, RPCRDMA_PROP_RTR_REQ_SENDS, 16,
		RPCRDMA_PROP_RTR_RESP_SENDS, 16};
	struct pair p;
	struct raw r;
	unsigned n;

	pair_init_responder(&p, &plain, &r);
	for (uint32_t xid = 1; xid < 3; xid++)
		RAW_SEND(&r, xid, 2, CREDIT, 0, 0, 0, 0, 0, 0, RPC_CALL(xid, PAIR_NULL));
	do
		assert_true(raw_recv(&r, NULL));
	while (raw_word(&r, 3) != RDMA_CONNPROP);
	for (unsigned i = 0; i < 6; i += 2) {
		for (n = 6; n < r.len / 4 - 2 && raw_word(&r, n) != want[i]; n++)
			;
		assert_int_equal(raw_word(&r, n), want[i]);
		assert_int_equal(raw_word(&r, n + 2), want[i + 1]);
	}
	raw_stop(&r, &p);
}

static void a_request_in_groups(void **state)
{
	struct pair p;
	struct raw r;

	start_responder(&p, &r);
	/* data in targets of each transmission: targets are numbered on from one transmission to
	 * the next */
	send_first(&r, 2, 3, 5 * PAGE - 1, 5, (uint32_t[]){0, 1, 17, 18, 34}, PUT_LEN, 2);
	send_next(&r, 2, 5, 1, 0, 0, 0, 2, 2);
	send_next(&r, 2, 5, 2, 0, 0, 0, 4, 1);
	expect_put(&r, 2, 5 * PAGE - 1);
	/* each transmission has a part of the message, too */
	send_first(&r, 3, 3, 3 * PAGE, 3, (uint32_t[]){0, 17, 34}, 20, 1);
	send_next(&r, 3, 1, 1, 3 * PAGE, 20, 24, 1, 1);
	send_next(&r, 3, RPCRDMA_XMT_REQ, 2, 3 * PAGE, 44, 8, 2, 1);
	expect_put(&r, 3, 3 * PAGE);
	/* no data in the second, and all data in the first */
	send_first(&r, 4, 3, 2 * PAGE, 2, (uint32_t[]){0, 1}, 40, 2);
	send_next(&r, 4, 5, 1, 2 * PAGE, 40, 0, 0, 0);
	send_next(&r, 4, 5, 2, 2 * PAGE, 40, 12, 0, 0);
	expect_put(&r, 4, 2 * PAGE);
	/* as many as there may be */
	send_first(&r, 5, 16, 2 * PAGE, 2, (uint32_t[]){0, 15 * 17}, PUT_LEN, 1);
	for (uint32_t k = 1; k < 16; k++)
		send_next(&r, 5, 5, k, 0, 0, 0, 1, k == 15);
	expect_put(&r, 5, 2 * PAGE);
	raw_stop(&r, &p);
}

/* Report Error of transmission `seq` with this XID, in the group of lead, 0: none. */
static void expect_report(struct raw *r, uint32_t xid, uint32_t seq, uint32_t lead, uint32_t err,
	uint32_t v0, uint32_t v1)
{
	unsigned n = 9;

	raw_recv_next(r);
	assert_int_equal(raw_word(r, 3), RPCRDMA_REPT_ERR);
	assert_int_equal(raw_word(r, 0), lead ? lead : xid);
	assert_int_equal(raw_word(r, 4), 1);
	assert_int_equal(raw_word(r, 5), xid);
	assert_int_equal(raw_word(r, 6), 0);
	assert_int_equal(raw_word(r, 7), seq);
	assert_int_equal(raw_word(r, 8), lead != 0);
	if (lead) {
		assert_int_equal(raw_word(r, n), lead);
		assert_int_equal(raw_word(r, n + 1), 0);
		assert_int_equal(raw_word(r, n + 2), 0);
		n += 3;
	}
	assert_int_equal(raw_word(r, n), err);
	if (err == RPCRDMA_RTR_BADCONT) {
		assert_int_equal(r->len, 4 * (n + 1));
		return;
	}
	assert_int_equal(raw_word(r, n + 1), v0);
	assert_int_equal(raw_word(r, n + 2), v1);
	assert_int_equal(
		r->len, 4 * (n + 3 + (err == RPCRDMA_RTR_BADPL || err == RPCRDMA_RTR_BADTBSN)));
}

static void what_a_group_does_wrong(void **state)
{
	const uint32_t bsn[] = {0, 17, 34};
	struct pair p;
	struct raw r;

	start_responder(&p, &r);
	/* too many; the rest of the group is dropped */
	send_first(&r, 10, 17, 3 * PAGE, 3, bsn, PUT_LEN, 1);
	expect_report(&r, 10, 0, 0, RPCRDMA_RTR_BADSEQ, 16, 17);
	send_next(&r, 10, 5, 1, 0, 0, 0, 1, 1);
	/* one transmission is left out, one repeated */
	send_first(&r, 11, 3, 3 * PAGE, 3, bsn, PUT_LEN, 1);
	send_next(&r, 11, 5, 2, 0, 0, 0, 2, 1);
	expect_report(&r, 11, 2, 11, RPCRDMA_RTR_BADSEQ, 1, 2);
	send_first(&r, 12, 3, 3 * PAGE, 3, bsn, PUT_LEN, 1);
	send_next(&r, 12, 5, 1, 0, 0, 0, 1, 1);
	send_next(&r, 12, 5, 1, 0, 0, 0, 1, 1);
	expect_report(&r, 12, 1, 12, RPCRDMA_RTR_BADSEQ, 2, 1);
	send_next(&r, 12, 5, 2, 0, 0, 0, 2, 1);
	/* of another */
	send_first(&r, 13, 3, 3 * PAGE, 3, bsn, PUT_LEN, 1);
	send_next(&r, 99, 5, 1, 0, 0, 0, 1, 1);
	expect_report(&r, 99, 1, 13, RPCRDMA_RTR_BADXID, 13, 99);
	/* begun otherwise */
	send_first(&r, 14, 3, 3 * PAGE, 3, bsn, PUT_LEN, 1);
	send_next(&r, 14, 6, 1, 0, 0, 0, 1, 1);
	expect_report(&r, 14, 1, 14, RPCRDMA_RTR_BADOMT, 5, 6);
	/* more of the message than has come */
	send_first(&r, 15, 3, 3 * PAGE, 3, bsn, PUT_LEN, 1);
	send_next(&r, 15, 5, 1, 0, 0, 9000, 1, 1);
	expect_report(&r, 15, 1, 15, RPCRDMA_RTR_BADPL, 9000, 0);
	/* a target behind the last */
	send_first(&r, 16, 2, 2 * PAGE, 2, (uint32_t[]){0, 34}, PUT_LEN, 1);
	send_next(&r, 16, 5, 1, 0, 0, 0, 1, 1);
	expect_report(&r, 16, 0, 0, RPCRDMA_RTR_BADTBSN, 34, 0);
	/* no group has begun */
	send_next(&r, 17, 5, 1, 0, 0, 0, 1, 1);
	expect_report(&r, 17, 1, 0, RPCRDMA_RTR_BADCONT, 0, 0);
	/* and the connection still works */
	send_first(&r, 18, 2, 2 * PAGE, 2, bsn, PUT_LEN, 1);
	send_next(&r, 18, 5, 1, 0, 0, 0, 1, 1);
	expect_put(&r, 18, 2 * PAGE);
	raw_stop(&r, &p);
}

/* A message in between is reported, and then served. */
static void what_comes_between(void **state)
{
	const uint32_t bsn[] = {0, 17};
	struct pair p;
	struct raw r;

	start_responder(&p, &r);
	send_first(&r, 20, 2, 2 * PAGE, 2, bsn, PUT_LEN, 1);
	RAW_SEND(&r, 21, 2, CREDIT, 0, 0, 0, 0, 0, 0, RPC_CALL(21, PAIR_NULL));
	expect_report(&r, 21, 0, 20, RPCRDMA_RTR_BADHMT, RPCRDMA_XMT_CONT, RDMA_MSG);
	raw_recv_next(&r);
	assert_int_equal(raw_word(&r, 0), 21);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	send_next(&r, 20, 5, 1, 0, 0, 0, 1, 1); /* the group comes to nothing */
	send_first(&r, 22, 2, 2 * PAGE, 2, bsn, PUT_LEN, 1);
	send_first(&r, 23, 1, PAGE, 1, bsn, PUT_LEN, 1);
	expect_report(&r, 23, 0, 22, RPCRDMA_RTR_BADOMT, RPCRDMA_XMT_CONT, RPCRDMA_XMT_REQ);
	expect_put(&r, 23, PAGE);
	/* credits, properties and errors may come between */
	send_first(&r, 24, 2, 2 * PAGE, 2, bsn, PUT_LEN, 1);
	RAW_SEND(&r, 0, 2, CREDIT, RDMA_NOMSG, 0, 0, 0, 0, 0);
	RAW_SEND(&r, 0, 2, CREDIT, RDMA_CONNPROP, 0, 0);
	RAW_SEND(&r, 77, 2, CREDIT, RDMA_ERROR, 1, RDMA_ERR_INVAL_HTYPE);
	send_next(&r, 24, 5, 1, 0, 0, 0, 1, 1);
	expect_put(&r, 24, 2 * PAGE);
	/* a header that cannot be read, of the group and of another */
	send_first(&r, 25, 2, 2 * PAGE, 2, bsn, PUT_LEN, 1);
	RAW_SEND(&r, 25, 2, CREDIT, RPCRDMA_XMT_CONT, 0, 1);
	raw_recv_next(&r);
	assert_int_equal(raw_word(&r, 0), 25);
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	send_first(&r, 26, 2, 2 * PAGE, 2, bsn, PUT_LEN, 1);
	RAW_SEND(&r, 27, 2, CREDIT, RPCRDMA_XMT_CONT, 0, 1);
	expect_report(&r, 27, 1, 26, RPCRDMA_RTR_BADHMT, RPCRDMA_XMT_CONT, RPCRDMA_XMT_CONT);
	raw_recv_next(&r);
	assert_int_equal(raw_word(&r, 0), 27);
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	raw_stop(&r, &p);
}

/* The connection ends in the middle of a group: no memory is left (pair_finish() looks). */
static void a_group_is_cut_off(void **state)
{
	struct pair p;
	struct raw r;

	start_responder(&p, &r);
	send_first(&r, 30, 3, 3 * PAGE, 3, (uint32_t[]){0, 17, 34}, PUT_LEN, 1);
	send_next(&r, 30, 5, 1, 0, 0, 0, 1, 1);
	raw_stop(&r, &p);
}

/* --- replies -----------------------------------------------------------------------------------
 */

/* Tells that replies may come in receive buffers with a head of 512 bytes and a page. */
static void tell_responder(struct raw *r, uint32_t ops)
{
	RAW_SEND(r, 0, 2, CREDIT, RDMA_CONNPROP, 0, 3, RPCRDMA_PROP_RECV_SIZE, 4, 8192,
		RPCRDMA_PROP_RTR_OPS, 4, ops, RPCRDMA_PROP_RTR_LAYOUT, 40, 512 + PAGE, 2, 1, 512, 4,
		0, 1, PAGE, PAGE, 1);
}

/* Sends a GET of len bytes. The reply may take this many transmissions. */
static void send_get(struct raw *r, uint32_t xid, uint32_t len, uint32_t reserved)
{
	RAW_SEND(r, xid, 2, CREDIT, RPCRDMA_XMT_REQ, 0, 0, 1, 0, 44, 1, 0, RPCRDMA_RTR_TBSN, 1,
		reserved, 44, RPC_CALL(xid, PAIR_GET), len);
}

/* The next messages are the reply, of n transmissions, with a page of data in each. */
static void expect_get(struct raw *r, uint32_t xid, uint32_t len, uint32_t n)
{
	uint8_t want[4 * PAGE];

	pair_pattern(want, len, 5);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t part = k < n - 1 ? PAGE : len - k * PAGE;

		raw_recv_next(r);
		assert_int_equal(raw_word(r, 0), xid);
		assert_int_equal(raw_word(r, 4), 1);
		if (!k) {
			assert_int_equal(raw_word(r, 3), RPCRDMA_XMT_RESP);
			assert_int_equal(raw_word(r, 7), len);
			assert_int_equal(raw_word(r, 8), RPCRDMA_RTR_TBSN);
			assert_int_equal(raw_word(r, 10), n);
			for (uint32_t i = 0; i < n; i++)
				assert_int_equal(raw_word(r, 11 + i), i);
			assert_int_equal(raw_word(r, 11 + n), n);
		} else {
			assert_int_equal(raw_word(r, 3), RPCRDMA_XMT_CONT);
			assert_int_equal(raw_word(r, 5), k);
			assert_int_equal(raw_word(r, 6), 6);
			assert_int_equal(raw_word(r, 7), 0);
			for (unsigned i = 32; i < 512; i++)
				assert_int_equal(r->msg[i], 0);
		}
		assert_int_equal(r->len, 512 + part);
		assert_memory_equal(r->msg + 512, want + (size_t)k * PAGE, part);
	}
}

static void a_reply_in_groups(void **state)
{
	struct pair p;
	struct raw r;

	start_responder(&p, &r);
	tell_responder(&r, 7);
	send_get(&r, 2, 3 * PAGE - 5, 3);
	expect_get(&r, 2, 3 * PAGE - 5, 3);
	send_get(&r, 3, PAGE + 1, 1000);
	expect_get(&r, 3, PAGE + 1, 2);
	/* a reply beyond the reserved size goes elsewhere: here into the message */
	send_get(&r, 4, PAGE + 1, 1);
	raw_recv_next(&r);
	assert_int_equal(raw_word(&r, 3), RPCRDMA_XMT_RESP);
	assert_int_equal(raw_word(&r, 8), RPCRDMA_RTR_TOOSHORT);
	assert_int_equal(raw_word(&r, 9), 1);
	raw_stop(&r, &p);
}

/* Grants n credits. */
static void grant(struct raw *r, uint32_t n)
{
	RAW_SEND(r, 0, 2, 32 << 16 | n, RDMA_NOMSG, 0, 0, 0, 0, 0);
}

/* The peer's credits end in the middle, and the replies behind wait as well, with their data. */
static void a_reply_waits_for_credits(void **state)
{
	struct pair p;
	struct raw r;

	start_responder(&p, &r);
	tell_responder(&r, 7);
	RAW_SEND(&r, 2, 2, 32 << 16 | 2, RPCRDMA_XMT_REQ, 0, 0, 1, 0, 44, 1, 0, RPCRDMA_RTR_TBSN, 1,
		16, 44, RPC_CALL(2, PAIR_GET), 4 * PAGE);
	RAW_SEND(&r, 3, 2, 32 << 16 | 0, RPCRDMA_XMT_REQ, 0, 0, 1, 0, 44, 1, 0, RPCRDMA_RTR_TBSN, 1,
		16, 44, RPC_CALL(3, PAIR_GET), 2 * PAGE);
	for (int i = 0; i < 1000 && p.served < 3; i++)
		raw_recv_within(&r, NULL, 0);
	grant(&r, 2);
	grant(&r, 2);
	grant(&r, 2);
	grant(&r, 2);
	expect_get(&r, 2, 4 * PAGE, 4);
	expect_get(&r, 3, 2 * PAGE, 2);
	raw_stop(&r, &p);
}

/* A lowered grant holds for the transmissions of one reply, too. */
static void a_reply_keeps_to_a_lowered_grant(void **state)
{
	uint8_t want[3 * PAGE];
	struct pair p;
	struct raw r;

	pair_pattern(want, sizeof(want), 5);
	start_responder(&p, &r);
	tell_responder(&r, 7);
	RAW_SEND(&r, 2, 2, 1, RPCRDMA_XMT_REQ, 0, 0, 1, 0, 44, 1, 0, RPCRDMA_RTR_TBSN, 1, 16, 44,
		RPC_CALL(2, PAIR_GET), 3 * PAGE);
	for (uint32_t k = 0; k < 3; k++) {
		raw_recv_next(&r);
		assert_int_equal(raw_word(&r, 3), k ? RPCRDMA_XMT_CONT : RPCRDMA_XMT_RESP);
		assert_memory_equal(r.msg + 512, want + (size_t)k * PAGE, PAGE);
		assert_false(raw_recv_within(&r, NULL, 3 * RPCRDMA_STALL_MS));
		RAW_SEND(&r, 0, 2, 1, RDMA_NOMSG, 0, 0, 0, 0, 0);
	}
	raw_stop(&r, &p);
}

/* --- a responder that says every byte
 * ---------------------------------------------------------- */

/* Answers two calls, and tells that this many transmissions are taken, in receive buffers with a
 * head of 512 bytes and a page. */
static void tell(struct raw *r, struct pair *p, uint32_t ops, uint32_t sends)
{
	struct pair_call c;

	for (int i = 0; i < 2; i++) {
		pair_submit_null(p, &c);
		do
			assert_true(raw_recv(r, p));
		while (raw_word(r, 3) == RDMA_CONNPROP);
		RAW_SEND(r, c.rpc.xid, 2, CREDIT, 0, 1, 0, 0, 0, 0, RPC_REPLY(c.rpc.xid));
		pair_end(p, &c, 0);
	}
	RAW_SEND(r, 0, 2, CREDIT, RDMA_CONNPROP, 0, 5, RPCRDMA_PROP_RECV_SIZE, 4, 8192,
		RPCRDMA_PROP_RTR_OPS, 4, ops, RPCRDMA_PROP_RTR_LAYOUT, 40, 512 + PAGE, 2, 1, 512, 4,
		0, 1, PAGE, PAGE, 1, RPCRDMA_PROP_RTR_REQ_SENDS, 4, sends,
		RPCRDMA_PROP_RTR_RESP_SENDS, 4, sends);
	for (int i = 0; i < 1000 && !rpcrdma_conn_of(p->client)->place.ops; i++)
		pair_progress(p, 10);
	assert_int_equal(rpcrdma_conn_of(p->client)->place.ops, ops);
}

static struct mem_buf *submit_put(struct pair *p, struct pair_call *c, uint32_t n)
{
	struct mem_buf *b = mem_buf_get(p->cpool, n);
	struct mem_sge at = mem_buf_sge(b, 0, n);

	memcpy(b->data, all, n);
	pair_call_init(p, c, PAIR_PUT, 128);
	c->rpc.reply_max = 16;
	xdr_put_u32(&c->rpc.args, 0x11);
	xdr_put_payload(&c->rpc.args, &at);
	xdr_put_u32(&c->rpc.args, 0x22);
	pair_submit(p, c);
	return b;
}

/* The next messages are such a call, in n transmissions. */
static void recv_put(struct raw *r, struct pair *p, uint32_t xid, uint32_t len, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t part = k < n - 1 ? PAGE : len - k * PAGE;

		raw_recv_of(r, p, xid);
		assert_int_equal(raw_word(r, 3), k ? RPCRDMA_XMT_CONT : RPCRDMA_XMT_REQ);
		assert_int_equal(raw_word(r, 4), 0);
		if (!k) {
			assert_int_equal(raw_word(r, 10), n);
			assert_int_equal(raw_word(r, 12 + n), n);
		} else {
			assert_int_equal(raw_word(r, 5), k);
			assert_int_equal(raw_word(r, 6), 5);
			assert_int_equal(raw_word(r, 7), 0);
		}
		assert_int_equal(r->len, 512 + part);
		assert_memory_equal(r->msg + 512, all + (size_t)k * PAGE, part);
	}
}

static void answer_plain(struct raw *r, struct pair *p, struct pair_call *c)
{
	RAW_SEND(r, c->rpc.xid, 2, CREDIT, 0, 1, 0, 0, 0, 0, RPC_REPLY(c->rpc.xid));
	pair_end(p, c, 0);
}

static void a_requester_sends_groups(void **state)
{
	struct mem_buf *b;
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_pattern(all, sizeof(all), 3);
	pair_init_requester(&p, &plain, &r);
	tell(&r, &p, 7, 3);
	b = submit_put(&p, &c, 3 * PAGE - 7);
	recv_put(&r, &p, c.rpc.xid, 3 * PAGE - 7, 3);
	answer_plain(&r, &p, &c);
	mem_buf_unref(b);
	b = submit_put(&p, &c, 2 * PAGE);
	recv_put(&r, &p, c.rpc.xid, 2 * PAGE, 2);
	/* the peer refuses the group: once more, plain, with a Read chunk */
	RAW_SEND(&r, c.rpc.xid, 2, CREDIT, RPCRDMA_REPT_ERR, 1, c.rpc.xid, 0, 1, 1, c.rpc.xid, 0, 0,
		RPCRDMA_RTR_BADSEQ, 1, 2);
	raw_recv_of(&r, &p, c.rpc.xid);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	assert_int_equal(raw_word(&r, 6), 1);
	answer_plain(&r, &p, &c);
	mem_buf_unref(b);
	/* data for more than three */
	b = submit_put(&p, &c, 3 * PAGE + 1);
	raw_recv_of(&r, &p, c.rpc.xid);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	answer_plain(&r, &p, &c);
	mem_buf_unref(b);
	raw_stop(&r, &p);
}

/* Without the operation, or with one transmission only, as without groups. */
static void a_peer_without_groups(void **state)
{
	static const uint32_t t[][2] = {{3, 16}, {7, 1}, {7, 0}};

	pair_pattern(all, sizeof(all), 3);
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct mem_buf *b;
		struct pair_call c;
		struct pair p;
		struct raw r;

		pair_init_requester(&p, &plain, &r);
		tell(&r, &p, t[i][0], t[i][1]);
		b = submit_put(&p, &c, PAGE);
		recv_put(&r, &p, c.rpc.xid, PAGE, 1);
		answer_plain(&r, &p, &c);
		mem_buf_unref(b);
		b = submit_put(&p, &c, PAGE + 1);
		raw_recv_of(&r, &p, c.rpc.xid);
		assert_int_equal(raw_word(&r, 3), RDMA_MSG);
		answer_plain(&r, &p, &c);
		mem_buf_unref(b);
		raw_stop(&r, &p);
	}
}

static uint32_t got_sum;

static void check_get(struct pair_call *c, struct xdr_in *res)
{
	const struct seg_list *l = res->npayloads ? &res->payload[0].data : NULL;
	static uint8_t flat[8 * PAGE];

	c->placed = l != NULL;
	c->len = l ? l->len : 0;
	if (l)
		seg_list_gather(l, flat);
	got_sum = pair_sum(flat, c->len);
}

/* Submits a GET of n bytes. */
static struct mem_buf *submit_get(struct pair *p, struct pair_call *c, uint32_t n)
{
	struct mem_buf *b = mem_buf_get(p->cpool, n);

	pair_call_init(p, c, PAIR_GET, 64);
	c->rpc.reply_max = 64;
	c->rpc.nsinks = 1;
	c->rpc.sink[0] = seg_list_of_buf(b, 0, n);
	c->check = check_get;
	xdr_put_u32(&c->rpc.args, n);
	pair_submit(p, c);
	return b;
}

/* The first transmission of a reply, with an item in two targets and `part` bytes of the message.
 */
static void send_reply(struct raw *r, uint32_t xid, uint32_t count, uint32_t part)
{
	uint32_t w[HEAD / 4] = {xid, 2, CREDIT, RPCRDMA_XMT_RESP, 1, 1, 28, PAGE + 100,
		RPCRDMA_RTR_TBSN, 0, 2, 0, 17, count, part};
	const uint32_t rpc[] = {RPC_REPLY(xid), 1, PAGE + 100, 77};

	memcpy(w + 15, rpc, part);
	raw_send(r, w, HEAD / 4, all, PAGE);
}

static void send_rest(struct raw *r, uint32_t xid, uint32_t k, uint32_t off, uint32_t part)
{
	uint32_t w[HEAD / 4] = {xid, 2, CREDIT, RPCRDMA_XMT_CONT, 1, k, 6, part};
	const uint32_t rpc[] = {RPC_REPLY(xid), 1, PAGE + 100, 77};

	memcpy(w + 8, (const uint8_t *)rpc + off, part);
	raw_send(r, w, HEAD / 4, all + PAGE, 100);
}

static void a_requester_takes_groups(void **state)
{
	struct mem_buf *b;
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_pattern(all, sizeof(all), 3);
	pair_init_requester(&p, &plain, &r);
	tell(&r, &p, 7, 4);
	for (uint32_t part = 20; part <= 36; part += 16) {
		b = submit_get(&p, &c, PAGE + 100);
		raw_recv_of(&r, &p, c.rpc.xid);
		assert_int_equal(raw_word(&r, 3), RPCRDMA_XMT_REQ);
		assert_int_equal(raw_word(&r, 13), 4); /* reserved */
		send_reply(&r, c.rpc.xid, 2, part);
		send_rest(&r, c.rpc.xid, 1, part, 36 - part);
		pair_wait(&p, &c);
		assert_int_equal(c.error, 0);
		assert_true(c.placed);
		assert_int_equal(c.len, PAGE + 100);
		assert_int_equal(got_sum, pair_sum(all, PAGE + 100));
		pair_call_finish(&c);
		mem_buf_unref(b);
	}
	raw_stop(&r, &p);
}

/* A bad reply fails its call, and the next call works. */
static void what_a_reply_does_wrong(void **state)
{
	struct mem_buf *b;
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_pattern(all, sizeof(all), 3);
	pair_init_requester(&p, &plain, &r);
	tell(&r, &p, 7, 4);
	for (unsigned turn = 0; turn < 4; turn++) {
		b = submit_get(&p, &c, PAGE + 100);
		raw_recv_of(&r, &p, c.rpc.xid);
		send_reply(&r, c.rpc.xid, turn == 0 ? 5 : 3, 36);
		if (turn == 1)
			send_rest(&r, c.rpc.xid, 2, 0, 0);
		else if (turn == 2)
			send_rest(&r, c.rpc.xid + 1000, 1, 0, 0);
		else if (turn == 3)
			send_reply(&r, c.rpc.xid, 1, 36);
		pair_end(&p, &c, -EIO);
		raw_recv_of(&r, &p, c.rpc.xid);
		assert_int_equal(raw_word(&r, 3), RPCRDMA_REPT_ERR);
		assert_int_equal(raw_word(&r, 4), 0);
		mem_buf_unref(b);
	}
	b = submit_get(&p, &c, PAGE + 100);
	raw_recv_of(&r, &p, c.rpc.xid);
	send_reply(&r, c.rpc.xid, 2, 36);
	send_rest(&r, c.rpc.xid, 1, 36, 0);
	pair_end(&p, &c, 0);
	mem_buf_unref(b);
	raw_stop(&r, &p);
}

/* A report is about other messages, so it may come between the Sends of any message. */
static void a_report_breaks_nothing_off(void **state)
{
	struct pair p;
	struct raw r;

	start_responder(&p, &r);
	RAW_SEND(&r, 2, 2, CREDIT, RDMA_MSG, 2, 0, 0, 0, 0, 2, 0, 2, PAIR_PROG);
	RAW_SEND(&r, 77, 2, CREDIT, RPCRDMA_REPT_ERR, 0, 77, 1, 0, 0, RPCRDMA_RTR_BADCONT);
	RAW_SEND(&r, 2, 2, CREDIT, RDMA_MSG, 0, 0, 0, 0, 0, 1, PAIR_NULL, 0, 0, 0, 0);
	raw_recv_next(&r);
	assert_int_equal(raw_word(&r, 0), 2);
	assert_int_equal(raw_word(&r, 3), RDMA_MSG);
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_responder_tells_its_limits),
		cmocka_unit_test(a_request_in_groups),
		cmocka_unit_test(what_a_group_does_wrong),
		cmocka_unit_test(what_comes_between),
		cmocka_unit_test(a_group_is_cut_off),
		cmocka_unit_test(a_reply_in_groups),
		cmocka_unit_test(a_reply_waits_for_credits),
		cmocka_unit_test(a_reply_keeps_to_a_lowered_grant),
		cmocka_unit_test(a_requester_sends_groups),
		cmocka_unit_test(a_peer_without_groups),
		cmocka_unit_test(a_requester_takes_groups),
		cmocka_unit_test(what_a_reply_does_wrong),
		cmocka_unit_test(a_report_breaks_nothing_off),
	};

	pair_versions = RPC_RDMA_V2_RTR;
	return PAIR_RUN(tests);
}

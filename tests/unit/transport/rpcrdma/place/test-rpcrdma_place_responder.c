/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/place/rpcrdma_place: the responder against a requester that says
 * every byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

#define HEAD 1024
#define PAGE 4096

static const struct pair_params plain;

/* The parts of a Transmit Request that differ between tests. */
struct request {
	uint32_t type;	/* of the item */
	uint32_t count; /* of the group */
	uint32_t more;	/* bytes that the message claims beyond its end */
	uint32_t off, len, n;
	uint32_t bsn[8];
	uint32_t pages; /* number of pages sent */
};

/* Sends a PUT. The data is in pages of the pattern of this many bytes. */
static void send_put(struct raw *r, uint32_t xid, const struct request *q)
{
	uint32_t w[HEAD / 4] = {
		xid, 2, 16 << 16 | 16, RPCRDMA_XMT_REQ, 0, 1, 48, q->len, q->type, q->off, q->n};
	const uint32_t rpc[] = {RPC_CALL(xid, PAIR_PUT), 0x11, q->len, 0x22};
	static uint8_t data[8 * PAGE];
	unsigned n = 11;

	if (q->type != RPCRDMA_RTR_TBSN)
		n = 9;
	else
		for (unsigned i = 0; i < q->n; i++)
			w[n++] = q->bsn[i];
	w[n++] = 0; /* no places */
	w[n++] = q->count;
	w[n++] = 1;
	w[n++] = sizeof(rpc) + q->more;
	memset(w + n, 0, sizeof(w) - 4 * n);
	memcpy(w + n, rpc, sizeof(rpc));
	pair_pattern(data, sizeof(data), 3);
	raw_send(r, w, HEAD / 4, data, (size_t)q->pages * PAGE);
}

/* The next message is the Transmit Response to such a PUT, of data with this sum. */
static void expect_put(struct raw *r, uint32_t xid, uint32_t len, uint32_t sum)
{
	raw_recv_next(r);
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 3), RPCRDMA_XMT_RESP);
	assert_int_equal(raw_word(r, 4), 1);
	assert_int_equal(raw_word(r, 5), 0); /* items */
	assert_int_equal(raw_word(r, 6), 1); /* in a group */
	assert_int_equal(raw_word(r, 7), 24 + 16);
	assert_int_equal(r->len, 8 * 4 + 24 + 16);
	assert_int_equal(raw_word(r, 14), len);
	assert_int_equal(raw_word(r, 15), sum);
}

static void a_request_places(void **state)
{
	static uint8_t all[8 * PAGE], turned[2 * PAGE];
	struct pair p;
	struct raw r;

	pair_pattern(all, sizeof(all), 3);
	pair_init_responder(&p, &plain, &r);
	send_put(&r, 1, &(struct request){2, 1, 0, 0, 100, 1, {0}, 1});
	expect_put(&r, 1, 100, pair_sum(all, 100));
	send_put(&r, 2, &(struct request){2, 1, 0, 0, 3 * PAGE - 1, 3, {0, 1, 2}, 3});
	expect_put(&r, 2, 3 * PAGE - 1, pair_sum(all, 3 * PAGE - 1));
	/* a piece of a page, and targets in another order */
	send_put(&r, 3, &(struct request){2, 1, 0, 64, 200, 1, {1}, 2});
	expect_put(&r, 3, 200, pair_sum(all + PAGE + 64, 200));
	send_put(&r, 4, &(struct request){2, 1, 0, 0, 2 * PAGE, 2, {2, 1}, 3});
	memcpy(turned, all + 2 * PAGE, PAGE);
	memcpy(turned + PAGE, all + PAGE, PAGE);
	expect_put(&r, 4, 2 * PAGE, pair_sum(turned, 2 * PAGE));
	raw_stop(&r, &p);
}

/* Report Error, of the header's own transmission, with words of information. */
static void expect_report(struct raw *r, uint32_t xid, uint32_t err, unsigned nwords)
{
	raw_recv_next(r);
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 3), RPCRDMA_REPT_ERR);
	assert_int_equal(raw_word(r, 4), 1);
	assert_int_equal(raw_word(r, 5), xid);
	assert_int_equal(raw_word(r, 6), 0);
	assert_int_equal(raw_word(r, 7), err == RPCRDMA_RTR_BADCONT); /* which transmission */
	assert_int_equal(raw_word(r, 8), 0);			      /* no lead */
	assert_int_equal(raw_word(r, 9), err);
	assert_int_equal(r->len, 4 * (10 + nwords));
}

static void what_a_request_does_wrong(void **state)
{
	static const struct {
		struct request q;
		uint32_t err, v[3];
	} t[] = {
		{{2, 1, 0, 0, 100, 1, {17}, 1}, RPCRDMA_RTR_BADTBSN, {17, 0, 16}},
		{{2, 1, 0, 0, 5000, 1, {0}, 2}, RPCRDMA_RTR_BADTBSN, {17, 0, 16}},
		{{2, 1, 0, 0, 5000, 2, {0, 1}, 1}, RPCRDMA_RTR_BADTBSN, {1, 0, 16}},
		{{2, 1, 0, 0, 100, 1, {3}, 2}, RPCRDMA_RTR_BADTBSN, {3, 0, 16}},
		{{2, 1, 0, 4096, 100, 1, {0}, 1}, RPCRDMA_RTR_BADOFF, {4096, 0, 4095}},
		{{2, 1, 0, 2, 100, 1, {0}, 1}, RPCRDMA_RTR_BADOFF, {2, 0, 4095}},
		{{2, 1, 1 << 20, 0, 100, 1, {0}, 1}, RPCRDMA_RTR_BADPL, {(1 << 20) + 52, 0, 5056}},
		{{2, 1, 2000, 0, 100, 1, {0}, 1}, RPCRDMA_RTR_BADTBSN, {0, 0, 16}},
	};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		send_put(&r, 10 + i, &t[i].q);
		expect_report(&r, 10 + i, t[i].err, 3);
		for (unsigned k = 0; k < 3; k++)
			assert_int_equal(raw_word(&r, 10 + k), t[i].v[k]);
	}
	send_put(&r, 50, &(struct request){2, 0, 0, 0, 100, 1, {0}, 1});
	expect_report(&r, 50, RPCRDMA_RTR_BADSEQ, 2);
	RAW_SEND(&r, 51, 2, 16 << 16 | 16, RPCRDMA_XMT_CONT, 0, 1, 5, 0);
	expect_report(&r, 51, RPCRDMA_RTR_BADCONT, 0);
	send_put(&r, 54, &t[0].q);
	expect_report(&r, 54, RPCRDMA_RTR_BADTBSN, 3);
	/* nor does a request with ranges that do not go up */
	RAW_SEND(&r, 55, 2, 16 << 16 | 16, RPCRDMA_XMT_REQ, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 1, 40,
		RPC_CALL(55, PAIR_NULL));
	raw_recv_next(&r);
	assert_int_equal(raw_word(&r, 0), 55);
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(&r, 5), RDMA_ERR_CHUNK);
	/* the draft has no error for an item that says "too short" */
	send_put(&r, 52, &(struct request){5, 1, 0, 0, 100, 0, {0}, 0});
	raw_recv_next(&r);
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(&r, 5), RDMA_ERR_CHUNK);
	/* and the connection still works */
	send_put(&r, 53, &(struct request){2, 1, 0, 0, 0, 0, {0}, 0});
	expect_put(&r, 53, 0, 1);
	raw_stop(&r, &p);
}

/* Closes the door. */
static void hide(struct raw *r, struct prov_door *d)
{
	struct prov_wc wc = {.op = PROV_WC_RECV};

	if (r->prov->withdraw(r->pc, d, 1, 0) == 0)
		return;
	while (wc.op != PROV_WC_WITHDRAWN)
		if (!r->prov->poll(r->pc, &wc, 1))
			r->prov->wait(r->pc, -1, 10);
}

/* Tells that Transmit Responses are taken, in receive buffers with a head of 512 bytes and a page,
 * and Sends of this many bytes. */
static void tell_responder(struct raw *r, struct pair *p, uint32_t recv_size)
{
	RAW_SEND(r, 0, 2, 16 << 16 | 16, RDMA_CONNPROP, 0, 3, RPCRDMA_PROP_RECV_SIZE, 4, recv_size,
		RPCRDMA_PROP_RTR_OPS, 4, 3, RPCRDMA_PROP_RTR_LAYOUT, 40, 512 + PAGE, 2, 1, 512, 4,
		0, 1, PAGE, PAGE, 1);
}

/* Sends a GET with one place; d: the memory of the place, if the type has memory. */
static void send_get(struct raw *r, uint32_t xid, uint32_t proc, uint32_t len,
	const struct rpcrdma_rtr_place *at, const struct prov_door *d)
{
	const uint32_t rpc[] = {RPC_CALL(xid, proc), len};
	uint32_t w[64] = {xid, 2, 16 << 16 | 16, RPCRDMA_XMT_REQ, 0, 0, 1, 0, sizeof(rpc), 1,
		at->min, at->type};
	unsigned n = 12;

	if (at->type == RPCRDMA_RTR_BYSIZE)
		w[n++] = at->most;
	if (at->type != RPCRDMA_RTR_TBSN) {
		memcpy(w + n,
			(const uint32_t[]){1, d->stag, d->len, (uint32_t)(d->offset >> 32),
				(uint32_t)d->offset},
			20);
		n += 5;
	}
	w[n++] = 1;
	w[n++] = 1;
	w[n++] = sizeof(rpc);
	memcpy(w + n, rpc, sizeof(rpc));
	raw_send(r, w, n + sizeof(rpc) / 4, NULL, 0);
}

/* The next message is a reply with one item of this type, and the data in the place that the item
 * names. */
static void expect_get(struct raw *r, uint32_t type, uint32_t len)
{
	uint8_t want[PAGE + 2000];

	pair_pattern(want, len, 5);
	raw_recv_next(r);
	assert_int_equal(raw_word(r, 3), RPCRDMA_XMT_RESP);
	assert_int_equal(raw_word(r, 5), 1);
	assert_int_equal(raw_word(r, 8), type);
	if (type == RPCRDMA_RTR_TBSN) {
		assert_int_equal(raw_word(r, 6), 32);
		assert_int_equal(raw_word(r, 7), len);
		assert_int_equal(raw_word(r, 13), 36);
		assert_int_equal(r->len, 512 + len);
		assert_memory_equal(r->msg + 512, want, len);
	} else if (type == RPCRDMA_RTR_EXRW) {
		assert_int_equal(raw_word(r, 6), 32);
		assert_int_equal(raw_word(r, 7), len);
		assert_int_equal(raw_word(r, 11), len);
		assert_memory_equal(r->zone->data, want, len);
	} else if (type == RPCRDMA_RTR_TOOSHORT) {
		assert_int_equal(raw_word(r, 7), 0);
		assert_memory_equal(r->msg + 11 * 4 + 32, want, len);
	}
}

/* Table 2 of the draft, without the combinations that the table calls invalid. */
static void what_becomes_of_a_place(void **state)
{
	static const struct {
		struct rpcrdma_rtr_place at;
		uint32_t proc, len, type;
	} t[] = {
		{{.type = RPCRDMA_RTR_TBSN}, PAIR_GET, 1000, RPCRDMA_RTR_TBSN},
		{{.type = RPCRDMA_RTR_TBSN}, PAIR_GET, PAGE, RPCRDMA_RTR_TBSN},
		{{.type = RPCRDMA_RTR_TBSN}, PAIR_GET, 5000, RPCRDMA_RTR_TOOSHORT},
		{{.type = RPCRDMA_RTR_TBSN, .min = 1001}, PAIR_GET, 1000, RPCRDMA_RTR_TOOSHORT},
		{{.type = RPCRDMA_RTR_TBSN}, PAIR_NONE, 1, RPCRDMA_RTR_NOITEM},
		{{.type = RPCRDMA_RTR_EXRW}, PAIR_GET, 1000, RPCRDMA_RTR_EXRW},
		{{.type = RPCRDMA_RTR_EXRW, .min = 1001}, PAIR_GET, 1000, RPCRDMA_RTR_TOOSHORT},
		{{.type = RPCRDMA_RTR_EXRW}, PAIR_NONE, 1, RPCRDMA_RTR_NOITEM},
		{{.type = RPCRDMA_RTR_CHOICE}, PAIR_GET, 1000, RPCRDMA_RTR_TBSN},
		{{.type = RPCRDMA_RTR_CHOICE}, PAIR_GET, 5000, RPCRDMA_RTR_EXRW},
		{{.type = RPCRDMA_RTR_CHOICE, .min = 1001}, PAIR_GET, 1000, RPCRDMA_RTR_TOOSHORT},
		{{.type = RPCRDMA_RTR_CHOICE}, PAIR_NONE, 1, RPCRDMA_RTR_NOITEM},
		{{.type = RPCRDMA_RTR_BYSIZE, .most = 999}, PAIR_GET, 999, RPCRDMA_RTR_TBSN},
		{{.type = RPCRDMA_RTR_BYSIZE, .most = 999}, PAIR_GET, 1000, RPCRDMA_RTR_EXRW},
		{{.type = RPCRDMA_RTR_BYSIZE, .most = 9999}, PAIR_GET, 5000, RPCRDMA_RTR_EXRW},
		{{.type = RPCRDMA_RTR_BYSIZE, .min = 1001, .most = 9999}, PAIR_GET, 1000,
			RPCRDMA_RTR_TOOSHORT},
		{{.type = RPCRDMA_RTR_BYSIZE, .most = 9999}, PAIR_NONE, 1, RPCRDMA_RTR_NOITEM},
	};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, 1, 2, 16 << 16 | 16, 0, 0, 0, 0, 0, 0, RPC_CALL(1, PAIR_NULL));
	raw_recv_next(&r);
	tell_responder(&r, &p, 8192);
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct mem_sge at = mem_buf_sge(r.zone, 0, 8192);
		struct prov_door d = {0};

		assert_int_equal(r.prov->expose(r.pc, &at, PROV_REMOTE_WRITE, &d), 0);
		send_get(&r, 10 + i, t[i].proc, t[i].len, &t[i].at, &d);
		expect_get(&r, t[i].type, t[i].len);
		hide(&r, &d);
	}
	raw_stop(&r, &p);
}

/* A set of places of a GET2: the range, and for each place the type, and the memory if any. */
struct set {
	uint32_t begin, end;
	unsigned n;
	uint32_t type[2];
};

enum { NONE = RPCRDMA_RTR_NOITEM, SHORT = RPCRDMA_RTR_TOOSHORT, WRITE = RPCRDMA_RTR_EXRW };

/* Sends a GET2 with operations that begin at 40 and at 44. Place i has 2048 bytes of the zone, from
 * 2048 * i on. */
static void send_get2(struct raw *r, uint32_t xid, const uint32_t len[2], const struct set *s,
	const struct prov_door *d)
{
	const uint32_t rpc[] = {RPC_CALL(xid, PAIR_GET2), len[0], len[1]};
	uint32_t w[96] = {xid, 2, 16 << 16 | 16, RPCRDMA_XMT_REQ, 0, 0, s[1].n ? 2 : 1};
	unsigned n = 7, place = 0;

	for (unsigned k = 0; k < w[6]; k++) {
		w[n++] = s[k].begin;
		w[n++] = s[k].end;
		w[n++] = s[k].n;
		for (unsigned i = 0; i < s[k].n; i++, place++) {
			w[n++] = 0;
			w[n++] = s[k].type[i];
			if (s[k].type[i] == RPCRDMA_RTR_TBSN)
				continue;
			w[n++] = 1;
			w[n++] = d->stag;
			w[n++] = 2048;
			w[n++] = (uint32_t)(d->offset >> 32);
			w[n++] = (uint32_t)d->offset + 2048 * place;
		}
	}
	w[n++] = 1;
	w[n++] = 1;
	w[n++] = sizeof(rpc);
	memcpy(w + n, rpc, sizeof(rpc));
	raw_send(r, w, n + sizeof(rpc) / 4, NULL, 0);
}

/* The next message is the reply. Its items are of these types, and result i is at place at[i], or,
 * -1, in the message. */
static void expect_get2(struct raw *r, const uint32_t len[2], const uint32_t *type, unsigned nitems,
	const int at[2])
{
	unsigned n = 6, head;
	uint8_t want[2048];
	uint32_t disp = 24;

	raw_recv_next(r);
	assert_int_equal(raw_word(r, 3), RPCRDMA_XMT_RESP);
	assert_int_equal(raw_word(r, 5), nitems);
	for (unsigned i = 0; i < nitems; i++) {
		assert_int_equal(raw_word(r, n + 2), type[i]);
		if (type[i] == WRITE)
			assert_int_equal(raw_word(r, n + 3), 1);
		n += 3 + (type[i] == WRITE ? 5 : type[i] == RPCRDMA_RTR_TBSN ? 3 : 0);
	}
	head = (n + 2) * 4 + 24;
	for (uint32_t i = 0; i < 2; i++) {
		pair_pattern(want, len[i], i + 1);
		disp += 4;
		assert_int_equal(raw_word(r, head / 4), len[i]);
		head += 4;
		n = 6;
		for (int k = 0; k < at[i]; k++)
			n += 3 + (type[k] == WRITE ? 5 : type[k] == RPCRDMA_RTR_TBSN ? 3 : 0);
		if (at[i] < 0) {
			assert_memory_equal(r->msg + head, want, len[i]);
			head += len[i] + xdr_pad(len[i]);
		} else {
			assert_int_equal(raw_word(r, n), disp);
			assert_int_equal(raw_word(r, n + 1), len[i]);
			assert_memory_equal(
				type[at[i]] == WRITE ? r->zone->data + 2048 * at[i] : r->msg + 512,
				want, len[i]);
		}
		disp += len[i] + xdr_pad(len[i]);
	}
}

/* A place is for results of the operations that begin in the place's range, in their order, and for
 * no others. An item without data uses up a place. */
static void a_place_finds_its_result(void **state)
{
	static const struct {
		struct set s[2];
		uint32_t len[2], type[2];
		unsigned nitems;
		int at[2]; /* the place of each result, -1: in the message */
	} t[] = {
		/* one place, for the first, the second, both, neither */
		{{{40, 44, 1, {WRITE}}}, {100, 200}, {WRITE}, 1, {0, -1}},
		{{{44, 48, 1, {WRITE}}}, {100, 200}, {WRITE}, 1, {-1, 0}},
		{{{0, 48, 1, {WRITE}}}, {100, 200}, {WRITE}, 1, {0, -1}},
		{{{0, 40, 1, {WRITE}}}, {100, 200}, {NONE}, 1, {-1, -1}},
		{{{48, 1000, 1, {WRITE}}}, {100, 200}, {NONE}, 1, {-1, -1}},
		/* a range that begins within the first operation does not have that operation */
		{{{41, 48, 1, {WRITE}}}, {100, 200}, {WRITE}, 1, {-1, 0}},
		{{{40, 40, 1, {WRITE}}, {44, 45, 1, {WRITE}}}, {100, 200}, {NONE, WRITE}, 2,
			{-1, 1}},
		/* two places, each for its operation, also if the other operation has no result */
		{{{40, 44, 1, {WRITE}}, {44, 48, 1, {WRITE}}}, {100, 200}, {WRITE, WRITE}, 2,
			{0, 1}},
		{{{40, 44, 1, {WRITE}}, {44, 48, 1, {WRITE}}}, {0, 200}, {SHORT, WRITE}, 2,
			{-1, 1}},
		{{{0, 40, 1, {WRITE}}, {40, 48, 1, {WRITE}}}, {100, 200}, {NONE, WRITE}, 2,
			{1, -1}},
		/* two places of one range */
		{{{0, 48, 2, {WRITE, WRITE}}}, {100, 200}, {WRITE, WRITE}, 2, {0, 1}},
		{{{0, 48, 2, {WRITE, WRITE}}}, {0, 200}, {SHORT, WRITE}, 2, {-1, 1}},
		{{{44, 48, 2, {WRITE, WRITE}}}, {100, 200}, {WRITE, NONE}, 2, {-1, 0}},
		/* the first place that asks for a Send gets the Send */
		{{{44, 48, 1, {RPCRDMA_RTR_TBSN}}}, {100, 200}, {RPCRDMA_RTR_TBSN}, 1, {-1, 0}},
		{{{40, 44, 1, {WRITE}}, {44, 48, 1, {RPCRDMA_RTR_TBSN}}}, {100, 200},
			{WRITE, RPCRDMA_RTR_TBSN}, 2, {0, 1}},
		{{{0, 48, 2, {RPCRDMA_RTR_TBSN, WRITE}}}, {100, 200}, {RPCRDMA_RTR_TBSN, WRITE}, 2,
			{0, 1}},
		{{{0, 48, 2, {RPCRDMA_RTR_TBSN, RPCRDMA_RTR_TBSN}}}, {0, 200},
			{SHORT, RPCRDMA_RTR_TBSN}, 2, {-1, 1}},
		{{{0, 48, 2, {RPCRDMA_RTR_TBSN, RPCRDMA_RTR_CHOICE}}}, {100, 200},
			{RPCRDMA_RTR_TBSN, WRITE}, 2, {0, 1}},
	};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, 1, 2, 16 << 16 | 16, 0, 0, 0, 0, 0, 0, RPC_CALL(1, PAIR_NULL));
	raw_recv_next(&r);
	tell_responder(&r, &p, 8192);
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct mem_sge at = mem_buf_sge(r.zone, 0, 4096);
		struct prov_door d = {0};

		memset(r.zone->data, 0, 4096);
		assert_int_equal(r.prov->expose(r.pc, &at, PROV_REMOTE_WRITE, &d), 0);
		send_get2(&r, 10 + i, t[i].len, t[i].s, &d);
		expect_get2(&r, t[i].len, t[i].type, t[i].nitems, t[i].at);
		hide(&r, &d);
	}
	raw_stop(&r, &p);
}

/* The room in places, and beside places, that the service is told. */
static void how_much_room_there_is(void **state)
{
	const struct set s[2] = {{40, 44, 1, {RPCRDMA_RTR_TBSN}}, {44, 48, 1, {WRITE}}};
	const uint32_t len[2] = {100, 200};
	struct prov_door d = {0};
	struct mem_sge at;
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	at = mem_buf_sge(r.zone, 0, 4096);
	assert_int_equal(r.prov->expose(r.pc, &at, PROV_REMOTE_WRITE, &d), 0);
	RAW_SEND(&r, 1, 2, 16 << 16 | 16, 0, 0, 0, 0, 0, 0, RPC_CALL(1, PAIR_NULL));
	raw_recv_next(&r);
	/* the targets are not known yet: the first result has room in the message alone */
	send_get2(&r, 2, len, s, &d);
	expect_get2(&r, len, (uint32_t[]){SHORT, WRITE}, 2, (int[]){-1, 1});
	assert_int_equal(p.last_nsinks, 2);
	assert_int_equal(p.last_sink[0], 0);
	assert_int_equal(p.last_sink[1], 2048);
	assert_true(p.last_res_max > 3072 && p.last_res_max < 4096);
	/* receive buffers of which the last 2048 bytes are a target */
	RAW_SEND(&r, 0, 2, 16 << 16 | 16, RDMA_CONNPROP, 0, 3, RPCRDMA_PROP_RECV_SIZE, 4, 8192,
		RPCRDMA_PROP_RTR_OPS, 4, 3, RPCRDMA_PROP_RTR_LAYOUT, 40, 8192, 2, 1, 6144, 4, 0, 1,
		2048, 4, 1);
	send_get2(&r, 3, len, s, &d);
	raw_recv_next(&r);
	assert_int_equal(r.len, 6144 + 100);
	assert_int_equal(p.last_sink[0], 2048);
	assert_int_equal(p.last_sink[1], 2048);
	/* a message of this length ends before the target */
	assert_true(p.last_res_max > 4096 && p.last_res_max < 6144 - 256);
	hide(&r, &d);
	raw_stop(&r, &p);
}

/* A peer that reports a reply gets no other of the same kind. */
static void a_reported_reply(void **state)
{
	const struct rpcrdma_rtr_place at = {.type = RPCRDMA_RTR_TBSN};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, 1, 2, 16 << 16 | 16, 0, 0, 0, 0, 0, 0, RPC_CALL(1, PAIR_NULL));
	raw_recv_next(&r);
	tell_responder(&r, &p, 8192);
	send_get(&r, 2, PAIR_GET, 1000, &at, NULL);
	expect_get(&r, RPCRDMA_RTR_TBSN, 1000);
	RAW_SEND(&r, 2, 2, 16 << 16 | 16, RPCRDMA_REPT_ERR, 0, 2, 1, 0, 0, RPCRDMA_RTR_BADTBSN, 0,
		1, 0);
	send_get(&r, 3, PAIR_GET, 1000, &at, NULL);
	expect_get(&r, RPCRDMA_RTR_TOOSHORT, 1000);
	raw_stop(&r, &p);
}

/* A peer that has told no targets gets data in the message, or by RDMA Write. */
static void without_targets_nothing_is_placed(void **state)
{
	const struct rpcrdma_rtr_place at = {.type = RPCRDMA_RTR_TBSN};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	send_get(&r, 1, PAIR_GET, 1000, &at, NULL);
	expect_get(&r, RPCRDMA_RTR_TOOSHORT, 1000);
	raw_stop(&r, &p);
}

/* A request with an item of each kind. */
static void items_of_both_kinds(void **state)
{
	const uint32_t rpc[] = {RPC_CALL(5, PAIR_TWO), 100, 200};
	struct mem_sge at;
	struct prov_door d = {0};
	uint8_t page[PAGE];
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	at = mem_buf_sge(r.zone, 0, 8192);
	assert_int_equal(r.prov->expose(r.pc, &at, PROV_REMOTE_READ, &d), 0);
	pair_pattern(r.zone->data, 8192, 8);
	pair_pattern(page, PAGE, 9);
	for (unsigned turn = 0; turn < 2; turn++) { /* which kind comes first */
		uint32_t w[HEAD / 4] = {5, 2, 16 << 16 | 16, RPCRDMA_XMT_REQ, 0, 2};
		const uint32_t read[] = {turn ? 144 + 4 : 44, turn ? 200 : 100, 1, 1, d.stag,
			turn ? 200 : 100, (uint32_t)(d.offset >> 32), (uint32_t)d.offset};
		const uint32_t sent[] = {turn ? 44 : 144 + 4, turn ? 100 : 200, 2, 0, 1, 0};
		unsigned n = 6;

		memcpy(w + n, turn ? sent : read, turn ? sizeof(sent) : sizeof(read));
		n += turn ? 6 : 8;
		memcpy(w + n, turn ? read : sent, turn ? sizeof(read) : sizeof(sent));
		n += turn ? 8 : 6;
		memcpy(w + n, (const uint32_t[]){0, 1, 1, sizeof(rpc)}, 16);
		memcpy(w + n + 4, rpc, sizeof(rpc));
		raw_send(&r, w, HEAD / 4, page, PAGE);
		raw_recv_next(&r);
		assert_int_equal(raw_word(&r, 3), RPCRDMA_XMT_RESP);
		assert_int_equal(raw_word(&r, 14), 100);
		assert_int_equal(raw_word(&r, 15), pair_sum(turn ? page : r.zone->data, 100));
		assert_int_equal(raw_word(&r, 16), 200);
		assert_int_equal(raw_word(&r, 17), pair_sum(turn ? r.zone->data : page, 200));
	}
	hide(&r, &d);
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_places),
		cmocka_unit_test(what_a_request_does_wrong),
		cmocka_unit_test(what_becomes_of_a_place),
		cmocka_unit_test(a_place_finds_its_result),
		cmocka_unit_test(how_much_room_there_is),
		cmocka_unit_test(a_reported_reply),
		cmocka_unit_test(without_targets_nothing_is_placed),
		cmocka_unit_test(items_of_both_kinds),
	};

	pair_versions = RPC_RDMA_V2_RTR;
	return PAIR_RUN(tests);
}

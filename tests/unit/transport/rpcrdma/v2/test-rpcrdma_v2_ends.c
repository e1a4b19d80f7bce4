/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of both ends of version 2 against a peer of which the test says each byte: the answers
 * to mistakes, and a requester's reaction to each error. transport/rpcrdma/v2/rpcrdma_v2 has the
 * headers, transport/rpcrdma/v2/rpcrdma_connprop the properties.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

static const struct pair_params plain;

/* Headers without chunks, with a grant. */
#define MSG(xid, grant, flags) xid, 2, grant, 0, flags, 0, 0, 0, 0
#define NOMSG(xid, flags)      xid, 2, 8, 1, flags, 0, 0, 0, 0
#define ERROR(xid, ...)	       xid, 2, 1, 4, REPLY, __VA_ARGS__
#define CONNPROP(grant, ...)   0, 2, grant, 5, 0, __VA_ARGS__
#define REPLY		       1u
#define MORE		       2u

/* Places in a message of ours with at most one list before them. */
enum { HTYPE = 3, FLAGS, INV, READS, ERR = 5 };

/* --- a requester ------------------------------------------------------------------------------ */

static void expect_call(struct pair *p, struct raw *r, const struct pair_call *c, uint32_t type)
{
	assert_true(raw_recv(r, p));
	assert_int_equal(raw_word(r, 0), c->rpc.xid);
	assert_int_equal(raw_word(r, 1), 2);
	assert_int_equal(raw_word(r, HTYPE), type);
	assert_int_equal(raw_word(r, FLAGS), 0);
}

static void answer(struct pair *p, struct raw *r, struct pair_call *c)
{
	RAW_SEND(r, MSG(c->rpc.xid, 8, REPLY), RPC_REPLY(c->rpc.xid));
	pair_end(p, c, 0);
}

/* A NULL call, and the answer: the connection works. */
static void works(struct pair *p, struct raw *r)
{
	struct pair_call c;

	pair_submit_null(p, &c);
	expect_call(p, r, &c, RDMA_MSG);
	answer(p, r, &c);
}

static void start(struct pair *p, struct raw *r)
{
	pair_init_requester(p, &plain, r);
	works(p, r);
	assert_true(raw_recv(r, p)); /* the properties */
	assert_int_equal(raw_word(r, HTYPE), RDMA_CONNPROP);
}

/* Codes for each error that ends the call; other calls go on. */
static void errors_that_are_final(void **state)
{
	static const uint32_t code[] = {
		RDMA_ERR_CHUNK, RDMA_ERR_INVAL_HTYPE, RDMA_ERR_INVAL_FLAG, RDMA_ERR_SYSTEM, 11, 99};
	struct pair_call a, b;
	struct pair p;
	struct raw r;

	start(&p, &r);
	for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
		pair_submit_null(&p, &a);
		pair_submit_null(&p, &b);
		expect_call(&p, &r, &a, RDMA_MSG);
		expect_call(&p, &r, &b, RDMA_MSG);
		RAW_SEND(&r, ERROR(a.rpc.xid, code[i]));
		pair_end(&p, &a, -EIO);
		assert_int_equal(p.client->credits, 8); /* and not the error's 1 */
		answer(&p, &r, &b);
	}
	/* once the version is settled, it is not asked again, in either form of the error */
	pair_submit_null(&p, &a);
	expect_call(&p, &r, &a, RDMA_MSG);
	RAW_SEND(&r, ERROR(a.rpc.xid, RDMA_ERR_VERS, 1, 1));
	pair_end(&p, &a, -EIO);
	pair_submit_null(&p, &a);
	expect_call(&p, &r, &a, RDMA_MSG);
	RAW_SEND(&r, a.rpc.xid, 2, 1, RDMA_ERROR, RDMA_ERR_VERS, 1, 1);
	pair_end(&p, &a, -EIO);
	works(&p, &r);
	raw_stop(&r, &p);
}

/* The first message, refused in the form of version 2: the requester goes on in version 1 with the
 * same XID. */
static void a_version_is_refused(void **state)
{
	unsigned before = pair_versions;
	struct pair_call c;
	struct pair p;
	struct raw r;

	pair_versions = RPC_RDMA_V1 | RPC_RDMA_V2;
	pair_init_requester(&p, &plain, &r);
	pair_versions = before;
	pair_submit_null(&p, &c);
	expect_call(&p, &r, &c, RDMA_MSG);
	RAW_SEND(&r, ERROR(c.rpc.xid, RDMA_ERR_VERS, 1, 1));
	raw_expect(&r, &p, &c, 1, RDMA_MSG);
	raw_answer(&r, &p, &c, 1, 8);
	assert_int_equal(p.client->rdma_version, 1);
	raw_stop(&r, &p);
}

/* A call with 20000 bytes for the responder to read. */
static void submit_put(struct pair *p, struct pair_call *c, struct mem_buf *b)
{
	struct mem_sge sge = mem_buf_sge(b, 0, 20000);

	memset(b->data, 1, 20000);
	pair_call_init(p, c, PAIR_PUT, 64);
	c->rpc.reply_max = 16;
	xdr_put_u32(&c->rpc.args, 0x11);
	xdr_put_payload(&c->rpc.args, &sge);
	pair_submit(p, c);
}

static void read_chunks_are_refused(void **state)
{
	struct pair_call c;
	struct mem_buf *b;
	struct pair p;
	struct raw r;

	start(&p, &r);
	b = mem_buf_get(p.cpool, 20000);
	submit_put(&p, &c, b);
	expect_call(&p, &r, &c, RDMA_MSG);
	assert_int_equal(raw_word(&r, READS), 1);
	assert_int_equal(raw_word(&r, READS + 1), 48);
	RAW_SEND(&r, ERROR(c.rpc.xid, RDMA_ERR_READ_CHUNKS, 0));
	expect_call(&p, &r, &c, RDMA_NOMSG);
	assert_int_equal(raw_word(&r, READS + 1), 0);
	answer(&p, &r, &c);
	/* nor in this form */
	submit_put(&p, &c, b);
	expect_call(&p, &r, &c, RDMA_MSG);
	RAW_SEND(&r, ERROR(c.rpc.xid, RDMA_ERR_READ_CHUNKS, 3));
	expect_call(&p, &r, &c, RDMA_NOMSG);
	RAW_SEND(&r, ERROR(c.rpc.xid, RDMA_ERR_READ_CHUNKS, 0));
	pair_end(&p, &c, -EIO);
	mem_buf_unref(b);
	works(&p, &r);
	raw_stop(&r, &p);
}

/* Data in one piece that takes more segments than the peer accepts, since segments are short. */
static void segments_are_too_short(void **state)
{
	struct pair_call c;
	struct mem_buf *b;
	struct pair p;
	struct raw r;

	start(&p, &r);
	RAW_SEND(&r, CONNPROP(8, 1, RPCRDMA_PROP_SEG_SIZE, 4, 512));
	works(&p, &r);
	b = mem_buf_get(p.cpool, 20000);
	submit_put(&p, &c, b);
	pair_end(&p, &c, -EIO);
	mem_buf_unref(b);
	works(&p, &r);
	raw_stop(&r, &p);
}

/* A call with a sink in n pieces of 100 bytes. */
static void submit_get(struct pair *p, struct pair_call *c, struct mem_buf *b, unsigned n)
{
	static struct seg s[8]; /* until the call is done */

	for (unsigned i = 0; i < n; i++)
		s[i] = (struct seg){mem_buf_sge(b, 512 * i, 100), b};
	mem_buf_ref(b); /* the call's */
	pair_call_init(p, c, PAIR_GET, 64);
	c->rpc.reply_max = 64;
	c->rpc.nsinks = 1;
	assert_int_equal(seg_list_init(&c->rpc.sink[0], s, n), 0);
	xdr_put_u32(&c->rpc.args, 100 * n);
	pair_submit(p, c);
}

/* The call comes with a Reply chunk of len bytes, instead of Write chunks. */
static void expect_reply_chunk(
	struct pair *p, struct raw *r, const struct pair_call *c, uint32_t len)
{
	expect_call(p, r, c, RDMA_MSG);
	assert_int_equal(raw_word(r, READS), 0);
	assert_int_equal(raw_word(r, READS + 1), 0);
	assert_int_equal(raw_word(r, READS + 2), 1);
	assert_int_equal(raw_word(r, READS + 3), 1);
	assert_int_equal(raw_word(r, READS + 5), len);
}

static void write_chunks_are_refused(void **state)
{
	/* the peer's error; 1 is as many as were offered, and still too many */
	static const uint32_t said[][3] = {{RDMA_ERR_WRITE_CHUNKS, 0}, {RDMA_ERR_WRITE_CHUNKS, 1},
		{RDMA_ERR_SEGMENTS, 4}, {RDMA_ERR_WRITE_RESOURCE, 1, 1000}};
	struct pair_call c;
	struct mem_buf *b;
	struct pair p;
	struct raw r;

	start(&p, &r);
	b = mem_buf_get(p.cpool, 4096);
	for (size_t i = 0; i < 4; i++) {
		uint32_t len = 24 + 64 + (i < 3 ? 500 : 1000);

		submit_get(&p, &c, b, 5);
		expect_call(&p, &r, &c, RDMA_MSG);
		assert_int_equal(raw_word(&r, READS + 1), 1);
		assert_int_equal(raw_word(&r, READS + 2), 5);
		if (i < 3)
			RAW_SEND(&r, ERROR(c.rpc.xid, said[i][0], said[i][1]));
		else
			RAW_SEND(&r, ERROR(c.rpc.xid, said[i][0], said[i][1], said[i][2]));
		expect_reply_chunk(&p, &r, &c, len);
		if (i < 2) {
			answer(&p, &r, &c);
			continue;
		}
		/* a remedy is tried only once */
		if (i == 2)
			RAW_SEND(&r, ERROR(c.rpc.xid, said[i][0], said[i][1]));
		else
			RAW_SEND(&r, ERROR(c.rpc.xid, said[i][0], 0, 0));
		pair_end(&p, &c, -EIO);
	}
	mem_buf_unref(b);
	works(&p, &r);
	raw_stop(&r, &p);
}

static void the_reply_has_no_room(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_call_init(&p, &c, PAIR_LIST, 64);
	c.rpc.reply_max = 100;
	xdr_put_u32(&c.rpc.args, 70000);
	pair_submit(&p, &c);
	expect_call(&p, &r, &c, RDMA_MSG);
	assert_int_equal(raw_word(&r, READS + 2), 0);
	RAW_SEND(&r, ERROR(c.rpc.xid, RDMA_ERR_REPLY_RESOURCE, 70028));
	expect_reply_chunk(&p, &r, &c, 70028);
	RAW_SEND(&r, ERROR(c.rpc.xid, RDMA_ERR_REPLY_RESOURCE, 0));
	pair_end(&p, &c, -EIO);
	works(&p, &r);
	raw_stop(&r, &p);
}

static void a_returned_chunk_is_too_long(void **state)
{
	struct pair_call c;
	struct mem_buf *b;
	struct pair p;

	pair_init(&p, &plain);
	b = mem_buf_get(p.cpool, 4096);
	p.fault = FAULT_LONG_CHUNK;
	submit_get(&p, &c, b, 1);
	pair_end(&p, &c, -EIO);
	p.fault = FAULT_NONE;
	mem_buf_unref(b);
	assert_true(pair_get(&p, 5000, 5000, 64));
	pair_finish(&p);
}

/* A mistake of a responder ends a call or nothing, and is never answered. */
static void a_requester_sends_no_errors(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	pair_submit_null(&p, &c);
	expect_call(&p, &r, &c, RDMA_MSG);
	RAW_SEND(&r, MSG(c.rpc.xid + 1, 8, REPLY), RPC_REPLY(c.rpc.xid + 1)); /* to no call */
	RAW_SEND(&r, c.rpc.xid, 2, 8, 99, REPLY);
	pair_end(&p, &c, -EIO);
	for (uint32_t flags = REPLY; flags < 16; flags += 14) { /* unknown flags, too */
		pair_submit_null(&p, &c);
		expect_call(&p, &r, &c, RDMA_MSG);
		RAW_SEND(&r, NOMSG(c.rpc.xid, flags)); /* without a Reply chunk */
		pair_end(&p, &c, -EIO);
	}
	works(&p, &r);
	raw_stop(&r, &p);
}

/* A reply that breaks off a call of the peer is not lost itself, in any number of Sends. */
static void a_reply_breaks_off_a_call(void **state)
{
	struct pair_call c;
	struct pair p;
	struct raw r;

	start(&p, &r);
	for (int sends = 1; sends <= 2; sends++) {
		pair_submit_null(&p, &c);
		expect_call(&p, &r, &c, RDMA_MSG);
		RAW_SEND(&r, MSG(5, 8, MORE), 5, 0);
		if (sends == 2)
			RAW_SEND(&r, MSG(c.rpc.xid, 8, REPLY | MORE), c.rpc.xid, 1, 0, 0);
		if (sends == 2)
			RAW_SEND(&r, MSG(c.rpc.xid, 8, REPLY), 0, 0);
		else
			RAW_SEND(&r, MSG(c.rpc.xid, 8, REPLY), RPC_REPLY(c.rpc.xid));
		pair_end(&p, &c, 0);
		assert_true(raw_recv(&r, &p));
		assert_int_equal(raw_word(&r, 0), 5);
		assert_int_equal(raw_word(&r, HTYPE), RDMA_ERROR);
		assert_int_equal(raw_word(&r, ERR), RDMA_ERR_INVAL_FLAG);
		works(&p, &r);
	}
	/* a malformed reply fails its call */
	pair_submit_null(&p, &c);
	expect_call(&p, &r, &c, RDMA_MSG);
	RAW_SEND(&r, MSG(5, 8, MORE), 5, 0);
	RAW_SEND(&r, c.rpc.xid, 2, 8, RDMA_MSG, REPLY | MORE, 0, 7);
	pair_end(&p, &c, -EIO);
	assert_true(raw_recv(&r, &p));
	assert_int_equal(raw_word(&r, HTYPE), RDMA_ERROR);
	works(&p, &r);
	/* a reply that is broken off itself ends the connection */
	pair_submit_null(&p, &c);
	expect_call(&p, &r, &c, RDMA_MSG);
	RAW_SEND(&r, MSG(5, 8, MORE), 5, 0);
	RAW_SEND(&r, MSG(c.rpc.xid, 8, REPLY | MORE), c.rpc.xid, 1, 0, 0);
	RAW_SEND(&r, MSG(6, 8, 0), RPC_CALL(6, PAIR_NULL));
	raw_wait_down(&r, &p);
	pair_end(&p, &c, -ENOTCONN);
	raw_stop(&r, &p);
}

/* --- a responder ------------------------------------------------------------------------------ */

static void expect(struct raw *r, uint32_t xid, uint32_t type, uint32_t flags)
{
	assert_true(raw_recv(r, NULL));
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 1), 2);
	assert_int_equal(raw_word(r, HTYPE), type);
	assert_int_equal(raw_word(r, FLAGS), flags);
	assert_true(raw_word(r, 2) & 0xffff); /* each message grants */
}

static void expect_error(struct raw *r, uint32_t xid, uint32_t err)
{
	expect(r, xid, RDMA_ERROR, REPLY);
	assert_int_equal(raw_word(r, ERR), err);
}

/* Takes the responder's properties off the wire; the test's properties are the arguments. */
#define SERVE(p, r, grant, ...)                                                                    \
	do {                                                                                       \
		pair_init_responder(p, &plain, r);                                                 \
		RAW_SEND(r, CONNPROP(grant, __VA_ARGS__));                                         \
		expect(r, 0, RDMA_CONNPROP, 0);                                                    \
	} while (0)

static void null(struct raw *r, uint32_t xid)
{
	RAW_SEND(r, MSG(xid, 8, 0), RPC_CALL(xid, PAIR_NULL));
	expect(r, xid, RDMA_MSG, REPLY);
}

static void a_sequence_is_broken_off(void **state)
{
	struct pair p;
	struct raw r;

	SERVE(&p, &r, 8, 0);
	/* by a reply with the XID of another call */
	RAW_SEND(&r, MSG(5, 8, MORE), 5, 0);
	RAW_SEND(&r, MSG(77, 8, REPLY), RPC_REPLY(77));
	expect_error(&r, 5, RDMA_ERR_INVAL_FLAG);
	/* by an unknown type, by a long message, by a message that is cut off */
	RAW_SEND(&r, MSG(6, 8, MORE), 6, 0);
	RAW_SEND(&r, 6, 2, 8, 77, 0);
	expect_error(&r, 6, RDMA_ERR_INVAL_HTYPE);
	RAW_SEND(&r, MSG(7, 8, MORE), 7, 0);
	RAW_SEND(&r, 7, 2, 8, 1, 0, 0, 1, 0, 9, 44, 0, 0, 0, 0, 0);
	expect_error(&r, 7, RDMA_ERR_INVAL_FLAG);
	RAW_SEND(&r, MSG(8, 8, MORE), 8, 0);
	RAW_SEND(&r, 8, 2, 8, 0);
	expect_error(&r, 8, RDMA_ERR_CHUNK);
	/* by a message with chunks and more to come: the responder drops the rest */
	RAW_SEND(&r, 9, 2, 8, 0, MORE, 0, 0, 0, 1, 0, 9, 0);
	expect_error(&r, 9, RDMA_ERR_INVAL_FLAG);
	/* by a continued message: the rest of it is dropped, and the next message counts as new */
	RAW_SEND(&r, MSG(20, 8, MORE), 20, 0);
	RAW_SEND(&r, MSG(21, 8, MORE), 21, 0);
	expect_error(&r, 21, RDMA_ERR_INVAL_FLAG);
	RAW_SEND(&r, MSG(21, 8, MORE), 2, PAIR_PROG);
	null(&r, 22);
	RAW_SEND(&r, MSG(23, 8, MORE), 23, 0);
	RAW_SEND(&r, MSG(24, 8, MORE), 24, 0);
	expect_error(&r, 24, RDMA_ERR_INVAL_FLAG);
	RAW_SEND(&r, MSG(25, 8, MORE), 25, 0, 2, PAIR_PROG);
	RAW_SEND(&r, MSG(25, 8, 0), 1, PAIR_NULL, 0, 0, 0, 0);
	expect(&r, 25, RDMA_MSG, REPLY);
	/* grants and errors break nothing off */
	RAW_SEND(&r, MSG(10, 8, MORE), 10, 0, 2, PAIR_PROG);
	RAW_SEND(&r, NOMSG(0, 0));
	RAW_SEND(&r, ERROR(77, RDMA_ERR_SYSTEM));
	RAW_SEND(&r, MSG(10, 8, 0), 1, PAIR_NULL, 0, 0, 0, 0);
	expect(&r, 10, RDMA_MSG, REPLY);
	null(&r, 11);
	raw_stop(&r, &p);
}

static void expose(struct raw *r, struct prov_door *d, uint32_t len, unsigned access)
{
	struct mem_sge sge = mem_buf_sge(r->zone, 0, len);

	memset(d, 0, sizeof(*d));
	assert_int_equal(r->prov->expose(r->pc, &sge, access, d), 0);
}

static void withdraw(struct raw *r, struct prov_door *d)
{
	while (r->prov->withdraw(r->pc, d, 1, 0) == -EINPROGRESS) {
		struct prov_wc wc;

		do
			r->prov->wait(r->pc, -1, 10);
		while (!r->prov->poll(r->pc, &wc, 1));
		if (wc.op == PROV_WC_WITHDRAWN)
			break;
	}
}

#define SEG(d, n) (d).stag, n, (uint32_t)((d).offset >> 32), (uint32_t)(d).offset

/* The last Send of a call has the chunks; so has the last Send of the reply. */
static void the_last_send_has_the_chunks(void **state)
{
	uint8_t want[3000];
	struct prov_door d;
	struct pair p;
	struct raw r;

	SERVE(&p, &r, 8, 0);
	expose(&r, &d, 4096, PROV_REMOTE_WRITE);
	RAW_SEND(&r, MSG(5, 8, MORE), 5, 0, 2, PAIR_PROG, 1, PAIR_GET, 0);
	RAW_SEND(&r, 5, 2, 8, 0, 0, 0, 0, 1, 1, SEG(d, 4096), 0, 0, 0, 0, 0, 3000);
	expect(&r, 5, RDMA_MSG, REPLY);
	assert_int_equal(raw_word(&r, 7), 1);
	assert_int_equal(raw_word(&r, 8), 1);
	assert_int_equal(raw_word(&r, 9), d.stag);
	assert_int_equal(raw_word(&r, 10), 3000);
	pair_pattern(want, sizeof(want), 5);
	assert_memory_equal(r.zone->data, want, sizeof(want));
	withdraw(&r, &d);
	raw_stop(&r, &p);
}

/* The peer's Reply chunk is too small: the reply goes in several Sends, and the chunk is not used.
 */
static void a_reply_beside_a_small_chunk(void **state)
{
	uint32_t len = 0, flags, parts = 0;
	struct prov_door d;
	struct pair p;
	struct raw r;

	SERVE(&p, &r, 8, 0);
	expose(&r, &d, 4096, PROV_REMOTE_WRITE);
	memset(r.zone->data, 0xee, 4096);
	RAW_SEND(&r, 5, 2, 8, 0, 0, 0, 0, 0, 1, 1, SEG(d, 4096), RPC_CALL(5, PAIR_LIST), 10000);
	do {
		assert_true(raw_recv(&r, NULL));
		assert_int_equal(raw_word(&r, 0), 5);
		assert_int_equal(raw_word(&r, 3), RDMA_MSG);
		flags = raw_word(&r, FLAGS);
		len += r.len - 36;
		parts++;
	} while (flags == (REPLY | MORE));
	assert_int_equal(flags, REPLY);
	assert_int_equal(parts, 3);
	/* the last Send has the chunk, with the length 0 */
	assert_int_equal(len, 28 + 10000 + 20);
	assert_int_equal(raw_word(&r, READS + 2), 1);
	assert_int_equal(raw_word(&r, READS + 3), 1);
	assert_int_equal(raw_word(&r, READS + 5), 0);
	for (unsigned i = 0; i < 4096; i++)
		assert_int_equal(r.zone->data[i], 0xee);
	withdraw(&r, &d);
	raw_stop(&r, &p);
}

/* Only the handle that the header names is invalidated, and only if it is one of the header's
 * own. */
static void what_is_invalidated(void **state)
{
	if (!pair_prov->remote_inval)
		return;
	for (int i = 0; i < 3; i++) {
		struct prov_wc wc = {0};
		struct prov_door d;
		struct pair p;
		struct raw r;

		SERVE(&p, &r, 8, 0);
		expose(&r, &d, 4096, PROV_REMOTE_WRITE);
		RAW_SEND(&r, 5, 2, 8, 0, 0, i == 0 ? 0 : d.stag + (i == 1), 0, 1, 1, SEG(d, 4096),
			0, 0, RPC_CALL(5, PAIR_GET), 100);
		do
			r.prov->wait(r.pc, -1, 10);
		while (!r.prov->poll(r.pc, &wc, 1));
		assert_int_equal(wc.op, PROV_WC_RECV);
		assert_int_equal(wc.invalidated, i == 2);
		if (i == 2)
			assert_int_equal(wc.inv_stag, d.stag);
		d.invalidated = wc.invalidated;
		withdraw(&r, &d);
		raw_stop(&r, &p);
	}
}

static void more_than_is_taken(void **state)
{
	uint32_t w[9 + 4 * 300 + 32] = {1, 2, 8, 0, 0, 0, 0, 1, 300}, n;
	struct pair p;
	struct raw r;

	SERVE(&p, &r, 8, 0);
	/* 17 empty Write chunks */
	RAW_SEND(&r, 2, 2, 8, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1,
		0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, RPC_CALL(2, PAIR_NULL));
	expect_error(&r, 2, RDMA_ERR_WRITE_CHUNKS);
	assert_int_equal(raw_word(&r, 6), RPCRDMA_MAX_WRITES);
	/* 230 segments are no trouble; 300 need a longer receive than ours, like bytes that are
	 * missing */
	w[8] = 230;
	n = 9 + 4 * 230 + 2;
	memcpy(&w[n], (const uint32_t[]){RPC_CALL(1, PAIR_NULL)}, 40);
	raw_send(&r, w, n + 10, NULL, 0);
	expect(&r, 1, RDMA_MSG, REPLY);
	w[8] = 300;
	raw_send(&r, w, n, NULL, 0);
	expect_error(&r, 1, RDMA_ERR_CHUNK);
	/* a Read chunk of 2 MiB, and one of an impossible position */
	RAW_SEND(&r, 3, 2, 8, 0, 0, 0, 1, 40, 7, 2u << 20, 0, 0, 0, 0, 0, RPC_CALL(3, PAIR_PUT));
	expect_error(&r, 3, RDMA_ERR_SYSTEM);
	RAW_SEND(&r, 4, 2, 8, 0, 0, 0, 1, 42, 7, 4, 0, 0, 0, 0, 0, RPC_CALL(4, PAIR_PUT));
	expect_error(&r, 4, RDMA_ERR_CHUNK);
	/* the XID of another call; a call without a message */
	RAW_SEND(&r, MSG(5, 8, 0), RPC_CALL(6, PAIR_NULL));
	expect_error(&r, 5, RDMA_ERR_CHUNK);
	RAW_SEND(&r, MSG(6, 8, 0));
	expect_error(&r, 6, RDMA_ERR_CHUNK);
	/* another version, now that version 2 is settled */
	RAW_SEND(&r, 7, 1, 8, 0, 0, 0, 0, RPC_CALL(7, PAIR_NULL));
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 0), 7);
	assert_int_equal(raw_word(&r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(&r, 4), RDMA_ERR_VERS);
	assert_int_equal(raw_word(&r, 5), 2);
	assert_int_equal(raw_word(&r, 6), 2);
	assert_int_equal(p.served, 1);
	null(&r, 8);
	raw_stop(&r, &p);
}

/* More Sends than a reply may take, and a Reply chunk that is too small: the error tells the needed
 * size. */
static void no_room_for_a_reply(void **state)
{
	const uint32_t n = 1040000;
	struct prov_door d;
	struct pair p;
	struct raw r;

	SERVE(&p, &r, 8, 1, 2, 4, 1); /* receives of one byte; 1024 are taken for it */
	expose(&r, &d, 65536, PROV_REMOTE_WRITE);
	RAW_SEND(&r, MSG(1, 8, 0), RPC_CALL(1, PAIR_LIST), n);
	expect_error(&r, 1, RDMA_ERR_REPLY_RESOURCE);
	assert_int_equal(raw_word(&r, 6), 24 + 4 + n);
	RAW_SEND(&r, 2, 2, 8, 0, 0, 0, 0, 0, 1, 1, SEG(d, 65536), RPC_CALL(2, PAIR_LIST), n);
	expect_error(&r, 2, RDMA_ERR_REPLY_RESOURCE);
	assert_int_equal(raw_word(&r, 6), 24 + 4 + n);
	/* a reply that fits into the chunk goes there */
	RAW_SEND(&r, 3, 2, 8, 0, 0, 0, 0, 0, 1, 1, SEG(d, 65536), RPC_CALL(3, PAIR_LIST), 60000);
	expect(&r, 3, RDMA_NOMSG, REPLY);
	assert_int_equal(raw_word(&r, 11), 24 + 4 + 60000);
	withdraw(&r, &d);
	null(&r, 4);
	raw_stop(&r, &p);
}

static void properties_may_change(void **state)
{
	struct pair p;
	struct raw r;

	SERVE(&p, &r, 8, 1, 1, 4, 8192); /* the size of its receives is 4096, then, for good */
	RAW_SEND(&r, CONNPROP(8, 1, 2, 4, 8192));
	RAW_SEND(&r, MSG(1, 8, 0), RPC_CALL(1, PAIR_LIST), 5000);
	expect(&r, 1, RDMA_MSG, REPLY | MORE);
	assert_true(r.len <= 4096);
	expect(&r, 1, RDMA_MSG, REPLY);
	/* a lower value counts */
	RAW_SEND(&r, CONNPROP(8, 1, 2, 4, 2048));
	RAW_SEND(&r, MSG(2, 8, 0), RPC_CALL(2, PAIR_LIST), 3000);
	expect(&r, 2, RDMA_MSG, REPLY | MORE);
	assert_true(r.len <= 2048);
	expect(&r, 2, RDMA_MSG, REPLY);
	/* malformed properties change nothing */
	RAW_SEND(&r, CONNPROP(8, 1, 2, 2, 0));
	expect_error(&r, 0, RDMA_ERR_CHUNK);
	RAW_SEND(&r, CONNPROP(8, 2, 2, 4, 4096));
	expect_error(&r, 0, RDMA_ERR_CHUNK);
	RAW_SEND(&r, MSG(3, 8, 0), RPC_CALL(3, PAIR_LIST), 3000);
	expect(&r, 3, RDMA_MSG, REPLY | MORE);
	expect(&r, 3, RDMA_MSG, REPLY);
	raw_stop(&r, &p);
}

/* A client that takes no calls in reverse gets none. */
static void no_calls_in_reverse(void **state)
{
	struct pair p;
	struct raw r;

	SERVE(&p, &r, 8, 1, 5, 4, 0);
	RAW_SEND(&r, MSG(1, 8, 0), RPC_CALL(1, PAIR_CALL_BACK));
	expect(&r, 1, RDMA_MSG, REPLY);
	while (!p.cb_done)
		raw_recv_within(&r, NULL, 5);
	assert_int_equal(p.cb_error, -EIO);
	null(&r, 2);
	raw_stop(&r, &p);
}

/* A grant of 0 counts as 1. */
static void a_grant_of_none(void **state)
{
	struct pair p;
	struct raw r;

	SERVE(&p, &r, 0, 0);
	for (uint32_t xid = 1; xid < 4; xid++) {
		RAW_SEND(&r, MSG(xid, 0, 0), RPC_CALL(xid, PAIR_ECHO), 4, 0);
		expect(&r, xid, RDMA_MSG, REPLY);
	}
	raw_stop(&r, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_that_are_final),
		cmocka_unit_test(a_version_is_refused),
		cmocka_unit_test(read_chunks_are_refused),
		cmocka_unit_test(segments_are_too_short),
		cmocka_unit_test(write_chunks_are_refused),
		cmocka_unit_test(the_reply_has_no_room),
		cmocka_unit_test(a_returned_chunk_is_too_long),
		cmocka_unit_test(a_requester_sends_no_errors),
		cmocka_unit_test(a_reply_breaks_off_a_call),
		cmocka_unit_test(a_sequence_is_broken_off),
		cmocka_unit_test(the_last_send_has_the_chunks),
		cmocka_unit_test(a_reply_beside_a_small_chunk),
		cmocka_unit_test(what_is_invalidated),
		cmocka_unit_test(more_than_is_taken),
		cmocka_unit_test(no_room_for_a_reply),
		cmocka_unit_test(properties_may_change),
		cmocka_unit_test(no_calls_in_reverse),
		cmocka_unit_test(a_grant_of_none),
	};

	pair_versions = RPC_RDMA_V2;
	return PAIR_RUN(tests);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_req: answers at any time, and the memory of payloads. Over TCP,
 * or,
 * with the argument "iwarp", over RPC-over-RDMA.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/transport/rpc/rpc-pair.h"

static void answers_may_come_from_another_thread(void **state)
{
	struct pair p;
	struct one o[4];

	pair_start(&p, 10000, 0);
	for (int i = 0; i < 4; i++) {
		one_init(&o[i], &p.c, P_ASYNC);
		assert_int_equal(rpc_call_submit(&o[i].call), 0);
	}
	for (int i = 0; i < 4; i++) {
		sem_wait(&arrived);
		sem_post(&allowed);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(one_wait(&o[i]), 0);
		one_finish(&o[i]);
		sem_wait(&answered);
	}
	/* an answer after the connection and the server have gone */
	one_init(&o[0], &p.c, P_ASYNC);
	assert_int_equal(rpc_call_submit(&o[0].call), 0);
	sem_wait(&arrived);
	p.c.c = rpc_client_free(p.c.c);
	one_finish(&o[0]);
	srv_stop(&p.s);
	sem_post(&allowed);
	sem_wait(&answered);
	pair_stop(&p);
}

/* --- memory of payloads ------------------------------------------------------------------------
 */

static void destroy(struct rpc_xprt *x)
{
	rpc_xprt_fini(x);
}

static size_t used(struct mem_pool *pool)
{
	struct mem_stats st;

	mem_pool_stats(pool, &st);
	return st.used_bytes;
}

/* References are taken over, even if the segments change afterwards. */
static void payloads_are_held_until_the_end(void **state)
{
	static const struct rpc_xprt_ops ops = {.destroy = destroy};
	struct mem_pool *pool = mem_pool_new(0);
	static struct seg many[SEG_LIST_MAX + 1];
	struct seg_list l, copy;
	struct rpc_xprt x = {0};
	struct rpc_req *req;
	struct mem_buf *a, *b;
	struct seg seg[4];

	assert_int_equal(rpc_xprt_init(&x, &ops, NULL), 0);
	req = rpc_req_new(&x);
	assert_non_null(req);
	/* no payload: the block goes at once */
	seg[0].hold = mem_buf_get(pool, 100);
	seg[0].at = mem_buf_sge(seg[0].hold, 7, 0);
	assert_int_equal(rpc_req_hold(req, seg, 1, &l), 0);
	assert_int_equal(l.len, 0);
	assert_int_equal(req->nhold, 0);
	assert_int_equal(used(pool), 0);
	/* too much */
	b = mem_buf_get(pool, 100);
	for (unsigned i = 0; i <= SEG_LIST_MAX; i++)
		many[i] = (struct seg){mem_buf_sge(b, 0, 1), b};
	assert_int_equal(rpc_req_hold(req, many, SEG_LIST_MAX + 1, &l), -E2BIG);
	assert_int_equal(l.len, 0);
	assert_int_equal(used(pool), 0);
	/* three blocks, two segments of the second in a row: one reference for both */
	a = mem_buf_get(pool, 100);
	b = mem_buf_get(pool, 100);
	seg[0] = (struct seg){mem_buf_sge(a, 0, 10), a};
	seg[1] = (struct seg){mem_buf_sge(b, 0, 20), b};
	seg[2] = (struct seg){mem_buf_sge(b, 50, 30), b};
	seg[3].hold = mem_buf_get(pool, 100);
	seg[3].at = mem_buf_sge(seg[3].hold, 0, 40);
	assert_int_equal(rpc_req_hold(req, seg, 4, &l), 0);
	assert_int_equal(l.len, 100);
	assert_int_equal(l.n, 4);
	memset(seg, 0, sizeof(seg)); /* the array was copied */
	copy = seg_list_cut(&l, 15, 20);
	assert_int_equal(copy.len, 20);
	assert_int_equal(seg_list_kept(&l), a->size + b->size + l.seg[3].hold->size);
	/* as many payloads as a message can have, and one more */
	for (unsigned i = 1; i < XDR_MAX_PAYLOADS; i++) {
		seg[0].hold = mem_buf_get(pool, 100);
		seg[0].at = mem_buf_sge(seg[0].hold, 0, 100);
		assert_int_equal(rpc_req_hold(req, seg, 1, &l), 0);
		assert_int_equal(l.n, 1);
	}
	seg[0].hold = mem_buf_ref(a);
	seg[0].at = mem_buf_sge(a, 0, 100);
	assert_int_equal(rpc_req_hold(req, seg, 1, &l), -ENOSPC);
	assert_int_equal(a->refs, 1);
	assert_int_equal(req->nhold, XDR_MAX_PAYLOADS);
	rpc_req_unhold(req);
	assert_int_equal(used(pool), 0);
	/* and by the end of the request */
	seg[0].hold = mem_buf_get(pool, 100);
	seg[0].at = mem_buf_sge(seg[0].hold, 0, 100);
	assert_int_equal(rpc_req_hold(req, seg, 1, &l), 0);
	rpc_req_free(req);
	pool_end(pool);
	rpc_xprt_unref(&x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_may_come_from_another_thread),
		cmocka_unit_test(payloads_are_held_until_the_end),
	};

	return RPC_PAIR_RUN(argc, argv, tests);
}

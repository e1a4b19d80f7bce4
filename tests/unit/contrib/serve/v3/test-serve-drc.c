/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/v3/drc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/state/answers.h"
#include "contrib/serve/v3/drc.h"
#include "tests/unit/contrib/serve/short-malloc.h"
#include "transport/rpc/xprt.h"

static const char args[] = "arguments of a call";

static struct rpc_req request(uint32_t xid)
{
	struct rpc_req req = {.xid = xid, .prog = 100003, .vers = 3, .proc = 12};

	xdr_in_init(&req.args, args, sizeof(args));
	return req;
}

/* Begins a call. A kept answer goes into buf (64 bytes). */
static enum drc_verdict begin(struct drc *d, uint32_t xid, uint8_t *buf, struct drc_entry **e)
{
	struct rpc_req req = request(xid);
	struct xdr_out out;

	*e = NULL;
	xdr_out_init(&out, buf, 64);
	return drc_begin(d, &req, &out, e);
}

static void answer(struct drc *d, struct drc_entry *e, uint32_t word)
{
	uint8_t buf[16];
	struct xdr_out out;

	xdr_out_init(&out, buf, sizeof(buf));
	xdr_put_u32(&out, word);
	drc_done(d, e, &out);
}

static uint32_t word_of(const uint8_t *buf)
{
	struct xdr_in in;

	xdr_in_init(&in, buf, 4);
	return xdr_get_u32(&in);
}

static void the_oldest_go_first(void **state)
{
	struct drc *d = drc_new(10);
	struct drc_entry *e;
	struct drc_stats s;
	uint8_t buf[64];

	for (uint32_t xid = 1; xid <= 30; xid++) {
		assert_int_equal(begin(d, xid, buf, &e), DRC_RUN);
		answer(d, e, xid);
	}
	drc_stats(d, &s);
	assert_int_equal(s.entries, 10);
	assert_int_equal(begin(d, 21, buf, &e), DRC_REPLAY);
	assert_int_equal(word_of(buf), 21);
	assert_int_equal(begin(d, 20, buf, &e), DRC_RUN);
	answer(d, e, 20);
	drc_free(d);
}

/* A run of the server that shares the record at path with the earlier runs. */
static struct drc *next_run(const char *path, struct answers **a)
{
	struct drc *d = drc_new(10);

	answers_free(*a);
	*a = answers_new(path);
	assert_true(d && *a);
	drc_share(d, *a);
	return d;
}

static void the_next_run_has_the_answer(void **state)
{
	char dir[] = "/tmp/rnfs-drc.XXXXXX", path[64];
	struct answers *a = NULL;
	struct drc_entry *e;
	struct xdr_out out;
	uint8_t buf[64];
	struct drc *d;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/record", dir);
	d = next_run(path, &a);
	assert_int_equal(begin(d, 1, buf, &e), DRC_RUN);
	xdr_out_init(&out, buf, sizeof(buf));
	xdr_put_u32(&out, 77);
	drc_keep(d, e, &out); /* and the server is killed before drc_done() */
	answer(d, e, 78);
	assert_int_equal(begin(d, 2, buf, &e), DRC_RUN);
	answer(d, e, 79); /* not kept for the next run */
	drc_free(d);
	d = next_run(path, &a);
	assert_int_equal(begin(d, 1, buf, &e), DRC_REPLAY);
	assert_int_equal(word_of(buf), 77);
	assert_int_equal(begin(d, 2, buf, &e), DRC_RUN);
	answer(d, e, 80);
	drc_free(d);
	answers_free(a);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static void payload_counts_as_arguments(void **state)
{
	struct drc *d = drc_new(10);
	char data[2][8] = {"one", "two"};
	struct drc_entry *e;
	struct xdr_out out;
	uint8_t buf[64];

	for (int i = 0; i < 3; i++) {
		struct rpc_req req = request(1);

		req.args.npayloads = 1;
		req.args.payload[0].pos = sizeof(args);
		req.args.payload[0].data =
			seg_list_of((struct mem_sge){.addr = data[i % 2], .len = 8}, NULL);
		xdr_out_init(&out, buf, sizeof(buf));
		assert_int_equal(drc_begin(d, &req, &out, &e), i < 2 ? DRC_RUN : DRC_REPLAY);
		if (i < 2)
			answer(d, e, (uint32_t)i);
	}
	drc_free(d);
}

/* Sends the call once, and answers a new call. Was the call new? */
static bool is_new(struct drc *d, const struct rpc_req *req)
{
	struct drc_entry *e;
	struct xdr_out out;
	uint8_t buf[64];
	enum drc_verdict v;

	xdr_out_init(&out, buf, sizeof(buf));
	v = drc_begin(d, req, &out, &e);
	if (v == DRC_RUN)
		answer(d, e, 1);
	return v == DRC_RUN;
}

static void all_arguments_count(void **state)
{
	struct drc *d = drc_new(100);
	static char long_args[4000];

	for (size_t at = 3; at < sizeof(long_args); at += 331) {
		struct rpc_req req = request(1);

		long_args[at]++;
		xdr_in_init(&req.args, long_args, sizeof(long_args));
		assert_true(is_new(d, &req));
		assert_false(is_new(d, &req));
		xdr_in_init(&req.args, long_args, sizeof(long_args) - 4);
		assert_true(is_new(d, &req));
	}
	drc_free(d);
}

static void inline_or_by_chunk_is_the_same(void **state)
{
	static char whole[20 + 20002 + 2]; /* padded */
	struct rpc_req req = request(1);
	struct drc *d = drc_new(10);

	for (size_t i = 0; i < sizeof(whole) - 2; i++)
		whole[i] = (char)(i * 7);
	xdr_in_init(&req.args, whole, sizeof(whole));
	assert_true(is_new(d, &req));
	xdr_in_init(&req.args, whole, 20);
	req.args.npayloads = 1;
	req.args.payload[0].pos = 20;
	req.args.payload[0].data =
		seg_list_of((struct mem_sge){.addr = (uint8_t *)whole + 20, .len = 20002}, NULL);
	assert_false(is_new(d, &req));
	whole[20 + 100] ^= 1;
	assert_true(is_new(d, &req));
	drc_free(d);
}

static void the_whole_credential_counts(void **state)
{
	struct drc *d = drc_new(10);
	struct rpc_req req = request(1);

	req.cred = (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 100, .ngids = 1};
	assert_true(is_new(d, &req));
	req.cred.gids[0] = 7;
	assert_true(is_new(d, &req));
	req.cred.gid = 101;
	assert_true(is_new(d, &req));
	req.cred.uid = 1001;
	assert_true(is_new(d, &req));
	assert_false(is_new(d, &req));
	drc_free(d);
}

static void the_port_counts_where_clients_keep_it(void **state)
{
	static const struct rpc_xprt_ops stream = {.keeps_port = true},
					 rdma = {.keeps_port = false};
	struct rpc_xprt first = {.ops = &stream, .peer = "10.0.0.1:700"},
			second = {.ops = &stream, .peer = "10.0.0.1:701"};
	struct drc *d = drc_new(10);
	struct rpc_req req = request(1);

	req.xprt = &first;
	assert_true(is_new(d, &req));
	req.xprt = &second; /* another client of the same host */
	assert_true(is_new(d, &req));
	assert_false(is_new(d, &req));
	req.xid = 2;
	first.ops = second.ops = &rdma;
	assert_true(is_new(d, &req));
	req.xprt = &first; /* the same client again */
	assert_false(is_new(d, &req));
	drc_free(d);
}

static void a_long_answer_is_not_kept(void **state)
{
	struct drc *d = drc_new(10);
	uint8_t buf[64], big[DRC_REPLY_MAX + 4];
	struct drc_entry *e;
	struct xdr_out out;

	assert_int_equal(begin(d, 1, buf, &e), DRC_RUN);
	xdr_out_init(&out, big, sizeof(big));
	xdr_reserve(&out, sizeof(big));
	drc_done(d, e, &out);
	assert_int_equal(begin(d, 1, buf, &e), DRC_DROP);
	drc_free(d);
}

/* A call that was carried out is answered again; without memory for the answer, the call is not
 * carried out. */
static void without_memory_for_the_answer_nothing_is_done(void **state)
{
	struct drc *d = drc_new(10);
	struct drc_entry *e;
	uint8_t buf[64];

	malloc_max = 0;
	assert_int_equal(begin(d, 1, buf, &e), DRC_LATER);
	assert_null(e);
	malloc_max = SIZE_MAX;
	assert_int_equal(begin(d, 1, buf, &e), DRC_RUN);
	malloc_max = 0;
	answer(d, e, 17);
	malloc_max = SIZE_MAX;
	assert_int_equal(begin(d, 1, buf, &e), DRC_REPLAY);
	assert_int_equal(word_of(buf), 17);
	drc_free(d);
}

static void what_was_not_done_may_be_tried_again(void **state)
{
	struct drc *d = drc_new(10);
	struct drc_entry *e;
	uint8_t buf[64];

	for (int i = 0; i < 3; i++) {
		assert_int_equal(begin(d, 1, buf, &e), DRC_RUN);
		drc_done(d, e, NULL);
	}
	drc_free(d);
}

struct second {
	struct drc *d;
	enum drc_verdict verdict;
	struct drc_entry *e;
	uint8_t buf[64];
};

static void *come_again(void *arg)
{
	struct second *s = arg;

	s->verdict = begin(s->d, 1, s->buf, &s->e);
	return NULL;
}

/* Sends the call a second time while the first is under way, and waits until the second has
 * come. */
static struct drc_entry *begin_twice(struct second *s, pthread_t *thread)
{
	struct drc_stats stats = {0};
	struct drc_entry *e;
	uint8_t buf[64];

	assert_int_equal(begin(s->d, 1, buf, &e), DRC_RUN);
	pthread_create(thread, NULL, come_again, s);
	while (stats.waits == 0) {
		usleep(1000);
		drc_stats(s->d, &stats);
	}
	return e;
}

static void what_comes_again_too_soon_waits(void **state)
{
	struct second s = {.d = drc_new(10)};
	pthread_t thread;

	answer(s.d, begin_twice(&s, &thread), 4711);
	pthread_join(thread, NULL);
	assert_int_equal(s.verdict, DRC_REPLAY);
	assert_int_equal(word_of(s.buf), 4711);
	drc_free(s.d);
}

static void who_waited_for_nothing_takes_over(void **state)
{
	struct second s = {.d = drc_new(10)};
	struct drc_entry *e;
	pthread_t thread;
	uint8_t buf[64];

	drc_done(s.d, begin_twice(&s, &thread), NULL);
	pthread_join(thread, NULL);
	assert_int_equal(s.verdict, DRC_RUN);
	answer(s.d, s.e, 4711);
	assert_int_equal(begin(s.d, 1, buf, &e), DRC_REPLAY);
	assert_int_equal(word_of(buf), 4711);
	drc_free(s.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waited_for_nothing_takes_over),
		cmocka_unit_test(the_oldest_go_first),
		cmocka_unit_test(the_next_run_has_the_answer),
		cmocka_unit_test(payload_counts_as_arguments),
		cmocka_unit_test(all_arguments_count),
		cmocka_unit_test(inline_or_by_chunk_is_the_same),
		cmocka_unit_test(the_whole_credential_counts),
		cmocka_unit_test(the_port_counts_where_clients_keep_it),
		cmocka_unit_test(a_long_answer_is_not_kept),
		cmocka_unit_test(without_memory_for_the_answer_nothing_is_done),
		cmocka_unit_test(what_was_not_done_may_be_tried_again),
		cmocka_unit_test(what_comes_again_too_soon_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/iwarp/iwarp_tx: RDMA Reads, full sockets, references, doors that close
 * under an answer, and posting from several threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/transport/iwarp/iwarp-pair.h"

static int post_read(
	struct end *e, uint64_t cookie, void *to, uint32_t n, uint32_t stag, uint64_t offset)
{
	struct prov_wr wr = {.op = PROV_READ,
		.cookie = cookie,
		.nsge = 1,
		.remote_stag = stag,
		.remote_offset = offset};

	wr.sge[0] = sge_of(to, n);
	return prov_iwarp.post(e->c, &wr);
}

static struct prov_door open_door(struct end *e, void *p, uint32_t n, unsigned access)
{
	struct mem_sge s = sge_of(p, n);
	struct prov_door d;

	assert_int_equal(prov_iwarp.expose(e->c, &s, access, &d), 0);
	return d;
}

static void read_all_sizes(struct pair *p, struct end *reader, struct end *owner)
{
	static const uint32_t sizes[] = {0, 1, 3, 4096, 65460, 65461, 200000, 3 << 20};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t n = sizes[i];
		uint8_t *src = malloc(n + 100), *dst = calloc(1, n + 8);
		struct prov_door d = open_door(owner, src, n + 100, PROV_REMOTE_READ);
		unsigned at = reader->n;

		pair_fill(src, n + 100, n);
		assert_int_equal(post_read(reader, 42 + i, dst + 4, n, d.stag, d.offset + 50), 0);
		assert_true(pump(reader, at + 1, owner, 0));
		assert_int_equal(reader->log[at].op, PROV_WC_READ);
		assert_int_equal(reader->log[at].cookie, 42 + i);
		assert_memory_equal(dst + 4, src + 50, n);
		assert_memory_equal(dst, "\0\0\0\0", 4);
		assert_memory_equal(dst + 4 + n, "\0\0\0\0", 4);
		assert_int_equal(prov_iwarp.withdraw(owner->c, &d, 1, 0), 0);
		free(src);
		free(dst);
	}
}

static void reads_bring_the_bytes(void **state)
{
	for (int crc = 0; crc < 2; crc++) {
		struct pair p;

		pair_start(&p, crc);
		greet(&p);
		read_all_sizes(&p, &p.active, &p.passive);
		read_all_sizes(&p, &p.passive, &p.active);
		pair_finish(&p);
	}
}

static void many_more_reads_than_ord(void **state)
{
	enum { N = 60, LEN = 30000 };
	static uint8_t src[2][N][LEN], dst[2][N][LEN];
	struct prov_door d[2];
	struct end *end[2];
	struct pair p;

	pair_start(&p, false);
	greet(&p);
	p.passive.n = p.active.n = 0;
	end[0] = &p.active;
	end[1] = &p.passive;
	assert_int_equal(p.active.c->ord, 4);
	pair_fill(src[0][0], sizeof(src), 3);
	for (int k = 0; k < 2; k++)
		d[k] = open_door(end[k], src[k], sizeof(src[k]), PROV_REMOTE_READ);
	for (unsigned i = 0; i < N; i++)
		for (int k = 0; k < 2; k++)
			assert_int_equal(post_read(end[k], i, dst[!k][i], LEN, d[!k].stag,
						 (uint64_t)i * LEN),
				0);
	assert_true(pump(end[0], N, end[1], N));
	for (unsigned i = 0; i < N; i++)
		for (int k = 0; k < 2; k++)
			assert_int_equal(end[k]->log[i].cookie, i);
	assert_memory_equal(src, dst, sizeof(src));
	pair_finish(&p);
}

static void depth_is_bounded(void **state)
{
	uint8_t buf[8];
	struct pair p;
	struct prov_door d;

	pair_start(&p, false);
	greet(&p);
	p.active.n = 0;
	d = open_door(&p.passive, buf, 8, PROV_REMOTE_READ);
	for (int i = 0; i < 64; i++)
		assert_int_equal(post_read(&p.active, 0, buf, 8, d.stag, 0), 0);
	assert_int_equal(post_read(&p.active, 0, buf, 8, d.stag, 0), -ENOBUFS);
	assert_int_equal(send_bytes(&p.active, "x", 1, 0), -ENOBUFS);
	assert_true(pump(&p.active, 64, &p.passive, 0));
	assert_int_equal(post_read(&p.active, 0, buf, 8, d.stag, 0), 0);
	for (unsigned i = 0; i < 64; i++)
		post_recv(&p.active, i, buf, 8);
	assert_int_equal(
		prov_iwarp.post_recv(p.active.c, 64, &(struct mem_sge){.addr = buf}), -ENOBUFS);
	pair_finish(&p);
}

/* Neither end reads while both write more than the sockets hold. */
static void two_writers_do_not_stop_each_other(void **state)
{
	enum { LEN = 4 << 20, TIMES = 12 };
	uint8_t *src = malloc(LEN), *dst[2] = {calloc(1, LEN), calloc(1, LEN)}, b[2][8];
	struct prov_door d[2];
	struct end *end[2];
	struct pair p;

	pair_start(&p, false);
	greet(&p);
	p.passive.n = 0;
	end[0] = &p.active;
	end[1] = &p.passive;
	pair_fill(src, LEN, 9);
	for (int k = 0; k < 2; k++) {
		d[k] = open_door(end[k], dst[k], LEN, PROV_REMOTE_WRITE);
		post_recv(end[k], 1, b[k], 8);
	}
	for (int i = 0; i < TIMES; i++)
		for (int k = 0; k < 2; k++) {
			struct prov_wr wr = {
				.op = PROV_WRITE, .nsge = 1, .remote_stag = d[!k].stag};

			wr.sge[0] = sge_of(src, LEN);
			assert_int_equal(prov_iwarp.post(end[k]->c, &wr), 0);
		}
	for (int k = 0; k < 2; k++)
		assert_int_equal(send_bytes(end[k], "done", 4, 0), 0);
	assert_true(atomic_load(&((struct iwarp_conn *)p.active.c)->blocked));
	assert_true(atomic_load(&((struct iwarp_conn *)p.passive.c)->blocked));
	assert_true(pump(end[0], 1, end[1], 1));
	for (int k = 0; k < 2; k++) {
		assert_memory_equal(b[k], "done", 4);
		assert_memory_equal(dst[k], src, LEN);
		free(dst[k]);
	}
	free(src);
	pair_finish(&p);
}

static void references_go_when_the_bytes_are_out(void **state)
{
	uint8_t b[16];
	struct prov_wr wr = {.op = PROV_SEND, .flags = PROV_MORE, .nsge = 1, .nhold = 1};
	uint64_t sent = 1;
	struct mem_buf *m;
	struct pair p;

	pair_start(&p, false);
	post_recv(&p.passive, 1, b, 16);
	m = mem_buf_get(p.pool, 100);
	memcpy(m->data, "counted", 7);
	wr.sge[0] = mem_buf_sge(m, 0, 7);
	wr.hold[0] = m;
	assert_int_equal(prov_iwarp.post(p.active.c, &wr), 0);
	assert_int_equal(m->refs, 2);
	assert_int_equal(prov_iwarp.unsent(p.active.c, &sent), 7 + m->size);
	assert_int_equal(sent, 0);
	post_recv(&p.passive, 2, b, 16);
	assert_int_equal(send_bytes(&p.active, "x", 1, 0), 0);
	assert_int_equal(m->refs, 1);
	assert_int_equal(prov_iwarp.unsent(p.active.c, &sent), 0);
	assert_true(sent >= 7 + m->size);
	/* the passive side may not send yet: the reference stays until the connection ends */
	wr.flags = 0;
	assert_int_equal(prov_iwarp.post(p.passive.c, &wr), 0);
	assert_int_equal(m->refs, 2);
	prov_iwarp.disconnect(p.passive.c);
	end_poll(&p.passive);
	assert_true(p.passive.down);
	assert_int_equal(m->refs, 1);
	mem_buf_unref(m);
	pair_finish(&p);
}

/* Posts writes until the socket is full, and then a Terminate. Returns the number of pieces in the
 * batch of a write of which only a part is built. */
static unsigned terminate_in_a_write(void)
{
	enum { TIMES = 40 };
	struct prov_wr wr = {.op = PROV_WRITE, .nsge = 1, .nhold = 1};
	struct ddp_term term = {.err = RDMAP_ERR_UNSPECIFIED};
	static uint8_t dst[MEM_MAX_SIZE];
	struct iwarp_conn *c;
	struct mem_buf *m;
	struct prov_door d;
	unsigned kept = 0;
	struct pair p;

	pair_start(&p, false);
	greet(&p);
	c = (struct iwarp_conn *)p.active.c;
	d = open_door(&p.passive, dst, sizeof(dst), PROV_REMOTE_WRITE);
	wr.remote_stag = d.stag;
	wr.remote_offset = d.offset;
	for (int i = 0; i < TIMES; i++) {
		m = mem_buf_get(p.pool, MEM_MAX_SIZE);
		assert_non_null(m);
		wr.sge[0] = mem_buf_sge(m, 0, MEM_MAX_SIZE);
		wr.hold[0] = m;
		assert_int_equal(prov_iwarp.post(p.active.c, &wr), 0);
		mem_buf_unref(m);
	}
	assert_true(atomic_load(&c->blocked));
	m = TAILQ_FIRST(&c->ready)->hold[0];
	iwarp_tx_terminate(c, &term);
	for (unsigned i = c->batch.at; i < c->batch.n; i++) {
		const uint8_t *at = c->batch.iov[i].iov_base;

		kept += at >= m->data && at < m->data + m->size;
	}
	if (kept)
		assert_int_equal(m->refs, 1);
	iwarp_tx_purge(c);
	assert_int_equal(m->refs, 0);
	pair_finish(&p);
	return kept;
}

/* The socket is full, and the batch holds pieces of a write of which only a part is built. The
 * socket may have taken these pieces by then: then the test tries again. */
static void a_terminate_keeps_what_the_batch_sends(void **state)
{
	unsigned kept = 0;

	for (int i = 0; i < 50 && !kept; i++)
		kept = terminate_in_a_write();
	assert_true(kept > 0);
}

static void await_blocked(struct end *e, unsigned nresp)
{
	struct iwarp_conn *c = (struct iwarp_conn *)e->c;

	for (int i = 0; i < 6000 && atomic_load(&c->nresp) < nresp; i++) {
		prov_iwarp.wait(e->c, -1, 10);
		end_poll(e);
	}
	for (int i = 0; i < 50; i++)
		end_poll(e);
	assert_true(atomic_load(&c->blocked));
}

/* The answer to a read is stuck in a full socket when the door closes and the memory is freed. */
static void a_door_closes_under_an_answer(void **state)
{
	enum { LEN = 12 << 20 };

	for (int crc = 0; crc < 2; crc++) {
		uint8_t *src = malloc(LEN), *want = malloc(LEN), *dst = calloc(1, LEN);
		struct prov_door d;
		struct pair p;

		pair_start(&p, crc);
		greet(&p);
		pair_fill(src, LEN, 4);
		memcpy(want, src, LEN);
		d = open_door(&p.active, src, LEN, PROV_REMOTE_READ);
		p.passive.n = 0;
		assert_int_equal(post_read(&p.passive, 5, dst, LEN / 2, d.stag, 0), 0);
		assert_int_equal(
			post_read(&p.passive, 6, dst + LEN / 2, LEN / 2, d.stag, LEN / 2), 0);
		await_blocked(&p.active, 2);
		assert_int_equal(prov_iwarp.withdraw(p.active.c, &d, 1, 0), 0);
		memset(src, 0xee, LEN);
		free(src);
		assert_true(pump(&p.passive, 2, &p.active, 0));
		assert_int_equal(p.passive.log[1].op, PROV_WC_READ);
		assert_memory_equal(dst, want, LEN);
		free(want);
		free(dst);
		pair_finish(&p);
	}
}

/* A Terminate drops the second answer, but the batch goes on with the first. */
static void overlapping_answers_have_their_own_copies(void **state)
{
	enum { LEN = 12 << 20 };
	uint8_t *src = calloc(1, LEN), *dst = calloc(2, LEN);
	const uint8_t *copy;
	struct iwarp_req *second;
	struct iwarp_conn *c;
	struct prov_door d;
	struct pair p;

	pair_start(&p, false);
	c = (struct iwarp_conn *)p.active.c;
	greet(&p);
	d = open_door(&p.active, src, LEN, PROV_REMOTE_READ);
	assert_int_equal(post_read(&p.passive, 5, dst, LEN, d.stag, 0), 0);
	await_blocked(&p.active, 1);
	assert_int_equal(post_read(&p.passive, 6, dst + LEN, LEN, d.stag, 0), 0);
	await_blocked(&p.active, 2);
	second = TAILQ_FIRST(&c->queue);
	assert_non_null(second);
	assert_int_equal(prov_iwarp.withdraw(p.active.c, &d, 1, 0), 0);
	free(src);
	copy = second->copy;
	assert_non_null(copy);
	assert_true(c->batch.at < c->batch.n);
	for (unsigned i = c->batch.at; i < c->batch.n; i++) {
		const uint8_t *at = c->batch.iov[i].iov_base;

		assert_false(at >= copy && at < copy + LEN);
	}
	assert_true(pump(&p.passive, 3, &p.active, 0));
	pair_finish(&p);
	free(dst);
}

static void invalidation_closes_the_door(void **state)
{
	uint8_t mem[64] = "private", b[8], b2[8];
	struct prov_wr wr = {.op = PROV_SEND_INV, .nsge = 1};
	struct prov_door d;
	struct pair p;

	pair_start(&p, false);
	greet(&p);
	d = open_door(&p.active, mem, 64, PROV_REMOTE_READ | PROV_REMOTE_WRITE);
	post_recv(&p.active, 3, b, 8);
	wr.sge[0] = sge_of((void *)"reply", 5);
	wr.inv_stag = d.stag;
	assert_int_equal(prov_iwarp.post(p.passive.c, &wr), 0);
	assert_true(pump(&p.active, 1, &p.passive, 0));
	assert_int_equal(p.active.log[0].op, PROV_WC_RECV);
	assert_true(p.active.log[0].invalidated);
	assert_int_equal(p.active.log[0].inv_stag, d.stag);
	d.invalidated = true;
	assert_int_equal(prov_iwarp.withdraw(p.active.c, &d, 1, 0), 0);
	/* and now no door is open */
	p.passive.n = 0;
	assert_int_equal(post_read(&p.passive, 1, b2, 8, d.stag, 0), 0);
	assert_true(pump(&p.passive, 1, &p.active, 2));
	assert_int_equal(p.passive.log[0].op, PROV_WC_DOWN);
	assert_non_null(strstr(p.passive.c->down_reason, "RDMAP: invalid STag"));
	assert_non_null(strstr(p.active.c->down_reason, "RDMA Read of 8 bytes"));
	pair_finish(&p);
}

struct poster {
	struct end *end;
	unsigned id, n;
};

static void *post_many(void *arg)
{
	struct poster *q = arg;
	uint32_t word[2];

	for (uint32_t i = 0; i < q->n; i++) {
		struct mem_buf *m = NULL;
		struct prov_wr wr = {.op = PROV_SEND, .nsge = 1, .nhold = 1};

		while (!m)
			m = mem_buf_get(((struct iwarp_conn *)q->end->c)->params.pool, 9000);
		word[0] = q->id;
		word[1] = i;
		memset(m->data, (int)i, 9000);
		memcpy(m->data, word, 8);
		wr.sge[0] = mem_buf_sge(m, 0, 8 + i % 8192);
		wr.hold[0] = m;
		while (prov_iwarp.post(q->end->c, &wr) == -ENOBUFS)
			sched_yield();
		mem_buf_unref(m);
	}
	return NULL;
}

static void threads_post_at_once(void **state)
{
	enum { THREADS = 3, N = 400 };
	static uint8_t bufs[64][9000];
	struct poster q[THREADS];
	uint32_t next[THREADS] = {0};
	unsigned total = 0;
	pthread_t t[THREADS];
	struct pair p;

	pair_start(&p, false);
	greet(&p);
	for (unsigned i = 0; i < 64; i++)
		post_recv(&p.passive, i, bufs[i], 9000);
	for (unsigned i = 0; i < THREADS; i++) {
		q[i] = (struct poster){.end = &p.active, .id = i, .n = N};
		pthread_create(&t[i], NULL, post_many, &q[i]);
	}
	while (total < THREADS * N) {
		p.active.n = p.passive.n = 0;
		end_poll(&p.active);
		end_poll(&p.passive);
		assert_false(p.active.down || p.passive.down);
		for (unsigned i = 0; i < p.passive.n; i++) {
			uint64_t k = p.passive.log[i].cookie;
			uint32_t word[2];

			memcpy(word, bufs[k], 8);
			assert_true(word[0] < THREADS);
			assert_int_equal(word[1], next[word[0]]++);
			assert_int_equal(p.passive.log[i].len, 8 + word[1] % 8192);
			if (p.passive.log[i].len > 8)
				assert_int_equal(bufs[k][p.passive.log[i].len - 1], word[1] & 0xff);
			post_recv(&p.passive, k, bufs[k], 9000);
			total++;
		}
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_bring_the_bytes),
		cmocka_unit_test(many_more_reads_than_ord),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(two_writers_do_not_stop_each_other),
		cmocka_unit_test(references_go_when_the_bytes_are_out),
		cmocka_unit_test(a_terminate_keeps_what_the_batch_sends),
		cmocka_unit_test(a_door_closes_under_an_answer),
		cmocka_unit_test(overlapping_answers_have_their_own_copies),
		cmocka_unit_test(invalidation_closes_the_door),
		cmocka_unit_test(threads_post_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

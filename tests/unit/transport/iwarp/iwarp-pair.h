/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Two iWARP connections over loopback TCP, driven by one thread, for tests.
 */
#ifndef RNFS_TESTS_IWARP_PAIR_H
#define RNFS_TESTS_IWARP_PAIR_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iwarp/iwarp_conn.h"
#include "transport/iwarp/iwarp_rx.h"
#include "transport/iwarp/iwarp_stag.h"
#include "transport/iwarp/iwarp_tx.h"

#define LOG_MAX 512

/* One end and its completions. */
struct end {
	struct prov_conn *c;
	struct prov_wc log[LOG_MAX];
	unsigned n;
	bool down;
	struct err err;
	int rc;
};

struct pair {
	struct mem_pool *pool;
	struct prov_listener *l;
	struct end active, passive;
};

static inline struct prov_params pair_params(struct mem_pool *pool)
{
	return (struct prov_params){.recv_depth = 64,
		.send_depth = 64,
		.ird = 4,
		.ord = 4,
		.priv = "private!",
		.priv_len = 8,
		.pool = pool};
}

static inline struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static inline void *pair_establish(void *arg)
{
	struct end *e = arg;

	e->rc = prov_iwarp.establish(e->c, 5000, &e->err);
	return NULL;
}

/* Connects both ends. Each end's rc and err have the result of establish(). */
static inline void pair_init(
	struct pair *p, const struct prov_params *a, const struct prov_params *b)
{
	struct sockaddr_in sin = loopback(0);
	struct err e = {0};
	pthread_t t;

	memset(&p->active, 0, sizeof(p->active));
	memset(&p->passive, 0, sizeof(p->passive));
	if (prov_iwarp.listen((struct sockaddr *)&sin, sizeof(sin), b, &p->l, &e))
		abort();
	sin = loopback(p->l->port);
	if (prov_iwarp.open((struct sockaddr *)&sin, sizeof(sin), a, 5000, &p->active.c, &e))
		abort();
	while (prov_iwarp.accept(p->l, &p->passive.c, &e) == -EAGAIN)
		;
	pthread_create(&t, NULL, pair_establish, &p->passive);
	pair_establish(&p->active);
	pthread_join(t, NULL);
}

static inline void pair_finish(struct pair *p)
{
	prov_iwarp.free(p->active.c);
	prov_iwarp.free(p->passive.c);
	prov_iwarp.unlisten(p->l);
	mem_pool_free(p->pool);
}

static inline void end_poll(struct end *e)
{
	int n;

	if (e->n > LOG_MAX - 8)
		abort();
	n = prov_iwarp.poll(e->c, e->log + e->n, 8);
	for (int i = 0; i < n; i++)
		e->down |= e->log[e->n + (unsigned)i].op == PROV_WC_DOWN;
	e->n += (unsigned)n;
}

/* Moves data on both ends until a has na completions and b has nb, or nothing came for a second. */
static inline bool pump(struct end *a, unsigned na, struct end *b, unsigned nb)
{
	for (int idle = 0; idle < 100000 && (a->n < na || b->n < nb); idle++) {
		unsigned before = a->n + b->n;

		end_poll(a);
		end_poll(b);
		if (a->n + b->n != before)
			idle = 0;
		else if (idle > 1000)
			prov_iwarp.wait(a->c, -1, 1);
	}
	return a->n >= na && b->n >= nb;
}

static inline struct mem_sge sge_of(void *p, uint32_t n)
{
	return (struct mem_sge){.addr = p, .len = n};
}

static inline void pair_fill(uint8_t *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 31 + (i >> 9) * 7 + seed);
}

static inline void pair_start(struct pair *p, bool crc)
{
	struct prov_params a, b;

	memset(p, 0, sizeof(*p));
	p->pool = mem_pool_new(0);
	a = b = pair_params(p->pool);
	b.crc = crc;
	pair_init(p, &a, &b);
	assert_int_equal(p->active.rc, 0);
	assert_int_equal(p->passive.rc, 0);
}

static inline void post_recv(struct end *e, uint64_t cookie, void *buf, uint32_t n)
{
	struct mem_sge s = sge_of(buf, n);

	assert_int_equal(prov_iwarp.post_recv(e->c, cookie, &s), 0);
}

static inline int send_bytes(struct end *e, const void *p, uint32_t n, unsigned flags)
{
	struct prov_wr wr = {.op = PROV_SEND, .flags = flags, .nsge = 1};

	wr.sge[0] = sge_of((void *)p, n);
	return prov_iwarp.post(e->c, &wr);
}

/* The passive side may not send before the first message of the active side has come (RFC 5044
 * section 7.1.2). */
static inline void greet(struct pair *p)
{
	static uint8_t b[8];
	unsigned n = p->passive.n;

	post_recv(&p->passive, 999, b, sizeof(b));
	assert_int_equal(send_bytes(&p->active, "hello", 5, 0), 0);
	assert_true(pump(&p->active, 0, &p->passive, n + 1));
	assert_memory_equal(b, "hello", 5);
}

#endif

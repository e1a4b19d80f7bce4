/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * bench-rpc: whole RPCs between rpc_client and rpc_server in one process, over TCP, over iwarp, and
 * over iwarp without polling before sleeping. The variants alternate; each line gives the medians
 * of the rounds and the CPU time of a call, both sides together.
 *
 * usage: bench-rpc [rounds [seconds]]
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "transport/rpcrdma/rpcrdma_conn.h"
#include "transport/rpcrdma/rpcrdma_connprop.h"
#include "transport/rpcrdma/rpcrdma_setup.h"
#include "transport/rpcrdma/rpcrdma_versions.h"

#define PROG	  0x20000777
#define MAX_DEPTH 64
#define MIB	  (1u << 20)

enum { PROC_NULL, PROC_GET, PROC_PUT };

struct shape {
	const char *name;
	uint32_t proc, size;
	unsigned depth;
};

struct end {
	const char *name;
	enum rpc_proto proto;
	unsigned spin_us;
	struct mem_pool *cpool, *spool;
	struct rpc_server *server;
	struct rpc_client *client;
	struct mem_buf *source; /* the server's data */
};

struct slot {
	struct rpc_call call;
	struct run *run;
	struct mem_buf *data;
};

struct run {
	struct end *e;
	const struct shape *s;
	double until;
	unsigned long done;
	unsigned busy;
	sem_t end;
	struct slot slot[MAX_DEPTH];
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void die(const char *what)
{
	fprintf(stderr, "bench-rpc: %s\n", what);
	exit(1);
}

static void service(void *ctx, struct rpc_req *req)
{
	struct end *e = ctx;
	uint32_t n;

	if (rpc_req_begin(req, 64))
		die("no memory");
	if (req->proc == PROC_GET) {
		uint32_t len = xdr_get_u32(&req->args);
		struct seg seg = {mem_buf_sge(e->source, 0, len), mem_buf_ref(e->source)};
		struct seg_list data;

		rpc_req_hold(req, &seg, 1, &data);
		xdr_put_payload_list(&req->res, &data);
	} else if (req->proc == PROC_PUT) {
		xdr_get_payload(&req->args, MIB, &n, NULL);
	}
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static void submit(struct slot *s);

static size_t peek(const void *res, size_t n)
{
	return n >= 4 ? 4 : 0;
}

static void done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct slot *s = (struct slot *)call;
	struct run *r = s->run;
	uint32_t n;

	if (error)
		die("a call failed");
	if (r->s->proc == PROC_GET && rpc_call_take_sink(call, res, 0, &n))
		die("data is missing");
	rpc_call_finish(call);
	r->done++; /* done and busy: by the progress thread only */
	if (now() < r->until)
		submit(s);
	else if (--r->busy == 0)
		sem_post(&r->end);
}

static void submit(struct slot *s)
{
	struct run *r = s->run;

	if (rpc_call_init(&s->call, r->e->client, 64))
		die("no memory");
	s->call.proc = r->s->proc;
	s->call.done = done;
	s->call.reply_max = 8;
	if (r->s->proc == PROC_GET) {
		xdr_put_u32(&s->call.args, r->s->size);
		s->call.nsinks = 1;
		s->call.sink[0] = seg_list_of_buf(s->data, 0, r->s->size);
		s->call.peek = peek;
	} else if (r->s->proc == PROC_PUT) {
		struct mem_sge sge = mem_buf_sge(s->data, 0, r->s->size);

		xdr_put_payload(&s->call.args, &sge);
	}
	if (rpc_call_submit(&s->call))
		die("submit");
}

/* Calls per second; *per_call: microseconds of CPU time. */
static double run(struct end *e, const struct shape *s, double seconds, double *per_call)
{
	struct run *r = calloc(1, sizeof(*r));
	double t0, c0, rate;

	if (!r)
		die("no memory");
	r->e = e;
	r->s = s;
	r->busy = s->depth;
	sem_init(&r->end, 0, 0);
	t0 = now();
	c0 = cpu();
	r->until = t0 + seconds;
	for (unsigned i = 0; i < s->depth; i++) {
		r->slot[i].run = r;
		if (s->size) {
			r->slot[i].data = mem_buf_get(e->cpool, s->size);
			memset(r->slot[i].data->data, 1, s->size);
		}
		submit(&r->slot[i]);
	}
	sem_wait(&r->end);
	rate = (double)r->done / (now() - t0);
	*per_call = (cpu() - c0) * 1e6 / (double)r->done;
	for (unsigned i = 0; i < s->depth; i++)
		mem_buf_unref(r->slot[i].data);
	free(r);
	return rate;
}

static void start(struct end *e)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	struct rpc_server_params sp = {.proto = e->proto, .addr_len = sizeof(sin)};
	struct rpc_client_params cp = {.proto = e->proto, .peer_len = sizeof(sin)};
	struct err err = {0};

	rpcrdma_spin_us = e->spin_us;
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(&sp.addr, &sin, sizeof(sin));
	e->cpool = mem_pool_new(0);
	e->spool = sp.pool = mem_pool_new(0);
	e->source = mem_buf_get(e->spool, MIB);
	memset(e->source->data, 2, MIB);
	sp.service = service;
	sp.ctx = e;
	e->server = rpc_server_new(&sp, &err);
	if (!e->server)
		die(err.msg);
	sin.sin_port = htons(rpc_server_port(e->server));
	memcpy(&cp.peer, &sin, sizeof(sin));
	cp.peer_name = "localhost";
	cp.prog = PROG;
	cp.vers = 1;
	cp.pool = e->cpool;
	cp.connect_ms = 5000;
	cp.timeo_ms = 60000;
	e->client = rpc_client_new(&cp, &err);
	if (!e->client)
		die(err.msg);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static const struct shape shape[] = {
		{"NULL, 1 at a time", PROC_NULL, 0, 1},
		{"NULL, 16 at a time", PROC_NULL, 0, 16},
		{"GET 4 KiB, 1", PROC_GET, 4096, 1},
		{"GET 4 KiB, 16", PROC_GET, 4096, 16},
		{"GET 1 MiB, 4", PROC_GET, MIB, 4},
		{"PUT 4 KiB, 1", PROC_PUT, 4096, 1},
		{"PUT 1 MiB, 4", PROC_PUT, MIB, 4},
	};
	struct end end[] = {
		{.name = "tcp", .proto = RPC_TCP},
		{.name = "iwarp", .proto = RPC_IWARP, .spin_us = 20},
		{.name = "iwarp, no spin", .proto = RPC_IWARP},
	};
	enum { ENDS = sizeof(end) / sizeof(end[0]), ROUNDS = 15 };
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	double seconds = argc > 2 ? atof(argv[2]) : 0.2;

	if (rounds < 1 || rounds > ROUNDS)
		die("1 to 15 rounds");
	for (int i = 0; i < ENDS; i++)
		start(&end[i]);
	for (size_t k = 0; k < sizeof(shape) / sizeof(shape[0]); k++) {
		double rate[ENDS][ROUNDS], per[ENDS][ROUNDS];

		for (int r = 0; r < rounds; r++)
			for (int i = 0; i < ENDS; i++)
				rate[i][r] = run(&end[i], &shape[k], seconds, &per[i][r]);
		for (int i = 0; i < ENDS; i++) {
			qsort(rate[i], (size_t)rounds, sizeof(double), by_value);
			qsort(per[i], (size_t)rounds, sizeof(double), by_value);
			printf("%-20s %-16s %9.0f/s %8.1f us of CPU", shape[k].name, end[i].name,
				rate[i][rounds / 2], per[i][rounds / 2]);
			if (shape[k].size == MIB)
				printf(" %6.2f GB/s", rate[i][rounds / 2] * MIB * 1e-9);
			printf("\n");
		}
	}
	for (int i = 0; i < ENDS; i++) {
		rpc_client_free(end[i].client);
		rpc_server_free(end[i].server);
		mem_buf_unref(end[i].source);
		mem_pool_free(end[i].cpool);
		mem_pool_free(end[i].spool);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * try-rpc: the product's RPC client and server on the simulated network: try-rpc SEED tcp|iwarp
 * [faults] [pct]. Each call must be answered with the bytes that it has sent. Prints the digest.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/network.h"
#include "tests/simulation/sched.h"
#include "transport/log.h"
#include "transport/rpc/rpc.h"

#define PROG	0x20001234
#define CALLS	40
#define CALLERS 3
#define MOST	50000
#define SEC_NS	1000000000ull

#define CHECK(is)                                                                                  \
	do {                                                                                       \
		if (!(is))                                                                         \
			sched_fail("line %d: not %s", __LINE__, #is);                              \
	} while (0)

static enum rpc_proto proto = RPC_TCP;
static bool faults;
static struct rpc_client *client;
static unsigned answered;

static void service(void *ctx, struct rpc_req *req)
{
	uint32_t n;
	const uint8_t *p = xdr_get_opaque(&req->args, MOST + 1, &n);

	CHECK(p && xdr_in_done(&req->args));
	CHECK(!rpc_req_begin(req, n + 64));
	xdr_put_opaque(&req->res, p, n);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

struct one {
	struct rpc_call call;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	uint8_t bytes[MOST];
	uint32_t n;
	int error;
	bool done;
};

static void done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct one *o = call->ctx;
	const uint8_t *p;
	uint32_t n;

	if (!error) {
		p = xdr_get_opaque(res, MOST, &n);
		CHECK(p && n == o->n && !memcmp(p, o->bytes, n));
	}
	pthread_mutex_lock(&o->lock);
	o->error = error;
	o->done = true;
	pthread_cond_signal(&o->cond);
	pthread_mutex_unlock(&o->lock);
}

static void *call_often(void *ctx)
{
	struct one *o = calloc(1, sizeof(*o));
	uint32_t seed = (uint32_t)(uintptr_t)ctx;

	for (unsigned i = 0; i < CALLS; i++) {
		o->n = sched_choose(sched_once_in(3) ? MOST : 500);
		for (uint32_t k = 0; k < o->n; k++)
			o->bytes[k] = (uint8_t)(k * 7 + k / 256 + seed + i);
		o->done = false;
		CHECK(!rpc_call_init(&o->call, client, MOST + 64));
		o->call.proc = 1;
		o->call.cred.flavor = RPC_AUTH_NONE;
		o->call.reply_max = MOST + 64;
		o->call.done = done;
		o->call.ctx = o;
		xdr_put_opaque(&o->call.args, o->bytes, o->n);
		CHECK(!rpc_call_submit(&o->call));
		pthread_mutex_lock(&o->lock);
		while (!o->done)
			pthread_cond_wait(&o->cond, &o->lock);
		pthread_mutex_unlock(&o->lock);
		rpc_call_finish(&o->call);
		CHECK(!o->error);
		answered++;
	}
	free(o);
	return NULL;
}

static void pass(uint64_t ns)
{
	uint64_t until = sched_now() + ns;

	while (sched_now() < until)
		sched_wait(&answered, until, "to pass");
}

static void spoil(void)
{
	while (answered < CALLS * CALLERS) {
		pass(SEC_NS / 1000 * (1 + sched_choose(20)));
		switch (sched_choose(8)) {
		case 0:
			network_cut(network_any());
			break;
		case 1:
			network_lose(network_any(), NETWORK_CALLED, sched_once_in(2));
			break;
		case 2:
			network_lose(network_any(), NETWORK_CALLER, sched_once_in(2));
			break;
		case 3:
			network_quiet_all("192.0.2.1", SEC_NS * sched_choose(30));
			break;
		case 4:
			network_stall(network_any(), sched_choose(2), SEC_NS * sched_choose(90));
			break;
		case 5:
			network_answer("192.0.2.1", sched_choose(3));
			break;
		default:
			network_answer("192.0.2.1", NETWORK_ANSWERS);
		}
	}
	network_answer("192.0.2.1", NETWORK_ANSWERS);
}

static void first(void *ctx)
{
	struct sockaddr_in *in;
	struct rpc_server_params sp = {.proto = proto, .service = service};
	struct rpc_client_params cp = {
		.proto = proto, .prog = PROG, .vers = 1, .connect_ms = 5000, .timeo_ms = 20000};
	struct mem_pool *pools[2] = {mem_pool_new(0), mem_pool_new(0)};
	struct rpc_server *server;
	struct err e = {0};
	pthread_t t[CALLERS];

	network_place(sched_process_new("server"), "192.0.2.1", NULL);
	in = (struct sockaddr_in *)&sp.addr;
	in->sin_family = AF_INET;
	sp.addr_len = sizeof(*in);
	sp.pool = pools[0];
	server = rpc_server_new(&sp, &e);
	if (!server)
		sched_fail("no server: %s", e.msg);
	network_place(sched_process_new("client"), "192.0.2.2", NULL);
	in = (struct sockaddr_in *)&cp.peer;
	in->sin_family = AF_INET;
	in->sin_port = htons(rpc_server_port(server));
	inet_pton(AF_INET, "192.0.2.1", &in->sin_addr);
	cp.peer_len = sizeof(*in);
	cp.pool = pools[1];
	cp.same_port = true;
	client = rpc_client_new(&cp, &e);
	if (!client)
		sched_fail("no client: %s", e.msg);
	for (uintptr_t i = 0; i < CALLERS; i++)
		pthread_create(&t[i], NULL, call_often, (void *)i);
	if (faults)
		spoil();
	for (unsigned i = 0; i < CALLERS; i++)
		pthread_join(t[i], NULL);
	rpc_client_free(client);
	rpc_server_free(server);
	mem_pool_free(pools[0]);
	mem_pool_free(pools[1]);
	pass(SEC_NS); /* threads that are detached end */
	if (network_connections() || descriptors_open())
		sched_fail("%u connections and %u descriptors are left", network_connections(),
			descriptors_open());
}

int main(int argc, char **argv)
{
	struct sched_params p = {.most_steps = 20000000, .depth = 3, .span = 20000};

	if (argc < 3)
		return 2;
	p.seed = strtoull(argv[1], NULL, 0);
	if (!strcmp(argv[2], "iwarp"))
		proto = RPC_IWARP;
	faults = argc > 3 && !strcmp(argv[3], "faults");
	p.policy = !strcmp(argv[argc - 1], "pct") ? SCHED_PCT : SCHED_WALK;
	p.trace = getenv("TRACE") ? 2 : 0;
	sched_run(&p, first, NULL);
	printf("%016llx %u\n", (unsigned long long)sched_digest(), answered);
	return 0;
}

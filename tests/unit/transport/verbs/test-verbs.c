/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of the verbs provider, against itself. The tests need an RDMA device, with its address
 * in RNFS_TEST_RDMA_ADDR (the virtual machine's tests set one, over soft RoCE and siw). Without a
 * device only the error path is tested.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/provider.h"

#define MS    5000
#define RECVS 16

struct end {
	struct prov_conn *c;
	struct mem_buf *recv[RECVS];
};

struct pair {
	struct mem_pool *pool, *server_pool; /* each role has a separate pool, as in real life */
	struct prov_params p;
	struct prov_listener *l;
	struct end client, server;
	int accept_ret;
	struct err server_err;
};

static struct sockaddr_in address(const char *text)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};

	assert_int_equal(inet_pton(AF_INET, text, &sin.sin_addr), 1);
	return sin;
}

static struct mem_pool *pool_of(struct pair *t, const struct end *e)
{
	return e == &t->client ? t->pool : t->server_pool;
}

static void post_receives(struct pair *t, struct end *e)
{
	for (int i = 0; i < RECVS; i++) {
		struct mem_sge s;

		e->recv[i] = mem_buf_get_registered(pool_of(t, e), 4096);
		assert_non_null(e->recv[i]);
		s = mem_buf_sge(e->recv[i], 0, 4096);
		assert_int_equal(e->c->ops->post_recv(e->c, i, &s), 0);
	}
}

static void *accept_one(void *arg)
{
	struct pair *t = arg;
	struct pollfd fd = {.fd = t->l->fd, .events = POLLIN};

	t->accept_ret = -EAGAIN;
	while (t->accept_ret == -EAGAIN && poll(&fd, 1, MS) > 0)
		t->accept_ret = prov_verbs.accept(t->l, &t->server.c, &t->server_err);
	if (t->accept_ret)
		return NULL;
	post_receives(t, &t->server);
	t->accept_ret = prov_verbs.establish(t->server.c, MS, &t->server_err);
	return NULL;
}

static int setup(void **state)
{
	const char *addr = getenv("RNFS_TEST_RDMA_ADDR");
	struct pair *t = calloc(1, sizeof(*t));
	struct sockaddr_in sin;
	struct err e = {0};
	pthread_t thread;

	*state = t;
	sin = address(addr);
	t->pool = mem_pool_new(64 << 20);
	t->server_pool = mem_pool_new(64 << 20);
	t->p = (struct prov_params){.recv_depth = RECVS,
		.send_depth = 32,
		.ird = 4,
		.ord = 4,
		.priv = "private",
		.priv_len = 7,
		.pool = t->server_pool};
	if (prov_verbs.listen((struct sockaddr *)&sin, sizeof(sin), &t->p, &t->l, &e))
		fail_msg("listen: %s", e.msg);
	sin.sin_port = htons(t->l->port);
	t->p.pool = t->pool;
	pthread_create(&thread, NULL, accept_one, t);
	if (prov_verbs.open((struct sockaddr *)&sin, sizeof(sin), &t->p, MS, &t->client.c, &e))
		fail_msg("open: %s", e.msg);
	post_receives(t, &t->client);
	if (prov_verbs.establish(t->client.c, MS, &e))
		fail_msg("establish: %s", e.msg);
	pthread_join(thread, NULL);
	if (t->accept_ret)
		fail_msg("accept: %s", t->server_err.msg);
	return 0;
}

static int teardown(void **state)
{
	struct pair *t = *state;

	prov_verbs.free(t->client.c);
	prov_verbs.free(t->server.c);
	for (int i = 0; i < RECVS; i++) {
		mem_buf_unref(t->client.recv[i]);
		mem_buf_unref(t->server.recv[i]);
	}
	if (t->l)
		prov_verbs.unlisten(t->l);
	mem_pool_free(t->pool);
	mem_pool_free(t->server_pool);
	free(t);
	return 0;
}

static struct prov_wc next(struct end *e)
{
	struct prov_wc wc = {0};

	for (int i = 0; i < 100; i++) {
		if (e->c->ops->poll(e->c, &wc, 1) == 1)
			return wc;
		e->c->ops->wait(e->c, -1, 100);
	}
	fail_msg("no completion: %s", e->c->down_reason);
	return wc;
}

static void send_text(struct pair *t, struct end *from, const char *text, unsigned flags)
{
	struct prov_wr wr = {.op = PROV_SEND, .flags = flags, .nsge = 1, .nhold = 1};
	struct mem_buf *b = mem_buf_get(pool_of(t, from), 4096);

	strcpy((char *)b->data, text);
	wr.sge[0] = mem_buf_sge(b, 0, strlen(text) + 1);
	wr.hold[0] = b;
	assert_int_equal(from->c->ops->post(from->c, &wr), 0);
	mem_buf_unref(b);
}

static void receive_text(struct end *at, const char *text)
{
	struct prov_wc wc = next(at);

	assert_int_equal(wc.op, PROV_WC_RECV);
	assert_int_equal(wc.len, strlen(text) + 1);
	assert_string_equal(at->recv[wc.cookie]->data, text);
}

static void messages_both_ways(void **state)
{
	struct pair *t = *state;

	assert_memory_equal(t->server.c->peer_priv, "private", 7);
	assert_memory_equal(t->client.c->peer_priv, "private", 7);
	send_text(t, &t->client, "to the server", 0);
	receive_text(&t->server, "to the server");
	send_text(t, &t->server, "and back", 0);
	receive_text(&t->client, "and back");
}

static void close_door(struct end *e, struct prov_door *door)
{
	struct prov_wc wc;

	if (e->c->ops->withdraw(e->c, door, 1, 77) == 0)
		return;
	wc = next(e);
	assert_int_equal(wc.op, PROV_WC_WITHDRAWN);
	assert_int_equal(wc.cookie, 77);
}

static void data_is_placed(void **state)
{
	struct pair *t = *state;
	struct prov_wr wr = {.op = PROV_WRITE, .flags = PROV_MORE, .nsge = 1, .nhold = 1};
	struct mem_buf *sink, *source;
	struct prov_door door;
	struct mem_sge s;

	sink = mem_buf_get(t->pool, 1 << 20);
	source = mem_buf_get(t->server_pool, 1 << 20);
	memset(sink->data, 0, 1 << 20);
	memset(source->data, 0x5a, 1 << 20);
	s = mem_buf_sge(sink, 4096, 100001);
	assert_int_equal(t->client.c->ops->expose(t->client.c, &s, PROV_REMOTE_WRITE, &door), 0);
	send_text(t, &t->client, "the door is open", 0);
	receive_text(&t->server, "the door is open");

	wr.sge[0] = mem_buf_sge(source, 0, 100001);
	wr.remote_stag = door.stag;
	wr.remote_offset = door.offset;
	wr.hold[0] = source;
	assert_int_equal(t->server.c->ops->post(t->server.c, &wr), 0);
	send_text(t, &t->server, "written", 0);
	receive_text(&t->client, "written");
	assert_memory_equal(sink->data + 4096, source->data, 100001);
	assert_int_equal(sink->data[4095], 0);
	assert_int_equal(sink->data[4096 + 100001], 0);
	close_door(&t->client, &door);
	mem_buf_unref(sink);
	mem_buf_unref(source);
}

static void data_is_fetched(void **state)
{
	struct pair *t = *state;
	struct prov_wr wr = {.op = PROV_READ, .cookie = 42, .nsge = 1};
	struct mem_buf *sink, *source;
	struct prov_door door;
	struct prov_wc wc;
	struct mem_sge s;

	sink = mem_buf_get(t->server_pool, 1 << 20);
	source = mem_buf_get(t->pool, 1 << 20);
	for (int i = 0; i < 1 << 20; i++)
		source->data[i] = i * 7;
	s = mem_buf_sge(source, 80, 70000);
	assert_int_equal(t->client.c->ops->expose(t->client.c, &s, PROV_REMOTE_READ, &door), 0);
	send_text(t, &t->client, "fetch", 0);
	receive_text(&t->server, "fetch");
	wr.sge[0] = mem_buf_sge(sink, 0, 70000);
	wr.remote_stag = door.stag;
	wr.remote_offset = door.offset;
	assert_int_equal(t->server.c->ops->post(t->server.c, &wr), 0);
	wc = next(&t->server);
	assert_int_equal(wc.op, PROV_WC_READ);
	assert_int_equal(wc.cookie, 42);
	assert_memory_equal(sink->data, source->data + 80, 70000);
	close_door(&t->client, &door);
	mem_buf_unref(sink);
	mem_buf_unref(source);
}

/* A write through a closed door must not arrive, and ends the connection. */
static void a_closed_door_is_closed(void **state)
{
	struct pair *t = *state;
	struct prov_wr wr = {.op = PROV_WRITE, .nsge = 1, .nhold = 1};
	struct mem_buf *sink, *source;
	struct prov_door door;
	struct mem_sge s;

	sink = mem_buf_get(t->pool, 4096);
	source = mem_buf_get(t->server_pool, 4096);
	memset(sink->data, 0, 4096);
	memset(source->data, 0xff, 4096);
	s = mem_buf_sge(sink, 0, 4096);
	assert_int_equal(t->client.c->ops->expose(t->client.c, &s, PROV_REMOTE_WRITE, &door), 0);
	wr.remote_stag = door.stag;
	wr.remote_offset = door.offset;
	send_text(t, &t->client, "opened", 0);
	receive_text(&t->server, "opened");
	close_door(&t->client, &door);
	wr.sge[0] = mem_buf_sge(source, 0, 4096);
	wr.hold[0] = source;
	assert_int_equal(t->server.c->ops->post(t->server.c, &wr), 0);
	send_text(t, &t->server, "too late", 0);
	assert_int_equal(next(&t->client).op, PROV_WC_DOWN);
	for (int i = 0; i < 4096; i++)
		assert_int_equal(sink->data[i], 0);
	mem_buf_unref(sink);
	mem_buf_unref(source);
}

static void more_sends_than_the_queue_holds(void **state)
{
	struct pair *t = *state;
	struct prov_wc none;
	char text[32];

	for (int i = 0; i < 20 * RECVS; i++) {
		snprintf(text, sizeof(text), "message %d", i);
		send_text(t, &t->client, text, 0);
		assert_int_equal(t->client.c->ops->poll(t->client.c, &none, 1), 0);
		{
			struct prov_wc wc = next(&t->server);
			struct mem_sge s = mem_buf_sge(t->server.recv[wc.cookie], 0, 4096);

			assert_int_equal(wc.op, PROV_WC_RECV);
			assert_string_equal(t->server.recv[wc.cookie]->data, text);
			assert_int_equal(
				t->server.c->ops->post_recv(t->server.c, wc.cookie, &s), 0);
		}
	}
}

static void disconnect_is_seen_by_both(void **state)
{
	struct pair *t = *state;

	t->client.c->ops->disconnect(t->client.c);
	assert_int_equal(next(&t->client).op, PROV_WC_DOWN);
	assert_int_equal(next(&t->server).op, PROV_WC_DOWN);
}

static void no_device_is_a_clear_error(void **state)
{
	struct sockaddr_in sin = address("127.0.0.1");
	struct mem_pool *pool;
	struct prov_params p = {.recv_depth = 4, .send_depth = 4, .ird = 1, .ord = 1};
	struct prov_conn *c = NULL;
	struct err e = {0};

	p.pool = pool = mem_pool_new(0);
	sin.sin_port = htons(1);
	assert_int_not_equal(
		prov_verbs.open((struct sockaddr *)&sin, sizeof(sin), &p, 1000, &c, &e), 0);
	assert_null(c);
	assert_int_not_equal(e.kind, ERR_NONE);
	assert_non_null(strstr(e.msg, "127.0.0.1:1"));
	mem_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest without_device[] = {
		cmocka_unit_test(no_device_is_a_clear_error),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(data_is_placed, setup, teardown),
		cmocka_unit_test_setup_teardown(data_is_fetched, setup, teardown),
		cmocka_unit_test_setup_teardown(a_closed_door_is_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(more_sends_than_the_queue_holds, setup, teardown),
		cmocka_unit_test_setup_teardown(disconnect_is_seen_by_both, setup, teardown),
	};

	if (!getenv("RNFS_TEST_RDMA_ADDR"))
		return cmocka_run_group_tests(without_device, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_server: the responder's end. A listening thread, which accepts only; each connection has a
 * thread of its own (srv_conn.h), and a place among few (srv_places.h).
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/log.h"
#include "transport/rpc/srv_conn.h"
#include "transport/rpc/srv_places.h"

#define DEFAULT_CONNS 256
#define FIRST_MS      10000
#define IDLE_MS	      60000

struct rpc_server {
	struct rpc_server_params p;
	struct rpc_acceptor *acceptor;
	int stop_fd;
	pthread_t thread;
	struct srv_places places;
};

/* Makes x the server's. Takes over the reference. */
static void server_add(struct rpc_server *s, struct rpc_xprt *x)
{
	struct srv_conn *c = srv_conn_new(x, &s->p, &s->places);
	int rc;

	if (!c) {
		log_warn("out of memory for a connection from %s", x->peer);
		rpc_xprt_unref(x);
		return;
	}
	if (!srv_places_enter(&s->places, c)) {
		log_warn("connection from %s refused: too many connections", x->peer);
		rpc_xprt_unref(x);
		return;
	}
	rc = srv_conn_start(c);
	if (rc < 0) {
		bool evicted = srv_places_leave(&s->places, c);

		log_warn("connection from %s refused: cannot start a thread: %s", x->peer,
			strerror(-rc));
		rpc_xprt_unref(x);
		srv_places_free(&s->places, evicted);
	}
}

/* Asks the owner whether x may come in, and lets the owner wrap x. */
static bool server_takes(struct rpc_server *s, struct rpc_xprt *x)
{
	if (s->p.admit && !s->p.admit(s->p.ctx, x))
		return false;
	return !s->p.wrap || s->p.wrap(s->p.ctx, x) == 0;
}

static void *server_main(void *arg)
{
	struct rpc_server *s = arg;
	struct pollfd pfd[2] = {
		{.fd = s->acceptor->fd, .events = POLLIN}, {.fd = s->stop_fd, .events = POLLIN}};

	for (;;) {
		struct rpc_xprt *x = NULL;
		struct err e = {0};
		int rc;

		if (poll(pfd, 2, -1) < 0 && errno != EINTR)
			break;
		if (pfd[1].revents)
			break;
		rc = s->acceptor->ops->accept(s->acceptor, &x, &e);
		if (rc == 0 && !server_takes(s, x))
			rpc_xprt_unref(x);
		else if (rc == 0)
			server_add(s, x);
		else if (rc != -EAGAIN) {
			log_warn("%s", e.msg);
			/* out of descriptors or memory: the listener stays readable */
			poll(&pfd[1], 1, 100);
		}
	}
	return NULL;
}

static void server_release(struct rpc_server *s)
{
	if (s->acceptor)
		s->acceptor->ops->free(s->acceptor);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	srv_places_finish(&s->places);
	free(s);
}

struct rpc_server *rpc_server_new(const struct rpc_server_params *p, struct err *e)
{
	struct rpc_server *s = calloc(1, sizeof(*s));
	int rc;

	if (!s) {
		err_set(e, ERR_INTERNAL, "out of memory for a server");
		return NULL;
	}
	s->p = *p;
	s->p.max_conns = p->max_conns ? p->max_conns : DEFAULT_CONNS;
	s->p.first_ms = p->first_ms ? p->first_ms : FIRST_MS;
	s->p.idle_ms = p->idle_ms ? p->idle_ms : IDLE_MS;
	srv_places_init(&s->places, s->p.max_conns, s->p.idle_ms);
	s->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->stop_fd < 0)
		err_set(e, ERR_INTERNAL, "cannot make an eventfd: %s", strerror(errno));
	else
		s->acceptor = p->proto == RPC_TCP ? tcp_listen(p, e) : rpcrdma_listen(p, e);
	if (!s->acceptor) {
		server_release(s);
		return NULL;
	}
	rc = pthread_create(&s->thread, NULL, server_main, s);
	if (rc) {
		err_set(e, ERR_INTERNAL, "cannot start a thread: %s", strerror(rc));
		server_release(s);
		return NULL;
	}
	return s;
}

uint16_t rpc_server_port(const struct rpc_server *s)
{
	return s->acceptor->port;
}

struct rpc_server *rpc_server_free(struct rpc_server *s)
{
	uint64_t one = 1;

	if (!s)
		return NULL;
	if (write(s->stop_fd, &one, sizeof(one)) < 0)
		log_error("eventfd: %s", strerror(errno));
	pthread_join(s->thread, NULL);
	srv_places_close(&s->places);
	server_release(s);
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_server: the responder's end. A listening thread, and a thread for each connection on which
 * the service is called.
 *
 * A connection's object (srv_conn) lives exactly as long as its rpc_xprt: the xprt's last unref
 * frees it. The connection's thread holds one reference, each request and each user of
 * rpc_xprt_ref() one more, so both outlive the connection itself, and the server, as long as
 * someone answers a request.
 *
 * Places are few. A connection has first_ms to make its first call. When all places are taken, a
 * newcomer gets that of the connection idle longest, if it has been so for idle_ms: its owner, if
 * there still is one, connects again when it needs to. If there is none, the holder (share.h) with
 * the most connections gives one up: at once to a holder that would still have fewer, and to
 * another of its own if one has been quiet for QUIET_MS; first those that have never called, then
 * those without a request, then those whose requests have stood still. The place counts as free
 * from then on, though the thread takes a moment to end.
 *
 * Memory is the other thing that is short. What one connection can keep of it is bounded by what
 * the others have left (mem_pool_share()); and while it is short, a connection on which nothing has
 * moved for STILL_MS, although the peer has answers to read or a message to finish, is closed.
 *
 * Locks: server->lock guards the list of connections; conn->table.lock guards the connection's own
 * calls and `down`. None is held while another is taken, nor during a callback.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpc/rpc_call.h"
#include "transport/rpc/rpc_table.h"
#include "transport/share.h"
#include "transport/rpc/xprt.h"

#define MS	      UINT64_C(1000000)
#define CB_TIMEOUT_MS 10000
#define CB_TICK_MS    100
#define IDLE_TICK_MS  10000
#define DEFAULT_CONNS 256
#define FIRST_MS      10000
#define IDLE_MS	      60000
#define QUIET_MS      100
#define STILL_MS      1000
#define KEEPS_TICK_MS 250

struct srv_conn {
	struct rpc_server *server; /* only on the connection's thread, and while it lives */
	struct mem_pool *pool;
	struct rpc_xprt *x;
	pthread_t thread;
	TAILQ_ENTRY(srv_conn) link; /* server->lock */
	bool evicted;		    /* server->lock: its place was given to another */
	uint64_t since_ns;
	struct share_key key;	  /* whose it is */
	uint64_t moved, still_ns; /* the connection's thread: see conn_watch_still() */
	struct rpc_client_stats stats;

	struct rpc_table table; /* our calls to the client */
	bool down;		/* table.lock */
};

struct rpc_server {
	struct rpc_server_params p;
	struct rpc_acceptor *acceptor;
	int stop_fd;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t gone;	      /* with lock: a connection's thread ended */
	TAILQ_HEAD(, srv_conn) conns; /* lock */
	unsigned nconns;	      /* lock: threads */
	unsigned nevicted;	      /* lock: of them */
	bool stopping;		      /* lock */
};

/* --- our calls to the client ------------------------------------------------------------------ */

int rpc_cb_init(
	struct rpc_call *call, struct rpc_xprt *x, uint32_t prog, uint32_t vers, size_t args_max)
{
	struct srv_conn *c = x->owner;
	int rc = rpc_call_setup(call, c->pool, args_max);

	call->cb_xprt = x;
	call->cb_prog = prog;
	call->cb_vers = vers;
	return rc;
}

int rpc_cb_submit(struct rpc_call *call)
{
	struct rpc_xprt *x = call->cb_xprt;
	struct srv_conn *c = x->owner;
	int rc = -ENOTCONN;
	bool first;

	if (!xdr_out_ok(&call->args))
		return -EMSGSIZE;
	pthread_mutex_lock(&c->table.lock);
	if (!c->down)
		rc = rpc_table_add_locked(&c->table, call);
	if (rc < 0) {
		pthread_mutex_unlock(&c->table.lock);
		return rc;
	}
	call->state = RPC_CALL_SENT;
	call->cancelled = false;
	call->posted = false;
	call->unsent = 0;
	rpc_call_arm(call, clock_coarse_ns(), CB_TIMEOUT_MS);
	first = c->table.count == 1;
	__atomic_fetch_add(&c->table.senders, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&c->table.lock);
	rpc_xprt_ref(x); /* call may end, and with it its submitter's reference */
	rc = rpc_auth_marshal(call, call->cb_prog, call->cb_vers);
	call->unsent = rc;
	if (rc == 0)
		x->ops->send_call(x, call, call->off);
	__atomic_fetch_sub(&c->table.senders, 1, __ATOMIC_RELEASE);
	if (first || rc < 0)
		rpc_xprt_kick(x); /* its thread sleeps without looking at deadlines */
	rpc_xprt_unref(x);
	return 0;
}

/* Ends those calls that are overdue or could not be marshalled, or all of them with error. */
static void conn_end_calls(struct srv_conn *c, bool all, int error)
{
	uint64_t now = clock_coarse_ns();
	struct rpc_call *call;
	uint32_t at = 0;
	int rc;

	pthread_mutex_lock(&c->table.lock);
	rpc_table_quiesce_locked(&c->table);
	while ((call = rpc_table_next_locked(&c->table, &at))) {
		if (!all && !call->unsent && call->deadline_ns > now)
			continue;
		rc = call->unsent ? -EIO : error;
		pthread_mutex_unlock(&c->table.lock);
		c->x->ops->forget(c->x, call);
		pthread_mutex_lock(&c->table.lock);
		rpc_table_remove_locked(&c->table, call);
		pthread_mutex_unlock(&c->table.lock);
		rpc_call_end(call, rc, NULL);
		pthread_mutex_lock(&c->table.lock);
		rpc_table_quiesce_locked(&c->table);
	}
	pthread_mutex_unlock(&c->table.lock);
}

/* --- upcalls, the connection's thread --------------------------------------------------------- */

static struct rpc_call *up_find(void *ctx, uint32_t xid, bool reverse)
{
	struct srv_conn *c = ctx;

	return reverse ? rpc_table_find(&c->table, xid) : NULL;
}

static void up_reply(void *ctx, struct rpc_call *call, int error, struct xdr_in *msg)
{
	struct srv_conn *c = ctx;
	struct rpc_reply_hdr h;
	int rc;

	pthread_mutex_lock(&c->table.lock);
	rpc_table_remove_locked(&c->table, call);
	pthread_mutex_unlock(&c->table.lock);
	if (error) {
		rpc_call_end(call, error, NULL);
		return;
	}
	rc = rpc_auth_get_reply(call, msg, &h);
	rpc_call_end_reply(call, rc, &h, msg);
}

static void up_request(void *ctx, struct rpc_req *req)
{
	struct srv_conn *c = ctx;
	struct rpc_server *s = c->server;
	s->p.service(s->p.ctx, req);
}

/* --- connections ------------------------------------------------------------------------------ */

static void conn_free(void *owner)
{
	struct srv_conn *c = owner;

	rpc_table_fini(&c->table);
	free(c);
}

static int conn_establish(struct srv_conn *c)
{
	struct rpc_xprt_up up = {
		.find = up_find, .reply = up_reply, .request = up_request, .ctx = c};
	struct err e = {0};
	int rc = c->x->ops->establish(c->x, &up, &e);

	if (rc < 0)
		log_ctrl("connection from %s not established: %s", c->x->peer, e.msg);
	return rc;
}

/* How long it may sleep, at most max ms, until it is clear whether it calls at all. */
static int conn_watch_first(struct srv_conn *c, int max)
{
	uint64_t left = c->server->p.first_ms * MS, age;

	if (__atomic_load_n(&c->x->active_ns, __ATOMIC_RELAXED))
		return max;
	age = clock_ns() - c->since_ns;
	if (age >= left) {
		log_ctrl(
			"connection from %s: no call for %u ms", c->x->peer, c->server->p.first_ms);
		c->x->ops->shutdown(c->x);
		return 0;
	}
	left = (left - age) / MS + 1;
	return left < (unsigned)max ? (int)left : max;
}

/* While memory is kept for the peer: how long it may sleep until it is clear whether it gets on. */
static int conn_watch_still(struct srv_conn *c, int max)
{
	uint64_t moved, now;

	if (!c->x->ops->keeps || !c->x->ops->keeps(c->x, &moved)) {
		c->still_ns = 0;
		return max;
	}
	now = clock_ns();
	if (!c->still_ns || moved != c->moved) {
		c->moved = moved;
		c->still_ns = now;
	} else if (now - c->still_ns >= STILL_MS * MS && mem_pool_is_short(c->pool)) {
		log_ctrl("connection from %s stands still for %d ms, and memory is short",
			c->x->peer, STILL_MS);
		c->x->ops->shutdown(c->x);
		return 0;
	}
	return max < KEEPS_TICK_MS ? max : KEEPS_TICK_MS;
}

static void conn_serve(struct srv_conn *c)
{
	struct rpc_server *s = c->server;
	unsigned ncalls;
	int tick;

	log_ctrl("connection from %s", c->x->peer);
	if (s->p.conn_up)
		s->p.conn_up(s->p.ctx, c->x);
	do {
		pthread_mutex_lock(&c->table.lock);
		ncalls = c->table.count;
		pthread_mutex_unlock(&c->table.lock);
		if (ncalls)
			conn_end_calls(c, false, -ETIMEDOUT);
		tick = conn_watch_first(c, ncalls ? CB_TICK_MS : IDLE_TICK_MS);
		tick = conn_watch_still(c, tick);
	} while (c->x->ops->progress(c->x, tick) == 0);
	log_ctrl("connection from %s ended: %s", c->x->peer, c->x->down_reason);
	pthread_mutex_lock(&c->table.lock);
	c->down = true;
	pthread_mutex_unlock(&c->table.lock);
	conn_end_calls(c, true, -ENOTCONN);
	if (s->p.conn_down)
		s->p.conn_down(s->p.ctx, c->x);
}

static void *conn_main(void *arg)
{
	struct srv_conn *c = arg;
	struct rpc_server *s = c->server;
	bool evicted;

	if (conn_establish(c) == 0)
		conn_serve(c);
	pthread_mutex_lock(&s->lock);
	TAILQ_REMOVE(&s->conns, c, link);
	evicted = c->evicted;
	pthread_mutex_unlock(&s->lock);
	rpc_xprt_unref(c->x); /* c may be gone */
	pthread_mutex_lock(&s->lock);
	s->nconns--;
	s->nevicted -= evicted;
	pthread_cond_broadcast(&s->gone);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* The connection idle longest, and long enough; NULL if there is none. */
static struct srv_conn *find_idle_locked(struct rpc_server *s)
{
	uint64_t oldest = clock_ns() - s->p.idle_ms * MS;
	struct srv_conn *c, *best = NULL;

	TAILQ_FOREACH (c, &s->conns, link) {
		uint64_t last;

		/* acquire: a request that has ended has left its time */
		if (c->evicted || __atomic_load_n(&c->x->reqs, __ATOMIC_ACQUIRE))
			continue;
		last = __atomic_load_n(&c->x->active_ns, __ATOMIC_RELAXED);
		if (!last)
			last = c->since_ns;
		if (last < oldest) {
			oldest = last;
			best = c;
		}
	}
	return best;
}

/* What key's holder can best spare of its connections, of those quiet for so long; or NULL. */
static struct srv_conn *find_spare_locked(
	struct rpc_server *s, const struct share_key *key, uint64_t quiet_ns)
{
	uint64_t now = clock_ns(), best_last = 0;
	struct srv_conn *c, *best = NULL;
	unsigned best_rank = 3;

	TAILQ_FOREACH (c, &s->conns, link) {
		/* acquire: as in find_idle_locked() */
		bool busy = __atomic_load_n(&c->x->reqs, __ATOMIC_ACQUIRE);
		uint64_t called = __atomic_load_n(&c->x->active_ns, __ATOMIC_RELAXED);
		uint64_t last = called ? called : c->since_ns;
		uint64_t quiet = busy && quiet_ns < STILL_MS * MS ? STILL_MS * MS : quiet_ns;
		unsigned rank = busy ? 2 : called ? 1 : 0;

		if (c->evicted || !share_key_same(&c->key, key) || now - last > INT64_MAX ||
			now - last < quiet)
			continue;
		if (rank < best_rank || (rank == best_rank && last < best_last)) {
			best_rank = rank;
			best_last = last;
			best = c;
		}
	}
	return best;
}

static unsigned count_locked(struct rpc_server *s, const struct share_key *key)
{
	struct srv_conn *c;
	unsigned n = 0;

	TAILQ_FOREACH (c, &s->conns, link)
		n += !c->evicted && share_key_same(&c->key, key);
	return n;
}

/* A connection that the holder with the most of them is to give up for one of key's, or NULL. */
static struct srv_conn *find_fair_locked(struct rpc_server *s, const struct share_key *key)
{
	unsigned most = count_locked(s, key), own = most;
	const struct share_key *largest = key;
	struct srv_conn *c;

	TAILQ_FOREACH (c, &s->conns, link) {
		unsigned n = share_key_same(&c->key, largest) ? 0 : count_locked(s, &c->key);

		if (n > most) {
			most = n;
			largest = &c->key;
		}
	}
	c = NULL;
	if (most > own + 1)
		c = find_spare_locked(s, largest, 0);
	return c ? c : find_spare_locked(s, key, QUIET_MS * MS);
}

/* Whether there is a place for a connection of key's, or one could be made. */
static bool make_place_locked(struct rpc_server *s, const struct share_key *key)
{
	struct srv_conn *c;

	if (s->stopping || s->nconns >= 2 * s->p.max_conns)
		return false;
	if (s->nconns - s->nevicted < s->p.max_conns)
		return true;
	c = find_idle_locked(s);
	if (!c)
		c = find_fair_locked(s, key);
	if (!c)
		return false;
	log_ctrl("connection from %s gives its place to another", c->x->peer);
	c->evicted = true;
	s->nevicted++;
	c->x->ops->shutdown(c->x);
	return true;
}

/* Makes x the server's. Takes over the reference. */
static void server_add(struct rpc_server *s, struct rpc_xprt *x)
{
	struct srv_conn *c = calloc(1, sizeof(*c));
	pthread_attr_t attr;
	bool ok;

	if (!c || rpc_table_init(&c->table) < 0) {
		free(c);
		log_warn("out of memory for a connection from %s", x->peer);
		rpc_xprt_unref(x);
		return;
	}
	c->server = s;
	c->since_ns = clock_ns();
	c->pool = s->p.pool;
	c->x = x;
	c->key = share_key(rpc_xprt_addr(x), rpc_xprt_user(x));
	x->owner = c;
	x->owner_free = conn_free;
	x->stats = &c->stats;
	x->auth = s->p.auth;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_mutex_lock(&s->lock);
	ok = make_place_locked(s, &c->key) && pthread_create(&c->thread, &attr, conn_main, c) == 0;
	if (ok) {
		TAILQ_INSERT_TAIL(&s->conns, c, link);
		s->nconns++;
	}
	pthread_mutex_unlock(&s->lock);
	pthread_attr_destroy(&attr);
	if (!ok) {
		log_warn("connection from %s refused: too many connections", x->peer);
		rpc_xprt_unref(x);
	}
}

/* Asks the owner whether x may come in, and lets him wrap it. */
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
			/* out of descriptors or memory: the connection stays readable */
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
	pthread_cond_destroy(&s->gone);
	pthread_mutex_destroy(&s->lock);
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
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->gone, NULL);
	TAILQ_INIT(&s->conns);
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
	struct srv_conn *c;
	uint64_t one = 1;

	if (!s)
		return NULL;
	if (write(s->stop_fd, &one, sizeof(one)) < 0)
		log_error("eventfd: %s", strerror(errno));
	pthread_join(s->thread, NULL);
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	TAILQ_FOREACH (c, &s->conns, link)
		c->x->ops->shutdown(c->x);
	while (s->nconns)
		pthread_cond_wait(&s->gone, &s->lock);
	pthread_mutex_unlock(&s->lock);
	server_release(s);
	return NULL;
}

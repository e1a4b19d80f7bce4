/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-provider: a provider inside one process that watches how it is used.
 *
 * One global lock protects everything: listeners, connections, queues. A request waits in its
 * target's `in` queue until the target polls.
 */
#include "fake-provider.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#define MAX_DOORS 512
#define CLOSE_LAG 2 /* polls until a door is closed (async) */

struct item { /* a request on its way, or a receive, or a completion */
	STAILQ_ENTRY(item) link;
	struct prov_wr wr;
	struct prov_wc wc;
	struct mem_sge sge; /* receive */
	uint32_t sum;	    /* of the data when it was posted */
	uint32_t len;
	bool down;
	unsigned lag;
};
STAILQ_HEAD(items, item);

struct door {
	bool open, remote_closed;
	uint32_t stag;
	unsigned access;
	struct mem_sge sge;
	bool ghost;
};

struct fake_conn {
	struct prov_conn prov; /* first */
	struct fake_conn *peer;
	struct prov_params params;
	uint8_t priv[PROV_MAX_PRIV];
	bool async, established, down, down_told, freed;
	int wake; /* eventfd */
	struct items in, recvs, done, closing;
	unsigned nrecvs, nsends; /* posted and not ended */
	bool has_user, has_chain, waiting;
	pthread_t user, chain;
	struct door door[MAX_DOORS];
	unsigned refs; /* of the pair: freed together */
};

struct fake_listener {
	struct prov_listener prov; /* first */
	struct prov_params params;
	uint8_t priv[PROV_MAX_PRIV];
	bool async;
	struct fake_conn *waiting[64];
	unsigned nwaiting;
	SLIST_ENTRY(fake_listener) link;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static SLIST_HEAD(, fake_listener) listeners = SLIST_HEAD_INITIALIZER(listeners);
static uint16_t next_port = 1;
static uint32_t next_stag = 0x5000;
static unsigned violations, doors_open;

__attribute__((format(printf, 1, 2))) static void violation(const char *fmt, ...)
{
	va_list ap;

	if (!violations++) {
		va_start(ap, fmt);
		fprintf(stderr, "# fake provider: ");
		vfprintf(stderr, fmt, ap);
		fprintf(stderr, "\n");
		va_end(ap);
	}
}

unsigned fake_violations(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = violations;
	violations = 0;
	pthread_mutex_unlock(&lock);
	return n;
}

unsigned fake_doors_open(void)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = doors_open;
	pthread_mutex_unlock(&lock);
	return n;
}

static struct fake_conn *of(struct prov_conn *pc)
{
	return (struct fake_conn *)pc;
}

static void wake(struct fake_conn *c)
{
	uint64_t one = 1;

	if (write(c->wake, &one, sizeof(one)) < 0)
		abort();
}

static void check_user(struct fake_conn *c, const char *what)
{
	if (!c->has_user)
		c->user = pthread_self();
	c->has_user = true;
	if (!pthread_equal(c->user, pthread_self()))
		violation("%s from a second thread", what);
}

static uint32_t sum_of(const struct prov_wr *wr, uint32_t *len)
{
	uint32_t s = 1, n = 0;

	for (unsigned i = 0; i < wr->nsge; i++) {
		const uint8_t *d = wr->sge[i].addr;

		for (uint32_t k = 0; k < wr->sge[i].len; k++)
			s = s * 31 + d[k];
		n += wr->sge[i].len;
	}
	*len = n;
	return s;
}

/* --- connections ------------------------------------------------------------------------------ */

static struct fake_conn *conn_new(
	const struct prov_ops *ops, const struct prov_params *p, bool async)
{
	struct fake_conn *c = calloc(1, sizeof(*c));

	c->prov.ops = ops;
	c->params = *p;
	memcpy(c->priv, p->priv, p->priv_len);
	c->async = async;
	c->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	STAILQ_INIT(&c->in);
	STAILQ_INIT(&c->recvs);
	STAILQ_INIT(&c->done);
	STAILQ_INIT(&c->closing);
	return c;
}

static void break_locked(struct fake_conn *c, const char *why)
{
	if (c->down)
		return;
	c->down = true;
	snprintf(c->prov.down_reason, sizeof(c->prov.down_reason), "%s", why);
	wake(c);
	pthread_cond_broadcast(&changed);
	if (c->peer && !c->peer->down) { /* it hears what was sent before, then this */
		struct item *it = calloc(1, sizeof(*it));

		it->down = true;
		STAILQ_INSERT_TAIL(&c->peer->in, it, link);
		wake(c->peer);
	}
}

static int fake_open_on(const struct prov_ops *ops, bool async, const struct sockaddr *peer,
	const struct prov_params *p, struct prov_conn **out, struct err *e)
{
	uint16_t port = ntohs(((const struct sockaddr_in *)peer)->sin_port);
	struct fake_conn *a, *b;
	struct fake_listener *l;

	pthread_mutex_lock(&lock);
	SLIST_FOREACH(l, &listeners, link)
	if (l->prov.port == port)
		break;
	if (!l || l->nwaiting == 64) {
		pthread_mutex_unlock(&lock);
		err_set(e, ERR_REFUSED, "port %u: nobody listens", port);
		return -ECONNREFUSED;
	}
	a = conn_new(ops, p, async);
	b = conn_new(l->prov.ops, &l->params, l->async);
	memcpy(b->priv, l->priv, sizeof(b->priv));
	a->peer = b;
	b->peer = a;
	memcpy(&a->prov.peer, peer, sizeof(struct sockaddr_in));
	memcpy(&b->prov.peer, peer, sizeof(struct sockaddr_in));
	l->waiting[l->nwaiting++] = b;
	if (write(l->prov.fd, &(uint64_t){1}, 8) < 0)
		abort();
	pthread_mutex_unlock(&lock);
	*out = &a->prov;
	return 0;
}

static int fake_open(const struct sockaddr *peer, socklen_t len, const struct prov_params *p,
	int timeout_ms, struct prov_conn **out, struct err *e)
{
	return fake_open_on(&prov_fake, false, peer, p, out, e);
}

static int fake_open_async(const struct sockaddr *peer, socklen_t len, const struct prov_params *p,
	int timeout_ms, struct prov_conn **out, struct err *e)
{
	return fake_open_on(&prov_fake_async, true, peer, p, out, e);
}

static int listen_on(const struct prov_ops *ops, bool async, const struct prov_params *p,
	struct prov_listener **out)
{
	struct fake_listener *l = calloc(1, sizeof(*l));

	l->prov.ops = ops;
	l->prov.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE);
	l->params = *p;
	memcpy(l->priv, p->priv, p->priv_len);
	l->async = async;
	pthread_mutex_lock(&lock);
	l->prov.port = next_port++;
	SLIST_INSERT_HEAD(&listeners, l, link);
	pthread_mutex_unlock(&lock);
	*out = &l->prov;
	return 0;
}

static int fake_listen(const struct sockaddr *addr, socklen_t len, const struct prov_params *p,
	struct prov_listener **out, struct err *e)
{
	return listen_on(&prov_fake, false, p, out);
}

static int fake_listen_async(const struct sockaddr *addr, socklen_t len,
	const struct prov_params *p, struct prov_listener **out, struct err *e)
{
	return listen_on(&prov_fake_async, true, p, out);
}

static int fake_accept(struct prov_listener *pl, struct prov_conn **out, struct err *e)
{
	struct fake_listener *l = (struct fake_listener *)pl;
	uint64_t n;
	int rc = -EAGAIN;

	if (read(pl->fd, &n, sizeof(n)) < 0)
		return rc;
	pthread_mutex_lock(&lock);
	if (l->nwaiting) {
		*out = &l->waiting[--l->nwaiting]->prov;
		rc = 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static void fake_unlisten(struct prov_listener *pl)
{
	struct fake_listener *l = (struct fake_listener *)pl;

	pthread_mutex_lock(&lock);
	SLIST_REMOVE(&listeners, l, fake_listener, link);
	pthread_mutex_unlock(&lock);
	close(pl->fd);
	free(l);
}

static int fake_establish(struct prov_conn *pc, int timeout_ms, struct err *e)
{
	struct fake_conn *c = of(pc);
	struct timespec end;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += timeout_ms / 1000 + 1;
	pthread_mutex_lock(&lock);
	c->established = true;
	if (c->peer) {
		memcpy(c->peer->prov.peer_priv, c->priv, c->params.priv_len);
		c->peer->prov.peer_priv_len = c->params.priv_len;
	}
	pthread_cond_broadcast(&changed);
	while (!rc && !c->down && c->peer && !c->peer->established)
		rc = pthread_cond_timedwait(&changed, &lock, &end);
	if (c->down || !c->peer)
		rc = ECONNREFUSED;
	pc->ird = c->params.ird;
	pc->ord = c->params.ord;
	pthread_mutex_unlock(&lock);
	if (rc)
		err_set(e, ERR_NOT_RDMA, "hand-shake failed: %s", strerror(rc));
	return -rc;
}

static void drop_items(struct fake_conn *c, struct items *list)
{
	struct item *it;

	while ((it = STAILQ_FIRST(list))) {
		STAILQ_REMOVE_HEAD(list, link);
		for (unsigned i = 0; i < it->wr.nhold; i++)
			mem_buf_unref(it->wr.hold[i]);
		free(it);
	}
}

static void fake_free(struct prov_conn *pc)
{
	struct fake_conn *c = of(pc);

	if (!c)
		return;
	pthread_mutex_lock(&lock);
	break_locked(c, "freed");
	for (unsigned i = 0; i < MAX_DOORS; i++)
		if (c->door[i].open) {
			violation("door %08x still open at free()", c->door[i].stag);
			doors_open--;
		}
	if (c->peer) {
		/* what waits at the peer must not be looked at any more */
		struct item *it;

		STAILQ_FOREACH (it, &c->peer->in, link) {
			for (unsigned i = 0; i < it->wr.nhold; i++)
				mem_buf_unref(it->wr.hold[i]);
			it->wr.nhold = 0;
			it->down = true;
		}
		c->peer->peer = NULL;
	}
	drop_items(c, &c->in);
	drop_items(c, &c->recvs);
	drop_items(c, &c->done);
	drop_items(c, &c->closing);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	close(c->wake);
	free(c);
}

static void fake_disconnect(struct prov_conn *pc)
{
	pthread_mutex_lock(&lock);
	break_locked(of(pc), "closed by this side");
	pthread_mutex_unlock(&lock);
}

/* --- requests --------------------------------------------------------------------------------- */

static int fake_post_recv(struct prov_conn *pc, uint64_t cookie, const struct mem_sge *sge)
{
	struct fake_conn *c = of(pc);
	struct item *it;
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!sge->slab)
		violation("receive into memory from outside the pool");
	if (c->down)
		rc = -ENOTCONN;
	else if (c->nrecvs >= c->params.recv_depth)
		rc = -ENOBUFS;
	if (rc == -ENOBUFS)
		violation("more receives than the depth of %u", c->params.recv_depth);
	if (!rc) {
		it = calloc(1, sizeof(*it));
		it->sge = *sge;
		it->wc.cookie = cookie;
		STAILQ_INSERT_TAIL(&c->recvs, it, link);
		c->nrecvs++;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static void check_chain(struct fake_conn *c, const struct prov_wr *wr)
{
	if (c->has_chain && !pthread_equal(c->chain, pthread_self()))
		violation("a chain under PROV_MORE was interrupted");
	c->has_chain = (wr->flags & PROV_MORE) && wr->op == PROV_WRITE;
	c->waiting = wr->flags & PROV_MORE;
	c->chain = pthread_self();
}

static int fake_post(struct prov_conn *pc, const struct prov_wr *wr)
{
	struct fake_conn *c = of(pc);
	struct item *it;

	pthread_mutex_lock(&lock);
	if (!c->down && c->peer)
		check_chain(c, wr);
	if (wr->nsge > PROV_MAX_SGE || wr->nhold > PROV_MAX_HOLD ||
		(wr->op == PROV_READ && (wr->nsge != 1 || wr->nhold)))
		violation("a request with %u pieces and %u holds", wr->nsge, wr->nhold);
	for (unsigned i = 0; i < wr->nsge; i++)
		if (!wr->sge[i].slab)
			violation("piece %u of a request is not from the pool", i);
	if (c->down || !c->peer) {
		pthread_mutex_unlock(&lock);
		return -ENOTCONN;
	}
	if (++c->nsends > c->params.send_depth)
		violation("more requests than the depth of %u", c->params.send_depth);
	it = calloc(1, sizeof(*it));
	it->wr = *wr;
	if (wr->op != PROV_READ)
		it->sum = sum_of(wr, &it->len);
	for (unsigned i = 0; i < wr->nhold; i++)
		mem_buf_ref(wr->hold[i]);
	STAILQ_INSERT_TAIL(&c->peer->in, it, link);
	if (!(wr->flags & PROV_MORE))
		wake(c->peer);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* --- doors ------------------------------------------------------------------------------------ */

static int fake_expose(
	struct prov_conn *pc, const struct mem_sge *sge, unsigned access, struct prov_door *door)
{
	struct fake_conn *c = of(pc);
	int rc = -ENOMEM;

	pthread_mutex_lock(&lock);
	if (!sge->slab)
		violation("door to memory from outside the pool");
	if (c->down)
		rc = -ENOTCONN;
	for (unsigned i = 0; rc == -ENOMEM && i < MAX_DOORS; i++) {
		struct door *d = &c->door[i];

		if (d->open)
			continue;
		*d = (struct door){
			.open = true, .stag = next_stag++, .access = access, .sge = *sge};
		door->stag = d->stag;
		door->len = sge->len;
		door->offset = 0x10000 + i;
		door->impl = d;
		doors_open++;
		rc = 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static void close_door(struct fake_conn *c, uint32_t stag)
{
	for (unsigned i = 0; i < MAX_DOORS; i++)
		if (c->door[i].open && c->door[i].stag == stag) {
			c->door[i].open = false;
			doors_open--;
			return;
		}
	violation("door %08x withdrawn, but it is not open", stag);
}

static int fake_withdraw(struct prov_conn *pc, struct prov_door *doors, unsigned n, uint64_t cookie)
{
	struct fake_conn *c = of(pc);
	struct item *it;
	int rc = 0;

	pthread_mutex_lock(&lock);
	check_user(c, "withdraw()");
	if (!n)
		violation("withdraw() of nothing");
	for (unsigned i = 0; i < n; i++) {
		struct door *d = doors[i].impl;

		d->ghost = doors[i].abandoned && !c->async;
		if (!c->down && !doors[i].abandoned && d->remote_closed != doors[i].invalidated)
			violation("door %08x: invalidated by the peer: %d, user says %d", d->stag,
				d->remote_closed, doors[i].invalidated);
	}
	if (c->async && !c->down_told) {
		/* one item per door, the last one completes */
		for (unsigned i = 0; i < n; i++) {
			it = calloc(1, sizeof(*it));
			it->lag = CLOSE_LAG;
			it->wr.remote_stag = doors[i].stag;
			it->wc = (struct prov_wc){.op = PROV_WC_WITHDRAWN, .cookie = cookie};
			it->len = i + 1 == n;
			STAILQ_INSERT_TAIL(&c->closing, it, link);
		}
		rc = -EINPROGRESS;
		wake(c);
	} else {
		for (unsigned i = 0; i < n; i++)
			close_door(c, doors[i].stag);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static void fake_flush(struct prov_conn *pc)
{
	struct fake_conn *c = of(pc);

	pthread_mutex_lock(&lock);
	c->waiting = false;
	if (c->peer)
		wake(c->peer);
	pthread_mutex_unlock(&lock);
}

static struct door *find_door(struct fake_conn *c, uint32_t stag, uint64_t offset, uint64_t len,
	unsigned access, uint8_t **at)
{
	for (unsigned i = 0; i < MAX_DOORS; i++) {
		struct door *d = &c->door[i];
		uint64_t base = 0x10000 + i;

		if (!d->open || d->remote_closed || d->stag != stag)
			continue;
		if (!(d->access & access) || offset < base || offset - base > d->sge.len ||
			len > d->sge.len - (offset - base))
			return NULL;
		*at = (uint8_t *)d->sge.addr + (offset - base);
		return d;
	}
	return NULL;
}

/* A door that was abandoned; such are remembered until their place is needed. */
static bool is_ghost(const struct fake_conn *c, uint32_t stag)
{
	for (unsigned i = 0; i < MAX_DOORS; i++)
		if (c->door[i].ghost && !c->door[i].open && c->door[i].stag == stag)
			return true;
	return false;
}

/* --- progress --------------------------------------------------------------------------------- */

static void gather(const struct prov_wr *wr, uint8_t *to)
{
	for (unsigned i = 0; i < wr->nsge; i++) {
		memcpy(to, wr->sge[i].addr, wr->sge[i].len);
		to += wr->sge[i].len;
	}
}

static void complete(struct fake_conn *c, struct item *it)
{
	STAILQ_INSERT_TAIL(&c->done, it, link);
	wake(c);
}

static void do_send(struct fake_conn *c, struct item *it)
{
	struct item *r = STAILQ_FIRST(&c->recvs);

	if (!r || it->len > r->sge.len) {
		violation(r ? "a Send of %u bytes is longer than its receive"
			    : "a Send of %u bytes finds no receive",
			it->len);
		break_locked(c, "no receive");
		return;
	}
	STAILQ_REMOVE_HEAD(&c->recvs, link);
	c->nrecvs--;
	gather(&it->wr, r->sge.addr);
	r->wc.op = PROV_WC_RECV;
	r->wc.len = it->len;
	if (it->wr.op == PROV_SEND_INV) {
		r->wc.invalidated = !is_ghost(c, it->wr.inv_stag);
		r->wc.inv_stag = it->wr.inv_stag;
		for (unsigned i = 0; i < MAX_DOORS; i++)
			if (c->door[i].open && c->door[i].stag == it->wr.inv_stag)
				c->door[i].remote_closed = true;
	}
	complete(c, r);
}

static void do_write(struct fake_conn *c, struct item *it)
{
	uint8_t *at;

	if (find_door(c, it->wr.remote_stag, it->wr.remote_offset, it->len, PROV_REMOTE_WRITE, &at))
		gather(&it->wr, at);
	else if (!is_ghost(c, it->wr.remote_stag))
		break_locked(c, "RDMA Write to no door");
}

static void do_read(struct fake_conn *c, struct item *it)
{
	struct item *r;
	uint8_t *at;

	if (!find_door(c, it->wr.remote_stag, it->wr.remote_offset, it->wr.sge[0].len,
		    PROV_REMOTE_READ, &at)) {
		break_locked(c, "RDMA Read from no door");
		return;
	}
	if (c->peer->down_told || c->peer->freed)
		return; /* the memory is its user's again */
	memcpy(it->wr.sge[0].addr, at, it->wr.sge[0].len);
	r = calloc(1, sizeof(*r));
	r->wc = (struct prov_wc){.op = PROV_WC_READ, .cookie = it->wr.cookie};
	complete(c->peer, r);
}

static void execute(struct fake_conn *c, struct item *it)
{
	uint32_t len;

	if (it->down || !c->peer) {
		break_locked(c, "closed by the peer");
		return;
	}
	c->peer->nsends--;
	if (it->wr.op != PROV_READ && sum_of(&it->wr, &len) != it->sum)
		violation("memory of a request changed before it had ended");
	if (it->wr.op == PROV_WRITE)
		do_write(c, it);
	else if (it->wr.op == PROV_READ)
		do_read(c, it);
	else
		do_send(c, it);
}

static void close_some(struct fake_conn *c)
{
	struct item *it;

	while ((it = STAILQ_FIRST(&c->closing)) && it->lag == 0) {
		STAILQ_REMOVE_HEAD(&c->closing, link);
		close_door(c, it->wr.remote_stag);
		if (it->len)
			complete(c, it);
		else
			free(it);
	}
	STAILQ_FOREACH (it, &c->closing, link)
		it->lag--;
	if (!STAILQ_EMPTY(&c->closing))
		wake(c);
}

static int tell_down(struct fake_conn *c, struct prov_wc *wc)
{
	struct item *it;

	if (c->down_told)
		return 0;
	c->down_told = true;
	*wc = (struct prov_wc){.op = PROV_WC_DOWN};
	STAILQ_FOREACH (it, &c->closing, link)
		close_door(c, it->wr.remote_stag);
	drop_items(c, &c->closing);
	return 1;
}

static int fake_poll(struct prov_conn *pc, struct prov_wc *wc, int n)
{
	struct fake_conn *c = of(pc);
	struct item *it;
	uint64_t v;
	int got = 0;

	pthread_mutex_lock(&lock);
	check_user(c, "poll()");
	if (c->waiting && !c->down && !c->has_chain)
		violation("poll() while requests are held back");
	if (read(c->wake, &v, sizeof(v)) < 0 && errno != EAGAIN)
		abort();
	while (!c->down && (it = STAILQ_FIRST(&c->in))) {
		STAILQ_REMOVE_HEAD(&c->in, link);
		execute(c, it);
		for (unsigned i = 0; i < it->wr.nhold; i++)
			mem_buf_unref(it->wr.hold[i]);
		free(it);
	}
	close_some(c);
	while (got < n && (it = STAILQ_FIRST(&c->done))) {
		STAILQ_REMOVE_HEAD(&c->done, link);
		wc[got++] = it->wc;
		free(it);
	}
	if (!STAILQ_EMPTY(&c->done))
		wake(c);
	else if (c->down && got < n)
		got += tell_down(c, &wc[got]);
	pthread_mutex_unlock(&lock);
	return got;
}

static void fake_wait(struct prov_conn *pc, int kick_fd, int timeout_ms)
{
	struct pollfd pfd[2] = {
		{.fd = of(pc)->wake, .events = POLLIN},
		{.fd = kick_fd, .events = POLLIN},
	};

	poll(pfd, kick_fd < 0 ? 1 : 2, timeout_ms);
}

#define FAKE_OPS(opener, listener)                                                                 \
	{                                                                                          \
		.name = "fake", .remote_inval = true, .open = opener, .listen = listener,          \
		.accept = fake_accept, .unlisten = fake_unlisten, .establish = fake_establish,     \
		.post_recv = fake_post_recv, .post = fake_post, .flush = fake_flush,               \
		.expose = fake_expose, .withdraw = fake_withdraw, .poll = fake_poll,               \
		.wait = fake_wait, .disconnect = fake_disconnect, .free = fake_free,               \
	}

const struct prov_ops prov_fake = FAKE_OPS(fake_open, fake_listen);
const struct prov_ops prov_fake_async = FAKE_OPS(fake_open_async, fake_listen_async);

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-provider: a provider inside one process that watches its user.
 *
 * One global lock protects everything: listeners, connections, queues. A request waits in the
 * target's `in` queue until the target polls.
 */
#include "tests/unit/transport/rpcrdma/fake-provider-impl.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct fake_listener {
	struct prov_listener prov; /* first */
	struct prov_params params;
	uint8_t priv[PROV_MAX_PRIV];
	bool async;
	struct fake_conn *waiting[64];
	unsigned nwaiting;
	SLIST_ENTRY(fake_listener) link;
};

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static SLIST_HEAD(, fake_listener) listeners = SLIST_HEAD_INITIALIZER(listeners);
static uint16_t next_port = 1;
static unsigned violations;
unsigned fake_ndoors;

void fake_violation(const char *fmt, ...)
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

	pthread_mutex_lock(&fake_lock);
	n = violations;
	violations = 0;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

unsigned fake_doors_open(void)
{
	unsigned n;

	pthread_mutex_lock(&fake_lock);
	n = fake_ndoors;
	pthread_mutex_unlock(&fake_lock);
	return n;
}

void fake_wake(struct fake_conn *c)
{
	uint64_t one = 1;

	if (write(c->wake, &one, sizeof(one)) < 0)
		abort();
}

void fake_hand_over(struct prov_conn *pc)
{
	((struct fake_conn *)pc)->has_user = false;
}

void fake_check_user(struct fake_conn *c, const char *what)
{
	if (!c->has_user)
		c->user = pthread_self();
	c->has_user = true;
	if (!pthread_equal(c->user, pthread_self()))
		fake_violation("%s from a second thread", what);
}

uint32_t fake_sum_of(const struct prov_wr *wr, uint32_t *len)
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

void fake_break_locked(struct fake_conn *c, const char *why)
{
	if (c->down)
		return;
	c->down = true;
	snprintf(c->prov.down_reason, sizeof(c->prov.down_reason), "%s", why);
	fake_wake(c);
	pthread_cond_broadcast(&changed);
	if (c->peer && !c->peer->down) { /* the peer hears the earlier messages, then the end */
		struct item *it = calloc(1, sizeof(*it));

		it->down = true;
		STAILQ_INSERT_TAIL(&c->peer->in, it, link);
		fake_wake(c->peer);
	}
}

static int fake_open_on(const struct prov_ops *ops, bool async, const struct sockaddr *peer,
	const struct prov_params *p, struct prov_conn **out, struct err *e)
{
	uint16_t port = ntohs(((const struct sockaddr_in *)peer)->sin_port);
	struct fake_conn *a, *b;
	struct fake_listener *l;

	pthread_mutex_lock(&fake_lock);
	SLIST_FOREACH(l, &listeners, link)
	if (l->prov.port == port)
		break;
	if (!l || l->nwaiting == 64) {
		pthread_mutex_unlock(&fake_lock);
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
	pthread_mutex_unlock(&fake_lock);
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
	pthread_mutex_lock(&fake_lock);
	l->prov.port = next_port++;
	SLIST_INSERT_HEAD(&listeners, l, link);
	pthread_mutex_unlock(&fake_lock);
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
	pthread_mutex_lock(&fake_lock);
	if (l->nwaiting) {
		*out = &l->waiting[--l->nwaiting]->prov;
		rc = 0;
	}
	pthread_mutex_unlock(&fake_lock);
	return rc;
}

static void fake_unlisten(struct prov_listener *pl)
{
	struct fake_listener *l = (struct fake_listener *)pl;

	pthread_mutex_lock(&fake_lock);
	SLIST_REMOVE(&listeners, l, fake_listener, link);
	pthread_mutex_unlock(&fake_lock);
	close(pl->fd);
	free(l);
}

static int fake_establish(struct prov_conn *pc, int timeout_ms, struct err *e)
{
	struct fake_conn *c = fake_of(pc);
	struct timespec end;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += timeout_ms / 1000 + 1;
	pthread_mutex_lock(&fake_lock);
	c->established = true;
	if (c->peer) {
		memcpy(c->peer->prov.peer_priv, c->priv, c->params.priv_len);
		c->peer->prov.peer_priv_len = c->params.priv_len;
	}
	pthread_cond_broadcast(&changed);
	while (!rc && !c->down && c->peer && !c->peer->established)
		rc = pthread_cond_timedwait(&changed, &fake_lock, &end);
	if (c->down || !c->peer)
		rc = ECONNREFUSED;
	pc->ird = c->params.ird;
	pc->ord = c->params.ord;
	pthread_mutex_unlock(&fake_lock);
	if (rc)
		err_set(e, ERR_NOT_RDMA, "hand-shake failed: %s", strerror(rc));
	return -rc;
}

void fake_drop_items(struct fake_conn *c, struct items *list)
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
	struct fake_conn *c = fake_of(pc);

	if (!c)
		return;
	pthread_mutex_lock(&fake_lock);
	fake_break_locked(c, "freed");
	for (unsigned i = 0; i < MAX_DOORS; i++)
		if (c->door[i].open) {
			fake_violation("door %08x still open at free()", c->door[i].stag);
			fake_ndoors--;
		}
	if (c->peer) {
		/* items of c that wait at the peer must not be looked at any more */
		struct item *it;

		STAILQ_FOREACH (it, &c->peer->in, link) {
			for (unsigned i = 0; i < it->wr.nhold; i++)
				mem_buf_unref(it->wr.hold[i]);
			it->wr.nhold = 0;
			it->down = true;
		}
		c->peer->peer = NULL;
	}
	fake_drop_items(c, &c->in);
	fake_drop_items(c, &c->recvs);
	fake_drop_items(c, &c->done);
	fake_drop_items(c, &c->closing);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&fake_lock);
	close(c->wake);
	free(c);
}

static void fake_disconnect(struct prov_conn *pc)
{
	pthread_mutex_lock(&fake_lock);
	fake_break_locked(fake_of(pc), "closed by this side");
	pthread_mutex_unlock(&fake_lock);
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

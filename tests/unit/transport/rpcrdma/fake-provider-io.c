/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-provider: requests, doors and completions.
 */
#include "tests/unit/transport/rpcrdma/fake-provider-impl.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool fake_lingers;
static uint32_t next_stag = 0x5000; /* fake_lock */

/* --- requests --------------------------------------------------------------------------------- */

int fake_post_recv(struct prov_conn *pc, uint64_t cookie, const struct mem_sge *sge)
{
	struct fake_conn *c = fake_of(pc);
	struct item *it;
	int rc = 0;

	pthread_mutex_lock(&fake_lock);
	if (!sge->slab)
		fake_violation("receive into memory from outside the pool");
	if (c->down)
		rc = -ENOTCONN;
	else if (c->nrecvs >= c->params.recv_depth)
		rc = -ENOBUFS;
	if (rc == -ENOBUFS)
		fake_violation("more receives than the depth of %u", c->params.recv_depth);
	if (!rc) {
		it = calloc(1, sizeof(*it));
		it->sge = *sge;
		it->wc.cookie = cookie;
		STAILQ_INSERT_TAIL(&c->recvs, it, link);
		c->nrecvs++;
	}
	pthread_mutex_unlock(&fake_lock);
	return rc;
}

static void check_chain(struct fake_conn *c, const struct prov_wr *wr)
{
	if (c->has_chain && !pthread_equal(c->chain, pthread_self()))
		fake_violation("a chain under PROV_MORE was interrupted");
	c->has_chain = (wr->flags & PROV_MORE) && wr->op == PROV_WRITE;
	c->waiting = wr->flags & PROV_MORE;
	c->chain = pthread_self();
}

int fake_post(struct prov_conn *pc, const struct prov_wr *wr)
{
	struct fake_conn *c = fake_of(pc);
	struct item *it;

	pthread_mutex_lock(&fake_lock);
	if (!c->down && c->peer)
		check_chain(c, wr);
	if (wr->nsge > PROV_MAX_SGE || wr->nhold > PROV_MAX_HOLD ||
		(wr->op == PROV_READ && (wr->nsge != 1 || wr->nhold)))
		fake_violation("a request with %u pieces and %u holds", wr->nsge, wr->nhold);
	for (unsigned i = 0; i < wr->nsge; i++)
		if (!wr->sge[i].slab)
			fake_violation("piece %u of a request is not from the pool", i);
	if (c->down || !c->peer) {
		pthread_mutex_unlock(&fake_lock);
		return -ENOTCONN;
	}
	if (++c->nsends > c->params.send_depth)
		fake_violation("more requests than the depth of %u", c->params.send_depth);
	it = calloc(1, sizeof(*it));
	it->wr = *wr;
	if (wr->op != PROV_READ)
		it->sum = fake_sum_of(wr, &it->len);
	for (unsigned i = 0; i < wr->nhold; i++)
		mem_buf_ref(wr->hold[i]);
	STAILQ_INSERT_TAIL(&c->peer->in, it, link);
	if (!(wr->flags & PROV_MORE))
		fake_wake(c->peer);
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

/* --- doors ------------------------------------------------------------------------------------ */

_Atomic size_t fake_memory = SIZE_MAX;

static size_t bytes_exposed(const struct fake_conn *c)
{
	size_t n = 0;

	for (unsigned i = 0; i < MAX_DOORS; i++)
		n += c->door[i].open ? c->door[i].sge.len : 0;
	return n;
}

int fake_expose(
	struct prov_conn *pc, const struct mem_sge *sge, unsigned access, struct prov_door *door)
{
	struct fake_conn *c = fake_of(pc);
	int rc = -ENOMEM;

	pthread_mutex_lock(&fake_lock);
	if (!sge->slab)
		fake_violation("door to memory from outside the pool");
	if (c->down)
		rc = -ENOTCONN;
	for (unsigned i = 0; rc == -ENOMEM && i < MAX_DOORS; i++) {
		struct door *d = &c->door[i];

		if (d->open)
			continue;
		if (fake_memory != SIZE_MAX && bytes_exposed(c) + sge->len > fake_memory)
			break;
		*d = (struct door){
			.open = true, .stag = next_stag++, .access = access, .sge = *sge};
		door->stag = d->stag;
		door->len = sge->len;
		door->offset = 0x10000 + i;
		door->impl = d;
		fake_ndoors++;
		rc = 0;
	}
	pthread_mutex_unlock(&fake_lock);
	return rc;
}

static void close_door(struct fake_conn *c, uint32_t stag)
{
	for (unsigned i = 0; i < MAX_DOORS; i++)
		if (c->door[i].open && c->door[i].stag == stag) {
			c->door[i].open = false;
			fake_ndoors--;
			return;
		}
	fake_violation("door %08x withdrawn, but it is not open", stag);
}

int fake_withdraw(struct prov_conn *pc, struct prov_door *doors, unsigned n, uint64_t cookie)
{
	struct fake_conn *c = fake_of(pc);
	struct item *it;
	int rc = 0;

	pthread_mutex_lock(&fake_lock);
	fake_check_user(c, "withdraw()");
	if (!n)
		fake_violation("withdraw() of nothing");
	for (unsigned i = 0; i < n; i++) {
		struct door *d = doors[i].impl;

		d->ghost = doors[i].abandoned && !c->async;
		if (!c->down && !doors[i].abandoned && d->remote_closed != doors[i].invalidated)
			fake_violation("door %08x: invalidated by the peer: %d, user says %d",
				d->stag, d->remote_closed, doors[i].invalidated);
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
		fake_wake(c);
	} else {
		for (unsigned i = 0; i < n; i++)
			close_door(c, doors[i].stag);
	}
	pthread_mutex_unlock(&fake_lock);
	return rc;
}

void fake_flush(struct prov_conn *pc)
{
	struct fake_conn *c = fake_of(pc);

	pthread_mutex_lock(&fake_lock);
	c->waiting = false;
	if (c->peer)
		fake_wake(c->peer);
	pthread_mutex_unlock(&fake_lock);
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

/* An abandoned door. The table remembers such doors until the place is needed. */
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
	fake_wake(c);
}

static void do_send(struct fake_conn *c, struct item *it)
{
	struct item *r = STAILQ_FIRST(&c->recvs);

	if (!r || it->len > r->sge.len) {
		fake_violation(r ? "a Send of %u bytes is longer than its receive"
				 : "a Send of %u bytes finds no receive",
			it->len);
		fake_break_locked(c, "no receive");
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
		fake_break_locked(c, "RDMA Write to no door");
}

static void do_read(struct fake_conn *c, struct item *it)
{
	struct item *r;
	uint8_t *at;

	if (!find_door(c, it->wr.remote_stag, it->wr.remote_offset, it->wr.sge[0].len,
		    PROV_REMOTE_READ, &at)) {
		fake_break_locked(c, "RDMA Read from no door");
		return;
	}
	if (c->peer->down_told || c->peer->freed)
		return; /* the memory belongs to the user again */
	memcpy(it->wr.sge[0].addr, at, it->wr.sge[0].len);
	r = calloc(1, sizeof(*r));
	r->wc = (struct prov_wc){.op = PROV_WC_READ, .cookie = it->wr.cookie};
	complete(c->peer, r);
}

static void execute(struct fake_conn *c, struct item *it)
{
	uint32_t len;

	if (it->down || !c->peer) {
		fake_break_locked(c, "closed by the peer");
		return;
	}
	c->peer->nsends--;
	if (it->wr.op != PROV_READ && fake_sum_of(&it->wr, &len) != it->sum)
		fake_violation("memory of a request changed before it had ended");
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
		fake_wake(c);
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
	fake_drop_items(c, &c->closing);
	return 1;
}

int fake_poll(struct prov_conn *pc, struct prov_wc *wc, int n)
{
	struct fake_conn *c = fake_of(pc);
	struct item *it;
	uint64_t v;
	int got = 0;

	pthread_mutex_lock(&fake_lock);
	fake_check_user(c, "poll()");
	if (c->waiting && !c->down && !c->has_chain && !fake_lingers)
		fake_violation("poll() while requests are held back");
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
		fake_wake(c);
	else if (c->down && got < n)
		got += tell_down(c, &wc[got]);
	pthread_mutex_unlock(&fake_lock);
	return got;
}

void fake_wait(struct prov_conn *pc, int kick_fd, int timeout_ms)
{
	struct pollfd pfd[2] = {
		{.fd = fake_of(pc)->wake, .events = POLLIN},
		{.fd = kick_fd, .events = POLLIN},
	};

	poll(pfd, kick_fd < 0 ? 1 : 2, timeout_ms);
}

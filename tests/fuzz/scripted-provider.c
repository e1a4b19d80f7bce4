/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: the provider, of one connection at a time.
 *
 * The rest of a receive buffer behind the end of a message may not be touched: the address
 * sanitizer is
 * told so.
 */
#include <errno.h>
#include <string.h>

#include <sanitizer/asan_interface.h>

#include "scripted.h"
#include "transport/clock.h"

#define BASE 0x10000 /* offsets of doors begin there */

struct scripted_conn scripted;
uint64_t scripted_now;

/* instead of the functions of transport/clock.c */
uint64_t __wrap_clock_ns(void);
uint64_t __wrap_clock_ns(void)
{
	return scripted_now;
}

uint32_t script_len(struct script *s)
{
	uint32_t b = script_u8(s);

	return b < 128 ? b : b < 240 ? (b - 127) * 97 : (b - 239) * 17001;
}

void scripted_pattern(void *to, uint32_t n, uint32_t seed)
{
	static uint8_t all[(1u << 20) + 256];

	for (uint32_t i = sizeof(all); !all[1] && i--;)
		all[i] = (uint8_t)(i * 7 + (i >> 8));
	memcpy(to, all + seed % 251, n);
}

/* Does the script have this request refused? */
static bool refused(void)
{
	return scripted.failing && !--scripted.failing;
}

static void complete(struct prov_wc wc)
{
	struct scripted_conn *c = &scripted;

	if (c->ndone == c->done_cap) {
		c->done_cap = c->done_cap ? 2 * c->done_cap : 64;
		c->done = realloc(c->done, c->done_cap * sizeof(*c->done));
	}
	c->done[c->ndone++] = wc;
}

/* --- memory of posted requests ---------------------------------------------------------------- */

static uint32_t sum_of(const struct prov_wr *wr)
{
	uint32_t s = 1;

	for (unsigned i = 0; i < wr->nsge; i++) {
		const uint8_t *d = wr->sge[i].addr;

		for (uint32_t k = 0; k < wr->sge[i].len; k += 1 + wr->sge[i].len / 16)
			s = s * 31 + d[k];
	}
	return s;
}

void scripted_sent_all(void)
{
	struct scripted_conn *c = &scripted;

	for (unsigned i = 0; i < c->nheld; i++) {
		/* an answered call, even one answered in advance, may be sent anew */
		SCRIPTED_CHECK(sum_of(&c->held[i].wr) == c->held[i].sum ||
			       (scripted_end.requester && c->held[i].heard != c->heard));
		for (unsigned k = 0; k < c->held[i].wr.nhold; k++)
			mem_buf_unref(c->held[i].wr.hold[k]);
	}
	c->nheld = 0;
}

/* Does the end have messages still to be looked at? */
static bool is_behind(void)
{
	const struct rpcrdma_conn *r = scripted_end.x ? scripted_rdma() : NULL;

	return scripted.first_done < scripted.ndone ||
	       (r && (r->wcs.iwc < r->wcs.nwc || r->wcs.nlater));
}

static bool is_send(const struct prov_wr *wr)
{
	return wr->op == PROV_SEND || wr->op == PROV_SEND_INV;
}

static int post(struct prov_conn *pc, const struct prov_wr *wr)
{
	struct scripted_conn *c = &scripted;

	SCRIPTED_CHECK(wr->nsge <= PROV_MAX_SGE && wr->nhold <= PROV_MAX_HOLD);
	for (unsigned i = 0; i < wr->nsge; i++)
		SCRIPTED_CHECK(wr->sge[i].slab);
	if (c->down)
		return -ENOTCONN;
	if (c->nheld == c->params.send_depth)
		scripted_sent_all();
	for (unsigned i = 0; c->prov.bulk_by_doors && is_send(wr) && i < wr->nhold; i++)
		SCRIPTED_CHECK(wr->hold[i]->size <= 64u << 10);
	if (refused())
		return -ENOBUFS;
	c->waiting = wr->flags & PROV_MORE;
	if (wr->op == PROV_READ) {
		SCRIPTED_CHECK(wr->nsge == 1 && !wr->nhold && c->nreads < 64);
		c->reads[c->nreads++] = *wr;
	} else {
		for (unsigned i = 0; i < wr->nhold; i++)
			mem_buf_ref(wr->hold[i]);
		c->held[c->nheld].wr = *wr;
		c->held[c->nheld].heard = is_behind() ? ~0u : c->heard;
		c->held[c->nheld++].sum = sum_of(wr);
	}
	peer_got(wr);
	return 0;
}

static void flush(struct prov_conn *pc)
{
	scripted.waiting = false;
}

static size_t unsent(struct prov_conn *pc, uint64_t *sent)
{
	size_t n = 0;

	for (unsigned i = 0; i < scripted.nheld; i++)
		for (unsigned k = 0; k < scripted.held[i].wr.nsge; k++)
			n += scripted.held[i].wr.sge[k].len;
	*sent = 0;
	return n;
}

/* --- receives --------------------------------------------------------------------------------- */

static int post_recv(struct prov_conn *pc, uint64_t cookie, const struct mem_sge *sge)
{
	struct scripted_conn *c = &scripted;
	unsigned i = (c->first_recv + c->nrecvs) % c->params.recv_depth;

	SCRIPTED_CHECK(c->nrecvs < c->params.recv_depth);
	if (c->down)
		return -ENOTCONN;
	if (refused())
		return -ENOBUFS;
	ASAN_UNPOISON_MEMORY_REGION(sge->addr, sge->len);
	c->recv[i].cookie = cookie;
	c->recv[i].sge = *sge;
	c->nrecvs++;
	return 0;
}

bool scripted_deliver(const void *msg, uint32_t len, bool inv, uint32_t stag)
{
	struct prov_wc wc = {.op = PROV_WC_RECV, .len = len, .inv_stag = stag, .invalidated = inv};
	struct scripted_conn *c = &scripted;
	const struct mem_sge *sge;

	if (c->down)
		return false;
	sge = &c->recv[c->first_recv].sge;
	if (!c->nrecvs || len > sge->len) {
		scripted_close();
		return false;
	}
	memcpy(sge->addr, msg, len);
	ASAN_POISON_MEMORY_REGION((uint8_t *)sge->addr + len, sge->len - len);
	wc.cookie = c->recv[c->first_recv].cookie;
	c->first_recv = (c->first_recv + 1) % c->params.recv_depth;
	c->nrecvs--;
	for (unsigned i = 0; inv && i < c->ndoors; i++)
		if (c->door[i].stag == stag && c->door[i].is == DOOR_GHOST)
			wc.invalidated = false;
	complete(wc);
	c->heard++;
	return true;
}

/* --- doors ------------------------------------------------------------------------------------ */

static int expose(
	struct prov_conn *pc, const struct mem_sge *sge, unsigned access, struct prov_door *door)
{
	struct scripted_conn *c = &scripted;
	unsigned i = 0;

	SCRIPTED_CHECK(sge->slab && sge->len && access);
	if (c->down)
		return -ENOTCONN;
	while (i < c->ndoors && (c->door[i].is == DOOR_OPEN || c->door[i].is == DOOR_CLOSING))
		i++;
	if (i == SCRIPTED_DOORS || refused())
		return -ENOMEM;
	if (i == c->ndoors)
		c->ndoors++;
	c->door[i].is = DOOR_OPEN;
	c->door[i].stag = c->next_stag++;
	c->door[i].access = access;
	c->door[i].sge = *sge;
	door->stag = c->door[i].stag;
	door->len = sge->len;
	door->offset = BASE;
	door->impl = &c->door[i];
	return 0;
}

static int withdraw(struct prov_conn *pc, struct prov_door *doors, unsigned n, uint64_t cookie)
{
	struct scripted_conn *c = &scripted;
	bool later = c->async && !c->told;

	SCRIPTED_CHECK(n);
	for (unsigned i = 0; i < n; i++) {
		__typeof__(&c->door[0]) d = doors[i].impl;

		SCRIPTED_CHECK(d->is == DOOR_OPEN && d->stag == doors[i].stag);
		d->is = later				  ? DOOR_CLOSING
			: doors[i].abandoned && !c->async ? DOOR_GHOST
							  : DOOR_NONE;
		d->lag = 2;
		d->cookie = cookie;
		d->last = i + 1 == n;
	}
	return later ? -EINPROGRESS : 0;
}

static void close_some(struct scripted_conn *c)
{
	for (unsigned i = 0; i < c->ndoors; i++) {
		if (c->door[i].is != DOOR_CLOSING || c->door[i].lag--)
			continue;
		c->door[i].is = DOOR_NONE;
		if (c->door[i].last)
			complete((struct prov_wc){
				.op = PROV_WC_WITHDRAWN, .cookie = c->door[i].cookie});
	}
}

/* The memory that a peer reaches with this STag, or NULL. */
static uint8_t *find(uint32_t stag, uint64_t offset, uint32_t len, unsigned access, bool *ghost)
{
	struct scripted_conn *c = &scripted;

	*ghost = false;
	for (unsigned i = 0; i < c->ndoors; i++) {
		uint32_t size = c->door[i].sge.len;

		if (c->door[i].stag != stag || c->door[i].is == DOOR_NONE)
			continue;
		*ghost = c->door[i].is == DOOR_GHOST;
		if (*ghost || !(c->door[i].access & access) || offset < BASE ||
			offset - BASE > size || len > size - (offset - BASE))
			return NULL;
		return (uint8_t *)c->door[i].sge.addr + (offset - BASE);
	}
	return NULL;
}

bool scripted_write(uint32_t stag, uint64_t offset, const void *data, uint32_t len)
{
	bool ghost;
	uint8_t *at = find(stag, offset, len, PROV_REMOTE_WRITE, &ghost);

	if (scripted.down)
		return false;
	if (at)
		memcpy(at, data, len);
	else if (!ghost)
		scripted_close();
	return at;
}

const uint8_t *scripted_readable(uint32_t stag, uint64_t offset, uint32_t len)
{
	bool ghost;

	return find(stag, offset, len, PROV_REMOTE_READ, &ghost);
}

const uint8_t *scripted_memory(uint32_t stag)
{
	for (unsigned i = 0; i < scripted.ndoors; i++)
		if (scripted.door[i].stag == stag)
			return scripted.door[i].sge.addr;
	return NULL;
}

bool scripted_exposed(const void *addr, size_t len)
{
	struct scripted_conn *c = &scripted;
	const uint8_t *a = addr;

	for (unsigned i = 0; i < c->ndoors; i++) {
		const uint8_t *d = c->door[i].sge.addr;

		if ((c->door[i].is == DOOR_OPEN || c->door[i].is == DOOR_CLOSING) && d < a + len &&
			a < d + c->door[i].sge.len)
			return true;
	}
	return false;
}

unsigned scripted_open_doors(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < scripted.ndoors; i++)
		n += scripted.door[i].is == DOOR_OPEN || scripted.door[i].is == DOOR_CLOSING;
	return n;
}

/* --- progress --------------------------------------------------------------------------------- */

void scripted_read_done(void)
{
	struct scripted_conn *c = &scripted;

	if (!c->nreads || c->down)
		return;
	complete((struct prov_wc){.op = PROV_WC_READ, .cookie = c->reads[0].cookie});
	memmove(c->reads, c->reads + 1, --c->nreads * sizeof(c->reads[0]));
}

static int poll_done(struct prov_conn *pc, struct prov_wc *wc, int n)
{
	struct scripted_conn *c = &scripted;
	int got = 0;

	if (!c->lazy)
		scripted_sent_all();
	close_some(c);
	if (n > (int)c->batch)
		n = (int)c->batch;
	while (got < n && c->first_done < c->ndone)
		wc[got++] = c->done[c->first_done++];
	if (c->first_done == c->ndone)
		c->first_done = c->ndone = 0;
	if (got < n && c->down && !c->told) {
		c->told = true;
		for (unsigned i = 0; i < c->ndoors; i++)
			if (c->door[i].is == DOOR_CLOSING)
				c->door[i].is = DOOR_NONE;
		wc[got++] = (struct prov_wc){.op = PROV_WC_DOWN};
	}
	return got;
}

static void wait_done(struct prov_conn *pc, int kick_fd, int timeout_ms)
{
	scripted_now += NSEC_PER_MSEC;
	if (!scripted_end.x)
		peer_configure();
}

void scripted_close(void)
{
	if (!scripted.down)
		snprintf(scripted.prov.down_reason, sizeof(scripted.prov.down_reason), "over");
	scripted.down = true;
}

static void disconnect(struct prov_conn *pc)
{
	scripted_close();
}

/* --- life ------------------------------------------------------------------------------------- */

const struct prov_ops *scripted_begin(struct script *s)
{
	struct prov_wc *done = scripted.done;
	unsigned cap = scripted.done_cap, how = script_u8(s);

	for (unsigned i = 0; i < scripted.ndoors; i++)
		memset(&scripted.door[i], 0, sizeof(scripted.door[i]));
	memset(&scripted, 0, offsetof(struct scripted_conn, door));
	scripted.ndoors = scripted.nheld = scripted.heard = scripted.nreads = 0;
	scripted.done = done;
	scripted.done_cap = cap;
	scripted.async = how & 1;
	scripted.lazy = how & 2;
	scripted.batch = how & 4 ? 1 : 16;
	scripted.prov.bulk_by_doors = how & 16;
	scripted.failing = how & 8 ? 1 + script_u8(s) * 2u : 0;
	scripted.next_stag = 0x5000;
	return scripted.async ? &prov_scripted_async : &prov_scripted;
}

static struct prov_conn *conn_new(const struct prov_params *p)
{
	struct scripted_conn *c = &scripted;

	c->prov.ops = c->async ? &prov_scripted_async : &prov_scripted;
	c->params = *p;
	c->recv = calloc(p->recv_depth, sizeof(*c->recv));
	c->held = calloc(p->send_depth, sizeof(*c->held));
	c->prov.peer.ss_family = AF_INET;
	c->used = true;
	return &c->prov;
}

static int open_conn(const struct sockaddr *peer, socklen_t len, const struct prov_params *p,
	int timeout_ms, struct prov_conn **out, struct err *e)
{
	*out = conn_new(p);
	return 0;
}

static int listen_conn(const struct sockaddr *addr, socklen_t len, const struct prov_params *p,
	struct prov_listener **out, struct err *e)
{
	static struct prov_listener l = {.fd = -1};

	scripted.params = *p;
	*out = &l;
	return 0;
}

static int accept_conn(struct prov_listener *l, struct prov_conn **out, struct err *e)
{
	if (scripted.used)
		return -EAGAIN;
	*out = conn_new(&(struct prov_params){.recv_depth = scripted.params.recv_depth,
		.send_depth = scripted.params.send_depth});
	return 0;
}

static void unlisten(struct prov_listener *l)
{
}

static int establish(struct prov_conn *pc, int timeout_ms, struct err *e)
{
	pc->ird = pc->ord = 16;
	return 0;
}

static void free_conn(struct prov_conn *pc)
{
	SCRIPTED_CHECK(!scripted_open_doors());
	scripted_sent_all();
	scripted.down = true;
	free(scripted.recv);
	free(scripted.held);
	scripted.recv = NULL;
	scripted.held = NULL;
}

#define OPS                                                                                        \
	.name = "scripted", .remote_inval = true, .open = open_conn, .listen = listen_conn,        \
	.accept = accept_conn, .unlisten = unlisten, .establish = establish,                       \
	.post_recv = post_recv, .post = post, .expose = expose, .withdraw = withdraw,              \
	.poll = poll_done, .wait = wait_done, .disconnect = disconnect, .free = free_conn

const struct prov_ops prov_scripted = {OPS, .flush = flush, .unsent = unsent};
const struct prov_ops prov_scripted_async = {OPS};

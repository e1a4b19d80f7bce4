/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_mem: the protection domain, slabs and doors of the verbs provider.
 *
 * Slabs are registered once for local access. A door is either a type 2 memory window bound to the
 * piece that one RPC exposes, where the device has windows, or a registration of that piece alone.
 * Either way its rkey opens nothing else, and nothing at all once the door is closed.
 */
#include "transport/verbs/verbs_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "transport/log.h"

static pthread_mutex_t domains_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, verbs_domain) domains; /* under domains_lock, as are the refs in it */

/* RLIMIT_MEMLOCK is what makes a registration fail in practice: say so, once. */
static void report_memlock(const struct verbs_domain *dom, size_t len)
{
	static atomic_bool said;
	struct rlimit lim = {0};

	if (atomic_exchange_explicit(&said, true, memory_order_relaxed))
		return;
	getrlimit(RLIMIT_MEMLOCK, &lim);
	if (lim.rlim_cur == RLIM_INFINITY)
		log_warn("%s cannot register %zu more bytes of memory: going on with a smaller "
			 "cache",
			ibv_get_device_name(dom->ctx->device), len);
	else
		log_warn("%s cannot register %zu more bytes of memory, RLIMIT_MEMLOCK is %llu KiB: "
			 "raise it (ulimit -l) for a larger cache",
			ibv_get_device_name(dom->ctx->device), len,
			(unsigned long long)lim.rlim_cur >> 10);
}

static int slab_reg(void *ctx, struct mem_slab *slab)
{
	struct verbs_domain *dom = ctx;
	int access = IBV_ACCESS_LOCAL_WRITE | (dom->windows ? IBV_ACCESS_MW_BIND : 0);

	if (dom->lean && slab->block > VERBS_BULK)
		return 0;
	slab->reg = ibv_reg_mr(dom->pd, slab->base, slab->len, access);
	if (slab->reg)
		return 0;
	if (errno == ENOMEM)
		report_memlock(dom, slab->len);
	return -errno;
}

static void slab_unreg(void *ctx, struct mem_slab *slab)
{
	ibv_dereg_mr(slab->reg);
	slab->reg = NULL;
}

/* How many bytes of slabs may be registered under RLIMIT_MEMLOCK, beside a few for the queues; 0:
 * it does not bind us. */
static size_t most_registered(void)
{
	struct rlimit lim;

	if (!geteuid() || getrlimit(RLIMIT_MEMLOCK, &lim) || lim.rlim_cur == RLIM_INFINITY)
		return 0;
	return lim.rlim_cur - lim.rlim_cur / 8;
}

static int domain_new(
	struct ibv_context *ctx, struct mem_pool *pool, bool active, struct verbs_domain **out)
{
	struct verbs_domain *dom = calloc(1, sizeof(*dom));
	struct mem_registrar r = {.reg = slab_reg, .unreg = slab_unreg, .ctx = dom};
	int ret;

	if (!dom)
		return -ENOMEM;
	dom->ctx = ctx;
	dom->pool = pool;
	dom->iwarp = ctx->device->transport_type == IBV_TRANSPORT_IWARP;
	ret = ibv_query_device(ctx, &dom->attr);
	if (ret) {
		free(dom);
		return -ret;
	}
	dom->windows = dom->attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	/* Each registration counts against RLIMIT_MEMLOCK. A requester's payload is touched through
	 * its doors only, so that without windows a second registration would be for nothing. */
	dom->lean = active && !dom->windows;
	/* what is lean registers messages alone */
	r.most = dom->lean ? 0 : most_registered();
	dom->pd = ibv_alloc_pd(ctx);
	if (!dom->pd) {
		free(dom);
		return -ENOMEM;
	}
	ret = mem_pool_attach(pool, &r);
	if (ret) {
		ibv_dealloc_pd(dom->pd);
		free(dom);
		return ret;
	}
	*out = dom;
	return 0;
}

int verbs_domain_get(struct ibv_context *ctx, struct mem_pool *pool, bool active,
	struct verbs_domain **out, struct err *e)
{
	struct verbs_domain *dom;
	int ret = 0;

	pthread_mutex_lock(&domains_lock);
	LIST_FOREACH (dom, &domains, link)
		if (dom->ctx == ctx && dom->pool == pool)
			break;
	if (!dom) {
		ret = domain_new(ctx, pool, active, &dom);
		if (!ret)
			LIST_INSERT_HEAD(&domains, dom, link);
	}
	if (!ret) {
		dom->refs++;
		*out = dom;
	}
	pthread_mutex_unlock(&domains_lock);
	if (ret)
		err_set(e, ERR_INTERNAL, "memory cannot be registered with %s: %s%s",
			ibv_get_device_name(ctx->device), strerror(-ret),
			ret == -ENOMEM	? "; raise RLIMIT_MEMLOCK (ulimit -l)"
			: ret == -EBUSY ? "; it is registered with another device"
					: "");
	return ret;
}

void verbs_domain_put(struct verbs_domain *dom)
{
	if (!dom)
		return;
	pthread_mutex_lock(&domains_lock);
	if (--dom->refs == 0) {
		LIST_REMOVE(dom, link);
		mem_pool_detach(dom->pool);
		ibv_dealloc_pd(dom->pd);
		free(dom);
	}
	pthread_mutex_unlock(&domains_lock);
}

uint32_t verbs_lkey(const struct mem_sge *sge)
{
	return ((struct ibv_mr *)sge->slab->reg)->lkey;
}

static int remote_access(unsigned access)
{
	return (access & PROV_REMOTE_READ ? IBV_ACCESS_REMOTE_READ : 0) |
	       (access & PROV_REMOTE_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0);
}

static int expose_registered(
	struct verbs_conn *v, const struct mem_sge *sge, unsigned access, struct prov_door *door)
{
	struct verbs_window *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->mr = ibv_reg_mr(
		v->dom->pd, sge->addr, sge->len, IBV_ACCESS_LOCAL_WRITE | remote_access(access));
	if (!w->mr) {
		int ret = -errno;

		if (ret == -ENOMEM)
			report_memlock(v->dom, sge->len);
		free(w);
		return ret;
	}
	pthread_mutex_lock(&v->lock);
	LIST_INSERT_HEAD(&v->windows, w, link);
	pthread_mutex_unlock(&v->lock);
	door->stag = w->mr->rkey;
	door->impl = w;
	return 0;
}

static struct verbs_window *window_get_locked(struct verbs_conn *v)
{
	struct verbs_window *w = SLIST_FIRST(&v->free_windows);

	if (w) {
		SLIST_REMOVE_HEAD(&v->free_windows, free_link);
		return w;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->mw = ibv_alloc_mw(v->dom->pd, IBV_MW_TYPE_2);
	if (!w->mw) {
		free(w);
		return NULL;
	}
	w->rkey = w->mw->rkey;
	LIST_INSERT_HEAD(&v->windows, w, link);
	return w;
}

static int expose_window(
	struct verbs_conn *v, const struct mem_sge *sge, unsigned access, struct prov_door *door)
{
	struct verbs_wr bind = {.e.kind = VERBS_BIND};
	struct verbs_window *w;
	int ret;

	pthread_mutex_lock(&v->lock);
	w = v->down ? NULL : window_get_locked(v);
	if (!w) {
		ret = v->down ? -ENOTCONN : -ENOMEM;
		pthread_mutex_unlock(&v->lock);
		return ret;
	}
	w->rkey = ibv_inc_rkey(w->rkey);
	bind.wr.opcode = IBV_WR_BIND_MW;
	bind.wr.bind_mw.mw = w->mw;
	bind.wr.bind_mw.rkey = w->rkey;
	bind.wr.bind_mw.bind_info.mr = sge->slab->reg;
	bind.wr.bind_mw.bind_info.addr = (uintptr_t)sge->addr;
	bind.wr.bind_mw.bind_info.length = sge->len;
	bind.wr.bind_mw.bind_info.mw_access_flags = remote_access(access);
	ret = verbs_queue_locked(v, &bind, true);
	door->stag = w->rkey;
	door->impl = w;
	if (ret)
		SLIST_INSERT_HEAD(&v->free_windows, w, free_link);
	pthread_mutex_unlock(&v->lock);
	return ret;
}

int verbs_expose(
	struct prov_conn *pc, const struct mem_sge *sge, unsigned access, struct prov_door *door)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;

	if (!sge->slab || (v->dom->windows && !sge->slab->reg))
		return -EINVAL;
	*door = (struct prov_door){.len = sge->len, .offset = (uintptr_t)sge->addr};
	return v->dom->windows ? expose_window(v, sge, access, door)
			       : expose_registered(v, sge, access, door);
}

/* Without windows the doors are registrations, and closing one is a synchronous call. */
static int withdraw_registered(struct verbs_conn *v, struct prov_door *doors, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct verbs_window *w = doors[i].impl;

		pthread_mutex_lock(&v->lock);
		LIST_REMOVE(w, link);
		pthread_mutex_unlock(&v->lock);
		ibv_dereg_mr(w->mr);
		free(w);
		doors[i].impl = NULL;
	}
	return 0;
}

int verbs_withdraw(struct prov_conn *pc, struct prov_door *doors, unsigned n, uint64_t cookie)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;
	struct verbs_wr inv = {.wr.opcode = IBV_WR_LOCAL_INV};
	unsigned left = 0;

	if (!v->dom->windows)
		return withdraw_registered(v, doors, n);
	pthread_mutex_lock(&v->lock);
	for (unsigned i = 0; i < n; i++)
		left += !doors[i].invalidated;
	for (unsigned i = 0; i < n; i++) {
		struct verbs_window *w = doors[i].impl;

		doors[i].impl = NULL;
		/* A window may be bound again right away: the bind is queued behind the
		 * invalidation. */
		SLIST_INSERT_HEAD(&v->free_windows, w, free_link);
		if (v->down || doors[i].invalidated)
			continue;
		left--;
		inv.wr.invalidate_rkey = doors[i].stag;
		inv.e.kind = left ? VERBS_INVALIDATE : VERBS_INVALIDATE_LAST;
		inv.e.cookie = cookie;
		/* out of memory: only the end of the connection can close it now */
		if (verbs_queue_locked(v, &inv, left > 0) == -ENOMEM)
			atomic_store_explicit(&v->disconnect, true, memory_order_relaxed);
	}
	/* left is 0 unless the connection is down; then its queue pair and every window are dead.
	 */
	n = v->down ? 0 : inv.e.kind == VERBS_INVALIDATE_LAST;
	pthread_mutex_unlock(&v->lock);
	return n ? -EINPROGRESS : 0;
}

void verbs_windows_free(struct verbs_conn *v)
{
	struct verbs_window *w;

	while ((w = LIST_FIRST(&v->windows))) {
		LIST_REMOVE(w, link);
		if (w->mw)
			ibv_dealloc_mw(w->mw);
		if (w->mr)
			ibv_dereg_mr(w->mr);
		free(w);
	}
	SLIST_INIT(&v->free_windows);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_mem: the protection domain, slabs and doors of the verbs provider.
 *
 * A door opens the piece of memory that one RPC exposes. Where the device has windows and the piece
 * is registered, the door is a type 2 memory window. Otherwise the door is a registration of the
 * piece alone. Either way the door's rkey opens nothing else, and nothing at all once the door is
 * closed.
 *
 * RLIMIT_MEMLOCK. Every registered page counts. If the limit binds this process (domain_binds())
 * and is too small for the whole pool, the domain is lean (verbs_impl.h). A quarter of the limit is
 * then for receives and bounce buffers, the rest for RPCs under way.
 */
#include "transport/verbs/verbs_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "transport/log.h"

static pthread_mutex_t domains_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, verbs_domain) domains; /* domains_lock guards the list and the domains' refs */

#define KIB	   ((size_t)1 << 10)
#define PAGE	   (4 * KIB)
#define LEAST	   (64 * KIB)  /* of RLIMIT_MEMLOCK: with less nothing goes */
#define SLACK_FROM (256 * KIB) /* of RLIMIT_MEMLOCK: an eighth is left for the device's queues */
#define PROBE_MOST (64 << 20)  /* most bytes registered for a moment to try the limit */
#define SET_ASIDE  (32 * KIB)  /* at least, for receives and bounce buffers */

/* Logs once that the system refuses a registration. The cause may be RLIMIT_MEMLOCK or another
 * limit.
 */
static void report_refusal(const struct verbs_domain *dom, size_t len)
{
	static atomic_bool said;
	struct rlimit lim = {0};

	if (atomic_exchange_explicit(&said, true, memory_order_relaxed))
		return;
	getrlimit(RLIMIT_MEMLOCK, &lim);
	log_warn("%s cannot register %zu more bytes of memory now (RLIMIT_MEMLOCK is %lld KiB): "
		 "fewer READs and WRITEs go on at a time; raise it (ulimit -l)",
		ibv_get_device_name(dom->ctx->device), len,
		lim.rlim_cur == RLIM_INFINITY ? -1 : (long long)(lim.rlim_cur >> 10));
}

static size_t pages_of(const void *addr, size_t len)
{
	uintptr_t from = (uintptr_t)addr / PAGE, to = ((uintptr_t)addr + len + PAGE - 1) / PAGE;

	return (to - from) * PAGE;
}

struct ibv_mr *verbs_reg(struct verbs_domain *dom, void *addr, size_t len, int access)
{
	size_t bytes = pages_of(addr, len);
	struct ibv_mr *mr;

	if (atomic_fetch_add(&dom->rpc_bytes, bytes) + bytes > dom->rpc_most && dom->rpc_most) {
		atomic_fetch_sub(&dom->rpc_bytes, bytes);
		return NULL;
	}
	mr = ibv_reg_mr(dom->pd, addr, len, access);
	if (!mr) {
		atomic_fetch_sub(&dom->rpc_bytes, bytes);
		report_refusal(dom, len);
	}
	return mr;
}

void verbs_dereg(struct verbs_domain *dom, struct ibv_mr *mr)
{
	size_t bytes = pages_of(mr->addr, mr->length);

	ibv_dereg_mr(mr);
	atomic_fetch_sub(&dom->rpc_bytes, bytes);
}

/* A slab that the system refuses to register is used like a slab of a lean domain, unless for
 * receives. */
static int slab_reg(void *ctx, struct mem_slab *slab)
{
	struct verbs_domain *dom = ctx;
	int access = IBV_ACCESS_LOCAL_WRITE | (dom->windows ? IBV_ACCESS_MW_BIND : 0);

	if (dom->lean && !slab->needs_reg)
		return 0;
	slab->reg = ibv_reg_mr(dom->pd, slab->base, slab->len, access);
	if (slab->reg)
		return 0;
	report_refusal(dom, slab->len);
	return slab->needs_reg ? -ENOMEM : 0;
}

static void slab_unreg(void *ctx, struct mem_slab *slab)
{
	ibv_dereg_mr(slab->reg);
	slab->reg = NULL;
}

/* Does RLIMIT_MEMLOCK bind this process on this device? Some drivers spare a process with
 * CAP_IPC_LOCK, siw spares no process: a trial registration tells. */
static bool domain_binds(struct ibv_pd *pd, size_t limit)
{
	size_t len = limit + PAGE;
	struct ibv_mr *mr;
	void *p;

	if (limit > PROBE_MOST)
		return true;
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return true;
	mr = ibv_reg_mr(pd, p, len, IBV_ACCESS_LOCAL_WRITE);
	if (mr)
		ibv_dereg_mr(mr);
	munmap(p, len);
	return !mr;
}

/* Decides whether the domain is lean, and the shares of the limit. 0, or -EPERM: the limit is below
 * LEAST.
 */
static int domain_limits(struct verbs_domain *dom, bool active, struct mem_registrar *r)
{
	size_t wanted = mem_pool_limit(dom->pool), limit;
	struct rlimit lim;

	dom->lean = active && !dom->windows;
	r->sparing = dom->lean ? SIZE_MAX : 0;
	if (getrlimit(RLIMIT_MEMLOCK, &lim) || lim.rlim_cur == RLIM_INFINITY)
		return 0;
	limit = lim.rlim_cur;
	if ((wanted && wanted < limit / 2) || !domain_binds(dom->pd, limit))
		return 0;
	if (limit < LEAST)
		return -EPERM;
	dom->lean = true;
	if (limit >= SLACK_FROM)
		limit -= limit / 8;
	r->sparing = limit / 4 > SET_ASIDE ? limit / 4 : SET_ASIDE;
	dom->rpc_most = r->per_rpcs = limit - r->sparing;
	log_ctrl("%s: RLIMIT_MEMLOCK lets RPCs have %zu KiB registered, receives %zu KiB",
		ibv_get_device_name(dom->ctx->device), dom->rpc_most / KIB, r->sparing / KIB);
	return 0;
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
	dom->pd = ibv_alloc_pd(ctx);
	ret = dom->pd ? domain_limits(dom, active, &r) : -ENOMEM;
	if (!ret)
		ret = mem_pool_attach(pool, &r);
	if (ret) {
		if (dom->pd)
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
	if (ret == -EPERM)
		err_set(e, ERR_NO_DEVICE,
			"RLIMIT_MEMLOCK lets less than %zu KiB of memory be registered with %s: "
			"raise it "
			"(ulimit -l %zu), or mount with proto=iwarp or proto=tcp, which register "
			"none",
			LEAST / KIB, ibv_get_device_name(ctx->device), LEAST / KIB);
	else if (ret)
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

int verbs_bounces_new(struct verbs_conn *v)
{
	size_t most = mem_pool_set_aside(v->dom->pool, !v->active) / 8 / VERBS_BOUNCE;

	if (most > VERBS_BOUNCES)
		most = VERBS_BOUNCES;
	if (most < VERBS_BOUNCES_MIN)
		most = VERBS_BOUNCES_MIN;
	while (v->dom->lean && v->bounces < most) {
		struct mem_buf *b = mem_buf_get_registered(v->dom->pool, VERBS_BOUNCE);

		if (!b)
			break;
		v->bounce[v->bounces++] = b;
	}
	v->nbounce = v->bounces;
	return v->dom->lean && v->bounces < VERBS_BOUNCES_MIN ? -ENOMEM : 0;
}

void verbs_bounces_free(struct verbs_conn *v)
{
	while (v->nbounce)
		mem_buf_unref(v->bounce[--v->nbounce]);
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
	w->mr = verbs_reg(
		v->dom, sge->addr, sge->len, IBV_ACCESS_LOCAL_WRITE | remote_access(access));
	if (!w->mr) {
		free(w);
		return -ENOMEM;
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

	if (!sge->slab)
		return -EINVAL;
	if (v->dom->rpc_most && sge->len > v->dom->rpc_most - PAGE)
		return -EMSGSIZE;
	*door = (struct prov_door){.len = sge->len, .offset = (uintptr_t)sge->addr};
	return v->dom->windows && sge->slab->reg ? expose_window(v, sge, access, door)
						 : expose_registered(v, sge, access, door);
}

/* Closes those of n doors that are registrations, by a synchronous call each, and moves the other
 * doors to the front. Returns the number of other doors. */
static unsigned withdraw_registered(struct verbs_conn *v, struct prov_door *doors, unsigned n)
{
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++) {
		struct verbs_window *w = doors[i].impl;

		if (!w->mr) {
			doors[left++] = doors[i];
			continue;
		}
		pthread_mutex_lock(&v->lock);
		LIST_REMOVE(w, link);
		pthread_mutex_unlock(&v->lock);
		verbs_dereg(v->dom, w->mr);
		free(w);
		doors[i].impl = NULL;
	}
	return left;
}

int verbs_withdraw(struct prov_conn *pc, struct prov_door *doors, unsigned n, uint64_t cookie)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;
	struct verbs_wr inv = {.wr.opcode = IBV_WR_LOCAL_INV};
	unsigned left = 0;

	n = withdraw_registered(v, doors, n);
	if (!n)
		return 0;
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
		/* out of memory: only the end of the connection can close the door now */
		if (verbs_queue_locked(v, &inv, left > 0) == -ENOMEM)
			atomic_store_explicit(&v->disconnect, true, memory_order_relaxed);
	}
	/* left is 0 unless the connection is down; then the queue pair and every window are dead.
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
			verbs_dereg(v->dom, w->mr);
		free(w);
	}
	SLIST_INIT(&v->free_windows);
}

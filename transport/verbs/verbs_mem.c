/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_mem: the protection domain and the slabs of the verbs provider.
 *
 * RLIMIT_MEMLOCK. Every registered page counts. If the limit binds this process (domain_binds())
 * and is too small for the whole pool, the domain is lean (verbs_impl.h). A quarter of the limit is
 * then for receives and bounce buffers, the rest for RPCs under way.
 */
#include "transport/verbs/verbs_mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "transport/lock.h"
#include "transport/log.h"

static struct mutex domains_lock = MUTEX_INITIALIZER;
static GUARDED_BY(domains_lock)
	LIST_HEAD(, verbs_domain) domains; /* domains_lock also guards the domains' refs */

#define KIB	   ((size_t)1 << 10)
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
	uintptr_t from = (uintptr_t)addr / VERBS_PAGE,
		  to = ((uintptr_t)addr + len + VERBS_PAGE - 1) / VERBS_PAGE;

	return (to - from) * VERBS_PAGE;
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
	size_t len = limit + VERBS_PAGE;
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

	mutex_lock(&domains_lock);
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
	mutex_unlock(&domains_lock);
	if (ret == -EPERM)
		err_set(e, ERR_NO_DEVICE,
			"RLIMIT_MEMLOCK lets less than %zu KiB of memory be registered with %s: "
			"raise it "
			"(ulimit -l %zu), or mount with proto=iwarp or proto=tcp, which register "
			"none",
			LEAST / KIB, ibv_get_device_name(ctx->device), LEAST / KIB);
	else if (ret)
		err_set(e, ret == -ENOMEM ? ERR_NO_MEMLOCK : ERR_INTERNAL,
			"memory cannot be registered with %s: %s%s",
			ibv_get_device_name(ctx->device), strerror(-ret),
			ret == -ENOMEM	? VERBS_REMEDY
			: ret == -EBUSY ? "; it is registered with another device"
					: "");
	return ret;
}

void verbs_domain_put(struct verbs_domain *dom)
{
	if (!dom)
		return;
	mutex_lock(&domains_lock);
	if (--dom->refs == 0) {
		LIST_REMOVE(dom, link);
		mem_pool_detach(dom->pool);
		ibv_dealloc_pd(dom->pd);
		free(dom);
	}
	mutex_unlock(&domains_lock);
}

int verbs_bounces_new(struct verbs_conn *v, unsigned conns) REQUIRES(v->lock)
{
	size_t most = mem_pool_set_aside(v->dom->pool, conns) / 8 / VERBS_BOUNCE;

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

void verbs_bounces_free(struct verbs_conn *v) REQUIRES(v->lock)
{
	while (v->nbounce)
		mem_buf_unref(v->bounce[--v->nbounce]);
}

uint32_t verbs_lkey(const struct mem_sge *sge)
{
	return ((struct ibv_mr *)sge->slab->reg)->lkey;
}

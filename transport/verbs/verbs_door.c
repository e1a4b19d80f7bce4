/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_door: the doors of the verbs provider.
 *
 * A door opens the piece of memory that one RPC exposes. Where the device has windows and the piece
 * is registered, the door is a type 2 memory window. Otherwise the door is a registration of the
 * piece alone. Either way the door's rkey opens nothing else, and nothing at all once the door is
 * closed.
 */
#include "transport/verbs/verbs_door.h"

#include <errno.h>
#include <stdlib.h>

#include "transport/verbs/verbs_mem.h"
#include "transport/verbs/verbs_queue.h"

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
	mutex_lock(&v->lock);
	LIST_INSERT_HEAD(&v->windows, w, link);
	mutex_unlock(&v->lock);
	door->stag = w->mr->rkey;
	door->impl = w;
	return 0;
}

static struct verbs_window *window_get_locked(struct verbs_conn *v) REQUIRES(v->lock)
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

	mutex_lock(&v->lock);
	w = v->down ? NULL : window_get_locked(v);
	if (!w) {
		ret = v->down ? -ENOTCONN : -ENOMEM;
		mutex_unlock(&v->lock);
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
	mutex_unlock(&v->lock);
	return ret;
}

int verbs_expose(
	struct prov_conn *pc, const struct mem_sge *sge, unsigned access, struct prov_door *door)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;

	if (!sge->slab)
		return -EINVAL;
	if (v->dom->rpc_most && sge->len > v->dom->rpc_most - VERBS_PAGE)
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
		mutex_lock(&v->lock);
		LIST_REMOVE(w, link);
		mutex_unlock(&v->lock);
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
	mutex_lock(&v->lock);
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
	mutex_unlock(&v->lock);
	return n ? -EINPROGRESS : 0;
}

void verbs_windows_free(struct verbs_conn *v) REQUIRES(v->lock)
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

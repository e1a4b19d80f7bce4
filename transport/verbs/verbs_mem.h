/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_mem: the protection domain and the slabs of the verbs provider.
 */
#ifndef RNFS_TRANSPORT_VERBS_VERBS_MEM_H
#define RNFS_TRANSPORT_VERBS_VERBS_MEM_H

#include "transport/verbs/verbs_impl.h"

#define VERBS_REMEDY "; raise RLIMIT_MEMLOCK (ulimit -l)"
/* For the connection's name and the device's. */
#define VERBS_NO_MEMLOCK                                                                           \
	"%s: no more memory can be registered with %s: raise RLIMIT_MEMLOCK (ulimit -l), or "      \
	"mount with "                                                                              \
	"proto=iwarp or proto=tcp, which register none"

/* verbs_mem.c */
int verbs_domain_get(struct ibv_context *ctx, struct mem_pool *pool, bool active,
	struct verbs_domain **out, struct err *e);
void verbs_domain_put(struct verbs_domain *dom);
uint32_t verbs_lkey(const struct mem_sge *sge);
/* Registers memory for one request or door. NULL: the limit is reached, now or for the system. */
struct ibv_mr *verbs_reg(struct verbs_domain *dom, void *addr, size_t len, int access);
void verbs_dereg(struct verbs_domain *dom, struct ibv_mr *mr);
/* Sets bounce buffers aside for verbs_io.c, if the domain is lean, for one of conns connections. 0
 * or -ENOMEM. */
int verbs_bounces_new(struct verbs_conn *v, unsigned conns) REQUIRES(v->lock);
void verbs_bounces_free(struct verbs_conn *v) REQUIRES(v->lock);

#endif

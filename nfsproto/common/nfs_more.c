/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_more: connections beside those of the mount's server.
 */
#include "nfsproto/common/nfs_more.h"

void nfs_more_init(struct nfs_more *m)
{
	mutex_init(&m->lock);
	m->n = 0;
	m->gone = (struct rpc_client_stats){0};
}

void nfs_more_finish(struct nfs_more *m)
{
	mutex_destroy(&m->lock);
}

void nfs_more_add(struct nfs_more *m, struct rpc_client *rpc)
{
	mutex_lock(&m->lock);
	if (m->n < NFS_MORE_MAX)
		m->rpc[m->n++] = rpc;
	mutex_unlock(&m->lock);
}

void nfs_more_remove(struct nfs_more *m, struct rpc_client *rpc)
{
	struct rpc_client_stats last;
	unsigned i = 0;

	mutex_lock(&m->lock);
	while (i < m->n && m->rpc[i] != rpc)
		i++;
	if (i < m->n) {
		rpc_client_stats(rpc, &last);
		rpc_client_stats_add(&m->gone, &last);
		m->n--;
		for (; i < m->n; i++)
			m->rpc[i] = m->rpc[i + 1];
	}
	mutex_unlock(&m->lock);
}

bool nfs_more_look(struct nfs_more *m, unsigned i, struct rpc_client_info *info,
	struct rpc_client_stats *stats, unsigned *count)
{
	bool is;

	mutex_lock(&m->lock);
	is = i < m->n;
	if (is) {
		rpc_client_info(m->rpc[i], info);
		rpc_client_stats(m->rpc[i], stats);
	} else {
		*count += m->n;
	}
	mutex_unlock(&m->lock);
	return is;
}

void nfs_more_sum(struct nfs_more *m, struct rpc_client_stats *sum)
{
	struct rpc_client_stats one;

	mutex_lock(&m->lock);
	rpc_client_stats_add(sum, &m->gone);
	for (unsigned i = 0; i < m->n; i++) {
		rpc_client_stats(m->rpc[i], &one);
		rpc_client_stats_add(sum, &one);
	}
	mutex_unlock(&m->lock);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_dialect: tables of dialects, and the parts that all dialects share.
 */
#include "transport/rpcrdma/rpcrdma_dialect.h"

#include <errno.h>

const struct rpcrdma_dialect *rpcrdma_dialect_find(
	const struct rpcrdma_dialect *const *table, uint32_t low, uint32_t high)
{
	while (*table && ((*table)->vers < low || (*table)->vers > high))
		table++;
	return *table;
}

unsigned rpcrdma_dialect_sends(const struct rpcrdma_dialect *const *table)
{
	unsigned most = 1;

	for (; *table; table++)
		if (!(*table)->talks && (*table)->limits.sends > most)
			most = (*table)->limits.sends;
	return most;
}

bool rpcrdma_dialect_has_legacy(const struct rpcrdma_dialect *const *table)
{
	while (*table && !(*table)->legacy)
		table++;
	return *table;
}

void rpcrdma_dialect_range(
	const struct rpcrdma_dialect *const *table, uint32_t *low, uint32_t *high)
{
	*low = *high = (*table)->vers;
	for (; *table; table++) {
		if ((*table)->vers < *low)
			*low = (*table)->vers;
		if ((*table)->vers > *high)
			*high = (*table)->vers;
	}
}

enum rpcrdma_action rpcrdma_dialect_on_error(
	const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h, const char **meaning)
{
	return rpcrdma_hdr_is_err_vers(h) ? RPCRDMA_RENEGOTIATE : d->on_error(h, meaning);
}

size_t rpcrdma_dialect_size(const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h)
{
	return rpcrdma_hdr_is_err_vers(h) ? RPCRDMA_ERR_VERS_LEN : d->size(h);
}

int rpcrdma_dialect_encode(
	const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h, void *buf, size_t cap)
{
	return rpcrdma_hdr_is_err_vers(h) ? rpcrdma_hdr_put_err_vers(h, buf, cap)
					  : d->encode(h, buf, cap);
}

int rpcrdma_dialect_decode(
	const struct rpcrdma_dialect *d, struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	int rc = rpcrdma_hdr_peek(h, msg, len);

	if (rc || rpcrdma_hdr_is_err_vers(h))
		return rc;
	return h->vers == d->vers ? d->decode(h, msg, len) : -EPROTONOSUPPORT;
}

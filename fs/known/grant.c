/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * grant: the rights that the server gives users on an inode.
 */
#include "fs/known/grant.h"

#include <stdlib.h>
#include <string.h>

struct grant {
	TAILQ_ENTRY(grant) link; /* last used first */
	struct rpc_cred cred;
	uint32_t allowed;
	uint64_t seen[GRANT_BITS]; /* 0: not known */
};

void grants_init(struct grant_list *l)
{
	TAILQ_INIT(l);
}

void grants_drop(struct grant_list *l)
{
	struct grant *g;

	while ((g = TAILQ_FIRST(l))) {
		TAILQ_REMOVE(l, g, link);
		free(g);
	}
}

/* The grant of cred, moved to the front. NULL: none, and *n is the number of grants. */
static struct grant *find(struct grant_list *l, const struct rpc_cred *cred, unsigned *n)
{
	struct grant *g;

	*n = 0;
	TAILQ_FOREACH (g, l, link) {
		if (rpc_same_cred(&g->cred, cred)) {
			TAILQ_REMOVE(l, g, link);
			TAILQ_INSERT_HEAD(l, g, link);
			return g;
		}
		++*n;
	}
	return NULL;
}

void grant_put(struct grant_list *l, const struct rpc_cred *cred, uint32_t known, uint32_t allowed,
	uint64_t seen)
{
	unsigned n;
	struct grant *g = find(l, cred, &n);

	if (!g) {
		if (n < GRANTS_MAX) {
			g = malloc(sizeof(*g));
		} else {
			g = TAILQ_LAST(l, grant_list);
			TAILQ_REMOVE(l, g, link);
		}
		if (!g)
			return;
		memset(g, 0, sizeof(*g));
		g->cred = *cred;
		TAILQ_INSERT_HEAD(l, g, link);
	}
	for (unsigned b = 0; b < GRANT_BITS; b++)
		if (known & 1u << b && seen >= g->seen[b]) {
			g->seen[b] = seen;
			g->allowed = (g->allowed & ~(1u << b)) | (allowed & 1u << b);
		}
}

bool grant_get(struct grant_list *l, const struct rpc_cred *cred, uint32_t want, uint64_t since,
	uint32_t *allowed)
{
	unsigned n;
	struct grant *g = find(l, cred, &n);

	for (unsigned b = 0; g && b < GRANT_BITS; b++)
		if (want & 1u << b && g->seen[b] <= since)
			return false;
	if (g)
		*allowed = g->allowed & want;
	return g != NULL;
}

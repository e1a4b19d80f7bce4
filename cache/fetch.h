/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fetch: READs that bring a file's data into cache blocks, whether a request waits for it or not.
 *
 * A fetcher belongs to an open file, whose credential and open state its READs go with: the file
 * must not be closed on the server before the last of them has ended (fetcher_stop()). A READ that
 * fails leaves no block; who waited for it looks again, finds none and asks the server himself, in
 * his own name. So no error is told here.
 *
 * fetcher.lock guards what is marked; no callback runs with it held.
 */
#ifndef RNFS_CACHE_FETCH_H
#define RNFS_CACHE_FETCH_H

#include "cache/batch.h"
#include "cache/cache.h"
#include "cache/readahead.h"

struct fetcher;

/* What the owner of a fetcher does. */
struct fetcher_ops {
	/* Is a READ at `now` to ask for attributes? */
	bool (*want_attr)(struct fetcher *f, uint64_t now);
	/* A READ that was submitted at asked has ended, with or without success. */
	void (*ended)(struct fetcher *f, const struct nfs_op *op, uint64_t asked);
};

struct fetches;

struct fetcher {
	/* constant */
	struct fetches *all;
	const struct fetcher_ops *ops;
	struct cache_file *file;
	const struct nfs_fh *fh;
	struct nfs_open *open;
	const struct rpc_cred *cred;

	pthread_mutex_t lock; /* what follows */
	struct readahead ahead;
	uint64_t wasted;	 /* the cache's count when ahead last heard of it */
	unsigned pending;	 /* fetches and requests under way */
	void (*idle)(void *ctx); /* NULL: nobody waits */
	void *ctx;
};

/* All fetches of a mount. */
struct fetches *fetches_new(struct cache *c);
/* None may be under way. Accepts NULL, returns NULL. */
struct fetches *fetches_free(struct fetches *all);
/* READs of at most rsize bytes are sent to client from now on, and end with it at the latest. */
void fetches_start(struct fetches *all, struct nfs_client *client, uint32_t rsize);

/* The fields that are constant are the caller's to set. */
void fetcher_init(struct fetcher *f, uint32_t ahead_max);
void fetcher_finish(struct fetcher *f);

/* A request for len bytes at off has come: what is to be asked for (readahead_note()). Keeps f from
 * being idle, until fetcher_release(). */
struct readahead_plan fetcher_plan(struct fetcher *f, uint64_t off, uint32_t len, uint64_t size);
void fetcher_release(struct fetcher *f);
/* It had to wait for a READ that was under way (readahead_waited()). */
void fetcher_waited(struct fetcher *f, uint64_t off);
/* Calls idle(ctx) when nothing is under way, perhaps before it returns. No fetch may begin
 * afterwards. */
void fetcher_stop(struct fetcher *f, void (*idle)(void *ctx), void *ctx);

/* Asks for what is to be read ahead. */
void fetch_ahead(struct fetcher *f, const struct readahead_plan *plan, uint64_t size);
/* Asks for what is absent of [off, end) of a file of size bytes, as far as is known. True if
 * anything was asked for. */
bool fetch(struct fetcher *f, uint64_t off, uint64_t end, uint64_t size);

#endif

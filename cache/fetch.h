/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fetch: READs that bring file data into cache blocks, with or without a waiting request.
 *
 * A fetcher belongs to an open file. The fetcher's READs have the credential and open state of the
 * file. So the file must not be closed on the server before the last READ has ended
 * (fetcher_stop()). A READ that fails leaves no block. A request that waited for the block looks
 * again, finds none, and sends a READ of its own with its own credential. So fetches report no
 * errors.
 *
 * fetcher.lock guards the fields marked below; no callback runs with fetcher.lock held.
 */
#ifndef RNFS_CACHE_FETCH_H
#define RNFS_CACHE_FETCH_H

#include "cache/batch.h"
#include "cache/cache.h"
#include "cache/readahead.h"
#include "transport/lock.h"

struct fetcher;

/* Callbacks to the owner of a fetcher. */
struct fetcher_ops {
	/* Must a READ at `now` ask for attributes? */
	bool (*want_attr)(struct fetcher *f, uint64_t now);
	/* A READ that was submitted at `asked` has ended, with or without success. */
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

	struct mutex lock;
	struct readahead ahead GUARDED_BY(lock);
	/* the cache's count of wasted blocks at the last request */
	uint64_t wasted GUARDED_BY(lock);
	unsigned pending GUARDED_BY(lock);	  /* fetches in flight and requests */
	GUARDED_BY(lock) void (*idle)(void *ctx); /* NULL: the owner does not wait */
	void *ctx GUARDED_BY(lock);
};

/* All fetches of a mount. */
struct fetches *fetches_new(struct cache *c);
/* No fetch may be in flight. Accepts NULL, returns NULL. */
struct fetches *fetches_free(struct fetches *all);
/* From now on READs of at most rsize bytes are sent to client. All READs end before client does. */
void fetches_start(struct fetches *all, struct nfs_client *client, uint32_t rsize);

/* The caller sets the constant fields. */
void fetcher_init(struct fetcher *f, uint32_t ahead_max);
void fetcher_finish(struct fetcher *f);

/* A request for len bytes at off has come. Returns the plan for the request and for read-ahead
 * (readahead_note()). f is not idle until fetcher_release(). */
struct readahead_plan fetcher_plan(struct fetcher *f, uint64_t off, uint32_t len, uint64_t size);
void fetcher_release(struct fetcher *f);
/* The request had to wait for a READ in flight (readahead_waited()). */
void fetcher_waited(struct fetcher *f, uint64_t off);
/* Calls idle(ctx) when no fetch is in flight and no request is left, perhaps before this function
 * returns. Later no fetch may begin. */
void fetcher_stop(struct fetcher *f, void (*idle)(void *ctx), void *ctx);

/* Sends READs for the data that plan wants ahead. */
void fetch_ahead(struct fetcher *f, const struct readahead_plan *plan, uint64_t size);
/* Sends READs for the absent blocks of [off, end), in a file of size bytes as far as is known. True
 * if any READ was sent. */
bool fetch(struct fetcher *f, uint64_t off, uint64_t end, uint64_t size);

#endif

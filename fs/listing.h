/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * listing: what the server has said when it was asked for the entries of a directory.
 *
 * A listing is one user's, of one directory, from the cookie after which it begins. It consists of
 * pages, one for each answer, and grows page by page: who reads it has a page fetched when he has
 * come to the end, and the next one while he reads (ahead). Of a large directory only the last
 * pages are kept; whoever seeks back to others begins another listing there.
 *
 * A listing that is whole (from the start to the end, with all pages) does not change any more and
 * is kept for later, for whoever has the same credential. It is of use as long as names in the
 * directory are believed: not if this mount has changed the directory since, or somebody else.
 * There are LISTINGS_MAX of them, of LISTINGS_BYTES; the one not used for longest goes first.
 *
 * Locks. listings.lock guards what is kept, who waits, and a listing's `ahead`. A listing's own
 * lock guards its pages. Order: a directory handle's (ops_dir.c), a listing's, an inode's;
 * listings.lock, an inode's. No step of a request is called with one of them held.
 */
#ifndef RNFS_FS_LISTING_H
#define RNFS_FS_LISTING_H

#include "fs/fs.h"
#include "fs/request.h"

#define LISTING_BYTES  (1u << 20) /* of pages that one listing keeps, but two pages at least */
#define LISTINGS_BYTES (16u << 20)
#define LISTINGS_MAX   4096u

struct record {
	uint64_t cookie, number; /* of the inode, as stat(2) shows it */
	uint32_t len;		 /* of the record with what follows it, a multiple of 8 */
	uint16_t namelen, fhlen; /* fhlen 0: no attributes */
	struct nfs_attr attr;
	char text[]; /* the handle, then the name and a NUL */
};

struct page {
	TAILQ_ENTRY(page) link;
	uint64_t after; /* the cookie that it begins after; 0: the start */
	uint64_t asked; /* when, on clock_ns() */
	bool eof;
	uint64_t last; /* the last entry's cookie */
	unsigned count;
	size_t len, cap;
	char *mem; /* of records */
};

TAILQ_HEAD(page_list, page);

struct listing {
	atomic_uint refs;
	uint64_t start;	      /* constant: the cookie after which it begins */
	struct rpc_cred cred; /* constant */
	uint64_t asked;	      /* when the first page was; set with it */

	pthread_mutex_t lock; /* what follows */
	struct page_list pages;
	size_t bytes;	 /* of pages */
	bool cut;	 /* pages were dropped */
	uint64_t end;	 /* the cookie with which the last page ends, or start */
	bool eof;	 /* and that is all */
	unsigned change; /* counts pages that were dropped */
	uint8_t verf[NFS_VERF_SIZE];
	/* loops_locked(): a cookie that an earlier page ended with, how many pages there were
	 * since, and after how many the next cookie is taken instead */
	uint64_t mark;
	unsigned steps, stretch;
	uint32_t token; /* names_list()'s; 0: the names are not noted */

	/* listings.lock */
	bool ahead;	   /* the next page is being fetched beside */
	struct inode *dir; /* whose it is, if it is kept: a reference */
	TAILQ_ENTRY(listing) kept;
};

/* NULL when out of memory. */
struct listings *listings_new(void);
/* Nobody may wait. Accepts NULL, returns NULL. */
struct listings *listings_free(struct listings *a);

/* A listing with no page yet. With the server's verifier of another listing of the directory, whose
 * lock the caller holds, unless that is NULL. NULL when out of memory. */
struct listing *listing_new(
	const struct rpc_cred *cred, uint64_t start, const struct listing *verf_of);
struct listing *listing_ref(struct listing *l);
/* Accepts NULL, returns NULL. dir: of which it is. */
struct listing *listing_unref(struct fs *fs, struct inode *dir, struct listing *l);

/* The whole listing of dir that is believed for cred, with a reference, or NULL. */
struct listing *listing_known(struct fs *fs, struct inode *dir, const struct rpc_cred *cred);

/* Asks for the page behind the end of l, in the name of r, whose r->dir it is of; then step(r) with
 * r->u.list.error. The page has been added to l, unless that is an error or somebody else has added
 * it meanwhile. */
void listing_fetch(struct request *r, struct listing *l, request_step_fn *step);
/* The same beside, unless that is under way. l has not come to its end. Does not wait. */
void listing_fetch_ahead(struct fs *fs, struct inode *dir, struct listing *l);
/* True: the next page of l is being fetched beside, and next(r) is called when it is there, or will
 * not come. */
bool listing_waits(struct request *r, struct listing *l, request_step_fn *next);

/* Takes the requests off that wait and are GONE (request.h): the caller calls next for each. */
void listings_take_gone(struct fs *fs, struct request_list *gone);

#endif

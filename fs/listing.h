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
 * A listing may also be begun beside what the users of a directory do (lister.h). That is kept from
 * its first page on, so that what it says of names is of use at once (listed.h), and becomes the
 * whole listing of the directory when it has come to the end. What listings beside cost must have
 * been earned: an entry costs one, a LOOKUP that a listing has answered brings LISTED_EARNS, one
 * that had to be sent brings one. So entries that nobody looks up cost at most as much as the
 * LOOKUPs do anyway.
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

#define LISTED_CREDIT_MAX  4096 /* entries; as many may be listed at first */
#define LISTED_EARNS	   16
#define BESIDE_FIRST_BYTES (16u << 10) /* of READDIR reply: the first page of a listing beside */

struct page;

struct record {
	uint64_t cookie, number; /* of the inode, as stat(2) shows it */
	struct record *next;	 /* in a chain of the listing, once it is indexed; so is page */
	const struct page *page;
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
	bool beside;	      /* constant: it was begun beside */
	uint64_t seed;	      /* constant: of the hashes by which it is indexed */

	pthread_mutex_t lock; /* what follows */
	struct page_list pages;
	size_t bytes;	 /* of pages */
	bool cut;	 /* pages were dropped */
	uint64_t end;	 /* the cookie with which the last page ends, or start */
	bool eof;	 /* and that is all */
	unsigned change; /* counts pages that were dropped */
	unsigned count;	 /* of entries that came */
	/* listed.c: the records of pages up to `indexed` by their names' hashes; NULL: of none */
	struct record **chains;
	uint32_t nchains, nrecords; /* nchains 0 or a power of two */
	const struct page *indexed;
	uint8_t verf[NFS_VERF_SIZE];
	/* loops_locked(): a cookie that an earlier page ended with, how many pages there were
	 * since, and after how many the next cookie is taken instead */
	uint64_t mark;
	unsigned steps, stretch;
	uint32_t token; /* names_list()'s; 0: the names are not noted */

	/* listings.lock */
	bool ahead;	   /* the next page is being fetched beside */
	struct inode *dir; /* whose it is, if it is kept: a reference */
	size_t kept_bytes; /* of pages, when it was kept last */
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

/* The listings of dir that are kept, with references, or NULL: what was begun beside and has not
 * come to its end, and a whole one. */
void listings_kept(struct fs *fs, struct inode *dir, struct listing *l[2]);
/* Its records are not to be found by their names any more, until they are indexed again. */
void listing_unindex_locked(struct listing *l);

/* Begins to list dir beside, in the place of one that was begun before. A reference, or NULL. */
struct listing *listing_begin_beside(struct fs *fs, struct inode *dir, const struct rpc_cred *cred);
/* What may be listed beside changes by n entries. Returns what it is then, which may be negative.
 */
int listings_earn(struct fs *fs, int n);

/* Asks for the page behind the end of l, in the name of r, whose r->dir it is of; then step(r) with
 * r->u.list.error. The page has been added to l, unless that is an error or somebody else has added
 * it meanwhile. */
void listing_fetch(struct request *r, struct listing *l, request_step_fn *step);
/* The same beside, unless that is under way. l has not come to its end. Does not wait. */
void listing_fetch_ahead(struct fs *fs, struct inode *dir, struct listing *l);
/* The same in two steps: what listing_ahead() has made ready, which is NULL if there is nothing to
 * do, listing_send() sends. Names that are made in between may be missing in the answer, and are
 * noted (names_list()). */
struct request *listing_ahead(struct fs *fs, struct inode *dir, struct listing *l);
void listing_send(struct request *r);
/* True: the next page of l is being fetched beside, and next(r) is called when it is there, or will
 * not come. */
bool listing_waits(struct request *r, struct listing *l, request_step_fn *next);

/* Takes the requests off that wait and are GONE (request.h): the caller calls next for each. */
void listings_take_gone(struct fs *fs, struct request_list *gone);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * listing: the server's answers when it was asked for the entries of a directory.
 *
 * A listing belongs to one user and one directory, and begins after a cookie. A listing consists of
 * pages, one for each answer, and grows page by page. A reader that has come to the end has the
 * next page fetched, and while the reader reads, the page after that is fetched ahead. Of a large
 * directory only the last pages are kept. A reader that seeks back to freed pages begins another
 * listing there.
 *
 * A whole listing (from the start to the end, with all pages) does not change any more, and is kept
 * for later readers with the same credential. A kept listing is used as long as names in the
 * directory are believed, and never after this mount or another client has changed the directory.
 * At most LISTINGS_MAX listings and LISTINGS_BYTES bytes are kept; the least recently used goes
 * first.
 *
 * A listing may also be begun beside: without a reader, to answer LOOKUPs (lister.h). Such a
 * listing is kept from its first page on, so that its entries answer LOOKUPs at once (listed.h). At
 * its end it becomes the whole listing of the directory. Listings beside spend a credit. An entry
 * costs one. A LOOKUP that a listing has answered earns LISTED_EARNS, a LOOKUP that had to be sent
 * earns one. So entries that no program looks up cost at most as much as the LOOKUPs do anyway.
 *
 * Locks. listings.lock guards the list of kept listings, the requests that wait, and `ahead` of
 * each listing. A listing's own lock guards its pages. Order: a directory handle's lock
 * (ops_dir.c), a listing's, an inode's; listings.lock, an inode's. No step of a request is called
 * with one of these locks held.
 */
#ifndef RNFS_FS_LOOKUP_LISTING_H
#define RNFS_FS_LOOKUP_LISTING_H

#include "fs/known/fs.h"
#include "fs/kernel/request.h"
#include "transport/lock.h"

#define LISTING_BYTES  (1u << 20) /* of pages in one listing, but two pages at least */
#define LISTINGS_BYTES (16u << 20)
#define LISTINGS_MAX   4096u

#define LISTED_CREDIT_MAX  4096 /* entries; also the credit at first */
#define LISTED_EARNS	   16
#define BESIDE_FIRST_BYTES (16u << 10) /* of READDIR reply: the first page of a listing beside */

struct page;

struct listing_entry {
	uint64_t cookie, number;    /* of the inode, as stat(2) shows it */
	struct listing_entry *next; /* in a chain of the listing, once indexed; page too */
	const struct page *page;
	uint32_t len;		 /* of the entry with its text, a multiple of 8 */
	uint16_t namelen, fhlen; /* fhlen 0: no attributes */
	uint16_t server;	 /* of the handle */
	struct nfs_attr attr;
	char text[]; /* the handle, then the name and a NUL */
};

/* The handle of rec. False: the server has told none. */
static inline bool listing_entry_fh(const struct listing_entry *rec, struct nfs_fh *fh)
{
	if (!rec->fhlen || rec->fhlen > NFS_FH_MAX)
		return false;
	fh->len = rec->fhlen;
	fh->server = rec->server;
	memcpy(fh->data, rec->text, rec->fhlen);
	return true;
}

struct page {
	TAILQ_ENTRY(page) link;
	uint64_t after; /* the cookie after which the page begins; 0: the start */
	uint64_t asked; /* when the server was asked, on clock_ns() */
	bool eof;
	uint64_t last; /* the last entry's cookie */
	unsigned count;
	size_t len, cap;
	char *mem; /* of records */
};

TAILQ_HEAD(page_list, page);

struct dir;
struct listing;

/* The state of a READDIR. */
struct list_state {
	struct dir *dir;
	struct listing *listing; /* gets a page, or has a page in flight */
	struct page *page;	 /* being filled */
	size_t size;
	uint64_t offset;
	bool plus;
	bool checked; /* the server has just told the attributes of the directory */
	bool restart; /* from the start: entries read so far do not count */
	int error;
};

static inline struct list_state *list_of(const struct request *r)
{
	return request_state(r, struct list_state);
}

struct listing {
	atomic_uint refs;
	uint64_t start;	      /* constant: the cookie after which the listing begins */
	struct rpc_cred cred; /* constant */
	uint64_t asked;	      /* when the server was asked for the first page; set with that page */
	bool beside;	      /* constant: the listing was begun beside */
	uint64_t seed;	      /* constant: of the hashes of the index */

	struct mutex lock;
	struct page_list pages GUARDED_BY(lock);
	size_t bytes GUARDED_BY(lock);	  /* of pages */
	bool cut GUARDED_BY(lock);	  /* pages were freed */
	uint64_t end GUARDED_BY(lock);	  /* the cookie with which the last page ends, or start */
	bool eof GUARDED_BY(lock);	  /* the directory ends there */
	unsigned change GUARDED_BY(lock); /* counts freed pages */
	unsigned count GUARDED_BY(lock);  /* number of entries in all answers */
	/* listed.c: the records of the pages up to `indexed`, by hash of the name; NULL: no
	 * index */
	struct listing_entry **chains GUARDED_BY(lock);
	/* nchains 0 or a power of two */
	uint32_t nchains GUARDED_BY(lock), nrecords GUARDED_BY(lock);
	const struct page *indexed GUARDED_BY(lock);
	uint8_t verf[NFS_VERF_SIZE] GUARDED_BY(lock);
	/* loops_locked(): a cookie at which an earlier page ended, the number of pages since, and
	 * the number of pages after which the next cookie takes the place of `mark` */
	uint64_t mark GUARDED_BY(lock);
	unsigned steps GUARDED_BY(lock), stretch GUARDED_BY(lock);
	uint32_t token GUARDED_BY(lock); /* of names_list(); 0: the names are not noted */

	/* listings.lock */
	bool ahead;	   /* the next page is being fetched ahead */
	struct inode *dir; /* the directory of a kept listing: a reference */
	size_t kept_bytes; /* of pages, when the listing was last kept */
	TAILQ_ENTRY(listing) kept;
};

/* NULL when out of memory. */
struct listings *listings_new(void);
/* No request may wait. Accepts NULL, returns NULL. */
struct listings *listings_free(struct listings *a);

/* A listing with no page yet. verf_of: another listing of the directory, locked by the caller;
 * the new listing gets its verifier. NULL: none. Returns NULL when out of memory. */
struct listing *listing_new(
	const struct rpc_cred *cred, uint64_t start, const struct listing *verf_of);
struct listing *listing_ref(struct listing *l);
/* Accepts NULL, returns NULL. dir: the directory of l. */
struct listing *listing_unref(struct fs *fs, struct inode *dir, struct listing *l);

/* The whole listing of dir that may be used for cred, with a reference, or NULL. */
struct listing *listing_known(struct fs *fs, struct inode *dir, const struct rpc_cred *cred);

/* The kept listings of dir, with references, or NULL: one begun beside that has not come to its
 * end, and a whole one. */
void listings_kept(struct fs *fs, struct inode *dir, struct listing *l[2]);
/* Frees the index of l: LOOKUP does not find the records of l until they are indexed again. */
void listing_unindex_locked(struct listing *l) REQUIRES(l->lock);

/* Begins to list dir beside, and frees a listing that was begun beside before. Returns a reference,
 * or NULL. */
struct listing *listing_begin_beside(struct fs *fs, struct inode *dir, const struct rpc_cred *cred);
/* Adds n entries to the credit of listings beside. Returns the new credit, which may be
 * negative. */
int listings_earn(struct fs *fs, int n);

/* Asks for the page behind the end of l, which lists r->dir, in the name of r. Then calls step(r)
 * with list_of(r)->error. Without an error the page was added to l, by r or by another request
 * meanwhile. */
void listing_fetch(struct request *r, struct listing *l, request_step_fn *step);
/* Fetches the page behind the end of l ahead, unless that page is being fetched. l has not come to
 * its end. Does not wait. */
void listing_fetch_ahead(struct fs *fs, struct inode *dir, struct listing *l);
/* listing_fetch_ahead() in two steps: listing_ahead() makes a request ready (NULL: no page to
 * fetch), and listing_send() sends the request. The answer may lack names that this mount makes in
 * between; such names are noted (names_list()). */
struct request *listing_ahead(struct fs *fs, struct inode *dir, struct listing *l);
void listing_send(struct request *r);
/* True: the next page of l is being fetched ahead. next(r) is called when the page is there, or
 * will not come. */
bool listing_waits(struct request *r, struct listing *l, request_step_fn *next);

/* Moves the requests that wait and are GONE (request.h) to *gone: the caller calls next for
 * each. */
void listings_take_gone(struct fs *fs, struct request_list *gone);

#endif

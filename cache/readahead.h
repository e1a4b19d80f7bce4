/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * readahead: what the readers of an open file will want next.
 *
 * Several readers may go through one open file, each a stream: a place where it is, and a window
 * that is asked for ahead. The requests of one reader come from several threads, in almost any
 * order, so a request belongs to a stream if it lies near its place. A request that belongs to none
 * begins one, in the stead of that which was used longest ago. A stream goes
 *
 *     forward   also with small gaps. It begins with the second of two requests in a row, or with
 *               the first if that is at the beginning of the file: likely one that is read from end
 *               to end. That is read into the cache, with as much again ahead if it is a large one.
 *     back      from the third request on of which each ends where that before it begins, or which
 *               have small gaps between them.
 *     by steps  from the third piece on that is as long as those before it, and as far from them;
 *               or the fourth, if there were others in between. A piece may be several requests.
 *               What lies between the pieces is not asked for.
 *
 * Elsewhere nobody knows what comes next, and the request is not worth a block.
 *
 * The window grows twofold each time that its data is asked for, up to READAHEAD_EASY or
 * READAHEAD_EASY_PIECES; further only if the reader had to wait for data that had been asked for
 * ahead: then it was not far enough. So it comes to what the reader takes during one round trip,
 * whatever that is. When there is not memory enough for the windows of all readers they become
 * smaller.
 *
 * Pure: no clock, no memory, no lock. The caller sees to it that one thread at a time calls.
 */
#ifndef RNFS_CACHE_READAHEAD_H
#define RNFS_CACHE_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define READAHEAD_STREAMS 4
#define READAHEAD_MIN	  (256u << 10) /* bytes of the first window */
#define READAHEAD_EASY	  (2u << 20)
#define READAHEAD_RUNS	  8 /* that are remembered */

#define READAHEAD_FIRST_PIECES 2
#define READAHEAD_EASY_PIECES  8
#define READAHEAD_MOST_PIECES  64

enum readahead_way { READAHEAD_FORWARD, READAHEAD_BACK, READAHEAD_STEPS };

struct readahead_stream {
	enum readahead_way way;
	uint64_t place;	 /* FORWARD: behind the last byte that was read; BACK: the first one that
			    was;  STEPS: where the piece begins that is being read */
	uint64_t ahead;	 /* up to here, or from here on (BACK), data has been asked for */
	uint32_t window; /* bytes; 0: not a stream yet */
	uint32_t used;	 /* when, counted in requests; 0: never */
	/* STEPS */
	int64_t stride; /* from the beginning of one piece to that of the next */
	uint32_t piece; /* bytes */
	uint32_t count; /* the window, in pieces */
	uint32_t asked; /* pieces behind place that have been asked for */
};

/* Requests each of which begins where another one ends, or ends where the last one begins. */
struct readahead_run {
	uint64_t start, end; /* equal: none */
	uint64_t last;	     /* where the last one began */
	uint32_t down;	     /* so many in a row that each ended where the last one began */
};

struct readahead {
	struct readahead_stream stream[READAHEAD_STREAMS];
	struct readahead_run run[READAHEAD_RUNS]; /* a ring */
	uint32_t newest;			  /* in it */
	uint32_t max;  /* bytes that a window may have; 0: nothing is read ahead */
	uint32_t now;  /* requests so far */
	uint32_t most; /* bytes that a window may have now */
};

struct readahead_plan {
	bool cache;	   /* the request itself is worth blocks */
	uint64_t from, to; /* what to ask for ahead; empty if to <= from */
	bool back;	   /* the end of that is wanted first */
	unsigned pieces;   /* 0, or so many like this, each stride further */
	int64_t stride;
};

void readahead_init(struct readahead *r, uint32_t max);
/* A request for len bytes at off of a file that is size bytes long, as far as is known. */
struct readahead_plan readahead_note(
	struct readahead *r, uint64_t off, uint32_t len, uint64_t size);
/* Somewhere data that was asked for ahead has made room for other before it was read: all readers
 * together ask for more than there is memory for. Halves what a window may have; who waits gets it
 * back little by little. */
void readahead_wasted(struct readahead *r);
/* The request had to wait for data that was being read. */
void readahead_waited(struct readahead *r, uint64_t off);

#endif

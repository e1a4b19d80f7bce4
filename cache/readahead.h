/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * readahead: which data the readers of an open file will want next.
 *
 * Several readers may use one open file. Each is a stream, which has a place and a window of data
 * to ask for ahead. One reader's requests come from several threads, in almost any order. So a
 * request belongs to a stream if it lies near the stream's place. A request that belongs to none
 * begins a stream, in place of the one that was used longest ago. A stream goes
 *
 *     forward   also with small gaps. It begins with the second of two requests in a row, or with
 *               the first request if that is at the beginning of the file, which is then likely to
 *               be read from end to end. Such a first request is read into the cache, with as much
 *               again ahead if it is large.
 *     back      from the third request on. Each must end where the one before begins, or with a
 *               small gap between.
 *     by steps  from the third piece on, if all are equally long and equally far apart; from the
 *               fourth if other requests came between. A piece may be several requests. The data
 *               between the pieces is not asked for.
 *
 * Other requests have no known successor, and are not worth a block.
 *
 * The window doubles each time that its data is asked for, up to READAHEAD_EASY or
 * READAHEAD_EASY_PIECES. It grows beyond only if the reader had to wait for data that had been
 * asked for ahead: then the window was too small. So the window grows to the amount of data that
 * the reader takes in one round trip. If memory is too short for the windows of all readers, the
 * windows become smaller.
 *
 * Pure: no clock, no memory, no lock. The caller makes sure that one thread at a time calls.
 */
#ifndef RNFS_CACHE_READAHEAD_H
#define RNFS_CACHE_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define READAHEAD_STREAMS 4
#define READAHEAD_MIN	  (256u << 10) /* bytes of the first window */
#define READAHEAD_EASY	  (2u << 20)
#define READAHEAD_RUNS	  8 /* runs that are remembered */

#define READAHEAD_FIRST_PIECES 2
#define READAHEAD_EASY_PIECES  8
#define READAHEAD_MOST_PIECES  64

enum readahead_way { READAHEAD_FORWARD, READAHEAD_BACK, READAHEAD_STEPS };

struct readahead_stream {
	enum readahead_way way;
	uint64_t place;	 /* FORWARD: behind the last byte read; BACK: the first byte read; STEPS:
			    where the present piece begins */
	uint64_t ahead;	 /* data has been asked for up to here, or from here on (BACK) */
	uint32_t window; /* bytes; 0: not a stream yet */
	uint32_t used;	 /* number of the last request; 0: never used */
	/* STEPS */
	int64_t stride; /* from the beginning of one piece to the next */
	uint32_t piece; /* bytes */
	uint32_t count; /* the window, in pieces */
	uint32_t asked; /* pieces behind place that have been asked for */
};

/* Requests that each begin where another ends, or end where the last begins. */
struct readahead_run {
	uint64_t start, end; /* equal: none */
	uint64_t last;	     /* where the last request began */
	uint32_t down;	     /* number of requests in a row that each ended where the last began */
};

struct readahead {
	struct readahead_stream stream[READAHEAD_STREAMS];
	struct readahead_run run[READAHEAD_RUNS]; /* a ring */
	uint32_t newest;			  /* its index in run */
	uint32_t max;				  /* limit on a window in bytes; 0: no read-ahead */
	uint32_t now;				  /* requests so far */
	uint32_t most;				  /* the present limit on a window in bytes */
};

struct readahead_plan {
	bool cache;	   /* the request itself is worth blocks */
	uint64_t from, to; /* the range to ask for ahead; empty if to <= from */
	bool back;	   /* the end of the range is wanted first */
	unsigned pieces;   /* 0, or the number of such ranges, each `stride` further */
	int64_t stride;
};

void readahead_init(struct readahead *r, uint32_t max);
/* A request for len bytes at off of a file that is size bytes long, as far as is known. */
struct readahead_plan readahead_note(
	struct readahead *r, uint64_t off, uint32_t len, uint64_t size);
/* A block that was read ahead has been evicted before it was read: all readers together ask for
 * more than the memory holds. Halves the limit of a window. A reader that waits gets the limit back
 * little by little. */
void readahead_wasted(struct readahead *r);
/* The request had to wait for a READ in flight. */
void readahead_waited(struct readahead *r, uint64_t off);

#endif
